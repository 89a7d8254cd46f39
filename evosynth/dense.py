"""Records that satisfy many dense tables at once, built one variable after the other.

Variables are placed by decreasing number of levels. Each is given to the records by raked shares
and then annealed, with the variables before it left as they are, until every table that it
completes is satisfied; before all of a table's variables are placed, its margins bind. Large
data, and small ones that fail, are guided by raked weights of all types of records, so that the
first variables leave room for the last. What is still wrong is mended by annealing single
variables anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evosynth.grid import Grid
from evosynth.kernels.anneal import anneal_levels, deal_levels, rake_shares, rake_types
from evosynth.schema import Codes, FloatArray, IntArray

_TEMPERATURES = np.array_split(np.geomspace(0.6, 0.15, 100), 5)
"""Temperatures of annealing; similar records are looked up anew after each stage."""
_PROPOSALS = 20_000
"""How many proposals are made at each temperature."""
_TRIES = 2
"""How often a variable is annealed before the next one is placed."""
_ATTEMPTS = 4
"""How often all variables are placed."""
_PATIENCE = 12
"""How often in a row mending may fail."""
_FREE = 8_000
"""How many records are annealed at a time."""
_GUIDED = 20_000
"""From how many records on the first attempt is guided."""
_TYPES = 2_000_000
"""Up to how many types of records there is a guide."""
_ROUNDS = 30
"""How often shares are scaled to each table."""


@dataclass(frozen=True, eq=False)
class _Table:
    """Cells, with the smallest and largest admissible count of each."""

    grid: Grid
    low: IntArray
    high: IntArray

    def margin(self, grid: Grid, records: int) -> _Table | None:
        """Intervals of a coarser grid's cells; none if this table does not tell."""
        cells = np.zeros((), dtype=np.int64)
        for column, group, stride in zip(grid.columns, grid.groups, grid.strides, strict=True):
            if column not in self.grid.columns:
                return None
            axis = self.grid.columns.index(column)
            mine = self.grid.groups[axis]
            coarser = np.zeros(self.grid.shape[axis], dtype=np.int64)
            coarser[mine] = group
            if not np.array_equal(coarser[mine], group):
                return None
            along = [-1 if other == axis else 1 for other in range(len(self.grid.shape))]
            cells = cells + (coarser * stride).reshape(along)
        flat = np.broadcast_to(cells, self.grid.shape).ravel()
        low, high = np.zeros((2, grid.size), dtype=np.int64)
        np.add.at(low, flat, self.low)
        np.add.at(high, flat, self.high)
        low_rest, high_rest = self.low.sum() - low, self.high.sum() - high
        return _Table(
            grid, np.maximum(low, records - high_rest), np.minimum(high, records - low_rest)
        )

    def up_to(self, column: int, records: int) -> _Table:
        """Margin over the variables up to the given one."""
        number = self.grid.columns.index(column) + 1
        if number == len(self.grid.columns):
            return self
        margin = self.margin(Grid(self.grid.columns[:number], self.grid.groups[:number]), records)
        assert margin is not None
        return margin

    def implies(self, other: _Table, records: int) -> bool:
        """Whether data that satisfy this table satisfy the other."""
        margin = self.margin(other.grid, records)
        return (
            margin is not None
            and bool((margin.low >= other.low).all())
            and bool((margin.high <= other.high).all())
        )


class _Tables:
    """Tables side by side, their cells numbered through."""

    def __init__(self, tables: Iterable[_Table], records: int) -> None:
        """Keep what is not implied by others, each grid once."""
        each: dict[object, _Table] = {}
        for table in tables:
            same = each.setdefault(table.grid.key, table)
            low, high = np.maximum(same.low, table.low), np.minimum(same.high, table.high)
            each[table.grid.key] = _Table(table.grid, low, high)
        self.tables: list[_Table] = []
        for table in sorted(each.values(), key=lambda table: -table.grid.size):
            if not any(other.implies(table, records) for other in self.tables):
                self.tables.append(table)
        self.first = np.cumsum([0, *(table.grid.size for table in self.tables)])
        self.low = np.concatenate([[0][:0], *(table.low for table in self.tables)])
        self.high = np.concatenate([[0][:0], *(table.high for table in self.tables)])

    def cells(self, codes: Codes) -> NDArray[np.int32]:
        """Cell of each record in each table, shape (records, tables)."""
        found = np.empty((len(codes), len(self.tables)), dtype=np.int32)
        for number, table in enumerate(self.tables):
            found[:, number] = table.grid.cells(codes) + self.first[number]
        return found

    def wrong(self, codes: Codes) -> IntArray:
        """How many records too many or too few there are in each table."""
        counts = np.bincount(self.cells(codes).ravel(), minlength=len(self.low))
        missed = np.maximum(self.low - counts, counts - self.high).clip(min=0)
        return np.array([part.sum() for part in np.split(missed, self.first[1:-1])])


