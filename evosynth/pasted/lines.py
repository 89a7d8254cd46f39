"""Lines of a table: labels and figures with their places, before it is known which is header."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from evosynth.pasted.figures import WORD, Figure, read_cell, read_figure


@dataclass(frozen=True)
class Piece:
    """A label and where it stands on its line."""

    start: int
    end: int
    text: str


@dataclass
class Line:
    """A line of a table, before it is known what is header and what is body."""

    number: int
    text: str = ""
    cells: list[str] | None = None
    """Its cells, where columns are separated outright."""
    raw: list[str] = field(default_factory=list)
    """The same with the spaces around them."""
    edge: int | None = None
    """Where the stub ends, if a bar says so."""
    pieces: list[Piece] = field(default_factory=list)
    stub: list[Piece] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    sure: int = 0
    """How many of the figures are set apart from the label."""
    broken: bool = False
    """Whether something among the figures is none."""
    ruled: bool = False
    """Whether a rule stands below."""

    @property
    def start(self) -> int:
        """Where its first label begins."""
        return self.pieces[0].start


COLUMN = 1000
"""How far apart columns are that are separated outright; less is indentation."""


def bare_line(number: int, raw: list[str]) -> Line:
    """Make a line of separated cells that are not looked at yet."""
    return Line(number, cells=[" ".join(cell.split()) for cell in raw], raw=raw)


def place_labels(raw: list[str]) -> list[Piece]:
    """Labels in separated cells, with their indentation."""
    found = []
    for column, cell in enumerate(raw):
        text = " ".join(cell.split())
        if text:
            indent = len(cell.expandtabs(4)) - len(cell.expandtabs(4).lstrip())
            start = column * COLUMN + min(indent, COLUMN // 2)
            found.append(Piece(start, column * COLUMN + len(cell.rstrip()), text))
    return found


def separated_line(number: int, raw: list[str]) -> Line:
    """Make a line of separated cells."""
    line = bare_line(number, raw)
    cells = line.cells or []
    line.text = " ".join(cells)
    line.pieces = place_labels(raw)
    line.stub = [piece for piece in line.pieces if piece.start < COLUMN]
    for text in filter(None, cells[1:]):
        figure = read_cell(text)
        line.broken |= figure is None
        line.figures += [figure] if figure else []
    line.sure = len(line.figures)
    return line


_CHUNK = re.compile(r"\S+(?: \S+)*+")

_GLUED = re.compile(
    r"\b(Std\.|1st|3rd|[ztF]|Odds|Hazard|Risk) (?=Error|err\.|Dev|Qu\.|value|ratio)", re.I
)

_SIZE = re.compile(r"\(n\s?=\s?[\d,]{1,12}\)", re.I)
"""How many a column or row is about, as in ``Male (n=40)``: part of its label."""

_SIZE_AFTER = re.compile(rf"(?<=[^\W\d_]) {_SIZE.pattern}", re.I)

_CONNECTORS = {"to", "and", "than", "under", "&", "-", "–", "—"}


def chunks(text: str, offset: int = 0) -> list[Piece]:
    """Split on two or more spaces."""
    return [
        Piece(offset + m.start(), offset + m.end(), m.group().replace("\0", " "))
        for m in _CHUNK.finditer(text)
    ]


def _scan(piece: Piece) -> list[Figure]:
    """Find the figures that end a chunk."""
    found: list[Figure] = []
    at = 0
    while at < len(piece.text):
        figure = read_figure(piece.text, at, alone=False)
        if figure and (found or at == 0 or not _SIZE.match(piece.text, at)):
            found.append(figure)
            at = figure.end + 1
        else:
            found = []
            at = piece.text.find(" ", at) + 1 or len(piece.text)
    before = piece.text[: found[0].start].split()[-1:] if len(found) > 1 else []
    if before and before[0].casefold() in _CONNECTORS:
        found = found[1:]
    return [
        Figure(f.start + piece.start, f.end + piece.start, f.texts, f.bracketed, f.comma)
        for f in found
    ]


def spaced_line(number: int, text: str, bars: bool) -> Line:
    """Make a line of which only spaces, and perhaps a bar after the stub, separate the columns."""
    edge = text.find("|") if bars else -1
    text = re.sub(r"(?<= )\|(?= |$)|^\||\|$", " ", text) if bars else text
    text = re.sub(r"(?<=\d% conf\.) (?=interval)", "  ", text, flags=re.I)
    text = re.sub(r"\(( +)([^()\s]{1,20})\)", r"(\2)\1", text)
    text = _GLUED.sub(lambda m: f"{m[1]}\0", text)
    text = _SIZE_AFTER.sub(lambda m: m[0].replace(" ", "\0"), text)
    line = Line(number, text, edge=edge if edge >= 0 else None, pieces=chunks(text))
    if line.edge is not None:
        line.stub = chunks(text[: line.edge])
        right = chunks(text[line.edge :], line.edge)
        line.pieces = [*line.stub, *right]
        for piece in right:
            figures = _scan(piece)
            line.broken |= not figures or figures[0].start > piece.start
            line.figures += figures
        line.sure = len(line.figures)
        return line
    left = list(line.pieces)
    apart: list[list[Figure]] = []
    while left:
        figures = _scan(left[-1])
        if not figures or figures[0].start > left[-1].start:
            break
        apart.append(figures)
        left.pop()
    line.figures = [figure for figures in reversed(apart) for figure in figures]
    line.sure = len(line.figures)
    if left:
        line.figures = _scan(left[-1]) + line.figures
    elif line.figures and line.figures[0].texts[0].isalpha():
        left = line.pieces[:1]
        line.figures = line.figures[1:]
        line.sure -= 1
    if not line.figures:
        line.figures = [f for piece in left[1:] if (f := read_cell(piece.text)) and f.numeric]
        line.broken = bool(line.figures)
        line.stub = left[:1] if line.broken else left
        return line
    line.stub = chunks(text[: line.figures[0].start])
    return line


def count_figures(line: Line) -> int:
    """How many figures a line seems to hold beside its label."""
    return line.sure or len(line.figures)


def split_words(line: Line) -> list[Piece]:
    """Split the labels of a header line on every space."""
    return [
        Piece(m.start(), m.end(), m.group().replace("\0", " ")) for m in WORD.finditer(line.text)
    ]


def looks_like_figures(line: Line) -> bool:
    """Whether a line without a figure has digits where figures would stand."""
    if any(re.match(r"\W?\d", piece.text) for piece in line.pieces[1:]):
        return True
    *words, last = line.pieces[0].text.split()
    if re.fullmatch(r"\W?\d[\d.,]{0,20}[A-Za-z]{1,2}\W?", last):
        return True
    return bool(re.match(r"\W?\d", last)) and any(re.fullmatch(r"[\d.,]+", w) for w in words)
