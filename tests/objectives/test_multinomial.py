"""Multinomial logit."""

from __future__ import annotations

import pytest
import statsmodels.formula.api as smf
from models import TERMS, by_term, checked, recomputed, round_trip, truth
from outputs import faults, write

D = "0.00000"


def both(text, terms=TERMS):
    return {outcome: by_term(text, terms) for outcome in "bc"}


MODEL = {
    "kind": "multinomial",
    "formula": "CHOICE ~ AGE + SEX + AREA",
    "coefficients": both(D),
    "standard_errors": both(D),
}
WHOLE = dict.fromkeys(["log_likelihood", "pseudo_r_squared", "lr_chi_square"], D)


@pytest.mark.parametrize(
    "raw",
    [
        {**MODEL, **WHOLE},
        {**MODEL, "robust": "HC1"},
        {**MODEL, "coefficients": both(D, TERMS[1:]), "p_values": both(D)},
    ],
    ids=["all", "robust", "without intercepts"],
)
def test_search_and_statsmodels_agree(tmp_path, raw):
    checked(tmp_path, raw)


def test_two_outcomes_are_a_logit(tmp_path):
    data = truth(8, 300)
    raw = {**MODEL, "formula": "YES ~ AGE + SEX + AREA", **WHOLE}
    raw |= {"coefficients": {"1": by_term(D)}, "standard_errors": {"1": by_term(D)}}
    found = recomputed(tmp_path, raw, data)
    logit = {"kind": "logit", "formula": raw["formula"], "coefficients": by_term(D)}
    other = recomputed(tmp_path, {**logit, **WHOLE, "standard_errors": by_term(D)}, data)
    named = {label.replace("1: ", ""): value for label, value in found.items()}
    assert named == pytest.approx(other, rel=1e-6)


def test_the_base_may_be_named(tmp_path):
    data = truth(8, 300)
    raw = {**MODEL, "reference": {"CHOICE": "c"}, "standard_errors": {}}
    raw["coefficients"] = {"a": by_term(D), "b": by_term(D)}
    found = recomputed(tmp_path, raw, data)
    coded = data.assign(Y=data["CHOICE"].map({"c": 0, "a": 1, "b": 2}))
    fit = smf.mnlogit("Y ~ AGE + C(SEX) + AREA", coded).fit(disp=0)
    assert found["a: AGE"] == pytest.approx(fit.params.loc["AGE", 0], rel=1e-5)
    assert found["b: SEX[2]"] == pytest.approx(fit.params.loc["C(SEX)[T.2]", 1], rel=1e-5)


@pytest.mark.parametrize(
    "raw",
    [
        {**MODEL, "coefficients": both("0.0000"), "standard_errors": {}},
        {
            **MODEL,
            "formula": "CHOICE ~ AGE + SEX",
            "coefficients": both("0.000", ["AGE", "SEX[2]"]),
            "standard_errors": both("0.000", ["AGE", "SEX[2]"]),
        },
    ],
    ids=["coefficients", "errors"],
)
def test_round_trip(tmp_path, raw):
    assert round_trip(tmp_path, raw, seed=7) == []


VARIABLES = "Y: {categories: {a: A, b: B, c: C}}\nX: {integer: [0, 9]}"


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        (
            "coefficients: {a: {X: 1.0}}",
            "8 outputs[0].coefficients.a.X: no outcome 'a' apart from the base (known: b, c)",
        ),
        (
            "coefficients: {b: {Z: 1.0}}",
            "8 outputs[0].coefficients.b.Z: the formula has no such term (known: Intercept, X)",
        ),
        ("coefficients: {X: 1.0}", "8 outputs[0].coefficients.X: expected a mapping of keys and "
         "values"),
    ],
)  # fmt: skip
def test_faults(tmp_path, figures, expected):
    path = write(tmp_path, VARIABLES, f"kind: multinomial\nformula: Y ~ X\n{figures}", 40)
    assert faults(path) == [expected]
