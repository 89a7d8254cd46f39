"""Quantiles, extremes and thresholds of a quantity as bounds on counts below and above values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evosynth.classes import OUTSIDE, Classes
from evosynth.objective import Smooth
from evosynth.printed import Published
from evosynth.schema import Codes, FloatArray, IntArray, Variable

FEW_RECORDS = 400
"""Records up to which every quantile follows single records."""
_NEAREST = 60
_HALFWAY = 1e-9


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
    extra: tuple[tuple[float, float], ...]
    """Of each count: the bounds are these shares of the group and so many records more."""
    bounds: Callable[[int], tuple[list[int], list[int]]]
    choice: bool = True
    """Whether other counts would give the figure as well."""


def _order(q: float, size: int) -> tuple[int, int, float]:
    """Ranks (from 0) between which a quantile lies, and how far along."""
    at = (size - 1) * q
    first = math.floor(at + 1e-9)
    along = at - first
    return first, first + (along > 1e-9), along


def order_statistics(parts: Sequence[tuple[float, float]], size: int) -> list[tuple[int, float]]:
    """Ranks (from 0) whose values, times their parts, sum to a sum of quantiles."""
    found = []
    for q, coefficient in parts:
        first, second, along = _order(q, size)
        found += [(first, coefficient * (1 - along)), (second, coefficient * along)]
    return found


def quantile(variable: Variable, q: float, published: Published, size: int | None) -> list[Cut]:
    """Bounds under which a quantile prints as published; none if no values admit it.

    Where a value of the grid prints as published, that value takes both middle ranks, and the
    quantile is the same by any definition. Otherwise it is interpolated between two values.
    """
    values = variable.quantities[: variable.valid]
    hits = printing(variable, published)
    if hits:
        v = hits[0]

        def at(n: int) -> tuple[list[int], list[int]]:
            first, second, _ = _order(q, n)
            return [0, 1, 0], [first, n, n - 1 - second]

        extra = (0, -q), (1, 0), (0, q - 1)
        return [Cut(cut(variable, (v, v)), (0, 0, 0), (q, 1, 1 - q), extra, at)]
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
    # How far between the two values the quantile may lie decides which sizes admit it.
    least, most = (min(max((end - a) / (b - a), 0.0), 1.0) for end in published.interval)
    below = 1 - q - most, 1 - q - least
    above = -below[1], -below[0]
    return [
        Cut(
            cut(variable, (a, b)),
            (0, 0, 0),
            (q, 1, 1 - q),
            ((0, -q), (2, 0), (0, q - 1)),
            outer,
        ),
        Cut(groups, (q, 0, 1 - q), (q, 0, 1 - q), (below, (0, 0), above), inner),
    ]


def printing(variable: Variable, published: Published) -> list[float]:
    """Values of a variable that print as published, the nearest first."""
    values = variable.quantities[: variable.valid]
    return [v for v in _near(values, published.value) if published.prints(v)]


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
    """Bounds under which the smallest or largest value prints as published.

    One halfway between two print-outs is left out if there are others: programs print it either
    way.
    """
    hits = printing(variable, published)
    if not hits:
        return None
    hits = [value for value in hits if not published.halfway(value)] or hits
    ends = min(hits), max(hits)

    def at(n: int) -> tuple[list[int], list[int]]:
        return [0, 1, 0], [n, n, 0] if largest else [0, n, n]

    high = (1.0, 1.0, 0.0) if largest else (0.0, 1.0, 1.0)
    extra = ((0, 0), (1, 0), (0, 0))
    return Cut(cut(variable, ends), (0, 0, 0), high, extra, at, choice=False)


def implied(
    variable: Variable, q: float, published: Published, size: int
) -> tuple[IntArray, dict[int, tuple[int, int]]]:
    """Return groups of levels, and bounds of their counts whenever a quantile prints so.

    It lies between the records of two ranks, so the lower is not above what prints so, nor the
    upper below.
    """
    first, second, _ = _order(q, size)
    low, high = published.interval
    groups = cut(variable, (low - _HALFWAY, high + _HALFWAY))
    ends = {0: (0, second), 1: (0, size), 2: (0, size - 1 - first)}
    return groups, {part: ends[part] for part in ends if (groups == part).any()}


class GroupQuantile(Smooth):
    """A quantile, or a sum of quantiles, of a small group: it follows its middle records.

    In a small group a few records decide each quantile; fixing them beforehand would leave the
    group's other statistics no room, so they are left to move.
    """

    curved = True

    def __init__(
        self,
        classes: Classes,
        column: int,
        variable: Variable,
        parts: Sequence[tuple[float, float]],
        published: Published,
    ) -> None:
        self.classes, self.column = classes, column
        self.values = variable.quantities
        self.parts = parts
        """Each quantile, as a share, and its coefficient."""
        self.published = published

    @property
    def size(self) -> int:
        """One figure."""
        return 1

    @property
    def half_width(self) -> FloatArray:
        """Half a unit of its last printed digit."""
        return np.array([self.published.half_width])

    def members(self, codes: Codes) -> IntArray:
        """Return the records of the group."""
        return np.flatnonzero(self.classes.grid.cells(codes) == 0)

    def _sorted(self, codes: Codes, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values of the group in order, and how many records lie up to each."""
        inside = self.classes.grid.cells(codes) == 0
        found = np.bincount(codes[inside, self.column], counts[inside], len(self.values))
        there = np.flatnonzero(found > 0)
        return self.values[there], np.cumsum(found[there])

    def _value(self, values: FloatArray, up_to: FloatArray) -> float:
        if not len(values) or up_to[-1] < 1:
            return float("nan")
        return sum(c * _interpolated(values, up_to, q) for q, c in self.parts)

    @property
    def _half(self) -> float:
        low, high = self.published.interval
        return (high - low) / 2 if math.isfinite(high - low) else self.published.half_width

    @property
    def target(self) -> tuple[float, float]:
        """Middle of the printed digit, and half its width."""
        low, high = self.published.interval
        return (low + self._half if math.isfinite(low) else high - self._half), self._half

    def _off(self, value: float) -> float:
        low, high = self.published.interval
        inside = min(max(value, low + self._half), high - self._half)
        return (value - inside) / self._half

    def refit(self, codes: Codes, counts: FloatArray) -> FloatArray:
        """Sort and interpolate."""
        return np.array([self._off(self._value(*self._sorted(codes, counts)))])

    def expand(self, codes: Codes, counts: FloatArray) -> QuantileExpansion:
        """Say how the quantile follows a record that moves near its middle records."""
        values, up_to = self._sorted(codes, counts)
        value = self._value(values, up_to)
        change = np.zeros(len(self.values))
        if np.isfinite(value):
            for q, coefficient in self.parts:
                change += coefficient * _follow(self.values, values, up_to, q)
        change = np.nan_to_num(change) / self._half
        inside = self.classes.grid.cells(codes) == 0
        total = float(counts[inside] @ change[codes[inside, self.column]])
        offset = (self._off(value) if np.isfinite(value) else 0.0) - total
        return QuantileExpansion(self, change, np.array([offset]))