class _Part(_Tables):
    """One variable and tables that it is in."""

    def __init__(self, column: int, size: int, tables: Iterable[_Table], records: int) -> None:
        super().__init__(tables, records)
        self.column = column
        self.size = size

    @cached_property
    def step(self) -> IntArray:
        """What each level adds to the cell in each table, shape (tables, levels)."""
        step = np.zeros((len(self.tables), self.size), dtype=np.int64)
        for number, table in enumerate(self.tables):
            axis = table.grid.columns.index(self.column)
            step[number] = table.grid.groups[axis] * table.grid.strides[axis]
        return step

    def deal(
        self, codes: Codes, group: IntArray, shares: FloatArray, rng: np.random.Generator
    ) -> None:
        """Give levels to all records by ``shares`` in each group, once these are raked."""
        some = codes[_members(group)]
        base = self.cells(some) - self.step.T.astype(np.int32)[some[:, self.column]]
        weights = np.bincount(group)
        rake_shares(shares, weights, base, self.step, self.low, self.high, _ROUNDS)
        codes[:, self.column] = deal_levels(shares, weights, group, rng.random())

    def anneal(
        self,
        codes: Codes,
        group: IntArray,
        shares: FloatArray,
        effort: int,
        rng: np.random.Generator,
    ) -> int:
        """Change levels until no cell is wrong; how much remains wrong."""
        cells = self.cells(codes)
        counts = np.bincount(cells.ravel(), minlength=len(self.low))
        free = np.arange(len(codes))
        if len(codes) > _FREE:
            # Records in small cells first, as others cannot stand in for them.
            rare = (1.0 / np.maximum(counts, 1))[cells].sum(axis=1)
            free = np.argpartition(rng.exponential(size=len(codes)) / rare, _FREE)[:_FREE]
        part = codes[free]
        levels = part[:, self.column].copy()
        base = cells[free] - self.step.T.astype(np.int32)[levels]
        state = rng.integers(1, 2**63, 1, dtype=np.uint64)
        for temperatures in _TEMPERATURES:
            near = _near(part, self.column, levels, rng)
            loss = anneal_levels(
                levels, base, self.step, counts, self.low, self.high, near, group[free], shares,
                temperatures, effort * _PROPOSALS, state,
            )  # fmt: skip
            if loss == 0:
                break
        codes[free, self.column] = levels
        return int(loss)


@dataclass(frozen=True, eq=False)
class _Guide:
    """Types of records that no table excludes, as a tree by variable, with raked shares."""

    children: tuple[IntArray, ...]
    """Number of each type of the variables so far extended by each level of the next; or -1."""
    shares: tuple[FloatArray, ...]
    """Share of each level of the next variable in each type of the variables so far."""

    @classmethod
    def of(cls, parts: Sequence[_Part], whole: _Tables, records: int) -> _Guide | None:
        """Weigh all types of records so that their tables fit; none if there are too many."""
        codes = np.zeros((1, len(parts)), dtype=np.uint16)
        children: list[IntArray] = []
        for part in parts:
            if len(codes) * part.size > _TYPES:
                return None
            extended = np.repeat(codes, part.size, axis=0)
            extended[:, part.column] = np.tile(np.arange(part.size), len(codes))
            possible = (part.high[part.cells(extended)] > 0).all(axis=1)
            children.append(np.where(possible, np.cumsum(possible) - 1, -1).reshape(-1, part.size))
            codes = extended[possible]
        if not len(codes):
            return None
        weights = np.full(len(codes), records / len(codes))
        cells = np.ascontiguousarray(whole.cells(codes).T)
        rake_types(weights, cells, whole.first, whole.low, whole.high, _ROUNDS)
        shares: list[FloatArray] = []
        for child in reversed(children):
            each = np.where(child >= 0, weights[child], 0.0)
            weights = each.sum(axis=1)
            known = weights[:, None] > 0.0
            shares.append(
                np.divide(each, weights[:, None], out=_even(len(each), child.shape[1]), where=known)
            )
        return cls(tuple(children), tuple(reversed(shares)))


