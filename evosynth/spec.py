"""The spec file: what a trainer writes, validated into frozen objects, every fault at once."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
)

from evosynth import condition, contradictions, kinds
from evosynth.classes import separate
from evosynth.condition import Condition
from evosynth.document import Document, read
from evosynth.errors import Fault, Path, shown, suggest
from evosynth.objective import Figure, Mention, Output, Plan, Text
from evosynth.printed import Printed
from evosynth.schema import MISSING, FloatArray, Schema, Variable

MAX_RECORDS = 100_000_000
MAX_LEVELS = 1_000_000
MAX_VARIABLES = 500
MAX_CELLS = 5_000_000
"""Cells of all tables together."""
MAX_VALUE = 10**15 - 1
_MISSING_SHARE = 0.05
"""Assumed ratio of missing to valid values where none is given."""

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


class NumberSpec(BaseModel):
    """Numbers between two bounds, to so many decimals."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min: Printed
    max: Printed
    decimals: Annotated[int, Field(ge=0, le=9)]


def _mapping_or_true(value: Any) -> Any:
    if isinstance(value, str) and value.casefold() in {"true", "yes"}:
        return {MISSING: None}
    if not isinstance(value, dict) or not value:
        raise ValueError("write true (missing values are blanks), or the codes: {-9: Refused}")
    return value


