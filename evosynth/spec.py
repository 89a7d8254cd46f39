"""The spec file: what a trainer writes, validated into frozen objects, every fault at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evosynth import contradictions, kinds
from evosynth.document import Document, read
from evosynth.errors import Fault, Path, suggest
from evosynth.objective import Figure, Output, Plan
from evosynth.printed import Printed
from evosynth.schema import FloatArray, Schema, Variable

MAX_RECORDS = 100_000_000
MAX_LEVELS = 1_000_000
MAX_VARIABLES = 500

Start = Literal["calibrated", "univariate", "uniform"]
Strategy = Literal["exact", "classic"]


class VariableSpec(BaseModel):
    """One variable: categories, or an integer between two bounds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str = Field("", description="what the variable is called in print")
    categories: dict[str, str | None] | None = Field(None, description="code: label")
    integer: tuple[int, int] | None = Field(None, description="smallest and largest value")
    proportions: dict[str, Printed] | None = Field(
        None,
        description="assumed share of each value, to start from; values not listed share the rest",
    )


class SpecFile(BaseModel):
    """A spec: variables, and the published outputs that the data must reprint."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = Field("", description="what the dataset is about")
    source: str = Field("", description="where the figures were published")
    records: Annotated[int, Field(ge=1, le=MAX_RECORDS)] = Field(description="number of records")
    variables: dict[str, VariableSpec] = Field(min_length=1, max_length=MAX_VARIABLES)
    outputs: list[dict[str, Any]] = Field(min_length=1)
    start: Start = Field("calibrated", description="how the first candidates are drawn")
    strategy: Strategy = Field("exact", description="exact, or the founding paper's algorithm")


@dataclass(frozen=True)
class Spec:
    """A spec that holds together: no fault was found in it."""

    document: Document
    title: str
    source: str
    start: Start
    strategy: Strategy
    schema: Schema
    outputs: tuple[Output, ...]

    @cached_property
    def figures(self) -> tuple[tuple[Figure, ...], ...]:
        """The published numbers of each output."""
        return tuple(output.figures(self.schema) for output in self.outputs)

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """Each output in the terms of the search."""
        return tuple(output.lower(self.schema) for output in self.outputs)


def load(path: str | os.PathLike[str]) -> Spec:
    """Read and check a spec file; raise `SpecError` with every fault that it has."""
    document = read(path)
    try:
        file = SpecFile.model_validate(document.tree)
    except ValidationError as error:
        raise document.error(list(_translate(error, SpecFile, ()))) from None
    faults: list[Fault] = []
    variables = [_variable(name, v, faults) for name, v in file.variables.items()]
    schema = Schema(file.records, tuple(v for v in variables if v is not None))
    broken = len(schema.variables) < len(variables)
    outputs: list[Output] = []
    for position, raw in enumerate(file.outputs):
        output = _output(raw, ("outputs", position), faults)
        if output is not None and not broken:
            outputs.append(output)
            faults += [
                Fault(("outputs", position, *fault.path), fault.message)
                for fault in output.faults(schema)
            ]
    if faults or document.faults:
        raise document.error(faults)
    spec = Spec(
        document, file.title, file.source, file.start, file.strategy, schema, tuple(outputs)
    )
    faults = list(contradictions.between_tables(spec.plans, schema))
    if faults:
        raise document.error(faults)
    return spec


def _variable(name: str, spec: VariableSpec, faults: list[Fault]) -> Variable | None:
    """Build a variable, or say what is wrong with it."""
    path: Path = ("variables", name)
    if (spec.categories is None) == (spec.integer is None):
        faults.append(Fault(path, "give either categories or integer: [smallest, largest]"))
        return None
    if not name.isidentifier():
        faults.append(Fault(path, "a name starts with a letter and holds letters, digits and _"))
        return None
    if spec.integer is not None:
        low, high = spec.integer
        if low > high:
            message = f"[{low}, {high}] admits no value: {low} is larger than {high}"
            faults.append(Fault((*path, "integer"), message))
            return None
        if high - low >= MAX_LEVELS:
            message = f"more than {MAX_LEVELS:,} values"
            faults.append(Fault((*path, "integer"), message))
            return None
        values = np.arange(low, high + 1)
        values = values.astype(_smallest(low, high))
        labels = None
    else:
        codes = list(spec.categories or {})
        if not codes:
            faults.append(Fault((*path, "categories"), "no category is listed"))
            return None
        values = _codes(codes)
        labels = tuple(label or code for code, label in (spec.categories or {}).items())
    levels = [str(value) for value in values.tolist()]
    share = _proportions(spec.proportions, levels, (*path, "proportions"), faults)
    return Variable(name, spec.label or name, values, labels, share)


def _smallest(low: int, high: int) -> np.dtype[Any]:
    return np.promote_types(np.min_scalar_type(low), np.min_scalar_type(high))


def _codes(codes: list[str]) -> np.ndarray[Any, Any]:
    """Whole-number codes become integers, anything else stays text."""
    try:
        numbers = [int(code) for code in codes]
    except ValueError:
        numbers = []
    if [str(number) for number in numbers] == codes:
        return np.array(numbers, dtype=_smallest(min(numbers), max(numbers)))
    return np.array(codes, dtype=object)


def _proportions(
    given: dict[str, Printed] | None, levels: list[str], path: Path, faults: list[Fault]
) -> FloatArray:
    """Shares of every level: those given, and the rest spread evenly over the others."""
    if given is None:
        return np.full(len(levels), 1 / len(levels))
    for value, printed in given.items():
        if value not in levels:
            faults.append(Fault((*path, value), f"no such value{suggest(value, levels)}"))
        if not 0 <= printed.value <= 1:
            faults.append(Fault((*path, value), f"{printed} is not between 0 and 1"))
    total = sum(printed.value for printed in given.values())
    slack = sum(printed.half_width for printed in given.values()) + 1e-9
    others = [level for level in levels if level not in given]
    if total > 1 + slack or (not others and total < 1 - slack):
        message = f"they sum to {total:.6g}, which is not 1 within their rounding (±{slack:.2g})"
        faults.append(Fault(path, message))
    share = np.array(
        [given[v].value if v in given else max(0.0, 1 - total) / len(others) for v in levels]
    )
    return share / share.sum() if share.sum() > 0 else np.full(len(levels), 1 / len(levels))


def _output(raw: dict[str, Any], path: Path, faults: list[Fault]) -> Output | None:
    kind = raw.get("kind")
    if not isinstance(kind, str) or kind not in kinds.names():
        hint = suggest(str(kind), kinds.names())
        message = (
            f"unknown kind {kind!r}{hint}"
            if kind
            else f"no kind is given{suggest('', kinds.names())}"
        )
        faults.append(Fault((*path, "kind"), message))
        return None
    model = kinds.find(kind)
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        faults += _translate(error, model, path)
        return None


def _translate(error: ValidationError, model: type[BaseModel], path: Path) -> Iterator[Fault]:
    """Say what pydantic found in the words of a spec."""
    seen = set()
    for item in error.errors(include_url=False):
        where: Path = tuple(part for part in item["loc"] if part != "[key]")
        names = _keys(model, where)
        if item["type"] == "extra_forbidden":
            message = f"unknown key{suggest(str(where[-1]), names)}"
        elif item["type"] == "missing":
            message = "missing; it must be given"
        elif item["type"] == "value_error":
            message = str(item["ctx"]["error"])
        elif item["type"] in {"model_type", "dict_type"}:
            message = "expected a mapping of keys and values"
        else:
            text = item["msg"][:1].lower() + item["msg"][1:]
            given = item["input"]
            message = f"{text}, not {given!r}" if isinstance(given, str) else text
        where = tuple(part for part in where if part not in {"str", "tuple[str, ...]"})
        if (where, message) not in seen:
            seen.add((where, message))
            yield Fault((*path, *where), message)


def _keys(model: type[BaseModel], where: Path) -> list[str]:
    """Keys that may stand where ``where`` ends."""
    if where[:1] == ("variables",) and len(where) > 2:
        return list(VariableSpec.model_fields)
    return list(model.model_fields)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of spec files, for editors."""
    schema = SpecFile.model_json_schema()
    options = []
    for kind in kinds.names():
        part = kinds.find(kind).model_json_schema()
        schema.setdefault("$defs", {}).update(part.pop("$defs", {}))
        options.append(part)
    schema["properties"]["outputs"]["items"] = {"oneOf": options}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
