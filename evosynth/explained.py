"""What a published linear model says of its covariates alone, whatever the outcome of each record.

At the published coefficients b the means of the outcome in groups that the model has terms for are
those of x'b, the explained sum of squares is that of x'b, and standard errors follow from x'x and
the published spread of the errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosynth.design import inverse
from evosynth.fitted import Model
from evosynth.moments import GroupMoments
from evosynth.objective import Smooth
from evosynth.schema import Codes, FloatArray, IntArray
from evosynth.sums import Sums, Totals, residual

_SPANNED = 1e-6
"""What terms of a model may leave of a group's indicator for it to be their sum."""
_LINEAR = ("mean", "total")
_SQUARED = ("sd", "variance", "standard_error")


def separable(model: Smooth) -> bool:
    """Whether a model is linear, of all records, with every coefficient published."""
    return (
        isinstance(model, Model)
        and model.traits.linear
        and model.traits.robust is None
        and model.likelihood.weight is None
        and model.target is not None
        and model.likelihood.classes.grid.size == 1
        and "beta" not in model.forms
        and bool({"rmse", "se"} & model.forms)
    )


def explains(model: Model, quantities: FloatArray) -> bool:
    """Whether a model is of the quantities themselves, by level, rather than their logarithms."""
    return bool(np.allclose(model.likelihood.y.values, quantities))


@dataclass(frozen=True)
class Predictor:
    """x'b of a model at its published coefficients, and the sum of squares that it leaves."""

    model: Model
    theta: FloatArray
    rss: float

    @classmethod
    def of(cls, model: Model, records: int, within: FloatArray | None = None) -> Predictor:
        """Take coefficients and spread as published.

        ``within``: where they are inside their printed digits, from -1 to 1, the spread last.
        """
        assert model.target is not None
        size = model.likelihood.size
        within = np.zeros(size + 1) if within is None else within
        half = {
            "rmse": 0.0,
            **{i.form: i.published.half_width for i in model.items if i.parameter is None},
        }
        spread = model.spread + within[-1] * half["rmse"]
        return cls(model, model.target + within[:-1] * model.room, spread**2 * (records - size))

    def __call__(self, codes: Codes) -> FloatArray:
        """Predict the outcome of records."""
        return np.asarray(self.model.likelihood.rows(codes).x @ self.theta)


@dataclass(frozen=True)
class Explained(Smooth):
    """The figures of a linear model as functions of its covariates."""

    predictor: Predictor
    curved = True

    @property
    def size(self) -> int:
        """Number of figures."""
        return self.predictor.model.size

    @property
    def half_width(self) -> FloatArray:
        """Half a unit of the last printed digit of each."""
        return self.predictor.model.half_width

    def _parts(self, codes: Codes, covariance: FloatArray) -> FloatArray:
        """Effect of each record on the totals of the model."""
        model = self.predictor.model
        x = model.likelihood.rows(codes).x
        y = x @ self.predictor.theta - model.traits.about
        found = np.zeros((len(codes), 1 + model.likelihood.size + len(model.wanted) + 5))
        found[:, 0] = found[:, -4] = 1.0
        first = 1 + model.likelihood.size
        found[:, first:-5] = -((x @ covariance[:, model.wanted]) ** 2)
        found[:, -3], found[:, -2] = y, y * y
        return found

    def _totals(self, codes: Codes, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        model = self.predictor.model
        x = model.likelihood.rows(codes).x
        covariance = inverse((x * counts[:, None]).T @ x)
        totals = counts @ self._parts(codes, covariance)
        first = 1 + model.likelihood.size
        totals[1:first] = self.predictor.theta
        totals[first:-5] = covariance[model.wanted, model.wanted]
        totals[-5] = self.predictor.rss
        totals[-2] += self.predictor.rss
        return totals, covariance

    def expand(self, codes: Codes, counts: FloatArray) -> ExplainedExpansion:
        """Expand around a dataset."""
        model = self.predictor.model
        totals, covariance = self._totals(codes, counts)
        with np.errstate(all="ignore"):
            values = np.real(model.evaluate(totals[None, :])[0])
            off, slope = residual(values, *model.box(totals))
            change = model.jacobian(totals) * slope[:, None]
        change[~np.isfinite(change)] = 0.0
        off = np.nan_to_num(off, nan=0.0, posinf=1e6, neginf=-1e6)
        there = (counts @ self._parts(codes, covariance)) @ change.T
        return ExplainedExpansion(self, covariance, change, off - there)

    def refit(self, codes: Codes, counts: FloatArray) -> FloatArray:
        """Compute the figures anew."""
        totals, _ = self._totals(codes, counts)
        model = self.predictor.model
        with np.errstate(all="ignore"):
            values = np.real(model.evaluate(totals[None, :])[0])
            return np.asarray(residual(values, *model.box(totals))[0], dtype=np.float64)


@dataclass(frozen=True)
class ExplainedExpansion:
    """How far each record moves the figures, in half-widths."""

    block: Explained
    covariance: FloatArray
    change: FloatArray
    offset: FloatArray

    def influence(self, codes: Codes) -> FloatArray:
        """Change of the totals by each record × change of the figures."""
        return np.asarray(self.block._parts(codes, self.covariance) @ self.change.T)


def predicted(block: GroupMoments, model: Model, codes: Codes) -> IntArray:
    """Moments of an outcome that follow from its prediction; ``codes``: all types of records.

    A model of the logarithm predicts no mean of the outcome itself.
    """
    if not explains(model, block.powers[:, 1] + block.about):
        return np.empty(0, np.int64)
    moment = {int(i): name for name, rows in block.rows.items() for i in rows}
    x = model.likelihood.rows(codes).x
    group = block.group_of(codes)
    kept = []
    for row, member in enumerate(block.member):
        inside = np.where(group >= 0, member[group], 0.0)
        left = inside - x @ np.linalg.lstsq(x, inside, rcond=None)[0]
        spanned = np.abs(left).max() < _SPANNED
        if moment[row] in _LINEAR and spanned or moment[row] in _SQUARED and inside.all():
            kept.append(row)
    return np.array(kept, dtype=np.int64)


class PredictedMoments(Sums):
    """Moments of an outcome that those of its prediction decide."""

    def __init__(self, block: GroupMoments, kept: IntArray, predictor: Predictor) -> None:
        super().__init__(block.classes, [block.figures[i] for i in kept])
        self.block, self.kept, self.predictor = block, kept, predictor

    def features(self, codes: Codes) -> FloatArray:
        """Powers of the prediction."""
        found = np.empty((len(codes), self.block.powers.shape[1]))
        found[:, 0], about = 1.0, self.predictor(codes) - self.block.about
        for power in range(1, found.shape[1]):
            found[:, power] = found[:, power - 1] * about
        return found

    def evaluate(self, totals: Totals) -> Totals:
        """Moments of the prediction, with the spread of the errors."""
        own = self.block.member @ totals
        if own.shape[1] > 2:
            own[:, 2] += self.predictor.rss
        return self.block._moments(own)[self.kept]
