"""Probit regression of a two-valued outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from scipy import stats

from evosynth.binary import Binary
from evosynth.kernels import families
from evosynth.likelihood import Likelihood
from evosynth.refit import Estimates, fit_discrete, repeated
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd


class Probit(Binary):
    """Probit regression; standard errors rest on the observed information, as Stata's do.

    The event is the outcome's value 1 if its values are 0 and 1, else its second value.
    """

    kind: Literal["probit"]

    most: ClassVar[float | None] = 1.0

    def _likelihood(self, schema: Schema) -> Likelihood:
        return self._single(families.probit, schema)

    def _link(self, mean: float) -> float:
        return float(stats.norm.ppf(min(max(mean, 0.01), 0.99)))

    def _estimate(
        self, x: pd.DataFrame, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> Estimates | None:
        from statsmodels.discrete.discrete_model import Probit

        event = schema[self._formula.outcome].values[self._event(schema)]
        y = (frame[self._formula.outcome] == event).astype(float)
        rows, times = repeated(x, counts), repeated(y, counts)
        found = fit_discrete(Probit(times, rows), len(times), self.robust)
        if found is None:
            return None
        ll = {f"{k}deviance": -2 * found.measures[f"{k}log_likelihood"] for k in ("", "null_")}
        return Estimates(found.values, found.errors, {**found.measures, **ll})
