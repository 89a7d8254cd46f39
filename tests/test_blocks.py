"""Coarse values are exchanged where tables allow it, and lead where fine values cannot."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from cases import problem_of, small

from evosynth.blocks import by_blocks, exchanges, fine_column, joined
from evosynth.exact import Exact
from evosynth.kernels.cells import count_cells
from evosynth.polish import polish
from evosynth.sampling import sample, univariate

N = 12_000


def _spec_text():
    rng = np.random.default_rng(5)
    area = rng.choice(3, N, p=[0.7, 0.2, 0.1])
    sex = (rng.random(N) < np.array([0.5, 0.6, 0.3])[area]).astype(int)
    age = rng.integers(20, 60, N)
    pay = np.rint((200 + 8 * age - 60 * sex + 50 * area + rng.normal(0, 90, N)).clip(1, 1000))
    x = np.column_stack([np.ones(N), age, sex, area == 1, area == 2]).astype(float)
    fit = sm.OLS(pay, x).fit()
    names = "Intercept", "AGE", "SEX[2]", "AREA[2]", "AREA[3]"
    listed = [
        ", ".join(f'"{k}": {v:.3f}' for k, v in zip(names, values, strict=True))
        for values in (fit.params, fit.bse)
    ]
    counts = ", ".join(f"{k + 1}: {n}" for k, n in enumerate(np.bincount(area)))
    middle = ", ".join(f"{k + 1}: {np.median(pay[area == k]):.1f}" for k in range(3))
    return f"""\
records: {N}
variables:
  PAY: {{integer: [1, 1000]}}
  AGE: {{integer: [20, 59]}}
  SEX: {{categories: {{1: a, 2: b}}}}
  AREA: {{categories: {{1: a, 2: b, 3: c}}}}
outputs:
  - kind: ols
    formula: PAY ~ AGE + SEX + AREA
    coefficients: {{{listed[0]}}}
    standard_errors: {{{listed[1]}}}
    r_squared: {fit.rsquared:.4f}
  - kind: frequencies
    of: AREA
    counts: {{{counts}}}
  - kind: summary
    of: PAY
    by: AREA
    median: {{{middle}}}
"""


@pytest.fixture(scope="module")
def strategy(tmp_path_factory):
    spec = small(tmp_path_factory.mktemp("blocks"), _spec_text())
    return Exact.of(problem_of(spec), "calibrated", 1)


def _drawn(strategy):
    rng = np.random.default_rng(2)
    return strategy.repaired(strategy.source.draw(rng), rng)


def _counts(problem, codes):
    return count_cells(problem.cells(codes), np.ones(N, dtype=np.int64), len(problem.low))


@pytest.mark.parametrize("rare", [0, 1])
def test_exchanges_keep_tables_and_swap_one_variable(strategy, rare):
    problem, space, codes = strategy.problem, strategy.space, _drawn(strategy)
    rng = np.random.default_rng(3)
    moves = exchanges(problem, codes, 3, 300, rare, rng)
    assert len(moves) > 50
    first = np.unique(moves.slot_from.ravel(), return_index=True)[1]
    for move in first[:40] // 2:
        times = np.zeros(len(moves), dtype=np.int64)
        times[move] = 1
        moved = space.apply(codes, moves, times)
        assert (moved != codes).sum() == 2
        assert (moved[:, 3] != codes[:, 3]).sum() == 2
        np.testing.assert_array_equal(_counts(problem, moved), _counts(problem, codes))


def test_rare_exchanges_are_of_rare_values(strategy):
    codes = _drawn(strategy)
    shares = []
    for rare in (0, 1):
        moves = exchanges(strategy.problem, codes, 3, 4000, rare, np.random.default_rng(3))
        shares.append((codes[moves.slot_from[:, 0], 3] == 2).mean())
    assert shares[1] > 1.5 * shares[0]


def test_joined_moves_do_what_each_does(strategy):
    codes, space = _drawn(strategy), strategy.space
    parts = [
        exchanges(strategy.problem, codes, column, 50, 0, np.random.default_rng(column))
        for column in (2, 3)
    ]
    both = joined(parts)
    assert len(both) == len(parts[0]) + len(parts[1])
    one, two = (np.zeros(n, dtype=np.int64) for n in (len(parts[1]), len(both)))
    one[4] = two[len(parts[0]) + 4] = 1
    np.testing.assert_array_equal(space.apply(codes, parts[1], one), space.apply(codes, both, two))


def test_blocks_bring_all_figures_near_and_keep_tables(strategy):
    problem, codes = strategy.problem, _drawn(strategy)
    column = fine_column(strategy.space)
    assert column == 0
    found = by_blocks(strategy.space, codes, column, np.random.default_rng(1), lambda: False)
    before, after = (np.abs(problem.measure(c, np.ones(N, dtype=np.int64))) for c in (codes, found))
    assert after.mean() < before.mean() / 10
    np.testing.assert_array_equal(_counts(problem, found), _counts(problem, codes))


def test_polish_ends_when_told_to_even_if_nothing_lands(strategy):
    asked = []

    def stop():
        asked.append(True)
        return True

    codes = _drawn(strategy)
    polish(strategy.space, codes, np.random.default_rng(1), 6, stop)
    assert len(asked) < 4


def test_an_outcome_of_many_levels_is_drawn_from_its_model(strategy):
    problem = strategy.problem
    margins = [univariate(problem, column) for column in range(4)]
    codes = sample(problem, margins, 4000, True, np.random.default_rng(1))
    pay, age = codes[:, 0] + 1.0, codes[:, 1] + 20.0
    assert np.polyfit(age, pay, 1)[0] == pytest.approx(8, abs=1)
    assert len(np.unique(codes[:, 0])) > 400


def test_rows_like_others_keep_how_variables_go_together(strategy):
    problem = strategy.problem
    margins = [univariate(problem, column) for column in range(4)]
    like = np.zeros((500, 4), dtype=problem.schema.dtype)
    like[:, 1], like[:, 2], like[:, 3] = 20, np.arange(500) % 2, np.arange(500) % 3
    codes = sample(problem, margins, 500, True, np.random.default_rng(1), like)
    # A few rows are put into cells of tables that none fell into.
    assert (codes[:, 2:] == like[:, 2:]).all(axis=1).mean() > 0.9
    assert set(np.unique(codes[:, 1])) <= {18, 19, 20, 21, 22}
