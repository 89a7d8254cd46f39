"""What every published model has in common: its formula, its figures by term, what is wrong."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field, field_validator

from evosynth.analysis import Analysis, Fitting
from evosynth.classes import Classes, any_level, classify
from evosynth.counting import levels_within, population
from evosynth.design import (
    MAX_COLUMNS,
    Column,
    canonical,
    columns,
    count_columns,
    formula_faults,
    reference_level,
)
from evosynth.errors import Fault, Path, suggest
from evosynth.formula import Formula, parse
from evosynth.model_items import Item
from evosynth.model_table import fill
from evosynth.objective import CellTable, Figure, Interval, Mention, Output, Plan, Text
from evosynth.printed import Printed, Published
from evosynth.refit import Estimates
from evosynth.schema import FloatArray, Schema, Variable
from evosynth.written import Names, per_schema

if TYPE_CHECKING:
    import pandas as pd

FORMS = {
    "coefficients": "coefficient",
    "odds_ratios": "ratio",
    "rate_ratios": "ratio",
    "relative_risk_ratios": "ratio",
    "cut_points": "coefficient",
    "alpha": "coefficient",
    "standard_errors": "se",
    "statistics": "statistic",
    "p_values": "p",
    "confidence_intervals": "interval",
    "betas": "beta",
}
"""Keys of figures by term, in the order of figures, and what they hold."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model."""

    name: str
    equation: str | None = None
    """The outcome that it belongs to, in a model of several."""
    key: str = "coefficients"
    """Where a spec gives its value."""

    @property
    def label(self) -> str:
        """Name it in full."""
        return self.name if self.equation is None else f"{self.equation}: {self.name}"


