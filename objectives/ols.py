"""Linear regression by ordinary least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from evosynth.least_squares import LeastSquares
from evosynth.refit import Estimates, repeated
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd


class Ols(LeastSquares):
    """Ordinary least squares; ``log(Y) ~ …`` explains the logarithm of the outcome."""

    weightable: ClassVar[bool] = True

    kind: Literal["ols"]

    def _information(self, schema: Schema, variance: float) -> float | None:
        return 1 / variance if variance > 0 else None

    def _estimate(
        self, x: pd.DataFrame, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> Estimates | None:
        from statsmodels.regression.linear_model import OLS, WLS

        y = repeated(frame[self._formula.outcome].astype(float), counts).to_numpy()
        y = np.log(y) if self._formula.log else y
        rows = repeated(x, counts).to_numpy()
        if len(rows) <= rows.shape[1]:
            return None
        if self.weighted:
            weights = repeated(frame[str(schema.weight)].astype(float), counts).to_numpy()
            fit = WLS(y, rows, weights=weights).fit()
            return self._linear_estimates(fit, rows, y, weights)
        return self._linear_estimates(OLS(y, rows).fit(), rows, y, np.ones(len(y)))
