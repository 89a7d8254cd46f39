"""Many records of a linear model: covariates first, as a problem of their own, then the outcome.

Standard errors and R² depend on covariates alone once coefficients and the spread of errors are as
published, and so do the means of the outcome in groups that the model has terms for. Covariates
have few types of records, so these figures are met by whole counts of types. What is left is linear
in the outcome, which is fine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.optimize import lsq_linear

from evosynth.calibration import fit
from evosynth.explained import (
    Explained,
    PredictedMoments,
    Predictor,
    explains,
    predicted,
    separable,
)
from evosynth.fitted import Model
from evosynth.grid import Grid
from evosynth.landing import Landing
from evosynth.margins import project
from evosynth.moments import GroupMoments
from evosynth.objective import CellTable, Plan, Smooth
from evosynth.outcomes import outcome
from evosynth.parts import parts, sampled
from evosynth.problem import Problem
from evosynth.reals import Place, converge
from evosynth.record_types import Types, few_types
from evosynth.relaxed import Relaxed, sharpen
from evosynth.sampling import inform, shapeless, univariate
from evosynth.schema import Codes, FloatArray, IntArray, Schema
from evosynth.settle import narrow
from evosynth.start import group_rows, rounded
from evosynth.steps import walk

_LEAST_RECORDS = 3000
_ROOM = 0.85
"""Part of a printed digit within which coefficients and spread are chosen."""
_FINEST = 0.3
_STEP = 1e-3
_RELUCTANCE = 0.03
"""What leaving the middle of a digit costs beside what samples vary by."""
_ASSOCIATION = 0.5
"""Standard deviation of the log odds by which two covariates are associated at first."""
_CHOICES = 2
"""Times that coefficients and spread are chosen."""
_TRIES = 3
"""Starts from which weights of covariates are sought."""
_PLACES = 50
"""Datasets of real values that are looked at where means of the outcome are curved in it."""
_WALKED = 3
"""Rounds of stepping values of the outcome."""
_NEAR = 5.0
"""Distance, in half-widths, from which weights of covariates are of no use."""
_MANY, _STEPS = 2000, 40
_INSIDE = 0.9


@dataclass(frozen=True)
class Covariates:
    """What is published of covariates alone, given a linear model of the outcome."""

    problem: Problem
    model: Model
    tables: tuple[CellTable, ...]
    schema: Schema

    @classmethod
    def of(cls, problem: Problem) -> Covariates | None:
        """Leave the outcome out of a problem; ``None`` where that is not worth its while."""
        schema = problem.schema
        models = [block for block in problem.smooth if isinstance(block, Model)]
        if len(models) != 1 or not separable(models[0]):
            return None
        model = models[0]
        column, outcome = model.outcome, schema.variables[model.outcome]
        if schema.records < _LEAST_RECORDS or schema.bonds is not None or outcome.missing:
            return None
        one = replace(outcome, values=outcome.values[:1], proportions=np.ones(1), shaped=True)
        others = tuple(one if i == column else v for i, v in enumerate(schema.variables))
        sub = Schema(schema.records, others, schema.associations)
        tables = []
        for table, grid in enumerate(problem.grids):
            low, high = (ends[problem.slice(table)] for ends in (problem.low, problem.high))
            kept = [i for i, c in enumerate(grid.columns) if c != column]
            if kept:
                rest = Grid(
                    tuple(grid.columns[i] for i in kept), tuple(grid.groups[i] for i in kept)
                )
                bounds = project(grid, low, high, rest, schema.records)
                assert bounds is not None
                tables.append(CellTable(rest, *bounds))
        found = cls(problem, model, tuple(tables), sub)
        return found if few_types(found.at(None)) else None

    def at(self, within: FloatArray | None) -> Problem:
        """Return the problem for coefficients and a spread inside their printed digits."""
        predictor = Predictor.of(self.model, self.schema.records, within)
        return Problem.of((Plan(self.tables, smooth=self._smooth(predictor)),), self.schema)

    def _smooth(self, predictor: Predictor) -> tuple[Smooth, ...]:
        column = self.model.outcome
        found: list[Smooth] = []
        for block, kept in zip(self.problem.smooth, self._kept, strict=True):
            if block is self.model:
                found.append(Explained(predictor))
            elif isinstance(block, GroupMoments) and len(kept):
                found.append(PredictedMoments(block, kept, predictor))
            elif column != block.outcome and column not in block.given:
                found.append(block)
        return tuple(found)

    @cached_property
    def _kept(self) -> tuple[IntArray, ...]:
        """Of each block, the moments of the outcome that its prediction decides."""
        codes = Types(Problem.of((Plan(self.tables),), self.schema)).codes
        return tuple(
            predicted(block, self.model, codes)
            if isinstance(block, GroupMoments) and block.column == self.model.outcome
            else np.empty(0, np.int64)
            for block in self.problem.smooth
        )

    def chosen(self, relaxed: Relaxed, within: FloatArray) -> FloatArray:
        """Choose coefficients and spread so that weights can meet the other figures.

        What counts is the part of distances that no change of the weights within the tables makes
        up for.
        """
        influence, residual = relaxed.figures()
        root = np.sqrt(relaxed.own)[:, None]
        tied = np.linalg.qr(relaxed.ties()[0] * root)[0]
        moved = influence * root
        moved -= tied @ (tied.T @ moved)
        values, vectors = np.linalg.eigh(moved.T @ moved)
        whiten = vectors / np.sqrt(np.maximum(values, 0.0) + _FINEST**2)
        held = relaxed.weights > 0
        shape = relaxed.codes[held], relaxed.weights[held]
        slopes = np.zeros((len(within), len(residual)))
        for k, way in enumerate(_STEP * np.eye(len(within))):
            ends = (self.at(end).measure(*shape) for end in (within - way, within + way))  # type: ignore[arg-type]
            here, there = ends
            slopes[k, : len(here)] = (there - here) / (2 * _STEP)
        found = lsq_linear(
            np.vstack([(slopes @ whiten).T, _RELUCTANCE * np.eye(len(within))]),
            np.append(-residual @ whiten, -_RELUCTANCE * within),
            (-_ROOM - 1e-9 - within, _ROOM + 1e-9 - within),
        )
        return np.asarray(within + found.x)

    def landing(
        self, rng: np.random.Generator, stop: Callable[[], bool]
    ) -> tuple[Predictor, Landing] | None:
        """Weights of all types of records that meet the figures; ``None`` if none are found."""
        problem = self.at(None)
        codes = Types(problem).codes
        cells = problem.cells(codes)
        weights = _associated(problem, codes, rng) * (problem.high[cells] > 0).all(axis=1)
        if not weights.any() or stop():
            return None
        weights *= problem.schema.records / weights.sum()
        fit(problem, codes, cells, weights, stop)
        part, free = parts(problem, codes), np.flatnonzero(weights > 0)
        relaxed = Relaxed(problem, codes, cells, weights, free, part, np.empty(0))
        within = np.zeros(self.model.likelihood.size + 1)
        try:
            relaxed, _, off = sharpen(sampled(relaxed, _MANY, rng), _STEPS, stop)
            for _ in range(_CHOICES):
                if (np.abs(off) < _INSIDE).all() or stop():
                    break
                within = self.chosen(relaxed, within)
                relaxed = replace(relaxed, problem=self.at(within))
                relaxed, _, off = sharpen(relaxed, _STEPS, stop)
        except np.linalg.LinAlgError:
            return None
        if not np.abs(off).max(initial=0.0) < _NEAR:
            return None
        landing = Landing(relaxed.problem, codes, cells, relaxed.weights, group_rows(cells), part)
        return Predictor.of(self.model, problem.schema.records, within), landing


@dataclass(frozen=True)
class Staged:
    """Weights of covariates that meet their figures, from which datasets are drawn."""

    problem: Problem
    predictor: Predictor
    landing: Landing

    @classmethod
    def of(
        cls, problem: Problem, rng: np.random.Generator, stop: Callable[[], bool]
    ) -> Staged | None:
        """Calibrate covariates; ``None`` where that leads nowhere, or the outcome is not apart."""
        covariates = None if narrow(problem) else Covariates.of(problem)
        if covariates is None:
            return None
        for _ in range(_TRIES):
            found = covariates.landing(rng, stop)
            if found is not None:
                return cls(problem, *found)
        return None

    def sample(self, rng: np.random.Generator) -> Codes:
        """Draw a dataset near the figures."""
        weights, records = self.landing.weights, self.problem.schema.records
        shuffled = rng.permutation(len(weights))
        order = shuffled[np.argsort(self.landing.groups[shuffled], kind="stable")]
        codes = np.repeat(self.landing.codes, rounded(weights, order, records, rng), axis=0)
        return outcome(self.problem, self.predictor, codes.astype(self.problem.schema.dtype), rng)

    def draw(self, rng: np.random.Generator, stop: Callable[[], bool]) -> Codes | None:
        """Draw covariates that meet their figures, then the outcome; ``None`` if that fails."""
        landed = self.landing.draw(rng, stop)
        if landed is None:
            return None
        problem, column = self.problem, np.array([self.predictor.model.outcome])
        codes = np.repeat(self.landing.codes, landed[0], axis=0).astype(problem.schema.dtype)
        codes = outcome(problem, self.predictor, codes, rng)
        if not explains(self.predictor.model, problem.schema.variables[column[0]].quantities):
            # Means of an outcome whose logarithm is explained are nobody's yet, and far off.
            place = Place.of(problem, column, codes)
            codes = converge(place, np.array([True]), most=_PLACES, stop=stop).codes
        return walk(problem, column, codes, rng, _WALKED, stop)


def _associated(problem: Problem, codes: Codes, rng: np.random.Generator) -> FloatArray:
    """Weights of types by their margins, each two variables somehow associated.

    Standard errors are least, and hardly change, where covariates are not.
    """
    schema = problem.schema
    margins = [univariate(problem, column) for column in range(len(schema.variables))]
    inform(problem, margins, shapeless(problem, margins))
    weights = np.ones(len(codes))
    scores = []
    for column, (variable, margin) in enumerate(zip(schema.variables, margins, strict=True)):
        weights *= margin[codes[:, column]]
        line = np.linspace(-np.sqrt(3), np.sqrt(3), variable.size)
        own = np.eye(variable.size) if variable.categorical else np.stack([line, line**2 - 1]).T
        scores.append(own[codes[:, column]])
    for one, two in combinations(scores, 2):
        tilt = rng.normal(0.0, _ASSOCIATION, (one.shape[1], two.shape[1]))
        weights *= np.exp(np.einsum("ia,ab,ib->i", one, tilt, two))
    return weights
