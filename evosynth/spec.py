"""The spec file: what a trainer writes, validated into frozen objects, every fault at once."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from evosynth import contradictions, kinds
from evosynth.document import Document, read
from evosynth.errors import Fault, Path, shown, suggest
from evosynth.objective import Figure, Output, Plan, Text
from evosynth.printed import Printed
from evosynth.schema import FloatArray, Schema, Variable

MAX_RECORDS = 100_000_000
MAX_LEVELS = 1_000_000
MAX_VARIABLES = 500
MAX_CELLS = 5_000_000
"""Cells of all tables together."""
MAX_VALUE = 10**15 - 1

Start = Literal["calibrated", "univariate", "uniform"]
Strategy = Literal["exact", "classic"]


def _pair(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("expected two whole numbers, [smallest, largest]")
    return value


def _ungrouped(value: Any) -> Any:
    """Read 4,027 as 4027."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,3}(,\d{3})+", value, re.ASCII):
        return value.replace(",", "")
    return value


class VariableSpec(BaseModel):
    """One variable: categories, or an integer between two bounds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: Text = Field("", description="what the variable is called in print")
    categories: dict[str, Text | None] | None = Field(None, description="code: label")
    integer: Annotated[tuple[int, int], BeforeValidator(_pair)] | None = Field(
        None, description="smallest and largest value"
    )
    proportions: dict[str, Printed] | None = Field(
        None,
        description="assumed share of each value, to start from; values not listed share the rest",
    )


class SpecFile(BaseModel):
    """A spec: variables, and the published outputs that the data must reprint."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Text = Field("", description="what the dataset is about")
    source: Text = Field("", description="where the figures were published")
    records: Annotated[int, BeforeValidator(_ungrouped), Field(ge=1, le=MAX_RECORDS)] = Field(
        description="number of records"
    )
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
    plans: tuple[Plan, ...]
    """Each output in the terms of the search."""

    @cached_property
    def figures(self) -> tuple[tuple[Figure, ...], ...]:
        """The published numbers of each output."""
        return tuple(output.figures(self.schema) for output in self.outputs)


def load(path: str | os.PathLike[str]) -> Spec:
    """Read and check a spec file; raise `SpecError` with every fault that it has."""
    document = read(path)
    try:
        file, faults = _validate(document.tree)
    except ValidationError as error:
        raise document.error(list(_translate(error, SpecFile, ()))) from None
    variables = [_variable(name, v, faults) for name, v in file.variables.items()]
    schema = Schema(file.records, tuple(v for v in variables if v is not None))
    broken = set(file.variables) - set(schema.index)
    outputs: list[Output] = []
    for position, raw in enumerate(file.outputs):
        where: Path = ("outputs", position)
        output = _output(raw, where, faults)
        if output is not None:
            outputs.append(output)
            faults += _output_faults(output, where, schema, broken)
    if faults or document.faults:
        raise document.error(faults)
    plans: list[Plan] = []
    cells = 0
    for position, output in enumerate(outputs):
        plans.append(output.lower(schema))
        cells += sum(table.low.size for table in plans[-1].tables)
        if cells > MAX_CELLS:
            message = f"the tables have more than {MAX_CELLS:,} cells in all"
            raise document.error([Fault(("outputs", position), message)])
    spec = Spec(
        document,
        file.title,
        file.source,
        file.start,
        file.strategy,
        schema,
        tuple(outputs),
        tuple(plans),
    )
    faults = list(contradictions.between_tables(spec.plans, schema))
    if faults:
        raise document.error(faults)
    return spec


def _output_faults(output: Output, path: Path, schema: Schema, broken: set[str]) -> Iterator[Fault]:
    """Variables and values that no one knows, or else whatever the output itself finds."""
    known = True
    for mention in output.mentions():
        where, name, value = (*path, *mention.path), mention.variable, mention.value
        if name not in schema.index:
            known = False
            if name not in broken and value is None:
                yield Fault(where, f"unknown variable {name!r}{suggest(name, schema.index)}")
        elif value is not None and value not in schema[name].levels:
            known = False
            hint = schema[name].hint(value)
            yield Fault(where, f"{name!r} has no value {shown(value)!r}{hint}")
    if known:
        for fault in output.faults(schema):
            yield Fault((*path, *fault.path), fault.message)


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
        if max(abs(low), abs(high)) > MAX_VALUE:
            message = f"a value may have at most {len(str(MAX_VALUE))} digits"
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
    if low >= 0:
        return np.min_scalar_type(high)
    return np.min_scalar_type(min(low, -high - 1))


def _codes(codes: list[str]) -> np.ndarray[Any, Any]:
    """Whole-number codes become integers, anything else stays text."""
    try:
        numbers = [int(code) for code in codes]
    except ValueError:
        numbers = []
    small = all(abs(number) <= MAX_VALUE for number in numbers)
    if small and [str(number) for number in numbers] == codes:
        return np.array(numbers, dtype=_smallest(min(numbers), max(numbers)))
    return np.array(codes, dtype=object)


def _proportions(
    given: dict[str, Printed] | None, levels: list[str], path: Path, faults: list[Fault]
) -> FloatArray:
    """Shares of every level: those given, and the rest spread evenly over the others."""
    if given is None:
        return np.full(len(levels), 1 / len(levels))
    known = set(levels)
    for value, printed in given.items():
        if value not in known:
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
        elif item["input"] is None:
            message = "nothing is given here"
        elif item["type"] in _PLAIN:
            given = item["input"]
            message = _PLAIN[item["type"]]
            message += f", not {shown(given)!r}" if isinstance(given, str) else ""
        else:
            text = item["msg"][:1].lower() + item["msg"][1:]
            given = item["input"]
            message = f"{text}, not {shown(given)!r}" if isinstance(given, str) else text
        if (where, message) not in seen:
            seen.add((where, message))
            yield Fault((*path, *where), message)


_PLAIN = {
    "int_parsing": "expected a whole number",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_parsing": "expected a number",
    "float_type": "expected a number",
    "string_type": "expected a single text or number",
    "list_type": "expected a list; begin each item with a dash",
    "too_short": "nothing is listed",
}


def _validate(tree: Any) -> tuple[SpecFile, list[Fault]]:
    """Validate a spec; unknown keys are reported but do not hide what else is wrong."""
    faults: list[Fault] = []
    try:
        return SpecFile.model_validate(tree), faults
    except ValidationError as error:
        extra = [item["loc"] for item in error.errors() if item["type"] == "extra_forbidden"]
        if len(extra) < error.error_count():
            raise
        faults += _translate(error, SpecFile, ())
    pruned = copy.deepcopy(tree)
    for *above, key in extra:
        node = pruned
        for part in above:
            node = node[part]
        del node[key]
    return SpecFile.model_validate(pruned), faults


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
