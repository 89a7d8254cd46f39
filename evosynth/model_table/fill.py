"""Puts the figures of a pasted table into the keys of a published model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from evosynth.design import Column, reference_level
from evosynth.errors import Fault, Path, suggest
from evosynth.formula import parse
from evosynth.model_table.choose import ModelTable, Question, TermFigure
from evosynth.model_table.header import RATIOS
from evosynth.model_table.reader import read_model
from evosynth.model_table.terms import Terms, fold, outcome_of
from evosynth.printed import LONGEST, Printed
from evosynth.schema import Schema

M = TypeVar("M", bound=Any)


class Named(Protocol):
    """A parameter of a model."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def equation(self) -> str | None:
        """The outcome that it belongs to."""

    @property
    def key(self) -> str:
        """Where a spec gives its value."""


def fill(
    output: M, parameters: Sequence[Named], columns: Sequence[Column], schema: Schema
) -> tuple[M, list[Fault], dict[Path, Path]]:
    """Return the model with its table read into the other keys, what is wrong, and places.

    Places are those of figures in the table by where they would stand without it.
    """
    filling = _Filling(output, {p.name: p.key for p in parameters})
    known = {*type(output).model_fields, "ratios", "interval"}
    wrong = [
        Fault(("shows",), f"{form!r} is not a key of figures by term{suggest(form, _SHOWN)}")
        for form in output.shows
        if form not in _SHOWN or form not in known
    ]
    if wrong:
        return output, wrong, {}
    question = _question(output, parameters, columns, schema, filling.ratios)
    table = read_model(output.table, question)
    faults = [Fault(("table", item.line), item.message) for item in table.faults]
    for figure in table.figures:
        filling.term(figure)
    for key, text, line in table.measures:
        filling.measure(key, text, line)
    filling.settings(table)
    for fault in filling.faults:
        if fault not in faults:
            faults.append(fault)
    filled = output.model_copy(update={**filling.update, "table": None})
    return filled, faults, filling.places


_SHOWN = (
    *("coefficients", *RATIOS, "standard_errors", "statistics", "p_values", "betas"),
    "confidence_intervals",
)


def _question(
    output: Any,
    parameters: Sequence[Named],
    columns: Sequence[Column],
    schema: Schema,
    ratios: str | None,
) -> Question:
    formula = parse(output.formula)
    names = formula.variables[1:]
    left_out = [
        (name, reference_level(name, schema, output.reference))
        for name in names
        if schema[name].categorical
    ]
    own = {column.name for column in columns}
    others = [p.name for p in parameters if p.name not in own]
    elsewhere = [v for v in schema.variables if v.name not in names]
    outcome = schema[formula.outcome]
    equations = {p.equation for p in parameters if p.equation is not None}
    bases = [text for text in outcome.texts[: outcome.valid] if text not in equations]
    return Question(
        Terms(columns, schema, names, left_out, others),
        output.column,
        tuple("interval" if s == "confidence_intervals" else s for s in output.shows),
        ratios,
        (lambda text: outcome_of(text, outcome, range(outcome.valid))) if equations else None,
        frozenset(bases),
        frozenset(fold(text) for v in elsewhere for text in (v.name, v.label) if text),
    )


def _small(p: str) -> str:
    """Refuse a p-value of more decimals than a figure may have."""
    if len(p) > LONGEST:
        raise ValueError("so small a p-value is not read; write <0.001 in its place")
    return p


