"""Contradictions within a model: found where they are, never where print is truthful."""

# ruff: noqa: E501 (a case per line)

from __future__ import annotations

import numpy as np
import pytest
from models import TERMS, by_term, truth, write
from outputs import faults
from outputs import write as write_text

SPEC = {
    "logit": ["log_likelihood", "null_log_likelihood", "pseudo_r_squared", "aic", "bic",
              "lr_chi_square", "lr_p_value", "deviance", "null_deviance"],
    "poisson": ["log_likelihood", "null_log_likelihood", "pseudo_r_squared", "aic", "deviance"],
    "ols": ["r_squared", "adjusted_r_squared", "f", "f_p_value", "rmse", "log_likelihood", "aic",
            "bic"],
}  # fmt: skip
OUTCOME = {"logit": "YES", "poisson": "VISITS", "ols": "PAY"}
RATIO = {"logit": "odds_ratios", "poisson": "rate_ratios"}


@pytest.mark.parametrize("kind", SPEC)
@pytest.mark.parametrize("seed", range(12))
def test_truthful_print_is_never_faulted(tmp_path, kind, seed):
    rng = np.random.default_rng(seed)

    def places() -> str:
        decimals = int(rng.integers(0, 6))
        return f"0.{'0' * decimals}" if decimals else "0"

    raw = {"kind": kind, "formula": f"{OUTCOME[kind]} ~ AGE + SEX + AREA"}
    raw |= {"level": str(rng.choice(["90", "95", "99"]))}
    coarse = {"coefficients": by_term(places()), "statistics": by_term(places())}
    coarse |= {"p_values": by_term("0.000"), "confidence_intervals": {}}
    # An error of 0, or a ratio of 0, says nothing that could be faulted or kept.
    fine = f"0.{'0' * int(rng.integers(3, 7))}"
    coarse["standard_errors"] = by_term(fine)
    ends = places()
    coarse["confidence_intervals"] = {term: [ends, ends] for term in TERMS}
    if kind in RATIO and seed % 2:
        coarse[RATIO[kind]] = by_term(fine)
    raw |= coarse | {key: places() for key in SPEC[kind] if rng.random() < 0.7}
    for key in ("f_p_value", "lr_p_value"):
        raw |= {key: "0.0000"} if key in raw else {}
    spec, _ = write(tmp_path, raw, truth(seed, 150))
    assert spec.figures


