"""Maximum likelihood: models whose records depend on parameters through a few linear predictors.

Predictor m of a record is ``sign · x'θ[block_m : block_m + width] + θ[extra_m]``: one predictor in
a logit, one per outcome but the base in a multinomial logit, two cut points in an ordered one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evosynth.classes import Classes
from evosynth.design import Design, inverse
from evosynth.kernels.families import Derivatives
from evosynth.kernels.sums import sum_groups
from evosynth.schema import Codes, FloatArray, IntArray

_MOST_STEPS = 25
_MOST_HALVINGS = 12
_SURE = 1e-4
"""Smallest pivot of a scaled information matrix that surely determines all parameters."""

Kernel = Callable[[FloatArray, FloatArray, bool], Derivatives]


@dataclass(frozen=True)
class Rows:
    """What a model sees of records."""

    x: FloatArray
    y: FloatArray
    extra: IntArray
    """Parameter that is added to each predictor, shape (records, predictors); -1 if none."""
    offset: FloatArray
    weight: FloatArray
    """0 for records that the model leaves out."""


@dataclass(frozen=True)
class Lookup:
    """A number for each level of one variable."""

    column: int
    values: FloatArray

    def __call__(self, codes: Codes) -> FloatArray:
        """Look up each record."""
        return np.asarray(self.values[codes[:, self.column]])


@dataclass(frozen=True)
class Likelihood:
    """A family of outcomes, and how parameters make its predictors."""

    kernel: Kernel
    design: Design
    classes: Classes
    y: Lookup
    """Outcome as the kernel takes it; 0 where it is missing."""
    block: tuple[int, ...]
    """Where the coefficients of each predictor start; -1 if it has none."""
    extra: IntArray
    """Parameter added to each predictor, by level of the outcome; -1 if none."""
    size: int
    """Number of parameters."""
    default: FloatArray
    """Parameters from which an estimate is found if need be."""
    sign: float = 1.0
    offset: Lookup | None = None
    weight: Lookup | None = None

    @classmethod
    def single(
        cls,
        kernel: Kernel,
        design: Design,
        classes: Classes,
        y: Lookup,
        offset: Lookup | None = None,
        weight: Lookup | None = None,
    ) -> Likelihood:
        """Build a model of one predictor."""
        extra = np.full((len(y.values), 1), -1)
        default = np.zeros(design.width)
        shape = (0,), extra, design.width, default
        return cls(kernel, design, classes, y, *shape, offset=offset, weight=weight)

    def rows(self, codes: Codes) -> Rows:
        """Prepare coded records."""
        counted = self.classes.grid.cells(codes) == 0
        weight = counted.astype(np.float64)
        if self.weight is not None:
            weight *= self.weight(codes)
        return Rows(
            self.design.rows(codes),
            self.y(codes),
            np.asarray(self.extra[codes[:, self.y.column]]),
            np.zeros(len(codes)) if self.offset is None else self.offset(codes),
            weight,
        )

    def derivatives(self, rows: Rows, theta: FloatArray, third: bool = False) -> Derivatives:
        """Log-likelihood of each record, and its derivatives by the predictors."""
        eta = self.project(rows, theta[:, None])[:, :, 0].T
        if self.offset is not None:
            eta = eta + rows.offset[:, None] * (np.array(self.block) >= 0)
        found = self.kernel(np.ascontiguousarray(eta), rows.y, third)
        odd = np.flatnonzero(rows.weight != 1.0)
        for part in found if len(odd) else ():
            if len(part):
                weight = rows.weight[odd].reshape(-1, *[1] * (part.ndim - 1))
                part[odd] = np.where(weight == 0.0, 0.0, weight * part[odd])
        return found

    def project(self, rows: Rows, matrix: FloatArray) -> FloatArray:
        """Multiply the coefficients of each predictor with columns of a matrix.

        Shape (predictors, records, columns); a matrix of parameters gives the predictors.
        """
        width = rows.x.shape[1]
        found = np.zeros((len(self.block), len(rows.x), matrix.shape[1]))
        padded = np.vstack([matrix, np.zeros((1, matrix.shape[1]))])
        for m, start in enumerate(self.block):
            if start >= 0:
                found[m] = rows.x @ (self.sign * matrix[start : start + width])
            if (self.extra[:, m] >= 0).any():
                found[m] += padded[rows.extra[:, m]]
        return found

    def gather(self, rows: Rows, m: int, values: FloatArray) -> FloatArray:
        """Sum values of records, times the coefficients of predictor m: (parameters, columns)."""
        found = np.zeros((self.size, values.shape[1]))
        start, width = self.block[m], rows.x.shape[1]
        if start >= 0:
            found[start : start + width] = self.sign * (rows.x.T @ values)
        if (self.extra[:, m] >= 0).any():
            ones = np.ones(len(values))
            found += sum_groups(rows.extra[:, m], np.ascontiguousarray(values), ones, self.size)
        return found

    def scores(self, rows: Rows, first: FloatArray, matrix: FloatArray) -> FloatArray:
        """Score of each record times a matrix, shape (records, columns)."""
        parts = self.project(rows, matrix)
        return np.asarray(sum(first[:, m, None] * parts[m] for m in range(len(self.block))))

    def score(self, rows: Rows, first: FloatArray, counts: FloatArray) -> FloatArray:
        """Sum of the scores."""
        weighted = first * counts[:, None]
        parts = [self.gather(rows, m, weighted[:, m : m + 1]) for m in range(len(self.block))]
        return np.asarray(sum(parts)[:, 0])  # type: ignore[index]

    def information(self, rows: Rows, second: FloatArray, counts: FloatArray) -> FloatArray:
        """Observed information of all records."""
        found = np.zeros((self.size, self.size))
        width = rows.x.shape[1]
        has_extra = [(self.extra[:, m] >= 0).any() for m in range(len(self.block))]
        for m, start in enumerate(self.block):
            for k, other in enumerate(self.block):
                weight = -second[:, m, k] * counts
                if other >= 0:
                    part = self.gather(rows, m, rows.x * weight[:, None])
                    found[:, other : other + width] += self.sign * part
                if has_extra[k]:
                    if start >= 0:
                        columns = sum_groups(rows.extra[:, k], rows.x, weight, self.size)
                        found[start : start + width] += self.sign * columns.T
                    if has_extra[m]:
                        both = (rows.extra[:, m] >= 0) & (rows.extra[:, k] >= 0)
                        at = rows.extra[both, m] * self.size + rows.extra[both, k]
                        sums = np.bincount(at, weight[both], self.size**2)
                        found += sums.reshape(self.size, self.size)
        return found

    def fit(self, rows: Rows, counts: FloatArray, start: FloatArray) -> Fit:
        """Maximise by Newton's method, from a second place if need be."""
        fit = self._newton(rows, counts, start)
        return fit if fit.found else self._newton(rows, counts, self.default)

    def _newton(self, rows: Rows, counts: FloatArray, theta: FloatArray) -> Fit:
        now = self.derivatives(rows, theta)
        covariance = np.zeros((self.size, self.size))
        for _ in range(_MOST_STEPS):
            value = float(now[0] @ counts)
            information = self.information(rows, now[2], counts)
            covariance, determined = _ascent(information)
            if not determined or not np.isfinite(value):
                break
            step = covariance @ self.score(rows, now[1], counts)
            small = np.abs(step).max(initial=0.0) < 1e-6 * (1 + np.abs(theta).max(initial=0.0))
            if small and abs(float(step @ information @ step)) < 1e-12:
                return Fit(theta + step, covariance, True)
            now, step = self._climb(rows, counts, theta, step, value)
            theta = theta + step
        return Fit(theta, covariance, False)

    def _climb(
        self,
        rows: Rows,
        counts: FloatArray,
        theta: FloatArray,
        step: FloatArray,
        value: float,
    ) -> tuple[Derivatives, FloatArray]:
        """Shorten a step until it does not lose likelihood."""
        found = self.derivatives(rows, theta + step)
        slack = 1e-9 * (1 + abs(value))
        for _ in range(_MOST_HALVINGS):
            reached = float(found[0] @ counts)
            if np.isfinite(reached) and reached >= value - slack:
                break
            step = step / 2
            found = self.derivatives(rows, theta + step)
        return found, step

    def only(self, design: Design, first: int) -> Likelihood:
        """Return the same model with another design, its parameters after x's from ``first``."""
        width = design.width
        old = self.design.width
        block = tuple(-1 if b < 0 else b // max(old, 1) * width for b in self.block)
        shift = len([b for b in dict.fromkeys(self.block) if b >= 0]) * width
        extra = np.where(self.extra >= 0, self.extra - first + shift, -1)
        size = shift + self.size - first
        default = np.concatenate([np.zeros(shift), self.default[first:]])
        return replace(self, design=design, block=block, extra=extra, size=size, default=default)


@dataclass(frozen=True)
class Fit:
    """An estimate, or where the search for one ended."""

    theta: FloatArray
    covariance: FloatArray
    found: bool


def _ascent(information: FloatArray) -> tuple[FloatArray, bool]:
    """Inverse of an information matrix made positive, and whether it determines all parameters."""
    if not np.isfinite(information).all():
        return np.zeros_like(information), False
    scale = 1 / np.sqrt(np.maximum(np.diag(information), 1e-300))
    try:
        root = np.linalg.cholesky(information * np.outer(scale, scale))
        if np.diag(root).min(initial=1.0) > _SURE:
            half = np.linalg.inv(root) * scale
            return half.T @ half, True
    except np.linalg.LinAlgError:
        pass
    covariance = inverse(information)
    if np.trace(information @ covariance) < len(information) - 0.5:
        return covariance, False
    if (np.diag(covariance) > 0).all():
        return covariance, True
    values, vectors = np.linalg.eigh(information)
    return np.asarray(vectors / np.abs(values) @ vectors.T), True


class Variances:
    """How records change the variances of some parameters, classical or robust.

    With V the inverse information and v its column for a parameter, a record i changes the
    variance by ``-v' I_i v``, and by what its pull on the estimate does to everyone's information.
    The sandwich ``V B V`` has one column more, and the squared scores.
    """

    def __init__(
        self,
        model: Likelihood,
        fit: Fit,
        rows: Rows,
        counts: FloatArray,
        wanted: IntArray,
        robust: bool,
        corrected: int,
        at: Derivatives,
    ) -> None:
        self.model, self.fit, self.robust, self.corrected = model, fit, robust, corrected
        self.rows, self.counts, self.at = rows, counts, at
        self.left = self.right = fit.covariance[:, wanted]
        self.values = fit.covariance[wanted, wanted]
        if corrected:
            self._correct(rows, counts, model.project(rows, self.left)[0], at[1][:, 0])
        elif robust:
            score = np.zeros((model.size, len(counts)))
            for m in range(len(model.block)):
                score += _transposed(model, rows, m) * at[1][:, m]
            meat = (score * counts) @ score.T
            self.right = fit.covariance @ meat @ self.left
            self.values = np.einsum("ak,ak->k", self.left, meat @ self.left)

    @cached_property
    def pull(self) -> FloatArray:
        """What moving the estimate does to variances at fixed data: (parameters, variances)."""
        model, rows, counts = self.model, self.rows, self.counts
        parts = model.project(rows, self.left)
        if self.corrected:
            return self._corrected_pull(parts[0])
        _, first, second, cubic = self.at
        found = np.zeros(self.left.shape)
        if self.robust:
            mine = np.einsum("im,mik->ik", first, parts)
            for k in range(len(model.block)):
                turned = np.einsum("im,mik->ik", second[:, :, k], parts)
                found += model.gather(rows, k, 2 * counts[:, None] * mine * turned)
        others = model.project(rows, self.right) if self.robust else parts
        for q in range(len(model.block)):
            bent = np.zeros(parts.shape[1:])
            for m in range(len(model.block)):
                for k in range(len(model.block)):
                    bent += cubic[:, m, k, q, None] * parts[m] * others[k]
            found += model.gather(rows, q, (2.0 if self.robust else 1.0) * counts[:, None] * bent)
        return found

    def influence(
        self,
        rows: Rows,
        first: FloatArray,
        second: FloatArray,
        moved: FloatArray,
        parts: FloatArray,
    ) -> FloatArray:
        """Effect of each record, shape (records, variances).

        ``moved`` is that on the estimate, ``parts`` are the projections of `left`.
        """
        found = moved @ self.pull
        if self.corrected:
            return found + self._corrected(rows, parts[0], first[:, 0])
        others = self.model.project(rows, self.right) if self.robust else parts
        for m in range(len(parts)):
            for k in range(len(parts)):
                weight = 2.0 * second[:, m, k] if self.robust else second[:, m, k]
                found += weight[:, None] * parts[m] * others[k]
        if self.robust:
            found += np.einsum("im,mik->ik", first, parts) ** 2
        return np.asarray(found)

    def _correct(
        self, rows: Rows, counts: FloatArray, parts: FloatArray, first: FloatArray
    ) -> None:
        """Least squares with squared residuals divided by powers of 1 - leverage (HC2, HC3)."""
        leverage = rows.weight * np.einsum("ia,ab,ib->i", rows.x, self.fit.covariance, rows.x)
        room = np.maximum(1.0 - leverage, 1e-6) ** -self.corrected
        mine = first[:, None] * parts
        self.values = (counts * room) @ mine**2
        scaled = (counts * room)[:, None] * mine
        self.scaled = scaled
        self.bend = self.fit.covariance @ (rows.x.T @ (scaled * first[:, None]))
        lever = (
            self.corrected * scaled * mine * (rows.weight / np.maximum(1 - leverage, 1e-6))[:, None]
        )
        self.lever = np.einsum("ik,ia,ib->kab", lever, rows.x, rows.x, optimize=True)

    def _corrected_pull(self, parts: FloatArray) -> FloatArray:
        values = self.scaled * self.rows.weight[:, None] * parts
        return np.asarray(-2.0 * self.rows.x.T @ values)

    def _corrected(self, rows: Rows, parts: FloatArray, first: FloatArray) -> FloatArray:
        moved = rows.x @ self.fit.covariance
        leverage = rows.weight * np.einsum("ia,ia->i", moved, rows.x)
        room = np.maximum(1.0 - leverage, 1e-6) ** -self.corrected
        own = room[:, None] * (first[:, None] * parts) ** 2
        bent = 2.0 * rows.weight[:, None] * parts * (rows.x @ self.bend)
        forms = np.einsum("ia,kab,ib->ik", moved, self.lever, moved, optimize=True)
        return np.asarray(own - bent - rows.weight[:, None] * forms)


def _transposed(model: Likelihood, rows: Rows, m: int) -> FloatArray:
    """Coefficients of predictor m, shape (parameters, records)."""
    found = np.zeros((model.size, len(rows.x)))
    if model.block[m] >= 0:
        found[model.block[m] : model.block[m] + rows.x.shape[1]] = model.sign * rows.x.T
    there = np.flatnonzero(rows.extra[:, m] >= 0)
    found[rows.extra[there, m], there] += 1.0
    return found
