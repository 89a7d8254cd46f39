"""Figures that clash only when several outputs are taken together.

The records in each cell of a table that is finer than all the published ones, and the sum of each
quantity in it, are unknowns of a linear programme; counts, shares, means and sums are linear in
them. What has no solution no data have. The reverse does not hold: the unknowns of a solution need
not be whole numbers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from evosynth.errors import Fault, Path, many
from evosynth.grid import Grid
from evosynth.margins import parents, plain
from evosynth.moments import GroupMoments
from evosynth.objective import CellTable, Place, Plan, Share
from evosynth.schema import FloatArray, IntArray, Schema

MAX_UNKNOWNS = 4_000
"""Counts and sums in one joint table."""
_MAX_WORK = 4_000_000
"""Unknowns × rows in all joint tables of a spec: about a second."""
_SECONDS = 10.0
_SCALE = 1e5
"""Records are counted in units of which there are not more."""
_FINEST = 1e5
"""Widest range of a quantity, in half-units of the last digit of what is published of it."""
_SURE = 2e-3
"""What figures must give way by, in the units of the programme, to be called a clash."""
_MOST = 4
"""Figures that are named for one output."""

Where: TypeAlias = Callable[[Grid, int], str]
Matrix: TypeAlias = Any


def clashes(
    plans: Sequence[Plan], schema: Schema, known: Set[Path], where: Where
) -> Iterator[Fault]:
    """Find outputs that no data have together; those with ``known`` faults are left out."""
    claims = [
        claim
        for output, plan in enumerate(plans)
        if ("outputs", output) not in known
        for claim in _claims(output, plan, schema, where)
    ]
    told: set[int] = set()
    left = _MAX_WORK
    for columns in _domains(claims):
        while True:
            inside = [c for c in claims if c.columns <= columns and c.output not in told]
            if len({c.output for c in inside}) < 2 and not any(c.relative for c in inside):
                break
            joint = _Joint(_refined(inside), schema)
            sums = len({c.quantity for c in inside} - {None})
            work = joint.grid.size * (1 + sums) * sum(c.size for c in inside)
            if work > left:
                break
            left -= work
            fault = _clash(inside, joint)
            if fault is None:
                break
            told.add(int(fault.path[1]))
            yield fault


# ---- joint tables -----------------------------------------------------------------------------


class _Joint:
    """A table finer than those that are looked at."""

    def __init__(self, grid: Grid, schema: Schema) -> None:
        self.grid, self.schema = grid, schema

    def cells(self, grid: Grid) -> Matrix:
        """Cells of a coarser table as sums of cells of this one."""
        part = parents(self.grid, plain(grid))
        if part is None:
            raise ValueError("the joint table is not finer")
        every, ones = np.arange(self.grid.size), np.ones(self.grid.size)
        return sparse.csr_array((ones, (part, every)), shape=(grid.size, self.grid.size))

    def ends(self, column: int) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest value of a quantity in each cell; 0 where it is missing."""
        values = self.schema.variables[column].quantities
        if column not in self.grid.columns:
            low, high = np.nanmin(values), np.nanmax(values)
            return np.full(self.grid.size, low), np.full(self.grid.size, high)
        axis = self.grid.columns.index(column)
        found = np.zeros((2, self.grid.shape[axis]))
        for group in range(self.grid.shape[axis]):
            own = values[(self.grid.groups[axis] == group) & np.isfinite(values)]
            found[:, group] = (own.min(), own.max()) if len(own) else (0, 0)
        level = np.arange(self.grid.size) // self.grid.strides[axis] % self.grid.shape[axis]
        return found[0][level], found[1][level]


def _refined(claims: Sequence[_Claim]) -> Grid:
    """Return the coarsest table that is finer than all."""
    seen: dict[int, list[IntArray]] = {}
    for grid in {id(grid): plain(grid) for claim in claims for grid in claim.grids}.values():
        for column, groups in zip(grid.columns, grid.groups, strict=True):
            seen.setdefault(column, []).append(groups)
    columns = sorted(seen)
    inverse = [np.unique(np.stack(seen[c]), axis=1, return_inverse=True)[1] for c in columns]
    return Grid(tuple(columns), tuple(groups.ravel() for groups in inverse))