class VariableSpec(BaseModel):
    """One variable: categories, an integer between two bounds, or a number on a grid."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: Text = Field("", description="what the variable is called in print")
    categories: dict[str, Text | None] | None = Field(None, description="code: label")
    integer: Annotated[tuple[int, int], BeforeValidator(_pair)] | None = Field(
        None, description="smallest and largest value"
    )
    number: NumberSpec | None = Field(None, description="smallest and largest value, decimals")
    missing: (
        Annotated[
            dict[str, Text | None],
            BeforeValidator(_mapping_or_true),
            WithJsonSchema({"type": ["object", "boolean"]}),
        ]
        | None
    ) = Field(
        None,
        description="true: values may be missing, as blanks; or code: label of missing values",
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
    clashes: tuple[str, ...] = ()
    """Contradictions between figures that were borne."""

    @cached_property
    def figures(self) -> tuple[tuple[Figure, ...], ...]:
        """The published numbers of each output."""
        return tuple(output.figures(self.schema) for output in self.outputs)


def load(path: str | os.PathLike[str], *, anyway: bool = False) -> Spec:
    """Read and check a spec file; raise `SpecError` with every fault that it has.

    ``anyway``: bear figures that contradict each other, and list them as `Spec.clashes`.
    """
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
        output = _output(raw, where, faults, FilePath(document.file).parent)
        if output is not None:
            outputs.append(output)
            faults += _output_faults(output, where, schema, broken)
    broken_beyond = [fault for fault in faults if not (anyway and fault.clash)]
    if broken_beyond or document.faults:
        raise document.error(faults)
    plans: list[Plan] = []
    cells = 0
    for position, output in enumerate(outputs):
        plans.append(output.lower(schema))
        cells += sum(table.grid.size for table in plans[-1].tables)
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
    known = {fault.path[:2] for fault in faults}
    sums = contradictions.within_tables(spec.plans, schema)
    faults += [fault for fault in sums if fault.path not in known]
    faults += contradictions.between_tables(spec.plans, schema)
    if faults and not anyway:
        raise document.error(faults)
    return replace(spec, clashes=tuple(document.error(faults).lines()) if faults else ())


def _output_faults(output: Output, path: Path, schema: Schema, broken: set[str]) -> Iterator[Fault]:
    """Variables and values that no one knows, or else whatever the output itself finds."""
    known = True
    where = output.condition.variables if output.condition is not None else ()
    for mention in [*output.mentions(), *(Mention(("where",), name) for name in where)]:
        place, name, value = (*path, *mention.path), mention.variable, mention.value
        if name not in schema.index:
            known = False
            if name not in broken and value is None:
                yield Fault(place, f"unknown variable {name!r}{suggest(name, schema.index)}")
        elif value is not None and value not in schema[name].levels:
            known = False
            hint = schema[name].hint(value)
            yield Fault(place, f"{name!r} has no value {shown(value)!r}{hint}")
    if known and output.condition is not None:
        wrong = list(_where_faults(output.condition, schema))
        known = not wrong
        for message in wrong:
            yield Fault((*path, "where"), message)
    if known:
        for fault in output.faults(schema):
            yield replace(fault, path=(*path, *fault.path))


def _where_faults(where: Condition, schema: Schema) -> Iterator[str]:
    wrong = list(condition.faults(where, schema))
    yield from wrong
    if not wrong:
        try:
            separate(where, schema)
        except ValueError as error:
            yield str(error)


def _variable(name: str, spec: VariableSpec, faults: list[Fault]) -> Variable | None:
    """Build a variable, or say what is wrong with it."""
    path: Path = ("variables", name)
    given = [key for key in ("categories", "integer", "number") if getattr(spec, key) is not None]
    if len(given) != 1:
        message = (
            "give one of categories, integer: [smallest, largest] and number: {min, max, decimals}"
        )
        faults.append(Fault(path, message))
        return None
    if not name.isidentifier():
        faults.append(Fault(path, "a name starts with a letter and holds letters, digits and _"))
        return None
    labels = None
    decimals = spec.number.decimals if spec.number else 0
    if spec.categories is None:
        low, high = spec.integer or _grid(spec.number)
        message = _finer_fault(spec.number) or _range_fault(low, high, decimals)
        if message:
            faults.append(Fault((*path, given[0]), message))
            return None
        values = np.arange(low, high + 1)
        if decimals:
            values = np.round(values / 10.0**decimals, decimals)
    else:
        codes = list(spec.categories)
        if not codes:
            faults.append(Fault((*path, "categories"), "no category is listed"))
            return None
        values = _codes(codes)
        labels = tuple(label or code for code, label in spec.categories.items())
    missing = spec.missing or {}
    blank = list(missing) == [MISSING]
    values, wrong = _with_missing(values, list(missing), blank)
    for code, message in wrong:
        faults.append(Fault((*path, "missing", code), message))
    if wrong:
        return None
    if labels is not None:
        labels += tuple(label or code for code, label in missing.items())
    found = Variable(
        name,
        spec.label or name,
        values if decimals else _tight(values),
        labels,
        np.empty(0),
        len(missing),
        blank,
        decimals,
    )
    reserved = {MISSING, "total", "valid"} & set(found.texts[: found.valid])
    for word in sorted(reserved):
        message = "this word stands for a missing value"
        if word != MISSING:
            message = "this word has a meaning of its own in tables; choose another code"
        faults.append(Fault((*path, "categories", word), message))
    if reserved:
        return None
    share = _proportions(spec.proportions, found, (*path, "proportions"), faults)
    return replace(found, proportions=share)


def _grid(number: NumberSpec | None) -> tuple[int, int]:
    """Bounds of a number, in units of its last decimal."""
    assert number is not None
    scale = 10**number.decimals
    return round(number.min.value * scale), round(number.max.value * scale)


def _finer_fault(number: NumberSpec | None) -> str:
    """Say what is wrong with bounds that are no values of the variable, if anything."""
    if number is not None:
        for end in (number.min, number.max):
            if end.decimals > number.decimals:
                return f"{end} has more decimals than the {number.decimals} that values have"
    return ""


def _range_fault(low: int, high: int, decimals: int) -> str:
    """Say what is wrong with the bounds of a quantity, if anything."""
    if low > high:
        unit = 10**decimals
        one, two = (f"{v / unit:.{decimals}f}" for v in (low, high))
        return f"[{one}, {two}] admits no value: {one} is larger than {two}"
    if high - low >= MAX_LEVELS:
        return f"more than {MAX_LEVELS:,} values"
    if max(abs(low), abs(high)) > MAX_VALUE:
        return f"a value may have at most {len(str(MAX_VALUE))} digits"
    return ""


def _with_missing(
    values: NDArray[Any], codes: list[str], blank: bool
) -> tuple[NDArray[Any], list[tuple[str, str]]]:
    """Put the missing values after the valid ones; say which codes do not fit among them."""
    if not codes:
        return values, []
    if blank:
        empty: Any = None if values.dtype == object else np.nan if values.dtype.kind == "f" else 0
        return np.append(values, np.array([empty], dtype=values.dtype)), []
    wrong = []
    more = _codes(codes)
    known = {str(value) for value in values.tolist()}
    for code in codes:
        if code in known:
            wrong.append((code, "this code is a valid value as well"))
        elif values.dtype != object and more.dtype == object:
            wrong.append((code, "the other values are numbers; write a number"))
    if wrong:
        return values, wrong
    dtype = (
        object if values.dtype == object else np.float64 if values.dtype.kind == "f" else np.int64
    )
    if dtype is object:
        more = np.array(codes, dtype=object)
    return np.concatenate([values.astype(dtype), more.astype(dtype)]), []


def _tight(values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in the smallest type that holds them."""
    if values.dtype == object:
        return values
    return values.astype(_smallest(int(values.min()), int(values.max())))


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
    given: dict[str, Printed] | None, variable: Variable, path: Path, faults: list[Fault]
) -> FloatArray:
    """Shares of every level: those given, and the rest spread evenly over the others."""
    levels = variable.texts
    if given is None:
        share = np.full(len(levels), 1.0)
        if variable.missing:
            share[variable.valid :] = _MISSING_SHARE * variable.valid / variable.missing
        return np.asarray(share / share.sum())
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


def _output(
    raw: dict[str, Any], path: Path, faults: list[Fault], folder: FilePath
) -> Output | None:
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
        return model.model_validate(raw, context={"folder": folder})
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