class _Filling:
    """The keys of a model as they fill up."""

    def __init__(self, output: Any, keys: dict[str, str]) -> None:
        self.output = output
        self.keys = keys
        self.fields = type(output).model_fields
        self.ratios = next((key for key in RATIOS if key in self.fields), None)
        self.update: dict[str, Any] = {}
        self.places: dict[Path, Path] = {}
        self.faults: list[Fault] = []

    def _fault(self, line: int, message: str) -> None:
        self.faults.append(Fault(("table", line), message))

    def _key(self, figure: TermFigure) -> str | None:
        """Key of the spec that a figure belongs to; reports what the kind does not have."""
        key = {"interval": "confidence_intervals", "ratios": self.ratios}.get(
            figure.key, figure.key
        )
        if key == "betas" and key not in self.fields:
            key = "coefficients"  # a kind without standardised ones
        own = self.keys.get(figure.name, "coefficients")
        if own != "coefficients" and key in {"coefficients", *RATIOS}:
            key = own  # cut points are printed as they are, even below ratios
        if key is None or key not in self.fields:
            what = (key or figure.key).replace("_", " ")
            self._fault(figure.line, f"kind {self.output.kind} has no {what}; remove the column")
            return None
        return key

    def term(self, figure: TermFigure) -> None:
        """Take a figure by term."""
        key = self._key(figure)
        if key is None:
            return
        try:
            value: Any = figure.texts[0]
            if key == "confidence_intervals":
                value = (Printed.parse(figure.texts[0]), Printed.parse(figure.texts[1]))
            else:
                value = _small(value) if key == "p_values" else Printed.parse(value)
        except ValueError as error:
            self._fault(figure.line, str(error))
            return
        path: Path = (key, *filter(None, (figure.equation, figure.name)))
        if key == "alpha":
            self._put(("alpha",), value, figure.line)
            return
        given = getattr(self.output, key)
        held = self.update.setdefault(
            key, {k: dict(v) if isinstance(v, dict) else v for k, v in given.items()}
        )
        if figure.equation is not None:
            held = held.setdefault(figure.equation, {})
        if path in self.places:
            self._fault(figure.line, f"{figure.name} stands in the table twice")
            return
        name = figure.name
        while name in held:  # a key of the spec: reported as given twice once it is read
            name += " "
        held[name] = value
        self.places[(*path[:-1], name)] = self.places[path] = ("table", figure.line)

    def measure(self, key: str, text: str, line: int) -> None:
        """Take a figure of the whole model."""
        if key == "-2 log-likelihood":
            key = "deviance" if getattr(self.output, "single", False) else key
        if key not in self.fields:
            what = key.replace("_", " ")
            self._fault(line, f"kind {self.output.kind} has no {what}; remove the line")
            return
        try:
            value = _small(text) if key.endswith("_p_value") else Printed.parse(text)
        except ValueError as error:
            self._fault(line, str(error))
            return
        self._put((key,), value, line)

    def _put(self, path: tuple[str], value: Any, line: int) -> None:
        (key,) = path
        before = self.update.get(key, getattr(self.output, key))
        if before is not None and before != value:
            self._fault(line, f"{key.replace('_', ' ')} is {value} here, but {before} before")
            return
        self.update[key] = value
        self.places.setdefault(path, ("table", line))

    def settings(self, table: ModelTable) -> None:
        """See that what the table says of itself agrees with the spec."""
        output, given = self.output, self.output.model_fields_set
        if table.level is not None and "confidence_intervals" in self.update:
            level, line = table.level
            if "level" in given and output.level != level:
                message = f"intervals of {level:g}% here, but level is {output.level:g}"
                self._fault(line, message)
            self.update["level"] = level
        if table.robust is not None and output.robust is None:
            message = "these standard errors are robust; say how under robust, such as HC1"
            self._fault(table.robust, message)
        errors = [f for f in table.figures if f.key == "standard_errors"]
        ratios = self.ratios and (self.ratios in self.update or getattr(output, self.ratios))
        coefficients = "coefficients" in self.update or output.coefficients
        if errors and ratios and not coefficients and "standard_errors_of" not in given:
            message = (
                "are these standard errors of the ratios, as Stata prints them? "
                "Say standard_errors_of: ratios or coefficients"
            )
            self._fault(errors[0].line, message)
        betas = [f for f in table.figures if f.key == "betas"]
        if betas and "betas" in self.fields and not coefficients and not output.shows:
            message = "beta may be the coefficient or a standardised one; say which under shows"
            self._fault(betas[0].line, message)
