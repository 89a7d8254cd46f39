"""What every output kind that counts records has in common."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.classes import Classes, classify, separate
from evosynth.condition import Condition, mask
from evosynth.errors import Fault, Path, many
from evosynth.objective import CellTable, Place, Plan, Share, Smooth
from evosynth.printed import Printed, Published
from evosynth.ranks import Cut
from evosynth.schema import FloatArray, IntArray, Schema
from evosynth.written import Entry, scale_of

if TYPE_CHECKING:
    import pandas as pd

MAX_CELLS = 5_000_000


def count_bounds(published: Published, records: int) -> tuple[int, int]:
    """Smallest and largest count that a figure admits."""
    if isinstance(published, Printed):
        return int(published.value), int(published.value)
    low, high = published.interval
    least = 0 if math.isinf(low) else math.floor(low) + 1 if published.open_low else math.ceil(low)
    if math.isinf(high):
        return least, records
    return least, math.ceil(high) - 1 if published.open_high else math.floor(high)


def share_bounds(published: Published, total: int, scale: float) -> tuple[int, int]:
    """Smallest and largest count whose share of ``total`` a figure admits."""
    if isinstance(published, Printed):
        return published.counts(total, scale)
    low, high = (min(max(end / scale * total, 0.0), float(total)) for end in published.interval)
    least, most = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    while least <= most and not published.prints(scale * least / max(total, 1)):
        least += 1
    while least <= most and not published.prints(scale * most / max(total, 1)):
        most -= 1
    return least, most


@dataclass
class Layout:
    """Builds the tables that the figures of one output rest on."""

    schema: Schema
    where: Condition | None
    tables: list[CellTable] = field(default_factory=list)
    classes: list[Classes] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)
    chosen: set[int] = field(default_factory=set)
    implied: list[CellTable] = field(default_factory=list)
    _known: dict[object, int] = field(default_factory=dict)

    def table(self, groups: Mapping[str, IntArray]) -> int:
        """Find the table of some groups of levels; it is made when it is first needed."""
        key = tuple((name, group.tobytes()) for name, group in groups.items())
        if key not in self._known:
            self._known[key] = len(self.tables)
            self.classes.append(classify(self.schema, groups, self.where))
            self.tables.append(CellTable.free(self.classes[-1].grid, self.schema.records))
        return self._known[key]

    def place(self, groups: Mapping[str, IntArray], cell: Sequence[int]) -> Place:
        """Find a cell of the table of some groups of levels."""
        table = self.table(groups)
        return table, self.classes[table].cell(cell)

    def bound(self, place: Place, low: int, high: int) -> None:
        """Narrow the bounds of a cell."""
        table, cell = place
        found = self.tables[table]
        found.low[cell] = max(found.low[cell], low)
        found.high[cell] = min(found.high[cell], high)

    def bound_all(self, ends: Mapping[Place, tuple[int, int]]) -> None:
        """Narrow the bounds of many cells."""
        places, bounds = np.array(list(ends)).reshape(-1, 2), np.array(list(ends.values()))
        for table in np.unique(places[:, 0]).tolist():
            own = places[:, 0] == table
            cells, found = places[own, 1], self.tables[table]
            found.low[cells] = np.maximum(found.low[cells], bounds[own, 0])
            found.high[cells] = np.minimum(found.high[cells], bounds[own, 1])

    def known(self, place: Place) -> int | None:
        """Count of a cell, if it is fixed."""
        table, cell = place
        found = self.tables[table]
        if found.grid.size == 1:
            return self.schema.records
        return int(found.low[cell]) if found.low[cell] == found.high[cell] else None

    def share(
        self, of: Place, cells: Sequence[tuple[Place, Published]], scale: float, complete: bool
    ) -> None:
        """Bound cells by their shares of another; ``complete``: together they make it up."""
        total = self.known(of)

        def bounds(size: int) -> tuple[list[int], list[int]]:
            found = [share_bounds(published, size, scale) for _, published in cells]
            low, high = [f[0] for f in found], [f[1] for f in found]
            if complete and not sum(low) <= size <= sum(high):
                return [1] * len(low), [0] * len(low)
            return low, high

        if total is not None:
            for place, published in cells:
                low, high = share_bounds(published, total, scale)
                self.bound(place, low, high)
            return
        ends = np.array([published.interval for _, published in cells]).clip(0, scale) / scale
        self.shares.append(
            Share(
                of,
                tuple(place for place, _ in cells),
                tuple(ends[:, 0].tolist()),
                tuple(ends[:, 1].tolist()),
                bounds,
                ((0.0, 0.0),) * len(cells),
                complete,
            )
        )

    def ranks(self, of: Place, cells: Sequence[Place], parts: Sequence[int], cut: Cut) -> None:
        """Bound the counts below, at and above values by the size of the group."""
        if cut.choice:
            self.chosen |= {table for table, _ in cells}

        def bounds(size: int) -> tuple[list[int], list[int]]:
            low, high = cut.bounds(size)
            return [low[part] for part in parts], [high[part] for part in parts]

        total = self.known(of)
        if total is not None:
            for place, low, high in zip(cells, *bounds(total), strict=True):
                self.bound(place, low, high)
            return
        least = tuple(cut.low[part] for part in parts)
        most = tuple(cut.high[part] for part in parts)
        extra = tuple(cut.extra[part] for part in parts)
        self.shares.append(Share(of, tuple(cells), least, most, bounds, extra))

    def imply(self, groups: Mapping[str, IntArray], cells: Mapping[int, tuple[int, int]]) -> None:
        """Note bounds, by the last group, that a figure sets whatever way to it is chosen."""
        classes = classify(self.schema, groups, self.where)
        table = CellTable.free(classes.grid, self.schema.records)
        for group, ends in cells.items():
            at = classes.cell([*[0] * (len(groups) - 1), group])
            table.low[at], table.high[at] = ends
        self.implied.append(table)

    def plan(self, counted: Iterable[tuple[Place, ...]], smooth: Iterable[Smooth] = ()) -> Plan:
        """Return what was laid out."""
        return Plan(
            tuple(self.tables),
            tuple(self.shares),
            tuple(counted),
            tuple(smooth),
            frozenset(self.chosen),
            tuple(self.implied),
        )


def _shared(members: Sequence[Entry]) -> Path:
    """Return the place that holds all of some cells."""
    first, *others = [entry.path for entry in members]
    end = len(first)
    while any(path[:end] != first[:end] for path in others):
        end -= 1
    return first[:end]


def count_sum_faults(members: list[Entry], records: int, complete: bool = True) -> Iterator[Fault]:
    """Find counts that do not sum to the number of records."""
    ends = [count_bounds(entry.published, records) for entry in members]
    large = [entry for entry, end in zip(members, ends, strict=True) if end[0] > records]
    for entry in large:
        message = f"{entry.published} is more than all {many(records, 'record')}"
        yield Fault(entry.path, message, clash=True)
    low, high = sum(end[0] for end in ends), sum(end[1] for end in ends)
    if not large and (low > records or (complete and high < records)):
        gap = f"{low - records} too many" if low > records else f"{records - high} missing"
        total = f"{low}" if low == high else f"{low} to {high}"
        message = f"the cells sum to {total}, but records is {records} ({gap})"
        yield Fault(_shared(members), message, clash=True)


def share_sum_faults(
    members: list[Entry], total: int | None, complete: bool = True, of: str = ""
) -> Iterator[Fault]:
    """Find shares that no count has, and shares that do not sum to the whole."""
    if not members:
        return
    scale = scale_of(members[0].form)
    ends = [] if total is None else [share_bounds(e.published, total, scale) for e in members]
    impossible = [e for e, end in zip(members, ends, strict=False) if end[0] > end[1]]
    for entry in impossible:
        message = (
            f"no number of records out of {total} has a share that prints as {entry.published}"
        )
        yield Fault(entry.path, message, clash=True)
    if impossible or not all(isinstance(entry.published, Printed) for entry in members):
        return
    summed = sum(entry.published.value for entry in members)
    slack = sum(entry.published.half_width for entry in members)
    what = f"the {'percentages' if scale == 100 else 'proportions'}{of} sum to {summed:.6g}"
    low, high = sum(end[0] for end in ends), sum(end[1] for end in ends)
    if summed > scale + slack + 1e-9 or (complete and summed < scale - slack - 1e-9):
        message = f"{what}, which is not {scale:g} within their rounding (±{slack:.2g})"
        yield Fault(_shared(members), message, clash=True)
    elif total is not None and (low > total or (complete and high < total)):
        makes = (
            f"{many(low, 'record')} at least" if low > total else f"{many(high, 'record')} at most"
        )
        message = f"{what}, which makes {makes}, but there are {total}"
        yield Fault(_shared(members), message, clash=True)


def levels_within(name: str, where: Condition | None, schema: Schema) -> list[int]:
    """List the valid levels of a variable that a subpopulation admits."""
    variable = schema[name]
    admitted = {} if where is None else separate(where, schema)
    inside = admitted.get(name, np.ones(variable.size, dtype=bool))
    return [level for level in range(variable.valid) if inside[level]]


def population(
    frame: pd.DataFrame,
    counts: FloatArray,
    names: Sequence[str],
    where: Condition | None,
    schema: Schema,
) -> tuple[pd.DataFrame, FloatArray]:
    """Select the records of a subpopulation that miss none of some variables, with pandas."""
    kept = np.ones(len(frame), dtype=bool) if where is None else mask(where, frame, schema)
    for name in names:
        kept = kept & valid(frame, name, schema)
    return frame.loc[kept], counts[kept]


def valid(frame: pd.DataFrame, name: str, schema: Schema) -> Any:
    """Which records have a value of a variable that does not stand for a missing one."""
    variable = schema[name]
    found = frame[name].notna().to_numpy()
    codes = variable.values[variable.valid : variable.size - variable.blank]
    return found & ~frame[name].isin(codes.tolist()).to_numpy() if len(codes) else found


def count_by(
    frame: pd.DataFrame, counts: FloatArray, names: Sequence[str]
) -> dict[tuple[Any, ...], float]:
    """Count records by the values of some variables, with a pandas group-by."""
    if not names:
        return {(): float(counts.sum())}
    weighted = frame[list(names)].assign(**{"records ": counts})
    table = weighted.groupby(list(names), observed=True, dropna=False)["records "].sum()
    return {key if isinstance(key, tuple) else (key,): float(value) for key, value in table.items()}
