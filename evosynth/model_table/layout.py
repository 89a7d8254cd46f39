"""The columns of a printed model, and which of them a figure stands in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from evosynth.errors import many
from evosynth.model_table.atoms import Atom
from evosynth.model_table.header import ESTIMATES, Head
from evosynth.pasted.lines import COLUMN


@dataclass(frozen=True)
class Cell:
    """What stands together at a place of a line."""

    start: int
    end: int
    atoms: tuple[Atom, ...]


@dataclass(frozen=True)
class Slot:
    """A column, or several that are printed as one, such as ``OR (95% CI)``."""

    model: int
    forms: tuple[str, ...]
    start: int
    end: int


@dataclass
class Layout:
    """The columns of a table."""

    slots: list[Slot] = field(default_factory=list)
    names: list[list[str]] = field(default_factory=list)
    """What stands above each model."""
    separated: bool = False
    stubs: int = 1
    """Cells to the left of the figures, where cells are separated."""
    spans: list[tuple[int, int]] = field(default_factory=list)

    @property
    def models(self) -> int:
        """How many models stand side by side."""
        return max(len(self.names), 1)


Placed = list[tuple[Slot, list[Atom]]]
"""Figures by column."""


def _figures(headers: Sequence[list[Head]]) -> list[Head]:
    """Labels that say what figures are, of all header lines, from left to right."""
    chosen: list[Head] = []
    for heads in headers:
        new = [head for head in heads if head.figures]
        if any(head.form in {"low", "high"} for head in new):
            chosen = [head for head in chosen if head.form != "interval"]
        chosen += new
    chosen.sort(key=lambda head: head.start)
    return chosen


def spaced_layout(headers: Sequence[list[Head]]) -> Layout:
    """Make columns of header lines that only spaces separate; raise ``ValueError``."""
    chosen = _figures(headers)
    labels: list[list[Head]] = []
    for heads in headers:
        named = [h for h in heads if h.form == "model"]
        if not named and not any(h.figures for h in heads):
            named = [h for h in heads if not h.form and h.start > 0]
        if len(named) > 1 or (named and named[0].form == "model"):
            labels.append(named)
    models = max(map(len, labels), default=1)
    names = [[line[m].text for line in labels if len(line) == models] for m in range(models)]
    groups: list[list[Head]] = []
    for head in chosen:
        if groups and head.bracketed and head.start - groups[-1][-1].end <= 2:
            groups[-1].append(head)
        else:
            groups.append([head])
    if not groups and models == 1:
        return Layout([], names)
    if not groups:
        wide = max((line for line in labels if len(line) == models), default=[], key=len)
        slots = [Slot(m, (), head.start, head.end) for m, head in enumerate(wide)]
        return Layout(slots, names)
    first = groups[0][0].form
    repeats = sum(1 for group in groups if group[0].form == first)
    if models == 1 and repeats > 1:
        models, names = repeats, [[] for _ in range(repeats)]
    if len(groups) % models:
        raise ValueError(
            f"{many(len(groups), 'column')} under {many(models, 'model')}; name every column"
        )
    each = len(groups) // models
    slots = [
        Slot(n // each, tuple(h.form for h in group), group[0].start, group[-1].end)
        for n, group in enumerate(groups)
    ]
    return Layout(slots, names)


def separated_layout(headers: Sequence[list[Head]]) -> Layout:
    """Make columns of header lines whose cells are separated."""
    forms: dict[int, list[str]] = {}
    for head in _figures(headers):
        forms.setdefault(head.start // COLUMN, []).append(head.form)
    texts: list[dict[int, str]] = []
    for heads in headers:
        line: dict[int, str] = {}
        for head in heads:
            if not head.figures and head.start >= COLUMN and head.form != "span":
                column = head.start // COLUMN
                line[column] = f"{line.get(column, '')} {head.text}".strip()
        if line:
            texts.append(line)
    stubs = min(forms, default=min((min(line) for line in texts), default=1)) or 1
    texts = [{c: t for c, t in line.items() if c >= stubs} for line in texts]
    last = max([*forms, *(c for line in texts for c in line), stubs])
    own: list[tuple[str, ...]] = []
    slots: list[Slot] = []
    pending_interval = False
    for column in range(stubs, last + 1):
        if forms and column not in forms:
            if slots and slots[-1].forms == ("interval",) and not pending_interval:
                slots[-1] = Slot(slots[-1].model, ("low",), slots[-1].start, slots[-1].end)
                forms[column] = ["high"]
                pending_interval = True
            elif not any(column in line for line in texts):
                continue
        names = tuple(
            max(((c, t) for c, t in line.items() if c <= column), default=(0, ""))[1]
            for line in texts
        )
        if names not in own:
            own.append(names)
        held = tuple(forms.get(column, ()))
        slots.append(Slot(own.index(names), held, column * COLUMN, column * COLUMN + 1))
        pending_interval = False
    if len(own) == 1 and slots and slots[0].forms:
        first = slots[0].forms[0]
        starts = [n for n, slot in enumerate(slots) if slot.forms[:1] == (first,)]
        if len(starts) > 1:
            own = [own[0]] * len(starts)
            slots = [
                Slot(sum(1 for s in starts if s <= n) - 1, s.forms, s.start, s.end)
                for n, s in enumerate(slots)
            ]
    return Layout(slots, [list(filter(None, n)) for n in own], separated=True, stubs=stubs)


def learn(layout: Layout, cells: list[Cell]) -> None:
    """See where columns reach by a line that fills them all."""
    if layout.separated or len(cells) != len(layout.slots):
        return
    spans = [(cell.start, cell.end) for cell in cells]
    if layout.spans:
        both = zip(layout.spans, spans, strict=True)
        spans = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in both]
    layout.spans = spans


def place(layout: Layout, cells: list[Cell], edge: int | None = 0) -> Placed:
    """Tell which column each cell of a line belongs to; raise ``ValueError`` if unclear."""
    slots = layout.slots
    if not slots:
        atoms = [atom for cell in cells for atom in cell.atoms]
        return [(Slot(0, (), 0, 0), atoms)]
    if layout.separated:
        by_start = {slot.start: slot for slot in slots}
        found = []
        for cell in cells:
            slot = by_start.get(cell.start)
            if slot is None:
                raise ValueError("a figure stands in a column without a header")
            found.append((slot, list(cell.atoms)))
        return found
    if len(cells) == len(slots):
        return [(slot, list(cell.atoms)) for slot, cell in zip(slots, cells, strict=True)]
    if in_turn := _in_turn(slots, cells):
        return in_turn
    spans = layout.spans or [(slot.start, slot.end) for slot in slots]
    count = sum(len(slot.forms) or 1 for slot in slots)
    taken: dict[int, list[Atom]] = {}
    for cell in cells:
        gaps = sorted((max(a - cell.end, cell.start - b), n) for n, (a, b) in enumerate(spans))
        nearest = gaps[0][1]
        unclear = len(gaps) > 1 and gaps[1][0] - gaps[0][0] < 2
        # A header that begins above the labels is not set above its columns.
        if edge is None or (not layout.spans and slots[0].start < edge):
            unclear = True
        if nearest in taken or unclear:
            raise ValueError(
                f"{many(len(cells), 'figure')}, but the header names {count}; separate the columns "
                "with tabs or |, or write .. where there is none"
            )
        taken[nearest] = list(cell.atoms)
    return [(slots[n], taken[n]) for n in sorted(taken)]


def place_below(layout: Layout, cells: list[Cell], above: Placed) -> Placed:
    """Tell which figures above those without a label belong to."""
    held = [slot for slot, atoms in above if atoms]
    if not layout.separated and len(cells) == len(held) and len(held) < len(layout.slots):
        return [(slot, list(cell.atoms)) for slot, cell in zip(held, cells, strict=True)]
    return place(layout, cells)


def _in_turn(slots: list[Slot], cells: list[Cell]) -> Placed:
    """Give the figures of a line to the columns in turn, if there are as many."""
    wanted = [(slot.model, form) for slot in slots for form in slot.forms]
    found: Placed = []
    at = 0
    for atom in (atom for cell in cells for atom in cell.atoms):
        if atom.kind in {"stars", "note"}:
            if found:
                found[-1][1].append(atom)
            continue
        if at >= len(wanted):
            if atom.kind == "mark":
                continue
            return []
        model, form = wanted[at]
        last = found[-1] if found else None
        if form == "interval" and atom.kind == "number":
            wanted[at : at + 1] = [(model, "low"), (model, "high")]
            form = "low"
        if atom.kind == "interval":
            if form == "low" and at + 1 < len(wanted) and wanted[at + 1][1] == "high":
                at += 1
                form = "interval"
            elif form != "interval":
                return []
        elif atom.kind == "bracket" and form in ESTIMATES and last and last[0].forms != (form,):
            return []
        found.append((Slot(model, (form,), at, at), [atom]))
        at += 1
    return found if at == len(wanted) else []
