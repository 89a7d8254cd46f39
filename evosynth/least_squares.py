"""Linear models fitted by least squares, weighted or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from evosynth.design import Design, column_moments
from evosynth.errors import Fault
from evosynth.estimated import outcome_values
from evosynth.kernels import families
from evosynth.likelihood import Likelihood, Lookup
from evosynth.model_fields import TermFigures
from evosynth.model_items import Item, Traits
from evosynth.objective import Text
from evosynth.printed import Printed
from evosynth.refit import Estimates
from evosynth.schema import FloatArray, Schema, Variable

_GAUSS = -0.5 * np.log(2 * np.pi)


def numeric_faults(outcome: Variable, levels: list[int], log: bool) -> Iterator[str]:
    """Say why an outcome is not a quantity that a linear model can explain."""
    if outcome.values.dtype == object:
        yield f"the outcome {outcome.name!r} holds categories that are not numbers"
    elif log and float(outcome.quantities[levels].min()) <= 0:
        least = outcome.texts[int(levels[0])]
        yield f"log() needs values above 0, but {outcome.name!r} starts at {least}"


def numeric_outcome(outcome: Variable, log: bool) -> FloatArray:
    """Outcome of each level, or its logarithm; 0 where it is missing."""
    values = outcome_values(outcome)
    return np.log(np.where(values > 0, values, 1.0)) if log else values


class LeastSquares(TermFigures):
    """A linear model; t and F have residual degrees of freedom, k counts coefficients alone."""

    robust: Literal["HC0", "HC1", "HC2", "HC3", "stata"] | None = Field(  # type: ignore[assignment]
        None, description="heteroscedasticity-consistent standard errors; stata prints HC1"
    )
    betas: dict[str, Printed] = Field(
        default_factory=dict, description="term: standardised coefficient"
    )
    r_squared: Printed | None = Field(None, description="coefficient of determination")
    adjusted_r_squared: Printed | None = Field(None, description="adjusted for the terms")
    f: Printed | None = Field(None, description="F of all terms")
    f_p_value: Text | None = Field(None, description="its p-value")
    rmse: Printed | None = Field(None, description="root of the residual variance")
    log_likelihood: Printed | None = Field(None, description="of a normal model")
    aic: Printed | None = Field(None, description="2k - 2 log-likelihood")
    bic: Printed | None = Field(None, description="k ln n - 2 log-likelihood")

    measures: ClassVar[tuple[str, ...]] = (
        "r_squared",
        "adjusted_r_squared",
        "f",
        "f_p_value",
        "rmse",
        "log_likelihood",
        "aic",
        "bic",
    )
    linear: ClassVar[bool] = True

    def _outcome_faults(self, outcome: Variable, levels: list[int]) -> Iterator[str]:
        yield from numeric_faults(outcome, levels, self._formula.log)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Find a robust F, too."""
        for key in ("f", "f_p_value"):
            if self.robust is not None and getattr(self, key) is not None:
                message = "the F test of a robust fit is not supported; leave it out"
                yield Fault((key,), message)
        yield from super().faults(schema)

    def _values(self, schema: Schema) -> FloatArray:
        return numeric_outcome(schema[self._formula.outcome], self._formula.log)

    def _traits(self, schema: Schema) -> Traits:
        traits = super()._traits(schema)
        return Traits(**{**vars(traits), "about": float(self._values(schema).mean())})

    def _weight(self, schema: Schema) -> Lookup | None:
        """Weight of each record, if there is one."""
        return self._survey_weight(schema)

    def _likelihood(self, schema: Schema) -> Likelihood:
        outcome = schema[self._formula.outcome]
        return Likelihood.single(
            families.gaussian,
            Design.of(self._columns(schema), schema),
            self._groups(schema),
            Lookup(schema.index[outcome.name], self._values(schema)),
            weight=self._weight(schema),
        )

    def _density(
        self, theta: FloatArray, told: Any, items: Sequence[Item], schema: Schema
    ) -> tuple[FloatArray, float]:
        """Spread of errors as published, or as standard errors or R² suggest it."""
        outcome = schema[self._formula.outcome]
        y = self._values(schema)[: outcome.valid]
        step = np.abs(np.gradient(y)) if len(y) > 1 else np.ones(1)
        density = np.full(outcome.size, -np.inf)
        density[: outcome.valid] = _GAUSS + np.log(np.maximum(step, 1e-300))
        return density, max(self._spread(theta, items, schema), float(np.median(step)) / 3)

    def _spread(self, theta: FloatArray, items: Sequence[Item], schema: Schema) -> float:
        known = {item.form: item.published.value for item in items if item.parameter is None}
        outcome = schema[self._formula.outcome]
        size, n = len(theta), schema.records
        if known.get("rmse", 0.0) > 0:
            return known["rmse"]
        n_known = self._n(schema)
        if n_known is not None and {"log_likelihood", "aic", "bic"} & set(known):
            n = int(n_known.value)
            ll = known.get("log_likelihood")
            if ll is None:
                ll = size - known["aic"] / 2 if "aic" in known else None
            if ll is None:
                ll = (size * np.log(n) - known["bic"]) / 2
            return float(np.exp(-ll / n + _GAUSS - 0.5))
        found = self._columns(schema)
        _, variance = column_moments(found, schema)
        by_error = [
            item.published.value * np.sqrt(n * variance[item.parameter])
            for item in items
            if item.form == "se"
            and item.parameter
            and not self._columns(schema)[item.parameter].parts[1:]
        ]
        if by_error and self.robust is None:
            return float(np.median(by_error))
        share = known.get("r_squared", known.get("adjusted_r_squared"))
        explained = float(theta**2 @ variance)
        if share is not None and 0 < share < 1 and explained > 0:
            return float(np.sqrt(explained * (1 - share) / share))
        y = self._values(schema)[: outcome.valid]
        weight = outcome.proportions[: outcome.valid]
        total = float(np.average((y - np.average(y, weights=weight)) ** 2, weights=weight))
        return float(np.sqrt(max(total - explained, total / 4)))

    def _linear_estimates(self, fit: Any, x: Any, y: Any, weights: FloatArray) -> Estimates:
        """Figures of statsmodels' results."""
        robust = {"stata": "HC1", "survey": "HC0"}.get(self._robust or "", self._robust)
        errors = fit.bse if robust is None else getattr(fit, f"{robust}_se")
        if self._robust == "survey":
            errors = errors * np.sqrt(len(y) / (len(y) - 1))
        about = x - np.average(x, axis=0, weights=weights)
        spread = np.sqrt(np.average(about**2, axis=0, weights=weights))
        deviation = np.sqrt(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights))
        return Estimates(
            np.asarray(fit.params),
            np.asarray(errors),
            {
                "r_squared": fit.rsquared,
                "adjusted_r_squared": fit.rsquared_adj,
                "f": fit.fvalue,
                "f_p_value": fit.f_pvalue,
                "rmse": float(np.sqrt(fit.mse_resid)),
                "log_likelihood": fit.llf,
                "aic": fit.aic,
                "bic": fit.bic,
            },
            df=float(fit.df_resid),
            betas=np.asarray(fit.params) * spread / deviation,
        )
