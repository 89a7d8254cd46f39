"""The variables of a spec: what may be said of one, and what is built from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from evosynth.errors import Fault, Path, shown, suggest
from evosynth.keys import meant
from evosynth.objective import Text
from evosynth.printed import Printed, Share, no_share
from evosynth.schema import MISSING, FloatArray, Variable, day
from evosynth.shapes import Shape, ShapeSpec, fault, shares

_BLANK = "take away the blank at its beginning or end"
_EMPTY = "an empty code is a blank in the data; write missing: true instead"
MAX_LEVELS = 1_000_000
MAX_VALUE = 10**15 - 1
_TYPES = ("categories", "integer", "number", "date", "identifier")
_SHARE = re.compile(r"\d*\.\d+|\d+(\.\d+)?\s*%", re.ASCII)
_MISSING_SHARE = 0.05
"""Assumed ratio of missing to valid values where none is given."""


def _pair(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("expected two whole numbers, [smallest, largest]")
    return value


def _two_dates(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("expected two days, [2019-01-01, 2020-12-31]")
    return value


class IdentifierSpec(BaseModel):
    """Numbers that tell records apart."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prefix: Text = Field("", max_length=20, description="what stands before the number")
    digits: Annotated[int, Field(ge=1, le=18)] = Field(1, description="digits, with zeros in front")


