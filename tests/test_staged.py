"""A linear model of many records: covariates are settled first, then the outcome."""

from __future__ import annotations

import re

import numpy as np
import pytest
import statsmodels.api as sm
from cases import problem_of, small

import evosynth
from evosynth.exact import Exact
from evosynth.explained import Explained, PredictedMoments, Predictor
from evosynth.fitted import Model
from evosynth.kernels.cells import count_cells, violation
from evosynth.moments import GroupMoments
from evosynth.outcomes import outcome
from evosynth.settle import narrow
from evosynth.staged import Covariates

N = 3200


def _truth():
    rng = np.random.default_rng(5)
    born = 1 + (rng.random(N) < 0.2)
    sex = rng.integers(1, 3, N)
    ethnic = 1 + (rng.random(N) < np.where(born == 2, 0.5, 0.1)) * rng.integers(1, 3, N)
    age = np.rint(rng.normal(40, 10, N)).clip(18, 65).astype(int)
    x = np.column_stack([np.ones(N), age, sex == 2, ethnic == 2, ethnic == 3, born == 2])
    error = rng.gamma(4.0, 50.0, N) - 200
    pay = np.rint(x @ [300.0, 5, -80, -20, -40, -15] + error).clip(0, 2000).astype(int)
    return sex, ethnic, born, age, x, pay


def _listed(names, values, digits=2):
    return ", ".join(f"'{k}': {v:.{digits}f}" for k, v in zip(names, values, strict=True))


