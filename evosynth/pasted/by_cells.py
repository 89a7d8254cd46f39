"""Tables whose cells are separated outright."""

from __future__ import annotations

from evosynth.pasted.figures import COMMA, read_cell, unread_cell
from evosynth.pasted.header import naming_line, part_header
from evosynth.pasted.lines import Line, place_labels
from evosynth.pasted.rows import ReadLine, assemble
from evosynth.pasted.table import MAX_CELLS, Pasted, Unread, refused, too_many


def by_cells(
    lines: list[Line],
    stubs: int | None,
    head: list[Line] | None = None,
    padded: bool = False,
    most: int = MAX_CELLS,
) -> Pasted:
    """Read lines whose cells are separated; ``padded``: with spaces, so that they are aligned."""
    header, body = part_header(lines) if head is None else (head, lines)
    top, above = naming_line(header)
    table = [line.cells or [] for line in body]
    width = max(map(_trimmed, table), default=0)
    named = list(top.cells or []) if top else []
    reach = _trimmed(named)
    if stubs is None:
        alone = len(table) == 1 and reach == width and all(named[:reach])
        stubs = 0 if alone and read_cell(table[0][0]) else _stub_columns(table)
    aligned = head is not None or not reach or not named[0] or reach != width - stubs
    cut = stubs if aligned else 0
    size = max(width - stubs, reach - cut, 0)
    if size * len(body) > most:
        return refused(body[0].number, too_many(most))
    read, faults = [], []
    for line, cells in zip(body, table, strict=True):
        stub = tuple(place_labels(line.raw[:stubs]))
        texts = [*cells[stubs:], *[""] * (size + stubs - len(cells))][:size]
        figures = [read_cell(text) if text else None for text in texts]
        wrong = [t for t, f in zip(texts, figures, strict=True) if t and (not f or f.comma)]
        if wrong:
            faults.append(Unread(line.number, unread_cell(wrong[0])))
            continue
        found = tuple(figure.texts if figure else () for figure in figures)
        read.append(ReadLine(line.number, stub, found if any(texts) else None))
    spanners = tuple(_filled((line.cells or [])[cut:], size) for line in above)
    return assemble(
        read,
        tuple([*named[cut:], *[""] * size][:size]) if top else (),
        tuple(named[:cut]),
        spanners,
        faults,
        3 if padded else None,
    )


def _trimmed(cells: list[str]) -> int:
    """Return the number of cells up to the last that is not empty."""
    return max((n + 1 for n, cell in enumerate(cells) if cell), default=0)


def _filled(cells: list[str], size: int) -> tuple[str, ...]:
    """Let each label of a spanner reach over the empty cells to its right."""
    found = []
    last = ""
    for cell in [*cells, *[""] * size][:size]:
        last = cell or last
        found.append(last)
    return tuple(found)


def _stub_columns(table: list[list[str]]) -> int:
    """Count the leading columns that hold labels rather than figures; at least one."""
    count = 1
    while True:
        column = [cells[count] for cells in table if count < len(cells) and cells[count]]
        labels = sum(1 for text in column if not read_cell(text) and not COMMA.fullmatch(text))
        if not column or 2 * labels <= len(column):
            return count
        count += 1
