"""Quantiles, extremes and thresholds of a quantity as bounds on counts below and above values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evosynth.classes import OUTSIDE
from evosynth.printed import Published
from evosynth.schema import FloatArray, IntArray, Variable

_NEAREST = 60


def cut(variable: Variable, ends: tuple[float, float]) -> IntArray:
    """Group levels into those below, between (both ends among them) and above two values."""
    values = variable.quantities
    groups = np.ones(variable.size, dtype=np.int64)
    groups[values < ends[0]] = 0
    groups[values > ends[1]] = 2
    groups[variable.valid :] = OUTSIDE
    return groups


@dataclass(frozen=True)
class Cut:
    """A quantity cut in three, and bounds of the three counts for a size of the group."""

    groups: IntArray
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    bounds: Callable[[int], tuple[list[int], list[int]]]


def _order(q: float, size: int) -> tuple[int, int, float]:
    """Ranks (from 0) between which a quantile lies, and how far along."""
    at = (size - 1) * q
    first = math.floor(at + 1e-9)
    along = at - first
    return first, first + (along > 1e-9), along


def quantile(variable: Variable, q: float, published: Published, size: int | None) -> list[Cut]:
    """Bounds under which a quantile prints as published; none if no values admit it.

    Where a value of the grid prints as published, that value takes both middle ranks, and the
    quantile is the same by any definition. Otherwise it is interpolated between two values.
    """
    values = variable.quantities[: variable.valid]
    hits = [v for v in _near(values, published.value) if published.prints(v)]
    if hits:
        v = hits[0]

        def at(n: int) -> tuple[list[int], list[int]]:
            first, second, _ = _order(q, n)
            return [0, 1, 0], [first, n, n - 1 - second]

        return [Cut(cut(variable, (v, v)), (0, 0, 0), (q, 1, 1 - q), at)]
    pair = _pair(values, q, published, size)
    if pair is None:
        return []
    a, b = pair

    def along_fits(n: int) -> bool:
        _, _, along = _order(q, n)
        return published.prints((1 - along) * a + along * b)

    def outer(n: int) -> tuple[list[int], list[int]]:
        first, second, _ = _order(q, n)
        return [0, 2, 0], [first, n, n - 1 - second]

    def inner(n: int) -> tuple[list[int], list[int]]:
        first, _, _ = _order(q, n)
        if not along_fits(n):
            return [1, 1, 1], [0, 0, 0]
        return [first + 1, 0, n - first - 1], [first + 1, 0, n - first - 1]

    between = variable.quantities.copy()
    groups = np.where(between <= a, 0, np.where(between >= b, 2, 1))
    groups[variable.valid :] = OUTSIDE
    return [
        Cut(cut(variable, (a, b)), (0, 0, 0), (q, 1, 1 - q), outer),
        Cut(groups, (q, 0, 1 - q), (q, 0, 1 - q), inner),
    ]


def _near(values: FloatArray, goal: float) -> list[float]:
    at = int(np.searchsorted(values, goal))
    some = values[max(0, at - _NEAREST) : at + _NEAREST]
    return sorted(some.tolist(), key=lambda v: (abs(v - goal), v))


def _pair(
    values: FloatArray, q: float, published: Published, size: int | None
) -> tuple[float, float] | None:
    """Two values between which a quantile can be interpolated, as close as possible."""
    below = [v for v in _near(values, published.value) if v < published.value]
    above = [v for v in _near(values, published.value) if v > published.value]
    along = None if size is None else _order(q, size)[2]
    best = None
    for a in below:
        for b in above:
            if best is not None and b - a >= best[1] - best[0]:
                continue
            if along is None:
                shares = [0.5] if q == 0.5 else np.arange(0.05, 1.0, 0.05).round(2).tolist()
                fits = any(published.prints((1 - f) * a + f * b) for f in shares)
            else:
                fits = published.prints((1 - along) * a + along * b)
            if fits:
                best = a, b
    return best


def extreme(variable: Variable, published: Published, largest: bool) -> Cut | None:
    """Bounds under which the smallest or largest value prints as published."""
    values = variable.quantities[: variable.valid]
    hits = [v for v in _near(values, published.value) if published.prints(v)]
    if not hits:
        return None
    ends = min(hits), max(hits)

    def at(n: int) -> tuple[list[int], list[int]]:
        return [0, 1, 0], [n, n, 0] if largest else [0, n, n]

    high = (1.0, 1.0, 0.0) if largest else (0.0, 1.0, 1.0)
    return Cut(cut(variable, ends), (0, 0, 0), high, at)