def _text():
    sex, ethnic, born, age, x, pay = _truth()
    fit = sm.OLS(pay, x).fit()
    terms = "Intercept", "AGE", "SEX[2]", "ETHNIC[2]", "ETHNIC[3]", "BORN[2]"
    described = ""
    for name, group in (("SEX", sex), ("ETHNIC", ethnic), ("BORN", born)):
        levels = np.unique(group)
        inside = [pay[group == level] for level in levels]
        described += f"""\
  - kind: frequencies
    of: {name}
    counts: {{{", ".join(f"{k}: {len(v)}" for k, v in zip(levels, inside, strict=True))}}}
  - kind: summary
    of: PAY
    by: {name}
    mean: {{{_listed(levels.astype(str), [v.mean() for v in inside])}}}
    median: {{{_listed(levels.astype(str), [np.median(v) for v in inside], 1)}}}
"""
    return f"""\
records: {N}
variables:
  PAY: {{integer: [0, 2000]}}
  AGE: {{integer: [18, 65]}}
  SEX: {{categories: {{1: one, 2: two}}}}
  ETHNIC: {{categories: {{1: one, 2: two, 3: three}}}}
  BORN: {{categories: {{1: here, 2: there}}}}
outputs:
  - kind: ols
    formula: PAY ~ AGE + SEX + ETHNIC + BORN
    coefficients: {{{_listed(terms, fit.params, 3)}}}
    standard_errors: {{{_listed(terms, fit.bse, 3)}}}
    r_squared: {fit.rsquared:.4f}
    f: {fit.fvalue:.2f}
    rmse: {np.sqrt(fit.mse_resid):.2f}
{described}\
  - kind: summary
    of: [PAY, AGE]
    mean: {{PAY: {pay.mean():.2f}, AGE: {age.mean():.2f}}}
    sd: {{PAY: {pay.std(ddof=1):.2f}, AGE: {age.std(ddof=1):.2f}}}
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    return small(tmp_path_factory.mktemp("staged"), _text())


@pytest.fixture(scope="module")
def problem(spec):
    found = problem_of(spec)
    assert not narrow(found)
    return found


def _codes(problem):
    sex, ethnic, born, age, _, pay = _truth()
    rows = np.column_stack([pay, age - 18, sex - 1, ethnic - 1, born - 1])
    return rows.astype(problem.schema.dtype)


def _model(problem):
    return next(block for block in problem.smooth if isinstance(block, Model))


def _true_predictor(problem):
    """The least squares fit itself, not as it is printed."""
    _, _, _, _, x, pay = _truth()
    fit = sm.OLS(pay, x).fit()
    return Predictor(_model(problem), np.asarray(fit.params), float(fit.ssr))


def test_covariates_decide_every_figure_of_the_model(problem):
    codes, ones = _codes(problem), np.ones(N)
    predictor = _true_predictor(problem)
    blank = codes.copy()
    blank[:, 0] = 0
    found = Explained(predictor).refit(blank, ones)
    np.testing.assert_allclose(found, _model(problem).refit(codes, ones), atol=1e-5)
    assert np.abs(found).max() < 1.0


def test_covariates_decide_means_of_the_outcome(problem):
    codes, ones = _codes(problem), np.ones(N)
    blank = codes.copy()
    blank[:, 0] = 0
    covariates = Covariates.of(problem)
    predictor = _true_predictor(problem)
    decided = 0
    for block, kept in zip(problem.smooth, covariates._kept, strict=True):
        if isinstance(block, GroupMoments) and len(kept):
            own = PredictedMoments(block, kept, predictor).refit(blank, ones)
            np.testing.assert_allclose(own, block.refit(codes, ones)[kept], atol=1e-5)
            decided += len(kept)
    assert decided == 2 + 3 + 2 + 2  # means by three variables, mean and sd of all


def test_expansion_tells_what_records_change(problem):
    codes = _codes(problem)
    codes[:, 0] = 0
    block, ones = Explained(_true_predictor(problem)), np.ones(N)
    expansion = block.expand(codes, ones)
    influence = expansion.influence(codes)
    np.testing.assert_allclose(
        expansion.offset + influence.sum(axis=0), block.refit(codes, ones), atol=1e-6
    )
    moved = ones.copy()
    moved[[3, 8]] += [1e-3, -1e-3]
    change = (block.refit(codes, moved) - block.refit(codes, ones)) / 1e-3
    np.testing.assert_allclose(change, influence[3] - influence[8], rtol=1e-2, atol=1e-3)


def test_outcome_is_drawn_into_its_tables(problem):
    codes = outcome(problem, _true_predictor(problem), _codes(problem), np.random.default_rng(3))
    held = count_cells(problem.cells(codes), np.ones(N, np.int64), len(problem.low))
    assert violation(held, problem.low, problem.high) == 0
    *_, x, pay = _truth()
    true, drawn = sm.OLS(pay, x).fit(), sm.OLS(codes[:, 0].astype(float), x).fit()
    distance = x.T @ x / true.mse_resid  # of coefficients, in standard errors
    away = drawn.params - true.params
    assert away @ distance @ away < 2e-7
    assert abs(drawn.ssr / true.ssr - 1) < 5e-5
    assert (codes[:, 1:] == _codes(problem)[:, 1:]).all()


def _in_pennies(text):
    """The same outputs of pay in pounds and pence, medians half-way between two pennies."""
    text = text.replace(
        "PAY: {integer: [0, 2000]}", "PAY: {number: {min: 0, max: 2000, decimals: 2}}"
    )
    return re.sub(r"median: .*", lambda line: re.sub(r"[.]\d", r"\g<0>15", line[0]), text)


def test_outcome_in_pennies_takes_the_values_of_its_medians(tmp_path):
    found = problem_of(small(tmp_path, _in_pennies(_text())))
    assert not narrow(found)
    model = _model(found)
    assert len(model.likelihood.y.values) == 200_001
    codes = _codes(found)
    codes[:, 0] = 100 * _truth()[-1]
    codes = outcome(found, _true_predictor(found), codes, np.random.default_rng(3))
    held = count_cells(found.cells(codes), np.ones(N, np.int64), len(found.low))
    assert violation(held, found.low, found.high) == 0


def test_covariates_decide_no_mean_of_an_outcome_in_logarithms(tmp_path):
    text = _text().replace("PAY: {integer: [0, 2000]}", "PAY: {integer: [1, 2000]}")
    found = problem_of(small(tmp_path, text.replace("formula: PAY", "formula: log(PAY)")))
    assert not narrow(found)
    covariates = Covariates.of(found)
    assert covariates is not None
    assert not any(len(kept) for kept in covariates._kept)


def test_data_are_drawn_in_stages_and_are_exact(spec):
    chosen = Exact.of(problem_of(spec), "calibrated", 1)
    assert chosen.staged is not None
    result = evosynth.synthesize(spec, seed=2)
    assert result.verification["exact"].all()


def test_coefficients_must_all_be_published(tmp_path):
    text = _text().replace("'SEX[2]'", "'gone'", 1)
    line = next(part for part in text.splitlines() if "'gone'" in part)
    kept = ", ".join(part for part in line.split(", ") if "gone" not in part)
    assert Covariates.of(problem_of(small(tmp_path, text.replace(line, kept)))) is None


def test_few_records_are_not_drawn_in_stages(tmp_path):
    text = """\
records: 100
variables:
  PAY: {integer: [0, 2000]}
  SEX: {categories: {1: one, 2: two}}
outputs:
  - kind: ols
    formula: PAY ~ SEX
    coefficients: {Intercept: 500.12, "SEX[2]": 20.50}
    standard_errors: {Intercept: 20.11, "SEX[2]": 28.22}
"""
    assert Covariates.of(problem_of(small(tmp_path, text))) is None
