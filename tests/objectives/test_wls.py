"""Weighted least squares."""

from __future__ import annotations

import pytest
import statsmodels.formula.api as smf
from models import TERMS, by_term, checked, recomputed, round_trip, truth
from outputs import faults, write

D = "0.00000"
MODEL = {
    "kind": "wls",
    "formula": "PAY ~ AGE + SEX + AREA",
    "weights": "HOURS",
    "coefficients": by_term(D),
    "standard_errors": by_term(D),
}
WHOLE = dict.fromkeys(["r_squared", "adjusted_r_squared", "f", "rmse", "log_likelihood"], D)


@pytest.mark.parametrize("robust", [None, "HC0", "HC3"])
def test_search_and_statsmodels_agree(tmp_path, robust):
    raw = {**MODEL, **WHOLE, "betas": by_term(D, TERMS[1:])}
    if robust:
        raw = {**MODEL, "robust": robust, "log_likelihood": D}
    checked(tmp_path, raw, records=150)


def test_figures_are_those_of_the_formula_interface(tmp_path):
    data = truth(8, 200)
    found = recomputed(tmp_path, {**MODEL, **WHOLE}, data)
    fit = smf.wls("PAY ~ C(SEX) + AREA + AGE", data, weights=data["HOURS"]).fit()
    names = ["Intercept", "SEX[2]", "AREA[s]", "AREA[w]", "AGE"]
    expected = dict(zip(names, fit.params, strict=True))
    expected |= {f"SE of {name}": e for name, e in zip(names, fit.bse, strict=True)}
    expected |= {"r squared": fit.rsquared, "adjusted r squared": fit.rsquared_adj}
    expected |= {"f": fit.fvalue, "rmse": fit.mse_resid**0.5, "log likelihood": fit.llf}
    assert found == pytest.approx(expected, rel=1e-6)


def test_round_trip(tmp_path):
    raw = {**MODEL, "coefficients": by_term("0.000"), "standard_errors": by_term("0.000")}
    assert round_trip(tmp_path, {**raw, "r_squared": "0.000"}, seed=7) == []


def test_weights_must_be_positive(tmp_path):
    variables = "Y: {integer: [0, 9]}\nX: {integer: [0, 9]}"
    path = write(tmp_path, variables, "kind: wls\nformula: Y ~ X\nweights: X\nrmse: 1.0", 40)
    assert faults(path) == ["8 outputs[0].weights: 'X' must hold quantities above 0"]
