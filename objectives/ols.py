"""Linear regression by ordinary least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from evosynth.least_squares import LeastSquares
from evosynth.refit import Estimates, repeated
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd


class Ols(LeastSquares):
    """Ordinary least squares; ``log(Y) ~ …`` explains the logarithm of the outcome."""

    kind: Literal["ols"]

    def _information(self, schema: Schema, variance: float) -> float | None:
        return 1 / variance if variance > 0 else None

    def _estimate(
        self, x: pd.DataFrame, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> Estimates | None:
        from statsmodels.regression.linear_model import OLS

        y = repeated(frame[self._formula.outcome].astype(float), counts).to_numpy()
        y = np.log(y) if self._formula.log else y
        rows = repeated(x, counts).to_numpy()
        if len(rows) <= rows.shape[1]:
            return None
        return self._linear_estimates(OLS(y, rows).fit(), rows, y, np.ones(len(y)))
