"""Tables whose columns only spaces set apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from evosynth.errors import many
from evosynth.pasted.figures import Figure, read_cell, unread_cell
from evosynth.pasted.header import naming_line, part_header
from evosynth.pasted.lines import (
    Line,
    Piece,
    chunks,
    count_figures,
    looks_like_figures,
    split_words,
)
from evosynth.pasted.rows import ReadLine, assemble
from evosynth.pasted.table import MAX_CELLS, Cell, Pasted, Unread, refused, too_many


def by_spaces(lines: list[Line], stubs: int | None) -> Pasted:
    """Read lines whose cells only spaces separate."""
    header, body = part_header(lines)
    top, above = naming_line(header)
    faults: list[Unread] = []
    size = _columns(top, body, stubs or 1)
    if size * len(body) > MAX_CELLS:
        return refused(body[0].number, too_many(MAX_CELLS))
    taken = [(line, _taken(line, size)) for line in body]
    spans = _spans([figures for _, figures in taken if len(figures) == size], size)
    rising = [len(figures) for _, figures in taken if figures]
    triangle = len(rising) > 2 and rising == list(range(size - len(rising) + 1, size + 1))
    read = []
    for line, figures in taken:
        try:
            read.append(_row(line, figures, size, spans, triangle))
        except ValueError as error:
            faults.append(Unread(line.number, str(error)))
    corner, labels = _labels(top, size, spans, stubs or 1)
    if labels is None and top:
        message = (
            f"{many(len(top.text.split()), 'word')} above {many(size, 'column')} of figures; "
            "separate the columns with tabs, | or two spaces"
        )
        faults.append(Unread(top.number, message))
    spanners = tuple(_spread(line, top, size, spans) for line in above)
    barred = any(line.edge is not None for line in lines)
    return assemble(read, labels or (), corner, spanners, faults, 2 if barred else 3)


def _columns(top: Line | None, body: list[Line], stubs: int) -> int:
    """Count the columns of figures, by the header where it agrees with the body."""
    rows = [line for line in body if line.figures and not line.broken]
    labelled = [line for line in rows if line.stub]
    counts = [count_figures(line) for line in labelled]
    if not labelled:
        named = {len(top.pieces), len(split_words(top))} if top else set()
        shift = 0 if len(rows) == 1 and count_figures(rows[0]) in named else 1
        counts = [max(count_figures(line) - shift, 1) for line in rows]
    if not counts:
        return 0
    tally = Counter(counts)
    usual = min(tally, key=lambda count: (-tally[count], count))
    most = max(counts)
    if top is None:
        rising = all(b == a + 1 for a, b in pairwise(counts))
        return most if rising else usual
    if top.edge is not None:
        right = [piece for piece in top.pieces if piece.start >= top.edge]
        words = sum(len(piece.text.split()) for piece in right)
        return next((n for n in (len(right), words) if usual <= n <= most), usual)
    flush = bool(labelled) and top.start <= min(line.start for line in labelled) + 1
    for n in (len(top.pieces), len(split_words(top))):
        if flush and stubs > 1 and 0 < n - stubs <= most:
            return n - stubs
        for size in (n - 1, n) if flush or not labelled else (n, n - 1):
            if size in (usual, most) and size > 0:
                before = {line.text[: line.figures[-size:][0].start] for line in labelled}
                doubtful = size == n and flush and len(labelled) > 1 == len(before)
                return size - 1 if doubtful and size > 1 else size
    return usual


def _taken(line: Line, size: int) -> list[Figure]:
    """Return the figures of a line that belong to columns: the last ones."""
    figures = line.figures
    if (
        len(figures) > size > 0
        and len(figures) > 1
        and figures[-1].texts in {("*",), (".",), ("#",)}
    ):
        last = figures[-2]
        joined = Figure(last.start, last.end, (*last.texts, *figures[-1].texts), comma=last.comma)
        figures = [*figures[:-2], joined]
    if line.edge is None and len(figures) > line.sure > 0 and line.sure >= size:
        figures = figures[-line.sure :]
    return figures[-size:] if size else []


def _spans(full: list[list[Figure]], size: int) -> list[tuple[int, int]]:
    """Return from where to where each column reaches."""
    if not full:
        return []
    return [
        (min(f[column].start for f in full), max(f[column].end for f in full))
        for column in range(size)
    ]


def _row(
    line: Line, figures: list[Figure], size: int, spans: list[tuple[int, int]], triangle: bool
) -> ReadLine:
    """Read a line of the body; raise ``ValueError`` with a remedy if it cannot be read."""
    end = line.edge if line.edge is not None else figures[0].start if figures else len(line.text)
    stub = tuple(chunks(line.text[:end]))
    comma = next((f for f in figures if f.comma), None)
    if comma:
        raise ValueError(unread_cell(line.text[comma.start : comma.end]))
    outside = spans and line.edge is None and line.pieces[-1].end <= spans[0][0]
    if outside and len(line.pieces) == 1:
        figures = []
        stub = tuple(line.pieces)
    elif line.broken or (not figures and looks_like_figures(line)):
        last = line.pieces[-1].text
        raise ValueError(
            unread_cell(next((p.text for p in line.pieces[1:] if not read_cell(p.text)), last))
        )
    if figures and any(p.start < figures[0].start < p.end for p in line.pieces[1:]):
        raise ValueError(_ragged(line.figures, size))
    if not figures:
        label = " ".join(piece.text for piece in stub)
        return ReadLine(line.number, (Piece(line.start, line.pieces[-1].end, label),), None)
    if len(figures) == size:
        return ReadLine(line.number, stub, tuple(figure.texts for figure in figures))
    places = list(range(len(figures))) if triangle and not spans else _places(figures, spans)
    if places is None and triangle:
        places = list(range(len(figures)))
    if places is None or (spans and any(piece.end > spans[0][0] for piece in stub[1:])):
        raise ValueError(_ragged(figures, size))
    cells: list[Cell] = [()] * size
    for place, figure in zip(places, figures, strict=True):
        cells[place] = figure.texts
    return ReadLine(line.number, stub, tuple(cells))


def _ragged(figures: list[Figure], size: int) -> str:
    return (
        f"{many(len(figures), 'figure')} in a table of {many(size, 'column')}; separate the "
        f"columns with "
        "tabs or |, write .. for an empty cell and 1,234 for thousands"
    )


def _places(figures: Sequence[Figure | Piece], spans: list[tuple[int, int]]) -> list[int] | None:
    """Find the column below or above which each thing stands, if that is plain."""
    places = []
    for figure in figures:
        under = [n for n, (a, b) in enumerate(spans) if figure.start < b and figure.end > a]
        if len(under) != 1:
            return None
        places += under
    return places if all(a < b for a, b in pairwise(places)) else None


def _labels(
    top: Line | None, size: int, spans: list[tuple[int, int]], stubs: int
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Part the header into what stands above the stub and a label for each column."""
    if top is None:
        return (), ()
    below = _right_labels(top, spans)
    if below:
        return below
    words = split_words(top)
    ways = [top.pieces, words]
    if size == 1 and len(words) == 2 and spans and words[1].start < spans[0][0]:
        ways.reverse()
    for pieces in ways:
        if top.edge is not None:
            right = [piece for piece in pieces if piece.start >= top.edge]
            left = [piece for piece in pieces if piece.start < top.edge]
        else:
            right, left = pieces[-size:], pieces[: max(len(pieces) - size, 0)]
        if len(right) == size and (len(left) <= stubs or top.edge is not None):
            return tuple(p.text for p in left), tuple(p.text for p in right)
    if top.edge is None and spans:
        left = [piece for piece in top.pieces if piece.end <= spans[0][0] - 2]
        right = top.pieces[len(left) :]
    else:
        right = [piece for piece in top.pieces if piece.start >= (top.edge or 0)]
        left = [piece for piece in top.pieces if piece.start < (top.edge or 0)]
    places = _places(right, spans)
    if not places:
        return (), None
    labels = [""] * size
    for place, piece in zip(places, right, strict=True):
        labels[place] = piece.text
    return tuple(piece.text for piece in left), tuple(labels)


