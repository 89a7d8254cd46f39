"""All outputs of a spec as one problem: flat tables of counts, and one vector of smooth figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosynth.grid import Grid
from evosynth.kernels.cells import index_cells, sum_rows
from evosynth.margins import common, plain, project
from evosynth.objective import Bounds, Expansion, Plan, Smooth
from evosynth.schema import Codes, FloatArray, IntArray, Schema

CellArray = NDArray[np.int32]

_HALFWAY = 1e-8
SENSELESS = 1e100
"""Half-widths from which the effect of a record makes no sense."""
_MOST_PAIRED = 40
"""Tables whose common cells are looked for."""


@dataclass(frozen=True)
class FlatShare:
    """A `Share` whose cells are numbered over all tables."""

    of: int
    cells: IntArray
    low: FloatArray
    high: FloatArray
    bounds: Bounds
    extra: FloatArray
    complete: bool


@dataclass
class Problem:
    """What the search must satisfy."""

    schema: Schema
    grids: tuple[Grid, ...]
    """The tables; those of the same cells are one."""
    low: IntArray
    """Smallest admissible count of every cell of every table."""
    high: IntArray
    """Largest admissible count of every cell of every table."""
    shares: tuple[FlatShare, ...]
    figure_start: IntArray
    figure_cell: IntArray
    """Cells of figure i: ``figure_cell[figure_start[i] : figure_start[i + 1]]``."""
    smooth: tuple[Smooth, ...]
    first_cell: IntArray
    """Where each table starts among the flat cells."""
    table_of: tuple[tuple[int, ...], ...] = field(default=())
    """For each plan, the table that each of its tables became."""
    ends: dict[int, tuple[IntArray, IntArray]] = field(default_factory=dict, repr=False)
    """Runs of levels, by column, as `evosynth.fences.cell_ends` found them."""

    @classmethod
    def of(cls, plans: tuple[Plan, ...], schema: Schema) -> Problem:
        """Join the plans of all outputs."""
        grids: list[Grid] = []
        low: list[IntArray] = []
        high: list[IntArray] = []
        known: dict[object, int] = {}
        table_of = []
        for plan in plans:
            numbers = []
            for table in plan.tables:
                grid = plain(table.grid) if max(table.grid.shape) > 1 else table.grid
                number = known.setdefault(grid.key, len(grids))
                if number == len(grids):
                    grids.append(grid)
                    low.append(table.low.copy())
                    high.append(table.high.copy())
                else:
                    least = np.maximum(low[number], table.low)
                    most = np.minimum(high[number], table.high)
                    sound = least <= most  # of contradictory figures the first is met
                    low[number][sound], high[number][sound] = least[sound], most[sound]
                numbers.append(number)
            table_of.append(tuple(numbers))
        if any(plan.shares for plan in plans):
            for grid in _shared(grids):
                grids.append(grid)
                low.append(np.zeros(grid.size, np.int64))
                high.append(np.full(grid.size, schema.records, np.int64))
        first = np.cumsum([0, *(grid.size for grid in grids)], dtype=np.int64)
        shares, starts, cells = [], [0], []
        for plan, numbers_of in zip(plans, table_of, strict=True):
            for share in plan.shares:
                shares.append(
                    FlatShare(
                        int(first[numbers_of[share.of[0]]] + share.of[1]),
                        np.array([first[numbers_of[t]] + c for t, c in share.cells], np.int64),
                        np.array(share.low),
                        np.array(share.high),
                        share.bounds,
                        np.array(share.extra).reshape(-1, 2),
                        share.complete,
                    )
                )
            for places in plan.counted:
                cells += [int(first[numbers_of[table]] + cell) for table, cell in places]
                starts.append(len(cells))
        empty = np.empty(0, np.int64)
        lowest, highest = np.concatenate([empty, *low]), np.concatenate([empty, *high])
        # Contradictory figures: each is met as nearly as the others allow.
        middle = (lowest + highest) // 2
        crossed = lowest > highest
        lowest[crossed] = highest[crossed] = middle[crossed]
        return cls(
            schema,
            tuple(grids),
            lowest,
            highest,
            tuple(shares),
            np.array(starts, np.int64),
            np.array(cells, np.int64),
            tuple(block for plan in plans for block in plan.smooth),
            first[:-1],
            tuple(table_of),
        )

    @cached_property
    def told(self) -> frozenset[int]:
        """Columns that tables are about, or from which these are worked out."""
        bonds = self.schema.bonds
        columns = {
            column
            for grid in self.grids
            for column, groups in zip(grid.columns, grid.groups, strict=True)
            if groups.max() > 0
        }
        return (
            frozenset(columns)
            if bonds is None
            else frozenset().union(columns, *(bonds.sources(column) for column in columns))
        )

    def slice(self, table: int) -> slice:
        """Where the cells of a table are."""
        return slice(
            int(self.first_cell[table]), int(self.first_cell[table]) + self.grids[table].size
        )

    def table(self, cell: int) -> int:
        """Find the table that a flat cell belongs to."""
        return int(np.searchsorted(self.first_cell, cell, "right")) - 1

    @cached_property
    def binding(self) -> IntArray:
        """Tables that say more than the margins of other tables do."""
        kept = list(range(len(self.grids)))
        for position, grid in enumerate(self.grids):
            here = self.slice(position)
            for other in kept:
                if other == position:
                    continue
                there = self.slice(other)
                found = project(
                    self.grids[other], self.low[there], self.high[there], grid, self.schema.records
                )
                if found is None:
                    continue
                if (found[0] >= self.low[here]).all() and (found[1] <= self.high[here]).all():
                    kept.remove(position)
                    break
        return np.array(kept, dtype=np.int64)

    @cached_property
    def size(self) -> int:
        """Number of smooth figures."""
        return sum(block.size for block in self.smooth)

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Smooth figures that fixed counts decide, such as chi-square under a table of counts."""
        fixed = {
            grid.key
            for table, grid in enumerate(self.grids)
            if (self.low[self.slice(table)] == self.high[self.slice(table)]).all()
        }
        found = [
            np.full(block.size, block.counted is not None and plain(block.counted).key in fixed)
            for block in self.smooth
        ]
        return np.concatenate([np.empty(0, np.bool_), *found])

    @cached_property
    def curved(self) -> bool:
        """Whether some figures must be expanded anew as a dataset changes."""
        return any(block.curved for block in self.smooth)

    @cached_property
    def _lookups(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        start, columns, starts = [0], [], []
        lookups = [np.empty(0, np.int64)]
        end = 0
        for grid in self.grids:
            for column, group, stride in zip(grid.columns, grid.groups, grid.strides, strict=True):
                columns.append(column)
                starts.append(end)
                lookups.append(group * stride)
                end += len(group)
            start.append(len(columns))
        return (
            np.array(start, np.int64),
            np.array(columns, np.int64),
            np.array(starts, np.int64),
            np.concatenate(lookups),
        )

    def cells(self, codes: Codes) -> CellArray:
        """Flat cell of each record in each table, shape (records, tables)."""
        start, columns, starts, lookup = self._lookups
        return index_cells(codes, start, columns, starts, lookup, self.first_cell)

    def distance(self, cells: IntArray, residual: FloatArray) -> FloatArray:
        """Distance of every figure from its target in half-widths: counts first, then the rest."""
        counts = cells[self.figure_cell]
        low, high = self.low[self.figure_cell], self.high[self.figure_cell]
        off = 2.0 * (np.maximum(counts - high, 0) - np.maximum(low - counts, 0))
        if len(self.figure_start) - 1 == len(off):
            return np.concatenate([off, residual])
        worst = np.zeros(len(self.figure_start) - 1)
        figure = np.repeat(np.arange(len(worst)), np.diff(self.figure_start))
        order = np.argsort(np.abs(off), kind="stable")
        worst[figure[order]] = off[order]
        return np.concatenate([worst, residual])

    def expand(self, codes: Codes, counts: FloatArray) -> JointExpansion:
        """Expand every smooth figure around a dataset."""
        return JointExpansion(tuple(block.expand(codes, counts) for block in self.smooth))

    def measure(self, codes: Codes, counts: IntArray) -> FloatArray:
        """Distance of every smooth figure from its target, estimated anew, in half-widths."""
        parts = [block.refit(codes, counts.astype(np.float64)) for block in self.smooth]
        found = np.concatenate([np.empty(0), *parts])
        halfway = np.abs(np.abs(found) - 1.0) < _HALFWAY  # prints either way
        return np.where(np.isnan(found), np.inf, np.where(halfway, 0.99 * found, found))


def _shared(grids: list[Grid]) -> list[Grid]:
    """Cells that pairs of tables have in common, and that no table counts."""
    known = {grid.key for grid in grids}
    found: list[Grid] = []
    for one, two in combinations(grids[:_MOST_PAIRED], 2):
        grid = common(one, two)
        if grid.size > 1 and grid.key not in known:
            known.add(grid.key)
            found.append(grid)
    return found


@dataclass(frozen=True)
class JointExpansion:
    """The expansions of all smooth statistics side by side."""

    parts: tuple[Expansion, ...]

    @cached_property
    def offset(self) -> FloatArray:
        """Residual of the empty dataset, in half-widths."""
        found = np.concatenate([np.empty(0), *(part.offset for part in self.parts)])
        return np.where(np.abs(found) < SENSELESS, found, 0.0)

    def influence(self, codes: Codes) -> FloatArray:
        """Effect of each record, in half-widths, shape (records, figures)."""
        found = np.hstack(
            [np.empty((len(codes), 0)), *(part.influence(codes) for part in self.parts)]
        )
        if not abs(found.sum()) < SENSELESS:
            # A model that makes nothing of a dataset tells nothing of where to go.
            found[~(np.abs(found) < SENSELESS).all(axis=1)] = 0.0
        return found

    def residual(self, codes: Codes, counts: NDArray[Any]) -> FloatArray:
        """Residual of the dataset that holds ``codes[i]`` ``counts[i]`` times."""
        return np.asarray(self.offset + sum_rows(self.influence(codes), counts))
