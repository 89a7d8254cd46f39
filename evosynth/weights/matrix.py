"""The design matrix of calibration, kept as codes: margins are joined until their cells are many.

Record i has a 1 in one column of every margin, so its row is a few numbers. Margins are joined into
blocks of up to about a thousand cells; sums over records are then counts by cell of a block, or of
two blocks, and only these few cells are multiplied out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosynth.schema import FloatArray, IntArray

_MOST_CELLS = 1024
_LEAST_CELLS = 64


@dataclass(frozen=True)
class Block:
    """Several margins joined."""

    codes: IntArray
    """Cell of each record."""
    spread: sparse.csr_array
    """Which columns each cell has a 1 in, shape (cells, columns)."""

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(self.spread.shape[0])


@dataclass(frozen=True)
class Matrix:
    """A design matrix of margins, then of quantities."""

    blocks: tuple[Block, ...]
    quantities: FloatArray
    """Shape (records, quantities)."""
    counts: int
    """Columns of all margins."""

    @classmethod
    def of(
        cls, margins: Sequence[tuple[IntArray, int]], quantities: FloatArray, n_records: int
    ) -> Matrix:
        """Join margins: each tells the cell of every record, and how many cells there are."""
        most = max(_LEAST_CELLS, min(_MOST_CELLS, int(n_records**0.5)))
        blocks: list[Block] = []
        start, position = 0, 0
        while position < len(margins):
            codes, cells = margins[position]
            parts = [cells]
            position += 1
            while position < len(margins) and cells * margins[position][1] <= most:
                codes = codes * margins[position][1] + margins[position][0]
                cells *= margins[position][1]
                parts.append(margins[position][1])
                position += 1
            blocks.append(_block(codes, parts, start, sum(size for _, size in margins)))
            start += sum(parts)
        return cls(tuple(blocks), quantities, sum(size for _, size in margins))

    @property
    def shape(self) -> tuple[int, int]:
        """Records and columns."""
        return len(self.quantities), self.counts + self.quantities.shape[1]

    def predict(self, multipliers: FloatArray) -> FloatArray:
        """Multiply the matrix with one number per column."""
        found = self.quantities @ multipliers[self.counts :]
        for block in self.blocks:
            found += (block.spread @ multipliers[: self.counts])[block.codes]
        return np.asarray(found)

    def gather(self, weights: FloatArray) -> FloatArray:
        """Sum every column over records, times their weights."""
        found = np.zeros(self.shape[1])
        for block in self.blocks:
            sums = np.bincount(block.codes, weights, block.cells)
            found[: self.counts] += block.spread.T @ sums
        found[self.counts :] = weights @ self.quantities
        return found

    def magnitude(self, weights: FloatArray) -> FloatArray:
        """Sum the size of every column over records, times the size of their weights."""
        found = self.gather(np.abs(weights))
        found[self.counts :] = np.abs(weights) @ np.abs(self.quantities)
        return found

    def gram(self, weights: FloatArray) -> FloatArray:
        """Sum products of any two columns over records, times their weights."""
        width = self.shape[1]
        found = np.zeros((width, width))
        counts, quantities = slice(0, self.counts), slice(self.counts, width)
        weighted = self.quantities * weights[:, None]
        for position, one in enumerate(self.blocks):
            alone = np.bincount(one.codes, weights, one.cells)
            found[counts, counts] += (one.spread.T @ (one.spread * alone[:, None])).toarray()
            for two in self.blocks[position + 1 :]:
                both = np.bincount(
                    one.codes * two.cells + two.codes, weights, one.cells * two.cells
                )
                product = one.spread.T @ both.reshape(one.cells, two.cells) @ two.spread
                found[counts, counts] += product + product.T
            for k in range(weighted.shape[1]):
                sums = np.bincount(one.codes, weighted[:, k], one.cells)
                column = one.spread.T @ sums
                found[counts, self.counts + k] += column
                found[self.counts + k, counts] += column
        found[quantities, quantities] = weighted.T @ self.quantities
        return found

    def rows(self) -> tuple[FloatArray, IntArray]:
        """Return the different rows, and which of them each record has."""
        key = np.column_stack([*(block.codes for block in self.blocks), self.quantities])
        kept, first, which = np.unique(key, axis=0, return_index=True, return_inverse=True)
        found = np.zeros((len(kept), self.shape[1]))
        for block in self.blocks:
            found[:, : self.counts] += block.spread[block.codes[first]].toarray()
        found[:, self.counts :] = self.quantities[first]
        return found, np.asarray(which).ravel()


def _block(codes: IntArray, parts: Sequence[int], start: int, width: int) -> Block:
    cells = int(np.prod(parts))
    each = np.stack(np.unravel_index(np.arange(cells), parts), axis=1)
    columns = each + start + np.cumsum([0, *parts[:-1]])
    pointers: NDArray[np.int64] = np.arange(0, cells * len(parts) + 1, len(parts))
    ones = np.ones(cells * len(parts))
    return Block(codes, sparse.csr_array((ones, columns.ravel(), pointers), shape=(cells, width)))