def _domains(claims: Sequence[_Claim]) -> Iterator[frozenset[int]]:
    """List sets of variables of overlapping claims, as large as joint tables may be."""
    sets = sorted({c.columns for c in claims}, key=lambda s: (-len(s), sorted(s)))
    sums = {s: {c.quantity for c in claims if c.columns == s} - {None} for s in sets}
    finest = _refined(claims)
    shape = dict(zip(finest.columns, finest.shape, strict=True))

    def size(columns: frozenset[int]) -> int:
        quantities = set().union(*(sums[s] for s in sets if s <= columns))
        return math.prod(shape[column] for column in columns) * (1 + len(quantities))

    found: list[frozenset[int]] = []
    for domain in sets:
        if any(domain <= other for other in found) or size(domain) > MAX_UNKNOWNS:
            continue
        while True:
            own = set().union(*(sums[s] for s in sets if s <= domain))
            near = sorted(
                (s for s in sets if not s <= domain and (s & domain or sums[s] & own)),
                key=lambda s: (len(s - domain), sorted(s)),
            )
            grown = next((domain | s for s in near if size(domain | s) <= MAX_UNKNOWNS), None)
            if grown is None:
                break
            domain = grown
        found.append(domain)
        yield domain


# ---- what outputs claim -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """``low <= counts · c + sums · s <= high`` for counts c and sums s of a quantity in cells."""

    counts: Matrix
    low: FloatArray
    high: FloatArray
    quantity: int | None = None
    sums: Matrix = None
    unit: float = 1.0
    """In which what is off is weighed."""


@dataclass(frozen=True)
class _Solved:
    """Counts and sums of quantities in the cells of a joint table."""

    joint: _Joint
    counts: FloatArray
    sums: dict[int, FloatArray]
    gives: FloatArray
    """By how much each row gives way."""


class _Claim(ABC):
    """Figures of one output that are linear in counts and sums."""

    output: int
    relative = True
    """Whether they tie several cells of a table, so that they can clash with themselves."""
    quantity: int | None = None
    """The quantity that they are sums of."""

    @property
    @abstractmethod
    def grids(self) -> tuple[Grid, ...]:
        """The tables that they rest on."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of rows."""

    @abstractmethod
    def rows(self, joint: _Joint) -> _Rows:
        """Return them as linear rows."""

    @abstractmethod
    def tell(self, row: int, solved: _Solved) -> str:
        """Say what a figure is in a solution, and what is published."""

    @cached_property
    def columns(self) -> frozenset[int]:
        """The variables whose values they tell apart."""
        return frozenset(column for grid in self.grids for column in plain(grid).columns)


def _claims(output: int, plan: Plan, schema: Schema, where: Where) -> Iterator[_Claim]:
    for table in plan.certain():
        bounded = np.flatnonzero((table.low > 0) | (table.high < schema.records))
        if table.grid.size > 1 and len(bounded):
            yield _Counts(output, table, bounded, where)
    for share in plan.shares:
        if not plan.chosen & {table for table, _ in (share.of, *share.cells)}:
            yield _Shares(output, plan, share, where)
    for block in plan.smooth:
        if isinstance(block, GroupMoments):
            for moment in ("mean", "total"):
                if moment in block.rows:
                    claim = _Sums(output, block, moment, schema.records)
                    values = schema.variables[block.column].quantities
                    if np.nanmax(values) - np.nanmin(values) <= _FINEST * claim.unit:
                        yield claim


@dataclass(frozen=True)
class _Counts(_Claim):
    output: int
    table: CellTable
    bounded: IntArray
    where: Where
    relative = False

    @property
    def grids(self) -> tuple[Grid, ...]:
        return (self.table.grid,)

    @property
    def size(self) -> int:
        return len(self.bounded)

    def rows(self, joint: _Joint) -> _Rows:
        cells = joint.cells(self.table.grid)[self.bounded]
        low, high = self.table.low[self.bounded], self.table.high[self.bounded]
        return _Rows(cells, low.astype(float), high.astype(float))

    def tell(self, row: int, solved: _Solved) -> str:
        cell = int(self.bounded[row])
        value = float((solved.joint.cells(self.table.grid) @ solved.counts)[cell])
        low, high = int(self.table.low[cell]), int(self.table.high[cell])
        told = f"{low}" if low == high else f"{low} to {high}"
        gap = max(low - value, value - high)
        name = self.where(self.table.grid, cell)
        exact = gap < 1  # a fraction of a record tells that whole ones do not do
        gone = f"{value:.4g}" if exact else f"{value:.0f}"
        off = f"{gap:.2g}" if exact else f"{gap:.0f}"
        return f"{name} comes to {many(gone, 'record')}, not {told} (off by {off})"


