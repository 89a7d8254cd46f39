"""Codes values of several data frames alike: one list of levels, whoever has them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evosynth.errors import RiskError, shown, suggest

if TYPE_CHECKING:
    import pandas as pd

Codes = NDArray[np.int32]
Bins = int | Sequence[float]
"""A number of groups of about equal size, or the cut points between groups."""

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

    @property
    def size(self) -> int:
        """Number of levels, missing values among them."""
        return len(self.levels)


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
                found[name] = _levels(name, columns, "all" in categorical or name in categorical)
        except RiskError as error:
            problems.append(str(error))
    if problems:
        raise RiskError("\n".join(problems))
    return found


def _levels(name: str, columns: Mapping[str, pd.Series[Any]], declared: bool) -> Column:
    """Code each distinct value; the same value may be a number here and a text there."""
    import pandas as pd

    raw: dict[str, tuple[Codes, list[str]]] = {}
    for label, column in columns.items():
        codes, values = pd.factorize(column.array)
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
    levels = _sorted({text for _, texts in raw.values() for text in texts if text})
    place = {text: code for code, text in enumerate(levels)}
    blank = any((codes < 0).any() for codes, _ in raw.values())
    missing = len(levels) if blank else -1
    made = {}
    for label, (codes, texts) in raw.items():
        lookup = np.array([*(place.get(text, missing) for text in texts), missing], dtype=np.int32)
        made[label] = lookup[codes]  # a missing value has code -1, the last of the lookup
    return Column(name, (*levels, MISSING) if blank else tuple(levels), missing, made)


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
    if isinstance(bins, int):
        if bins < 2:
            raise RiskError(f"bins: {name}={bins} must be 2 groups or more")
        original = numbers["original"]
        known = original[~np.isnan(original)]
        cuts = np.unique(np.quantile(known, np.arange(1, bins) / bins)) if len(known) else known
    else:
        cuts = np.array(bins, dtype=float)
        if not len(cuts) or not np.all(np.diff(cuts) > 0) or not np.isfinite(cuts).all():
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
