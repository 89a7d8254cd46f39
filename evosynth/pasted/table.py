"""A pasted table as texts, and how large it may be."""

from __future__ import annotations

from dataclasses import dataclass

MAX_TEXT = 1_000_000

MAX_CELLS = 100_000

MAX_FILE_CELLS = 2_000_000
"""Cells of a CSV file; its characters are bounded by the size of files."""

Cell = tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A line of figures and what stands to their left."""

    line: int
    """0-based line of the text."""
    stub: tuple[str, ...]
    """The label, after the labels that it stands under."""
    cells: tuple[Cell, ...]
    """The texts in each column: ``("12", "3.4")`` for ``12 (3.4%)``, none in an empty cell."""


@dataclass(frozen=True)
class Unread:
    """A line that cannot be read, and what to do about it."""

    line: int
    message: str


@dataclass(frozen=True)
class Pasted:
    """A table as texts."""

    header: tuple[str, ...] = ()
    """The label of each column of figures; empty if the table has no header."""
    corner: tuple[str, ...] = ()
    """Labels above the stub, if there are any."""
    spanners: tuple[tuple[str, ...], ...] = ()
    """Header lines above the header, the top one first, with a label for each column."""
    rows: tuple[Row, ...] = ()
    faults: tuple[Unread, ...] = ()


def refused(line: int, message: str) -> Pasted:
    """Return a table of which nothing is read."""
    return Pasted(faults=(Unread(line, message),))


def too_many(most: int) -> str:
    """Say that a table has too many cells."""
    return f"more than {most:,} cells; give one table"
