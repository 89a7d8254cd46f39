"""Takes the figures of one model, or of each outcome, from the lines of a printed table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from evosynth.errors import shown, suggest
from evosynth.model_table.atoms import Atom, assign
from evosynth.model_table.layout import Cell, Layout, Placed, Slot, learn, place, place_below
from evosynth.model_table.terms import Found, Terms, fold, words
from evosynth.pasted import Unread


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
    edge: int | None = 0
    """Where the label ends; ``None`` where single spaces separate, so that places tell nothing."""
    below: list[list[Cell]] = field(default_factory=list)
    """Cells of the lines below that have no label."""
    whole: tuple[str, ...] = ()
    """Variables that the line names as a whole, if it names no term."""


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


@dataclass
class Chooser:
    """The lines of a table once all are read."""

    ask: Question
    result: ModelTable
    lines: list[Line] = field(default_factory=list)
    totals: list[tuple[str, int, Layout, list[Cell]]] = field(default_factory=list)
    """Figures of the whole model: key, line, columns, cells."""
    header: int = 0
    """Line of the header."""
    bracket: str = "standard_errors"
    """What stands in brackets, unless a header says so."""
    estimate: str = "coefficients"

    def take(self) -> None:
        """Take what is asked for."""
        chosen = self._choose()
        if chosen is None:
            return
        for line in self.lines:
            learn(line.layout, line.cells)
        for line in self.lines:
            self._finish(line, chosen)
        for key, number, layout, cells in self.totals:
            self._total(key, number, layout, cells, chosen)

    def fault(self, number: int, message: str) -> None:
        """Report a line."""
        self.result.faults.append(Unread(number, message))

    def _choose(self) -> int | None:
        """Which of several models is asked for; -1: each, as they are outcomes."""
        layouts = [line.layout for line in self.lines] + [layout for _, _, layout, _ in self.totals]
        layout = max(layouts, key=lambda item: item.models, default=Layout())
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
            self.fault(self.header, message)
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
        self.fault(self.header, f"no model is called {shown(wanted)!r}{hint}")
        return None

    def _equation(self, model: int, layout: Layout) -> str | None:
        """Outcome that stands above a model."""
        if self.ask.outcome is None or model >= len(layout.names):
            return None
        found = {self.ask.outcome(part) for part in layout.names[model]} - {None}
        return found.pop() if len(found) == 1 else None

    def _finish(self, line: Line, chosen: int) -> None:
        """Take the figures of one line."""
        try:
            placed = place(line.layout, line.cells, line.edge)
            for below in line.below:
                placed += place_below(line.layout, below, placed)
        except ValueError as error:
            known = line.found.names or line.found.reference
            self.fault(line.number, str(error) if known else self.ask.terms.unknown(line.label))
            return
        if line.whole and all(slot.forms and set(slot.forms) <= _TESTS for slot, _ in placed):
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

    def _term(self, line: Line, equation: str | None, mine: Placed) -> None:
        names = line.found.names
        if line.found.reference and not names:
            if _is_reference(atom for _, atoms in mine for atom in atoms):
                return
            message = (
                f"{shown(line.label)!r} is the reference category, which has no coefficient; "
                "remove the line, or name another value under reference"
            )
            self.fault(line.number, message)
            return
        if len(names) != 1:
            if names:
                both = " or ".join(sorted(names))
                message = f"{shown(line.label)!r} may be {both}; write which of them"
            else:
                message = self.ask.terms.unknown(line.label)
            self.fault(line.number, message)
            return
        if self.ask.outcome is not None and (equation is None or equation in self.ask.bases):
            message = "for which outcome? Write a line with its value above the terms"
            self.fault(line.number, message)
            return
        try:
            found = self._assigned(mine)
        except ValueError as error:
            self.fault(line.number, f"{shown(line.label)}: {error}")
            return
        (name,) = names
        for key, texts in found.items():
            self.result.figures.append(TermFigure(key, equation, name, texts, line.number))

    def _assigned(self, mine: Placed) -> dict[str, tuple[str, ...]]:
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
                placed = place(layout, cells)
            except ValueError as error:
                self.fault(number, str(error))
                return
            mine = [Cell(0, 0, tuple(a)) for slot, a in placed if slot.model == wanted][:1]
        else:
            mine = [cells[wanted]]
        atoms = [atom for cell in mine for atom in cell.atoms]
        numbers = [atom.texts[0] for atom in atoms if atom.kind in {"number", "bracket"}]
        if len(numbers) > 1:
            self.fault(number, f"{' '.join(numbers)} is more than one figure")
        elif numbers:
            self.result.measures.append((key, numbers[0], number))
            stars = [atom.texts[0] for atom in atoms if atom.kind == "stars"]
            tested = {"f": "f_p_value", "lr_chi_square": "lr_p_value"}.get(key)
            if stars and tested:
                self.result.measures.append((tested, stars[0], number))


_TESTS = {"passed over", "statistics", "p_values"}
"""What programs print of all categories of a variable together, beside its name."""


def _is_reference(atoms: Iterator[Atom]) -> bool:
    """Whether figures are those of a reference category: none, 0 or a ratio of 1."""
    texts = [text for atom in atoms for text in atom.texts]
    return all(re.fullmatch(r"[01](?:\.0+)?", text) for text in texts)
