"""Where candidates come from: uniform, univariate, or calibrated to the published statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosynth.contradictions import margin
from evosynth.kernels.cells import rake, sum_rows
from evosynth.kernels.design import sum_products
from evosynth.problem import CellArray, Problem
from evosynth.schema import Codes, FloatArray, IntArray
from evosynth.space import Compass, Payload, Space, Types

_SWEEPS = 60
_POOL_FACTOR = 4
_POOL_LEAST = 20_000


@dataclass
class Source:
    """A distribution over rows from which candidates are drawn."""

    space: Space
    codes: Codes
    cells: CellArray
    weights: FloatArray
    """Expected number of records of each row."""
    compass: Compass
    influence: FloatArray
    groups: IntArray
    """Rows that no table tells apart share a number."""

    def draw(self, rng: np.random.Generator) -> Payload:
        """Draw a candidate: a sample as dispersed as a real one, rounded along the tables."""
        noisy = self.weights.copy()
        large = noisy > 1.0
        noisy[large] = rng.gamma(noisy[large])
        records = self.space.problem.schema.records
        noisy *= records / noisy.sum()
        if len(self.space.problem.tables) or self.influence.shape[1]:
            _calibrate(self, noisy, sweeps=3)
        order = np.argsort(self.groups + rng.random(len(noisy)))
        return self.space.from_pool(self.codes, _round(noisy, order, records, rng))


def prepare(space: Space, start: str, rng: np.random.Generator) -> Source:
    """Build the distribution that candidates are drawn from."""
    problem = space.problem
    margins = [_margin(problem, column, start) for column in range(len(problem.schema.variables))]
    codes, weights = _pool(space, margins, rng)
    if start == "calibrated":
        weights = weights * _density(problem, codes, margins)
    weights *= problem.schema.records / weights.sum()
    cells = space.cells if isinstance(space, Types) else problem.cells(codes)
    compass = Compass.at(problem, codes, weights)
    groups = np.unique(cells, axis=0, return_inverse=True)[1].ravel() if cells.size else 0
    source = Source(
        space,
        codes,
        cells,
        weights,
        compass,
        compass.influence(codes),
        np.broadcast_to(groups, len(codes)).astype(np.int64),
    )
    if start == "calibrated":
        _calibrate(source, weights, _SWEEPS)
        source.compass = Compass.at(problem, codes, weights)
        source.influence = source.compass.influence(codes)
    return source


def _margin(problem: Problem, column: int, start: str) -> FloatArray:
    """Shares of a variable's levels: published, or assumed, or equal."""
    variable = problem.schema.variables[column]
    if start == "uniform":
        return np.full(variable.size, 1 / variable.size)
    for table in problem.tables:
        if column in table.columns:
            low, high = margin(table, (column,), problem.schema.records)
            middle = (low + high) / 2
            return np.asarray(middle / middle.sum())
    return variable.proportions


def _pool(
    space: Space, margins: list[FloatArray], rng: np.random.Generator
) -> tuple[Codes, FloatArray]:
    """All types with their probability under independence, or a sample of rows."""
    if isinstance(space, Types):
        weights = np.ones(len(space.codes))
        for column, share in enumerate(margins):
            weights *= share[space.codes[:, column]]
        return space.codes, weights
    size = max(_POOL_LEAST, _POOL_FACTOR * space.problem.schema.records)
    dtype = space.problem.schema.dtype
    columns = [rng.choice(len(share), size, p=share).astype(dtype) for share in margins]
    return np.stack(columns, axis=1), np.ones(size)


def _density(problem: Problem, codes: Codes, margins: list[FloatArray]) -> FloatArray:
    """Replace the margin of each explained variable by the published model of it."""
    log_ratio = np.zeros(len(codes))
    explained = set()
    for block in problem.smooth:
        if block.outcome not in explained:
            explained.add(block.outcome)
            share = np.maximum(margins[block.outcome], 1e-300)
            log_ratio += block.log_density(codes) - np.log(share)[codes[:, block.outcome]]
    return np.asarray(np.exp(log_ratio - log_ratio.max()))


def _calibrate(source: Source, weights: FloatArray, sweeps: int) -> None:
    """Move weights to the closest in entropy that meet the published statistics.

    Tables are raked one after the other; the smooth figures take a Newton step on their dual.
    Stops when what is left is far below what rounding to whole records adds.
    """
    problem = source.space.problem
    for sweep in range(sweeps):
        residual = source.compass.offset + sum_rows(source.influence, weights)
        if len(residual):
            if sweep == 0:
                curvature = np.linalg.inv(
                    sum_products(source.influence, weights) + 1e-9 * np.eye(len(residual))
                )
            tilt = source.influence @ (curvature @ -residual)
            weights *= np.exp(tilt * min(1.0, 2.0 / max(1e-300, np.abs(tilt).max())))
            weights *= problem.schema.records / weights.sum()
        before = weights.copy()
        for table in range(len(problem.tables)):
            rake(weights, source.cells, table, problem.low, problem.high)
        settled = np.abs(weights - before).sum() < 0.1
        if settled and float(residual @ residual) < 1e-3:
            break


def _round(
    weights: FloatArray, order: IntArray, total: int, rng: np.random.Generator
) -> IntArray:
    """Systematic rounding: whole counts that sum to ``total``, close along ``order``."""
    running = np.cumsum(weights[order])
    running *= total / running[-1]
    steps = np.floor(running + rng.random())
    steps[-1] = total
    counts = np.empty(len(weights), dtype=np.int64)
    counts[order] = np.diff(np.minimum(steps, total), prepend=0.0).astype(np.int64)
    return counts
