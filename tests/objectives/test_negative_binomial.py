"""Negative binomial regression."""

from __future__ import annotations

import numpy as np
import pytest
from models import TERMS, by_term, checked, recomputed, round_trip, truth
from scipy import optimize, stats
from statsmodels.discrete.discrete_model import NegativeBinomial
from statsmodels.tools.numdiff import approx_hess

from evosynth.refit import fit_dispersed

D = "0.00000"
MODEL = {
    "kind": "negative_binomial",
    "formula": "VISITS ~ AGE + SEX + AREA",
    "exposure": "HOURS",
    "coefficients": by_term(D),
    "standard_errors": by_term(D, [*TERMS, "alpha"]),
    "alpha": D,
}
WHOLE = dict.fromkeys(["log_likelihood", "null_log_likelihood", "aic", "bic"], D)


def without(*keys):
    return {key: value for key, value in MODEL.items() if key not in keys}


@pytest.mark.parametrize(
    "raw",
    [{**MODEL, **WHOLE}, {**without("alpha"), **WHOLE}, without("exposure", "alpha")],
    ids=["all", "alpha unknown", "no exposure"],
)
def test_search_and_statsmodels_agree(tmp_path, raw):
    checked(tmp_path, raw)


def test_figures_maximise_the_likelihood(tmp_path):
    data = truth(8, 300)
    x = np.column_stack([np.ones(300), data["SEX"] == 2]).astype(float)
    raw = {**MODEL, **WHOLE, "formula": "VISITS ~ SEX", "coefficients": by_term(D, ["SEX[2]"])}
    found = recomputed(tmp_path, {**raw, "standard_errors": {"alpha": D}}, data)

    def loss(theta):
        mean, size = np.exp(x @ theta[:2]) * data["HOURS"], np.exp(-theta[2])
        return -stats.nbinom.logpmf(data["VISITS"], size, size / (size + mean)).sum()

    best = optimize.minimize(loss, np.zeros(3), tol=1e-10)
    assert found["SEX[2]"] == pytest.approx(best.x[1], abs=1e-4)
    assert found["alpha"] == pytest.approx(np.exp(best.x[2]), abs=1e-4)
    assert found["log likelihood"] == pytest.approx(-best.fun, abs=1e-6)
    assert found["aic"] == pytest.approx(2 * 3 + 2 * best.fun, abs=1e-5)
    spread = np.exp(best.x[2]) * np.sqrt(np.linalg.inv(approx_hess(best.x, loss))[2, 2])
    assert found["SE of alpha"] == pytest.approx(spread, rel=1e-3)


def test_round_trip(tmp_path):
    raw = {**MODEL, "coefficients": by_term("0.000"), "alpha": "0.000", "log_likelihood": "0.00"}
    raw["standard_errors"] = by_term("0.000", [*TERMS, "alpha"])
    assert round_trip(tmp_path, raw, seed=7) == []


def dispersed(counts, *columns, exposure=None):
    """Fit counts as the written file is checked."""
    rows = np.column_stack([np.ones(len(counts)), *columns])
    return fit_dispersed(NegativeBinomial(counts, rows, exposure=exposure), len(counts), None)


def test_counts_without_dispersion_have_no_estimate_and_are_not_searched_for_hours():
    rng = np.random.default_rng(1)
    assert dispersed(rng.binomial(4, 0.5, 300), rng.normal(size=300)) is None


def test_a_covariate_on_a_large_scale_is_no_obstacle():
    rng = np.random.default_rng(9)
    dose, hours = rng.uniform(0, 100, 3000), rng.integers(1, 13, 3000)
    mean = hours * np.exp(-4.5 + 0.03 * dose) * rng.gamma(2, 1 / 2, 3000)
    counts = rng.poisson(mean)
    large = dispersed(counts, 1000 * dose, exposure=hours)
    small = dispersed(counts, dose / 100, exposure=hours)
    assert large.values * [1, 1e5, 1] == pytest.approx(small.values, rel=1e-6)
    assert large.measures["log_likelihood"] == pytest.approx(small.measures["log_likelihood"])
