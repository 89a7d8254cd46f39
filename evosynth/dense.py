"""Records that satisfy many dense tables at once, built one variable after the other.

Variables are placed by decreasing number of levels. Each is dealt to the records by raked shares
and then annealed, with the variables before it left as they are, until every table that it
completes is satisfied. A table binds before all its variables are placed, by its margins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evosynth.grid import Grid
from evosynth.kernels.anneal import anneal, deal_levels, rake_shares, rake_types
from evosynth.schema import Codes, FloatArray, IntArray

_PROPOSALS = 20_000
"""Proposals at each temperature."""
_TEMPERATURES = np.geomspace(0.6, 0.15, 100)
_FREE = 30_000
"""How many records are annealed at a time; more would not fit the processor's cache."""
_ROUNDS = 30
_TRIES = 3


@dataclass(frozen=True, eq=False)
class _Table:
    """Cells and the smallest and largest admissible count of each."""

    grid: Grid
    low: IntArray
    high: IntArray

    def margin(self, grid: Grid, records: int) -> _Table | None:
        """Intervals of a coarser grid's cells, if this one determines them."""
        cells = np.zeros((), dtype=np.int64)
        for column, group, stride in zip(grid.columns, grid.groups, grid.strides, strict=True):
            if column not in self.grid.columns:
                return None
            at = self.grid.columns.index(column)
            coarser = np.zeros(self.grid.shape[at], dtype=np.int64)
            coarser[self.grid.groups[at]] = group
            if not np.array_equal(coarser[self.grid.groups[at]], group):
                return None
            axes = [1] * len(self.grid.shape)
            axes[at] = -1
            cells = cells + (coarser * stride).reshape(axes)
        flat = np.broadcast_to(cells, self.grid.shape).ravel()
        low, high = np.zeros((2, grid.size), dtype=np.int64)
        np.add.at(low, flat, self.low)
        np.add.at(high, flat, self.high)
        low_rest, high_rest = self.low.sum() - low, self.high.sum() - high
        return _Table(
            grid, np.maximum(low, records - high_rest), np.minimum(high, records - low_rest)
        )

    def both(self, other: _Table) -> _Table:
        """The same cells within the intervals of two tables."""
        low, high = np.maximum(self.low, other.low), np.minimum(self.high, other.high)
        return _Table(self.grid, low, high)

    def implies(self, other: _Table, records: int) -> bool:
        """Whether data that satisfy this table satisfy the other."""
        margin = self.margin(other.grid, records)
        return (
            margin is not None
            and bool((margin.low >= other.low).all())
            and bool((margin.high <= other.high).all())
        )


@dataclass(frozen=True, eq=False)
class _Block:
    """Variables to be changed together, and the tables that they are in."""

    active: tuple[int, ...]
    sizes: IntArray
    """Number of levels of each of them."""
    tables: tuple[_Table, ...]

    @cached_property
    def first(self) -> IntArray:
        """Number of cells before each table."""
        return np.cumsum([0, *(table.grid.size for table in self.tables)])

    @cached_property
    def low(self) -> IntArray:
        return np.concatenate([table.low for table in self.tables])

    @cached_property
    def high(self) -> IntArray:
        return np.concatenate([table.high for table in self.tables])

    @cached_property
    def steps(self) -> tuple[IntArray, IntArray, IntArray]:
        """For each variable, where its tables start; the tables; what each level adds to a cell."""
        start, tables, steps = [0], [], []
        for column, size in zip(self.active, self.sizes, strict=True):
            for number, table in enumerate(self.tables):
                if column in table.grid.columns:
                    at = table.grid.columns.index(column)
                    step = np.zeros(self.sizes.max(), dtype=np.int64)
                    step[:size] = table.grid.groups[at] * table.grid.strides[at]
                    tables.append(number)
                    steps.append(step)
            start.append(len(tables))
        return np.array(start), np.array(tables), np.array(steps)

    def cells(self, codes: Codes) -> IntArray:
        """Cell of each record in each table, shape (records, tables)."""
        found = np.empty((len(codes), len(self.tables)), dtype=np.int32)
        for number, table in enumerate(self.tables):
            found[:, number] = table.grid.cells(codes) + self.first[number]
        return found

    def count(self, cells: IntArray) -> IntArray:
        """Count the records in each cell."""
        return np.bincount(cells.ravel(), minlength=len(self.low)).astype(np.int64)

    def wrong(self, codes: Codes) -> int:
        """How many records too many or too few, over all cells."""
        counts = self.count(self.cells(codes))
        return int(np.maximum(self.low - counts, counts - self.high).clip(min=0).sum())

    def anneal(
        self, codes: Codes, rng: np.random.Generator, effort: float, group=None, shares=None
    ) -> int:
        """Change the variables of some records until no cell is wrong; what remains wrong."""
        cells = self.cells(codes)
        counts = self.count(cells)
        np.seterr(divide="ignore")
        free = np.arange(len(codes))
        if len(codes) > _FREE:
            rare = (1.0 / counts)[cells].sum(axis=1)
            late = rng.exponential(size=len(codes)) / rare
            free = np.argpartition(late, _FREE)[:_FREE]
        part, part_cells = codes[free], cells[free]
        state = rng.integers(1, 2**63, 1, dtype=np.uint64)
        near = _near(part, self.active, self.tables, rng)
        loss = anneal(
            part,
            part_cells,
            np.array(self.active),
            *self.steps,
            self.sizes,
            counts,
            self.low,
            self.high,
            _TEMPERATURES,
            int(effort * _PROPOSALS),
            near,
            group[free] if group is not None else np.zeros(1, dtype=np.int64),
            shares if shares is not None else np.zeros((0, 1)),
            state,
        )
        codes[free] = part
        return int(loss)


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
    """Build records whose counts lie in the intervals of all cells; the best found if none do."""
    atoms = [_atoms(int(size), column, grids) for column, size in enumerate(sizes)]
    counts = np.array([atom.max() + 1 for atom in atoms])
    order = tuple(int(v) for v in np.argsort(-counts, kind="stable"))
    tables = [
        _ordered(grid, atoms, order, np.ravel(a), np.ravel(b))
        for grid, a, b in zip(grids, low, high, strict=True)
    ]
    codes = np.zeros((records, len(sizes)), dtype=np.min_scalar_type(int(max(sizes)) - 1))
    _search(codes, order, counts, tables, rng, effort, stop or (lambda: False))
    for column, atom in enumerate(atoms):
        codes[:, column] = _spread(codes[:, column], atom, rng)
    return codes


