"""Quantile regression: a plane through planted records, and residual signs that hold it there.

The estimate is a plane through as many records, its corners, as there are coefficients. It is the
only one if ``Σ ψ x`` over all records is ``Σ u x`` over the corners with every ``|u| < 1/2``, where
ψ is τ above the plane, τ - 1 below and τ - 1/2 on it (Koenker 2005, theorem 2.1). So once corners
are chosen, their cells must hold records, and the coefficients hang on a sum over records in a box.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evosynth.classes import Classes
from evosynth.corners import Corners
from evosynth.design import Design
from evosynth.likelihood import Lookup
from evosynth.objective import Smooth
from evosynth.schema import Codes, FloatArray

_SAME = 1e-9
_FIRM = 0.48


@dataclass(frozen=True)
class Plane(Smooth):
    """The coefficients of a quantile regression: for each corner, how firmly it holds them.

    Within (-1, 1) all coefficients are those of the plane; what a single coefficient would be
    otherwise is not told.
    """

    curved = True
    """What a corner bears grows with the records that it holds."""
    design: Design
    classes: Classes
    y: Lookup
    quantile: float
    corners: Corners
    held: int
    """Records in every corner, at least."""
    spread: float
    """Likely distance of records from the plane."""
    density: FloatArray
    """What is added to log densities, by level of the outcome."""
    outcome: int
    given: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of corners."""
        return len(self.corners.coefficients)

    @property
    def half_width(self) -> FloatArray:
        """What a corner surely holds: at 1/2 the plane would not be the only one."""
        return np.full(self.size, _FIRM)

    @cached_property
    def _hold(self) -> FloatArray:
        """What a unit of each sum loads on each corner that holds one record."""
        return np.asarray(np.linalg.inv(self.design.rows(self.corners.codes)) / self.half_width)

    def _above(self, codes: Codes, x: FloatArray) -> FloatArray:
        """How far records lie above the plane."""
        gap = self.y(codes) - x @ self.corners.coefficients
        size = _SAME * (1.0 + np.abs(self.y.values).max())
        return np.asarray(np.where(np.abs(gap) < size, 0.0, gap))

    def _inside(self, codes: Codes) -> FloatArray:
        return np.asarray(self.classes.grid.cells(codes) == 0, dtype=np.float64)

    def log_density(self, codes: Codes) -> FloatArray:
        """Asymmetric Laplace distribution, of which quantile regression is the likelihood."""
        gap = self._above(codes, self.design.rows(codes))
        check = gap * (self.quantile - (gap < 0))
        value = self.density[codes[:, self.outcome]] - check / self.spread
        levels = float(np.isfinite(self.density).sum())
        return np.asarray(np.where(self._inside(codes) > 0, value, -np.log(levels)))

    def expand(self, codes: Codes, counts: FloatArray) -> Loads:
        """Sum up signs; this holds for any dataset."""
        return Loads(self, np.zeros(self.size))

    def refit(self, codes: Codes, counts: FloatArray) -> FloatArray:
        """Load on each corner, relative to what its records hold."""
        corner = (codes[:, None, :] == self.corners.codes)[:, :, [*self.given, self.outcome]]
        there = corner.all(axis=2) * self._inside(codes)[:, None]
        load = counts @ self.loads(codes)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(load / (counts @ there) * self.held)

    def loads(self, codes: Codes) -> FloatArray:
        """Load of each record on each corner."""
        x = self.design.rows(codes)
        gap = self._above(codes, x)
        sign = self.quantile - np.where(gap == 0, 0.5, gap < 0)
        return np.asarray((sign * self._inside(codes))[:, None] * x @ self._hold / self.held)


@dataclass(frozen=True)
class Loads:
    """Loads on the corners, as they add up."""

    plane: Plane
    offset: FloatArray

    def influence(self, codes: Codes) -> FloatArray:
        """Load of each record."""
        return self.plane.loads(codes)
