"""Whole counts that meet given sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosynth.schema import FloatArray

MOST_SWAPS = 400_000
"""Exchanges after which a reduction is left as it is."""


@dataclass(frozen=True)
class Lattice:
    """Whole counts of rows that meet all demands: one, and a basis of the differences of all."""

    counts: FloatArray
    basis: FloatArray
    """Shape (dimensions, rows)."""

    @classmethod
    def of(cls, ties: FloatArray, goals: FloatArray) -> Lattice | None:
        """Meet one demand after the other by what leaves those before it alone."""
        basis = np.eye(len(ties))
        counts = np.zeros(len(ties))
        for demand, goal in zip(ties.T, goals, strict=True):
            values = basis @ demand
            while np.count_nonzero(values) > 1:
                used = np.flatnonzero(values)
                size = np.abs(values[used])
                length = (basis[used] ** 2).sum(axis=1)
                pivot = used[np.lexsort((length, size))[0]]
                others = used[used != pivot]
                times = np.trunc(values[others] / values[pivot])
                basis[others] -= times[:, None] * basis[pivot]
                values[others] -= times * values[pivot]
            left = goal - counts @ demand
            used = np.flatnonzero(values)
            if len(used) == 0:
                if left != 0:
                    return None
                continue
            times = left / values[used[0]]
            if times != np.rint(times):
                return None
            counts += times * basis[used[0]]
            basis = np.delete(basis, used[0], axis=0)
        return cls(counts, basis) if len(basis) else None