@dataclass(frozen=True)
class _Shares(_Claim):
    output: int
    plan: Plan
    share: Share
    where: Where

    @property
    def grids(self) -> tuple[Grid, ...]:
        tables = dict.fromkeys(table for table, _ in (self.share.of, *self.share.cells))
        return tuple(self.plan.tables[table].grid for table in tables)

    @property
    def size(self) -> int:
        return 2 * len(self.share.cells)

    def _cell(self, joint: _Joint, place: Place) -> Matrix:
        return joint.cells(self.plan.tables[place[0]].grid)[[place[1]]]

    def rows(self, joint: _Joint) -> _Rows:
        whole = self._cell(joint, self.share.of)
        parts = sparse.vstack([self._cell(joint, place) for place in self.share.cells])
        low, high = (
            parts - sparse.csr_array(np.array(ends)[:, None]) @ whole
            for ends in (self.share.low, self.share.high)
        )
        size = len(self.share.cells)
        return _Rows(
            sparse.vstack([low, high]),
            np.repeat([0.0, -np.inf], size),
            np.repeat([np.inf, 0.0], size),
        )

    def tell(self, row: int, solved: _Solved) -> str:
        row %= len(self.share.cells)
        place = self.share.cells[row]
        whole = (self._cell(solved.joint, self.share.of) @ solved.counts).item()
        part = (self._cell(solved.joint, place) @ solved.counts).item()
        value = 100 * part / whole if whole else 0.0
        low, high = 100 * self.share.low[row], 100 * self.share.high[row]
        name = self.where(self.plan.tables[place[0]].grid, place[1])
        of = self.where(self.plan.tables[self.share.of[0]].grid, self.share.of[1])
        share = f"the share of {name}" + (f" in {of}" if of else "")
        gap = max(low - value, value - high)
        return f"{share} comes to {value:.4g} %, not {low:.4g} to {high:.4g} % (off by {gap:.2g})"


@dataclass(frozen=True)
class _Sums(_Claim):
    """Means, or sums, of a quantity."""

    output: int
    block: GroupMoments
    moment: str
    records: int

    @property
    def quantity(self) -> int:  # type: ignore[override]
        return self.block.column

    @property
    def grids(self) -> tuple[Grid, ...]:
        return (self.block.classes.grid,)

    @property
    def size(self) -> int:
        return len(self.block.rows[self.moment]) * (1 if self.moment == "total" else 2)

    @property
    def unit(self) -> float:
        """Half a unit of the last digit of a mean; of a sum, its part for one record."""
        half = float(self.block.half_widths[self.block.rows[self.moment]].min())
        return half / self.records if self.moment == "total" else half

    def _inside(self, joint: _Joint) -> Matrix:
        cells = joint.cells(self.block.classes.grid)[self.block.classes.inside()]
        return sparse.csr_array(self.block.member[self.block.rows[self.moment]]) @ cells

    def rows(self, joint: _Joint) -> _Rows:
        inside = self._inside(joint)
        at = self.block.rows[self.moment]
        low, high = self.block.low[at], self.block.high[at]
        if self.moment == "total":
            nothing = sparse.csr_array(inside.shape)
            return _Rows(nothing, low, high, self.block.column, inside, self.unit)
        some_low, some_high = np.isfinite(low), np.isfinite(high)
        ends = [np.where(np.isfinite(end), end, 0.0)[:, None] for end in (low, high)]
        return _Rows(
            sparse.vstack([inside.multiply(-end) for end in ends]),
            np.concatenate([np.where(some_low, 0.0, -np.inf), np.full(len(at), -np.inf)]),
            np.concatenate([np.full(len(at), np.inf), np.where(some_high, 0.0, np.inf)]),
            self.block.column,
            sparse.vstack([inside, inside]),
            self.unit,
        )

    def tell(self, row: int, solved: _Solved) -> str:
        row %= len(self.block.rows[self.moment])
        inside = self._inside(solved.joint)[[row]]
        value = (inside @ solved.sums[self.block.column]).item()
        if self.moment == "mean":
            value /= (inside @ solved.counts).item() or 1.0
        figure = self.block.figures[self.block.rows[self.moment][row]]
        low, high = figure.printed.interval
        gap = max(low - value, value - high)
        return f"{figure.label} comes to {value:.6g}, not {figure.printed} (off by {gap:.2g})"


