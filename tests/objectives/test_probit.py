"""Probit regression."""

from __future__ import annotations

import pytest
import statsmodels.formula.api as smf
from models import TERMS, by_term, checked, recomputed, round_trip, truth
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.families.links import Probit

D = "0.00000"
MODEL = {
    "kind": "probit",
    "formula": "YES ~ AGE + SEX + AREA",
    "coefficients": by_term(D),
    "standard_errors": by_term(D),
}
WHOLE = dict.fromkeys(["log_likelihood", "null_log_likelihood", "deviance", "lr_chi_square"], D)


@pytest.mark.parametrize("robust", [{}, {"robust": "HC0"}, {"robust": "stata"}], ids=str)
def test_search_and_statsmodels_agree(tmp_path, robust):
    checked(tmp_path, {**MODEL, **WHOLE, **robust})


def test_figures_are_those_of_a_generalised_linear_model(tmp_path):
    data = truth(8, 300)
    found = recomputed(tmp_path, {**MODEL, **WHOLE, "p_values": {"AGE": D}}, data)
    model = smf.glm("YES ~ AGE + C(SEX) + AREA", data, family=Binomial(Probit()))
    fit = model.fit(method="newton", tol=1e-12)
    for term, value, error in zip(
        ["Intercept", "SEX[2]", "AREA[s]", "AREA[w]", "AGE"], fit.params, fit.bse, strict=True
    ):
        assert found[term] == pytest.approx(value, rel=1e-6)
        assert found[f"SE of {term}"] == pytest.approx(error, rel=1e-5)
    assert found["p of AGE"] == pytest.approx(fit.pvalues["AGE"], rel=1e-4)
    assert found["log likelihood"] == pytest.approx(fit.llf)
    assert found["null log likelihood"] == pytest.approx(fit.llnull)
    assert found["deviance"] == pytest.approx(fit.deviance)
    assert found["lr chi square"] == pytest.approx(2 * (fit.llf - fit.llnull))


@pytest.mark.parametrize(
    "raw",
    [
        {"kind": "probit", "formula": "YES ~ AGE + SEX + AREA", "coefficients": by_term("0.0000")},
        {
            "kind": "probit",
            "formula": "YES ~ AGE + SEX + AREA",
            "coefficients": by_term("0.000", TERMS[1:]),
            "standard_errors": by_term("0.000", TERMS[1:]),
        },
    ],
    ids=["coefficients alone", "without intercept"],
)
def test_round_trip(tmp_path, raw):
    assert round_trip(tmp_path, raw, seed=7) == []
