"""Derivatives of log-likelihoods: each order is the slope of the one below."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evosynth.kernels import families

RNG = np.random.default_rng(4)
YES = RNG.integers(0, 2, 40).astype(float)
COUNTS = RNG.integers(0, 7, 40).astype(float)
CASES = {
    "gaussian": (1, RNG.normal(size=40)),
    "logit": (1, YES),
    "probit": (1, YES),
    "poisson": (1, COUNTS),
    "negative_binomial": (2, COUNTS),
    "multinomial": (3, RNG.integers(0, 4, 40).astype(float)),
    "ordered": (2, RNG.integers(-1, 3, 40).astype(float)),
}


def predictors(name: str, width: int) -> np.ndarray:
    eta = np.random.default_rng(5).normal(0, 0.8, (40, width))
    if name == "ordered":
        eta[:, 1] = eta[:, 0] - np.random.default_rng(6).uniform(0.3, 1.5, 40)
    return eta


@pytest.mark.parametrize("name", CASES)
def test_each_order_is_the_slope_of_the_one_below(name: str) -> None:
    kernel, (width, y) = getattr(families, name), CASES[name]
    eta = predictors(name, width)
    found = kernel(eta, y, True)
    for m in range(width):
        step = np.zeros(width)
        step[m] = 1e-5
        above, below = kernel(eta + step, y, True), kernel(eta - step, y, True)
        for order in range(3):
            slope = (above[order] - below[order]) / 2e-5
            np.testing.assert_allclose(slope, found[order + 1][:, m], atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_compiled_and_plain_agree(name: str) -> None:
    kernel, (width, y) = getattr(families, name), CASES[name]
    eta = predictors(name, width)
    for one, two in zip(kernel(eta, y, True), kernel.py_func(eta, y, True), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)
    assert kernel(eta, y, False)[3].size == 0


def test_values_are_log_probabilities() -> None:
    eta = predictors("logit", 1)
    p, mean = 1 / (1 + np.exp(-eta[:, 0])), np.exp(eta[:, 0])
    expected = {
        "logit": stats.bernoulli.logpmf(YES, p),
        "probit": stats.bernoulli.logpmf(YES, stats.norm.cdf(eta[:, 0])),
        "poisson": stats.poisson.logpmf(COUNTS, mean),
    }
    for name, values in expected.items():
        found = getattr(families, name)(eta, CASES[name][1], False)[0]
        np.testing.assert_allclose(found, values, rtol=1e-9)
    eta = predictors("negative_binomial", 2)
    size, mean = np.exp(-eta[:, 1]), np.exp(eta[:, 0])
    values = stats.nbinom.logpmf(COUNTS, size, size / (size + mean))
    found = families.negative_binomial(eta, COUNTS, False)[0]
    np.testing.assert_allclose(found, values, rtol=1e-9)


@pytest.mark.parametrize("name", ["multinomial", "ordered"])
def test_outcomes_have_probability_one_in_all(name: str) -> None:
    width = CASES[name][0]
    eta = predictors(name, width)
    if name == "multinomial":
        parts = [families.multinomial(eta, np.full(40, float(k)), False)[0] for k in range(4)]
    else:
        below, above = eta.copy(), eta.copy()
        below[:, 0], above[:, 1] = eta[:, 1], eta[:, 0]
        outcomes = [(below, 0.0), (eta, 1.0), (above, -1.0)]
        parts = [families.ordered(e, np.full(40, k), False)[0] for e, k in outcomes]
    np.testing.assert_allclose(np.exp(parts).sum(axis=0), 1.0)


def test_far_tails_stay_finite() -> None:
    eta, y = np.array([[-800.0], [800.0], [800.0], [-800.0]]), np.array([0.0, 1.0, 0.0, 1.0])
    for kernel in (families.logit, families.probit):
        for part in kernel(eta, y, True):
            assert np.isfinite(part).all()
