"""Logistic regression of a two-valued outcome."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field, field_validator

from evosynth.classes import Classes, any_level, classify
from evosynth.counting import population
from evosynth.design import (
    MAX_COLUMNS,
    Column,
    Design,
    canonical,
    columns,
    count_columns,
    formula_faults,
    inverse,
    reference_level,
)
from evosynth.errors import Fault, suggest
from evosynth.formula import Formula, parse
from evosynth.kernels.cells import sum_rows
from evosynth.kernels.design import logit_residuals, sum_products
from evosynth.objective import Figure, Mention, Output, Plan, Smooth, Text
from evosynth.printed import Printed
from evosynth.schema import Codes, FloatArray, Schema
from evosynth.sums import ends

if TYPE_CHECKING:
    import pandas as pd

_MOST_STEPS = 25


class Logit(Output):
    """Coefficients of a logistic regression.

    The event is the outcome's value 1 if its values are 0 and 1, else its second value.
    """

    kind: Literal["logit"]
    formula: str = Field(description="outcome ~ terms, such as CARS ~ AGE + SEX")
    reference: dict[str, Text] = Field(
        default_factory=dict, description="variable: reference value, where it is not the first"
    )
    coefficients: dict[str, Printed] = Field(
        description="term: coefficient, such as Intercept, AGE, SEX[2]"
    )

    @field_validator("formula")
    @classmethod
    def _parses(cls, text: str) -> str:
        parse(text)
        return text

    @cached_property
    def _formula(self) -> Formula:
        return parse(self.formula)

    def _columns(self, schema: Schema) -> tuple[Column, ...]:
        return columns(self._formula, schema, self.reference)

    def mentions(self) -> Iterator[Mention]:
        """Name the outcome, the terms and the reference values."""
        for name in self._formula.variables:
            yield Mention(("formula",), name)
        for name, value in self.reference.items():
            yield Mention(("reference", name), name, value)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Impossible terms, coefficients that are missing or do not belong."""
        wrong = list(self._reference_faults(schema))
        yield from wrong
        if wrong:
            return
        outcome = schema[self._formula.outcome]
        if outcome.valid != 2:
            yield Fault(
                ("formula",), f"the outcome {outcome.name!r} has {outcome.valid} values, not two"
            )
        impossible = list(formula_faults(self._formula, schema))
        if count_columns(self._formula, schema) > MAX_COLUMNS:
            impossible.append(f"the model would have more than {MAX_COLUMNS:,} coefficients")
        for message in impossible:
            yield Fault(("formula",), message)
        if not impossible:
            yield from self._coefficient_faults(schema)

    def _reference_faults(self, schema: Schema) -> Iterator[Fault]:
        for name in self.reference:
            if name not in self._formula.variables[1:]:
                hint = suggest(name, self._formula.variables[1:])
                yield Fault(("reference", name), f"{name!r} is not a term of the formula{hint}")
            elif not schema[name].categorical:
                yield Fault(("reference", name), f"{name!r} is a quantity and has no reference")

    def _coefficient_faults(self, schema: Schema) -> Iterator[Fault]:
        canonical = self._canonical
        expected = {canonical(column.name): column.name for column in self._columns(schema)}
        given: dict[str, str] = {}
        references = {
            f"{name}[{schema[name].values[reference_level(name, schema, self.reference)]}]"
            for name in self._formula.variables[1:]
            if schema[name].categorical
        }
        for name in self.coefficients:
            key = canonical(name)
            if key in given:
                yield Fault(("coefficients", name), f"the same term as {given[key]!r}")
            elif key not in expected and set(key.split(":")) & references:
                yield Fault(
                    ("coefficients", name),
                    "this is the reference category, which has no coefficient; "
                    "remove it, or name another value under reference",
                )
            elif key not in expected:
                hint = suggest(name, expected.values())
                yield Fault(("coefficients", name), f"the formula has no such term{hint}")
            given[key] = name
        for key, name in expected.items():
            if key not in given:
                yield Fault(("coefficients",), f"no coefficient for {name!r}; add it as published")

    def _canonical(self, name: str) -> str:
        return name if name in self._formula.variables else canonical(name)

    def figures(self, schema: Schema) -> tuple[Figure, ...]:
        """One per coefficient, in the order of the formula."""
        given = {self._canonical(name): printed for name, printed in self.coefficients.items()}
        return tuple(
            Figure(column.name, given[self._canonical(column.name)])
            for column in self._columns(schema)
        )

    def lower(self, schema: Schema) -> Plan:
        """Score equations at the published coefficients."""
        low, high = ends(self.figures(schema))
        outcome, *given = (schema.index[name] for name in self._formula.variables)
        groups = {name: any_level(schema[name]) for name in self._formula.variables}
        score = LogitScore(
            Design.of(self._columns(schema), schema),
            classify(schema, groups, self.condition),
            (low + high) / 2,
            (high - low) / 2,
            self._event(schema),
            outcome,
            tuple(given),
        )
        return Plan(smooth=(score,))

    def _event(self, schema: Schema) -> int:
        outcome = schema[self._formula.outcome]
        texts = outcome.texts[: outcome.valid]
        return texts.index("1") if set(texts) == {"0", "1"} else 1

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Refit with statsmodels."""
        from statsmodels.genmod.families import Binomial
        from statsmodels.genmod.generalized_linear_model import GLM

        from evosynth.refit import design_matrix, estimable

        frame, counts = population(frame, counts, self._formula.variables, self.condition, schema)
        x = design_matrix(self._formula, frame, schema, self.reference)
        outcome = schema[self._formula.outcome]
        codes = [str(value) for value in outcome.values[: outcome.valid].tolist()]
        event = "1" if sorted(codes) == ["0", "1"] else codes[1]
        y = (frame[outcome.name].astype(str) == event).astype(float)
        names = [":".join(sorted(figure.label.split(":"))) for figure in self.figures(schema)]
        if not len(frame) or not estimable(x, counts):
            return np.full(len(names), np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fit that fails shows as figures that are missed
            try:
                fit = GLM(y, x, family=Binomial(), freq_weights=counts).fit(tol=1e-10)
            except (np.linalg.LinAlgError, ValueError):
                return np.full(len(names), np.nan)
        if not fit.converged:
            return np.full(len(names), np.nan)
        return np.asarray(fit.params[names], dtype=np.float64)


@dataclass(frozen=True)
class LogitScore(Smooth):
    """Score of a logit at the published coefficients: zero where they are the estimates."""

    design: Design
    classes: Classes
    theta: FloatArray
    precision: FloatArray
    event: int
    outcome: int
    given: tuple[int, ...]

    @property
    def half_width(self) -> FloatArray:
        """Half a unit of the last printed digit of each coefficient."""
        return self.precision

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return len(self.theta)

    def log_density(self, codes: Codes) -> FloatArray:
        """Log probability of each record's outcome under the published model."""
        residual, _, _ = self._residuals(codes)
        counted = self.classes.grid.cells(codes) == 0
        density = np.log(np.maximum(1.0 - np.abs(residual), 1e-300))
        return np.where(counted, density, -np.log(2.0))

    def expand(self, codes: Codes, counts: FloatArray) -> LogitExpansion:
        """One Newton step from the published coefficients: they move by V × score.

        Near the solution the step is as good as a refit: its error is of second order in a
        distance that is already below half a printed digit.
        """
        _, variance, rows = self._residuals(codes)
        information = sum_products(rows, variance * counts)
        to_half_widths = inverse(information) / self.half_width
        return LogitExpansion(self, to_half_widths, np.zeros(self.size))

    def refit(self, codes: Codes, counts: FloatArray) -> FloatArray:
        """Estimate by Newton's method, from the published coefficients or, if it fits better, 0."""
        counted = self.classes.grid.cells(codes) == 0
        codes, counts = codes[counted], counts[counted]
        rows = self.design.rows(codes)
        y = (codes[:, self.outcome] == self.event).astype(np.float64)
        residual, variance = logit_residuals(rows, y, self.theta)
        theta = self.theta.copy()
        if counts @ np.log1p(-np.abs(residual)) < -np.log(2.0) * counts.sum():
            theta[:] = 0.0
        for _ in range(_MOST_STEPS):
            residual, variance = logit_residuals(rows, y, theta)
            information = sum_products(rows, variance * counts)
            covariance = inverse(information)
            if np.trace(information @ covariance) < self.size - 0.5:
                break  # some direction has no information: the estimate is not unique
            step = covariance @ sum_rows(rows, residual * counts)
            theta += step
            settled = np.abs(step).max() < 1e-6 * (1 + np.abs(theta).max())
            if settled and float(step @ information @ step) < 1e-12:
                return (theta - self.theta) / self.half_width
        return np.full(self.size, np.nan)

    def _residuals(self, codes: Codes) -> tuple[FloatArray, FloatArray, FloatArray]:
        rows = self.design.rows(codes)
        y = (codes[:, self.outcome] == self.event).astype(np.float64)
        residual, variance = logit_residuals(rows, y, self.theta)
        counted = self.classes.grid.cells(codes) == 0
        return residual * counted, variance * counted, rows


@dataclass(frozen=True)
class LogitExpansion:
    """How far each record moves the coefficients, in half-widths."""

    score: LogitScore
    to_half_widths: FloatArray
    offset: FloatArray

    def influence(self, codes: Codes) -> FloatArray:
        """V × the score of each record."""
        residual, _, rows = self.score._residuals(codes)
        moved: Any = (rows * residual[:, None]) @ self.to_half_widths
        return np.asarray(moved)
