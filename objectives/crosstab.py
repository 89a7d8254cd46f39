"""Cross-tabulation of two or more variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from evosynth.counting import (
    Cells,
    Form,
    bounds,
    count_records,
    flatten,
    share_faults,
    variable_faults,
)
from evosynth.errors import Fault
from evosynth.objective import CellTable, Figure, Output, Plan
from evosynth.printed import Printed
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd


class Crosstab(Output):
    """Counts, or proportions of all records, by the values of two or more variables.

    ``rows`` may name several variables; their values then nest: ``counts: {a: {b: [1, 2]}}``.
    The innermost list follows the order of the column variable's values.
    """

    kind: Literal["crosstab"]
    rows: str | tuple[str, ...] = Field(description="the row variable, or several, nested")
    columns: str = Field(description="the column variable")
    counts: Cells | None = Field(None, description="number of records in each cell")
    proportions: Cells | None = Field(None, description="share of all records in each cell")

    @property
    def _names(self) -> list[str]:
        return [*([self.rows] if isinstance(self.rows, str) else self.rows), self.columns]

    @property
    def _form(self) -> Form:
        return "counts" if self.counts is not None else "proportions"

    def _cells(self, schema: Schema) -> dict[tuple[str, ...], Printed]:
        tree = self.counts if self.counts is not None else self.proportions
        cells, _ = flatten(tree or {}, self._names, schema, (self._form,))
        return cells

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Unknown variables or values, missing cells, numbers that cannot be, sums that are off."""
        if (self.counts is None) == (self.proportions is None):
            yield Fault((), "give either counts or proportions")
            return
        if isinstance(self.rows, tuple) and not self.rows:
            yield Fault(("rows",), "name at least one row variable")
        unknown = [*variable_faults(self._names, schema, ("rows", "columns"))]
        yield from unknown
        if unknown:
            return
        tree = self.counts if self.counts is not None else self.proportions
        cells, faults = flatten(tree or {}, self._names, schema, (self._form,))
        yield from faults
        if not faults:
            placed = (((self._form, *key), printed) for key, printed in cells.items())
            yield from share_faults(placed, self._form, True, schema.records)

    def figures(self, schema: Schema) -> tuple[Figure, ...]:
        """One per cell, row by row."""
        return tuple(
            Figure(", ".join(f"{n}={v}" for n, v in zip(self._names, key, strict=True)), printed)
            for key, printed in self._cells(schema).items()
        )

    def lower(self, schema: Schema) -> Plan:
        """One table of all the variables."""
        low, high, order = bounds(self._names, self._cells(schema), self._form, schema)
        columns = tuple(schema.index[name] for name in self._names)
        return Plan(tables=(CellTable(columns, low, high, order),))

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Count with a pandas group-by."""
        keys = list(self._cells(schema))
        return count_records(frame, counts, self._names, keys, self._form, schema)
