"""Multinomial logit of an outcome of several categories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from evosynth.counting import levels_within
from evosynth.design import Column, Design, column_moments
from evosynth.errors import many
from evosynth.kernels import families
from evosynth.likelihood import Likelihood, Lookup
from evosynth.model import Parameter
from evosynth.model_fields import Ends, ErrorsOf, LikelihoodFigures
from evosynth.objective import Text
from evosynth.printed import Printed
from evosynth.refit import Estimates, fit_discrete, repeated
from evosynth.schema import FloatArray, Schema, Variable

if TYPE_CHECKING:
    import pandas as pd

_MOST_OUTCOMES = 20


class Multinomial(LikelihoodFigures):
    """Multinomial logit: an equation for each outcome but the base.

    The base is the outcome's first value unless ``reference`` names another. Figures are nested:
    ``{outcome: {term: printed}}``.
    """

    kind: Literal["multinomial"]
    most: ClassVar[float | None] = 0.25
    coefficients: dict[str, dict[str, Printed]] = Field(
        default_factory=dict, description="outcome: {term: coefficient}"
    )
    relative_risk_ratios: dict[str, dict[str, Printed]] = Field(
        default_factory=dict, description="outcome: {term: exponentiated coefficient}"
    )
    standard_errors: dict[str, dict[str, Printed]] = Field(
        default_factory=dict, description="outcome: {term: standard error}"
    )
    standard_errors_of: ErrorsOf = "coefficients"
    statistics: dict[str, dict[str, Printed]] = Field(
        default_factory=dict, description="outcome: {term: z}"
    )
    p_values: dict[str, dict[str, Text]] = Field(
        default_factory=dict, description="outcome: {term: p-value, as 0.034, <0.001, *** or ns}"
    )
    confidence_intervals: dict[str, dict[str, Ends]] = Field(
        default_factory=dict,
        description="outcome: {term: [lower, upper]}, of the ratios if those are given",
    )

    @property
    def _referable(self) -> tuple[str, ...]:
        return self._formula.variables

    def _outcome_faults(self, outcome: Variable, levels: list[int]) -> Iterator[str]:
        if not 2 <= len(levels) <= _MOST_OUTCOMES:
            yield (
                f"the outcome {outcome.name!r} has {many(len(levels), 'value')}; "
                f"a multinomial logit takes 2 to {_MOST_OUTCOMES}"
            )

    def _outcomes(self, schema: Schema) -> list[int]:
        """Levels of the outcome, the base first."""
        outcome = schema[self._formula.outcome]
        levels = levels_within(outcome.name, self.condition, schema)
        base = levels[0]
        if outcome.name in self.reference:
            base = outcome.levels[self.reference[outcome.name]]
        return [base, *(level for level in levels if level != base)]

    def _parameters(self, schema: Schema) -> tuple[Parameter, ...]:
        texts = schema[self._formula.outcome].texts
        return tuple(
            Parameter(column.name, texts[level])
            for level in self._outcomes(schema)[1:]
            for column in self._columns(schema)
        )

    def _script_outcomes(self, schema: Schema) -> list[int]:
        return self._outcomes(schema)

    def _needed(self, outcome: Variable, levels: list[int]) -> list[list[int]]:
        return [[level] for level in levels]

    def _column_of(self, parameter: int, schema: Schema) -> Column | None:
        found = self._columns(schema)
        return found[parameter % len(found)]

    def _sizes(self, schema: Schema) -> tuple[int, int]:
        return len(self._parameters(schema)), len(self._outcomes(schema)) - 1

    def _likelihood(self, schema: Schema) -> Likelihood:
        outcome = schema[self._formula.outcome]
        levels = self._outcomes(schema)
        y = np.zeros(outcome.size)
        y[levels] = np.arange(len(levels))
        design = Design.of(self._columns(schema), schema)
        size = design.width * (len(levels) - 1)
        return Likelihood(
            families.multinomial,
            design,
            self._groups(schema),
            Lookup(schema.index[outcome.name], y),
            tuple(range(0, size, design.width)),
            np.full((outcome.size, len(levels) - 1), -1),
            size,
            np.zeros(size),
        )

    def _fill(self, theta: FloatArray, told: Any, likelihood: Any, schema: Schema) -> FloatArray:
        """Put intercepts that fit the assumed shares of outcomes."""
        share = schema[self._formula.outcome].proportions[self._outcomes(schema)]
        means = column_moments(self._columns(schema), schema)[0]
        found = theta.copy()
        for m, start in enumerate(likelihood.block):
            if not told[start]:
                slopes = theta[start + 1 : start + len(means)]
                ratio = max(share[m + 1], 1e-3) / max(share[0], 1e-3)
                found[start] = np.log(ratio) - means[1:] @ slopes
        return found

    def _estimate(
        self, x: pd.DataFrame, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> Estimates | None:
        from statsmodels.discrete.discrete_model import MNLogit

        values = schema[self._formula.outcome].values[self._outcomes(schema)]
        position = {value: at for at, value in enumerate(values.tolist())}
        y = frame[self._formula.outcome].map(position).astype(int)
        if y.nunique() < len(values):
            return None
        y, rows = repeated(y, counts), repeated(x, counts)
        return fit_discrete(MNLogit(y.to_numpy(), rows.to_numpy()), len(y), self.robust)
