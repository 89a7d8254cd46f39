"""How many records have each value of one variable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import numpy as np
from pydantic import BeforeValidator, Field

from evosynth.classes import any_level
from evosynth.counting import (
    TOTAL,
    Counted,
    Entry,
    Layout,
    as_list,
    count_bounds,
    count_by,
    count_sum_faults,
    population,
    share_sum_faults,
    valid,
)
from evosynth.errors import Fault
from evosynth.objective import Figure, Mention, Place, Plan, Text
from evosynth.reading import read_list
from evosynth.schema import MISSING, FloatArray, IntArray, Schema

if TYPE_CHECKING:
    import pandas as pd

Form = Literal["counts", "proportions", "percentages", "valid_percentages"]
FORMS: tuple[Form, ...] = get_args(Form)
VALID = "valid"


class Frequencies(Counted):
    """Counts or shares of one variable; values that are not listed are not constrained.

    Besides values, ``missing``, ``valid`` and ``total`` may be listed. Proportions and percentages
    are of all records, valid percentages of those with a valid value.
    """

    kind: Literal["frequencies"]
    of: str = Field(description="the variable")
    counts: dict[str, Text] | None = Field(None, description="value: number of records")
    proportions: dict[str, Text] | None = Field(None, description="value: share of all records")
    percentages: dict[str, Text] | None = Field(None, description="the same in per cent")
    valid_percentages: dict[str, Text] | None = Field(
        None, description="per cent of the records whose value is not missing"
    )
    shows: Annotated[tuple[Form, ...], BeforeValidator(as_list)] = Field(
        ("counts",), description="what the columns of `table` or `file` are"
    )

    def _read(self, schema: Schema) -> tuple[list[Entry], list[Fault]]:
        """Every published figure, and what is wrong with them."""
        variable = schema[self.of]
        known = {*variable.levels, VALID, TOTAL, MISSING}
        texts = []
        faults = []
        for form in FORMS:
            for value, text in (getattr(self, form) or {}).items():
                if value not in known or (value == MISSING and not variable.missing):
                    hint = variable.hint(value)
                    message = f"{self.of!r} has no value {value!r}{hint}"
                    faults.append(Fault((form, value), message))
                else:
                    texts.append((value, form, text, (form, value)))
        pasted = self.pasted()
        if pasted is not None:
            where, table = pasted
            found, wrong = read_list(table, variable, self.shows)
            texts += [(value, form, text, (where, line)) for value, form, text, line in found]
            faults += [Fault((where, *fault.path), fault.message) for fault in wrong]
        entries = []
        for value, form, text, path in texts:
            try:
                read = self.count(text) if form == "counts" else self.share(text, _scale(form))
                entries.append(Entry((value,), form, read, path))
            except ValueError as error:
                faults.append(Fault(path, str(error)))
        return entries, faults

    def mentions(self) -> Iterator[Mention]:
        """Name the variable."""
        yield Mention(("of",), self.of)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Unknown values, numbers that cannot be, sums that are off."""
        entries, faults = self._read(schema)
        yield from faults
        if faults:
            return
        if not entries:
            yield Fault((), f"no figure is listed; give one of {', '.join(FORMS)}, table and file")
            return
        variable = schema[self.of]
        records = schema.records
        for form in FORMS:
            shown = {e.key[0]: e for e in entries if e.form == form}
            members = [e for value, e in shown.items() if value in variable.levels]
            if form == "counts":
                if members:
                    complete = len(members) == variable.size and self.where is None
                    yield from count_sum_faults(members, records, complete)
                continue
            total = records if form != "valid_percentages" or not variable.missing else None
            if self.where is not None:
                total = None
            texts = variable.texts[: variable.valid if form == "valid_percentages" else None]
            complete = all(text in shown for text in texts)
            yield from share_sum_faults(members, _scale(form), total, complete)

    def figures(self, schema: Schema) -> tuple[Figure, ...]:
        """One per listed value and form."""
        entries, _ = self._read(schema)
        several = len({entry.form for entry in entries}) > 1
        return tuple(
            Figure(
                f"{entry.form.replace('_', ' ')}: {self.of}={entry.key[0]}"
                if several
                else f"{self.of}={entry.key[0]}",
                entry.published,
            )
            for entry in entries
        )

    def _groups(self, value: str, schema: Schema) -> tuple[IntArray, int]:
        """Levels in groups, and the group that a listed value is."""
        variable = schema[self.of]
        if value == TOTAL:
            return np.zeros(variable.size, dtype=np.int64), 0
        if value == VALID:
            return any_level(variable), 0
        if value == MISSING and not variable.blank:
            return -1 - any_level(variable), 0
        return np.arange(variable.size), variable.levels[value]

    def lower(self, schema: Schema) -> Plan:
        """One one-way table, and tables of what shares are shares of."""
        layout = Layout(schema, self.condition)
        entries, _ = self._read(schema)

        def place(value: str) -> Place:
            groups, cell = self._groups(value, schema)
            return layout.place({self.of: groups}, [cell])

        counted = [(place(entry.key[0]),) for entry in entries]
        for entry in entries:
            if entry.form == "counts":
                low, high = count_bounds(entry.published, schema.records)
                layout.bound(place(entry.key[0]), low, high)
        for form in FORMS[1:]:
            members = [entry for entry in entries if entry.form == form]
            if members:
                of = place(VALID if form == "valid_percentages" else TOTAL)
                cells = [(place(m.key[0]), m.published) for m in members]
                layout.share(of, cells, _scale(form), complete=False)
        return layout.plan(counted)

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Count with a pandas group-by."""
        people, weights = population(frame, counts, [], self.condition, schema)
        variable = schema[self.of]
        table = count_by(people, weights, [self.of])
        everyone = float(weights.sum())
        known = float(weights[valid(people, self.of, schema)].sum())
        special = {TOTAL: everyone, VALID: known, MISSING: everyone - known}

        def count(value: str) -> float:
            if value in special:
                return special[value]
            return table.get((variable.values[variable.levels[value]],), 0.0)

        found: list[Any] = []
        for entry in self._read(schema)[0]:
            value = count(entry.key[0])
            of = 1.0
            if entry.form != "counts":
                of = known if entry.form == "valid_percentages" else everyone
            found.append(_scale(entry.form) * value / of if of else np.nan)
        return np.array(found)


def _scale(form: str) -> float:
    return 100.0 if form.endswith("percentages") else 1.0
