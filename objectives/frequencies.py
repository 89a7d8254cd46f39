"""How many records have each value of one variable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from evosynth.counting import Form, Key, bounds, count_records, share_faults
from evosynth.errors import Fault
from evosynth.objective import CellTable, Figure, Mention, Output, Plan
from evosynth.printed import Printed
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd


class Frequencies(Output):
    """Counts or proportions of one variable; values that are not listed are not constrained."""

    kind: Literal["frequencies"]
    of: str = Field(description="the variable")
    counts: dict[str, Printed] | None = Field(None, description="value: number of records")
    proportions: dict[str, Printed] | None = Field(None, description="value: share of all records")

    @property
    def _form(self) -> Form:
        return "counts" if self.counts is not None else "proportions"

    @property
    def _printed(self) -> dict[str, Printed]:
        return self.counts or self.proportions or {}

    def mentions(self) -> Iterator[Mention]:
        """Name the variable and the values that are listed."""
        yield Mention(("of",), self.of)
        for value in self._printed:
            yield Mention((self._form, value), self.of, value)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Unknown values, numbers that cannot be, sums that are off."""
        if (self.counts is None) == (self.proportions is None):
            yield Fault((), "give either counts or proportions")
            return
        variable = schema[self.of]
        if not self._printed:
            yield Fault((self._form,), "no figure is listed")
        complete = set(self._printed) >= set(variable.levels)
        cells = (((self._form, value), printed) for value, printed in self._printed.items())
        yield from share_faults(cells, self._form, complete, schema.records)

    def figures(self, schema: Schema) -> tuple[Figure, ...]:
        """One per listed value."""
        return tuple(Figure(f"{self.of}={v}", printed) for v, printed in self._printed.items())

    def lower(self, schema: Schema) -> Plan:
        """One one-way table."""
        cells: dict[Key, Printed] = {(value,): printed for value, printed in self._printed.items()}
        low, high, order = bounds([self.of], cells, self._form, schema)
        return Plan(tables=(CellTable((schema.index[self.of],), low, high, order),))

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Count with a pandas group-by."""
        keys = [(value,) for value in self._printed]
        return count_records(frame, counts, [self.of], keys, self._form, schema)
