"""Where candidates come from: uniform, univariate, or calibrated to the published statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosynth.contradictions import margin
from evosynth.kernels.cells import rake, sum_joint, sum_rows, tilt_rows
from evosynth.kernels.design import sum_products
from evosynth.problem import CellArray, Problem
from evosynth.schema import Codes, FloatArray, IntArray
from evosynth.space import Compass, Payload, Space

_MOST_CELLS = 1500
"""Cells up to which calibration is solved at once rather than in sweeps."""
_STEPS = 30
_SWEEPS = 60
_LONGEST = 3.0
"""Largest change of a weight in one step, on the log scale."""
_WRONG = 1.0
"""Records in wrong cells, over all tables, that calibration may leave."""
_OFF = 0.01
"""Squared statistical distance that calibration may leave."""


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
    curvature: FloatArray
    """Inverse second derivative of the dual of the smooth figures."""
    calibrated: bool
    groups: NDArray[Any]
    """Rows that no table tells apart share a number, in the smallest type (it sorts faster)."""

    def draw(self, rng: np.random.Generator) -> Payload:
        """Draw a candidate: a sample as dispersed as a real one, rounded along the tables."""
        noisy = self.weights.copy()
        large = noisy > 1.0
        noisy[large] = rng.gamma(noisy[large])
        records = self.space.problem.schema.records
        noisy *= records / noisy.sum()
        if self.calibrated:
            before = noisy.copy()
            _calibrate(self, noisy, sweeps=2)
            _keep_sound(noisy, before, records)
        shuffled = rng.permutation(len(noisy))
        order = shuffled[np.argsort(self.groups[shuffled], kind="stable")]
        return self.space.from_pool(self.codes, _round(noisy, order, records, rng))


def prepare(space: Space, start: str, rng: np.random.Generator) -> Source:
    """Build the distribution that candidates are drawn from."""
    problem = space.problem
    columns = range(len(problem.schema.variables))
    margins = [univariate(problem, column, start) for column in columns]
    codes, weights = space.pool(margins, rng)
    if start == "calibrated":
        weights = weights * _density(problem, codes, margins)
    weights *= problem.schema.records / weights.sum()
    cells = problem.cells(codes)
    source = Source(
        space,
        codes,
        cells,
        weights,
        *_orient(problem, codes, weights),
        start == "calibrated",
        _group(cells),
    )
    if source.calibrated:
        before = weights.copy()
        if len(problem.low) <= _MOST_CELLS:
            _solve(source, weights)
        else:
            _calibrate(source, weights, _SWEEPS)
        _keep_sound(weights, before, problem.schema.records)
        source.compass, source.influence, source.curvature = _orient(problem, codes, weights)
    return source


def _orient(
    problem: Problem, codes: Codes, weights: FloatArray
) -> tuple[Compass, FloatArray, FloatArray]:
    """Compass at a distribution, the influence of its rows, and the curvature of the dual."""
    compass = Compass.at(problem, codes, weights)
    influence = compass.influence(codes)
    ridge = 1e-9 * np.eye(influence.shape[1])
    curvature = np.linalg.inv(sum_products(influence, weights) + ridge)
    return compass, influence, np.asarray(curvature, dtype=np.float64)


def _group(cells: CellArray) -> NDArray[Any]:
    """Give rows that fall into the same cells of all tables the same number."""
    groups = np.zeros(len(cells), dtype=np.int64)
    for table in range(cells.shape[1]):
        joint = groups * (int(cells[:, table].max()) + 1) + cells[:, table]
        groups = np.unique(joint, return_inverse=True)[1]
    return groups.astype(np.min_scalar_type(int(groups.max())))


def univariate(problem: Problem, column: int, start: str = "univariate") -> FloatArray:
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


def _density(problem: Problem, codes: Codes, margins: list[FloatArray]) -> FloatArray:
    """Replace the margin of each explained variable by the published model of it."""
    log_ratio = np.zeros(len(codes))
    explained = set()
    for block in problem.smooth:
        if block.outcome is not None and block.outcome not in explained:
            explained.add(block.outcome)
            share = np.maximum(margins[block.outcome], 1e-300)
            log_ratio += block.log_density(codes) - np.log(share)[codes[:, block.outcome]]
    return np.asarray(np.exp(log_ratio - log_ratio.max()))


def _solve(source: Source, weights: FloatArray) -> None:
    """Find the weights closest in entropy that meet the published statistics.

    They are weights × exp(F λ), F the indicators of all cells and the influence on all smooth
    figures; λ by Newton's method on the dual, all at once.
    """
    problem = source.space.problem
    n_cells = len(problem.low)
    shape = (source.cells, problem.binding, n_cells, source.influence)
    for _ in range(_STEPS):
        sums, products = sum_joint(*shape, weights)
        gap = -sums
        gap[:n_cells] += np.clip(sums[:n_cells], problem.low, problem.high)
        gap[:n_cells][np.diag(products)[:n_cells] == 0] = 0.0
        gap[n_cells:] -= source.compass.offset
        if np.abs(gap[:n_cells]).sum() < _WRONG and (gap[n_cells:] ** 2).sum() < _OFF:
            break
        ridge = 1e-8 * np.diag(np.diag(products) + np.diag(products).mean())
        tilt = tilt_rows(*shape, np.linalg.solve(products + ridge, gap))
        weights *= np.exp(tilt * min(1.0, _LONGEST / max(1e-300, np.abs(tilt).max())))
        weights *= problem.schema.records / weights.sum()


def _calibrate(source: Source, weights: FloatArray, sweeps: int) -> None:
    """Go towards the same weights in cheap sweeps.

    Tables are raked one after the other; the smooth figures take a Newton step on their dual.
    """
    problem = source.space.problem
    for _ in range(sweeps):
        residual = source.compass.offset + sum_rows(source.influence, weights)
        if len(residual):
            tilt = source.influence @ (source.curvature @ -residual)
            weights *= np.exp(tilt * min(1.0, _LONGEST / max(1e-300, np.abs(tilt).max())))
            weights *= problem.schema.records / weights.sum()
        wrong = 0.0
        for table in problem.binding:
            wrong += rake(weights, source.cells, table, problem.low, problem.high)
        if wrong < _WRONG and float(residual @ residual) < _OFF:
            break


def _keep_sound(weights: FloatArray, before: FloatArray, records: int) -> None:
    """Go back to the weights before calibration if contradictory figures left nothing of them."""
    if not np.isfinite(weights).all() or weights.sum() < records / 2:
        weights[:] = before


def _round(weights: FloatArray, order: IntArray, total: int, rng: np.random.Generator) -> IntArray:
    """Systematic rounding: whole counts that sum to ``total``, close along ``order``."""
    running = np.cumsum(weights[order])
    running *= total / running[-1]
    steps = np.floor(running + rng.random())
    steps[-1] = total
    counts = np.empty(len(weights), dtype=np.int64)
    counts[order] = np.diff(np.minimum(steps, total), prepend=0.0).astype(np.int64)
    return counts
