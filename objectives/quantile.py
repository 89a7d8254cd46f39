"""Quantile regression, such as of the median."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from evosynth.classes import OUTSIDE, classify
from evosynth.corners import lay
from evosynth.counting import levels_within
from evosynth.design import Design, column_moments
from evosynth.errors import Fault
from evosynth.least_squares import numeric_faults, numeric_outcome
from evosynth.likelihood import Lookup
from evosynth.model import Regression
from evosynth.model_items import Item, Traits, known_parameters
from evosynth.objective import CellTable, Plan
from evosynth.plane import Plane
from evosynth.printed import Printed
from evosynth.refit import Estimates, repeated
from evosynth.schema import Codes, FloatArray, Schema, Variable

if TYPE_CHECKING:
    import pandas as pd

_FEW_POINTS, _MANY_POINTS = 4_000, 1_000_000
"""Combinations of covariates that tell whether terms are independent; those that corners may be."""
_MANY_RECORDS = 15
"""Records per coefficient from which every corner holds two: signs then balance more easily."""


class Quantile(Regression):
    """Quantile regression by its coefficients.

    Standard errors hang on a bandwidth that software chooses differently, so there are none.
    """

    kind: Literal["quantile"]
    quantile: float = Field(0.5, gt=0, lt=1, description="which quantile; 0.5 is the median")
    coefficients: dict[str, Printed] = Field(
        default_factory=dict, description="term: coefficient, such as Intercept, AGE, SEX[2]"
    )

    linear: ClassVar[bool] = True

    def _outcome_faults(self, outcome: Variable, levels: list[int]) -> Iterator[str]:
        yield from numeric_faults(outcome, levels, self._formula.log)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Find terms that follow from each other, too: no plane would have their coefficients."""
        found = list(super().faults(schema))
        yield from found
        if not found:
            points = self._points(schema, _FEW_POINTS)
            x = Design.of(self._columns(schema), schema).rows(points)
            x = x / np.maximum(np.abs(x).max(axis=0), 1e-300)
            if np.linalg.matrix_rank(x) < x.shape[1]:
                message = "some terms follow from the others in the records that are counted"
                yield Fault(("formula",), message)

    def _script_traits(self, schema: Schema) -> dict[str, Any]:
        return {**super()._script_traits(schema), "quantile": self.quantile}

    def _points(self, schema: Schema, most: int) -> Codes:
        """List records by covariates: all, or likely ones if there are many."""
        rng = np.random.default_rng(0)
        names = self._formula.variables[1:]
        choices = [np.array(levels_within(name, self.condition, schema)) for name in names]
        size = int(np.prod([float(len(choice)) for choice in choices]))
        found = np.zeros((min(size, most), len(schema.variables)), dtype=schema.dtype)
        for name, choice in zip(names, choices, strict=True):
            share = schema[name].proportions[choice] + 1e-9
            if size > most:
                levels = rng.choice(choice, len(found), p=share / share.sum())
            else:
                size //= len(choice)
                levels = choice[np.arange(len(found)) // size % len(choice)]
            found[:, schema.index[name]] = levels
        return found

    def _lower(self, items: list[Item], schema: Schema) -> Plan:
        outcome = schema[self._formula.outcome]
        values = numeric_outcome(outcome, self._formula.log)
        y = Lookup(schema.index[outcome.name], values)
        levels = np.array(levels_within(outcome.name, self.condition, schema))
        found = self._columns(schema)
        design = Design.of(found, schema)
        target, told = known_parameters(items, len(found), Traits())
        mean, variance = column_moments(found, schema)
        share = outcome.proportions[levels] / outcome.proportions[levels].sum()
        if not told[0]:
            order = np.argsort(values[levels], kind="stable")
            middle = np.searchsorted(np.cumsum(share[order]), self.quantile)
            target[0] = values[levels][order[middle]] - mean[1:] @ target[1:]
        half = np.full(len(found), np.inf)
        for item in items:
            low, high = item.published.interval
            assert item.parameter is not None
            target[item.parameter], half[item.parameter] = (low + high) / 2, (high - low) / 2
        corners = lay(self._points(schema, _MANY_POINTS), design, y, levels, target, half)
        held = 2 if schema.records >= _MANY_RECORDS * len(found) else 1
        total = float(share @ (values[levels] - share @ values[levels]) ** 2)
        spread = np.sqrt(max(total - float(target**2 @ variance), total / 4)) / 3
        step = np.abs(np.gradient(values[levels])) if len(levels) > 1 else np.ones(1)
        density = np.full(outcome.size, -np.inf)
        density[levels] = np.log(np.maximum(step, 1e-300))
        given = tuple(schema.index[name] for name in self._formula.variables[1:])
        block = Plane(
            design,
            self._groups(schema),
            y,
            self.quantile,
            corners,
            held,
            max(spread, float(np.median(step)) / 3),
            density,
            y.column,
            given,
        )
        tables = tuple(self._corner(corner, held, schema) for corner in corners.codes)
        return Plan(tables=tables, smooth=(block,), chosen=frozenset(range(len(tables))))

    def _corner(self, corner: Codes, held: int, schema: Schema) -> CellTable:
        """Ask for records in one corner."""
        groups = {}
        for name in self._names:
            groups[name] = np.full(schema[name].size, OUTSIDE)
            groups[name][corner[schema.index[name]]] = 0
        table = CellTable.free(classify(schema, groups, self.condition).grid, schema.records)
        table.low[0] = held
        return table

    def _estimate(
        self, x: pd.DataFrame, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> Estimates | None:
        from statsmodels.regression.quantile_regression import QuantReg

        y = repeated(frame[self._formula.outcome].astype(float), counts).to_numpy()
        y = np.log(y) if self._formula.log else y
        fit = QuantReg(y, repeated(x, counts).to_numpy()).fit(
            q=self.quantile, max_iter=10_000, p_tol=1e-9
        )
        return Estimates(np.asarray(fit.params), np.asarray(fit.bse), {})
