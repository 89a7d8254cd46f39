"""Log-likelihoods of single records, and their derivatives by the linear predictors.

Each kernel takes the predictors of each record, shape (records, predictors), and its outcome, and
returns the log-likelihood and its first, second and third derivatives. The third ones, which only
standard errors need, are empty unless asked for.
"""

from __future__ import annotations

import math

import numpy as np

from evosynth.kernels._jit import Floats, jit

Derivatives = tuple[Floats, Floats, Floats, Floats]

_ROOT = math.sqrt(0.5)
_LOG_DENSITY = -0.5 * math.log(2.0 * math.pi)


@jit
def gaussian(eta: Floats, y: Floats, third: bool) -> Derivatives:
    """Least squares: ``-(y - eta)² / 2``."""
    n = len(y)
    value, first = np.empty(n), np.empty((n, 1))
    second, cubic = np.full((n, 1, 1), -1.0), np.zeros((n if third else 0, 1, 1, 1))
    for i in range(n):
        first[i, 0] = y[i] - eta[i, 0]
        value[i] = -0.5 * first[i, 0] ** 2
    return value, first, second, cubic


@jit
def logit(eta: Floats, y: Floats, third: bool) -> Derivatives:
    """Bernoulli outcome, logistic link."""
    n = len(y)
    value, first = np.empty(n), np.empty((n, 1))
    second, cubic = np.empty((n, 1, 1)), np.empty((n if third else 0, 1, 1, 1))
    for i in range(n):
        e = eta[i, 0]
        small = math.exp(-abs(e))
        p = (1.0 if e >= 0 else small) / (1.0 + small)
        spread = small / (1.0 + small) ** 2
        value[i] = (y[i] - (1.0 if e >= 0 else 0.0)) * e - math.log1p(small)
        first[i, 0] = y[i] - p
        second[i, 0, 0] = -spread
        if third:
            cubic[i, 0, 0, 0] = -spread * (1.0 - 2.0 * p)
    return value, first, second, cubic


@jit
def probit(eta: Floats, y: Floats, third: bool) -> Derivatives:
    """Bernoulli outcome, normal link."""
    n = len(y)
    value, first = np.empty(n), np.empty((n, 1))
    second, cubic = np.empty((n, 1, 1)), np.empty((n if third else 0, 1, 1, 1))
    for i in range(n):
        sign = 2.0 * y[i] - 1.0
        e = max(sign * eta[i, 0], -35.0)
        value[i] = math.log(0.5 * math.erfc(-e * _ROOT))
        mills = math.exp(_LOG_DENSITY - 0.5 * e * e - value[i])
        slope = -mills * (mills + e)
        first[i, 0] = sign * mills
        second[i, 0, 0] = slope
        if third:
            cubic[i, 0, 0, 0] = -sign * (slope * (mills + e) + mills * (slope + 1.0))
    return value, first, second, cubic


@jit
def poisson(eta: Floats, y: Floats, third: bool) -> Derivatives:
    """Poisson outcome, log link."""
    n = len(y)
    value, first = np.empty(n), np.empty((n, 1))
    second, cubic = np.empty((n, 1, 1)), np.empty((n if third else 0, 1, 1, 1))
    for i in range(n):
        mean = math.exp(eta[i, 0])
        value[i] = y[i] * eta[i, 0] - mean
        if y[i] > 1.0:
            value[i] -= math.lgamma(y[i] + 1.0)
        first[i, 0] = y[i] - mean
        second[i, 0, 0] = -mean
        if third:
            cubic[i, 0, 0, 0] = -mean
    return value, first, second, cubic


