"""Proof: every published figure recomputed from a data file with pandas and statsmodels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evosynth.errors import DataError, shown, suggest
from evosynth.formats import SUFFIXES, reading
from evosynth.schema import FloatArray, Schema, Variable
from evosynth.spec import Spec

_GROUPED_FROM = 50_000
"""Records from which identical ones are grouped; that changes no estimate."""


def read_data(path: str | os.PathLike[str], schema: Schema) -> pd.DataFrame:
    """Read the variables of a spec from a CSV, Parquet, Stata, SPSS or Excel file."""
    file = Path(path)
    try:
        frame = _read(file, schema)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise DataError(f"{file}: cannot be read: {reason}") from error
    frame = plain(frame, schema)
    problems = []
    header = str(frame.columns[0]) if len(frame.columns) == 1 else ""
    if other := next((mark for mark in ";\t|" if mark in header), None):
        raise DataError(f"{file}: columns are set apart by {other!r}; save it with commas instead")
    for variable in schema.shown:
        if variable.name not in frame.columns:
            hint = suggest(variable.name, frame.columns)
            problems.append(f"{file}: no column {variable.name!r}{hint}")
            continue
        found = frame[variable.name]
        if variable.identifier is not None:
            continue
        known = found.isin(variable.values[: variable.size - variable.blank])
        strange = found[~(known | (found.isna() if variable.blank else False))].unique()
        if len(strange):
            # One text makes texts of all numbers of a column; name the culprit alone.
            numbers = pd.to_numeric(pd.Series(strange), errors="coerce").isin(variable.values)
            strange = strange if numbers.all() else strange[~numbers.to_numpy()]
            some = ", ".join(shown(repr(value)) for value in strange[:5].tolist())
            problems.append(
                f"{file}: column {variable.name!r} holds values that the spec does not list: {some}"
            )
    if not len(frame):
        problems.append(f"{file}: there are no records")
    if problems:
        raise DataError("\n".join(problems))
    return _typed(frame, schema)


def _read(file: Path, schema: Schema) -> pd.DataFrame:
    """Read a file by its ending."""
    match SUFFIXES.get(file.suffix.lower()):
        case "parquet":
            return pd.read_parquet(file)
        case "csv":
            return _read_csv(file, schema)
        case "stata":
            return reading.read_stata(file, schema)
        case "spss":
            return reading.read_spss(file, schema)
        case "excel":
            return reading.read_excel(file, schema)
    *others, last = SUFFIXES
    raise DataError(f"{file}: the name must end in {', '.join(others)} or {last}")


def _typed(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Columns of the spec in its types: other programs store whole numbers as they like."""
    columns: dict[str, Any] = {}
    for variable in schema.shown:
        column, wanted = frame[variable.name], _type(variable)
        if wanted is not str and str(column.dtype) != str(wanted):
            column = column.astype("Float64" if wanted == "Int64" else wanted).astype(wanted)
        columns[variable.name] = column
    return pd.DataFrame(columns, copy=False)


def plain(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Turn dates into days since 1970, as the search counts them."""
    dates = [v for v in schema.shown if v.date and v.name in frame.columns]
    columns = {}
    for variable in dates:
        column = frame[variable.name]
        if not pd.api.types.is_numeric_dtype(column):
            days = pd.to_datetime(column, errors="coerce").to_numpy().astype("datetime64[D]")
            gone = np.isnat(days)
            whole = np.where(gone, np.datetime64(0, "D"), days).astype(np.int64)
            columns[variable.name] = pd.arrays.IntegerArray(whole, gone)
    return frame.assign(**columns) if columns else frame


def _read_csv(file: Path, schema: Schema) -> pd.DataFrame:
    """Read numbers in as few bytes as the spec allows, or in full where they do not fit.

    Only a blank stands for a missing value, where the spec says so: NA may be a code.
    """
    types = {v.name: _type(v) for v in schema.shown}
    blanks = {v.name: [""] for v in schema.shown if v.blank}
    try:
        return pd.read_csv(file, dtype=types, keep_default_na=False, na_values=blanks)
    except (ValueError, OverflowError):
        texts = {name: t for name, t in types.items() if t is str}
        return pd.read_csv(file, dtype=texts, keep_default_na=False, na_values=blanks)


def _type(variable: Variable) -> Any:
    if variable.values.dtype == object or variable.date or variable.identifier is not None:
        return str
    whole = variable.values.dtype.kind in "iu"
    return "Int64" if variable.blank and whole else variable.values.dtype


def verify(spec: Spec, data: pd.DataFrame) -> pd.DataFrame:
    """Recompute every figure of a spec from data and compare it at its printed precision.

    Returns
    -------
    One row per figure: ``output`` (position in the spec), ``kind``, ``figure``, ``published`` (as
    printed), ``reproduced`` (printed to the same precision), ``exact``, ``value`` (in full), and
    ``half_units``, the distance in half-units of the last printed digit.
    """
    frames = units(spec, data)
    rows = []
    for position, (output, figures) in enumerate(zip(spec.outputs, spec.figures, strict=True)):
        values = output.recompute(*frames[output.unit], spec.schema_of(output))
        for figure, value in zip(figures, values.tolist(), strict=True):
            printed = figure.printed
            rows.append(
                {
                    "output": position,
                    "kind": output.kind,
                    "figure": figure.label,
                    "published": printed.text,
                    "reproduced": printed.show(value) if np.isfinite(value) else "not estimable",
                    "exact": printed.prints(value),
                    "value": value,
                    "half_units": printed.off(value),
                }
            )
    return pd.DataFrame(rows)


def units(spec: Spec, data: pd.DataFrame) -> dict[str, tuple[pd.DataFrame, FloatArray]]:
    """Rows of persons and of households, and how many each stands for."""
    found = {"person": group(data, spec.schema)}
    if spec.households is not None:
        first = data[data[spec.households.person] == 1]
        own = first[list(spec.households.schema.index)]
        found["household"] = group(own, spec.households.schema)
    return found


def group(data: pd.DataFrame, schema: Schema) -> tuple[pd.DataFrame, FloatArray]:
    """Rows and how many records each stands for; large data are grouped by identical records."""
    data = plain(data, schema)
    data = data.drop(columns=[v.name for v in schema.shown if v.identifier is not None])
    if len(data) < _GROUPED_FROM:
        return data, np.ones(len(data))
    sizes = data.groupby(list(data.columns), observed=True, sort=False, dropna=False).size()
    return sizes.index.to_frame(index=False), sizes.to_numpy().astype(np.float64)
