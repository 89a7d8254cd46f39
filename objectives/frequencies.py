"""How many records have each value of one variable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

import numpy as np
from pydantic import BeforeValidator, Field

from evosynth.analysis import Analysis, Cell, Counting, Group
from evosynth.classes import any_level, classify
from evosynth.counting import (
    Layout,
    count_bounds,
    count_by,
    count_sum_faults,
    population,
    share_sum_faults,
    valid,
)
from evosynth.errors import Fault, shown
from evosynth.objective import Figure, Mention, Place, Plan, Text
from evosynth.reading import VALID, read_list
from evosynth.schema import MISSING, FloatArray, IntArray, Schema
from evosynth.weighted import WeightedCells, record_weights
from evosynth.written import TOTAL, Counted, Entry, Read, Written, as_list, per_schema, scale_of

if TYPE_CHECKING:
    import pandas as pd

Form = Literal["counts", "proportions", "percentages", "valid_percentages"]
FORMS: tuple[Form, ...] = get_args(Form)


class Frequencies(Counted):
    """Counts or shares of one variable; values that are not listed are not constrained.

    Besides values, ``missing``, ``valid`` and ``total`` may be listed. Proportions and percentages
    are of all records, valid percentages of those with a valid value.
    """

    weightable: ClassVar[bool] = True

    kind: Literal["frequencies"]
    of: str = Field(description="the variable")
    counts: dict[str, Text] | None = Field(None, description="value: number of records")
    proportions: dict[str, Text] | None = Field(None, description="value: share of all records")
    percentages: dict[str, Text] | None = Field(None, description="the same in per cent")
    valid_percentages: dict[str, Text] | None = Field(
        None, description="per cent of the records whose value is not missing"
    )
    shows: Annotated[tuple[Form, ...], BeforeValidator(as_list)] = Field(
        (),
        description="what the columns of `table` or `file` are, if their header does not tell",
        json_schema_extra={"type": ["string", "array"]},
    )

    @per_schema
    def _read(self, schema: Schema) -> Read[Entry]:
        """Read every published figure."""
        variable = schema[self.of]
        known = {*variable.levels, VALID, TOTAL} | ({MISSING} if variable.missing else set())
        texts = []
        faults = []
        for form in FORMS:
            for value, text in (getattr(self, form) or {}).items():
                if value in known:
                    texts.append(Written((value,), form, text, (form, value)))
                else:
                    hint = variable.hint(value)
                    message = f"{self.of!r} has no value {shown(value)!r}{hint}"
                    faults.append(Fault((form, value), message))
        cells, wrong = self.read_table(
            lambda table, where: read_list(table, where, variable, self.shows)
        )
        none = {*variable.texts[variable.valid :], MISSING}
        for cell in [*texts, *cells]:
            if cell.form == "valid_percentages" and cell.key[0] in none:
                faults.append(Fault(cell.path, "a missing value has no valid percentage"))
        entries, unreadable = self.publish([*texts, *cells], FORMS)
        return entries, [*faults, *wrong, *unreadable]

    def mentions(self) -> Iterator[Mention]:
        """Name the variable."""
        yield Mention(("of",), self.of)

    def _faults(self, schema: Schema) -> Iterator[Fault]:
        entries, faults = self._read(schema)
        yield from faults
        if not faults and not entries:
            yield Fault((), f"no figure is listed; give one of {', '.join(FORMS)}, table and file")
        if faults or not entries:
            return
        for form in FORMS:
            members, complete = self._values(form, schema)
            if form == "counts":
                if not self.weighted:
                    yield from count_sum_faults(
                        members, schema.records, complete and self.where is None
                    )
                continue
            everyone = form != "valid_percentages" or not schema[self.of].missing
            known = everyone and self.where is None and not self.weighted
            total = schema.records if known else None
            yield from share_sum_faults(members, total, complete)

    def _values(self, form: str, schema: Schema) -> tuple[list[Entry], bool]:
        """Figures of single values, and whether they are of all that make up the whole."""
        variable = schema[self.of]
        entries = [e for e in self._read(schema)[0] if e.form == form]
        members = [e for e in entries if e.key[0] in variable.levels]
        size = variable.valid if form == "valid_percentages" else variable.size
        return members, len(members) == size

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
        """Lay out one one-way table, and tables of what shares are shares of."""
        if self.weighted:
            return Plan(smooth=(self._weighted(schema),))
        layout = Layout(schema, self.condition)
        entries, _ = self._read(schema)

        def place(value: str) -> Place:
            groups, cell = self._groups(value, schema)
            return layout.place({self.of: groups}, [cell])

        counted = [(place(entry.key[0]),) for entry in entries]
        for entry, (cell,) in zip(entries, counted, strict=True):
            if entry.form == "counts":
                layout.bound(cell, *count_bounds(entry.published, schema.records))
        for form in FORMS[1:]:
            whole = VALID if form == "valid_percentages" else TOTAL
            members, complete = self._values(form, schema)
            others = [e for e in entries if e.form == form and e not in members]
            for parts, all_of_it in ((members, complete), (others, False)):
                cells = [(place(e.key[0]), e.published) for e in parts if e.key[0] != whole]
                if cells:
                    layout.share(place(whole), cells, scale_of(form), all_of_it)
        return layout.plan(counted)

    def _weighted(self, schema: Schema) -> WeightedCells:
        """Sum weights by value."""
        variable = schema[self.of]
        classes = classify(schema, {self.of: np.arange(variable.size)}, self.condition)
        entries, _ = self._read(schema)

        def cells(value: str) -> FloatArray:
            groups, cell = self._groups(value, schema)
            return np.asarray(groups == cell, dtype=np.float64)

        whole = {"counts": np.zeros(variable.size), "valid_percentages": cells(VALID)}
        return WeightedCells(
            classes,
            schema,
            self.figures(schema),
            np.array([cells(entry.key[0]) for entry in entries]),
            np.array([whole.get(entry.form, cells(TOTAL)) for entry in entries]),
            np.array([1.0 if e.form == "counts" else scale_of(e.form) for e in entries]),
        )

    def analysis(self, schema: Schema) -> Analysis:
        """Tell counts of one variable, and their shares of all or of the valid ones."""
        cells = []
        for entry in self._read(schema)[0]:
            value = entry.key[0]
            group: Group = () if value == TOTAL else ((self.of, value),)
            whole: Group | None = None
            if entry.form != "counts":
                whole = ((self.of, VALID),) if entry.form == "valid_percentages" else ()
            scale = 1.0 if whole is None else scale_of(entry.form)
            cells.append(Cell(group, whole, scale))
        weight = schema.weight if self.weighted else None
        return Counting((self.of,), False, tuple(cells), weight)

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Count with a pandas group-by."""
        people, weights = population(frame, counts, [], self.condition, schema)
        if self.weighted:
            weights = record_weights(people, weights, schema)
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
            scale = 1.0 if entry.form == "counts" else scale_of(entry.form)
            found.append(scale * value / of if of else np.nan)
        return np.array(found)
