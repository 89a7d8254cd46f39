"""Rows of a table under the labels that they belong to."""

from __future__ import annotations

from dataclasses import dataclass

from evosynth.pasted.lines import Piece
from evosynth.pasted.table import Cell, Pasted, Row, Unread


@dataclass(frozen=True)
class ReadLine:
    """A line of the body: its label, and its cells unless it is a heading."""

    line: int
    stub: tuple[Piece, ...]
    cells: tuple[Cell, ...] | None


def assemble(
    read: list[ReadLine],
    header: tuple[str, ...],
    corner: tuple[str, ...],
    spanners: tuple[tuple[str, ...], ...],
    faults: list[Unread],
    aligned: int | None,
) -> Pasted:
    """Give each row the labels it stands under; join rows without a label to those above.

    ``aligned`` is the number of labels from which a common end means that they are set flush right.
    """
    rows: list[Row] = []
    under: list[_Under] = []
    flat = aligned is not None and _right_aligned([item.stub for item in read], aligned)
    for item in read:
        stub = tuple(Piece(0, p.end, p.text) for p in item.stub) if flat else item.stub
        if item.cells is None:
            if stub:
                under = [u for u in under if u.at < stub[0].start - 1]
                under += [_Under(piece.start, piece.text, heading=True) for piece in stub]
        elif stub:
            under = [u for u in under if u.stays(stub[0].start)]
            labels = (*(u.label for u in under), *(piece.text for piece in stub))
            under += [_Under(piece.start, piece.text) for piece in stub]
            rows.append(Row(item.line, labels, item.cells))
        elif rows:
            cells = zip(rows[-1].cells, item.cells, strict=True)
            joined = tuple(above + below for above, below in cells)
            rows[-1] = Row(rows[-1].line, rows[-1].stub, joined)
        else:
            rows.append(Row(item.line, (), item.cells))
    ordered = tuple(sorted(faults, key=lambda fault: fault.line))
    return Pasted(header, corner, spanners, tuple(rows), ordered)


@dataclass
class _Under:
    """A label that rows below may stand under."""

    at: int
    label: str
    heading: bool = False
    indented: bool | None = None
    """Whether the first row below a heading is set further in."""

    def stays(self, at: int) -> bool:
        """Whether a row that begins at a place still stands under this label."""
        inside = self.at < at - 1
        if self.heading and self.indented is None:
            self.indented = inside
        return inside or (self.heading and not self.indented and abs(self.at - at) <= 1)


def _right_aligned(stubs: list[tuple[Piece, ...]], least: int) -> bool:
    """Whether labels end, but do not begin, at one place: then indentation means nothing."""
    first = [stub[0] for stub in stubs if stub]
    if len(first) < least or any(len(stub) > 1 for stub in stubs):
        return False
    return len({p.end for p in first}) == 1 < len({p.start for p in first})