class _Search:
    """Attempts at placing all variables, and the best so far."""

    def __init__(
        self, order: Sequence[int], sizes: IntArray, tables: list[_Table], records: int
    ) -> None:
        self.records = records
        self.whole = _Tables(tables, records)
        self.parts = [
            _Part(c, int(sizes[c]), [t.up_to(c, records) for t in _with(c, tables)], records)
            for c in order
        ]
        """Each variable, with the tables and margins that it completes."""
        self.entire = [_Part(c, int(sizes[c]), _with(c, self.whole.tables), records) for c in order]
        """Each variable, with all its tables."""

    @cached_property
    def guide(self) -> _Guide | None:
        """Raked weights of all types, if they are not too many."""
        return _Guide.of(self.parts, self.whole, self.records)

    def place(
        self, guided: bool, effort: int, rng: np.random.Generator, stop: Callable[[], bool]
    ) -> Codes:
        """Give all variables to all records, one after the other."""
        widest = max((part.size for part in self.parts), default=1)
        codes: Codes = np.zeros(
            (self.records, len(self.parts)), dtype=np.min_scalar_type(widest - 1)
        )
        guide = self.guide if guided else None
        group = np.zeros(self.records, dtype=np.int64)
        at = np.zeros(self.records, dtype=np.int64)
        for number, part in enumerate(self.parts):
            shares = _even(int(group.max(initial=-1)) + 1, part.size)
            if guide is not None:
                types = at[_members(group)]
                shares[types >= 0] = guide.shares[number][types[types >= 0]]
            part.deal(codes, group, shares, rng)
            if guide is None or number == len(self.parts) - 1:
                shares = _even(0, part.size)
            for attempt in range(_TRIES):
                if part.anneal(codes, group, shares, effort * 2**attempt, rng) == 0 or stop():
                    break
            group = _regroup(group, codes[:, part.column], part.size)
            if guide is not None:
                at = np.where(at >= 0, guide.children[number][at, codes[:, part.column]], -1)
        return codes

    def mend(
        self, codes: Codes, effort: int, rng: np.random.Generator, stop: Callable[[], bool]
    ) -> int:
        """Anneal single variables anew where it helps; how much remains wrong."""
        group = np.zeros(self.records, dtype=np.int64)
        failures = 0
        wrong = self.wrong_by_variable(codes)
        while wrong.any() and failures < _PATIENCE and not stop():
            number = int(rng.choice(np.flatnonzero(wrong)))
            part = self.entire[number]
            kept = codes[:, part.column].copy()
            after = part.anneal(codes, group, _even(0, part.size), effort, rng)
            failures = 0 if after < wrong[number] else failures + 1
            if after > wrong[number]:
                codes[:, part.column] = kept
            else:
                wrong = self.wrong_by_variable(codes)
        return int(self.whole.wrong(codes).sum())

    def wrong_by_variable(self, codes: Codes) -> IntArray:
        """How much is wrong in the tables of each variable, in the order of placing."""
        wrong = self.whole.wrong(codes)
        columns = [table.grid.columns for table in self.whole.tables]
        return np.array(
            [
                sum(wrong[t] for t, mine in enumerate(columns) if part.column in mine)
                for part in self.entire
            ]
        )


def place(
    sizes: IntArray,
    records: int,
    grids: Sequence[Grid],
    low: Sequence[IntArray],
    high: Sequence[IntArray],
    rng: np.random.Generator,
    effort: int = 1,
    stop: Callable[[], bool] | None = None,
) -> Codes:
    """Build coded records whose counts lie within the intervals of all cells.

    Parameters
    ----------
    sizes
        Number of levels of each variable.
    records
        How many records to build.
    grids, low, high
        Tables: their cells, and the smallest and largest admissible count of each.
    rng
        Source of randomness.
    effort
        By how much to multiply the number of proposals before giving up.
    stop
        Asked now and then whether to return the best found so far.

    Returns
    -------
    The records, or the best found if they do not satisfy all tables.
    """
    stop = stop or (lambda: False)
    atoms = [_atoms(int(size), column, grids) for column, size in enumerate(sizes)]
    number = np.array([atom.max() + 1 for atom in atoms])
    order = [int(column) for column in np.argsort(-number, kind="stable")]
    tables = [
        _ordered(_Table(*table), atoms, order) for table in zip(grids, low, high, strict=True)
    ]
    search = _Search(order, number, tables, records)
    best, least = None, None
    for attempt in range(_ATTEMPTS):
        codes = search.place(attempt > 0 or records >= _GUIDED, effort, rng, stop)
        wrong = search.mend(codes, effort, rng, stop)
        if least is None or wrong < least:
            best, least = codes, wrong
        if not wrong or stop():
            break
    assert best is not None
    return _spread(best, atoms, rng)