VARIABLES = "Y: {categories: {0: A, 1: B}}\nX: {integer: [0, 9]}\nZ: {integer: [0, 9]}"
LOGIT = "kind: logit\nformula: Y ~ X + Z\n"
OLS = "kind: ols\nformula: X ~ Y + Z\n"
WRONG = {
    LOGIT + 'coefficients: {X: 1.00}\nodds_ratios: {X: 1.65}': '10 outputs[0].odds_ratios.X: odds ratio of X 1.65 puts the coefficient from 0.49774 to 0.503801, but X 1.00 puts it from 0.995 to 1.005',
    LOGIT + 'coefficients: {X: 1.00}\nstandard_errors: {X: 0.50}\nstatistics: {X: 3.00}': '11 outputs[0].statistics.X: z of X is 3.00, but it must lie from 1.9703 to 2.0303 by the coefficient and its standard error',
    LOGIT + 'statistics: {X: 3.00}\np_values: {X: 0.045}': '10 outputs[0].p_values.X: p of X is 0.045, but it must lie from 0.00265581 to 0.00274445 by the other figures of the term',
    LOGIT + "statistics: {X: 1.20}\np_values: {X: '*'}": '10 outputs[0].p_values.X: p of X is *, but it must lie from 0.228203 to 0.232087 by the other figures of the term',
    LOGIT + 'odds_ratios: {X: 1.50}\nconfidence_intervals: {X: [1.10, 1.70]}': '10 outputs[0].confidence_intervals.X: the interval 1.10 to 1.70 puts the coefficient from 0.309219 to 0.316705, but odds ratio of X 1.50 puts it from 0.402126 to 0.408793',
    LOGIT + 'standard_errors: {X: 0.50}\nconfidence_intervals: {X: [1.10, 1.70]}': '10 outputs[0].confidence_intervals.X: the interval 1.10 to 1.70 puts the standard error from 0.150513 to 0.155615, but SE of X 0.50 puts it from 0.495 to 0.505',
    LOGIT + 'confidence_intervals: {X: [1.70, 1.10]}': '9 outputs[0].confidence_intervals.X: 1.10 is below the lower limit 1.70',
    LOGIT + 'log_likelihood: -20.0\naic: 50.0': '10 outputs[0].aic: aic 50.0 puts the log-likelihood from -22.025 to -21.975, but log likelihood -20.0 puts it from -20.05 to -19.95',
    LOGIT + 'log_likelihood: -20.0\nbic: 50.0': '10 outputs[0].bic: bic 50.0 puts the log-likelihood from -19.4917 to -19.4417, but log likelihood -20.0 puts it from -20.05 to -19.95',
    LOGIT + 'log_likelihood: -20.0\nnull_log_likelihood: -25.0\npseudo_r_squared: 0.30': '11 outputs[0].pseudo_r_squared: pseudo r squared 0.30 puts the null log-likelihood from -28.8489 to -28.2979, but null log likelihood -25.0 puts it from -25.05 to -24.95',
    LOGIT + 'log_likelihood: -20.0\nnull_log_likelihood: -25.0\nlr_chi_square: 12.0': '11 outputs[0].lr_chi_square: lr chi square 12.0 puts the null log-likelihood from -26.075 to -25.925, but null log likelihood -25.0 puts it from -25.05 to -24.95',
    LOGIT + 'lr_chi_square: 12.0\nlr_p_value: 0.200': '10 outputs[0].lr_p_value: lr p value is 0.200, but it must lie from 0.00241755 to 0.0025415 by the chi-square',
    LOGIT + 'log_likelihood: -20.0\ndeviance: 41.0': '10 outputs[0].deviance: deviance 41.0 puts the log-likelihood from -20.525 to -20.475, but log likelihood -20.0 puts it from -20.05 to -19.95',
    OLS + 'r_squared: 0.300\nadjusted_r_squared: 0.310': '10 outputs[0].adjusted_r_squared: adjusted r squared is 0.310, but it must lie from 0.261635 to 0.262689 by R² 0.300, 40 records and 3 coefficients',
    OLS + 'r_squared: 0.300\nf: 12.0': '10 outputs[0].f: f is 12.0, but it must lie from 7.90971 to 7.94746 by R², 40 records and 3 coefficients',
    OLS + 'f: 12.0\nf_p_value: 0.200': '10 outputs[0].f_p_value: f p value is 0.200, but it must lie from 9.33189e-05 to 9.91544e-05 by F',
    OLS + 'r_squared: 1.30': '9 outputs[0].r_squared: r squared is 1.30, but it must lie from 0 to 1 by a share of variance',
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_contradictions(tmp_path, text):
    assert faults(write_text(tmp_path, VARIABLES, text, 40)) == [WRONG[text]]


def test_one_contradiction_hides_no_other(tmp_path):
    text = LOGIT + (
        "coefficients: {X: 1.00}\n"
        "standard_errors: {X: 0.50}\n"
        "confidence_intervals: {X: [1.10, 1.70]}\n"
        "p_values: {X: 0.300}\n"
        "log_likelihood: -20.0\n"
        "null_log_likelihood: -25.0\n"
        "aic: 50.0\n"
        "bic: 50.0\n"
        "pseudo_r_squared: 0.30\n"
        "lr_chi_square: 10.0\n"
    )
    found = faults(write_text(tmp_path, VARIABLES, text, 40))
    names = ["confidence_intervals.X"] * 2 + ["p_values.X", "aic", "bic", "pseudo_r_squared"]
    assert [line.split(": ")[0].split(" outputs[0].")[1] for line in found] == names
