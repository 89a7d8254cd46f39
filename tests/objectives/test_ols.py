"""Ordinary least squares."""

from __future__ import annotations

import numpy as np
import pytest
from models import TERMS, by_term, checked, recomputed, round_trip, truth
from outputs import faults, write
from scipy import stats

D = "0.0000"
MODEL = {
    "kind": "ols",
    "formula": "PAY ~ AGE + SEX + AREA",
    "coefficients": by_term(D),
    "standard_errors": by_term(D),
}
ENDS = {term: [D, D] for term in TERMS}
WHOLE = dict.fromkeys(
    ["r_squared", "adjusted_r_squared", "f", "rmse", "log_likelihood", "aic", "bic"], D
)
LOGGED = {
    "kind": "ols",
    "formula": "log(PAY) ~ AGE*SEX + I(AGE^2) + log(HOURS)",
    "coefficients": by_term("0.0000", ["AGE", "SEX[2]", "AGE:SEX[2]"]),
    "statistics": {"log(HOURS)": "0.00", "I(AGE^2)": "0.00"},
}


def test_search_and_statsmodels_agree(tmp_path):
    betas = by_term(D, TERMS[1:])
    checked(
        tmp_path,
        {**MODEL, **WHOLE, "betas": betas, "statistics": by_term(D), "confidence_intervals": ENDS},
    )


@pytest.mark.parametrize("robust", ["HC0", "HC1", "HC2", "HC3", "stata"])
def test_robust_errors_agree(tmp_path, robust):
    checked(tmp_path, {**MODEL, "robust": robust, "confidence_intervals": ENDS}, records=120)


def test_powers_logs_and_products_agree(tmp_path):
    checked(tmp_path, LOGGED)


def test_figures_by_hand(tmp_path):
    data = truth(8, 90)
    raw = {**MODEL, **WHOLE, "betas": {"AGE": D}, "f_p_value": D, "p_values": {"AGE": D}}
    found = recomputed(tmp_path, {**raw, "confidence_intervals": {"AGE": [D, D]}}, data)
    y = data["PAY"].to_numpy()
    dummies = [np.ones(90), data["AGE"], data["SEX"] == 2, data["AREA"] == "s", data["AREA"] == "w"]
    x = np.column_stack(dummies).astype(float)
    inverse = np.linalg.inv(x.T @ x)
    b = inverse @ x.T @ y
    rss, tss = ((y - x @ b) ** 2).sum(), ((y - y.mean()) ** 2).sum()
    se = np.sqrt(np.diag(inverse) * rss / 85)
    f = (tss - rss) / 4 / (rss / 85)
    ll = stats.norm.logpdf(y, x @ b, np.sqrt(rss / 90)).sum()
    expected = dict(zip(TERMS, b, strict=True))
    expected |= {f"SE of {term}": e for term, e in zip(TERMS, se, strict=True)}
    expected |= {
        "r squared": 1 - rss / tss,
        "adjusted r squared": 1 - rss / 85 / (tss / 89),
        "f": f,
        "f p value": stats.f.sf(f, 4, 85),
        "rmse": np.sqrt(rss / 85),
        "log likelihood": ll,
        "aic": 10 - 2 * ll,
        "bic": 5 * np.log(90) - 2 * ll,
        "beta of AGE": b[1] * data["AGE"].std() / data["PAY"].std(),
        "p of AGE": 2 * stats.t.sf(abs(b[1] / se[1]), 85),
        "lower 95% limit of AGE": b[1] - stats.t.ppf(0.975, 85) * se[1],
        "upper 95% limit of AGE": b[1] + stats.t.ppf(0.975, 85) * se[1],
    }
    assert found == pytest.approx(expected, rel=1e-9)


def test_hc3_is_the_leave_one_out_sandwich(tmp_path):
    data = truth(8, 60)
    raw = {**MODEL, "formula": "PAY ~ AGE", "robust": "HC3", "coefficients": {"AGE": D}}
    found = recomputed(tmp_path, {**raw, "standard_errors": {"AGE": D}}, data)
    x, y = np.column_stack([np.ones(60), data["AGE"]]).astype(float), data["PAY"].to_numpy()
    inverse = np.linalg.inv(x.T @ x)
    left_out = y - x @ (inverse @ x.T @ y)
    left_out /= 1 - np.einsum("ia,ab,ib->i", x, inverse, x)
    covariance = inverse @ (x.T * left_out**2) @ x @ inverse
    assert found["SE of AGE"] == pytest.approx(np.sqrt(covariance[1, 1]))


@pytest.mark.parametrize(
    "raw",
    [
        {**MODEL, "r_squared": "0.000", "rmse": "0.000"},
        {**LOGGED, "r_squared": "0.000"},
        {"kind": "ols", "formula": "PAY ~ SEX", "p_values": {"SEX[2]": "0.000"}, "r_squared": D},
    ],
    ids=["errors and fit", "logged", "p alone"],
)
def test_round_trip(tmp_path, raw):
    assert round_trip(tmp_path, raw, seed=7) == []


VARIABLES = "Y: {integer: [0, 9]}\nX: {integer: [0, 9]}\nG: {categories: {a: A, b: B}}"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("formula: Y ~ X", "7 outputs[0]: no figure is given; there are coefficients, "
         "standard_errors, statistics, p_values, confidence_intervals, betas, r_squared, "
         "adjusted_r_squared, f, f_p_value, rmse, log_likelihood, aic, bic, observations"),
        ("formula: G ~ X\nrmse: 1.0", "8 outputs[0].formula: the outcome 'G' holds categories "
         "that are not numbers"),
        ("formula: log(Y) ~ X\nrmse: 1.0", "8 outputs[0].formula: log() needs values above 0, "
         "but 'Y' starts at 0"),
        ("formula: Y ~ X\nrobust: HC3\nf: 2.0", "10 outputs[0].f: the F test of a robust fit is "
         "not supported; leave it out"),
        ("formula: Y ~ X\nstandard_errors: {X: -0.10}", "9 outputs[0].standard_errors.X: -0.10 "
         "is not above 0"),
        ("formula: Y ~ X\np_values: {X: 1.2}", "9 outputs[0].p_values.X: 1.2 is not a p-value; "
         "it must lie between 0 and 1"),
        ("formula: Y ~ X\nobservations: 41\nrmse: 1.0", "9 outputs[0].observations: 41 is not "
         "the number of records, which is 40"),
    ],
)  # fmt: skip
def test_faults(tmp_path, lines, expected):
    path = write(tmp_path, VARIABLES, f"kind: ols\n{lines}", 40)
    assert faults(path) == [expected]
