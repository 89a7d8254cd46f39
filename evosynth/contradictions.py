"""Clashes between published tables, found before any search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from evosynth.errors import Fault
from evosynth.objective import CellTable, Plan
from evosynth.schema import IntArray, Schema


def between_tables(plans: Sequence[Plan], schema: Schema) -> Iterator[Fault]:
    """Pairs of tables that disagree on the counts of the variables they share."""
    tables = [(output, table) for output, plan in enumerate(plans) for table in plan.tables]
    for (first, a), (second, b) in combinations(tables, 2):
        shared = tuple(column for column in a.columns if column in b.columns)
        low_a, high_a = margin(a, shared, schema.records)
        low_b, high_b = margin(b, shared, schema.records)
        for cell in np.argwhere((low_a > high_b) | (low_b > high_a)):
            at = tuple(cell)
            variables = [schema.variables[column] for column in shared]
            where = ", ".join(
                f"{v.name}={v.values[level]}" for v, level in zip(variables, at, strict=True)
            )
            mine, other = _show(low_b[at], high_b[at]), _show(low_a[at], high_a[at])
            gap = max(low_a[at] - high_b[at], low_b[at] - high_a[at])
            yield Fault(
                ("outputs", second),
                f"{where or 'the total'} comes to {mine} records here, but to {other} "
                f"in outputs[{first}] (off by {gap})",
            )


def margin(table: CellTable, columns: tuple[int, ...], records: int) -> tuple[IntArray, IntArray]:
    """Interval of each marginal count over ``columns``, in their order."""
    others = tuple(i for i, column in enumerate(table.columns) if column not in columns)
    kept = [column for column in table.columns if column in columns]
    order = [kept.index(column) for column in columns]
    low = np.transpose(table.low.sum(axis=others), order)
    high = np.transpose(table.high.sum(axis=others), order)
    low_rest, high_rest = table.low.sum() - low, table.high.sum() - high
    return np.maximum(low, records - high_rest), np.minimum(high, records - low_rest)


def _show(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"
