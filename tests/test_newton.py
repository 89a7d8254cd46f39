"""Newton steps in values: slopes are those of the figures, tables stay, figures come near."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from cases import problem_of, small

from evosynth.approach import PRINTS
from evosynth.exact import Exact
from evosynth.fences import cell_ends, snapped
from evosynth.newton import around, away, newton
from evosynth.steer import kicked, shuffled, steer, steerable
from evosynth.synthesis import synthesize

N = 120
COLUMNS = np.array([0, 1, 2])


def _truth():
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(50, 10, N).clip(20, 80), 1)
    z = np.round((0.5 * x + rng.normal(0, 8, N)).clip(0, 60), 1)
    y = np.round((100 + 0.8 * x - 0.6 * z + rng.normal(0, 1, N) * x / 8).clip(60, 180), 1)
    return x, z, y


def _spec_text():
    x, z, y = _truth()
    fit = sm.OLS(y, sm.add_constant(np.column_stack([x, z]))).fit(cov_type="HC1")
    terms = ("Intercept", "X", "Z")
    named = {"X": x, "Z": z, "Y": y}

    def listed(values, names=terms, digits=3):
        return ", ".join(f"{k}: {v:.{digits}f}" for k, v in zip(names, values, strict=True))

    return f"""\
records: {N}
variables:
  X: {{number: {{min: 20.0, max: 80.0, decimals: 1}}}}
  Z: {{number: {{min: 0.0, max: 60.0, decimals: 1}}}}
  Y: {{number: {{min: 60.0, max: 180.0, decimals: 1}}}}
outputs:
  - kind: ols
    formula: Y ~ X + Z
    robust: HC1
    coefficients: {{{listed(fit.params)}}}
    standard_errors: {{{listed(fit.bse)}}}
    r_squared: {fit.rsquared:.3f}
  - kind: summary
    of: [X, Z, Y]
    mean: {{{listed([v.mean() for v in named.values()], named, 2)}}}
    sd: {{{listed([v.std(ddof=1) for v in named.values()], named, 2)}}}
    median: {{{listed([np.median(v) for v in named.values()], named, 2)}}}
    min: {{{listed([v.min() for v in named.values()], named, 1)}}}
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    return small(tmp_path_factory.mktemp("newton"), _spec_text())


@pytest.fixture(scope="module")
def problem(spec):
    return problem_of(spec)


@pytest.fixture(scope="module")
def drawn(problem):
    rng = np.random.default_rng(5)
    strategy = Exact.of(problem, "univariate", 1)
    return strategy.repaired(strategy.source.draw(rng), rng)


def test_slopes_are_what_one_step_of_a_value_does(problem):
    start, rng = Exact.of(problem, "calibrated", 1), np.random.default_rng(5)
    drawn = newton(problem, COLUMNS, start.repaired(start.source.draw(rng), rng), rng)
    slopes = around(problem, COLUMNS, drawn)
    ones = np.ones(N, dtype=np.int64)
    smooth = np.arange(problem.size) < 7  # medians turn from one record to another
    for column in COLUMNS:
        here = slice(column * N, (column + 1) * N)
        record = int(np.flatnonzero((slopes.high[here] > 2) & (slopes.low[here] < 0))[0])
        ends = []
        for shift in (-1, 1):
            moved = drawn.copy()
            moved[record, column] = int(drawn[record, column]) + shift
            ends.append(problem.measure(moved, ones))
        change = (ends[1] - ends[0]) / 2
        told = slopes.effects[column * N + record]
        scale = np.abs(slopes.effects).max(axis=0)
        assert (np.abs(change - told)[smooth] < 0.02 * scale[smooth]).all()
        assert np.abs(told[smooth]).max() > 0


def test_steps_keep_every_record_in_its_cells_and_bring_figures_near(problem, drawn):
    ones = np.ones(N, dtype=np.int64)
    found = newton(problem, COLUMNS, drawn, np.random.default_rng(1))
    assert np.array_equal(problem.cells(found), problem.cells(drawn))
    assert away(problem.measure(found, ones)) < 0.5 * away(problem.measure(drawn, ones))


def test_a_stop_is_obeyed_at_once(problem, drawn):
    found = newton(problem, COLUMNS, drawn, np.random.default_rng(1), lambda: True)
    assert found is drawn


def test_steering_leaves_little_to_polish(problem, drawn):
    assert steerable(problem, COLUMNS)
    found = steer(problem, COLUMNS, drawn, np.random.default_rng(2))
    again = steer(problem, COLUMNS, drawn, np.random.default_rng(2))
    assert np.array_equal(found, again)
    missed = np.abs(problem.measure(found, np.ones(N, dtype=np.int64))) >= PRINTS
    assert missed.sum() <= 2


@pytest.mark.parametrize("change", [shuffled, kicked])
def test_exchanges_keep_values_and_cells(problem, drawn, change):
    found = change(problem, COLUMNS, drawn, np.random.default_rng(4))
    assert (found != drawn).any()
    assert np.array_equal(problem.cells(found), problem.cells(drawn))
    for column in COLUMNS:
        assert np.array_equal(np.sort(found[:, column]), np.sort(drawn[:, column]))


def test_middle_records_are_put_where_medians_print(problem, drawn, spec):
    found = snapped(problem, COLUMNS, drawn)
    published = [np.median(v) for v in _truth()]
    frame = spec.schema.frame(found)
    assert np.allclose(frame[["X", "Z", "Y"]].median(), published, atol=0.0051)


def test_a_value_may_go_as_far_as_no_table_tells(problem):
    first, last = cell_ends(problem, 0)
    minimum = round((_truth()[0].min() - 20) * 10)
    assert first[minimum] == last[minimum] == minimum
    assert first[minimum + 1] == minimum + 1
    assert last[minimum + 1] == len(last) - 1


@pytest.mark.parametrize("seed", [1, 2])
def test_a_model_with_robust_errors_is_reproduced(spec, seed):
    assert synthesize(spec, seed, time=60).exact
