"""The end game: near misses around near misses."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from cases import problem_of

from evosynth.approach import PRINTS, effects_of, outside
from evosynth.bands import Bands
from evosynth.kernels.cells import count_cells
from evosynth.record_types import Types
from evosynth.records import Records
from evosynth.recount import Recount
from evosynth.spec import load
from evosynth.wander import wander


def whole_numbers(tmp_path, table):
    """A linear model of whole numbers, few records: its figures are a coarse lattice."""
    rng = np.random.default_rng(3)
    n = 250
    x = np.column_stack([np.ones(n), rng.integers(0, 2, n), rng.integers(0, 8, n)])
    y = np.clip(np.rint(x @ [20, 3, 0.5] + rng.normal(0, 4, n)), 0, 50)
    fit = sm.OLS(y, x).fit()
    names = ["Intercept", "'G[1]'", "AGE"]
    share = 100 * x[:, 1].mean()
    shown = {
        "counts": f"counts: {{0: {n - int(x[:, 1].sum())}, 1: {int(x[:, 1].sum())}}}",
        "percentages": f"percentages: {{0: {100 - share:.0f}, 1: {share:.0f}}}",
    }[table]
    file = tmp_path / "spec.yaml"
    file.write_text(f"""
records: {n}
variables:
  G: {{categories: {{0: Without, 1: With}}}}
  AGE: {{integer: [0, 7]}}
  Y: {{integer: [0, 50]}}
outputs:
- kind: frequencies
  of: G
  {shown}
- kind: ols
  formula: Y ~ G + AGE
  coefficients: {{{", ".join(f"{n}: {v:.3f}" for n, v in zip(names, fit.params, strict=True))}}}
  standard_errors: {{{", ".join(f"{n}: {v:.3f}" for n, v in zip(names, fit.bse, strict=True))}}}
  statistics: {{{", ".join(f"{n}: {v:.2f}" for n, v in zip(names, fit.tvalues, strict=True))}}}
  r_squared: {fit.rsquared:.3f}
