"""Where a plane with published coefficients can be laid through points of the grid of values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosynth.design import Design
from evosynth.kernels.plane import settle_plane
from evosynth.likelihood import Lookup
from evosynth.schema import Codes, FloatArray, IntArray

_NEAR, _NEAR_LATER = 0.8, 0.98
"""Distance from the middle of the printed digits, in half-widths, that will do, soon and later."""
_STARTS, _SOON = 40, 20
_STEPS = 400
_PATIENCE = 2
"""Times that every pair of corners is exchanged in vain before a corner moves at random."""
_FLATTEST = 0.02
"""Part of the volume of well spread corners that others must span."""
_MOST_LINES = 400
_MOST_STEPS = 4
"""Values of the outcome on each side of the nearest that corners may have."""
_MOST_POINTS = 5_000
"""Points among which planes are looked for at a time."""
_SINGULAR = 1e-16
_LEAST_REACH = 1e-12
_FREE = 1e12
"""Half-width of a coefficient that is not published."""


@dataclass(frozen=True)
class Corners:
    """Grid points through which a plane is laid."""

    codes: Codes
    """Coded records, one per coefficient."""
    coefficients: FloatArray
    """Of the plane through them."""
    distance: float
    """Of its coefficients from the published ones at most, in half-widths."""


def lay(
    points: Codes,
    design: Design,
    outcome: Lookup,
    levels: IntArray,
    target: FloatArray,
    half: FloatArray,
) -> Corners:
    """Lay a plane with the published coefficients through grid points.

    Parameters
    ----------
    points
        Coded records with covariates to choose from; they must determine all coefficients.
    design, outcome, levels
        Covariates and outcome by level, and the levels that the outcome may have.
    target, half
        Published coefficients and half-widths, infinite where nothing is published.
    """
    x = design.rows(points)
    levels = levels[np.argsort(outcome.values[levels], kind="stable")]
    values = outcome.values[levels]
    height = x @ target
    reach = np.abs(x) @ np.where(np.isfinite(half), half, 0.0)
    nearest = np.searchsorted((values[1:] + values[:-1]) / 2, height)
    which = [np.arange(len(x))]
    level = [nearest]
    for step in range(1, _MOST_STEPS + 1):
        for other in (nearest - step, nearest + step):
            there = (other >= 0) & (other < len(values))
            there &= np.abs(values[np.clip(other, 0, len(values) - 1)] - height) < reach
            which.append(np.flatnonzero(there))
            level.append(other[there])
    chosen_x, chosen_level = np.concatenate(which), np.concatenate(level)
    points, x = points[chosen_x].copy(), x[chosen_x]
    points[:, outcome.column] = levels[chosen_level]
    gap = values[chosen_level] - height[chosen_x]
    # A plane within the printed digits is no farther than its reach from any point that it meets.
    order = np.argsort(np.abs(gap) / np.maximum(reach[chosen_x], _LEAST_REACH), kind="stable")
    points, x, gap = points[order], x[order], gap[order]
    chosen, distance = _exchange(x, gap, half)
    corners = points[chosen]
    plane = np.linalg.solve(x[chosen], outcome(corners)).astype(np.float64)
    return Corners(corners, plane, distance)


def _exchange(x: FloatArray, gap: FloatArray, half: FloatArray) -> tuple[IntArray, float]:
    """Choose points by exchanging two at a time for what brings the coefficients nearest.

    The first points are the likeliest: they are tried first, then among more and more others.
    """
    rng = np.random.default_rng(0)
    width = x.shape[1]
    half = np.minimum(half, _FREE)
    if width == 1:
        distance = np.abs(gap / x[:, 0]) / half[0]
        return np.array([distance.argmin()]), float(distance.min())
    best, least = np.arange(width), np.inf
    patience = _PATIENCE * width * (width - 1) // 2
    for start in range(_STARTS):
        among = np.arange(min(len(x), (start + 1) * _MOST_POINTS))
        first = _spread_out(x, among, rng)
        few = rng.choice(among, min(len(among), _MOST_POINTS), replace=False)
        pool = np.append(first, few)
        found, distance = settle_plane(
            x[pool],
            gap[pool],
            half,
            np.arange(width),
            np.linalg.inv(x[first]).astype(np.float64),
            np.argsort(rng.random((_STEPS, width)), axis=1)[:, :2],
            rng.integers(0, len(pool), _STEPS),
            patience,
            _NEAR,
            _FLATTEST / 2**start,
            _MOST_LINES,
        )
        if distance < least:
            best, least = pool[found], float(distance)
        if least < (_NEAR if start < _SOON else _NEAR_LATER):
            break
    return best, least


def _spread_out(x: FloatArray, likely: IntArray, rng: np.random.Generator) -> IntArray:
    """Choose independent points far apart, from a random few of the likely if those will do."""
    width = x.shape[1]
    scaled = x / np.maximum(np.abs(x).max(axis=0), 1e-300)
    few = rng.choice(likely, min(len(likely), 40 * width), replace=False)
    for among in (few, likely, np.arange(len(x))):
        left = scaled[among]
        chosen = []
        for _ in range(width):
            length = (left**2).sum(axis=1)
            at = int(length.argmax())
            if length[at] < _SINGULAR:
                break
            chosen.append(among[at])
            along = left[at] / np.sqrt(length[at])
            left = left - np.outer(left @ along, along)
        if len(chosen) == width:
            return np.array(chosen)
    raise np.linalg.LinAlgError("no plane is determined by these points")
