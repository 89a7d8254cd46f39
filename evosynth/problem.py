"""All outputs of a spec as one problem: flat tables of counts, and one vector of smooth figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evosynth.contradictions import margin
from evosynth.kernels.cells import index_cells
from evosynth.objective import CellTable, Expansion, Plan, Smooth
from evosynth.schema import Codes, FloatArray, IntArray, Schema

CellArray = NDArray[np.int32]


@dataclass(frozen=True)
class Problem:
    """What the search must satisfy."""

    schema: Schema
    tables: tuple[CellTable, ...]
    smooth: tuple[Smooth, ...]

    @classmethod
    def of(cls, plans: tuple[Plan, ...], schema: Schema) -> Problem:
        """Join the plans of all outputs."""
        tables = tuple(table for plan in plans for table in plan.tables)
        smooth = tuple(block for plan in plans for block in plan.smooth)
        return cls(schema, tables, smooth)

    @cached_property
    def low(self) -> IntArray:
        """Smallest admissible count of every cell of every table."""
        return np.concatenate([np.empty(0, np.int64), *(t.low.ravel() for t in self.tables)])

    @cached_property
    def high(self) -> IntArray:
        """Largest admissible count of every cell of every table."""
        return np.concatenate([np.empty(0, np.int64), *(t.high.ravel() for t in self.tables)])

    @cached_property
    def first_cell(self) -> IntArray:
        """Where each table starts among the flat cells."""
        sizes = [table.low.size for table in self.tables]
        return np.cumsum([0, *sizes], dtype=np.int64)[:-1]

    @cached_property
    def figure_cells(self) -> IntArray:
        """Flat cell of every figure that is a count."""
        parts = [start + t.figures for start, t in zip(self.first_cell, self.tables, strict=True)]
        return np.concatenate([np.empty(0, np.int64), *parts])

    @cached_property
    def binding(self) -> IntArray:
        """Tables that say more than the margins of other tables do."""
        kept = list(range(len(self.tables)))
        for position, table in enumerate(self.tables):
            for other in kept:
                finer = self.tables[other]
                if other != position and set(table.columns) <= set(finer.columns):
                    low, high = margin(finer, table.columns, self.schema.records)
                    if (low >= table.low).all() and (high <= table.high).all():
                        kept.remove(position)
                        break
        return np.array(kept, dtype=np.int64)

    @cached_property
    def size(self) -> int:
        """Number of smooth figures."""
        return sum(block.size for block in self.smooth)

    @cached_property
    def _radix(self) -> tuple[IntArray, IntArray, IntArray]:
        start = [0]
        columns: list[int] = []
        strides: list[int] = []
        for table in self.tables:
            columns += table.columns
            strides += [stride // table.low.itemsize for stride in np.empty_like(table.low).strides]
            start.append(len(columns))
        return (
            np.array(start, dtype=np.int64),
            np.array(columns, dtype=np.int64),
            np.array(strides, dtype=np.int64),
        )

    def cells(self, codes: Codes) -> CellArray:
        """Flat cell of each record in each table, shape (records, tables)."""
        start, columns, strides = self._radix
        return index_cells(codes, start, columns, strides, self.first_cell)

    def distance(self, cells: IntArray, residual: FloatArray) -> FloatArray:
        """Distance of every figure from its target in half-widths: counts first, then the rest."""
        counts = cells[self.figure_cells]
        low, high = self.low[self.figure_cells], self.high[self.figure_cells]
        off = np.maximum(counts - high, 0) - np.maximum(low - counts, 0)
        return np.concatenate([2.0 * off, residual])

    def expand(self, codes: Codes, counts: FloatArray) -> JointExpansion:
        """Expand every smooth figure around a dataset."""
        return JointExpansion(tuple(block.expand(codes, counts) for block in self.smooth))


@dataclass(frozen=True)
class JointExpansion:
    """The expansions of all smooth statistics side by side."""

    parts: tuple[Expansion, ...]

    @cached_property
    def offset(self) -> FloatArray:
        """Residual of the empty dataset, in half-widths."""
        return np.concatenate([np.empty(0), *(part.offset for part in self.parts)])

    def influence(self, codes: Codes) -> FloatArray:
        """Effect of each record, in half-widths, shape (records, figures)."""
        return np.hstack(
            [np.empty((len(codes), 0)), *(part.influence(codes) for part in self.parts)]
        )
