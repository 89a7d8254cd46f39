"""Codes values of several data frames alike: one list of levels, whoever has them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evosynth.errors import RiskError, shown, suggest
from evosynth.weights.coding import LABELS

if TYPE_CHECKING:
    import pandas as pd

Codes = NDArray[np.int32]
Bins = int | Sequence[float]
"""A number of groups of about equal size, or the cut points between groups."""

_Raw: TypeAlias = tuple[Codes, list[str]]
"""Place of each value in a list of texts."""
_WHOLE = re.compile(r"-?(0|[1-9]\d*)\.0+", re.ASCII)
_TRUE, _FALSE = ("True", "true", "TRUE", "1"), ("False", "false", "FALSE", "0")
_TRUTH = {"true": _TRUE, "1": _TRUE, "false": _FALSE, "0": _FALSE}
ORIGINAL = "original"
MOST_CODES = 20
"""Distinct numbers up to which a column is taken for codes of categories."""
MISSING = "missing"


@dataclass(frozen=True)
class Column:
    """One variable, coded alike in every data frame."""

    name: str
    levels: tuple[str, ...]
    missing: int
    """Code of missing values; -1 where none is missing."""
    codes: Mapping[str, Codes]
    """By data frame."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Levels by the labels that a file gives them."""

    @property
    def size(self) -> int:
        """Number of levels, missing values among them."""
        return len(self.levels)

    def find(self, text: str) -> str | None:
        """Find a level by its text, as a number that is the same, or by its label."""
        same = self.labels.get(text, text)
        with suppress(ValueError):
            same = _text(float(text))
        return next((level for level in (text, same) if level in self.levels), None)


def encode(
    frames: Mapping[str, pd.DataFrame],
    names: Sequence[str],
    bins: Mapping[str, Bins] | None = None,
    categorical: Sequence[str] = (),
) -> dict[str, Column]:
    """Code columns; raise `RiskError` with every column that cannot be.

    Parameters
    ----------
    frames
        By what they are called in messages; bins are laid by the one called ``original``.
    names
        Columns that every frame must have.
    bins
        Groups of numeric columns.
    categorical
        Numeric columns of which every distinct number is a level; ``["all"]`` for all of them.
    """
    if not isinstance(bins, Mapping | None):
        raise RiskError(f"bins: expected {{variable: groups}}, not {shown(repr(bins))}")
    bins = dict(bins or {})
    problems: list[str] = []
    found: dict[str, Column] = {}
    for label, frame in frames.items():
        known = [str(column) for column in frame.columns]
        doubled = sorted({name for name in names if known.count(name) > 1})
        problems += [f"{label}: there are two columns {shown(name)!r}" for name in doubled]
        problems += [
            f"{label}: no column {shown(name)!r}{suggest(name, known)}"
            for name in names
            if name not in known
        ]
        if not len(frame):
            problems.append(f"{label}: there are no records")
    problems += [
        f"bins: {shown(n)!r} is neither a key nor a target" for n in bins if n not in names
    ]
    if problems:
        raise RiskError("\n".join(problems))
    for name in dict.fromkeys(names):
        try:
            columns = {label: frame[name] for label, frame in frames.items()}
            if name in bins:
                found[name] = _binned(name, columns, bins[name])
            else:
                labels = [f.attrs.get(LABELS, {}).get(name, {}) for f in frames.values()]
                meant = {text: code for own in reversed(labels) for text, code in own.items()}
                declared = "all" in categorical or name in categorical
                found[name] = _levels(name, columns, declared, meant)
        except RiskError as error:
            problems.append(str(error))
    if problems:
        raise RiskError("\n".join(problems))
    return found


def _levels(
    name: str,
    columns: Mapping[str, pd.Series[Any]],
    declared: bool,
    labels: Mapping[str, str],
) -> Column:
    """Code each distinct value; the same value may be a number here and a text there."""
    import pandas as pd

    raw: dict[str, _Raw] = {}
    for label, column in columns.items():
        try:
            codes, values = pd.factorize(column.array)
        except TypeError as error:
            raise RiskError(f"{label}: {name!r} holds no single values: {error}") from None
        whole = pd.api.types.is_integer_dtype(values.dtype)
        texts = [str(value) if whole else _text(value) for value in values]
        codes = codes.astype(np.int32)
        if "" in texts:  # files of Stata and SPSS have no other missing texts
            codes[codes == texts.index("")] = -1
        raw[label] = codes, texts
        numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        if numeric and not declared and len(values) > MOST_CODES:
            remedy = f"--bins {name}=10, or --categorical {name} to take each number as it is"
            raise RiskError(f"{name!r} has {len(values):,} different numbers; add {remedy}")
    raw = _alike(raw, labels)
    levels = _sorted({text for _, texts in raw.values() for text in texts if text})
    place = {text: code for code, text in enumerate(levels)}
    blank = any((codes < 0).any() for codes, _ in raw.values())
    missing = len(levels) if blank else -1
    made = {}
    for label, (codes, texts) in raw.items():
        lookup = np.array([*(place.get(text, missing) for text in texts), missing], dtype=np.int32)
        made[label] = lookup[codes]  # a missing value has code -1, the last of the lookup
    return Column(name, (*levels, MISSING) if blank else tuple(levels), missing, made, labels)


