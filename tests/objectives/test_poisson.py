"""Poisson regression."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.formula.api as smf
from models import TERMS, by_term, checked, recomputed, round_trip, truth
from outputs import faults, write

D = "0.00000"
MODEL = {
    "kind": "poisson",
    "formula": "VISITS ~ AGE + SEX + AREA",
    "exposure": "HOURS",
    "rate_ratios": by_term(D),
    "confidence_intervals": {term: [D, D] for term in TERMS},
}
WHOLE = dict.fromkeys(
    ["log_likelihood", "null_log_likelihood", "pseudo_r_squared", "deviance", "null_deviance"], D
)


@pytest.mark.parametrize("robust", [{}, {"robust": "HC1"}], ids=str)
@pytest.mark.parametrize("terms", [TERMS, TERMS[1:]], ids=["all terms", "without intercept"])
def test_search_and_statsmodels_agree(tmp_path, robust, terms):
    raw = {**MODEL, **WHOLE, **robust, "rate_ratios": by_term(D, terms)}
    checked(tmp_path, {**raw, "confidence_intervals": {term: [D, D] for term in terms}})


def test_without_exposure(tmp_path):
    raw = {**MODEL, **WHOLE}
    raw.pop("exposure")
    checked(tmp_path, raw)


def test_figures_are_those_of_the_formula_interface(tmp_path):
    data = truth(8, 300)
    errors = {"standard_errors": by_term(D), "standard_errors_of": "ratios"}
    found = recomputed(tmp_path, {**MODEL, **WHOLE, **errors, "level": "90"}, data)
    model = smf.poisson("VISITS ~ C(SEX) + AREA + AGE", data, exposure=data["HOURS"])
    fit = model.fit(disp=0, tol=1e-12)
    ends = np.exp(fit.conf_int(0.1).to_numpy())
    names = ["Intercept", "SEX[2]", "AREA[s]", "AREA[w]", "AGE"]
    for term, value, error, (low, high) in zip(names, fit.params, fit.bse, ends, strict=True):
        assert found[f"rate ratio of {term}"] == pytest.approx(np.exp(value), rel=1e-6)
        assert found[f"SE of {term}"] == pytest.approx(np.exp(value) * error, rel=1e-6)
        assert found[f"lower 90% limit of {term}"] == pytest.approx(low, rel=1e-6)
        assert found[f"upper 90% limit of {term}"] == pytest.approx(high, rel=1e-6)
    assert found["log likelihood"] == pytest.approx(fit.llf)
    assert found["null log likelihood"] == pytest.approx(fit.llnull)
    assert found["pseudo r squared"] == pytest.approx(fit.prsquared, rel=1e-5)
    y = data["VISITS"].to_numpy(float)
    mean = fit.predict()
    logs = np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mean), 0.0)
    assert found["deviance"] == pytest.approx(2 * (logs - (y - mean)).sum())


def test_round_trip(tmp_path):
    raw = {**MODEL, "rate_ratios": by_term("0.00"), "log_likelihood": "0.00"}
    raw["confidence_intervals"] = {term: ["0.00", "0.00"] for term in TERMS[1:]}
    assert round_trip(tmp_path, raw, seed=7) == []


def test_the_published_rate_is_what_a_start_draws(tmp_path):
    from models import encode
    from models import write as write_model

    raw = {**MODEL, "coefficients": by_term("0.0000")}
    spec, data = write_model(tmp_path, raw, truth(9, 200))
    (block,) = spec.plans[0].smooth
    codes = encode(data, spec.schema)
    column = spec.schema.index["VISITS"]
    total, mean = np.zeros(200), np.zeros(200)
    for level in range(26):
        codes[:, column] = level
        share = np.exp(block.log_density(codes))
        total, mean = total + share, mean + level * share
    np.testing.assert_allclose(total, 1.0, atol=1e-6)
    expected = np.exp(block.likelihood.design.rows(codes) @ block.start) * data["HOURS"]
    np.testing.assert_allclose(mean, expected, rtol=1e-3)


VARIABLES = "Y: {integer: [-1, 9]}\nX: {integer: [0, 9]}\nN: {integer: [0, 9]}"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            "formula: Y ~ X\nlog_likelihood: -1.0",
            "8 outputs[0].formula: the outcome 'Y' must hold counts: 0, 1, 2 …",
        ),
        (
            "formula: N ~ X\nexposure: X\nlog_likelihood: -1.0",
            "9 outputs[0].exposure: 'X' must hold quantities above 0",
        ),
        (
            "formula: N ~ X\nrate_ratio: {X: 1.0}",
            "9 outputs[0].rate_ratio: unknown key (did you mean 'rate_ratios'?)",
        ),
    ],
)
def test_faults(tmp_path, lines, expected):
    path = write(tmp_path, VARIABLES, f"kind: poisson\n{lines}", 40)
    assert faults(path) == [expected]
