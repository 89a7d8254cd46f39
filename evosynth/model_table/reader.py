"""Reads the printed table of a model: which figure belongs to which term, and what it is.

Layouts of Stata, R, SPSS, statsmodels, estout and papers; standard errors beside or below the
coefficients. Every line with figures is read, or named in a fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evosynth.errors import shown
from evosynth.model_table import measures
from evosynth.model_table.atoms import mark_intervals, read_atoms, written_out
from evosynth.model_table.choose import Chooser, Line, ModelTable, Question
from evosynth.model_table.header import Head, scan
from evosynth.model_table.layout import Cell, Layout, separated_layout, spaced_layout
from evosynth.model_table.terms import REFERENCE, Found, fold
from evosynth.pasted import MAX_TEXT, Unread, tidy_lines
from evosynth.pasted.figures import unread_cell
from evosynth.pasted.latex import latex_cells
from evosynth.pasted.lines import COLUMN, spaced_line
from evosynth.pasted.separators import FOOTNOTE, barred_cells, find_way, is_rule, quoted_cells

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
_STEPPED = re.compile(r"(?:step )?\d+ ?[a-z]?\s+(?=[^\W\d]|\(const)", re.I)
"""The step of SPSS before the first term of it."""
_OMITTED = re.compile(r"\s*(?:\(\.\)\s*)+")
"""What estout prints below a reference category."""
_WALD = re.compile(r"wald chi2", re.I)


def read_model(text: str, question: Question) -> ModelTable:
    """Read a pasted table."""
    if len(text) > MAX_TEXT:
        message = f"more than {MAX_TEXT:,} characters; paste one table"
        return ModelTable(faults=[Unread(0, message)])
    return _Reader(text, question).read()


class _Reader:
    def __init__(self, text: str, question: Question) -> None:
        self.ask = question
        self.result = ModelTable()
        self.texts = [self._tidy(line) for line in tidy_lines(text)]
        self.way = self._way()
        self.chooser = Chooser(question, self.result)
        self.lines, self.totals = self.chooser.lines, self.chooser.totals
        self.layout = Layout(separated=self._separated)
        self.heads: list[tuple[list[Head], int]] = []
        self.under: tuple[str, ...] = ()
        self.puzzled = False
        """Whether a column is not known."""
        self.equation: str | None = None
        self.pending: list[tuple[int, str]] = []
        """Lines without figures that mean nothing, unless they turn out to be notes."""

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
        plain = [text for text in table if not measures.pairs(text)[0]]
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
        if not self.puzzled:
            self.chooser.header = self.heads[-1][1] if self.heads else 0
            self.chooser.take()
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
                self.chooser.bracket = key
                return
        if _RATIO_NOTE.search(text) and not re.search(r"\d", text):
            self.chooser.estimate = self.ask.ratios or "coefficients"
            return
        cells = self._cells(text)
        if cells is None or _OMITTED.fullmatch(" ".join(cells).replace("|", " ")):
            return
        if measures.PASSED_OVER.fullmatch(plain):
            self.heads = []  # a part of R's output begins
            return
        if self._reference(number, text, cells) or self._header(number, text, cells):
            return
        row = self._row(number, text, cells)
        if row is not None and (row.found.names or row.found.reference):
            self.lines.append(row)
            return
        if self._pairs(number, text):
            return
        if row is not None and row.label:
            measure = measures.named(row.label)
            if measure is not None:
                self.totals.append((measure, number, row.layout, row.cells))
                return
            tested = self._tested(row.label)
            if tested is not None:
                self.totals.append((tested, number, row.layout, row.cells))
                return
        if measures.WORDS.match(plain) or FOOTNOTE.match(text):
            return
        if row is not None and not row.label and row.cells:
            self._below(row)
        elif row is not None and row.cells:
            row.whole = self.ask.terms.heading(row.label)
            self.under = row.whole or self.under
            self.lines.append(row)
        elif row is None and re.search(r"\d", text[len(text) - len(text.lstrip()) :][1:]):
            if not self._heading(number, cells) and not self._prose(plain):
                self._unread(number, cells)
        elif not self._heading(number, cells) and self.lines:
            self.pending.append((number, plain))

    def _tested(self, label: str) -> str | None:
        """Find the test whose p-value a line gives that is named p alone, as estout names it."""
        last = self.totals[-1][0] if self.totals else None
        plain = re.sub(r"[\W_]+", "", label.casefold())
        if plain not in {"p", "pvalue"} or last is None:
            return None
        return measures.TESTED.get(last)

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
            return [mark_intervals(cell) for cell in cells] if cells else None
        if self.way in {"grid", "grid-open"}:
            return [mark_intervals(cell) for cell in barred_cells(text, self.way == "grid")]
        if self._separated:
            return [mark_intervals(cell) for cell in quoted_cells(text, self.way)]
        return [mark_intervals(text.expandtabs(8))]

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
        try:
            make = separated_layout if self._separated else spaced_layout
            self.layout = make([heads for heads, _ in self.heads])
        except ValueError as error:
            self.puzzled = True
            self._fault(number, str(error))
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
        usual = len(figures) - line.sure
        best: tuple[tuple[bool, int], Line] | None = None
        for at in range(len(figures)):
            label = " ".join(text[: figures[at].start].split())
            row = self._made(number, label, figures[at:])
            known = row.found.names or row.found.reference or measures.named(label)
            # A longer label wins: in SEX 2 0.15 the 2 is a code rather than a coefficient.
            order = (at == usual and line.sure > 0, at)
            row.edge = row.edge if line.sure else None
            if known and (best is None or order > best[0]):
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
        step = _STEPPED.match(label)
        if step and found == Found():
            found = self.ask.terms.find(label[step.end() :], self.under)
        text = self.texts[number].expandtabs(8)
        edge = len(text) - len(text.lstrip()) + len(label)
        return Line(number, label, found, self.under, self.equation, self.layout, cells, edge)

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
        if measures.PROSE.match(text):
            return True
        found, left = measures.pairs(text)
        if not found and left == text:
            return bool(measures.SQUARES.match(text))
        for key, value in found:
            if key == "lr_p_value" and any(map(_WALD.search, self.texts)):
                self._fault(number, "the p-value of a Wald test is not read; remove it")
                continue
            self.result.measures.append((key, written_out(value), number))
        if re.search(r"\d", left) and not measures.SQUARES.match(text):
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


def _strangers(heads: list[Head], separated: bool) -> Iterator[str]:
    """Labels among those of figures that name none."""
    forms = [head for head in heads if head.figures]
    for head in heads:
        if not forms or head.form or head.start < forms[0].start:
            continue
        if not separated or all(f.start // COLUMN != head.start // COLUMN for f in forms):
            yield head.text
