"""Smooth figures that follow from sums of features within groups of records."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosynth.classes import Classes
from evosynth.kernels.sums import spread_groups, sum_groups
from evosynth.objective import Figure, Smooth
from evosynth.schema import Codes, FloatArray, IntArray

Totals = NDArray[Any]
"""Sums of each feature in each group, shape (groups, features); complex while differentiating."""

_STEP = 1e-30


def ends(figures: Sequence[Figure]) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest value that prints as each figure."""
    found = np.array([figure.printed.interval for figure in figures]).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def residual(
    values: FloatArray, low: FloatArray, high: FloatArray, unit: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Distance of values from the middle of their intervals in half-widths, and its slope.

    Of an interval wider than two units only the part near its ends matters: further inside the
    distance is 0 and stays 0.
    """
    half = np.minimum((high - low) / 2, unit)
    off = values - np.clip(values, low + half, high - half)
    slack = (off == 0.0) & (high - low > 2.5 * half)
    return off / half, np.where(slack, 0.0, 1 / half)


class Sums(Smooth):
    """Figures that are smooth functions of sums of features within groups."""

    curved = True
    counts_only = False
    """Whether the figures follow from the number of records in each group."""

    def __init__(self, classes: Classes, figures: Sequence[Figure]) -> None:
        self.classes = classes
        self.groups = np.full(classes.grid.size, -1)
        inside = classes.inside()
        self.groups[inside] = np.arange(len(inside))
        self.n_groups = len(inside)
        self.figures = tuple(figures)
        self.low, self.high = ends(figures)
        if self.counts_only:
            self.counted = classes.grid
        self.half_widths = np.array([figure.printed.half_width for figure in figures])

    @property
    def size(self) -> int:
        """Number of figures."""
        return len(self.half_widths)

    @property
    def half_width(self) -> FloatArray:
        """Half a unit of the last printed digit of each."""
        return self.half_widths

    @abstractmethod
    def features(self, codes: Codes) -> FloatArray:
        """Return what is summed, shape (records, features)."""

    @abstractmethod
    def evaluate(self, totals: Totals) -> Totals:
        """Compute the figures from the sums; must work on complex numbers."""

    def box(self, totals: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Interval of each figure, and the unit in which a wide one counts."""
        bounded = np.isfinite(self.high - self.low)
        return self.low, self.high, np.where(bounded, np.inf, self.half_widths)

    def jacobian(self, totals: FloatArray) -> FloatArray:
        """Change of each figure with each sum, shape (figures, groups, features)."""
        found = np.empty((self.size, *totals.shape))
        for at in np.ndindex(totals.shape):
            moved = totals.astype(np.complex128)
            moved[at] += _STEP * 1j
            found[(slice(None), *at)] = np.imag(self.evaluate(moved)) / _STEP
        return found

    def group_of(self, codes: Codes) -> IntArray:
        """Group of each record; -1 if it is not counted."""
        return np.asarray(self.groups[self.classes.grid.cells(codes)])

    def totals(self, codes: Codes, counts: FloatArray) -> FloatArray:
        """Sum over a dataset."""
        return sum_groups(self.group_of(codes), self.features(codes), counts, self.n_groups)

    def expand(self, codes: Codes, counts: FloatArray) -> SumsExpansion:
        """Expand around a dataset; figures that it does not determine count as far off."""
        totals = self.totals(codes, counts)
        with np.errstate(all="ignore"):
            values = np.real(self.evaluate(totals))
            off, slope = residual(values, *self.box(totals))
            change = self.jacobian(totals) * slope[:, None, None]
        change[~np.isfinite(change)] = 0.0
        off = np.nan_to_num(off, nan=0.0, posinf=1e6, neginf=-1e6)
        by_group = np.ascontiguousarray(np.moveaxis(change, 0, 2))
        there = np.einsum("gmf,gm->f", by_group, totals)
        return SumsExpansion(self, by_group, off - there)

    def refit(self, codes: Codes, counts: FloatArray) -> FloatArray:
        """Compute the figures anew."""
        totals = self.totals(codes, counts)
        with np.errstate(all="ignore"):
            values = np.real(self.evaluate(totals))
            off, _ = residual(values, *self.box(totals))
        return np.asarray(off, dtype=np.float64)


@dataclass(frozen=True)
class SumsExpansion:
    """How far each record moves the figures, in half-widths."""

    sums: Sums
    change: FloatArray
    """Shape (groups, features, figures)."""
    offset: FloatArray

    def influence(self, codes: Codes) -> FloatArray:
        """Change × features of each record."""
        return spread_groups(self.sums.group_of(codes), self.sums.features(codes), self.change)
