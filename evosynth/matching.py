"""Sizes of rows whose shares are printed finely: few sizes print each row, so they are listed.

Integer programming finds it hard that the rows add up to published totals as well. Here the sums of
half of the rows are looked up among those that the other half leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice, product

import numpy as np
from scipy.spatial import cKDTree

from evosynth.programme import Programme
from evosynth.schema import FloatArray, IntArray

_MOST_ROWS = 12
_PAIRED = 200_000
"""Combinations of half of the rows, at most."""
_MOST_SIZES = 400
"""Sizes of each row that are listed, the nearest to what is expected."""
_FARTHEST = 40
"""Sizes that are tried for each that may be listed."""
_SPLITS = 8
"""Ways to divide a row of one size into its cells, at most."""
_TRIED = 20
"""Matches that are completed, at most."""
_EXACT = 0.25
"""Half the width of what a sum must equal."""


@dataclass(frozen=True)
class Row:
    """A size that is open, the cells that make it up, and their bounds at each size."""

    size: int
    cells: IntArray
    bounds: Callable[[int], tuple[Sequence[int], Sequence[int]]]

    @property
    def columns(self) -> IntArray:
        """The size, then its cells."""
        return np.append(self.size, self.cells)

    def near(self, goal: float, low: float, high: float, most: int) -> IntArray:
        """List the nearest sizes to a goal, with all cells; shape (choices, 1 + cells)."""
        found: list[tuple[int, ...]] = []
        middle = round(min(max(goal, low), high))
        for step in range(_FARTHEST * most):
            size = middle + (step + 1) // 2 * (1 if step % 2 else -1)
            if low <= size <= high:
                found += ((size, *cells) for cells in islice(self._split(size), _SPLITS))
            if len(found) >= most:
                break
        return np.array(found, dtype=np.int64).reshape(-1, 1 + len(self.cells))

    def _split(self, size: int) -> Iterator[tuple[int, ...]]:
        low, high = self.bounds(size)
        left = size - sum(low)
        if left < 0 or any(a > b for a, b in zip(low, high, strict=True)):
            return
        ranges = [range(a, min(b, a + left) + 1) for a, b in zip(low, high, strict=True)]
        for cells in product(*ranges[:-1]):
            last = size - sum(cells)
            if last in ranges[-1]:
                yield (*cells, last)


def match(programme: Programme, rows: list[Row], expected: FloatArray) -> FloatArray | None:
    """Find counts near what is expected of all columns of a programme; ``None`` if there are none.

    The rows share no cells; what other columns may be is left open until rows are matched.
    """
    if not 2 <= len(rows) <= _MOST_ROWS:
        return None
    half = (len(rows) + 1) // 2
    most = min(_MOST_SIZES, int(_PAIRED ** (1 / half)))
    order = sorted(rows, key=lambda row: expected[row.size])
    order = order[::2] + order[1::2]  # large and small ones on both sides
    choices = []
    for row in order:
        low, high = programme.low[row.size], programme.high[row.size]
        choices.append(row.near(expected[row.size], low, high, most))
        if not len(choices[-1]):
            return None
    ties, least, greatest = _ties(programme, order)
    room = np.maximum((greatest - least) / 2, _EXACT)
    centre = (least + greatest) / 2
    parts = [
        np.asarray(chosen @ ties[:, row.columns].T) / room
        for row, chosen in zip(order, choices, strict=True)
    ]
    one, two = (reduce(_sums, side) for side in (parts[half:], parts[:half]))
    tree = cKDTree(two)
    tried = 0
    for at, hits in enumerate(tree.query_ball_point(centre / room - one, 1.0 + 1e-9, p=np.inf)):
        for hit in sorted(hits)[:1]:
            sizes = [len(chosen) for chosen in choices]
            picked = [*np.unravel_index(hit, sizes[:half]), *np.unravel_index(at, sizes[half:])]
            fixed = replace(programme, low=programme.low.copy(), high=programme.high.copy())
            for row, chosen, k in zip(order, choices, picked, strict=True):
                fixed.low[row.columns] = fixed.high[row.columns] = chosen[k]
            found = fixed.anywhere(np.zeros(len(fixed.low)))
            tried += 1
            if found is not None or tried == _TRIED:
                return found
    return None


def _sums(one: FloatArray, two: FloatArray) -> FloatArray:
    """Every row of one array plus every row of another, the last varying fastest."""
    return np.asarray((one[:, None, :] + two[None, :, :]).reshape(-1, one.shape[1]))


def _ties(programme: Programme, rows: list[Row]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Conditions that several rows share, and what they leave for the sum over these rows."""
    matrix = programme.rows.matrix.tocsr()
    inside = np.zeros(matrix.shape[1], dtype=np.bool_)
    touched = np.zeros(matrix.shape[0], dtype=np.int64)
    for row in rows:
        inside[row.columns] = True
        touched += np.diff(matrix[:, row.columns].indptr) > 0
    own = np.flatnonzero(touched > 1)
    others = matrix[own][:, ~inside]
    least, most = programme.low[~inside], programme.high[~inside]
    up, down = others.maximum(0), others.minimum(0)
    low = programme.rows.low[own] - (up @ most + down @ least)
    high = programme.rows.high[own] - (up @ least + down @ most)
    told = np.isfinite(low) & np.isfinite(high)
    return matrix[own[told]].toarray(), low[told], high[told]
