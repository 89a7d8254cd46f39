"""A model estimated from a dataset, and how records move the sums that its figures rest on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evosynth.design import inverse
from evosynth.kernels.families import Derivatives
from evosynth.likelihood import Fit, Rows, Variances
from evosynth.schema import Codes, FloatArray

if TYPE_CHECKING:
    from evosynth.fitted import Model


@dataclass(frozen=True)
class Point:
    """A model estimated from a dataset."""

    model: Model
    fit: Fit
    null: FloatArray
    """Estimate without covariates."""
    variances: Variances | None
    at: Derivatives
    step: FloatArray
    """From where figures are expanded to the estimate."""
    totals: FloatArray

    @classmethod
    def of(
        cls,
        model: Model,
        rows: Rows,
        counts: FloatArray,
        codes: Codes,
        target: FloatArray | None = None,
        refit: bool = False,
    ) -> Point:
        """Estimate, and sum up what the figures need; or do so at given parameters."""
        likelihood, wanted, robust = model.likelihood, model.wanted, model.traits.robust
        if target is None:
            fit = likelihood.fit(rows, counts, model.start)
            step, information = np.zeros(likelihood.size), np.zeros(fit.covariance.shape)
            theta, third = fit.theta, len(wanted) > 0 and not refit
            at = likelihood.derivatives(rows, theta, third)
        else:
            at = likelihood.derivatives(rows, target, len(wanted) > 0)
            information = likelihood.information(rows, at[2], counts)
            fit = Fit(target, inverse(information), True)
            step = fit.covariance @ likelihood.score(rows, at[1], counts)
            theta = target + step
        null = np.empty(0)
        if model.null is not None:
            null = model.null.fit(codes, counts * (rows.weight > 0))
        variances, found = None, np.empty(0)
        if len(wanted):
            corrected = {"HC2": 1, "HC3": 2}.get(robust or "", 0)
            how = robust is not None, corrected
            variances = Variances(likelihood, fit, rows, counts, wanted, *how, at)
            found = variances.values
            if target is not None:
                found = np.maximum(found + step @ variances.pull, found / 2)
        point = cls(model, fit, null, variances, at, step, np.empty(0))
        sums = counts @ point._sums(rows, codes, at[0], at[1])
        # Each record's score counts in full, but the likelihood gains half of that.
        sums[0] -= (-1.0 if model.traits.linear else 0.5) * float(step @ information @ step)
        n = float(counts @ (rows.weight > 0))
        return replace(point, totals=np.concatenate([[n], theta, found, sums]))

    def _sums(self, rows: Rows, codes: Codes, value: FloatArray, first: FloatArray) -> FloatArray:
        """Return what each record adds to the sums."""
        model = self.model
        if self.step.any():
            value = value + model.likelihood.scores(rows, first, self.step[:, None])[:, 0]
        there = rows.weight > 0
        if model.traits.linear:
            w, y = rows.weight, rows.y - model.traits.about
            log_w = np.log(np.where(there, w, 1.0))
            found = [-2 * value, w, w * y, w * y * y, log_w]
        else:
            found = [value]
        if model.null is not None:
            found.append(np.where(there, model.null.values(codes, self.null), 0.0))
        if len(model.saturated):
            found.append(np.where(there, model.saturated[codes[:, model.outcome]], 0.0))
        sums = np.stack(found, axis=1)
        if "beta" in model.forms:
            x = rows.x * rows.weight[:, None]
            sums = np.hstack([sums, x, x * rows.x])
        return np.asarray(sums)

    def influence(self, rows: Rows, codes: Codes, at: Derivatives | None = None) -> FloatArray:
        """Effect of having each record on the totals; ``at``: derivatives there, if known."""
        likelihood = self.model.likelihood
        value, first, second, _ = at or likelihood.derivatives(rows, self.fit.theta)
        spread = likelihood.project(rows, self.fit.covariance)
        moved = sum(first[:, m, None] * part for m, part in enumerate(spread))
        parts = [(rows.weight > 0)[:, None].astype(np.float64), np.asarray(moved)]
        if self.variances is not None:
            own = spread[:, :, self.model.wanted]
            parts.append(self.variances.influence(rows, first, second, parts[1], own))
        return np.hstack([*parts, self._sums(rows, codes, value, first)])
