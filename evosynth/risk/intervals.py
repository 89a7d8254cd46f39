"""How sure shares are: exact intervals, the bootstrap, and the difference of two shares."""

from __future__ import annotations

import math

import numpy as np

from evosynth.risk.measures import UNDEFINED, Share


def exact(share: Share, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval in per cent, of people taken as a sample."""
    from scipy.stats import beta

    x, n, tail = share.count, share.of, (1 - level) / 2
    if not n:
        return UNDEFINED, UNDEFINED
    low = 0.0 if x == 0 else float(beta.ppf(tail, x, n - x + 1))
    high = 1.0 if x == n else float(beta.isf(tail, x + 1, n - x))
    return 100 * low, 100 * high


def bootstrap(
    share: Share, among: int, rounds: int, rng: np.random.Generator, level: float = 0.95
) -> tuple[float, float]:
    """Percentile interval of a share, drawing ``among`` people anew with the intruder's data kept.

    The number of people that a share is of varies from draw to draw as well.
    """
    if not share.of:
        return UNDEFINED, UNDEFINED
    weights = np.array([share.count, share.of - share.count, among - share.of]) / among
    drawn = rng.multinomial(among, weights, rounds)
    with np.errstate(invalid="ignore"):
        shares = 100 * drawn[:, 0] / drawn[:, :2].sum(axis=1)
    tail = 50 * (1 - level)
    low, high = np.nanpercentile(shares, [tail, 100 - tail])
    return float(low), float(high)


def difference(one: Share, other: Share, level: float = 0.95) -> tuple[float, float]:
    """Newcombe's interval of one share less the other, in percentage points.

    It rests on score intervals, so that shares of 0 or 1 and small groups do no harm.
    """
    if not one.of or not other.of:
        return UNDEFINED, UNDEFINED
    a, b = one.count / one.of, other.count / other.of
    (a_low, a_high), (b_low, b_high) = _score(one, level), _score(other, level)
    low = a - b - math.hypot(a - a_low, b_high - b)
    high = a - b + math.hypot(a_high - a, b - b_low)
    return 100 * low, 100 * high


def _score(share: Share, level: float) -> tuple[float, float]:
    """Wilson's interval, as shares of one."""
    from scipy.stats import norm

    z, n, p = float(norm.isf((1 - level) / 2)), share.of, share.count / share.of
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return middle - half, middle + half
