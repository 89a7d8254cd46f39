"""The figures of a fitted model, as smooth functions of its estimate and a few sums.

A record moves the estimate by V × its score, variances as `evosynth.likelihood.Variances` tells,
and sums by its own part; figures follow by the chain rule. An expansion is made at the estimate
of the dataset, so any subset of figures will do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosynth import tails
from evosynth.design import inverse
from evosynth.likelihood import Likelihood
from evosynth.measures import MEASURES
from evosynth.model_items import Item, Traits
from evosynth.null_model import Null
from evosynth.objective import Smooth
from evosynth.point import Point
from evosynth.schema import Codes, FloatArray
from evosynth.significance import p_box
from evosynth.sums import residual

_STEP = 1e-30

Numbers = NDArray[Any]
"""Real, or complex while differentiating."""

TERMS = ("coefficient", "ratio", "se", "statistic", "p", "low", "high", "beta")


@dataclass(frozen=True)
class Model(Smooth):
    """The smooth figures of one model."""

    likelihood: Likelihood
    items: tuple[Item, ...]
    traits: Traits
    start: FloatArray
    """Parameters as published, as far as they are known, and likely ones."""
    signs: FloatArray
    """Sign of each coefficient, 0 if not published: a p-value tells its size alone."""
    outcome: int
    given: tuple[int, ...]
    null: Null | None = None
    """The model without covariates, where a figure compares with it."""
    saturated: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Log-likelihood of each outcome when fitted perfectly, by level."""
    spread: float = 1.0
    """Likely standard deviation of the error of least squares."""
    density: FloatArray = field(default_factory=lambda: np.zeros(0))
    """What is added to log densities, by level of the outcome."""

    @property
    def size(self) -> int:
        """Number of figures."""
        return len(self.items)

    @property
    def half_width(self) -> FloatArray:
        """Half a unit of the last printed digit of each."""
        return np.array([item.published.half_width for item in self.items])

    @cached_property
    def _ends(self) -> tuple[FloatArray, FloatArray] | None:
        """Smallest and largest value of every parameter as printed, if all are."""
        ends: dict[int, tuple[float, float]] = {}
        for item in self.items:
            low, high = item.published.interval
            exponential = item.form == "ratio" or item.parameter in self.traits.logged
            if item.form not in {"coefficient", "ratio"} or item.parameter in ends:
                continue
            if item.parameter is None or (exponential and low <= 0):
                return None
            own = (float(np.log(low)), float(np.log(high))) if exponential else (low, high)
            ends[item.parameter] = own
        if len(ends) < self.likelihood.size:
            return None
        low, high = np.array([ends[k] for k in range(len(ends))]).T
        return low, high

    @cached_property
    def direct(self) -> tuple[FloatArray, FloatArray] | None:
        """Middle and half-width of each parameter, if they and nothing else are published."""
        if self._ends is None or self.size > self.likelihood.size:
            return None
        return (self._ends[0] + self._ends[1]) / 2, (self._ends[1] - self._ends[0]) / 2

    @cached_property
    def target(self) -> FloatArray | None:
        """The parameters, if all are published."""
        return None if self._ends is None else (self._ends[0] + self._ends[1]) / 2

    @cached_property
    def room(self) -> FloatArray:
        """Half-width of each parameter, if all are published."""
        return np.zeros(0) if self._ends is None else (self._ends[1] - self._ends[0]) / 2

    @property
    def curved(self) -> bool:  # type: ignore[override]
        """Whether figures other than all coefficients alone are published."""
        return self.direct is None

    @cached_property
    def forms(self) -> frozenset[str]:
        """Which figures are published."""
        return frozenset(item.form for item in self.items)

    @cached_property
    def wanted(self) -> NDArray[np.int64]:
        """Parameters whose variances matter."""
        forms = {"se", "statistic", "p", "low", "high"}
        found = {item.parameter for item in self.items if item.form in forms}
        return np.array(sorted(k for k in found if k is not None), dtype=np.int64)

    def log_density(self, codes: Codes) -> FloatArray:
        """Log probability of each record's outcome under the published model."""
        rows = self.likelihood.rows(codes)
        if self.traits.survey:
            rows = replace(rows, weight=(rows.weight > 0).astype(np.float64))
        value = self.likelihood.derivatives(rows, self.start)[0] / self.spread**2
        value = value + self.density[codes[:, self.outcome]] - np.log(self.spread)
        levels = float(np.isfinite(self.density).sum())
        found = np.where(rows.weight > 0, value, -np.log(levels))
        return np.asarray(np.nan_to_num(found, nan=-600.0, posinf=0.0, neginf=-600.0))

    def _theta(self) -> FloatArray:
        return self.start if self.direct is None else self.direct[0]

    def expand(self, codes: Codes, counts: FloatArray) -> Linear | Curved:
        """Expand at the published coefficients, or at the estimate if some are not published.

        At published ones scores, information and log-likelihood add up exactly, however many
        records change, and one Newton step is as good as a refit near the solution: its error is
        of second order in a distance that is already below half a printed digit.
        """
        rows = self.likelihood.rows(codes)
        if self.direct is not None:
            second = self.likelihood.derivatives(rows, self.direct[0])[2]
            information = self.likelihood.information(rows, second, counts)
            return Linear(self, inverse(information) / self.direct[1], np.zeros(self.size))
        with np.errstate(all="ignore"):
            point = Point.of(self, rows, counts, codes, self.target)
            values = np.real(self.evaluate(point.totals[None, :])[0])
            off, slope = residual(values, *self.box(point.totals))
            change = self.jacobian(point.totals) * slope[:, None]
        change[~np.isfinite(change)] = 0.0
        off = np.nan_to_num(off, nan=0.0, posinf=1e6, neginf=-1e6)
        there = (counts @ point.influence(rows, codes, point.at)) @ change.T
        return Curved(self, point, change, off - there)

    def refit(self, codes: Codes, counts: FloatArray) -> FloatArray:
        """Estimate anew."""
        rows = self.likelihood.rows(codes)
        if self.direct is not None:
            fit = self.likelihood.fit(rows, counts, self.direct[0])
            if not fit.found:
                return np.full(self.size, np.nan)
            return np.asarray((fit.theta - self.direct[0]) / self.direct[1])
        with np.errstate(all="ignore"):
            point = Point.of(self, rows, counts, codes, refit=True)
            if not point.fit.found:
                return np.full(self.size, np.nan)
            values = np.real(self.evaluate(point.totals[None, :])[0])
            return np.asarray(residual(values, *self.box(point.totals))[0], dtype=np.float64)

    def jacobian(self, totals: FloatArray) -> FloatArray:
        """Change of each figure with each total, by complex steps."""
        moved = totals + _STEP * 1j * np.eye(len(totals))
        return np.ascontiguousarray(np.imag(self.evaluate(moved)).T / _STEP)

    def evaluate(self, totals: Numbers) -> Numbers:
        """Figures from totals, shape (…, figures)."""
        known = self._known(totals)
        found = [self._figure(item, known) for item in self.items]
        return np.stack(np.broadcast_arrays(*found), axis=-1)

    @cached_property
    def sums(self) -> tuple[str, ...]:
        """Names of the sums that are totals beside n, estimate and variances."""
        if self.traits.linear:
            return "rss", "w", "y", "yy", "log_w"
        names = ["ll"]
        if self.null is not None:
            names.append("ll0")
        if len(self.saturated):
            names.append("saturated")
        return tuple(names)

    def _known(self, totals: Numbers) -> dict[str, Any]:
        size, wanted = self.likelihood.size, self.wanted
        known: dict[str, Any] = {"n": totals[:, 0], "theta": totals[:, 1 : 1 + size]}
        end = 1 + size + len(wanted)
        variance = totals[:, 1 + size : end]
        known |= {name: totals[:, end + i] for i, name in enumerate(self.sums)}
        if "beta" in self.forms:
            known["x"], known["xx"] = np.split(totals[:, end + len(self.sums) :], 2, axis=1)
        n, df = known["n"], known["n"] - size
        robust = self.traits.robust
        if self.traits.linear and robust is None:
            variance = variance * (known["rss"] / df)[:, None]
        elif robust == "HC1" or (robust == "stata" and self.traits.linear):
            variance = variance * (n / df)[:, None]
        elif robust in {"stata", "survey"}:
            variance = variance * (n / (n - 1))[:, None]
        errors = np.full(known["theta"].shape, np.nan, dtype=totals.dtype)
        errors[:, wanted] = np.sqrt(variance)
        value = known["theta"].copy()
        for k in self.traits.logged:
            value[:, k] = np.exp(value[:, k])
            errors[:, k] = errors[:, k] * value[:, k]
        known["value"], known["se"] = value, errors
        if self.traits.linear:
            known["tss"] = known["yy"] - known["y"] ** 2 / known["w"]
            per = known["rss"] / n
            known["ll"] = -n / 2 * (np.log(2 * np.pi * per) + 1) + known["log_w"] / 2
        return known

    def _figure(self, item: Item, known: dict[str, Any]) -> Numbers:
        if item.parameter is not None:
            return self._term(item.form, item.parameter, known)
        n, size = known["n"], self.likelihood.size
        return np.asarray(MEASURES[item.form](known, n, size, self._null_size))

    @property
    def _null_size(self) -> int:
        return 1 if self.null is None else self.null.likelihood.size

    def _term(self, form: str, k: int, known: dict[str, Any]) -> Numbers:
        value, error = known["value"][:, k], known["se"][:, k]
        if form == "coefficient":
            return np.asarray(value)
        if form == "ratio":
            return np.asarray(np.exp(value))
        if form == "se":
            return np.asarray(error * np.exp(value) if self.traits.ratio_errors else error)
        if form in {"statistic", "p"}:
            ratio = value / error
            sign = self.signs[k] or np.where(np.real(ratio) < 0, -1.0, 1.0)
            return np.asarray(ratio * sign if form == "p" else ratio)
        if form == "beta":
            spread = known["xx"][:, k] - known["x"][:, k] ** 2 / known["w"]
            return np.asarray(value * np.sqrt(spread / known["tss"]))
        reach = self._quantile(known["n"]) * error * (-1 if form == "low" else 1)
        return np.asarray(np.exp(value + reach) if self.traits.ratios else value + reach)

    def _quantile(self, n: Numbers) -> float:
        tail = 0.5 - self.level_share / 2
        if not self.uses_t:
            return tails.normal(tail)
        return tails.student(tail, max(float(np.real(n[0])) - self.likelihood.size, 1e-9))

    @property
    def level_share(self) -> float:
        """Level of confidence intervals as a share."""
        return self.traits.level / 100

    @property
    def uses_t(self) -> bool:
        """Whether terms are judged by t rather than normal quantiles."""
        return self.traits.linear

    def box(self, totals: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Interval of each figure, p-values as intervals of their statistics, and units."""
        low, high = np.array([item.published.interval for item in self.items]).T
        size, null = self.likelihood.size, self._null_size
        df = max(float(totals[0]) - size, 1e-9)
        tests: dict[str, Callable[[float], float]] = {
            "p": (lambda p: tails.student(p / 2, df))
            if self.uses_t
            else (lambda p: tails.normal(p / 2)),
            "f_p_value": lambda p: tails.fisher(p, size - 1, df),
            "lr_p_value": lambda p: tails.chi_square(p, size - null),
        }
        unit = np.full(len(low), np.inf)
        for form, statistic in tests.items():
            if form in self.forms:
                keys = ["p" if item.form == form else "" for item in self.items]
                low, high, own = p_box(low, high, keys, statistic)
                unit = np.minimum(unit, own)
        return low, high, unit


@dataclass(frozen=True)
class Linear:
    """How far each record moves the coefficients, in half-widths: V × its score."""

    model: Model
    to_half_widths: FloatArray
    offset: FloatArray

    def influence(self, codes: Codes) -> FloatArray:
        """Score of each record at the published coefficients × V."""
        likelihood, theta = self.model.likelihood, self.model._theta()
        rows = likelihood.rows(codes)
        first = likelihood.derivatives(rows, theta)[1]
        return likelihood.scores(rows, first, self.to_half_widths)


@dataclass(frozen=True)
class Curved:
    """How far each record moves the figures near one dataset, in half-widths."""

    model: Model
    point: Point
    change: FloatArray
    """Change of each figure with each total, shape (figures, totals)."""
    offset: FloatArray

    def influence(self, codes: Codes) -> FloatArray:
        """Change of the totals by each record × change of the figures."""
        rows = self.model.likelihood.rows(codes)
        with np.errstate(all="ignore"):
            found = self.point.influence(rows, codes) @ self.change.T
        if not np.isfinite(found.sum()):
            found[~np.isfinite(found)] = 0.0
        return np.asarray(found)