# ---- the programme ----------------------------------------------------------------------------


def _clash(claims: list[_Claim], joint: _Joint) -> Fault | None:
    """Find one output that clashes with others, or with itself."""
    rows = [claim.rows(joint) for claim in claims]
    programme = _Programme(rows, joint)
    price = None if programme.feasible() else programme.proof()
    if price is None:
        return None
    sizes = [len(part.low) for part in rows]
    owner = np.repeat(np.arange(len(claims)), sizes)
    outputs = np.repeat([claim.output for claim in claims], sizes)
    involved = sorted({int(output) for output in outputs[price > 0]})
    # One output that gives way alone is easier to understand; the last, as between two tables.
    alone = (programme.give_way(outputs == output) for output in reversed(involved))
    found = next((solved for solved in alone if solved is not None), None)
    found = found or programme.give_way(np.ones(len(outputs), dtype=bool))
    if found is None or not found.gives.any():
        return None
    output = max(int(output) for output in outputs[found.gives > 0])
    first = np.cumsum([0, *sizes])
    told = [
        claims[owner[row]].tell(int(row - first[owner[row]]), found)
        for row in np.flatnonzero((found.gives > 0) & (outputs == output))
    ]
    others = [f"outputs[{other}]" for other in involved if other != output]
    message = "its figures clash with each other"
    if others:
        message = f"clashes with {' and '.join(others)}{' together' if len(others) > 1 else ''}"
    rest = f"; and {len(told) - _MOST} more" if len(told) > _MOST else ""
    message += f": {'beside that' if others else 'at best'} {'; '.join(told[:_MOST])}{rest}"
    return Fault(("outputs", output), message, clash=True)


