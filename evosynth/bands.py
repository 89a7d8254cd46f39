"""Cells of tables whose counts are published as percentages may hold a record more or less.

As figures of their own, in half-widths of what they may hold, they take part in the end game.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evosynth.kernels.cells import count_cells
from evosynth.problem import CellArray, Problem
from evosynth.schema import Codes, FloatArray, IntArray
from evosynth.space import Moves

_MOST = 40
"""Cells up to which they take part."""
_BEYOND = 0.5
"""Records that the ends of what a cell may hold are inside of its half-width."""


@dataclass(frozen=True)
class Bands:
    """Cells that may hold more or fewer records, and how many."""

    problem: Problem
    cells: IntArray
    middle: FloatArray
    half: FloatArray
    merged: NDArray[np.int64]
    """Each cell, or the first of those of its table that may hold more or fewer."""

    @classmethod
    def of(cls, problem: Problem) -> Bands:
        """Find them; none where what a cell may hold depends on others, or where they are many."""
        low, high = problem.low, problem.high
        cells = np.flatnonzero((low < high) & ((low > 0) | (high < problem.schema.records)))
        if problem.shares or len(cells) > _MOST:
            cells = cells[:0]
        merged = np.arange(len(low), dtype=np.int64)
        for table in range(len(problem.grids)):
            here = problem.slice(table)
            own = cells[(cells >= here.start) & (cells < here.stop)]
            merged[own] = own.min(initial=len(low))
        middle, half = (low + high)[cells] / 2, (high - low)[cells] / 2 + _BEYOND
        return cls(problem, cells, middle, half, merged)

    def residual(self, codes: Codes, counts: IntArray) -> FloatArray:
        """Distance of each cell from the middle of what it may hold, in half-widths."""
        held = count_cells(self.problem.cells(codes), counts, len(self.merged))
        return np.asarray((held[self.cells] - self.middle) / self.half)

    def measure(self, codes: Codes, counts: IntArray) -> FloatArray:
        """Distance of every smooth figure, estimated anew, and of each cell."""
        return np.append(self.problem.measure(codes, counts), self.residual(codes, counts))

    def inside(self, cells: CellArray) -> FloatArray:
        """Effect of each record on the cells, in half-widths, given its cells in all tables."""
        table = np.searchsorted(self.problem.first_cell, self.cells, "right") - 1
        return np.asarray((cells[:, table] == self.cells) / self.half)

    def effects(self, moves: Moves) -> FloatArray:
        """Effect of each move on the cells, in half-widths."""
        inside = self.inside(moves.cells)
        found = np.zeros((len(moves), len(self.cells)))
        for k in range(2):
            real = moves.row_from[:, k] >= 0
            found[real] += inside[moves.row_to[real, k]] - inside[moves.row_from[real, k]]
        return found

    def freed(self, moves: Moves) -> Moves:
        """Let moves between these cells of a table pass for such as leave it alone."""
        if not len(self.cells):
            return moves
        return replace(moves, cells=self.merged[moves.cells].astype(moves.cells.dtype))
