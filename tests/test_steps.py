"""Steps of values: effects are exact, real weights become whole records, and figures are met."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from cases import SPECS, problem_of, small

from evosynth.approach import PRINTS
from evosynth.few import Few
from evosynth.kernels.cells import count_cells, violation
from evosynth.parts import parts
from evosynth.records import Records
from evosynth.spec import load
from evosynth.start import prepare
from evosynth.steps import _candidates, walk
from evosynth.whole import Whole

N = 400


def _text():
    rng = np.random.default_rng(8)
    group = rng.integers(1, 3, N)
    age = rng.integers(20, 60, N)
    dose = np.round(rng.normal(10, 2, N).clip(0, 20), 1)
    x = sm.add_constant(np.column_stack([group == 2, age, dose]).astype(float))
    mean = x @ [-1.0, 0.4, 0.05, -0.1]
    yes = (mean + rng.logistic(size=N) > 0).astype(int)
    score = np.round(50 + 5 * (mean + rng.normal(size=N)), 1).clip(0, 100)
    terms = ("Intercept", "GROUP[2]", "AGE", "DOSE")

    def listed(values):
        return ", ".join(f"'{k}': {v:.4f}" for k, v in zip(terms, values, strict=True))

    logit, ols = sm.Logit(yes, x).fit(disp=0), sm.OLS(score, x).fit()
    models = [
        f"""\
  - kind: {kind}
    formula: {outcome} ~ GROUP + AGE + DOSE
    coefficients: {{{listed(fit.params)}}}
    standard_errors: {{{listed(fit.bse)}}}
"""
        for kind, outcome, fit in (("logit", "YES", logit), ("ols", "SCORE", ols))
    ]
    return f"""\
records: {N}
variables:
  GROUP: {{categories: {{1: one, 2: two}}}}
  AGE: {{integer: [20, 59]}}
  DOSE: {{number: {{min: 0.0, max: 20.0, decimals: 1}}}}
  YES: {{categories: {{0: no, 1: yes}}}}
  SCORE: {{number: {{min: 0.0, max: 100.0, decimals: 1}}}}
outputs:
  - kind: frequencies
    of: GROUP
    counts: {{1: {(group == 1).sum()}, 2: {(group == 2).sum()}}}
{models[0]}    log_likelihood: {logit.llf:.3f}
{models[1]}    r_squared: {ols.rsquared:.3f}
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    spec = small(tmp_path_factory.mktemp("steps"), _text())
    space = Records(problem_of(spec))
    source = prepare(space, "calibrated", True, np.random.default_rng(1))
    found = Whole.of(source, np.random.default_rng(2), lambda: False)
    assert found is not None
    return found


def _wrong(problem, codes):
    counts = np.ones(len(codes), dtype=np.int64)
    return violation(
        count_cells(problem.cells(codes), counts, len(problem.low)), problem.low, problem.high
    )


def test_whole_records_keep_tables_and_are_near_the_figures(whole):
    problem = whole.relaxed.problem
    ones = np.ones(N, dtype=np.int64)
    codes = whole.draw(np.random.default_rng(3), lambda: False)
    plain = whole.source.draw(np.random.default_rng(3))
    assert len(codes) == N
    assert _wrong(problem, codes) == 0
    near, far = (np.abs(problem.measure(one, ones)) for one in (codes, plain))
    assert np.median(near) < 2 * np.median(far)


def test_single_steps_do_what_they_say(whole):
    problem = whole.relaxed.problem
    ones = np.ones(N, dtype=np.int64)
    codes = whole.draw(np.random.default_rng(3), lambda: False)
    expansion = problem.expand(codes, np.ones(N))
    steps = _candidates(problem, whole.source.space.stepped, codes, np.random.default_rng(4))
    assert (steps.low < 0).any() and (steps.low == 0).any()
    before = expansion.residual(codes, ones)
    for value in range(0, len(steps.record), 40):
        times = np.zeros(len(steps.record))
        times[value] = 1.0
        moved = steps.apply(codes, times)
        assert (moved != codes).sum() == 1
        told = steps.effect(times)
        assert told == pytest.approx(expansion.residual(moved, ones) - before, abs=1e-6)


def test_steps_meet_every_figure_and_leave_tables_alone(whole):
    problem = whole.relaxed.problem
    columns = whole.source.space.stepped
    rng = np.random.default_rng(5)
    found = walk(problem, columns, whole.draw(rng, lambda: False), rng, 8)
    assert (np.abs(problem.measure(found, np.ones(N, dtype=np.int64))) < PRINTS).all()
    assert _wrong(problem, found) == 0


def test_a_walk_stops_when_told_and_never_leads_farther_off(whole):
    rng = np.random.default_rng(5)
    codes = whole.draw(rng, lambda: False)
    problem, columns = whole.relaxed.problem, whole.source.space.stepped
    assert walk(problem, columns, codes, rng, 8, lambda: True) is codes


@pytest.fixture(scope="module")
def absences():
    """Operators for two models of the same counts of 146 pupils."""
    spec = load(SPECS / "school-absence.yaml")
    return Few.of(problem_of(spec), spec.start, 1)


def test_several_models_of_few_records_start_from_whole_numbers_of_every_kind(absences):
    problem, rng = absences.problem, np.random.default_rng(1)
    drawn = absences.whole.draw(rng, lambda: False)
    ones = np.ones(problem.schema.records, dtype=np.int64)
    cells = count_cells(problem.cells(drawn), ones, len(problem.low))
    assert violation(cells, problem.low, problem.high) == 0
    plain = absences.repaired(absences.source.draw(rng), rng)
    near, far = (
        np.abs(problem.measure(absences.annealed(codes, rng), ones)) < PRINTS
        for codes in (drawn, plain)
    )
    assert near.sum() > far.sum()


def test_quantities_of_a_few_levels_make_parts_where_records_are_few():
    problem = problem_of(load(SPECS / "low-birth-weight-models.yaml"))
    names = [variable.name for variable in problem.schema.variables]
    codes = np.zeros((5, len(names)), dtype=problem.schema.dtype)
    codes[1:3, names.index("PTL")] = 1, 2
    codes[3:, names.index("AGE")] = 3, 4
    assert parts(problem, codes).tolist() == [0, 1, 2, 0, 0]
