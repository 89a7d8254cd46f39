"""Linear regression by weighted least squares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from evosynth.errors import Fault
from evosynth.least_squares import LeastSquares
from evosynth.likelihood import Lookup
from evosynth.objective import Mention
from evosynth.refit import Estimates, repeated
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd


class Wls(LeastSquares):
    """Weighted least squares: weights are inverse to the variance of a record's error."""

    kind: Literal["wls"]
    weights: str = Field(description="variable that holds the weights")

    weightless: ClassVar[bool] = False

    @property
    def _others(self) -> tuple[str, ...]:
        return (self.weights,)

    def mentions(self) -> Iterator[Mention]:
        """Name the weights as well."""
        yield from super().mentions()
        yield Mention(("weights",), self.weights)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Find weights that are none, too."""
        variable = schema[self.weights]
        if variable.values.dtype == object or float(np.nanmin(variable.quantities)) <= 0:
            yield Fault(("weights",), f"{self.weights!r} must hold quantities above 0")
            return
        yield from super().faults(schema)

    def _weight(self, schema: Schema) -> Lookup:
        values = np.nan_to_num(schema[self.weights].quantities, nan=1.0)
        return Lookup(schema.index[self.weights], values)

    def _estimate(
        self, x: pd.DataFrame, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> Estimates | None:
        from statsmodels.regression.linear_model import WLS

        y = repeated(frame[self._formula.outcome].astype(float), counts).to_numpy()
        y = np.log(y) if self._formula.log else y
        weights = repeated(frame[self.weights].astype(float), counts).to_numpy()
        rows = repeated(x, counts).to_numpy()
        if len(rows) <= rows.shape[1]:
            return None
        fit = WLS(y, rows, weights=weights).fit()
        return self._linear_estimates(fit, rows, y, weights)