class Regression(Output):
    """A published model; any subset of its figures may be given."""

    formula: str = Field(description="outcome ~ terms, such as CARS ~ AGE + SEX")
    reference: dict[str, Text] = Field(
        default_factory=dict, description="variable: reference value, where it is not the first"
    )
    observations: Printed | None = Field(None, description="records that the model rests on")
    table: str | None = Field(
        None, description="the table as text, as copied from print; terms by code or label"
    )
    column: Text | None = Field(
        None, description="number or header of the model, where `table` shows several side by side"
    )
    shows: Names = Field(
        (),
        description="what the figures of a term are in turn, such as [odds_ratios, p_values], "
        "where the header of `table` does not tell",
    )

    measures: ClassVar[tuple[str, ...]] = ()
    """Keys of figures of the whole model."""
    intercept: ClassVar[bool] = True
    linear: ClassVar[bool] = False

    @field_validator("formula")
    @classmethod
    def _parses(cls, text: str) -> str:
        found = parse(text)
        if found.log and not cls.linear:
            raise ValueError(f"the outcome of this kind is not logged; write {found.outcome} ~ …")
        return text

    @cached_property
    def _formula(self) -> Formula:
        return parse(self.formula)

    @property
    def _others(self) -> tuple[str, ...]:
        """Variables that are used outside of the formula."""
        return ()

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self._formula.variables, *self._others]))

    def _columns(self, schema: Schema) -> tuple[Column, ...]:
        return columns(self._formula, schema, self.reference)[0 if self.intercept else 1 :]

    def _parameters(self, schema: Schema) -> tuple[Parameter, ...]:
        """Name the parameters, in the order of the search."""
        return tuple(Parameter(column.name) for column in self._columns(schema))

    @abstractmethod
    def _outcome_faults(self, outcome: Variable, levels: list[int]) -> Iterator[str]:
        """Say what is wrong with the outcome, whose levels within the subpopulation are given."""

    def _needed(self, outcome: Variable, levels: list[int]) -> list[list[int]]:
        """List sets of outcomes of which each category has some, or no estimate is finite."""
        return []

    @abstractmethod
    def _lower(self, items: list[Item], schema: Schema) -> Plan:
        """Return figures other than n in the terms of the search."""

    @abstractmethod
    def _estimate(
        self, x: pd.DataFrame, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> Estimates | None:
        """Fit with statsmodels; ``None`` if it does not converge."""

    def mentions(self) -> Iterator[Mention]:
        """Name the outcome, the terms and the reference values."""
        for name in self._formula.variables:
            yield Mention(("formula",), name)
        for name, value in self.reference.items():
            yield Mention(("reference", name), name, value)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Impossible terms, figures that do not belong or contradict each other."""
        wrong = list(self._reference_faults(schema))
        outcome = schema[self._formula.outcome]
        levels = levels_within(outcome.name, self.condition, schema)
        impossible = list(self._outcome_faults(outcome, levels))
        impossible += formula_faults(self._formula, schema)
        if count_columns(self._formula, schema) > MAX_COLUMNS:
            impossible.append(f"the model would have more than {MAX_COLUMNS:,} coefficients")
        wrong += [Fault(("formula",), message) for message in impossible]
        if not wrong and self.table is not None:
            filled, wrong, places = self._filled(schema)
            yield from wrong
            if not wrong:
                for fault in filled.faults(schema):
                    yield replace(fault, path=places.get(fault.path, fault.path))
            return
        if not wrong:
            items, wrong = self._read(schema)
            if not items and not wrong:
                keys = [*self._keys, *self.measures, "observations"]
                wrong = [Fault((), f"no figure is given; there are {', '.join(keys)}")]
        yield from wrong
        if not wrong:
            yield from self._n_faults(schema)
            yield from self._clashes(items, schema)

    def _clashes(self, items: list[Item], schema: Schema) -> Iterator[Fault]:
        """Figures that contradict each other."""
        yield from ()

    @property
    def _referable(self) -> tuple[str, ...]:
        """Variables that may have a reference value."""
        return self._formula.variables[1:]

    def _reference_faults(self, schema: Schema) -> Iterator[Fault]:
        for name in self.reference:
            if name not in self._referable:
                hint = suggest(name, self._referable)
                yield Fault(("reference", name), f"{name!r} is not a term of the formula{hint}")
            elif not schema[name].categorical and name in self._formula.variables[1:]:
                yield Fault(("reference", name), f"{name!r} is a quantity and has no reference")

    @property
    def _keys(self) -> list[str]:
        """Keys of figures by term that this kind has."""
        return [key for key in FORMS if key in type(self).model_fields]

    def _written(self) -> Iterator[tuple[str, str | None, str, Any, Path]]:
        """Every figure by term: key, equation, name, value, and where it is written."""
        for key in self._keys:
            given = getattr(self, key)
            if isinstance(given, Printed):
                yield key, None, key, given, (key,)
            elif given:
                for name, value in given.items():
                    if isinstance(value, dict):
                        for term, printed in value.items():
                            yield key, name, term, printed, (key, name, term)
                    else:
                        yield key, None, name, value, (key, name)

    @per_schema
    def _read(self, schema: Schema) -> tuple[list[Item], list[Fault]]:
        """Every published figure, and what is wrong with them."""
        parameters = self._parameters(schema)
        position = {(p.equation, self._canonical(p.name)): k for k, p in enumerate(parameters)}
        items: list[Item] = []
        faults: list[Fault] = []
        seen: dict[tuple[str, int], str] = {}
        for key, equation, name, value, path in self._written():
            k = position.get((equation, self._canonical(name)))
            if k is None:
                message = self._unknown(equation, name, parameters, schema)
                faults.append(Fault(path, message))
            elif (key, k) in seen:
                faults.append(Fault(path, f"the same term as {seen[key, k]!r}"))
            else:
                seen[key, k] = name
                try:
                    items += self._items(key, k, value, parameters[k], path)
                except ValueError as error:
                    faults.append(Fault(path, str(error)))
        for key in self.measures:
            printed = getattr(self, key)
            if printed is not None:
                try:
                    found = self._published(key, printed)
                    items.append(Item(key, None, found, key.replace("_", " "), (key,)))
                except ValueError as error:
                    faults.append(Fault((key,), str(error)))
        order = {form: i for i, form in enumerate([*FORMS.values(), "low", "high"])}
        items.sort(
            key=lambda i: (
                i.parameter is None,
                order.get("interval" if i.form in {"low", "high"} else i.form, 99),
                -1 if i.parameter is None else i.parameter,
            )
        )
        if self.observations is not None:
            items.insert(0, Item("observations", None, self.observations, "n", ("observations",)))
        return items, faults

    def _items(
        self, key: str, k: int, value: Any, parameter: Parameter, path: Path
    ) -> Iterator[Item]:
        """Figures of one entry."""
        yield Item(FORMS[key], k, self._published(key, value), parameter.label, path)

    def _published(self, key: str, value: Any) -> Published:
        """Read what is not a plain number."""
        found: Published = value
        return found

    def _unknown(
        self,
        equation: str | None,
        name: str,
        parameters: tuple[Parameter, ...],
        schema: Schema,
    ) -> str:
        """Say what is wrong with a term that the model does not have."""
        known = [p.name for p in parameters if p.equation == equation]
        if not known:
            outcomes = dict.fromkeys(p.equation for p in parameters if p.equation is not None)
            if equation is None:
                return "expected figures by outcome, then by term"
            return f"no outcome {equation!r} apart from the base{suggest(equation, outcomes)}"
        references = {
            f"{n}[{schema[n].values[reference_level(n, schema, self.reference)]}]"
            for n in self._formula.variables[1:]
            if schema[n].categorical
        }
        if set(self._canonical(name).split(":")) & references:
            return (
                "this is the reference category, which has no coefficient; "
                "remove it, or name another value under reference"
            )
        return f"the formula has no such term{suggest(name, known)}"

    def _canonical(self, name: str) -> str:
        return name if name in self._formula.variables else canonical(name)

    def _n(self, schema: Schema) -> Published | None:
        """How many records the model rests on, if that is known."""
        if self.observations is not None:
            return self.observations
        return None if self._partial(schema) else Printed.parse(str(schema.records))

    def _partial(self, schema: Schema) -> bool:
        """Whether the model may rest on some of the records alone."""
        return self.where is not None or any(schema[name].missing for name in self._names)

    def _n_faults(self, schema: Schema) -> Iterator[Fault]:
        if self.observations is None:
            return
        n, records = self.observations.value, schema.records
        if self.observations.decimals or n < 1:
            message = f"{self.observations} is not a number of records"
            yield Fault(("observations",), message)
        elif n > records or (n < records and not self._partial(schema)):
            message = f"{self.observations} is not the number of records, which is {records}"
            yield Fault(("observations",), message, clash=True)

    @per_schema
    def _filled(self, schema: Schema) -> tuple[Regression, list[Fault], dict[Path, Path]]:
        """Read the pasted table into the other keys; where each of its figures stands."""
        return fill(self, self._parameters(schema), self._columns(schema), schema)

    def figures(self, schema: Schema) -> tuple[Figure, ...]:
        """N, then the figures of each kind term by term, then those of the whole model."""
        if self.table is not None:
            return self._filled(schema)[0].figures(schema)
        return tuple(Figure(item.label, item.published) for item in self._read(schema)[0])

    def lower(self, schema: Schema) -> Plan:
        """One block of smooth figures; n is a count."""
        if self.table is not None:
            return self._filled(schema)[0].lower(schema)
        items = [item for item in self._read(schema)[0] if item.form != "observations"]
        plan = self._lower(items, schema) if items else Plan()
        if self.observations is None:
            return plan
        grid, n = self._groups(schema).grid, int(self.observations.value)
        table = CellTable.free(grid, schema.records)
        table.low[0] = table.high[0] = n
        return replace(
            plan,
            tables=(*plan.tables, table),
            counted=(((len(plan.tables), 0),), *plan.counted),
        )

    def _groups(self, schema: Schema) -> Classes:
        """Cells of the records that the model rests on: the first is theirs."""
        groups = {name: any_level(schema[name]) for name in self._names}
        return classify(schema, groups, self.condition)

    def analysis(self, schema: Schema) -> Analysis:
        """Tell everything that a script needs to fit the model."""
        if self.table is not None:
            return self._filled(schema)[0].analysis(schema)
        parameters = self._parameters(schema)
        outcome = schema[self._formula.outcome]
        traits = self._script_traits(schema)
        return Fitting(
            self.kind,
            self.formula,
            outcome.name,
            self._formula.log,
            tuple(outcome.texts[level] for level in self._script_outcomes(schema)),
            self._names,
            self._columns(schema),
            tuple(self._read(schema)[0]),
            len(parameters),
            terms=tuple((parameter.equation or "", parameter.name) for parameter in parameters),
            **traits,
        )

    def _script_outcomes(self, schema: Schema) -> list[int]:
        """Levels of the outcome that a script must know."""
        return []

    def _script_traits(self, schema: Schema) -> dict[str, Any]:
        """Whatever else a script must know."""
        return {"extra": self._others[0] if self._others else None, "null": 1}

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Refit with statsmodels."""
        if self.table is not None:
            return self._filled(schema)[0].recompute(frame, counts, schema)
        items = self._read(schema)[0]
        frame, counts = population(frame, counts, self._names, self.condition, schema)
        estimates = None
        if any(item.form != "observations" for item in items):
            estimates = self._refit(frame, counts, schema)
        return np.array([self._value(item, estimates, counts, schema) for item in items])

    def _refit(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> Estimates | None:
        """Fit the model to those records that it is of; ``None`` if that cannot be."""
        from evosynth.refit import design_matrix, estimable

        if not len(frame):
            return None
        x = design_matrix(self._formula, frame, schema, self.reference)
        x = x if self.intercept else x.drop(columns="Intercept")
        x = x[[":".join(sorted(c.name.split(":"))) for c in self._columns(schema)]]
        if not estimable(x, counts):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a failed fit shows as figures missed
            try:
                return self._estimate(x, frame, counts, schema)
            except (np.linalg.LinAlgError, ValueError, FloatingPointError):
                return None

    def intervals(
        self, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> tuple[Interval, ...]:
        """Refit with statsmodels, and tell every parameter, published or not."""
        if self.table is not None:
            return self._filled(schema)[0].intervals(frame, counts, schema)
        frame, counts = population(frame, counts, self._names, self.condition, schema)
        found = self._refit(frame, counts, schema)
        if found is None:
            return ()
        reach, ratio = self._reach(found, schema)
        rows = []
        for k, parameter in enumerate(self._parameters(schema)):
            if parameter.key == "coefficients":  # cut points and the like have other scales
                value, error = float(found.values[k]), float(found.errors[k])
                ends = np.array([value, value - reach * error, value + reach * error])
                with np.errstate(over="ignore"):
                    middle, low, high = (np.exp(ends) if ratio else ends).tolist()
                rows.append(Interval(k, middle, low, high, ratio))
        return tuple(rows)

    def _reach(self, found: Estimates, schema: Schema) -> tuple[float, bool]:
        """Return the standard errors to an end of an interval, and whether it is of ratios."""
        return float("nan"), False

    def _value(
        self, item: Item, found: Estimates | None, counts: FloatArray, schema: Schema
    ) -> float:
        """Look a figure up in what statsmodels found."""
        if item.form == "observations":
            return float(counts.sum())
        return float("nan") if found is None else self._figure(item, found, counts, schema)

    def _figure(self, item: Item, found: Estimates, counts: FloatArray, schema: Schema) -> float:
        return float(found.values[item.parameter])
