"""Where the header of a table ends, and which of its lines names the columns."""

from __future__ import annotations

import re
from itertools import pairwise

from evosynth.pasted.figures import MINUS
from evosynth.pasted.lines import COLUMN, Line, looks_like_figures

_TITLE = re.compile(r"\s*(?:supplementary )?(?:table|tab\.)\s", re.I)

_GARBLED = re.compile(rf"[{MINUS}]?\d[\d.,' ]{{0,30}}[A-Za-z]?%?")


def _is_row(lines: list[Line], i: int, wide: bool, below: bool) -> bool:
    """Whether a line is the first of the body.

    ``wide``: a line of several labels stands above; ``below``: and a rule between them.
    """
    line = lines[i]
    if below and line.stub and any(re.search(r"\d", piece.text) for piece in line.pieces[1:]):
        return True
    numbers = [figure for figure in line.figures if figure.numeric]
    if line.broken:
        return wide and bool(line.stub) and 2 * len(numbers) >= len(line.pieces) - 1 > 0
    if not line.figures:
        return wide and any(_GARBLED.fullmatch(piece.text) for piece in line.pieces[1:])
    if line.stub:
        return wide or (bool(numbers) and not _is_numeric_header(lines, i))
    after = lines[i + 1 :]
    words = len(lines[i - 1].text.split()) if i and not lines[i - 1].figures else 0
    if wide or words == len(line.figures) > 1:
        return not all(figure.bracketed for figure in line.figures)
    if not after:
        return i > 0
    alike = not after[0].stub and len(after[0].figures) == len(line.figures)
    return alike and len(after) > 1 and not line.figures[0].bracketed


def _is_numeric_header(lines: list[Line], i: int) -> bool:
    """Whether a label and numbers, on top of a table, are the header: codes or years."""
    line = lines[i]
    if i + 1 == len(lines):
        return False
    texts = [figure.texts[0] for figure in line.figures]
    codes = all(len(figure.texts) == 1 for figure in line.figures) and len(set(texts)) == len(texts)
    if not codes or not all(text.isdecimal() for text in texts):
        return False
    if line.ruled and not lines[i + 1].ruled:
        return True
    above = lines[i - 1] if i else None
    if above and len(above.pieces) == 1 and len(texts) > 1:
        if above.start > line.start + 1 < lines[i + 1].start:
            return True
    years = all(re.fullmatch(r"(?:19|20)\d\d", text) for text in texts)
    whole = [int(text) for text in texts if re.fullmatch(r"\d{1,4}", text)]
    steps = len(whole) == len(texts) > 1 and whole[0] < 2
    return years or (steps and all(b - a == 1 for a, b in pairwise(whole)))


def part_header(lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """Part the header lines from the body; titles are left out."""
    end, wide, below = 0, False, False
    while end < len(lines) and not _is_row(lines, end, wide, below):
        wide = wide or len(lines[end].pieces) > 1
        below = below or (wide and lines[end].ruled)
        end += 1
    if end == len(lines):
        return [], lines
    row = lines[end]
    edge = row.edge if row.edge is not None else COLUMN if row.cells is not None else None
    if edge is None:
        edge = row.stub[-1].end if row.stub else row.figures[0].end
    zone = [line for line in lines[:end] if not _TITLE.match(line.text)]
    header = [
        n
        for n, line in enumerate(zone)
        if len(line.pieces) > 1 or line.figures or line.start >= edge
    ]
    if not header and row.cells is None:
        header = [n for n, line in enumerate(zone) if _names_columns(line, row)][-1:]
    last = max(header, default=-1)
    slices = [line for line in zone[: last + 1] if line.start < 0]
    return [zone[n] for n in header], [*slices, *zone[last + 1 :], *lines[end:]]


def _names_columns(line: Line, row: Line) -> bool:
    """Whether a line has as many words as the row below it figures, and is spaced like it."""
    words = len(line.text.split())
    if looks_like_figures(line):
        return False
    if not row.stub:
        return words == len(row.figures)
    return row.sure == 0 and words in (len(row.figures), len(row.figures) + 1) and words > 1


def naming_line(header: list[Line]) -> tuple[Line | None, list[Line]]:
    """Choose the header line that names the columns: the lowest that is not figures in brackets."""
    if not header:
        return None, []
    texts = [
        n
        for n, line in enumerate(header)
        if not line.figures or not all(figure.bracketed for figure in line.figures)
    ]
    chosen = texts[-1] if texts else len(header) - 1
    return header[chosen], header[:chosen] + header[chosen + 1 :]
