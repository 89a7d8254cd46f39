"""Negative binomial regression of overdispersed counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from evosynth.kernels import families
from evosynth.likelihood import Likelihood
from evosynth.model import Parameter
from evosynth.model_fields import LikelihoodFigures
from evosynth.model_items import Traits
from evosynth.printed import Printed
from evosynth.rates import Rates
from evosynth.refit import Estimates, fit_dispersed, repeated
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd


class NegativeBinomial(Rates, LikelihoodFigures):
    """Negative binomial regression: variance ``m + alpha m²`` (NB2), log link.

    ``alpha`` counts as a parameter; standard errors and the like may be given for it, too.
    """

    kind: Literal["negative_binomial"]
    alpha: Printed | None = Field(None, description="overdispersion; 1/theta in R")

    def _parameters(self, schema: Schema) -> tuple[Parameter, ...]:
        return (*super()._parameters(schema), Parameter("alpha", key="alpha"))

    def _sizes(self, schema: Schema) -> tuple[int, int]:
        return len(self._parameters(schema)), 2

    def _traits(self, schema: Schema) -> Traits:
        return replace(
            super()._traits(schema), logged=frozenset({len(self._parameters(schema)) - 1})
        )

    def _likelihood(self, schema: Schema) -> Likelihood:
        single = self._single(families.negative_binomial, schema)
        extra = np.full((len(single.y.values), 2), -1)
        extra[:, 1] = single.size
        return replace(
            single,
            block=(0, -1),
            extra=extra,
            size=single.size + 1,
            default=np.zeros(single.size + 1),
        )

    def _fill(self, theta: FloatArray, told: Any, likelihood: Any, schema: Schema) -> FloatArray:
        found = super()._fill(theta, told, likelihood, schema)
        if not told[-1]:
            found = found.copy()
            found[-1] = -0.5
        return found

    def _estimate(
        self, x: pd.DataFrame, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> Estimates | None:
        from statsmodels.discrete.discrete_model import NegativeBinomial

        y, rows = repeated(frame[self._formula.outcome].astype(float), counts), repeated(x, counts)
        exposure = None
        if self.exposure is not None:
            exposure = repeated(frame[self.exposure].astype(float), counts).to_numpy()
        model = NegativeBinomial(y.to_numpy(), rows.to_numpy(), exposure=exposure)
        return fit_dispersed(model, len(y), self.robust)
