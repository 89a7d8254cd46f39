"""Data files that get a weight column: all that they hold besides stays as it is."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from evosynth.errors import DataError
from evosynth.formats import SUFFIXES, excel, file_name, installed
from evosynth.weights.coding import LABELS
from evosynth.weights.diagnostics import Calibration
from evosynth.weights.totals import text_of

if TYPE_CHECKING:
    import pandas as pd

Write: TypeAlias = Callable[[Path, Calibration], None]
"""Writes the same file with weights in one more column."""


@dataclass(frozen=True)
class Source:
    """The records of a file as they are analysed, and how to write the file again."""

    frame: pd.DataFrame
    write: Write


def read(file: Path) -> Source:
    """Read a data file by its ending."""
    readers = {"csv": _csv, "parquet": _parquet, "excel": _excel, "stata": _stata, "spss": _spss}
    name = SUFFIXES.get(file.suffix.lower())
    if name is None:
        *others, last = SUFFIXES
        raise DataError(f"{file}: the name must end in {', '.join(others)} or {last}")
    installed(name, f"reading {file_name(name, file.stem)}")
    try:
        with file.open("rb"):
            pass  # a clear message if it cannot be opened
        return readers[name](file)
    except (OSError, ValueError, EOFError, LookupError, RuntimeError, ArithmeticError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise DataError(f"{file}: cannot be read: {reason}") from error


def _csv(file: Path) -> Source:
    """Take codes such as 01 for texts; what is written are the texts of the file itself."""
    import pandas as pd

    texts = pd.read_csv(file, dtype=str, keep_default_na=False)
    if not isinstance(texts.index, pd.RangeIndex):
        raise ValueError("its lines have more values than the first line has names")
    frame = pd.read_csv(file, low_memory=False)
    for name in frame.select_dtypes("number").columns:
        if texts[name].str.match(r"\s*[+-]?0\d").any():
            frame[name] = texts[name].where(frame[name].notna())

    def write(path: Path, found: Calibration) -> None:
        whole = texts.assign(**{found.name: found.weights})
        whole.to_csv(path, index=False, lineterminator="\n")

    return Source(frame, write)


def _parquet(file: Path) -> Source:
    import pyarrow as pa
    import pyarrow.parquet

    with file.open("rb") as stream:  # Arrow takes no path that is not UTF-8
        table = pyarrow.parquet.read_table(stream)

    def write(path: Path, found: Calibration) -> None:
        field = pa.field(found.name, pa.float64(), metadata={"label": found.label})
        with path.open("wb") as target:
            whole = table.append_column(field, pa.array(found.weights))
            pyarrow.parquet.write_table(whole, target)

    return Source(table.to_pandas().reset_index(drop=True), write)


def _excel(file: Path) -> Source:
    """Read the sheets called data, or the first where there is none."""
    import zipfile

    import pandas as pd
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = load_workbook(file, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, InvalidFileException) as error:
        raise ValueError("it is not an Excel workbook") from error
    named = [name for name in book.sheetnames if name.split(" ")[0] == excel.DATA]
    places: list[tuple[str, int]] = []
    records: list[tuple[Any, ...]] = []
    header: tuple[Any, ...] = ()
    sheets = named or book.sheetnames[:1]
    for sheet in sheets:
        rows = book[sheet].iter_rows(values_only=True)
        header = next(rows, ())
        while header and header[-1] is None:
            header = header[:-1]
        for number, row in enumerate(rows, start=2):
            if any(value is not None for value in row):
                places.append((sheet, number))
                records.append((*row, *[None] * len(header))[: len(header)])
    book.close()
    frame = pd.DataFrame(records, columns=[str(name) for name in header]).infer_objects()

    def write(path: Path, found: Calibration) -> None:
        whole = load_workbook(file)
        last = len(header) + 1
        for sheet in sheets:
            whole[sheet].cell(1, last, found.name)
        for (sheet, number), weight in zip(places, found.weights.tolist(), strict=True):
            whole[sheet].cell(number, last, weight)
        whole.save(path)

    return Source(frame, write)


def _stata(file: Path) -> Source:
    """Read extended missing values (.a to .z) as missing; they stay what they are."""
    import pyreadstat

    frame = _labelled(*_pyreadstat(pyreadstat.read_dta, file))
    return Source(frame, _again(file, pyreadstat.read_dta, pyreadstat.write_dta))


def _spss(file: Path) -> Source:
    """Read user-missing values as missing; they stay what they are."""
    import pyreadstat

    frame = _labelled(*_pyreadstat(pyreadstat.read_sav, file))
    return Source(frame, _again(file, pyreadstat.read_sav, pyreadstat.write_sav))


def _labelled(frame: pd.DataFrame, about: Any) -> pd.DataFrame:
    """Keep labels that one value has each, so that it is found by them."""
    frame.attrs[LABELS] = {}
    for name, labels in about.variable_value_labels.items():
        many = Counter(labels.values())
        own = {label: text_of(value) for value, label in labels.items() if many[label] == 1}
        frame.attrs[LABELS][name] = own
    return frame


def _pyreadstat(read: Any, file: Path, **how: bool) -> tuple[pd.DataFrame, Any]:
    import pyreadstat

    try:
        frame, about = read(os.fsencode(file), **how)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        raise ValueError(str(error)) from error
    return frame, about


def _again(file: Path, read: Any, write: Any) -> Write:
    """Write the raw values with all that pyreadstat tells of them."""
    import pyreadstat

    def written(path: Path, found: Calibration) -> None:
        whole, about = _pyreadstat(read, file, user_missing=True, disable_datetime_conversion=True)
        labels = {name: label or "" for name, label in about.column_names_to_labels.items()}
        more = {"missing_user_values": about.missing_user_values}
        if write is pyreadstat.write_sav:
            more = {
                "missing_ranges": about.missing_ranges,
                "variable_measure": about.variable_measure,
                "variable_display_width": about.variable_display_width,
                "note": about.notes,
            }
        try:
            write(
                whole.assign(**{found.name: found.weights}),
                os.fsencode(path),
                file_label=about.file_label or "",
                column_labels={**labels, found.name: found.label},
                variable_value_labels=about.variable_value_labels,
                variable_format=about.original_variable_types,
                **{key: value for key, value in more.items() if value},
            )
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
            raise DataError(f"{path.name}: cannot be written: {error}") from error

    return written
