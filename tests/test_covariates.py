"""Where standard errors place quantities of which nothing else is published."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from cases import problem_of

from evosynth.covariates import likely_moments
from evosynth.sampling import inform, refine, shapeless, univariate
from evosynth.spec import load
from evosynth.synthesis import synthesize

N = 1500


def _data():
    rng = np.random.default_rng(5)
    group = rng.integers(0, 2, N)
    dose = rng.normal(30, 4, N).clip(0, 200).round(1)
    x = np.column_stack([np.ones(N), group, dose])
    return rng, group, dose, x


def _poisson():
    rng, group, dose, x = _data()
    y = rng.poisson(np.exp(x @ [-1.0, 0.2, 0.04])).clip(max=20)
    fit = sm.GLM(y, x, sm.families.Poisson()).fit()
    return group, fit, "poisson", "integer: [0, 20]"


def _linear():
    rng, group, dose, x = _data()
    y = (x @ [20, 3, 0.5] + rng.normal(0, 5, N)).round().clip(0, 100)
    return group, sm.OLS(y, x).fit(), "ols", "integer: [0, 100]"


@pytest.fixture(params=[_poisson, _linear], ids=["poisson", "ols"])
def spec(request, tmp_path):
    group, fit, kind, values = request.param()
    names = ["Intercept", "'G[1]'", "DOSE"]
    file = tmp_path / "spec.yaml"
    file.write_text(f"""
records: {N}
variables:
  G: {{categories: {{0: Without, 1: With}}}}
  DOSE: {{number: {{min: 0.0, max: 200.0, decimals: 1}}}}
  Y: {{{values}}}
outputs:
- {{kind: frequencies, of: G, counts: {{0: {(group == 0).sum()}, 1: {(group == 1).sum()}}}}}
- kind: {kind}
  formula: Y ~ G + DOSE
  coefficients: {{{", ".join(f"{n}: {v:.4f}" for n, v in zip(names, fit.params, strict=True))}}}
  standard_errors: {{{", ".join(f"{n}: {v:.4f}" for n, v in zip(names, fit.bse, strict=True))}}}
""")
    return load(file)


def _margins(problem):
    return [univariate(problem, column) for column in range(len(problem.schema.variables))]


def test_spread_and_place_follow_from_standard_errors(spec):
    problem = problem_of(spec)
    found = list(likely_moments(problem.smooth[0], problem.schema, _margins(problem)))
    ((column, mean, sd),) = found
    assert problem.schema.variables[column].name == "DOSE"
    assert sd == pytest.approx(4, rel=0.25)
    assert mean == pytest.approx(30, rel=0.25)


def test_only_quantities_without_a_shape_are_placed(spec):
    problem = problem_of(spec)
    margins = _margins(problem)
    dose, outcome = problem.schema.index["DOSE"], problem.schema.index["Y"]
    assert shapeless(problem, margins) == [dose]
    before = [margin.copy() for margin in margins]
    inform(problem, margins, [dose])
    values = problem.schema.variables[dose].quantities
    assert margins[dose] @ values == pytest.approx(30, rel=0.25)
    np.testing.assert_array_equal(margins[outcome], before[outcome])
    assert margins[dose].sum() == pytest.approx(1)


def test_margins_go_where_weights_have_the_values(spec):
    problem = problem_of(spec)
    margins = _margins(problem)
    dose = problem.schema.index["DOSE"]
    codes = np.zeros((3, 3), problem.schema.dtype)
    codes[:, dose] = [100, 150, 1900]  # 10, 15 and 190
    refine(problem, margins, [dose], codes, np.array([2.0, 2.0, 0.0]))
    values = problem.schema.variables[dose].quantities
    assert margins[dose] @ values == pytest.approx(12.5, abs=0.2)


def test_a_narrow_quantity_of_a_wide_range_is_found(spec):
    result = synthesize(spec, seed=1, generations=3)
    assert result.exact
    assert result.data["DOSE"].std() == pytest.approx(4, rel=0.3)


@pytest.mark.parametrize("robust", [False, True])
def test_quantities_stay_in_their_ranges_and_still_account_for_the_intercept(tmp_path, robust):
    rng = np.random.default_rng(6)
    group, years = rng.integers(0, 2, N), rng.integers(2, 8, N)
    dose = rng.normal(60, 3, N).round(1)
    x = np.column_stack([np.ones(N), group, years, dose])
    y = (x @ [20, 3, 0.5, 0.3] + rng.normal(0, 5, N)).round().clip(0, 100)
    fit = sm.OLS(y, x).fit(cov_type="HC1" if robust else "nonrobust")
    names = ["Intercept", "'G[1]'", "YEARS", "DOSE"]
    file = tmp_path / "spec.yaml"
    file.write_text(f"""
records: {N}
variables:
  G: {{categories: {{0: Without, 1: With}}}}
  YEARS: {{integer: [0, 10]}}
  DOSE: {{number: {{min: 0.0, max: 200.0, decimals: 1}}}}
  Y: {{integer: [0, 100]}}
outputs:
- {{kind: frequencies, of: G, counts: {{0: {(group == 0).sum()}, 1: {(group == 1).sum()}}}}}
- kind: ols
  formula: Y ~ G + YEARS + DOSE
  {"robust: HC1" if robust else ""}
  coefficients: {{{", ".join(f"{n}: {v:.4f}" for n, v in zip(names, fit.params, strict=True))}}}
  standard_errors: {{{", ".join(f"{n}: {v:.4f}" for n, v in zip(names, fit.bse, strict=True))}}}
""")
    problem = problem_of(load(file))
    found = list(likely_moments(problem.smooth[0], problem.schema, _margins(problem)))
    (_, years_mean, _), (_, dose_mean, dose_sd) = found
    assert 2 < years_mean < 9
    assert dose_mean == pytest.approx(60, rel=0.1)
    assert dose_sd == pytest.approx(3, rel=0.25)
