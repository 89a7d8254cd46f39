"""Reads the printed table of a model: which figure belongs to which term, and what it is.

Layouts of Stata, R, SPSS, statsmodels, estout and papers; standard errors beside or below the
coefficients. Every line with figures is read, or named in a fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from evosynth import model_measures
from evosynth.errors import shown, suggest
from evosynth.model_header import ESTIMATES, Head, scan
from evosynth.model_terms import REFERENCE, Found, Terms, fold, words
from evosynth.pasted import MAX_TEXT, Unread, tidy_lines
from evosynth.pasted.figures import ITEM, MARKS, clean, unread_cell
from evosynth.pasted.latex import latex_cells
from evosynth.pasted.lines import COLUMN, spaced_line
from evosynth.pasted.separators import FOOTNOTE, barred_cells, find_way, is_rule, quoted_cells

_DECIMAL = r"[+\u2212\u2013-]?\d*\.\d+"
_BARE = re.compile(
    rf"(?<![\w.,(\[-])(?P<low>{_DECIMAL})(?: to |[\u2013\u2014-]| [\u2013\u2014-] )"
    rf"(?P<high>{_DECIMAL})(?=[\s,;|*&]|$)"
)
"""An interval without brackets: 0.85 to 1.23."""
_BRACKETED = re.compile(
    rf"[(\[]\s*(?:(?:\d\d% ?)?CI ?[:=,]? ?)?(?P<low>{ITEM})"
    rf"(?:\s*(?:[,;]|\bto\b)\s*|[\u2212\u2013\u2014-]\s*|\s+[\u2212\u2013\u2014-]\s+|\s{1, 3})"
    rf"(?P<high>{ITEM})\s*[)\]]"
)
_ATOMS = {
    "interval": re.compile(rf"\[(?P<a>{ITEM}); (?P<b>{ITEM})\]"),
    "bracket": re.compile(rf"[(\[]\s*(?:(?:SE|S\.E\.|[tzp]) ?[:=]? ?)?(?P<a>{ITEM})\s*[)\]]", re.I),
    "number": re.compile(rf"(?P<a>{ITEM})"),
    "stars": re.compile(r"(?P<a>\*+)"),
    "note": re.compile(r"[†‡§¶#+]+"),
}
_NOTES = {
    "standard_errors": re.compile(r"standard errors? (?:are )?(?:in|between)", re.I),
    "statistics": re.compile(r"\b[tz][- ](?:stat(?:istic)?s?|values?|ratios?) (?:are )?in", re.I),
    "p_values": re.compile(r"p[- ]?values? (?:are )?in", re.I),
}
_RATIO_NOTE = re.compile(r"exponentiated coefficients|^\s*odds ratios", re.I)
_ROBUST = re.compile(r"\brobust\b|covariance type:\s*hc\d", re.I)
_QUARTILES = re.compile(r"\s*min\s+1q\s+median", re.I)
_DF = re.compile(r"\(df ?= ?[^()]*\)", re.I)
_STEP = re.compile(r"(?:step )?\d+ ?[a-z]?", re.I)
_WALD = re.compile(r"wald chi2", re.I)


@dataclass(frozen=True)
class Atom:
    """A figure as it stands: a number, bare or in brackets, an interval, stars, or a mark."""

    kind: str
    texts: tuple[str, ...] = ()


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


@dataclass
class Line:
    """A line of figures and what is known of it."""

    number: int
    label: str
    found: Found
    under: tuple[str, ...]
    equation: str | None
    layout: Layout
    cells: list[Cell]
    edge: int = 0
    """Where the label ends."""
    below: list[list[Cell]] = field(default_factory=list)
    """Cells of the lines below that have no label."""


@dataclass(frozen=True)
class TermFigure:
    """A figure by term."""

    key: str
    equation: str | None
    name: str
    texts: tuple[str, ...]
    line: int


@dataclass
class ModelTable:
    """What a printed table of a model says."""

    figures: list[TermFigure] = field(default_factory=list)
    measures: list[tuple[str, str, int]] = field(default_factory=list)
    level: tuple[float, int] | None = None
    """Of confidence intervals, per cent, and the line that tells."""
    robust: int | None = None
    """Line that says that standard errors are robust."""
    faults: list[Unread] = field(default_factory=list)


@dataclass(frozen=True)
class Question:
    """What is asked of a table."""

    terms: Terms
    column: str | None = None
    """Number or header of the model, where several stand side by side."""
    shows: tuple[str, ...] = ()
    """What the figures of a term are, in turn, if no header says so."""
    ratios: str | None = None
    """Key of exponentiated coefficients, if the kind has them."""
    outcome: Callable[[str], str | None] | None = None
    """Value of the outcome that a heading names, in a model of several equations."""
    bases: frozenset[str] = frozenset()
    """Values of the outcome that have no equation."""
    elsewhere: frozenset[str] = frozenset()
    """Names and labels, folded, of variables that are not in the formula."""


def read_model(text: str, question: Question) -> ModelTable:
    """Read a pasted table."""
    if len(text) > MAX_TEXT:
        message = f"more than {MAX_TEXT:,} characters; paste one table"
        return ModelTable(faults=[Unread(0, message)])
    return _Reader(text, question).read()


def read_atoms(text: str) -> tuple[Atom, ...] | None:
    """Read the figures in a cell; ``None`` if something else stands there."""
    found: list[Atom] = []
    at = 0
    while at < len(text):
        if text[at] in " ,;" and (at or text[at] == " "):
            at += 1
            continue
        for kind, pattern in _ATOMS.items():
            match = pattern.match(text, at)
            if match:
                texts = tuple(t for t in match.groupdict().values() if t)
                found.append(Atom(kind, tuple(map(_written_out, texts))))
                at = match.end()
                break
        else:
            word = text[at:].split()[0]
            if REFERENCE.fullmatch(text[at:]) or word.casefold().strip("()[]") in MARKS:
                at = len(text) if REFERENCE.fullmatch(text[at:]) else at + len(word)
                found.append(Atom("mark"))
                continue
            return None
    return tuple(found)


def _written_out(text: str) -> str:
    """Write a number without an exponent, and with a plain minus."""
    plain = clean(text) if text.strip("*") else text
    sign = re.match(r"[<>≤≥]=?", plain)
    body = plain[sign.end() :] if sign else plain
    if re.fullmatch(r"[-\d.,]+e[-+]?\d{1,3}", body, re.I):
        body = format(Decimal(body.replace(",", "")), "f")
    return (sign.group() if sign else "") + body


def _intervals(text: str) -> str:
    """Write every interval as ``[low; high]``."""
    text = _BRACKETED.sub(r"[\g<low>; \g<high>]", text)
    return _BARE.sub(r"[\g<low>; \g<high>]", text)


def assign(forms: Sequence[str], atoms: Sequence[Atom], bracket: str) -> dict[str, tuple[str, ...]]:
    """Tell what each figure of a term is; raise ``ValueError`` if they are too many.

    ``forms``: what the header names; ``bracket``: what stands in brackets beyond that.
    """
    left = list(forms)
    found: dict[str, tuple[str, ...]] = {}
    stars: tuple[str, ...] = ()

    def put(key: str, texts: tuple[str, ...]) -> None:
        if key in found:
            raise ValueError(f"two figures that are {key.replace('_', ' ')}")
        found[key] = texts

    for atom in atoms:
        if atom.kind == "stars":
            stars = atom.texts
        elif atom.kind == "mark":
            left = left[1:]
        elif atom.kind == "interval":
            if "interval" in left:
                left.remove("interval")
            left = [form for form in left if form not in {"low", "high"}]
            put("interval", atom.texts)
        elif atom.kind in {"number", "bracket"}:
            if left and left[0] == "interval":
                left[:1] = ["low", "high"]
            if left:
                put(left.pop(0), atom.texts)
            elif atom.kind == "bracket":
                put(bracket, atom.texts)
            else:
                message = f"{atom.texts[0]} is one figure more than the header names"
                raise ValueError(f"{message}; name every column, or list them under shows")
    if stars and "p_values" not in found:
        found["p_values"] = stars
    found.pop("passed over", None)
    return found


class _Reader:
    def __init__(self, text: str, question: Question) -> None:
        self.ask = question
        self.result = ModelTable()
        self.texts = [self._tidy(line) for line in tidy_lines(text)]
        self.way = self._way()
        self.lines: list[Line] = []
        self.layout = Layout(separated=self._separated)
        self.heads: list[tuple[list[Head], int]] = []
        self.under: tuple[str, ...] = ()
        self.puzzled = False
        """Whether a column is not known."""
        self.equation: str | None = None
        self.bracket = "standard_errors"
        self.estimate = "coefficients"
        self.pending: list[tuple[int, str]] = []
        """Lines without figures that mean nothing, unless they turn out to be notes."""
        self.totals: list[tuple[str, int, Layout, list[Cell]]] = []

    @property
    def _separated(self) -> bool:
        return self.way not in {"bars", "spaces"}

    @staticmethod
    def _tidy(line: str) -> str:
        line = re.sub(r"\(>\s?\|([zt])\|\)", r"(>\1)  ", line)
        line = re.sub(r">\s?\|([zt])\|", r">\1  ", line)
        return _DF.sub(lambda m: " " * len(m[0]), line)

    def _way(self) -> str:
        """Say what separates the columns."""
        if any(re.match(r"\s*-{3,}\+-{3,}", text) for text in self.texts):
            return "bars"
        table = [
            text
            for text in self.texts
            if text.strip() and not is_rule(text) and not FOOTNOTE.match(text)
        ]
        plain = [text for text in table if not model_measures.pairs(text)[0]]
        found = find_way(plain)
        if found == "spaces" and len(plain) > 1:
            rows = [quoted_cells(text, ",") for text in plain]
            spaced = any(re.search(r"\S {2,}\S", text) for text in plain)
            if len(rows[0]) > 1 and len({len(row) for row in rows}) == 1 and not spaced:
                return ","
        return found

    def read(self) -> ModelTable:
        skip = False
        for number, text in enumerate(self.texts):
            if not text.strip(" |") or is_rule(text):
                continue
            if skip:
                skip = False
                continue
            skip = bool(_QUARTILES.match(text))
            if not skip:
                self._line(number, text)
        last = max((line.number for line in self.lines), default=-1)
        last = max([last, *(number for _, number, _, _ in self.totals)])
        for number, text in self.pending:
            if number < last:
                self._fault(number, self.ask.terms.unknown(text))
        chosen = None if self.puzzled else self._choose()
        if chosen is not None:
            for line in self.lines:
                self._learn(line)
            for line in self.lines:
                self._finish(line, chosen)
            for key, number, layout, cells in self.totals:
                self._total(key, number, layout, cells, chosen)
        if not self.lines and not self.result.measures and not self.result.faults:
            self._fault(0, "no figures were found; paste the table with its terms and figures")
        return self.result

    def _fault(self, number: int, message: str) -> None:
        self.result.faults.append(Unread(number, message))

    def _line(self, number: int, text: str) -> None:
        plain = re.sub(r"\s*\|\s*", "  ", text).strip()
        if _ROBUST.search(text) and not re.search(r"\d\.\d", text):
            self.result.robust = number
        for key, pattern in _NOTES.items():
            if pattern.search(text):
                self.bracket = key
                return
        if _RATIO_NOTE.search(text) and not re.search(r"\d", text):
            self.estimate = self.ask.ratios or "coefficients"
            return
        cells = self._cells(text)
        if cells is None:
            return
        if model_measures.PASSED_OVER.fullmatch(plain):
            self.heads = []  # a part of R's output begins
            return
        if self._reference(number, text, cells) or self._header(number, text, cells):
            return
        row = self._row(number, text, cells)
        if row is not None and (row.found.names or row.found.reference):
            self._take(row)
            return
        if self._pairs(number, text):
            return
        if row is not None and row.label:
            measure = model_measures.named(row.label)
            if measure is not None:
                self.totals.append((measure, number, row.layout, row.cells))
                return
        if model_measures.WORDS.match(plain) or FOOTNOTE.match(text):
            return
        if row is not None and not row.label and row.cells:
            self._below(row)
        elif row is not None and row.cells:
            self._take(row)
        elif row is None and re.search(r"\d", text[len(text) - len(text.lstrip()) :][1:]):
            if not self._heading(number, cells) and not self._prose(plain):
                self._unread(number, cells)
        elif not self._heading(number, cells) and self.lines:
            self.pending.append((number, plain))

    def _prose(self, plain: str) -> bool:
        """Whether a line is a sentence rather than part of a table: a title or a note."""
        return len(plain.split()) > 3 and not re.search(r"\s{2,}|\d\.\d", plain)

    def _unread(self, number: int, cells: list[str]) -> None:
        if not self._separated:
            cells = cells[0].split()
        wrong = next(
            (c for c in cells[1:] if re.search(r"\d", c) and read_atoms(c.strip()) is None), ""
        )
        if wrong:
            self._fault(number, unread_cell(wrong.strip()))
        else:
            self._fault(number, self.ask.terms.unknown(" ".join(" ".join(cells).split())))

    def _cells(self, text: str) -> list[str] | None:
        """Cells of a line; one where only spaces separate them; ``None`` if it has none."""
        if self.way == "latex":
            cells = latex_cells(text)
            return [_intervals(cell) for cell in cells] if cells else None
        if self.way in {"grid", "grid-open"}:
            return [_intervals(cell) for cell in barred_cells(text, self.way == "grid")]
        if self._separated:
            return [_intervals(cell) for cell in quoted_cells(text, self.way)]
        return [_intervals(text.expandtabs(8))]

    def _reference(self, number: int, text: str, cells: list[str]) -> bool:
        """Pass over the line of a reference category."""
        plain = " ".join(" ".join(cells).replace("|", " ").split())
        if not REFERENCE.search(plain) or self.ask.terms.heading(plain):
            return False
        label = REFERENCE.sub("", plain)
        while True:
            found = self.ask.terms.find(label, self.under)
            if found.reference:
                return True
            shorter = re.sub(r"[\s(\[]*(?:[01](?:\.0+)?|[-–—.]+)$", "", label)
            if shorter == label:
                break
            label = shorter
        if self.ask.outcome is not None and self.ask.outcome(label) in self.ask.bases:
            self.equation = None
            return True
        if found.names and len(found.names) == 1:
            name = next(iter(found.names))
            message = f"the table has {name} as reference; name it under reference"
            self._fault(number, message)
            return True
        return False

    def _header(self, number: int, text: str, cells: list[str]) -> bool:
        """Take a line that names columns."""
        if self._separated:
            heads = [
                head
                for column, cell in enumerate(cells)
                for head in scan(" ".join(cell.split()), column * COLUMN)
            ]
            pieces = sum(1 for cell in cells[1:] if cell.strip())
        else:
            edge = cells[0].find("|") if self.way == "bars" else -1
            line = cells[0].replace("|", " ")
            heads = scan(line)
            pieces = len(re.split(r"\s{2,}", line.strip()))
            if edge >= 0 and any(head.start > edge for head in heads):
                self._corner([head for head in heads if head.start < edge])
                heads = [head for head in heads if head.start > edge]
        if any(
            not head.form
            and re.match(r"\W?\d|.*[=:]\s*\S", head.text)
            and not (self.ask.outcome and self.ask.outcome(head.text))
            for head in heads
        ):
            return False
        forms = [head for head in heads if head.figures]
        models = [head for head in heads if head.form == "model"]
        first = not self.lines
        wide = pieces > 1 and first and not re.search(r"\d\.\d|=", text)
        if len(forms) < 2 and not (first and (forms or models or wide)):
            return False
        if first and not forms and not models and self.ask.terms.heading(text.strip(" |")):
            return False
        if not first and self.heads and self.heads[-1][1] < self.lines[-1].number:
            self.heads = []
        if not self._separated and forms and not heads[0].form:
            self._corner(heads[:1])
        for text in _strangers(heads, self._separated):
            self.puzzled = True
            message = f"{shown(text)!r} is not known above a column; write what it holds"
            self._fault(number, f"{message}, such as coef, SE, z, p or 95% CI, or remove it")
        self.heads.append((heads, number))
        self.layout = self._build()
        for head in forms:
            if head.level is not None:
                self.result.level = head.level, number
        return True

    def _corner(self, heads: list[Head]) -> None:
        """See whether the label above the terms names an outcome."""
        text = " ".join(head.text for head in heads)
        found = self.ask.outcome(text) if self.ask.outcome and text else None
        if found is not None:
            self.equation = found

    def _build(self) -> Layout:
        """Make columns of the header lines."""
        chosen: list[Head] = []
        for heads, _ in self.heads:
            new = [head for head in heads if head.figures]
            if any(head.form in {"low", "high"} for head in new):
                chosen = [head for head in chosen if head.form != "interval"]
            chosen += new
        chosen.sort(key=lambda head: head.start)
        if self._separated:
            return self._separated_layout(chosen)
        labels: list[list[Head]] = []
        for heads, _ in self.heads:
            named = [h for h in heads if h.form == "model"]
            if not named and not any(h.figures for h in heads):
                named = [h for h in heads if not h.form and h.start > 0]
            if len(named) > 1 or (named and named[0].form == "model"):
                labels.append(named)
        models = max(map(len, labels), default=1)
        names = [[line[m].text for line in labels if len(line) == models] for m in range(models)]
        groups: list[list[Head]] = []
        for head in chosen:
            joined = groups and head.start - groups[-1][-1].end <= 2
            text = f" {self._between(groups[-1][-1].end, head.start)}" if joined else ""
            if joined and ("(" in text or "[" in text):
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
            number = self.heads[-1][1]
            self._fault(number, f"{len(groups)} columns under {models} models; name every column")
            models, names = 1, []
        each = len(groups) // models
        slots = [
            Slot(n // each, tuple(h.form for h in group), group[0].start, group[-1].end)
            for n, group in enumerate(groups)
        ]
        return Layout(slots, names)

    def _between(self, start: int, end: int) -> str:
        return self._cells(self.texts[self.heads[-1][1]])[0][start:end]  # type: ignore[index]

    def _separated_layout(self, chosen: list[Head]) -> Layout:
        forms: dict[int, list[str]] = {}
        for head in chosen:
            forms.setdefault(head.start // COLUMN, []).append(head.form)
        texts: list[dict[int, str]] = []
        for heads, _ in self.heads:
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

    def _row(self, number: int, text: str, cells: list[str]) -> Line | None:
        """Part a line into its label and its figures; ``None`` if it has none."""
        if self._separated:
            return self._separated_row(number, cells)
        line = spaced_line(number, cells[0], self.way == "bars")
        text = line.text.replace("\0", " ")
        if line.broken or not line.figures:
            return None
        figures = []
        for figure in line.figures:
            atoms = read_atoms(text[figure.start : figure.end].strip())
            if atoms is None:
                return None
            figures.append(Cell(figure.start, figure.end, atoms))
        if line.edge is not None:
            label = " ".join(text[: line.edge].replace("|", " ").split())
            return self._made(number, label, figures)
        size = sum(len(slot.forms) for slot in self.layout.slots)
        usual = len(figures) - line.sure
        best: tuple[tuple[bool, bool, int], Line] | None = None
        for at in range(len(figures)):
            label = " ".join(text[: figures[at].start].split())
            row = self._made(number, label, figures[at:])
            known = bool(row.found.names or row.found.reference or model_measures.named(label))
            if not known:
                continue
            count = sum(a.kind not in {"stars", "note"} for c in row.cells for a in c.atoms)
            order = (size == 0 or count == size, at == usual, -at)
            if best is None or order > best[0]:
                best = order, row
        if best:
            return best[1]
        at = usual if usual < len(figures) else 0
        label = " ".join(text[: figures[at].start].split())
        if not label and figures[0].atoms[0].kind not in {"bracket", "interval"} and at == 0:
            return self._made(number, text[: figures[0].end].strip(), figures[1:])
        return self._made(number, label, figures[at:])

    def _separated_row(self, number: int, cells: list[str]) -> Line | None:
        stubs = self.layout.stubs
        if not self.layout.slots:
            while (
                stubs < len(cells) and cells[stubs].strip() and not read_atoms(cells[stubs].strip())
            ):
                stubs += 1
        labels = [" ".join(cell.split()) for cell in cells[:stubs]]
        named = [label for label in labels if label]
        for label in named[:-1]:
            if not _STEP.fullmatch(label):
                self._heading(number, [label])
        figures = []
        for column, cell in enumerate(cells[stubs:], stubs):
            if cell.strip():
                atoms = read_atoms(cell.strip())
                if atoms is None:
                    return None
                figures.append(Cell(column * COLUMN, column * COLUMN + 1, atoms))
        return self._made(number, named[-1] if named else "", figures) if figures else None

    def _made(self, number: int, label: str, cells: list[Cell]) -> Line:
        found = self.ask.terms.find(label, self.under) if label else Found()
        text = self.texts[number].expandtabs(8)
        edge = len(text) - len(text.lstrip()) + len(label)
        return Line(number, label, found, self.under, self.equation, self.layout, cells, edge)

    def _take(self, row: Line) -> None:
        self.lines.append(row)

    def _below(self, row: Line) -> None:
        """Join a line without a label to the one above."""
        if not self.lines:
            self._fault(row.number, "figures without a term; write the term before them")
        elif self.totals and self.totals[-1][1] > self.lines[-1].number:
            self._fault(row.number, "figures without a label; remove the line")
        else:
            self.lines[-1].below.append(row.cells)

    def _pairs(self, number: int, text: str) -> bool:
        """Take figures that are written as ``name = value``."""
        if model_measures.PROSE.match(text):
            return True
        found, left = model_measures.pairs(text)
        if not found and left == text:
            return bool(model_measures.SQUARES.match(text))
        for key, value in found:
            if key == "lr_p_value" and any(map(_WALD.search, self.texts)):
                self._fault(number, "the p-value of a Wald test is not read; remove it")
                continue
            self.result.measures.append((key, _written_out(value), number))
        if re.search(r"\d", left) and not model_measures.SQUARES.match(text):
            what = " ".join(left.replace("|", " ").split())
            self._fault(number, self.ask.terms.unknown(what))
        return True

    def _heading(self, number: int, cells: list[str]) -> bool:
        """Take a line without figures that names a variable or an outcome."""
        text = " ".join(" ".join(cells).replace("|", " ").split())
        found = self.ask.terms.heading(text)
        if found:
            self.under = found
            return True
        outcome = self.ask.outcome(text) if self.ask.outcome else None
        if outcome is not None:
            self.equation, self.under = outcome, ()
            return True
        self.under = ()
        return fold(text) in self.ask.elsewhere or self.layout.models > 1

    def _choose(self) -> int | None:
        """Which of several models is asked for; -1: each, as they are outcomes."""
        layouts = [line.layout for line in self.lines] + [layout for _, _, layout, _ in self.totals]
        layout = max(layouts, key=lambda item: item.models, default=self.layout)
        names = [" ".join(name) for name in layout.names]
        if layout.models == 1 and self.ask.column is None:
            return 0
        outcome = self.ask.outcome
        if outcome is not None and all(self._equation(n, layout) for n in range(layout.models)):
            return -1
        shown_names = ", ".join(name or str(n) for n, name in enumerate(names, 1))
        wanted = self.ask.column
        if wanted is None:
            message = f"the table has several models ({shown_names}); name one under column"
            self._fault(self._header_line, message)
            return None
        for reduced in (fold, words):
            same = {
                n
                for n, parts in enumerate(layout.names)
                if reduced(wanted) in {reduced(part) for part in [*parts, " ".join(parts)]}
            }
            if len(same) == 1:
                return same.pop()
        if wanted.strip().isdecimal() and 1 <= int(wanted) <= layout.models:
            return int(wanted) - 1
        hint = suggest(wanted, names) if any(names) else f" (there are {layout.models})"
        self._fault(self._header_line, f"no model is called {shown(wanted)!r}{hint}")
        return None

    @property
    def _header_line(self) -> int:
        return self.heads[-1][1] if self.heads else 0

    def _equation(self, model: int, layout: Layout) -> str | None:
        """Outcome that stands above a model."""
        if self.ask.outcome is None or model >= len(layout.names):
            return None
        found = {self.ask.outcome(part) for part in layout.names[model]} - {None}
        return found.pop() if len(found) == 1 else None

    def _learn(self, line: Line) -> None:
        """See where columns reach by a line that fills them all."""
        layout = line.layout
        if layout.separated or len(line.cells) != len(layout.slots):
            return
        spans = [(cell.start, cell.end) for cell in line.cells]
        if layout.spans:
            both = zip(layout.spans, spans, strict=True)
            spans = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in both]
        layout.spans = spans

    def _placed(
        self, layout: Layout, cells: list[Cell], edge: int
    ) -> list[tuple[Slot, list[Atom]]]:
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
            if nearest in taken or unclear or (not layout.spans and slots[0].start < edge):
                raise ValueError(
                    f"{len(cells)} figures, but the header names {count}; separate the columns "
                    "with tabs or |, or write .. where there is none"
                )
            taken[nearest] = list(cell.atoms)
        return [(slots[n], taken[n]) for n in sorted(taken)]

    def _finish(self, line: Line, chosen: int) -> None:
        """Take the figures of one line."""
        try:
            placed = self._placed(line.layout, line.cells, line.edge)
            for below in line.below:
                placed += self._placed_below(line.layout, below, placed)
        except ValueError as error:
            known = line.found.names or line.found.reference
            self._fault(line.number, str(error) if known else self.ask.terms.unknown(line.label))
            return
        joined: dict[Slot, list[Atom]] = {}
        for slot, atoms in placed:
            joined.setdefault(slot, []).extend(atoms)
        models = (
            range(line.layout.models) if chosen < 0 else [chosen if line.layout.models > 1 else 0]
        )
        for model in models:
            mine = [(s, a) for s, a in joined.items() if s.model == model]
            if any(atom.texts for _, atoms in mine for atom in atoms):
                equation = self._equation(model, line.layout) if chosen < 0 else line.equation
                self._term(line, equation, mine)

    def _placed_below(
        self, layout: Layout, cells: list[Cell], above: list[tuple[Slot, list[Atom]]]
    ) -> list[tuple[Slot, list[Atom]]]:
        """Tell which figures above those without a label belong to."""
        held = [slot for slot, atoms in above if atoms]
        if not layout.separated and len(cells) == len(held) and len(held) < len(layout.slots):
            return [(slot, list(cell.atoms)) for slot, cell in zip(held, cells, strict=True)]
        return self._placed(layout, cells, 0)

    def _term(self, line: Line, equation: str | None, mine: list[tuple[Slot, list[Atom]]]) -> None:
        names = line.found.names
        if line.found.reference and not names:
            if _is_reference(atom for _, atoms in mine for atom in atoms):
                return
            message = (
                f"{shown(line.label)!r} is the reference category, which has no coefficient; "
                "remove the line, or name another value under reference"
            )
            self._fault(line.number, message)
            return
        if len(names) != 1:
            if names:
                both = " or ".join(sorted(names))
                message = f"{shown(line.label)!r} may be {both}; write which of them"
            else:
                message = self.ask.terms.unknown(line.label)
            self._fault(line.number, message)
            return
        if self.ask.outcome is not None and (equation is None or equation in self.ask.bases):
            message = "for which outcome? Write a line with its value above the terms"
            self._fault(line.number, message)
            return
        try:
            found = self._assigned(mine)
        except ValueError as error:
            self._fault(line.number, f"{shown(line.label)}: {error}")
            return
        (name,) = names
        for key, texts in found.items():
            self.result.figures.append(TermFigure(key, equation, name, texts, line.number))

    def _assigned(self, mine: list[tuple[Slot, list[Atom]]]) -> dict[str, tuple[str, ...]]:
        """Tell what the figures of a term are."""
        found: dict[str, tuple[str, ...]] = {}
        stars: dict[str, tuple[str, ...]] = {}
        for slot, atoms in mine:
            default = self.ask.shows or (self.estimate,)
            given = assign(slot.forms or default, atoms, self.bracket)
            if given.get("p_values", ("",))[0].startswith("*"):
                stars = {"p_values": given.pop("p_values")}
            for key, texts in given.items():
                if key in found:
                    raise ValueError(f"two figures that are {key.replace('_', ' ')}")
                found[key] = texts
        if "low" in found or "high" in found:
            if not {"low", "high"} <= set(found):
                raise ValueError("one end of the confidence interval is missing")
            found["interval"] = found.pop("low") + found.pop("high")
        return {**stars, **found}

    def _total(self, key: str, number: int, layout: Layout, cells: list[Cell], chosen: int) -> None:
        """Take a figure of the whole model from a line of its own."""
        wanted = max(chosen, 0)
        if layout.models == 1 or len(cells) == 1:
            mine = cells[:1]
        elif layout.separated or len(cells) != layout.models:
            try:
                placed = self._placed(layout, cells, 0)
            except ValueError as error:
                self._fault(number, str(error))
                return
            mine = [Cell(0, 0, tuple(a)) for slot, a in placed if slot.model == wanted][:1]
        else:
            mine = [cells[wanted]]
        atoms = [atom for cell in mine for atom in cell.atoms]
        numbers = [atom.texts[0] for atom in atoms if atom.kind in {"number", "bracket"}]
        if len(numbers) > 1:
            self._fault(number, f"{' '.join(numbers)} is more than one figure")
        elif numbers:
            self.result.measures.append((key, numbers[0], number))
            stars = [atom.texts[0] for atom in atoms if atom.kind == "stars"]
            tested = {"f": "f_p_value", "lr_chi_square": "lr_p_value"}.get(key)
            if stars and tested:
                self.result.measures.append((tested, stars[0], number))


def _strangers(heads: list[Head], separated: bool) -> Iterator[str]:
    """Labels among those of figures that name none."""
    forms = [head for head in heads if head.figures]
    for head in heads:
        if not forms or head.form or head.start < forms[0].start:
            continue
        if not separated or all(f.start // COLUMN != head.start // COLUMN for f in forms):
            yield head.text


def _is_reference(atoms: Iterator[Atom]) -> bool:
    """Whether figures are those of a reference category: none, 0 or a ratio of 1."""
    texts = [text for atom in atoms for text in atom.texts]
    return all(re.fullmatch(r"[01](?:\.0+)?", text) for text in texts)


def _in_turn(slots: list[Slot], cells: list[Cell]) -> list[tuple[Slot, list[Atom]]]:
    """Give the figures of a line to the columns in turn, if there are as many."""
    wanted = [(slot.model, form) for slot in slots for form in slot.forms]
    found: list[tuple[Slot, list[Atom]]] = []
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
