"""Excel workbooks: a sheet about the data, the records, and the codebook."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from evosynth.errors import FormatError, many, shown
from evosynth.formats.dataset import Dataset
from evosynth.formats.limits import Fit, plain, tidy
from evosynth.schema import MISSING, Schema

DATA = "data"
"""Name of the sheet of records; more than one sheet holds are in ``data 2`` and so on."""
_ROWS = 1_048_576
_CELL = 32_767
_CHUNK = 50_000
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def fit(schema: Schema) -> Fit:
    """Say how many sheets there are; refuse codes that no cell can hold."""
    found = plain(schema)
    for variable in schema.shown:
        if variable.values.dtype != object:
            continue
        for text in variable.texts:
            if len(text) > _CELL or _ILLEGAL.search(text):
                message = f"the code {shown(text)!r} does not go into a cell of Excel"
                raise FormatError(message, ("variables", variable.name, "categories"))
    sheets = -(-schema.records // (_ROWS - 1))
    if sheets > 1:
        names = f"{DATA}, {DATA} 2 … {DATA} {sheets}"
        found.notes.append(
            f"a sheet holds {many(_ROWS - 1, 'record')}, so they are in {sheets} sheets: {names}"
        )
    return found


def write(dataset: Dataset, path: Path, name: str) -> None:
    """Write the workbook row by row."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    book = Workbook(write_only=True)
    book.properties.title = dataset.label[:255]
    book.properties.description = "\n".join(dataset.notes)[:_CELL]
    bold = Font(bold=True)

    def cell(sheet: Any, value: Any, strong: bool = False) -> Any:
        """Text is text, whatever it begins with; everything else is as it is."""
        if not isinstance(value, str) and not strong:
            return value
        found = WriteOnlyCell(sheet, value="")
        found._value = _ILLEGAL.sub(" ", str(value))[:_CELL]
        found.data_type = "s"
        if strong:
            found.font = bold
        return found

    def add(sheet: Any, rows: Iterator[list[Any]], widths: list[int]) -> None:
        sheet.freeze_panes = "A2"
        for position, width in enumerate(widths):
            sheet.column_dimensions[chr(ord("A") + position)].width = width
        for number, row in enumerate(rows):
            sheet.append([cell(sheet, value, number == 0) for value in row])

    add(book.create_sheet("about"), iter(_about(dataset)), [100])
    names = [variable.name for variable in dataset.schema.shown]
    texts = [variable.values.dtype == object for variable in dataset.schema.shown]
    for number, start in enumerate(range(0, max(len(dataset.data), 1), _ROWS - 1), 1):
        sheet = book.create_sheet(DATA if number == 1 else f"{DATA} {number}")
        sheet.freeze_panes = "A2"
        sheet.append([cell(sheet, value, True) for value in names])
        for row in _records(dataset, start, min(len(dataset.data), start + _ROWS - 1)):
            if any(texts):
                row = tuple(
                    cell(sheet, value) if text else value
                    for value, text in zip(row, texts, strict=True)
                )
            sheet.append(row)
    add(book.create_sheet("codebook"), _codebook(dataset), [20, 40, 16, 40, 12])
    with tempfile.TemporaryFile(dir=path.parent) as file:
        book.save(file)
        _timeless(file, path)


def _timeless(file: IO[bytes], path: Path) -> None:
    """Copy a workbook without times: the same data are the same bytes, whenever written."""
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            plain = zipfile.ZipInfo(entry.filename)
            plain.compress_type = zipfile.ZIP_DEFLATED
            plain.file_size = entry.file_size
            with old.open(entry) as source, new.open(plain, "w") as target:
                if entry.filename == "docProps/core.xml":
                    target.write(_TIME.sub(b"1980-01-01T00:00:00Z", source.read()))
                else:
                    shutil.copyfileobj(source, target, 1 << 20)


def _records(dataset: Dataset, start: int, end: int) -> Iterator[tuple[Any, ...]]:
    """Rows of values, blanks as ``None``."""
    for first in range(start, end, _CHUNK):
        part = dataset.data.iloc[first : min(end, first + _CHUNK)]
        columns = []
        for name in part:
            column = part[name]
            if column.dtype.kind == "M":
                column = column.dt.date
            column = column.astype(object)
            columns.append(column.where(column.notna(), None).tolist())
        yield from zip(*columns, strict=True)


def _about(dataset: Dataset) -> Iterator[list[Any]]:
    yield [dataset.label]
    for text in dataset.notes:
        yield [text]


def _codebook(dataset: Dataset) -> Iterator[list[Any]]:
    yield ["variable", "label", "code", "value label", "missing"]
    for variable in dataset.schema.shown:
        label = tidy(variable.label)
        if variable.identifier is not None:
            yield [variable.name, label, None, "tells records apart", None]
            continue
        if variable.labels is None:
            low, high = variable.values[0].item(), variable.values[variable.valid - 1].item()
            if variable.date:
                low, high = variable.texts[0], variable.texts[variable.valid - 1]
            yield [variable.name, label, low, "smallest value", None]
            yield [variable.name, label, high, "largest value", None]
        names = (*variable.texts[: variable.valid], *variable.missing_labels)
        for level in range(0 if variable.labels else variable.valid, variable.size):
            blank = variable.blank and level == variable.size - 1
            code = "(blank)" if blank else variable.values[level]
            text = (variable.labels or names)[level]
            text = "No value" if blank and text == MISSING else text
            missing = "missing" if level >= variable.valid else None
            code = code if isinstance(code, str) else code.item()
            yield [variable.name, label, code, tidy(text), missing]