def _atoms(size: int, column: int, grids: Iterable[Grid]) -> IntArray:
    """Give the levels of a variable numbers, the same where no table tells them apart."""
    told = [grid.groups[grid.columns.index(column)] for grid in grids if column in grid.columns]
    if not told:
        return np.zeros(size, dtype=np.int64)
    return np.unique(np.array(told), axis=1, return_inverse=True)[1].ravel()


def _spread(codes: Codes, atoms: list[IntArray], rng: np.random.Generator) -> Codes:
    """Draw one of the levels that no table tells apart, for each record and variable."""
    widest = max((len(atom) for atom in atoms), default=1)
    drawn: Codes = np.empty(codes.shape, dtype=np.min_scalar_type(widest - 1))
    for column, atom in enumerate(atoms):
        levels = np.argsort(atom, kind="stable")
        number = np.bincount(atom)
        first = np.cumsum(number) - number
        mine = codes[:, column]
        drawn[:, column] = levels[first[mine] + rng.integers(number[mine])]
    return drawn


def _ordered(table: _Table, atoms: list[IntArray], order: list[int]) -> _Table:
    """Return a table with its variables in the order of placing, by what tables tell apart."""
    grid = table.grid
    axes = sorted(range(len(grid.columns)), key=lambda axis: order.index(grid.columns[axis]))
    groups = []
    for axis in axes:
        atom = atoms[grid.columns[axis]]
        group = np.zeros(atom.max() + 1, dtype=np.int64)
        group[atom] = grid.groups[axis]
        groups.append(group)
    ends = (np.reshape(end, grid.shape).transpose(axes).ravel() for end in (table.low, table.high))
    return _Table(
        Grid(tuple(grid.columns[axis] for axis in axes), tuple(groups)),
        *(end.astype(np.int64) for end in ends),
    )


def _with(column: int, tables: Iterable[_Table]) -> list[_Table]:
    """Tables that a variable is in."""
    return [table for table in tables if column in table.grid.columns]


def _even(groups: int, levels: int) -> FloatArray:
    """Equal shares of the levels in each group."""
    return np.full((groups, levels), 1.0 / levels)


def _members(group: IntArray) -> IntArray:
    """One record of each group."""
    member = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
    member[group] = np.arange(len(group))
    return member


def _regroup(group: IntArray, levels: Codes, size: int) -> IntArray:
    """Split groups of records by one more variable."""
    joint: IntArray = group * size + levels.astype(np.int64)
    seen = np.zeros(int(joint.max(initial=-1)) + 1, dtype=np.int64)
    seen[joint] = 1
    rank: IntArray = np.cumsum(seen) - 1
    return rank[joint]


def _near(codes: Codes, column: int, levels: Codes, rng: np.random.Generator) -> IntArray:
    """For each record, some that are alike but for one variable, half of them of other levels."""
    near = np.empty((len(codes), 32), dtype=np.int64)
    for first in range(0, near.shape[1], 4):
        order = _sorted(codes, rng.permutation(np.delete(np.arange(codes.shape[1]), column)), rng)
        run = np.cumsum(np.diff(levels[order], prepend=levels[order[:1]]) != 0)
        start = np.flatnonzero(np.diff(run, prepend=-1))
        near[order, first] = np.roll(order, 1)
        near[order, first + 1] = np.roll(order, -1)
        near[order, first + 2] = order[start[run] - 1]
        near[order, first + 3] = order[np.append(start[1:], 0)[run]]
    return near


def _sorted(codes: Codes, columns: IntArray, rng: np.random.Generator) -> IntArray:
    """Order records by as many of the variables as one number holds, ties at random."""
    key = np.zeros(len(codes), dtype=np.int64)
    room = 2**40
    for column in columns:
        size = int(codes[:, column].max(initial=0)) + 1
        if size <= room:
            key = key * size + codes[:, column]
            room //= size
    return np.argsort(key * 2**20 + rng.integers(2**20, size=len(codes)))