def _right_labels(
    top: Line, spans: list[tuple[int, int]]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Cut the header at the ends of the columns, if a label ends at each of them."""
    ends = [0, *(end for _, end in spans)]
    text = top.text.rstrip()
    if not spans or top.edge is not None or len(text) != ends[-1]:
        return None
    parts = [chunks(text[a:b], a) for a, b in pairwise(ends)]
    fits = all(part and part[-1].end == end for part, end in zip(parts, ends[1:], strict=True))
    if not fits or any(len(part) > 1 for part in parts[1:]):
        return None
    if any(text[end : end + 1].strip() for end in ends[1:]):
        return None
    corner = tuple(piece.text for piece in parts[0][:-1])
    return corner, tuple(part[-1].text for part in parts)


def _spread(
    line: Line, top: Line | None, size: int, spans: list[tuple[int, int]]
) -> tuple[str, ...]:
    """Give each column the label of a spanner that reaches over it."""
    pieces = [piece for piece in line.pieces if piece.start >= (line.edge or 0)]
    if len(pieces) == size or not spans or not pieces:
        return tuple(piece.text for piece in pieces) if len(pieces) == size else ("",) * size
    if len(pieces) > 1 and line.edge is None and pieces[0].end < spans[0][0] - 2:
        pieces = pieces[1:]
    block, rest = divmod(size, len(pieces))
    below = [p for p in top.pieces if p.start >= (top.edge or 0)][-size:] if top else []
    centred = [
        next((n for n, p in enumerate(below) if abs(p.start + p.end - q.start - q.end) < 3), -1)
        for q in pieces
    ]
    if len(pieces) > 1 and len(below) == size and min(centred) >= 0 and (rest or not block % 2):
        above = dict(zip(centred, pieces, strict=True))
        return tuple(above[n].text if n in above else "" for n in range(size))
    if not rest:
        return tuple(piece.text for piece in pieces for _ in range(block))
    return tuple(
        min(pieces, key=lambda piece: abs(piece.start + piece.end - a - b)).text for a, b in spans
    )