def _alike(raw: Mapping[str, _Raw], labels: Mapping[str, str]) -> dict[str, _Raw]:
    """Write levels as the original does: labels as codes, 1.0 as 1, true as 1 or True."""
    there = {text for text in raw[ORIGINAL if ORIGINAL in raw else next(iter(raw))][1] if text}
    label_of = {code: label for label, code in labels.items()}

    def written(text: str) -> str:
        same = [*_TRUTH.get(text.casefold(), ()), labels.get(text, ""), label_of.get(text, "")]
        if _WHOLE.fullmatch(text):
            same.append(text.partition(".")[0])
        return next((one for one in same if one in there), text)

    return {
        label: (codes, [text if text in there else written(text) for text in texts])
        for label, (codes, texts) in raw.items()
    }


def apart(columns: Mapping[str, Column], bins: Collection[str]) -> list[str]:
    """Say where no level of the original is in another data set: nothing would seem disclosed."""
    found = []
    for name, column in columns.items():
        held = {
            label: np.flatnonzero(np.bincount(codes, minlength=column.size))
            for label, codes in column.codes.items()
        }
        there = held[ORIGINAL][held[ORIGINAL] != column.missing]
        for label, every in held.items():
            here = every[every != column.missing]
            if name in bins or min(len(here), len(there)) < 2 or np.isin(here, there).any():
                continue
            one, two = (
                ", ".join(shown(column.levels[k]) for k in side[:3]) for side in (there, here)
            )
            found.append(
                f"{name!r}: the {label} data have no level of the original ({one}, …), but others "
                f"({two}, …); code both alike"
            )
    return found


def _binned(name: str, columns: Mapping[str, pd.Series[Any]], bins: Bins) -> Column:
    """Code groups of numbers; the original decides where groups of equal size are cut."""
    import pandas as pd

    numbers = {}
    for label, column in columns.items():
        try:
            numbers[label] = pd.to_numeric(column).to_numpy(dtype=float, na_value=np.nan)
        except (TypeError, ValueError):
            raise RiskError(
                f"bins: {name!r} holds texts in the {label} data; leave it out"
            ) from None
    if isinstance(bins, int | np.integer):
        if bins < 2:
            raise RiskError(f"bins: {name}={bins} must be 2 groups or more")
        original = numbers["original"]
        known = original[~np.isnan(original)]
        cuts = np.unique(np.quantile(known, np.arange(1, bins) / bins)) if len(known) else known
    else:
        try:
            cuts = np.array(bins, dtype=float)
        except (TypeError, ValueError):
            cuts = np.empty(0)
        if (
            cuts.ndim != 1
            or not len(cuts)
            or not np.all(np.diff(cuts) > 0)
            or not np.isfinite(cuts).all()
        ):
            raise RiskError(f"bins: cut points of {name!r} must be numbers in rising order")
    ends = [f"{cut:.10g}" for cut in cuts]
    levels = ["all"]
    if ends:
        between = [f"{a} to below {b}" for a, b in zip(ends, ends[1:], strict=False)]
        levels = [f"below {ends[0]}", *between, f"{ends[-1]} or more"]
    blank = any(np.isnan(values).any() for values in numbers.values())
    missing = len(levels) if blank else -1
    made = {}
    for label, values in numbers.items():
        codes = np.searchsorted(cuts, values, side="right").astype(np.int32)
        codes[np.isnan(values)] = missing
        made[label] = codes
    return Column(name, (*levels, MISSING) if blank else tuple(levels), missing, made)


def _text(value: Any) -> str:
    """Write a value so that 1, 1.0 and "1" are the same level, and so are dates and their texts."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        return (
            str(int(value)) if math.isfinite(value) and value == int(value) else repr(float(value))
        )
    if isinstance(value, date):
        return value.isoformat().removesuffix("T00:00:00")
    return str(value)


def _sorted(levels: set[str]) -> list[str]:
    """Numbers by size, then texts."""

    def order(text: str) -> tuple[bool, float, str]:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        return (False, number, text) if math.isfinite(number) else (True, 0.0, text)

    return sorted(levels, key=order)