""")
    codes = np.column_stack([x[:, 1:], y])
    return problem_of(load(file)), codes


def near_miss(problem, codes, rng):
    """Records of the truth, a few of which got values of others."""
    found = codes.astype(problem.schema.dtype)
    for column in (1, 2):
        some = rng.choice(len(found), 12, replace=False)
        found[some, column] = found[rng.permutation(some), column]
    return found


def payload_of(space, codes):
    """Hold records as a space does."""
    if isinstance(space, Types):
        number = codes.astype(np.int64) @ space.strides
        return np.bincount(number, minlength=len(space.codes)).astype(np.int32)
    return codes


def held(problem, space, payload):
    codes, counts = space.rows(payload)
    return count_cells(problem.cells(codes), counts, len(problem.low))


@pytest.mark.parametrize("kind", [Types, Records])
@pytest.mark.parametrize("table", ["counts", "percentages"])
def test_near_misses_lead_to_figures_that_print(tmp_path, kind, table):
    problem, codes = whole_numbers(tmp_path, table)
    space = kind(problem)
    rng = np.random.default_rng(1)
    payload = payload_of(space, near_miss(problem, codes, rng))
    before = outside(problem.measure(*space.rows(payload)), PRINTS)
    found = wander(space, payload, rng, 300)
    cells = held(problem, space, found)
    assert before > 1.0
    assert (np.abs(problem.measure(*space.rows(found))) < PRINTS).all()
    assert ((problem.low <= cells) & (cells <= problem.high)).all()


def test_wandering_never_returns_something_worse(tmp_path):
    problem, codes = whole_numbers(tmp_path, "counts")
    space = Records(problem)
    rng = np.random.default_rng(2)
    payload = near_miss(problem, codes, rng)
    before = outside(problem.measure(*space.rows(payload)), PRINTS)
    for seed in range(3):
        after = wander(space, payload, np.random.default_rng(seed), 2)
        assert outside(problem.measure(*space.rows(after)), PRINTS) <= before


def test_cells_of_percentages_count_as_figures(tmp_path):
    problem, codes = whole_numbers(tmp_path, "percentages")
    space, bands = Records(problem), Bands.of(problem)
    payload = codes.astype(problem.schema.dtype)
    assert len(bands.cells) == 2
    moves = space.propose(payload, 400, np.random.default_rng(0), column=0)
    moves = moves.subset(np.flatnonzero(moves.slot_from[:, 1] < 0))
    effects, before = bands.effects(moves), bands.residual(*space.rows(payload))
    for move in range(5):
        times = (np.arange(len(moves)) == move).astype(np.int64)
        after = bands.residual(*space.rows(space.apply(payload, moves, times)))
        np.testing.assert_allclose(after - before, effects[move])
        assert effects[move].any()
    freed = bands.freed(moves)
    assert (freed.cells[moves.row_from[:, 0]] == freed.cells[moves.row_to[:, 0]]).all()
    np.testing.assert_array_equal(*(effects_of(space, payload, m)[1] for m in (moves, freed)))


def test_cells_of_counts_are_left_alone(tmp_path):
    problem, codes = whole_numbers(tmp_path, "counts")
    bands = Bands.of(problem)
    moves = Records(problem).propose(
        codes.astype(problem.schema.dtype), 50, np.random.default_rng(0)
    )
    assert len(bands.cells) == 0
    assert bands.freed(moves) is moves


def few_types(tmp_path):
    """A logit of categories alone, beside a table of percentages: two dozen types of records."""
    rng = np.random.default_rng(5)
    n = 300
    g, h = rng.integers(0, 3, n), rng.integers(0, 4, n)
    x = np.column_stack([np.ones(n), g == 1, g == 2, h == 1, h == 2, h == 3]).astype(float)
    y = (rng.random(n) < 1 / (1 + np.exp(-(x @ [-1, 0.5, 1, 0.3, 0.6, 0.9])))).astype(int)
    fit = sm.Logit(y, x).fit(disp=0)
    names = ["Intercept", "'G[1]'", "'G[2]'", "'H[1]'", "'H[2]'", "'H[3]'"]
    shares = ", ".join(f"{k}: {100 * (h == k).mean():.0f}" for k in range(4))
    file = tmp_path / "spec.yaml"
    file.write_text(f"""
records: {n}
variables:
  G: {{categories: {{0: A, 1: B, 2: C}}}}
  H: {{categories: {{0: D, 1: E, 2: F, 3: G}}}}
  Y: {{categories: {{0: Absent, 1: Present}}}}
outputs:
- kind: frequencies
  of: Y
  counts: {{0: {n - y.sum()}, 1: {y.sum()}}}
- kind: frequencies
  of: H
  percentages: {{{shares}}}
- kind: logit
  formula: Y ~ G + H
  coefficients: {{{", ".join(f"{n}: {v:.2f}" for n, v in zip(names, fit.params, strict=True))}}}
  standard_errors: {{{", ".join(f"{n}: {v:.2f}" for n, v in zip(names, fit.bse, strict=True))}}}
  log_likelihood: {fit.llf:.2f}
""")
    return problem_of(load(file)), np.column_stack([g, h, y])


def test_counts_of_few_types_change_together(tmp_path):
    problem, codes = few_types(tmp_path)
    space = Types(problem)
    rng = np.random.default_rng(0)
    some = rng.choice(len(codes), 40, replace=False)
    codes[some, 0] = codes[rng.permutation(some), 0]
    payload = payload_of(space, codes)
    before = outside(problem.measure(*space.rows(payload)), PRINTS)
    recount = Recount.of(space, Bands.of(problem))
    exact = problem.low == problem.high
    for found in recount.near(payload, rng):
        assert (found >= 0).all()
        np.testing.assert_array_equal(
            held(problem, space, found)[exact], held(problem, space, payload)[exact]
        )
    found = wander(space, payload, rng, 40)
    cells = held(problem, space, found)
    assert before > 1.0
    assert (np.abs(problem.measure(*space.rows(found))) < PRINTS).all()
    assert ((problem.low <= cells) & (cells <= problem.high)).all()