def _labelled(value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError("expected a label for each code, {1: Male, 2: Female}")
    return value


class NumberSpec(BaseModel):
    """Numbers between two bounds, to so many decimals."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min: Printed
    max: Printed
    decimals: Annotated[int, Field(ge=0, le=9)]


class MissingSpec(BaseModel):
    """One code of missing values."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: Text = ""
    share: Share | None = Field(None, description="share of the records, to start from")


def _mapping_or_true(value: Any) -> Any:
    if isinstance(value, str) and value.casefold() in {"true", "yes"}:
        return {MISSING: {}}
    if isinstance(value, dict) and set(value) == {"share"}:
        return {MISSING: value}
    if not isinstance(value, dict) or not value:
        raise ValueError("write true (missing values are blanks), or the codes: {-9: Refused}")
    return {
        code: about if isinstance(about, dict) else {"label": about or ""}
        for code, about in value.items()
    }


def _formula_or_conditions(value: Any) -> Any:
    texts = value.values() if isinstance(value, dict) else [value]
    if not all(isinstance(text, str) for text in texts) or not texts:
        raise ValueError("write a formula, A + B, or a condition for each code, {1: AGE < 16}")
    return value


class VariableSpec(BaseModel):
    """One variable: categories, an integer between two bounds, or a number on a grid."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: Text = Field("", description="what the variable is called in print")
    categories: Annotated[dict[str, Text | None], BeforeValidator(_labelled)] | None = Field(
        None, description="code: label"
    )
    ordered: bool = Field(False, description="whether categories have an order, as listed")
    integer: Annotated[tuple[int, int], BeforeValidator(_pair)] | None = Field(
        None, description="smallest and largest value"
    )
    number: NumberSpec | None = Field(None, description="smallest and largest value, decimals")
    date: Annotated[tuple[str, str], BeforeValidator(_two_dates)] | None = Field(
        None, description="first and last day, such as 2019-01-01"
    )
    identifier: (
        Annotated[
            IdentifierSpec,
            BeforeValidator(lambda v: {} if v in ("true", "yes") else v),
            WithJsonSchema({"type": ["object", "boolean"]}),
        ]
        | None
    ) = Field(None, description="a number of its own for each record")
    missing: (
        Annotated[
            dict[str, MissingSpec],
            BeforeValidator(_mapping_or_true),
            WithJsonSchema({"type": ["object", "boolean"]}),
        ]
        | None
    ) = Field(
        None,
        description="true: values may be missing, as blanks; or code: label of missing values",
    )
    unit: Literal["person", "household"] = Field(
        "person", description="household: the same for all members of a household"
    )
    counts: str | None = Field(
        None, description="condition; the variable counts the members of the household that keep it"
    )
    derived: (
        Annotated[
            str | dict[str, str],
            BeforeValidator(_formula_or_conditions),
            WithJsonSchema({"type": ["string", "number", "object"]}),
        ]
        | None
    ) = Field(
        None,
        description="formula that gives the value, A + B; or code: condition, the last else",
    )
    shape: Shape | None = Field(
        None, description="how a quantity is distributed where nothing is published of it"
    )
    zeros: Share | None = Field(None, description="share of exact zeros of a quantity")
    rises_with: dict[str, Printed] | None = Field(
        None, description="correlation with other variables, roughly, where no figure tells"
    )
    proportions: dict[str, Share] | None = Field(
        None,
        description="assumed share of each value, to start from; values not listed share the rest",
    )


def numbered(name: str, label: str, prefix: str, digits: int, records: int) -> Variable:
    """Build a variable that tells records apart; its one value is as wide as the widest."""
    if not prefix and digits <= len(str(records)):
        values: NDArray[Any] = np.array([records])
    else:
        values = np.array([prefix + str(records).zfill(digits)], dtype=object)
    text = str(values[0])
    how = (prefix, digits)
    return Variable(name, label or name, values, (text,), np.ones(1), identifier=how)


def build(name: str, spec: VariableSpec, faults: list[Fault], records: int = 1) -> Variable | None:
    """Build a variable, or say what is wrong with it."""
    path: Path = ("variables", name)
    given = [key for key in _TYPES if getattr(spec, key) is not None]
    if len(given) != 1:
        message = (
            "give one of categories, integer: [smallest, largest], number: {min, max, decimals}, "
            "date: [first, last] and identifier: true"
        )
        unknown = [f.path[2] for f in faults if f.path[:2] == path and len(f.path) == 3]
        guesses = {meant(str(key), VariableSpec.model_fields) for key in unknown}
        if given or guesses.isdisjoint({None, *_TYPES}):
            faults.append(Fault(path, message))
        return None
    if not name.isidentifier():
        faults.append(Fault(path, "a name starts with a letter and holds letters, digits and _"))
        return None
    if spec.identifier is not None:
        return (
            None
            if _idle_faults(spec, path, faults)
            else numbered(name, spec.label, spec.identifier.prefix, spec.identifier.digits, records)
        )
    for text in spec.date or ():
        if day(text) is None:
            message = f"{shown(text)!r} is no day such as 2019-01-31"
            faults.append(Fault((*path, "date"), message))
            return None
    labels = None
    decimals = spec.number.decimals if spec.number else 0
    if spec.categories is None:
        low, high = spec.integer or _days(spec.date) or _grid(spec.number)
        message = _finer_fault(spec.number) or _range_fault(low, high, decimals)
        if spec.date is not None and low > high:
            message = f"the first day, {spec.date[0]}, is after the last, {spec.date[1]}"
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
        blanks = [code for code in codes if code != code.strip() or not code]
        for code in blanks:
            message = _BLANK if code else _EMPTY
            faults.append(Fault((*path, "categories", code), message))
        if blanks:
            return None
        values = _codes(codes)
        labels = tuple(label or code for code, label in spec.categories.items())
    missing = spec.missing or {}
    if spec.date is not None and missing and list(missing) != [MISSING]:
        faults.append(Fault((*path, "missing"), "a missing date is a blank: write missing: true"))
        return None
    blank = list(missing) == [MISSING]
    values, wrong = _with_missing(values, list(missing), blank)
    for code, message in wrong:
        faults.append(Fault((*path, "missing", code), message))
    if wrong:
        return None
    if labels is not None:
        labels += tuple(about.label or code for code, about in missing.items())
    found = Variable(
        name,
        spec.label or name,
        values if decimals else _tight(values),
        labels,
        np.empty(0),
        len(missing),
        blank,
        decimals,
        tuple(about.label or code for code, about in missing.items()),
        ordered=spec.ordered,
        date=spec.date is not None,
    )
    reserved = {MISSING, "total", "valid"} & set(found.texts[: found.valid])
    for word in sorted(reserved):
        message = "this word stands for a missing value"
        if word != MISSING:
            message = "this word has a meaning of its own in tables; choose another code"
        faults.append(Fault((*path, "categories", word), message))
    if reserved:
        return None
    before = len(faults)
    faults += _hint_faults(spec, found, path)
    if len(faults) == before:
        assumed = _with_shares(spec)
        share = _proportions(assumed, found, (*path, "proportions"), faults)
    if len(faults) > before:
        return None
    if spec.proportions is None:
        share = _shaped(spec, found)
    told = bool(spec.shape or spec.proportions or spec.zeros)
    gone = bool(spec.proportions) or any(about.share is not None for about in missing.values())
    return replace(found, proportions=share, shaped=told, counted_missing=gone)


def _idle_faults(spec: VariableSpec, path: Path, faults: list[Fault]) -> bool:
    """Find what an identifier cannot have."""
    idle = sorted(spec.model_fields_set - {"label", "identifier"})
    for key in idle:
        faults.append(Fault((*path, key), "an identifier only tells records apart; leave this out"))
    prefix = spec.identifier.prefix if spec.identifier else ""
    if prefix != prefix.strip():
        faults.append(Fault((*path, "identifier", "prefix"), _BLANK))
        return True
    return bool(idle)


def _hint_faults(spec: VariableSpec, variable: Variable, path: Path) -> Iterator[Fault]:
    """Hints that do not fit the variable."""
    if spec.ordered and not variable.categorical:
        yield Fault((*path, "ordered"), "quantities have an order anyway; leave this out")
    for key in ("shape", "zeros", "rises_with", "proportions"):
        if getattr(spec, key) is not None and spec.derived is not None:
            yield Fault((*path, key), "a derived variable follows its formula; leave this out")
            return
    for key in ("shape", "zeros"):
        if getattr(spec, key) is not None and variable.categorical:
            remedy = "give proportions: {code: share} instead"
            yield Fault((*path, key), f"categories have no {key}; {remedy}")
            return
    values = np.empty(0) if variable.categorical else variable.quantities[: variable.valid]
    if spec.proportions is not None and spec.shape is not None:
        yield Fault((*path, "shape"), "give proportions or a shape, not both")
    if spec.shape is not None:
        message = fault(spec.shape, values)
        if message:
            yield Fault((*path, "shape"), message)
    if spec.zeros is not None:
        if not 0 <= spec.zeros.value <= 1:
            yield Fault((*path, "zeros"), no_share(spec.zeros))
        elif not (values == 0).any():
            yield Fault((*path, "zeros"), "0 is not among the values; widen its range")
    told = {c: m.share for c, m in (spec.missing or {}).items() if m.share is not None}
    for code, share in told.items():
        if not 0 <= share.value <= 1:
            yield Fault((*path, "missing", code, "share"), no_share(share))
        elif code in (spec.proportions or {}):
            yield Fault((*path, "missing", code, "share"), "the proportions have it; give one")
    total = sum(share.value for share in told.values())
    if total > 1 and all(0 <= share.value <= 1 for share in told.values()):
        yield Fault((*path, "missing"), f"shares of missing values sum to {total:g}")
    for code, about in (spec.missing or {}).items():
        if _SHARE.fullmatch(about.label):
            remedy = f"write {{label: …, share: {about.label}}}"
            yield Fault((*path, "missing", code), f"{about.label} is no label; {remedy}")


def _shaped(spec: VariableSpec, variable: Variable) -> FloatArray:
    """Shares of every level by the hints of a spec."""
    valid = variable.valid
    if variable.categorical:
        own = np.full(valid, 1 / valid)
    else:
        values = variable.quantities[:valid]
        shape = spec.shape or (ShapeSpec(base="uniform") if variable.date else None)
        own = shares(shape, values, variable.decimals)
        if spec.zeros is not None:
            own = own * (values != 0)
            own *= (1 - spec.zeros.value) / max(own.sum(), 1e-300)
            own[values == 0] = spec.zeros.value
    usual = _MISSING_SHARE / (1 + _MISSING_SHARE) / max(variable.missing, 1)
    gone = [
        usual if about.share is None else about.share.value
        for about in (spec.missing or {}).values()
    ]
    return np.append(own / own.sum() * (1 - sum(gone)), gone)


def _with_shares(spec: VariableSpec) -> dict[str, Printed] | None:
    """Proportions, and shares of missing codes beside them; those may be of the valid values."""
    own = spec.proportions
    told = {c: m.share for c, m in (spec.missing or {}).items() if m.share is not None}
    if own is None or not told:
        return own
    slack = sum(share.half_width for share in own.values()) + 1e-9
    gone = sum(share.value for share in told.values())
    if abs(sum(share.value for share in own.values()) - 1) <= slack:
        own = {code: replace(share, value=share.value * (1 - gone)) for code, share in own.items()}
    return {**own, **told}


def _days(ends: tuple[str, str] | None) -> tuple[int, int] | None:
    if ends is None:
        return None
    first, last = day(ends[0]), day(ends[1])
    assert first is not None and last is not None
    return first, last


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
            message = "the other values are numbers; write a whole number such as -9"
            wrong.append((code, message))
        elif not code or code != code.strip():
            wrong.append((code, _BLANK if code else _EMPTY))
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
        return np.empty(0)
    known = set(levels)
    for value, printed in given.items():
        if value not in known:
            faults.append(Fault((*path, value), f"no such value{suggest(value, levels)}"))
        if not 0 <= printed.value <= 1:
            faults.append(Fault((*path, value), no_share(printed)))
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
