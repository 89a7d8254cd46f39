"""Newton's method on the dual of calibration.

The multipliers λ minimise Σ d·G(x'λ) - T'λ, G the integral of F: a convex function of as many
unknowns as there are totals, whose gradient is what the totals are off by.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from evosynth.schema import FloatArray
from evosynth.weights.distance import Distance
from evosynth.weights.matrix import Matrix

TOLERANCE = 1e-8
"""Relative error of a total up to which it is met."""
_AIM = 1e-11
"""Relative error at which to stop."""
_CANCELS = 1e-4
"""Total of a quantity, beside the sum of its absolute values, below which this is its measure."""
_STEPS = 200
_HALVINGS = 40
_SLOW = 0.1
"""What a step should leave of the error for its second derivatives to serve once more."""
_RIDGE = 1e-12
_FOLLOWS = 1e-10
"""What others may leave of a column, squared and relative, that follows from them."""
_STALLED = 12
"""Steps without progress after which to give up."""


@dataclass(frozen=True)
class Solution:
    """Where Newton's method ended."""

    ratios: FloatArray
    """New over old weight of each record."""
    error: FloatArray
    """What each total is off by, relative to it."""
    steps: int

    @property
    def converged(self) -> bool:
        """Whether every total is met."""
        return bool(np.abs(self.error).max(initial=0.0) <= TOLERANCE)


def measure_of(totals: FloatArray, usual: FloatArray, counts: int) -> FloatArray:
    """Return what errors of totals are relative to: the totals, unless they are next to nothing.

    ``usual``: sums of absolute values under the weights to start from; the first ``counts`` totals
    are of records, the others of quantities, which may cancel out.
    """
    size, usual = np.abs(totals), np.where(usual > 0, usual, 1.0)
    size[counts:] = np.maximum(size[counts:], _CANCELS * usual[counts:])
    return np.where(totals != 0, size, usual)


def independent(gram: FloatArray) -> NDArray[np.bool_]:
    """Columns of which no one follows from the others: a Cholesky factor with pivots tells."""
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    _, order, rank, _ = linalg.lapack.dpstrf(gram / scale / scale[:, None], tol=_FOLLOWS)
    kept = np.zeros(len(gram), dtype=np.bool_)
    kept[order[:rank] - 1] = True
    return kept & (np.diag(gram) > 0)


def solve(
    matrix: Matrix,
    gram: FloatArray,
    totals: FloatArray,
    weights: FloatArray,
    distance: Distance,
    scale: FloatArray,
) -> Solution:
    """Find the ratios for which weighted sums of all columns are the totals.

    ``gram``: products of columns at the given weights; ``scale``: what the error of each total is
    relative to. Second derivatives are computed anew only where a step with the former ones falls
    short.
    """
    kept = independent(gram)
    unit = np.sqrt(np.diag(gram)[kept])
    at = np.zeros(len(weights))
    ratios = distance.ratio(at)
    gap = totals - matrix.gather(weights * ratios)
    error = _worst(gap, scale)
    best, least, stalled, steps = (ratios, gap), error, 0, 0
    second, fresh = gram, True
    while error > _AIM and steps < _STEPS and stalled < _STALLED:
        steps += 1
        inside = second[np.ix_(kept, kept)] / unit / unit[:, None]
        step = np.zeros(len(totals))
        step[kept] = _resolve(inside, gap[kept] / unit) / unit
        towards, rise, wanted = matrix.predict(step), float(gap @ step), float(totals @ step)
        share = 1.0
        for _ in range(_HALVINGS):
            there = at + share * towards
            ratios = distance.ratio(there)
            left = totals - matrix.gather(weights * ratios)
            off = _worst(left, scale)
            if off < 0.9 * error:
                break
            gained = float(weights @ (distance.dual(there) - distance.dual(at)))
            if gained - share * wanted <= -1e-4 * share * rise:
                break
            share /= 2
        if off >= error and not fresh:
            second, fresh = matrix.gram(weights * distance.slope(at)), True
            continue
        slow = off > _SLOW * error
        at, gap, error = there, left, off
        stalled = 0 if off < 0.99 * least else stalled + 1
        fresh = slow
        if slow and error > _AIM:
            second = matrix.gram(weights * distance.slope(at))
        if off < least:
            best, least = (ratios, left), off
    return Solution(best[0], best[1] / scale, steps)


def _worst(gap: FloatArray, scale: FloatArray) -> float:
    return float(np.abs(gap / scale).max(initial=0.0))


def _resolve(matrix: FloatArray, gap: FloatArray) -> FloatArray:
    """Solve for a step, the smallest where bounds leave it open."""
    ridge = _RIDGE
    for _ in range(8):
        try:
            factor = linalg.cho_factor(matrix + ridge * np.eye(len(matrix)))
            return np.asarray(linalg.cho_solve(factor, gap))
        except linalg.LinAlgError:
            ridge *= 100
    return gap
