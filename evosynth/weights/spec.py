"""The weights of a spec: what may be said of them, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from evosynth.errors import Fault, Path, shown, suggest
from evosynth.objective import CellTable, Plan, Text
from evosynth.printed import Printed
from evosynth.schema import IntArray, Schema, Variable
from evosynth.weights import conflicts
from evosynth.weights.calibrate import Settings
from evosynth.weights.design import Sampling
from evosynth.weights.distance import Method
from evosynth.weights.totals import MISSING, Cell, Margin, from_csv, inline, scaled, text_of
from evosynth.written import read_beside

_WHERE: Path = ("weights",)
_AFTERWARDS = {"method", "design", "bounds", "trim", "scale", "round"}
"""What calibration alone asks for."""


def _one_or_two(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("expected two numbers, [smallest, largest]")
    return ["inf" if end == ".inf" else end for end in value]


def _design(value: Any) -> Any:
    return {"weight": value} if isinstance(value, str) else value


Pair = Annotated[tuple[float, float], BeforeValidator(_one_or_two)]
TwoPrinted = Annotated[tuple[Printed, Printed], BeforeValidator(_one_or_two)]


class DesignSpec(BaseModel):
    """How the sample was drawn."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weight: str | None = Field(None, description="variable that holds design weights")
    strata: str | None = Field(None, description="variable of the strata")
    sizes: dict[str, float] | None = Field(None, description="stratum: its population")
    proportional_to: str | None = Field(
        None, description="quantity that the probability of a record is proportional to"
    )


