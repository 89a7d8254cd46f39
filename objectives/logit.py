"""Logistic regression of a two-valued outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from evosynth.binary import Binary
from evosynth.kernels import families
from evosynth.likelihood import Likelihood
from evosynth.model_fields import ErrorsOf
from evosynth.printed import Printed
from evosynth.refit import Estimates, fit_glm
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd


class Logit(Binary):
    """Logistic regression.

    The event is the outcome's value 1 if its values are 0 and 1, else its second value.
    """

    kind: Literal["logit"]
    odds_ratios: dict[str, Printed] = Field(
        default_factory=dict, description="term: exponentiated coefficient"
    )
    standard_errors_of: ErrorsOf = "coefficients"

    weightable: ClassVar[bool] = True
    most: ClassVar[float | None] = 0.25
    fitted_shares: ClassVar[bool] = True

    def _likelihood(self, schema: Schema) -> Likelihood:
        return self._single(families.logit, schema)

    def _link(self, mean: float) -> float:
        share = min(max(mean, 0.01), 0.99)
        return float(np.log(share / (1 - share)))

    def _estimate(
        self, x: pd.DataFrame, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> Estimates | None:
        from statsmodels.genmod.families import Binomial

        event = schema[self._formula.outcome].values[self._event(schema)]
        y = (frame[self._formula.outcome] == event).astype(float)
        survey = frame[str(schema.weight)].astype(float) if self.weighted else None
        return fit_glm(Binomial(), y, x, counts, self._robust, survey=survey)
