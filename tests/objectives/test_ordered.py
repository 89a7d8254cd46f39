"""Proportional odds."""

from __future__ import annotations

import numpy as np
import pytest
from models import TERMS, by_term, checked, recomputed, round_trip, truth
from outputs import faults, write
from scipy import optimize

D = "0.00000"
CUTS = ["1|2", "2|3", "3|4"]
MODEL = {
    "kind": "ordered",
    "formula": "GRADE ~ AGE + SEX + AREA",
    "coefficients": by_term(D, TERMS[1:]),
    "cut_points": by_term(D, CUTS),
    "standard_errors": by_term(D, [*TERMS[1:], *CUTS]),
}
WHOLE = dict.fromkeys(["log_likelihood", "pseudo_r_squared", "aic"], D)


@pytest.mark.parametrize(
    "raw",
    [
        {**MODEL, **WHOLE},
        {**MODEL, "robust": "HC0"},
        {**MODEL, "cut_points": {}, "statistics": by_term(D, TERMS[1:])},
    ],
    ids=["all", "robust", "without cut points"],
)
def test_search_and_statsmodels_agree(tmp_path, raw):
    checked(tmp_path, raw)


def test_figures_maximise_the_likelihood(tmp_path):
    data = truth(8, 300)
    raw = {**MODEL, **WHOLE, "formula": "GRADE ~ SEX", "coefficients": {"SEX[2]": D}}
    found = recomputed(tmp_path, {**raw, "standard_errors": {"SEX[2]": D}}, data)
    x, y = (data["SEX"] == 2).to_numpy(float), data["GRADE"].to_numpy() - 1

    def loss(theta):
        cuts = np.concatenate([[-np.inf], np.cumsum([theta[1], *np.exp(theta[2:])]), [np.inf]])
        ends = 1 / (1 + np.exp(theta[0] * x[:, None] - cuts))
        rows = np.arange(len(y))
        return -np.log(ends[rows, y + 1] - ends[rows, y]).sum()

    best = optimize.minimize(loss, np.array([0.0, -1.0, 0.0, 0.0]), tol=1e-10)
    cuts = np.cumsum([best.x[1], *np.exp(best.x[2:])])
    assert found["SEX[2]"] == pytest.approx(best.x[0], abs=1e-4)
    assert [found[cut] for cut in CUTS] == pytest.approx(cuts, abs=1e-4)
    assert found["log likelihood"] == pytest.approx(-best.fun, abs=1e-6)
    assert found["aic"] == pytest.approx(8 + 2 * best.fun, abs=1e-5)


@pytest.mark.parametrize(
    "raw",
    [
        {**MODEL, "coefficients": by_term("0.0000", TERMS[1:]), "standard_errors": {},
         "cut_points": by_term("0.0000", CUTS)},
        {"kind": "ordered", "formula": MODEL["formula"], "log_likelihood": "0.00",
         "odds_ratios": by_term("0.00", TERMS[1:]),
         "confidence_intervals": {term: ["0.00", "0.00"] for term in TERMS[1:]}},
    ],
    ids=["coefficients", "odds ratios"],
)  # fmt: skip
def test_round_trip(tmp_path, raw):
    assert round_trip(tmp_path, raw, seed=7) == []


VARIABLES = (
    "Y: {categories: {a: A, b: B, c: C}}\nZ: {categories: {0: A, 1: B}}\nX: {integer: [0, 9]}"
)


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        (
            "formula: Y ~ X\ncut_points: {a|c: 1.0}",
            "9 outputs[0].cut_points.a|c: the formula has no such term (did you mean 'b|c'?)",
        ),
        (
            "formula: Z ~ X\ncoefficients: {X: 1.0}",
            "8 outputs[0].formula: the outcome 'Z' has 2 values; an ordered logit takes 3 to 20",
        ),
        (
            "formula: Y ~ X\ncoefficients: {Intercept: 1.0}",
            "9 outputs[0].coefficients.Intercept: the formula has no such term "
            "(known: X, a|b, b|c)",
        ),
    ],
)
def test_faults(tmp_path, figures, expected):
    path = write(tmp_path, VARIABLES, f"kind: ordered\n{figures}", 40)
    assert faults(path) == [expected]
