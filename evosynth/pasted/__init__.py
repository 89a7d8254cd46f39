"""Reads tables that people paste from papers: labels, and the figures beside them, as texts.

Columns are told apart by bars, tabs, ``&``, semicolons or commas; else by two or more spaces; else
the figures are the numbers at the end of the line. Nothing is known here of what a figure means.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence

from evosynth.pasted.by_cells import by_cells
from evosynth.pasted.by_spaces import by_spaces
from evosynth.pasted.figures import THIN, join_digits, unread_cell
from evosynth.pasted.labels import match
from evosynth.pasted.latex import latex_cells
from evosynth.pasted.lines import COLUMN, Line, Piece, bare_line, separated_line, spaced_line
from evosynth.pasted.r_tables import read_r_table
from evosynth.pasted.separators import (
    FOOTNOTE,
    SLICE,
    barred_cells,
    find_way,
    is_rule,
    quoted_cells,
)
from evosynth.pasted.table import (
    MAX_CELLS,
    MAX_FILE_CELLS,
    MAX_TEXT,
    Cell,
    Pasted,
    Row,
    Unread,
    refused,
    too_many,
)


def _too_large(texts: Sequence[str], way: str, most: int = MAX_CELLS) -> Pasted | None:
    """Refuse a text of too many cells before they are read."""
    mark = {"latex": "&", "grid": "|", "grid-open": "|"}.get(way, way)
    seen = 0
    for number, text in enumerate(texts):
        seen += len(text.split()) if way in {"bars", "spaces"} else text.count(mark) + 1
        seen += 99 * text.count(r"\multicolumn") if way == "latex" else 0
        if seen > most and text.strip():
            return refused(number, too_many(most))
    return None


def tidy_lines(text: str) -> list[str]:
    """Lines of a text with plain spaces and bars, thin spaces between thousands closed."""
    texts = [THIN.sub(join_digits, line) for line in re.split(r"\r\n|\r|\n", text)]
    texts = [re.sub("[\u00a0\u2000-\u200a\u202f]", " ", line).rstrip() for line in texts]
    return [re.sub("[\u2502\u2503\u2551\u00a6]", "|", line) for line in texts]


def parse(text: str, stubs: int | None = None) -> Pasted:
    """Read a pasted table; ``stubs`` is the number of label columns, if that is known."""
    if len(text) > MAX_TEXT:
        return refused(0, f"more than {MAX_TEXT:,} characters; paste one table")
    texts = tidy_lines(text)
    way = find_way(texts)
    large = _too_large(texts, way)
    if large:
        return large
    lines = list(_lines(texts, way))
    found = read_r_table(texts) if way == "spaces" else None
    if found:
        return found
    spaced = way in {"bars", "spaces"}
    found = by_spaces(lines, stubs) if spaced else by_cells(lines, stubs, padded="grid" in way)
    return found if found.rows or found.faults else _without_figures(lines)


def _without_figures(lines: list[Line]) -> Pasted:
    """Say why no figure was found."""
    for line in lines:
        for piece in line.pieces[1:]:
            if re.match(r"\W?\d", piece.text):
                return refused(line.number, unread_cell(piece.text))
    return refused(0, "no figures were found; paste the table with its labels and figures")


def _lines(texts: list[str], way: str) -> Iterator[Line]:
    """Make the lines of a table, without rules, footnotes and repeated headers."""
    seen: set[str] = set()
    last: Line | None = None
    repeated = way == "spaces" and any(SLICE.fullmatch(text.strip()) for text in texts)
    for number, text in enumerate(texts):
        plain = text.strip()
        cells = latex_cells(text) if way == "latex" else None
        if is_rule(text) or (way == "latex" and cells is None):
            if last:
                last.ruled = True
            continue
        if not plain.strip("|") or cells == [] or FOOTNOTE.match(text):
            continue
        part = SLICE.fullmatch(plain) if repeated else None
        if repeated and not part and plain in seen and last and not last.figures:
            continue
        line = _line(number, text, way, cells)
        if part:
            line = Line(number, part[1], pieces=[Piece(-COLUMN, 0, part[1])])
            line.stub = line.pieces
        if line.pieces:
            seen.add(plain)
            last = line
            yield line


def _line(number: int, text: str, way: str, cells: list[str] | None) -> Line:
    if cells is not None:
        return separated_line(number, cells)
    if way in {"grid", "grid-open"}:
        return separated_line(number, barred_cells(text, way == "grid"))
    if way in {"bars", "spaces"}:
        return spaced_line(number, text.expandtabs(8), way == "bars")
    return separated_line(number, quoted_cells(text, way))


def parse_csv(text: str, stubs: int | None = None) -> Pasted:
    """Read a CSV file with one header line; ``stubs`` is the number of label columns, if known."""
    text = THIN.sub(join_digits, text.removeprefix("\ufeff"))
    first = next((line for line in text.splitlines() if line.strip()), "")
    mark = max(
        "\t;,", key=lambda mark: (len(quoted_cells(first, mark)) > 1, mark == "\t", mark == ";")
    )
    lines: list[Line] = []
    large = _too_large(text.split("\n"), mark, MAX_FILE_CELLS)
    if large:
        return large
    reader = csv.reader(re.split(r"(?<=\n)", text), delimiter=mark)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                lines.append(bare_line(reader.line_num - 1, cells))
    except csv.Error as error:
        return refused(max(reader.line_num - 1, 0), f"not a CSV file: {error}")
    if not lines:
        return refused(0, "the file is empty")
    found = by_cells(lines[1:], stubs, lines[:1], most=MAX_FILE_CELLS)
    if found.rows or found.faults:
        return found
    return _without_figures([separated_line(line.number, line.raw) for line in lines])


__all__ = [
    "MAX_CELLS",
    "MAX_FILE_CELLS",
    "MAX_TEXT",
    "Cell",
    "Pasted",
    "Row",
    "Unread",
    "match",
    "parse",
    "parse_csv",
    "tidy_lines",
]
