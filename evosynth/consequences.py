"""Tests and ratios that do not follow from the counts and moments that are published as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from evosynth import model_margins
from evosynth.classes import Classes, all_levels, classify
from evosynth.errors import Fault, Path
from evosynth.estimated import Estimated
from evosynth.fitted import Model
from evosynth.grid import Grid
from evosynth.margins import parents, plain, tighten
from evosynth.moments import Compared, Ends, GroupMoments
from evosynth.objective import Figure, Output, Plan
from evosynth.schema import IntArray, Schema
from evosynth.sums import Sums

_LARGEST = 100_000
"""Cells of a table from which a figure is computed."""

_CONVERGED = 1e-7
"""Part of a figure that two ways to estimate it may differ by."""

Region: TypeAlias = frozenset[tuple[int, bytes]]
"""Records by the levels, of each variable that matters, that they have."""


def clashes(
    outputs: Sequence[Output | None], plans: Sequence[Plan], schema: Schema, known: Set[Path]
) -> Iterator[Fault]:
    """Find figures that others decide otherwise; outputs with ``known`` faults are left out."""
    sound = {i: p for i, p in enumerate(plans) if ("outputs", i) not in known}
    moments = _Moments.of(sound, schema)
    known_of = model_margins.Known(lambda grid: _count(grid, sound, schema.records), moments.spread)
    for i, plan in sound.items():
        output = outputs[i]
        if output is None:
            continue
        figures = output.figures(schema)[len(plan.counted) :] if plan.smooth else ()
        for block in plan.smooth:
            own, figures = figures[: block.size], figures[block.size :]
            if isinstance(block, Sums) and block.counted is not None:
                yield from _by_counts(i, output, block.classes, own, sound, schema)
            elif isinstance(block, Model) and isinstance(output, Estimated):
                found = list(model_margins.clashes(i, output, block, known_of, schema))
                yield from found or _by_table(i, output, own, sound, schema)
            elif isinstance(block, Compared):
                yield from _by_moments(i, block, own, moments)


# ---- what counts decide -----------------------------------------------------------------------


def _count(
    grid: Grid, plans: Mapping[int, Plan], records: int
) -> tuple[IntArray, IntArray, list[int]]:
    """Bounds of the cells of a table by the published ones, and the outputs they come from."""
    grids, bounds, sources = [grid := plain(grid)], [], set()
    bounds.append((np.zeros(grid.size, np.int64), np.full(grid.size, records, np.int64)))
    for output, plan in plans.items():
        for table in plan.certain():
            other = plain(table.grid)
            related = parents(other, grid) is not None or parents(grid, other) is not None
            if related and other.size > 1:
                grids.append(other)
                bounds.append((table.low.copy(), table.high.copy()))
                sources.add(output)
    tighten(tuple(grids), bounds, records)
    return (*bounds[0], sorted(sources))


def _by_counts(
    i: int,
    output: Output,
    classes: Classes,
    figures: Sequence[Figure],
    plans: Mapping[int, Plan],
    schema: Schema,
) -> Iterator[Fault]:
    """Compute figures anew where every count that they rest on is published."""
    import pandas as pd

    grid = classes.grid
    if grid.size > _LARGEST:
        return
    low, high, sources = _count(grid, plans, schema.records)
    inside = classes.inside()
    if (low[inside] < high[inside]).any():
        return
    filled = inside[low[inside] > 0]
    frame = {}
    for column, groups, level in zip(
        grid.columns, grid.groups, np.unravel_index(filled, grid.shape), strict=True
    ):
        variable = schema.variables[column]
        first = np.array([np.flatnonzero(groups == g)[0] for g in range(int(groups.max()) + 1)])
        frame[variable.name] = variable.decode(first[level])
    values = output.recompute(pd.DataFrame(frame), low[filled].astype(float), schema)
    own = values[len(values) - len(figures) :]
    for figure, value in zip(figures, own.tolist(), strict=True):
        if np.isfinite(value) and not figure.printed.prints(value):
            given = figure.printed.show(value)
            gap = max(figure.printed.interval[0] - value, value - figure.printed.interval[1])
            if gap < _CONVERGED * abs(value):
                continue
            message = (
                f"{figure.label} is {figure.printed}, but the counts of {_named(sources)} give "
                f"{given} (off by {gap:.2g})"
            )
            yield Fault(("outputs", i), message, clash=True)


def _by_table(
    i: int,
    output: Estimated,
    figures: Sequence[Figure],
    plans: Mapping[int, Plan],
    schema: Schema,
) -> Iterator[Fault]:
    """Compute a model anew where a table of all its variables is published."""
    columns = {schema.index[name] for name in output._names}
    tables = (set(table.grid.columns) for plan in plans.values() for table in plan.certain())
    if any(columns <= table for table in tables):
        groups = {name: all_levels(schema[name]) for name in output._names}
        classes = classify(schema, groups, output.condition)
        yield from _by_counts(i, output, classes, figures, plans, schema)


def _named(sources: Sequence[int]) -> str:
    return " and ".join(f"outputs[{source}]" for source in sources)


# ---- what means and standard deviations decide ------------------------------------------------


@dataclass
class _Group:
    """What is published of a quantity in some records."""

    mean: Ends = (-np.inf, np.inf)
    sd: Ends = (0.0, np.inf)
    sources: set[int] = field(default_factory=set)


@dataclass
class _Moments:
    """What is published of quantities, by quantity and records."""

    groups: dict[tuple[int, Region], _Group]
    plans: Mapping[int, Plan]
    schema: Schema

    @classmethod
    def of(cls, plans: Mapping[int, Plan], schema: Schema) -> _Moments:
        found = cls({}, plans, schema)
        for output, plan in plans.items():
            for block in plan.smooth:
                if isinstance(block, GroupMoments):
                    found._add(output, block)
        return found

    def _add(self, output: int, block: GroupMoments) -> None:
        inside = block.classes.inside()
        for moment, rows in block.rows.items():
            for row in rows.tolist():
                region = _region(block.classes.grid, inside[block.member[row] > 0])
                if region is None or moment not in {"mean", "sd", "variance"}:
                    continue
                group = self.groups.setdefault((block.column, region), _Group())
                low, high = float(block.low[row]), float(block.high[row])
                if moment == "mean":
                    group.mean = _both(group.mean, (low, high))
                else:
                    power = 0.5 if moment == "variance" else 1.0
                    group.sd = _both(group.sd, (max(low, 0.0) ** power, max(high, 0.0) ** power))
                group.sources.add(output)

    def spread(self, column: int) -> tuple[float, list[int]]:
        """Return the largest standard deviation of all records, and the outputs that tell it."""
        group = self.groups.get((column, frozenset()), _Group())
        return group.sd[1], sorted(group.sources)

    def size(self, region: Region) -> tuple[int | None, list[int]]:
        """Count the records of a region, if published tables tell, and say which do."""
        masks = [(column, np.frombuffer(mask, dtype=bool)) for column, mask in sorted(region)]
        if not masks:
            return self.schema.records, []
        grid = Grid(tuple(c for c, _ in masks), tuple(1 - m.astype(np.int64) for _, m in masks))
        low, high, sources = _count(grid, self.plans, self.schema.records)
        return (int(low[0]) if low[0] == high[0] else None), sources


def _both(one: Ends, two: Ends) -> Ends:
    """Return what two intervals have in common; the first if they clash."""
    low, high = max(one[0], two[0]), min(one[1], two[1])
    return (low, high) if low <= high else one


def _region(grid: Grid, cells: IntArray) -> Region | None:
    """Describe cells by the levels that their records have; ``None`` if that takes more."""
    found, size = [], 1
    for column, groups, at in zip(
        grid.columns, grid.groups, np.unravel_index(cells, grid.shape), strict=True
    ):
        own = np.unique(at)
        size *= len(own)
        mask = np.isin(groups, own)
        if not mask.all():
            found.append((column, mask.tobytes()))
    return frozenset(found) if size == len(cells) else None


def _by_moments(
    i: int, block: Compared, figures: Sequence[Figure], moments: _Moments
) -> Iterator[Fault]:
    """Find tests outside of what the published sizes, means and deviations of groups admit."""
    known, sizes, sources = [], [], set()
    for cell in block.classes.inside():
        region = _region(block.classes.grid, np.array([cell]))
        assert region is not None
        group = moments.groups.get((block.column, region))
        if group is None:
            return
        size, places = moments.size(region)
        known.append(group)
        sizes.append(size)
        sources |= group.sources
        sources |= set(places) if size is not None else set()
    if i in sources and len(sources) > 1:
        sources.discard(i)
    reach = block.reach(
        [size for size in sizes if size is not None] if None not in sizes else None,
        [group.mean for group in known],
        [group.sd for group in known],
    )
    for key, figure in zip(block.keys, figures, strict=True):
        low, high = reach.get(key, (-np.inf, np.inf))
        least, most = figure.printed.interval
        gap = max(low - most, least - high)
        if gap > 1e-9 * max(1.0, abs(low) if np.isfinite(low) else 0.0, abs(most)):
            message = (
                f"{figure.label} is {figure.printed}, but the groups as published in "
                f"{_named(sorted(sources))} have {low:.4g} to {high:.4g} (off by {gap:.2g})"
            )
            yield Fault(("outputs", i), message, clash=True)