def _atoms(size: int, column: int, grids: Iterable[Grid]) -> IntArray:
    """Number the levels of a variable so that those which no table tells apart are one."""
    told = [g.groups[g.columns.index(column)] for g in grids if column in g.columns]
    if not told:
        return np.zeros(size, dtype=np.int64)
    return np.unique(np.array(told), axis=1, return_inverse=True)[1].ravel()


def _spread(codes: Codes, atom: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw one of the levels that no table tells apart, for each record."""
    levels = np.argsort(atom, kind="stable")
    number = np.bincount(atom)
    first = np.cumsum(number) - number
    return levels[first[codes] + rng.integers(number[codes])]


def _ordered(
    grid: Grid, atoms: list[IntArray], order: tuple[int, ...], low: IntArray, high: IntArray
) -> _Table:
    """Return a table with its variables in the order of placing, by what tables tell apart."""
    axes = sorted(range(len(grid.columns)), key=lambda axis: order.index(grid.columns[axis]))
    groups = []
    for axis in axes:
        atom = atoms[grid.columns[axis]]
        group = np.zeros(atom.max() + 1, dtype=np.int64)
        group[atom] = grid.groups[axis]
        groups.append(group)
    ordered = Grid(tuple(grid.columns[axis] for axis in axes), tuple(groups))
    low, high = (np.reshape(x, grid.shape).transpose(axes).ravel() for x in (low, high))
    return _Table(ordered, low.astype(np.int64), high.astype(np.int64))


def _completed(column: int, tables: Iterable[_Table], records: int) -> list[_Table]:
    """Tables, and margins of tables, whose last variable is the given one."""
    found: dict[object, _Table] = {}
    for table in tables:
        if column in table.grid.columns:
            last = table.grid.columns.index(column) + 1
            margin = table.margin(
                Grid(table.grid.columns[:last], table.grid.groups[:last]), records
            )
            assert margin is not None
            key = margin.grid.key
            found[key] = found[key].both(margin) if key in found else margin
    kept: list[_Table] = []
    for table in sorted(found.values(), key=lambda table: -table.grid.size):
        if not any(other.implies(table, records) for other in kept):
            kept.append(table)
    return kept


@dataclass(frozen=True, eq=False)
class _Guide:
    """Types of records that no table excludes, with raked weights, variable by variable."""

    children: list[IntArray]
    """Of each type of the variables so far, by level of the next, its number; or -1."""
    shares: list[FloatArray]
    """Share of each level of the next variable in each type of the variables so far."""


def _guide(order, sizes, blocks, tables, records) -> _Guide | None:
    codes = np.zeros((1, len(order)), dtype=np.min_scalar_type(int(sizes.max())))
    children, parents = [], []
    for column in order:
        size = int(sizes[column])
        if len(codes) * size > _TYPES:
            return None
        grown = np.repeat(codes, size, axis=0)
        grown[:, column] = np.tile(np.arange(size), len(codes))
        keep = np.ones(len(grown), dtype=bool)
        if column in blocks:
            for number, table in enumerate(blocks[column].tables):
                keep &= table.high[table.grid.cells(grown)] > 0
        child = np.where(keep, np.cumsum(keep) - 1, -1).reshape(-1, size)
        children.append(child)
        codes = grown[keep]
    if not len(codes):
        return None
    block = _Block(order, sizes[list(order)], tuple(tables))
    cells = np.ascontiguousarray(block.cells(codes).T)
    weights = np.full(len(codes), records / len(codes))
    rake_types(weights, cells, block.first, block.low, block.high, 20)
    shares = []
    for child in reversed(children):
        each = np.where(child >= 0, weights[child], 0.0)
        weights = each.sum(axis=1)
        safe = np.where(weights > 0, weights, 1.0)
        shares.append(np.where(weights[:, None] > 0, each / safe[:, None], 1.0 / child.shape[1]))
    return _Guide(children, shares[::-1])


_TYPES = 2_000_000
MODE = "plain"
FLOOR = 0.0
BIAS = True


def _search(
    codes: Codes,
    order: tuple[int, ...],
    sizes: IntArray,
    tables: list[_Table],
    rng: np.random.Generator,
    effort: int,
    stop: Callable[[], bool],
) -> None:
    """Place all variables."""
    import time

    records = len(codes)
    blocks = {}
    for column in order:
        mine = tuple(_completed(column, tables, records))
        if mine:
            blocks[column] = _Block((column,), sizes[[column]], mine)
    t0 = time.time()
    guide = _guide(order, sizes, blocks, tables, records) if MODE == "guided" else None
    if DEBUG and guide:
        print("guide", time.time() - t0, [len(s) for s in guide.shares])
    group = np.zeros(records, dtype=np.int64)
    at = np.zeros(records, dtype=np.int64)
    for number, column in enumerate(order):
        if column not in blocks or sizes[column] == 1:
            continue
        block = blocks[column]
        n_groups = int(group.max()) + 1
        example = np.empty(n_groups, dtype=np.int64)
        example[group] = np.arange(records)
        start = np.full((n_groups, sizes[column]), 1.0 / sizes[column])
        if guide is not None:
            known = at[example] >= 0
            start[known] = guide.shares[number][at[example][known]]
        best, least = None, None
        for attempt in range(_TRIES):
            t0 = time.time()
            shares = start.copy()
            _deal(codes, column, block, group, example, shares, rng)
            t1 = time.time()
            bias = shares if guide is not None and BIAS and column != order[-1] else None
            if bias is not None:
                bias = bias + FLOOR
            first = block.wrong(codes)
            t2 = time.time()
            loss = block.anneal(codes, rng, effort * 2.0**attempt, group, bias)
            if DEBUG:
                print(column, attempt, first, loss, t1 - t0, time.time() - t2)
            if least is None or loss < least:
                best, least = codes[:, column].copy(), loss
            if loss == 0 or stop():
                break
        codes[:, column] = best
        group = _regroup(group, codes[:, column], int(sizes[column]))
        if guide is not None:
            child = guide.children[number]
            at = np.where(at >= 0, child[at, codes[:, column]], -1)


DEBUG = False


def _deal(codes, column, block, group, example, shares, rng) -> None:
    """Give a variable to all records by its raked shares given the variables before it."""
    few = codes[example]
    few[:, column] = 0
    weights = np.bincount(group)
    steps = block.steps[2]
    base = block.cells(few) - steps[:, 0].astype(np.int32)
    rake_shares(shares, base, weights, steps, block.low, block.high, _ROUNDS)
    codes[:, column] = deal_levels(shares, weights, group, rng.random())


def _near(codes, active, tables, rng, R=8, W=2):
    cols = sorted(
        {c for t in tables for c in t.grid.columns} - (set(active) if len(active) == 1 else set())
    )
    n = len(codes)
    near = np.empty((n, R * 2 * W), dtype=np.int32)
    k = 0
    for r in range(R):
        key = [rng.random(n)] + [codes[:, c] for c in rng.permutation(cols)]
        order = np.lexsort(key)
        for w in range(1, W + 1):
            near[order, k] = np.roll(order, w)
            near[order, k + 1] = np.roll(order, -w)
            k += 2
    return near


def _regroup(group: IntArray, levels: Codes, size: int) -> IntArray:
    """Number the groups of records that have the same values so far."""
    joint = group * size + levels
    seen = np.zeros(int(joint.max()) + 1, dtype=np.int64)
    seen[joint] = 1
    return (np.cumsum(seen) - 1)[joint]
