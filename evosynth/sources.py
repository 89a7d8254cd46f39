"""Tables of derived variables as tables of what these are worked out from.

A table by age band is a table by age, its values put into groups: written so, it is compared with
other tables by age, and nothing else needs to know that the bands are derived.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evosynth.grid import Grid
from evosynth.objective import CellTable, Plan
from evosynth.schema import IntArray, Schema


def on_sources(plan: Plan, schema: Schema) -> Plan:
    """Replace derived variables of tables by the one variable that each is worked out from."""
    if schema.bonds is None:
        return plan
    return replace(
        plan,
        tables=tuple(_table(table, schema) for table in plan.tables),
        implied=tuple(_table(table, schema) for table in plan.implied),
    )


def _table(table: CellTable, schema: Schema) -> CellTable:
    return replace(table, grid=_grid(table.grid, schema))


def _grid(grid: Grid, schema: Schema) -> Grid:
    columns, groups = list(grid.columns), list(grid.groups)
    for place, column in enumerate(grid.columns):
        found = worked_out(schema, column)
        if found is None or found[0] in columns:
            continue
        group = groups[place][found[1]]
        if group.max() == groups[place].max():  # or the cells would be numbered otherwise
            columns[place], groups[place] = found[0], group
    return Grid(tuple(columns), tuple(groups))


def worked_out(schema: Schema, column: int) -> tuple[int, IntArray] | None:
    """Find the one variable that a derived one follows from, and its level by that one's levels."""
    if schema.bonds is None or column not in schema.derived:
        return None
    sources = schema.bonds.sources(column)
    if len(sources) != 1:
        return None
    (source,) = sources
    size = schema.variables[source].size
    rows = np.zeros((size, len(schema.variables)), dtype=schema.dtype)
    rows[:, source] = np.arange(size)
    schema.complete(rows)
    return source, rows[:, column].astype(np.int64)
