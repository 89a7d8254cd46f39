"""Reads data files of every format into a frame of the spec's variables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evosynth.formats import excel, file_name, installed, spss, stata
from evosynth.formats.limits import back
from evosynth.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


def read_stata(file: Path, schema: Schema) -> pd.DataFrame:
    """Read a Stata file; extended missing values become the spec's codes again."""
    installed("stata", f"reading {file_name('stata', file.stem)}")
    import pyreadstat

    frame = _pyreadstat(pyreadstat.read_dta, file)
    frame = frame.rename(columns=back(stata.fit(schema), frame.columns))
    for variable in schema.shown:
        codes = {letter: code for code, letter in stata.letters(variable).items()}
        if variable.name in frame and codes and frame[variable.name].dtype == object:
            column = frame[variable.name]
            frame[variable.name] = column.map(lambda value, codes=codes: codes.get(value, value))
    return _blanks(frame, schema)


def read_spss(file: Path, schema: Schema) -> pd.DataFrame:
    """Read an SPSS file; user-missing values are codes there, too."""
    installed("spss", f"reading {file_name('spss', file.stem)}")
    import pyreadstat

    frame = _pyreadstat(pyreadstat.read_sav, file)
    frame = frame.rename(columns=back(spss.fit(schema), frame.columns, str.casefold))
    return _blanks(frame, schema)


def _pyreadstat(read: Any, file: Path) -> pd.DataFrame:
    import pyreadstat

    with file.open("rb"):
        pass  # a clear message if it cannot be opened
    try:
        found: pd.DataFrame = read(os.fsencode(file), user_missing=True)[0]
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        raise ValueError(str(error)) from error
    return found


def _blanks(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Make blanks of empty texts where the spec has blanks."""
    for variable in schema.shown:
        if variable.blank and variable.values.dtype == object and variable.name in frame:
            column = frame[variable.name]
            frame[variable.name] = column.where(column != "", None)
    return frame


def read_excel(file: Path, schema: Schema) -> pd.DataFrame:
    """Read the sheets of records of a workbook, or the first sheet where none has that name."""
    installed("excel", f"reading {file_name('excel', file.stem)}")
    import zipfile

    import pandas as pd
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with file.open("rb") as stream:
            book = load_workbook(stream, read_only=True, data_only=True)
            names = [name for name in book.sheetnames if name.split(" ")[0] == excel.DATA]
            parts = [_sheet(book[name]) for name in names or book.sheetnames[:1]]
    except (zipfile.BadZipFile, KeyError, InvalidFileException) as error:
        raise ValueError("it is not an Excel workbook") from error
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]


def _sheet(sheet: Any) -> pd.DataFrame:
    import pandas as pd

    rows = sheet.iter_rows(values_only=True)
    header = [str(name) for name in next(rows, ())]
    columns: list[list[Any]] = [[] for _ in header]
    for row in rows:
        for column, value in zip(columns, row, strict=False):
            column.append(value)
        for column in columns[len(row) :]:
            column.append(None)
    return pd.DataFrame(dict(zip(header, columns, strict=True)))
