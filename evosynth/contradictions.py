"""Clashes between published tables, found before any search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import combinations

import numpy as np

from evosynth import consequences, joint
from evosynth.errors import Fault, Path, many
from evosynth.grid import Grid
from evosynth.margins import common, plain, project
from evosynth.objective import CellTable, Output, Plan
from evosynth.schema import IntArray, Schema

_MOST = 20
"""Clashes that are listed for one pair of tables."""


def find(
    outputs: Sequence[Output | None], plans: Sequence[Plan], schema: Schema, known: Set[Path]
) -> Iterator[Fault]:
    """Clashes of published figures; ``known``: outputs whose own are already told.

    What involves more figures is looked at where what involves fewer is silent.
    """
    found = [fault for fault in within_tables(plans, schema) if fault.path not in known]
    found += between_tables(plans, schema)
    yield from found
    faulty = known | {fault.path[:2] for fault in found}
    found = list(consequences.clashes(outputs, plans, schema, faulty))
    yield from found
    faulty = faulty | {fault.path[:2] for fault in found}
    yield from joint.clashes(plans, schema, faulty, lambda grid, cell: where(grid, cell, schema))


def within_tables(plans: Sequence[Plan], schema: Schema) -> Iterator[Fault]:
    """Cells that no count fits, and tables whose cells do not add up to all records."""
    for output, plan in enumerate(plans):
        for table in plan.certain():
            faults = list(_sum_faults(table, schema))
            yield from (Fault(("outputs", output), message, clash=True) for message in faults)
            if faults:
                break


def _sum_faults(table: CellTable, schema: Schema) -> Iterator[str]:
    empty = np.flatnonzero(table.low > table.high)
    for cell in empty[:_MOST]:
        low, high = int(table.low[cell]), int(table.high[cell])
        counted = where(table.grid, int(cell), schema) or "the total"
        yield (
            f"no count of {counted} fits all that is given of it here: one figure needs {low} "
            f"records at least, another {high} at most (off by {low - high})"
        )
    low, high = int(table.low.sum()), int(table.high.sum())
    gap = max(low - schema.records, schema.records - high)
    if gap > 0 and not len(empty):
        yield (
            f"all cells together come to {many(_show(low, high), 'record')}, but records is "
            f"{schema.records} (off by {gap})"
        )


def between_tables(plans: Sequence[Plan], schema: Schema) -> Iterator[Fault]:
    """Pairs of tables that disagree on counts that both make up."""
    tables = [(output, table) for output, plan in enumerate(plans) for table in plan.certain()]
    for (first, a), (second, b) in combinations(tables, 2):
        if not set(a.grid.columns) & set(b.grid.columns):
            continue
        shared = common(a.grid, b.grid)
        low_a, high_a = _margin(a, shared, schema.records)
        low_b, high_b = _margin(b, shared, schema.records)
        # What a table says of itself alone is told by `within_tables`.
        sound = (low_a <= high_a) & (low_b <= high_b)
        for cell in np.flatnonzero(sound & ((low_a > high_b) | (low_b > high_a)))[:_MOST]:
            mine, other = _show(low_b[cell], high_b[cell]), _show(low_a[cell], high_a[cell])
            gap = max(low_a[cell] - high_b[cell], low_b[cell] - high_a[cell])
            cells = where(shared, int(cell), schema) or "the total"
            place = "in its other cells" if first == second else f"in outputs[{first}]"
            yield Fault(
                ("outputs", second),
                f"{cells} comes to {many(mine, 'record')} here, but to {other} {place} (off "
                f"by {gap})",
                clash=True,
            )


def _margin(table: CellTable, shared: Grid, records: int) -> tuple[IntArray, IntArray]:
    found = project(table.grid, table.low, table.high, shared, records)
    assert found is not None
    return found


def where(grid: Grid, cell: int, schema: Schema) -> str:
    """Say which records a cell counts."""
    grid = plain(grid)
    parts = []
    for column, groups, level in zip(
        grid.columns, grid.groups, np.unravel_index(cell, grid.shape), strict=True
    ):
        variable = schema.variables[column]
        members = np.flatnonzero(groups == level)
        texts = [variable.texts[m] for m in members[:4]]
        if len(members) > 4:
            texts = [texts[0], "…", variable.texts[members[-1]]]
        parts.append(f"{variable.name}={'|'.join(texts)}")
    return ", ".join(parts)


def _show(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"
