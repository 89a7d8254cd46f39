"""SPSS files: user-missing values, labels, and documents that say what the data are."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import Any

from evosynth.errors import FormatError
from evosynth.formats.dataset import Dataset
from evosynth.formats.limits import (
    Fit,
    fit_labels,
    fit_values,
    n_bytes,
    plain,
    rename,
    say_names,
    shorten,
    tidy,
)
from evosynth.schema import Schema, Variable

_NAME, _LABEL, _VALUE_LABEL, _FILE_LABEL, _LINE = 64, 256, 120, 64, 80
_TEXT, _MISSING_TEXT, _MISSING = 32_767, 8, 3
_CREATED = 92
"""Where a file has the date and the time of its making."""
_RESERVED = frozenset("ALL AND BY EQ GE GT LE LT NE NOT OR TO WITH".split())


def _allowed(name: str) -> bool:
    return name.upper() not in _RESERVED and name[:1].isalpha() and not name.endswith("_")


def fit(schema: Schema) -> Fit:
    """Shorten what is too long; refuse what SPSS has no place for."""
    found = plain(schema)
    found.names = rename(found.names, _NAME, n_bytes, _allowed, str.casefold)
    why = f"SPSS takes names of up to {_NAME} bytes, tells no small letters from capitals, "
    say_names(found, why + "reserves some words, and lets no name begin or end with _")
    fit_labels(found, _LABEL, n_bytes, f"{_LABEL} bytes")
    fit_values(found, _VALUE_LABEL, n_bytes, f"{_VALUE_LABEL} bytes")
    for variable in schema.shown:
        missing_values(variable)
        longest = max(n_bytes(text) for text in variable.texts)
        if variable.values.dtype == object and longest > _TEXT:
            message = f"a code has {longest:,} bytes, and SPSS takes {_TEXT:,}; write a shorter one"
            raise FormatError(message, ("variables", variable.name, "categories"))
    return found


def missing_values(variable: Variable) -> list[Any]:
    """User-missing values: up to three, or a range of codes and perhaps another one."""
    if variable.blank or not variable.missing:
        return []
    codes = variable.values[variable.valid :].tolist()
    where = ("variables", variable.name, "missing")
    if variable.values.dtype == object:
        if any(n_bytes(code) > _MISSING_TEXT for code in codes) or len(codes) > _MISSING:
            message = f"SPSS takes up to {_MISSING} missing codes of {_MISSING_TEXT} bytes each"
            raise FormatError(f"{message}; write numbers as codes, or fewer and shorter", where)
        return list(codes)
    if len(codes) <= _MISSING:
        return list(codes)
    codes = sorted(codes)
    valid = variable.values[: variable.valid]
    for alone in (None, codes[0], codes[-1]):
        rest = [code for code in codes if code != alone]
        if not ((valid >= rest[0]) & (valid <= rest[-1])).any():
            within = {"lo": rest[0], "hi": rest[-1]}
            return [within] if alone is None else [within, alone]
    message = f"SPSS takes up to {_MISSING} missing codes, or a range without valid values in it"
    raise FormatError(f"{message}; choose codes that lie together, such as -9 to -5", where)


def write(dataset: Dataset, path: Path, name: str) -> None:
    """Write the file."""
    import pandas as pd
    import pyreadstat

    own = fit(dataset.schema)
    columns: dict[str, Any] = {}
    formats, measures = {}, {}
    for variable in dataset.schema.shown:
        given = own.names[variable.name]
        column = dataset.data[variable.name]
        if variable.date:
            columns[given] = column.dt.date.astype(object).where(column.notna(), None)
            formats[given], measures[given] = "SDATE10", "scale"
            continue
        text = variable.values.dtype == object
        columns[given] = (
            column.astype(object).where(column.notna(), "") if text else column.astype("float64")
        )
        measures[given] = "nominal" if variable.categorical else "scale"
        widest = max(n_bytes(text) for text in variable.texts)
        formats[given] = f"A{widest}" if text else f"F{max(8, widest)}.{variable.decimals}"
    try:
        pyreadstat.write_sav(
            pd.DataFrame(columns, copy=False),
            os.fsencode(path),
            file_label=shorten(tidy(dataset.label), _FILE_LABEL, n_bytes),
            column_labels={own.names[n]: label for n, label in own.labels.items()},
            row_compress=True,
            note=[line for text in dataset.notes for line in _lines(text)],
            variable_value_labels={own.names[n]: labels for n, labels in own.values.items()},
            missing_ranges={
                own.names[v.name]: missing_values(v) for v in dataset.schema.shown if v.missing
            },
            variable_measure=measures,
            variable_format=formats,
        )
    except pyreadstat.ReadstatError as error:
        raise OSError(f"{path.name}: {error}") from error
    with path.open("r+b") as file:  # the same data are the same bytes, whenever they are written
        file.seek(_CREATED)
        file.write(b"01 Jan 7000:00:00")


def _lines(text: str) -> list[str]:
    """Lines of a document, which hold so many bytes."""
    found = []
    for line in textwrap.wrap(tidy(text), _LINE):
        while n_bytes(line) > _LINE:
            end = len(line)
            while n_bytes(line[:end]) > _LINE:
                end -= 1
            found.append(line[:end])
            line = line[end:]
        found.append(line)
    return found
