"""Stata files: extended missing values, labels, and notes that say what the data are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evosynth.errors import FormatError, shown
from evosynth.formats import dta
from evosynth.formats.dataset import Dataset
from evosynth.formats.limits import (
    Fit,
    fit_labels,
    n_bytes,
    plain,
    rename,
    say_names,
    shorten,
    tidy,
    value_labels,
)
from evosynth.schema import Schema, Variable

if TYPE_CHECKING:
    import pandas as pd

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_NAME, _LABEL, _TEXT, _VALUE_LABEL = 32, 80, 2045, 32_000
_LONG = 2_147_483_620
"""Largest whole number that is not stored as a double."""
_RESERVED = frozenset(
    "_all _b _coef _cons _n _N _pi _pred _rc _se _skip byte double float if in int long strL using "
    "with".split()
)
_TAKEN = re.compile(
    r"_(people|groups?|outcome|text_|term\d+)|s_(value|everyone|k|reach|spread|(null_)?deviance|"
    r"n\d\d|(odds|risk)(_se)?|z|chi2|df|v|gap)"
)
"""Names of variables and scalars in ``analysis.do``."""
_NOTE = 67_000
_EPOCH = 3653
"""Days from 1960, where Stata begins to count, to 1970."""
_CHUNK = 250_000


def _allowed(name: str) -> bool:
    text = name.startswith("str") and name[3:].isdigit()
    return name not in _RESERVED and not text and not _TAKEN.fullmatch(name)


def letters(variable: Variable) -> dict[Any, str]:
    """Return extended missing values, ``a`` for ``.a``, by missing code."""
    if variable.values.dtype == object or variable.blank:
        return {}
    return dict(zip(variable.values[variable.valid :].tolist(), _LETTERS, strict=False))


def fit(schema: Schema) -> Fit:
    """Shorten what is too long; refuse what Stata has no place for."""
    found = plain(schema)
    found.names = rename(found.names, _NAME, len, _allowed)
    why = f"Stata takes names of up to {_NAME} characters; it and analysis.do reserve some words"
    say_names(found, why)
    fit_labels(found, _LABEL, len, f"{_LABEL} characters")
    for variable in schema.shown:
        if variable.values.dtype == object:
            _fit_text(variable, found)
            continue
        if variable.missing > len(_LETTERS):
            message = f"Stata has {len(_LETTERS)} missing values, .a to .z; list fewer codes"
            raise FormatError(message, ("variables", variable.name, "missing"))
        codes = letters(variable)
        own = found.values.get(variable.name, {})
        for code, letter in codes.items():
            own[letter] = own.pop(code)
        if codes:
            pairs = ", ".join(f"{code:.15g} is .{letter}" for code, letter in codes.items())
            found.notes.append(f"missing codes of {shown(variable.name)}: {pairs}")
        wide = [code for code in own if not isinstance(code, str) and abs(code) > _LONG]
        if wide:
            own.clear()
            message = "codes of more than nine digits cannot have value labels; see the codebook"
            found.notes.append(f"{shown(variable.name)}: {message}")
        if own:
            found.values[variable.name] = {
                code: shorten(label, _VALUE_LABEL, n_bytes) for code, label in own.items()
            }
        else:
            found.values.pop(variable.name, None)
    return found


def _fit_text(variable: Variable, found: Fit) -> None:
    """Text codes stay text, which Stata does not label; a note of the variable holds the labels."""
    longest = max(n_bytes(text) for text in variable.texts)
    if longest > _TEXT:
        message = f"a code has {longest:,} bytes, and Stata takes {_TEXT:,}; write a shorter one"
        raise FormatError(message, ("variables", variable.name, "categories"))
    labels = found.values.pop(variable.name, {})
    if any(str(code) != label for code, label in labels.items()):
        message = "holds text codes, which Stata cannot label; a note of the variable lists them"
        found.notes.append(f"{shown(variable.name)} {message}")


def write(dataset: Dataset, path: Path, name: str) -> None:
    """Write the file a part at a time."""
    own = fit(dataset.schema)
    columns = [_column(variable, own) for variable in dataset.schema.shown]
    label = shorten(tidy(dataset.label), _LABEL, len)
    notes = [shorten(tidy(text), _NOTE, n_bytes) for text in dataset.notes]
    with path.open("wb") as file:
        dta.write(file, columns, _chunks(dataset, columns), len(dataset.data), label, notes)


def _column(variable: Variable, own: Fit) -> dta.Column:
    """Describe a variable as Stata stores it."""
    name, label = own.names[variable.name], own.labels[variable.name]
    notes = [shorten(text, _NOTE, n_bytes) for text in _variable_notes(variable, own)]
    if variable.values.dtype == object:
        width = max(
            1, *(n_bytes(str(v)) for v in variable.values[: variable.size - variable.blank])
        )
        return dta.Column(name, label, width, notes=notes)
    shown_as = ""
    ends = (-np.inf, np.inf)
    if variable.date:
        days = variable.values[: variable.valid].astype(np.int64) + _EPOCH
        return dta.Column(name, label, 0, (days.min(), days.max()), "%tdCCYY-NN-DD", notes=notes)
    if variable.decimals:
        widest = max(len(text) for text in variable.texts[: variable.valid])
        shown_as = f"%{max(9, widest + 1)}.{variable.decimals}f"
    else:
        values = variable.values[: variable.valid]
        ends = (float(values.min()), float(values.max()))
    labels = own.values.get(variable.name, {})
    return dta.Column(name, label, 0, ends, shown_as, labels, notes)


def _chunks(
    dataset: Dataset, columns: Sequence[dta.Column]
) -> Iterator[Sequence[NDArray[np.generic]]]:
    """Columns of so many records at a time, missing values as Stata has them."""
    for start in range(0, len(dataset.data), _CHUNK):
        part = dataset.data.iloc[start : start + _CHUNK]
        yield [
            _values(part[variable.name], variable, column)
            for variable, column in zip(dataset.schema.shown, columns, strict=True)
        ]


def _values(values: pd.Series[Any], variable: Variable, column: dta.Column) -> NDArray[np.generic]:
    if variable.values.dtype == object:
        texts = values.astype(object).where(values.notna(), "")
        known = {text: text.encode() for text in texts.unique()}
        return np.array([known[text] for text in texts], dtype=column.layout)
    if variable.date:
        days = values.to_numpy().astype("datetime64[D]")
        gone = np.isnat(days)
        since = np.where(gone, np.datetime64(0, "D"), days).astype(np.int64) + _EPOCH
        return np.where(gone, column.missing(""), since).astype(column.layout)
    blank = values.isna().to_numpy(dtype=bool)
    numbers = values.to_numpy(dtype=np.float64, na_value=0.0)
    found = np.where(blank, column.missing(""), numbers)
    for code, letter in letters(variable).items():
        found[numbers == code] = column.missing(letter)
    return found.astype(column.layout)


def _variable_notes(variable: Variable, own: Fit) -> Iterator[str]:
    """Full labels of what the file itself cannot label."""
    label = tidy(variable.label)
    if own.labels[variable.name] != label:
        yield label
    labels = value_labels(variable)
    if labels and variable.name not in own.values:
        yield "; ".join(f"{code} = {text}" for code, text in labels.items())
    for code, letter in letters(variable).items():
        yield f".{letter} was the code {code:.15g}: {labels.get(code, code)}"
