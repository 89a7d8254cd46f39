"""Cross-tabulation of two or more variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from evosynth.counting import (
    MAX_CELLS,
    Cells,
    Form,
    bounds,
    count_records,
    flatten,
    share_faults,
)
from evosynth.errors import Fault
from evosynth.objective import CellTable, Figure, Mention, Output, Plan
from evosynth.printed import Printed
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd


def _check_rows(value: Any) -> Any:
    if not isinstance(value, str) and not (
        isinstance(value, list) and all(isinstance(name, str) for name in value)
    ):
        raise ValueError("expected a variable's name, or a list of names")
    return value


class Crosstab(Output):
    """Counts, or proportions of all records, by the values of two or more variables.

    ``rows`` may name several variables; their values then nest: ``counts: {a: {b: [1, 2]}}``.
    The innermost list follows the order of the column variable's values.
    """

    kind: Literal["crosstab"]
    rows: Annotated[str | tuple[str, ...], BeforeValidator(_check_rows)] = Field(
        description="the row variable, or several, nested"
    )
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
        cells, _, _ = flatten(tree or {}, self._names, schema, (self._form,))
        return cells

    def mentions(self) -> Iterator[Mention]:
        """Name the row variables and the column variable."""
        *rows, column = self._names
        for name in rows:
            yield Mention(("rows",), name)
        yield Mention(("columns",), column)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Unknown values, missing cells, numbers that cannot be, sums that are off."""
        if (self.counts is None) == (self.proportions is None):
            yield Fault((), "give either counts or proportions")
            return
        if isinstance(self.rows, tuple) and not self.rows:
            yield Fault(("rows",), "name at least one row variable")
        wrong = list(self._shape_faults(schema))
        yield from wrong
        if wrong:
            return
        tree = self.counts if self.counts is not None else self.proportions
        cells, faults, places = flatten(tree or {}, self._names, schema, (self._form,))
        yield from faults
        if not faults:
            placed = ((places[key], printed) for key, printed in cells.items())
            yield from share_faults(placed, self._form, True, schema.records)

    def _shape_faults(self, schema: Schema) -> Iterator[Fault]:
        *rows, column = self._names
        for name in sorted({name for name in rows if rows.count(name) > 1}):
            yield Fault(("rows",), f"{name!r} is named twice")
        if column in rows:
            yield Fault(("columns",), f"{column!r} is named twice")
        if np.prod([schema[name].size for name in self._names], dtype=float) > MAX_CELLS:
            yield Fault((), f"the table would have more than {MAX_CELLS:,} cells")

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