@jit
def negative_binomial(eta: Floats, y: Floats, third: bool) -> Derivatives:
    """Outcome of mean m and variance ``m + alpha m²``; the second predictor is log alpha."""
    n = len(y)
    value, first = np.empty(n), np.empty((n, 2))
    second, cubic = np.empty((n, 2, 2)), np.empty((n if third else 0, 2, 2, 2))
    for i in range(n):
        m, r = math.exp(eta[i, 0]), math.exp(-eta[i, 1])
        t = r + m
        log_gamma, d1, d2, d3 = 0.0, 0.0, 0.0, 0.0  # of gamma(y + r) / gamma(r), by r
        for k in range(int(y[i])):
            part = 1.0 / (r + k)
            log_gamma -= math.log(part)
            d1 += part
            d2 -= part * part
            d3 += 2.0 * part * part * part
        value[i] = (
            log_gamma
            - math.lgamma(y[i] + 1.0)
            + y[i] * (eta[i, 0] - math.log(t))
            - r * math.log1p(m / r)
        )
        by_r = d1 + 1.0 - math.log1p(m / r) - (y[i] + r) / t
        by_rr = d2 + 1.0 / r - 1.0 / t - (m - y[i]) / t**2
        mixed = (y[i] - m) * m / t**2
        first[i, 0] = r * (y[i] - m) / t
        first[i, 1] = -r * by_r
        second[i, 0, 0] = -r * m * (y[i] + r) / t**2
        second[i, 0, 1] = second[i, 1, 0] = -r * mixed
        second[i, 1, 1] = r * r * by_rr + r * by_r
        if third:
            by_rrr = d3 - 1.0 / r**2 + 1.0 / t**2 + 2.0 * (m - y[i]) / t**3
            twice = -r * m * ((y[i] - 2.0 * m) / t**2 - 2.0 * (y[i] - m) * m / t**3)
            once = r * mixed - 2.0 * r * r * (y[i] - m) * m / t**3
            cubic[i, 0, 0, 0] = -r * (y[i] + r) * m * (r - m) / t**3
            cubic[i, 0, 0, 1] = cubic[i, 0, 1, 0] = cubic[i, 1, 0, 0] = twice
            cubic[i, 0, 1, 1] = cubic[i, 1, 0, 1] = cubic[i, 1, 1, 0] = once
            cubic[i, 1, 1, 1] = -(r**3) * by_rrr - 3.0 * r * r * by_rr - r * by_r
    return value, first, second, cubic


@jit
def multinomial(eta: Floats, y: Floats, third: bool) -> Derivatives:
    """Unordered categories: outcome 0 is the base, outcome m has predictor m - 1."""
    n, width = eta.shape
    value, first = np.empty(n), np.empty((n, width))
    second = np.empty((n, width, width))
    cubic = np.empty((n if third else 0, width, width, width))
    p = np.empty(width)
    for i in range(n):
        top = max(0.0, eta[i].max())
        total = math.exp(-top)
        for m in range(width):
            p[m] = math.exp(eta[i, m] - top)
            total += p[m]
        value[i] = -top - math.log(total)
        own = int(y[i]) - 1
        if own >= 0:
            value[i] += eta[i, own]
        for m in range(width):
            p[m] /= total
            first[i, m] = (1.0 if m == own else 0.0) - p[m]
        for m in range(width):
            for k in range(width):
                second[i, m, k] = p[m] * (p[k] - (1.0 if m == k else 0.0))
                if third:
                    for q in range(width):
                        a = p[m] * ((1.0 if m == q else 0.0) - p[q])
                        b = p[k] * ((1.0 if k == q else 0.0) - p[q])
                        cubic[i, m, k, q] = a * p[k] + p[m] * b - (a if m == k else 0.0)
    return value, first, second, cubic


@jit
def ordered(eta: Floats, y: Floats, third: bool) -> Derivatives:
    """Ordered categories, logistic: predictors are the cut points around the outcome less x'b.

    The lowest outcome, 0, has no lower cut point; the highest has a ``y`` of -1 and no upper one.
    """
    n = len(y)
    value, first = np.empty(n), np.empty((n, 2))
    second, cubic = np.empty((n, 2, 2)), np.empty((n if third else 0, 2, 2, 2))
    for i in range(n):
        upper = 1.0 / (1.0 + math.exp(-eta[i, 0])) if y[i] >= 0 else 1.0
        lower = 1.0 / (1.0 + math.exp(-eta[i, 1])) if y[i] != 0 else 0.0
        gap = upper - lower
        if y[i] < 0:
            gap = 1.0 / (1.0 + math.exp(eta[i, 1]))
        value[i] = math.log(gap) if gap > 0.0 else -np.inf
        up, low = upper * (1.0 - upper), lower * (1.0 - lower)
        a, a2 = up / gap, up * (1.0 - 2.0 * upper) / gap
        b, b2 = low / gap, low * (1.0 - 2.0 * lower) / gap
        first[i, 0], first[i, 1] = a, -b
        second[i, 0, 0] = a2 - a * a
        second[i, 1, 1] = -b2 - b * b
        second[i, 0, 1] = second[i, 1, 0] = a * b
        if third:
            a3 = up * (1.0 - 6.0 * upper + 6.0 * upper**2) / gap
            b3 = low * (1.0 - 6.0 * lower + 6.0 * lower**2) / gap
            cubic[i, 0, 0, 0] = a3 - 3.0 * a * a2 + 2.0 * a**3
            twice, once = b * (a2 - 2.0 * a * a), a * (b2 + 2.0 * b * b)
            cubic[i, 0, 0, 1] = cubic[i, 0, 1, 0] = cubic[i, 1, 0, 0] = twice
            cubic[i, 0, 1, 1] = cubic[i, 1, 0, 1] = cubic[i, 1, 1, 0] = once
            cubic[i, 1, 1, 1] = -b3 - 3.0 * b * b2 - 2.0 * b**3
    return value, first, second, cubic