class _Programme:
    """Counts, then sums of each quantity above its least value, in the cells of a joint table."""

    def __init__(self, rows: Sequence[_Rows], joint: _Joint) -> None:
        self.joint = joint
        cells = joint.grid.size
        self.quantities = sorted({r.quantity for r in rows if r.quantity is not None})
        self.scale = min(1.0, _SCALE / joint.schema.records)
        self.ends = {q: joint.ends(q) for q in self.quantities}
        self.units = {q: min(r.unit for r in rows if r.quantity == q) for q in self.quantities}
        self.low = np.concatenate([r.low / r.unit for r in rows]) * self.scale
        self.high = np.concatenate([r.high / r.unit for r in rows]) * self.scale
        # Means are thought to err rather by a little than counts by many records.
        self.cost = np.concatenate([np.full(len(r.low), self._worth(r)) for r in rows])
        blocks = []
        for part in rows:
            counts = part.counts
            across: list[Matrix] = [None] * len(self.quantities)
            if part.quantity is not None:
                at = self.quantities.index(part.quantity)
                least = self.ends[part.quantity][0]
                counts = counts + part.sums.multiply(least[None, :])
                across[at] = part.sums * (self.units[part.quantity] / part.unit)
            empty = sparse.csr_array(part.counts.shape)
            wide = [empty if block is None else block for block in across]
            blocks.append(sparse.hstack([counts / part.unit, *wide]))
        self.matrix = sparse.vstack(blocks).tocsr()
        total = joint.schema.records * self.scale
        self.reach = [np.full(cells, total)]
        hard = []
        for i, q in enumerate(self.quantities):
            span = (self.ends[q][1] - self.ends[q][0]) / self.units[q]
            one = sparse.eye_array(cells)
            zero = sparse.csr_array((cells, cells))
            others = [one if j == i else zero for j in range(len(self.quantities))]
            hard.append(sparse.hstack([sparse.diags_array(-span), *others]))
            self.reach.append(span * total)
        self.hard = sparse.vstack(hard).tocsr() if hard else None
        self.whole = np.concatenate([np.ones(cells), np.zeros(self.width - cells)])[None, :]
        self.total = np.array([total])

    def _worth(self, part: _Rows) -> float:
        """Return the records that weigh as much as one unit of a row."""
        if part.quantity is None:
            return 1.0
        low, high = self.ends[part.quantity]
        return float(part.unit / max(high.max() - low.min(), part.unit))

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    def _ask(
        self,
        cost: FloatArray,
        upper: Matrix,
        bound: FloatArray,
        equal: tuple[Matrix, FloatArray],
        free: FloatArray | None = None,
    ) -> Any:
        reach = np.concatenate(self.reach if free is None else [*self.reach, free])
        return optimize.linprog(
            cost,
            A_ub=upper,
            b_ub=bound,
            A_eq=equal[0],
            b_eq=equal[1],
            bounds=np.stack([np.zeros(len(cost)), reach], axis=1),
            method="highs",
            options={"time_limit": _SECONDS},
        )

    def feasible(self) -> bool:
        """Whether there is a solution, or none is known not to be."""
        same = self.low == self.high
        up, down = np.isfinite(self.high) & ~same, np.isfinite(self.low) & ~same
        parts = [self.matrix[up], -self.matrix[down]]
        bound = [self.high[up], -self.low[down]]
        if self.hard is not None:
            parts.append(self.hard)
            bound.append(np.zeros(self.hard.shape[0]))
        equal = sparse.vstack([self.matrix[same], sparse.csr_array(self.whole)])
        right = np.concatenate([self.low[same], self.total])
        found = self._ask(
            np.zeros(self.width), sparse.vstack(parts), np.concatenate(bound), (equal, right)
        )
        return bool(found.status != 2)

    def proof(self) -> FloatArray | None:
        """Price of each row, 0 if it has no part in it, if rows are proved to have to give way."""
        found, upper, right, sides = self._elastic(np.ones(len(self.low)), None)
        if found.status != 0:
            return None
        dual, level = np.minimum(found.ineqlin.marginals, 0), found.eqlin.marginals
        price = np.zeros(len(self.low))
        np.subtract.at(price, sides, dual[: len(sides)])
        # Weak duality: whatever the unknowns are within their reach, rows give way by this much.
        reduced = -(upper.T @ dual)[: self.width] - level[0] * self.whole[0]
        least = right @ dual + level @ self.total
        least += np.minimum(reduced, 0) @ np.concatenate(self.reach)
        least /= max(1.0, float(price.max()))
        return np.where(price > 1e-6, price, 0.0) if least > _SURE else None

    def give_way(self, some: NDArray[np.bool_]) -> _Solved | None:
        """Find a solution of which some rows give way, and as few records and sums as can be."""
        found, *_ = self._elastic(self.cost, np.where(some, np.inf, 0.0))
        if found.status != 0:
            return None
        cells = self.joint.grid.size
        counts = found.x[:cells] / self.scale
        sums = {}
        for i, q in enumerate(self.quantities):
            own = found.x[cells * (i + 1) : cells * (i + 2)] / self.scale
            sums[q] = own * self.units[q] + self.ends[q][0] * counts
        gives = found.x[self.width :]
        return _Solved(self.joint, counts, sums, np.where(gives > _SURE / 10, gives, 0.0))

    def _elastic(
        self, price: FloatArray, free: FloatArray | None
    ) -> tuple[Any, Matrix, FloatArray, IntArray]:
        """Let rows give way at a price; ``free``: how far each may."""
        up, down = np.isfinite(self.high), np.isfinite(self.low)
        size = len(self.low)
        one = sparse.eye_array(size).tocsr()
        parts = [
            sparse.hstack([self.matrix[up], -one[up]]),
            sparse.hstack([-self.matrix[down], -one[down]]),
        ]
        bound = [self.high[up], -self.low[down]]
        if self.hard is not None:
            nothing = sparse.csr_array((self.hard.shape[0], size))
            parts.append(sparse.hstack([self.hard, nothing]))
            bound.append(np.zeros(self.hard.shape[0]))
        upper, right = sparse.vstack(parts).tocsr(), np.concatenate(bound)
        equal = np.hstack([self.whole, np.zeros((1, size))])
        cost = np.concatenate([np.zeros(self.width), price])
        free = np.full(size, np.inf) if free is None else free
        found = self._ask(cost, upper, right, (equal, self.total), free)
        return found, upper, right, np.concatenate([np.flatnonzero(up), np.flatnonzero(down)])