class WeightsSpec(BaseModel):
    """A weight for every record, under which totals are as given."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field("WEIGHT", description="name of the column")
    label: Text = Field("Weight", description="its label")
    method: Method = Field("raking", description="how weights are changed to reach the totals")
    totals: Annotated[Any, WithJsonSchema({"type": ["object", "array", "string"]})] = Field(
        None, description="variable: {value: total}, or CSV files beside the spec"
    )
    population: Annotated[float, Field(gt=0)] | None = Field(
        None, description="size of the population, which totals of categories are scaled to"
    )
    design: (
        Annotated[
            DesignSpec, BeforeValidator(_design), WithJsonSchema({"type": ["object", "string"]})
        ]
        | None
    ) = Field(None, description="how the sample was drawn, or the variable of design weights")
    bounds: Pair | None = Field(None, description="smallest and largest ratio to design weights")
    trim: Pair | None = Field(None, description="smallest and largest weight, in mean weights")
    scale: Literal["population", "sample"] = Field(
        "population", description="sample: weights sum to the number of records"
    )
    round: Annotated[int, Field(ge=0, le=9)] | None = Field(None, description="decimals")
    weighted: bool = Field(
        False, description="whether outputs are weighted unless they say weighted: false"
    )
    range: TwoPrinted | None = Field(
        None,
        description="smallest and largest weight, as printed, where outputs are weighted",
    )


@dataclass(frozen=True)
class Weighting:
    """The weights of a sound spec."""

    name: str
    label: str
    settings: Settings
    margins: tuple[Margin, ...]
    weighted: bool
    """Whether published outputs are weighted, so that the search must know the weights."""

    @property
    def mode(self) -> str:
        """Return ``"b"`` where published outputs are weighted, else ``"a"``."""
        return "b" if self.weighted else "a"

    @property
    def about(self) -> str:
        """Say which mode it is in."""
        if self.weighted:
            return (
                f"Weights, mode (b): published outputs are weighted by {self.name}; the search "
                "draws the weights with the data, and no calibration changes them afterwards."
            )
        return (
            f"Weights, mode (a): published outputs are unweighted; {self.name} is calibrated to "
            f"the totals afterwards ({self.settings.method}) and changes no figure."
        )

    @property
    def placeholder(self) -> Variable:
        """The column before its values are known."""
        values, share = np.array([0.0, 1.0]), np.full(2, 0.5)
        return Variable(self.name, self.label, values, None, share, decimals=6)


def read(spec: WeightsSpec, schema: Schema, folder: FilePath, faults: list[Fault]) -> list[Margin]:
    """Read the totals, inline or from files beside the spec."""
    levels = {variable.name: variable.texts for variable in schema.shown}
    parts = spec.totals if isinstance(spec.totals, list) else [spec.totals]
    found: list[Margin] = []
    for position, part in enumerate(parts):
        path: Path = (*_WHERE, "totals", position) if len(parts) > 1 else (*_WHERE, "totals")
        if isinstance(part, str):
            try:
                margins, wrong = from_csv(read_beside(part, folder), path, shown(part))
                margins = [_coded(margin, schema, wrong) for margin in margins]
            except ValueError as error:
                margins, wrong = [], [Fault(path, str(error))]
        elif part is None:
            margins, wrong = [], [Fault(path, "nothing is given here")]
        else:
            margins, wrong = inline(part, path, levels)
        found += margins
        faults += wrong
    return found


def _coded(margin: Margin, schema: Schema, faults: list[Fault]) -> Margin:
    """Write values of a file as the spec does: labels as codes, 1.0 as 1."""
    if not set(margin.names) <= set(schema.index):
        return margin
    cells: dict[Cell, float] = {}
    for cell, total in margin.cells.items():
        own = tuple(
            _code(value, schema[name]) for name, value in zip(margin.names, cell, strict=True)
        )
        if own in cells:
            faults.append(Fault(margin.path, f"{margin.called(own)} stands there twice"))
        cells[own] = total
    return replace(margin, cells=cells)


def _code(value: str, variable: Variable) -> str:
    if value in variable.levels:
        return value
    labels = [label.casefold().strip() for label in variable.labels or ()]
    if labels.count(value.casefold()) == 1:
        return variable.texts[labels.index(value.casefold())]
    with suppress(ValueError):
        same = text_of(float(value))
        return same if same in variable.levels else value
    return value


def build(
    spec: WeightsSpec, weighted: bool, schema: Schema, folder: FilePath, faults: list[Fault]
) -> Weighting | None:
    """Check what is said of weights against the variables; ``None`` if something is wrong."""
    before = len(faults)
    faults += _name_faults(spec, schema)
    margins = []
    if spec.totals is not None or not weighted:
        margins = read(spec, schema, folder, faults)
    if len(faults) > before:
        return None
    for margin in margins:
        faults += _margin_faults(margin, schema, weighted)
    labels = [margin.label for margin in margins]
    for again in sorted({label for label in labels if labels.count(label) > 1}):
        faults.append(Fault((*_WHERE, "totals"), f"the totals of {again} are given twice"))
    if spec.population is not None:
        margins = scaled(margins, spec.population)
    sampling = Sampling()
    if spec.design is not None:
        sampling = Sampling(**spec.design.model_dump(exclude={"sizes"}), sizes=spec.design.sizes)
        faults += _design_faults(spec.design, margins, schema)
    if weighted:
        for key in sorted(spec.model_fields_set & _AFTERWARDS):
            message = "has no say where outputs are weighted: weights are drawn within range"
            faults.append(Fault((*_WHERE, key), f"{message}; leave it out"))
    settings = Settings(spec.method, spec.bounds, spec.trim, spec.scale, spec.round, None, sampling)
    if not weighted:
        for message in settings.faults():
            key, _, text = message.partition(": ")
            faults.append(Fault((*_WHERE, key), text))
    if len(faults) == before:
        faults += [Fault((*_WHERE, "totals"), text) for text in conflicts.sums(margins)]
    if len(faults) == before and not weighted and (spec.method != "linear" or spec.bounds):
        for margin in margins:
            faults += _range_faults(margin, margins, schema)
    if len(faults) > before:
        return None
    return Weighting(spec.name, spec.label, settings, tuple(margins), weighted)


def _name_faults(spec: WeightsSpec, schema: Schema) -> Iterator[Fault]:
    if not spec.name.isidentifier():
        message = "a name starts with a letter and holds letters, digits and _"
        yield Fault((*_WHERE, "name"), message)
    elif spec.name in schema.index:
        yield Fault((*_WHERE, "name"), f"{spec.name!r} is a variable already; choose another name")


def _margin_faults(margin: Margin, schema: Schema, weighted: bool) -> Iterator[Fault]:
    known = [variable.name for variable in schema.shown]
    wrong = [n for n in (*margin.names, margin.quantity) if n is not None and n not in known]
    for name in wrong:
        yield Fault(margin.path, f"unknown variable {shown(name)!r}{suggest(name, known)}")
    if wrong:
        return
    for name in margin.names:
        if schema[name].identifier is not None or schema[name].date:
            yield Fault(margin.path, f"{name!r} has no categories to give totals of")
            return
    if margin.quantity is not None:
        quantity = schema[margin.quantity]
        if quantity.values.dtype == object or quantity.identifier is not None:
            yield Fault(margin.path, f"{margin.quantity!r} holds no numbers; give value: total")
        elif quantity.missing:
            message = f"{margin.quantity!r} may be missing; a total needs a value of every record"
            yield Fault(margin.path, message)
    for cell in margin.cells:
        for name, value in zip(margin.names, cell, strict=True):
            if value not in schema[name].levels and value != MISSING:
                hint = schema[name].hint(value)
                yield Fault(margin.path, f"{name!r} has no value {shown(value)!r}{hint}")
    # Weighted tables and means leave missing values out.
    plain = weighted and (margin.quantity is not None or len(margin.names) > 1)
    for name, values in zip(margin.names, zip(*margin.cells, strict=True), strict=True):
        valid = schema[name].texts[: schema[name].valid]
        absent = [v for v in dict.fromkeys(values) if v not in valid]
        if plain and absent and set(absent) <= {*schema[name].texts, MISSING}:
            message = f"records that miss {name!r} are in no weighted table or sum"
            yield Fault(margin.path, f"{message}; leave the total of {absent[0]} out")
    if len(margin.names) == 1:
        given = {cell[0] for cell in margin.cells}
        variable = schema[margin.names[0]]
        needed = variable.texts[: variable.valid] if plain else variable.texts
        without = [text for text in needed if text not in given]
        if without:
            listed = ", ".join(without[:5]) + (", …" if len(without) > 5 else "")
            message = f"no total for {variable.name}={listed}; totals list every value"
            yield Fault(margin.path, message)


def empty(weighting: Weighting, plans: Sequence[Plan], schema: Schema) -> Iterator[Fault]:
    """Totals of categories that no record has, as published counts say."""
    tables = [table for plan in plans for table in plan.certain()]
    for margin in weighting.margins:
        if margin.quantity is not None:
            continue
        place = {schema.index[name]: i for i, name in enumerate(margin.names)}
        known = [_there(table, place) for table in tables if set(place) & set(table.grid.columns)]
        for cell, total in margin.cells.items():
            if not total or MISSING in cell:
                continue
            levels = [schema[n].levels[value] for n, value in zip(margin.names, cell, strict=True)]
            if not all(
                there[tuple(groups[levels[i]] for i, groups in axes)] for axes, there in known
            ):
                message = (
                    f"the total of {margin.called(cell)} is {total:.12g}, but published counts"
                )
                yield Fault(margin.path, f"{message} leave no record that; merge it with another")


def _there(table: CellTable, place: Mapping[int, int]) -> tuple[list[tuple[int, IntArray]], Any]:
    """Where a table may have records, by the variables that a margin has, too."""
    columns = table.grid.columns
    others = tuple(axis for axis, column in enumerate(columns) if column not in place)
    there = (table.high > 0).reshape(table.grid.shape).any(axis=others)
    pairs = zip(columns, table.grid.groups, strict=True)
    return [(place[column], groups) for column, groups in pairs if column in place], there


def _range_faults(margin: Margin, margins: list[Margin], schema: Schema) -> Iterator[Fault]:
    """Totals of a quantity that people with the smallest or largest value do not come to."""
    if margin.quantity is None:
        return
    counted = [m for m in margins if m.quantity is None]
    people = next((m.cells for m in counted if m.names == margin.names), {})
    if not margin.names and counted:
        people = {(): counted[0].sum}
    values = schema[margin.quantity].quantities
    for cell, total in margin.cells.items():
        if cell not in people:
            continue
        least, most = people[cell] * float(values.min()), people[cell] * float(values.max())
        if not least <= total <= most:
            yield Fault(
                margin.path,
                f"the total of {margin.called(cell)} is {total:.12g}, but values from "
                f"{values.min():.10g} to {values.max():.10g} of {people[cell]:.12g} people sum to "
                f"{least:.12g} to {most:.12g}",
            )


def _design_faults(spec: DesignSpec, margins: list[Margin], schema: Schema) -> Iterator[Fault]:
    path: Path = (*_WHERE, "design")
    known = [variable.name for variable in schema.shown]
    given: Mapping[str, str | None] = spec.model_dump(exclude={"sizes"})
    for key, name in given.items():
        if name is None:
            continue
        if name not in known:
            yield Fault((*path, key), f"unknown variable {shown(name)!r}{suggest(name, known)}")
        elif key != "strata":
            values = schema[name].quantities
            if schema[name].missing or not float(np.nanmin(values)) > 0:
                yield Fault((*path, key), f"{name!r} must be above 0 in every record")
    if spec.strata in known and spec.sizes is None:
        if not any(m.names == (spec.strata,) and m.quantity is None for m in margins):
            message = f"give sizes: {{stratum: population}}, or totals of {spec.strata!r}"
            yield Fault(path, message)
    if spec.strata in known:
        for stratum in spec.sizes or {}:
            if stratum not in schema[str(spec.strata)].levels:
                yield Fault((*path, "sizes", stratum), f"{spec.strata!r} has no such value")
    if not any(given.values()):
        yield Fault(path, "give weight, strata or proportional_to")
