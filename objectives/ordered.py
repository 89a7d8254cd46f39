"""Ordered (proportional odds) logit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from evosynth.counting import levels_within
from evosynth.design import Design, column_moments
from evosynth.errors import many
from evosynth.kernels import families
from evosynth.likelihood import Likelihood, Lookup
from evosynth.model import Parameter
from evosynth.model_fields import ErrorsOf, LikelihoodFigures, TermFigures
from evosynth.printed import Printed
from evosynth.refit import Estimates, fit_ordered, repeated
from evosynth.schema import FloatArray, Schema, Variable

if TYPE_CHECKING:
    import pandas as pd

_MOST_OUTCOMES = 20


class Ordered(TermFigures, LikelihoodFigures):
    """Proportional odds: the log odds of an outcome up to k are the k-th cut point less x'b.

    The order is that of the outcome's values. Cut points are named by the values that they
    separate, ``1|2``; standard errors and the like may be given for them, too.
    """

    kind: Literal["ordered"]
    odds_ratios: dict[str, Printed] = Field(
        default_factory=dict, description="term: exponentiated coefficient"
    )
    cut_points: dict[str, Printed] = Field(
        default_factory=dict, description="1|2: cut point between values 1 and 2"
    )
    standard_errors_of: ErrorsOf = "coefficients"

    intercept: ClassVar[bool] = False
    most: ClassVar[float | None] = 0.5

    def _outcome_faults(self, outcome: Variable, levels: list[int]) -> Iterator[str]:
        if not 3 <= len(levels) <= _MOST_OUTCOMES:
            yield (
                f"the outcome {outcome.name!r} has {many(len(levels), 'value')}; "
                f"an ordered logit takes 3 to {_MOST_OUTCOMES}"
            )

    def _outcomes(self, schema: Schema) -> list[int]:
        return levels_within(self._formula.outcome, self.condition, schema)

    def _parameters(self, schema: Schema) -> tuple[Parameter, ...]:
        outcome, levels = schema[self._formula.outcome], self._outcomes(schema)
        texts = [outcome.texts[level] for level in levels]
        cuts = (
            Parameter(f"{a}|{b}", key="cut_points") for a, b in zip(texts, texts[1:], strict=False)
        )
        return (*super()._parameters(schema), *cuts)

    def _script_outcomes(self, schema: Schema) -> list[int]:
        return self._outcomes(schema)

    def _needed(self, outcome: Variable, levels: list[int]) -> list[list[int]]:
        return [levels[1:], levels[:-1]]

    def _sizes(self, schema: Schema) -> tuple[int, int]:
        return len(self._parameters(schema)), len(self._outcomes(schema)) - 1

    def _likelihood(self, schema: Schema) -> Likelihood:
        outcome, levels = schema[self._formula.outcome], self._outcomes(schema)
        design = Design.of(self._columns(schema), schema)
        cuts = len(levels) - 1
        y, extra = np.zeros(outcome.size), np.full((outcome.size, 2), -1)
        y[levels] = np.arange(len(levels))
        y[levels[-1]] = -1.0
        extra[levels[:-1], 0] = design.width + np.arange(cuts)
        extra[levels[1:], 1] = design.width + np.arange(cuts)
        default = np.zeros(design.width + cuts)
        default[design.width :] = np.arange(cuts) - (cuts - 1) / 2
        return Likelihood(
            families.ordered,
            design,
            self._groups(schema),
            Lookup(schema.index[outcome.name], y),
            (0, 0),
            extra,
            design.width + cuts,
            default,
            sign=-1.0,
        )

    def _fill(self, theta: FloatArray, told: Any, likelihood: Any, schema: Schema) -> FloatArray:
        """Cut points that fit the assumed shares of outcomes, and in order."""
        share = schema[self._formula.outcome].proportions[self._outcomes(schema)]
        below = np.clip(np.cumsum(share / share.sum())[:-1], 1e-3, 1 - 1e-3)
        width = likelihood.design.width
        means = column_moments(self._columns(schema), schema)[0]
        likely = np.log(below / (1 - below)) + means @ theta[:width]
        found = theta.copy()
        found[width:] = np.where(told[width:], theta[width:], likely)
        if (np.diff(found[width:]) <= 0).any():
            found[width:] = likely
        return found

    def _estimate(
        self, x: pd.DataFrame, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> Estimates | None:
        values = schema[self._formula.outcome].values[self._outcomes(schema)]
        position = {value: at for at, value in enumerate(values.tolist())}
        y = frame[self._formula.outcome].map(position).astype(int)
        if y.nunique() < len(values):
            return None
        return fit_ordered(repeated(y, counts), repeated(x, counts), self.robust)
