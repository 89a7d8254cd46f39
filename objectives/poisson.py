"""Poisson regression of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from scipy.special import gammaln, xlogy

from evosynth.estimated import outcome_values
from evosynth.kernels import families
from evosynth.likelihood import Likelihood
from evosynth.model_fields import DevianceFigures
from evosynth.rates import Rates
from evosynth.refit import Estimates, fit_glm
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd


class Poisson(Rates, DevianceFigures):
    """Poisson regression with a log link."""

    kind: Literal["poisson"]

    averaged: ClassVar[bool] = True

    def _information(self, schema: Schema, variance: float) -> float | None:
        """Fitted means sum to the counts."""
        return float(np.nanmax(schema[self._formula.outcome].quantities))

    def _likelihood(self, schema: Schema) -> Likelihood:
        return self._single(families.poisson, schema)

    def _saturated(self, schema: Schema) -> FloatArray:
        y = outcome_values(schema[self._formula.outcome])
        found: FloatArray = xlogy(y, y) - y - gammaln(y + 1)
        return found

    def _estimate(
        self, x: pd.DataFrame, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> Estimates | None:
        from statsmodels.genmod.families import Poisson

        y = frame[self._formula.outcome].astype(float)
        exposure = None if self.exposure is None else frame[self.exposure].astype(float)
        return fit_glm(Poisson(), y, x, counts, self.robust, exposure)
