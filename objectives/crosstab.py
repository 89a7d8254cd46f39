"""Cross-tabulation of two or more variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import numpy as np
from pydantic import BeforeValidator, Field

from evosynth.classes import all_levels, any_level
from evosynth.counting import (
    MAX_CELLS,
    TOTAL,
    Cells,
    Counted,
    Entry,
    Key,
    Layout,
    as_list,
    count_bounds,
    count_by,
    count_sum_faults,
    population,
    share_sum_faults,
    unfold,
)
from evosynth.errors import Fault, Path
from evosynth.objective import Figure, Mention, Place, Plan
from evosynth.reading import read_cells
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd

Form = Literal[
    "counts",
    "proportions",
    "percentages",
    "row_proportions",
    "row_percentages",
    "column_proportions",
    "column_percentages",
]
FORMS: tuple[Form, ...] = get_args(Form)


class Crosstab(Counted):
    """Counts and shares by the values of two or more variables.

    ``rows`` may name several variables; their values then nest: ``counts: {a: {b: [1, 2]}}``.
    The innermost list follows the order of the column variable's values, and may end with their
    total; a mapping may hold the key ``total``. Row percentages are shares of the total of a row.
    """

    kind: Literal["crosstab"]
    rows: Annotated[tuple[str, ...], BeforeValidator(as_list)] = Field(
        description="the row variable, or several, nested",
        json_schema_extra={"type": ["string", "array"]},
    )
    columns: str = Field(description="the column variable")
    counts: Cells | None = Field(None, description="number of records in each cell")
    proportions: Cells | None = Field(None, description="share of all records in each cell")
    percentages: Cells | None = Field(None, description="the same in per cent")
    row_proportions: Cells | None = Field(None, description="share of the records of its row")
    row_percentages: Cells | None = Field(None, description="the same in per cent")
    column_proportions: Cells | None = Field(None, description="share of the records of its column")
    column_percentages: Cells | None = Field(None, description="the same in per cent")
    shows: Annotated[tuple[Form, ...], BeforeValidator(as_list)] = Field(
        ("counts",), description="what the cells of `table` or `file` are; two for 12 (3.4)"
    )

    @property
    def _names(self) -> list[str]:
        return [*self.rows, self.columns]

    def _read(self, schema: Schema) -> tuple[list[Entry], list[Fault]]:
        """Every published cell, and what is wrong with them."""
        texts: list[tuple[Key, Form, str, Path]] = []
        faults: list[Fault] = []
        for form in FORMS:
            tree = getattr(self, form)
            if tree is not None:
                partial = form != "counts"
                cells, wrong = unfold(tree, self._names, schema, (form,), partial)
                texts += [(key, form, text, path) for key, text, path in cells]
                faults += wrong
        pasted = self.pasted()
        if pasted is not None:
            where, table = pasted
            found, wrong = read_cells(table, self.rows, self.columns, schema, self.shows)
            texts += [(key, form, text, (where, line)) for key, form, text, line in found]
            faults += [Fault((where, *fault.path), fault.message) for fault in wrong]
        entries = []
        for key, form, text, path in texts:
            try:
                entries.append(Entry(key, form, self._cell(form, text), path))
            except ValueError as error:
                faults.append(Fault(path, str(error)))
        order = {
            name: {text: i for i, text in enumerate(schema[name].texts)} for name in self._names
        }
        entries.sort(
            key=lambda e: (
                FORMS.index(e.form),
                [order[n].get(v, len(order[n])) for n, v in zip(self._names, e.key, strict=True)],
            )
        )
        return entries, faults

    def _cell(self, form: Form, text: str) -> Any:
        if form == "counts":
            return self.count(text)
        return self.share(text, _scale(form))

    def mentions(self) -> Iterator[Mention]:
        """Name the row variables and the column variable."""
        for name in self.rows:
            yield Mention(("rows",), name)
        yield Mention(("columns",), self.columns)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Unknown values, missing cells, numbers that cannot be, sums that are off."""
        given = [form for form in FORMS if getattr(self, form) is not None]
        if not given and self.table is None and self.file is None:
            yield Fault((), f"give the cells: one of {', '.join(FORMS)}, table and file")
            return
        if not self.rows:
            yield Fault(("rows",), "name at least one row variable")
        wrong = list(self._shape_faults(schema))
        yield from wrong
        if wrong:
            return
        entries, faults = self._read(schema)
        yield from faults
        if not faults:
            yield from self._sum_faults(entries, schema)

    def _shape_faults(self, schema: Schema) -> Iterator[Fault]:
        for name in sorted({name for name in self.rows if self.rows.count(name) > 1}):
            yield Fault(("rows",), f"{name!r} is named twice")
        if self.columns in self.rows:
            yield Fault(("columns",), f"{self.columns!r} is named twice")
        if np.prod([schema[name].size for name in self._names], dtype=float) > MAX_CELLS:
            yield Fault((), f"the table would have more than {MAX_CELLS:,} cells")

    def _sum_faults(self, entries: list[Entry], schema: Schema) -> Iterator[Fault]:
        """Counts beyond the number of records, and sums that are not what they are part of."""
        records = schema.records
        sums: dict[tuple[str, Key], list[Entry]] = {}
        known = {e.key: count_bounds(e.published, records) for e in entries if e.form == "counts"}
        everyone = self.where is None and not any(schema[name].missing for name in self._names)
        for entry in entries:
            if entry.form == "counts" and count_bounds(entry.published, records)[0] > records:
                message = f"{entry.published} is more than all {records} records"
                yield Fault(entry.path, message, clash=True)
            of = _denominator(entry.key, entry.form)
            if not _has_total(entry.key, entry.form):
                sums.setdefault((entry.form, of), []).append(entry)
        for (form, of), members in sums.items():
            whole = known.get(of)
            if whole is None and everyone and set(of) == {TOTAL}:
                whole = records, records
            if form == "counts":
                if everyone:
                    yield from count_sum_faults(members, records)
            else:
                total = whole[0] if whole is not None and whole[0] == whole[1] else None
                yield from share_sum_faults(members, _scale(form), total)

    def figures(self, schema: Schema) -> tuple[Figure, ...]:
        """One per cell and form, row by row."""
        several = len({e.form for e in self._read(schema)[0]}) > 1
        return tuple(
            Figure(self._label(entry, several), entry.published) for entry in self._read(schema)[0]
        )

    def _label(self, entry: Entry, several: bool) -> str:
        where = ", ".join(
            f"{name}={value}" for name, value in zip(self._names, entry.key, strict=True)
        )
        return f"{entry.form.replace('_', ' ')}: {where}" if several else where

    def lower(self, schema: Schema) -> Plan:
        """One table of all the variables, and one for each kind of total."""
        layout = Layout(schema, self.condition)
        entries, _ = self._read(schema)
        counted: list[tuple[Place, ...]] = []
        shares: dict[tuple[str, Key], list[Entry]] = {}
        for entry in entries:
            place = self._place(layout, entry.key, schema)
            counted.append((place,))
            if entry.form == "counts":
                layout.bound(place, *count_bounds(entry.published, schema.records))
            else:
                shares.setdefault((entry.form, _denominator(entry.key, entry.form)), []).append(
                    entry
                )
        for (form, of), members in shares.items():
            cells = [(self._place(layout, m.key, schema), m.published) for m in members]
            inner = [m for m in members if not _has_total(m.key, m.form)]
            layout.share(
                self._place(layout, of, schema), cells, _scale(form), len(inner) == len(cells)
            )
        return layout.plan(counted)

    def _place(self, layout: Layout, key: Key, schema: Schema) -> Place:
        groups, cell = {}, []
        for name, value in zip(self._names, key, strict=True):
            variable = schema[name]
            groups[name] = any_level(variable) if value == TOTAL else all_levels(variable)
            cell.append(0 if value == TOTAL else variable.levels[value])
        return layout.place(groups, cell)

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Count with pandas group-bys."""
        people, weights = population(frame, counts, self._names, self.condition, schema)
        tables: dict[Key, dict[tuple[Any, ...], float]] = {}

        def count(key: Key) -> float:
            names = tuple(n for n, v in zip(self._names, key, strict=True) if v != TOTAL)
            if names not in tables:
                tables[names] = count_by(people, weights, names)
            values = [
                schema[n].values[schema[n].levels[v]]
                for n, v in zip(self._names, key, strict=True)
                if v != TOTAL
            ]
            return tables[names].get(tuple(values), 0.0)

        found = []
        for entry in self._read(schema)[0]:
            value = count(entry.key)
            if entry.form != "counts":
                of = count(_denominator(entry.key, entry.form))
                value = _scale(entry.form) * value / of if of else np.nan
            found.append(value)
        return np.array(found)


def _scale(form: str) -> float:
    return 100.0 if form.endswith("percentages") else 1.0


def _denominator(key: Key, form: str) -> Key:
    """What a cell is a share of: its row, its column or the whole table."""
    if form.startswith("row"):
        return (*key[:-1], TOTAL)
    if form.startswith("column"):
        return (*[TOTAL] * (len(key) - 1), key[-1])
    return (TOTAL,) * len(key)


def _has_total(key: Key, form: str) -> bool:
    """Whether a cell is a total among those that make up the same whole."""
    if form.startswith("row"):
        return key[-1] == TOTAL
    if form.startswith("column"):
        return TOTAL in key[:-1]
    return TOTAL in key
