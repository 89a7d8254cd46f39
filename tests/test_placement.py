"""Covariates are placed so that the models that they are part of can have their figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from cases import problem_of

from evosynth.landing import NEAR, reach
from evosynth.placement import Search, nearest
from evosynth.records import Records
from evosynth.sampling import likely, place
from evosynth.settle import narrow
from evosynth.spec import load
from evosynth.start import prepare

N = 1500
R = 0.7


@pytest.fixture
def truth():
    """Draw two quantities, one of which goes with a group, and an outcome."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=N)
    group = (R * z + np.sqrt(1 - R**2) * rng.normal(size=N) > 0.3).astype(int)
    age = (60 + 12 * z).round().clip(16, 95)
    dose = rng.normal(30, 4, N).round(1).clip(0, 100)
    x = np.column_stack([np.ones(N), group, age, dose])
    chance = 1 / (1 + np.exp(-(x @ [-2.0, 0.8, 0.04, -0.03])))
    return x, (rng.random(N) < chance).astype(int)


@pytest.fixture
def problem(truth, tmp_path):
    x, y = truth
    fit = sm.Logit(y, x).fit(disp=0)
    names = ["Intercept", "'G[1]'", "AGE", "DOSE"]
    file = tmp_path / "spec.yaml"
    file.write_text(f"""
records: {N}
variables:
  G: {{categories: {{0: Without, 1: With}}}}
  AGE: {{integer: [16, 95]}}
  DOSE: {{number: {{min: 0.0, max: 100.0, decimals: 1}}}}
  Y: {{categories: {{0: "No", 1: "Yes"}}}}
outputs:
- {{kind: frequencies, of: G, counts: {{0: {(x[:, 1] == 0).sum()}, 1: {(x[:, 1] == 1).sum()}}}}}
- {{kind: frequencies, of: Y, counts: {{0: {(y == 0).sum()}, 1: {(y == 1).sum()}}}}}
- kind: logit
  formula: Y ~ G + AGE + DOSE
  coefficients: {{{", ".join(f"{n}: {v:.4f}" for n, v in zip(names, fit.params, strict=True))}}}
  standard_errors: {{{", ".join(f"{n}: {v:.4f}" for n, v in zip(names, fit.bse, strict=True))}}}
  log_likelihood: {fit.llf:.3f}
""")
    found = problem_of(load(file))
    narrow(found)
    return found


def _misplaced(problem):
    """Put AGE and DOSE where they cannot be, for good, and hardly let them vary."""
    there = likely(problem, "calibrated", True)
    for column, mean, sd in [(1, 25.0, 2.0), (2, 80.0, 1.0)]:
        place(problem, there.margins, column, mean, sd)
    return replace(there, columns=[])


def test_search_finds_what_standard_errors_tell(problem, truth):
    found = Search(problem).find(np.random.default_rng(0))
    x, _ = truth
    for column, values in [(1, x[:, 2]), (2, x[:, 3])]:
        levels = problem.schema.variables[column].quantities
        share = found.margins[column]
        mean = np.average(levels, weights=share)
        sd = np.average((levels - mean) ** 2, weights=share) ** 0.5
        assert mean == pytest.approx(values.mean(), rel=0.15)
        assert sd == pytest.approx(values.std(), rel=0.25)
    by_pair = {(one, two): r for one, two, r in found.guessed}
    assert set(by_pair) == {(0, 1), (0, 2), (1, 2)}
    assert abs(by_pair[0, 1]) > 0.4


def test_search_leaves_published_associations_alone(problem):
    known = replace(problem.schema, associations=((0, 1, 0.5),))
    problem.schema = known
    assert Search(problem).pairs == [(0, 2), (1, 2)]


def test_figures_that_cannot_be_met_are_met_after_another_placement(problem):
    rng = np.random.default_rng(1)
    space = Records(problem)
    bad = prepare(space, "calibrated", True, rng, placement=_misplaced(problem))
    assert reach(bad, rng, lambda: False) > NEAR
    found, near = nearest(bad, rng, lambda: False)
    assert near
    assert reach(found, rng, lambda: False) < NEAR


def test_a_good_start_is_kept(problem):
    rng = np.random.default_rng(1)
    source = prepare(Records(problem), "calibrated", True, rng)
    assert nearest(source, rng, lambda: False) == (source, True)