@dataclass(frozen=True)
class QuantileExpansion:
    """Change of a quantile with the value of one record."""

    quantile: GroupQuantile
    change: FloatArray
    offset: FloatArray

    def influence(self, codes: Codes) -> FloatArray:
        """Look the value up."""
        inside = self.quantile.classes.grid.cells(codes) == 0
        return np.where(inside, self.change[codes[:, self.quantile.column]], 0.0)[:, None]


def _rank(values: FloatArray, up_to: FloatArray, rank: float) -> float:
    """Value of the record of a rank, counted from 0."""
    at = np.searchsorted(up_to, rank + 1e-9, side="right")
    return float(values[min(max(int(at), 0), len(values) - 1)])


def _interpolated(values: FloatArray, up_to: FloatArray, q: float) -> float:
    first, second, along = _order(q, 1) if up_to[-1] < 2 else _order_real(q, float(up_to[-1]))
    return (1 - along) * _rank(values, up_to, first) + along * _rank(values, up_to, second)


def _order_real(q: float, size: float) -> tuple[int, int, float]:
    at = (size - 1) * q
    first = math.floor(at + 1e-9)
    return first, first + (at - first > 1e-9), at - first


def _follow(grid: FloatArray, values: FloatArray, up_to: FloatArray, q: float) -> FloatArray:
    """How a quantile follows one record over the grid.

    The record of the lower middle rank moves it by its own part, up to its neighbours; so does
    the other one.
    """
    first, second, along = _order_real(q, float(up_to[-1]))
    below = _rank(values, up_to, first - 1) if first > 0 else -np.inf
    upper = _rank(values, up_to, second)
    above = _rank(values, up_to, second + 1) if second + 1 < up_to[-1] - 0.5 else np.inf
    part = (1 - along) if second > first else 1.0
    low = max(below, float(np.nanmin(grid)))
    high = min(above, float(np.nanmax(grid)))
    if second == first:
        return np.clip(grid, low, high) - low
    return part * (np.clip(grid, low, upper) - low) + along * (np.clip(grid, upper, high) - upper)
