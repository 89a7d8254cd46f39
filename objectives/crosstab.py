"""Cross-tabulation of two or more variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

import numpy as np
from pydantic import BeforeValidator, Field

from evosynth.analysis import Analysis, Cell, Counting, Group
from evosynth.classes import all_levels, any_level, classify
from evosynth.counting import (
    MAX_CELLS,
    Layout,
    count_bounds,
    count_by,
    count_sum_faults,
    population,
    share_sum_faults,
)
from evosynth.errors import Fault
from evosynth.objective import Figure, Mention, Place, Plan
from evosynth.reading import label_columns, read_cells
from evosynth.schema import FloatArray, Schema
from evosynth.weighted import WeightedCells, record_weights
from evosynth.written import (
    TOTAL,
    Cells,
    Counted,
    Entry,
    Key,
    Names,
    Read,
    Written,
    as_list,
    per_schema,
    scale_of,
    unfold,
)

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
    total; a mapping may hold the key ``total``. Counts list every value; shares, a table and a
    file may list only some, and constrain only those.
    """

    weightable: ClassVar[bool] = True

    kind: Literal["crosstab"]
    rows: Names = Field(description="the row variable, or several, nested")
    columns: str = Field(description="the column variable")
    counts: Cells | None = Field(None, description="number of records in each cell")
    proportions: Cells | None = Field(None, description="share of all records in each cell")
    percentages: Cells | None = Field(None, description="the same in per cent")
    row_proportions: Cells | None = Field(None, description="share of the records of its row")
    row_percentages: Cells | None = Field(None, description="the same in per cent")
    column_proportions: Cells | None = Field(None, description="share of the records of its column")
    column_percentages: Cells | None = Field(None, description="the same in per cent")
    shows: Annotated[tuple[Form, ...], BeforeValidator(as_list)] = Field(
        (),
        description="what the cells of `table` or `file` are, if not counts; two for 12 (3.4)",
        json_schema_extra={"type": ["string", "array"]},
    )

    @property
    def _names(self) -> list[str]:
        return [*self.rows, self.columns]

    @per_schema
    def _read(self, schema: Schema) -> Read[Entry]:
        """Read every published cell, row by row."""
        texts: list[Written] = []
        faults: list[Fault] = []
        for form in FORMS:
            if getattr(self, form) is not None:
                tree, partial = getattr(self, form), form != "counts"
                cells, wrong = unfold(tree, self._names, schema, form, self.condition, partial)
                texts += cells
                faults += wrong
        cells, wrong = self.read_table(
            lambda table, where: read_cells(
                table, where, self.rows, self.columns, schema, self.shows
            ),
            lambda table: label_columns(table, self._names, schema),
        )
        entries, unreadable = self.publish([*texts, *cells], FORMS)
        levels = [{**schema[name].levels, TOTAL: schema[name].size} for name in self._names]
        forms: dict[str, int] = {form: position for position, form in enumerate(FORMS)}
        entries.sort(key=lambda e: (forms[e.form], *map(dict.__getitem__, levels, e.key)))
        return entries, [*faults, *wrong, *unreadable]

    def mentions(self) -> Iterator[Mention]:
        """Name the row variables and the column variable."""
        for name in self.rows:
            yield Mention(("rows",), name)
        yield Mention(("columns",), self.columns)

    def _faults(self, schema: Schema) -> Iterator[Fault]:
        given = [form for form in FORMS if getattr(self, form) is not None]
        if not given and self.table is None and self.file is None:
            yield Fault((), f"give the cells: one of {', '.join(FORMS)}, table and file")
            return
        wrong = list(self._shape_faults(schema))
        yield from wrong
        if wrong:
            return
        entries, faults = self._read(schema)
        yield from faults
        if not faults:
            yield from self._sum_faults(entries, schema)

    def _shape_faults(self, schema: Schema) -> Iterator[Fault]:
        if not self.rows:
            yield Fault(("rows",), "name at least one row variable")
        for name in sorted({name for name in self.rows if self.rows.count(name) > 1}):
            yield Fault(("rows",), f"{name!r} is named twice")
        if self.columns in self.rows:
            yield Fault(("columns",), f"{self.columns!r} is named twice")
        if np.prod([schema[name].size for name in self._names], dtype=float) > MAX_CELLS:
            yield Fault((), f"the table would have more than {MAX_CELLS:,} cells")

    def _wholes(
        self, entries: list[Entry], schema: Schema
    ) -> Iterator[tuple[Key, list[Entry], bool]]:
        """Group cells that are parts of the same whole; say if they make it up together."""
        found: dict[tuple[str, Key, tuple[bool, ...]], list[Entry]] = {}
        for entry in entries:
            totals = tuple([value == TOTAL for value in entry.key])
            whole = _denominator(entry.key, entry.form)
            found.setdefault((entry.form, whole, totals), []).append(entry)
        for (_, whole, totals), members in found.items():
            parts = [
                schema[name].valid
                for name, value, total in zip(self._names, whole, totals, strict=True)
                if value == TOTAL and not total
            ]
            yield whole, members, len(members) == np.prod(parts, dtype=np.int64)

    def _sum_faults(self, entries: list[Entry], schema: Schema) -> Iterator[Fault]:
        """Find sums that are not what they should be."""
        records = schema.records
        if self.weighted:
            shares = [entry for entry in entries if entry.form != "counts"]
            for whole, members, complete in self._wholes(shares, schema):
                of = f" of {self._where(whole)}" if set(whole) != {TOTAL} else ""
                yield from share_sum_faults(members, None, complete, of)
            return
        known = {e.key: count_bounds(e.published, records) for e in entries if e.form == "counts"}
        if self.where is None and not any(schema[name].missing for name in self._names):
            known[(TOTAL,) * len(self._names)] = records, records
        for whole, members, complete in self._wholes(entries, schema):
            low, high = known.get(whole, (0, records))
            if members[0].form == "counts":
                yield from count_sum_faults(members, records, complete and low == records)
            else:
                of = f" of {self._where(whole)}" if set(whole) != {TOTAL} else ""
                yield from share_sum_faults(members, low if low == high else None, complete, of)

    def _where(self, key: Key) -> str:
        named = zip(self._names, key, strict=True)
        return ", ".join(f"{name}={value}" for name, value in named if value != TOTAL)

    def figures(self, schema: Schema) -> tuple[Figure, ...]:
        """One per cell and form, row by row."""
        entries, _ = self._read(schema)
        several = len({entry.form for entry in entries}) > 1
        return tuple(Figure(self._label(entry, several), entry.published) for entry in entries)

    def _label(self, entry: Entry, several: bool) -> str:
        named = zip(self._names, entry.key, strict=True)
        where = ", ".join(f"{name}={value}" for name, value in named)
        return f"{entry.form.replace('_', ' ')}: {where}" if several else where

    def lower(self, schema: Schema) -> Plan:
        """Lay out one table of all the variables, and one for each kind of total."""
        if self.weighted:
            return Plan(smooth=(self._weighted(schema),))
        layout = Layout(schema, self.condition)
        entries, _ = self._read(schema)
        tables: dict[tuple[bool, ...], tuple[int, list[dict[str, int]]]] = {}

        def place(key: Key) -> Place:
            totals = tuple([value == TOTAL for value in key])
            if totals not in tables:
                grouped = zip([schema[name] for name in self._names], totals, strict=True)
                groups = {v.name: any_level(v) if t else all_levels(v) for v, t in grouped}
                table = layout.table(groups)
                strides = layout.classes[table].grid.strides[: len(key)]
                steps = [
                    {TOTAL: 0} if total else {v: n * stride for v, n in schema[name].levels.items()}
                    for name, total, stride in zip(self._names, totals, strides, strict=True)
                ]
                tables[totals] = table, steps
            table, steps = tables[totals]
            return table, sum(map(dict.__getitem__, steps, key))

        counted = [(place(entry.key),) for entry in entries]
        ends = {
            cell: count_bounds(entry.published, schema.records)
            for entry, (cell,) in zip(entries, counted, strict=True)
            if entry.form == "counts"
        }
        layout.bound_all(ends)
        shares = [entry for entry in entries if entry.form != "counts"]
        for whole, members, complete in self._wholes(shares, schema):
            if members[0].key != whole:
                cells = [(place(m.key), m.published) for m in members]
                layout.share(place(whole), cells, scale_of(members[0].form), complete)
        return layout.plan(counted)

    def _weighted(self, schema: Schema) -> WeightedCells:
        """Sum weights by cell."""
        groups = {name: all_levels(schema[name]) for name in self._names}
        classes = classify(schema, groups, self.condition)
        entries, _ = self._read(schema)
        shape = classes.counted

        def cells(key: Key) -> FloatArray:
            found = np.zeros(shape)
            at = [
                slice(None) if value == TOTAL else schema[name].levels[value]
                for name, value in zip(self._names, key, strict=True)
            ]
            found[tuple(at)] = 1.0
            return found.ravel()

        def whole(entry: Entry) -> FloatArray:
            if entry.form == "counts":
                return np.zeros(int(np.prod(shape)))
            return cells(_denominator(entry.key, entry.form))

        return WeightedCells(
            classes,
            schema,
            self.figures(schema),
            np.array([cells(entry.key) for entry in entries]),
            np.array([whole(entry) for entry in entries]),
            np.array([1.0 if e.form == "counts" else scale_of(e.form) for e in entries]),
        )

    def analysis(self, schema: Schema) -> Analysis:
        """Tell counts of cells and totals, and their shares."""

        def group(key: Key) -> Group:
            named = zip(self._names, key, strict=True)
            return tuple((name, value) for name, value in named if value != TOTAL)

        cells = [
            Cell(group(entry.key))
            if entry.form == "counts"
            else Cell(
                group(entry.key), group(_denominator(entry.key, entry.form)), scale_of(entry.form)
            )
            for entry in self._read(schema)[0]
        ]
        weight = schema.weight if self.weighted else None
        return Counting(tuple(self._names), True, tuple(cells), weight)

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Count with pandas group-bys."""
        people, weights = population(frame, counts, self._names, self.condition, schema)
        if self.weighted:
            weights = record_weights(people, weights, schema)
        tables: dict[Key, dict[tuple[Any, ...], float]] = {}
        values = {n: dict(zip(schema[n].texts, schema[n].values, strict=True)) for n in self._names}

        def count(key: Key) -> float:
            named = [(n, v) for n, v in zip(self._names, key, strict=True) if v != TOTAL]
            names = tuple(name for name, _ in named)
            if names not in tables:
                tables[names] = count_by(people, weights, names)
            return tables[names].get(tuple(values[name][value] for name, value in named), 0.0)

        found = []
        for entry in self._read(schema)[0]:
            value = count(entry.key)
            if entry.form != "counts":
                whole = count(_denominator(entry.key, entry.form))
                value = scale_of(entry.form) * value / whole if whole else np.nan
            found.append(value)
        return np.array(found)


def _denominator(key: Key, form: str) -> Key:
    """Find what a cell is a share of: its row, its column or the whole table."""
    if form.startswith("row"):
        return (*key[:-1], TOTAL)
    if form.startswith("column"):
        return (*[TOTAL] * (len(key) - 1), key[-1])
    return (TOTAL,) * len(key)
