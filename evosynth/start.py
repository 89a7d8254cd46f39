"""Where candidates come from: uniform, univariate, or calibrated to the published statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosynth.calibration import (
    OFF,
    WRONG,
    explore,
    fit,
    followed,
    keep_sound,
    orient,
    tilt_weights,
)
from evosynth.kernels.cells import count_weights, rake, sum_rows
from evosynth.leeway import Leeway
from evosynth.null_counts import decide
from evosynth.problem import CellArray, Problem
from evosynth.sampling import Placement, density, likely, refine, sample, seat
from evosynth.schema import Codes, FloatArray, IntArray
from evosynth.settle import narrow, settle
from evosynth.space import Compass, Payload, Space

_TURNS = 5
"""Times that rows are drawn, the better each time, where calibration leaves few of them."""
_SOUND = 0.2
"""Rows, of equal weights, that would tell as much as the calibrated ones, by record."""
_SCOUTS, _PARTIES = 1500, 3
"""Rows by which many others are found, and times that they are drawn."""
_SHAPE = 2.0
"""Of the noise that a start of curved figures is given: the smaller, the more."""

Rows = tuple[Codes, CellArray, FloatArray]
"""Rows of a pool, the cells that they are in, and their weights."""


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

    @classmethod
    def around(cls, space: Space, codes: Codes) -> Source:
        """Take one dataset for the distribution."""
        problem = space.problem
        weights, cells = np.ones(len(codes)), problem.cells(codes)
        oriented = orient(problem, codes, weights)
        return cls(space, codes, cells, weights, *oriented, True, group_rows(cells))

    def draw(self, rng: np.random.Generator) -> Payload:
        """Draw a candidate: a sample as dispersed as a real one, rounded along the tables.

        Many rows are rounded as they are: that alone makes samples differ, and noise would only
        throw curved figures farther off than one expansion can bring them back from.
        """
        noisy = self.weights.copy()
        if self.calibrated and followed(self.space.problem, len(noisy)):
            return self.rounded(noisy, rng)
        large = noisy > 1.0
        noisy[large] = rng.gamma(noisy[large])
        records = self.space.problem.schema.records
        noisy *= records / noisy.sum()
        if self.calibrated:
            before = noisy.copy()
            _calibrate(self, noisy, sweeps=2)
            keep_sound(noisy, before, records)
        return self.rounded(noisy, rng)

    def rounded(self, weights: FloatArray, rng: np.random.Generator) -> Payload:
        """Round weights along the tables."""
        shuffled = rng.permutation(len(weights))
        order = shuffled[np.argsort(self.groups[shuffled], kind="stable")]
        records = self.space.problem.schema.records
        drawn = self.space.from_pool(self.codes, rounded(weights, order, records, rng))
        return seat(self.space.problem, drawn, rng)


def prepare(
    space: Space,
    start: str,
    fitted: bool,
    rng: np.random.Generator,
    stop: Callable[[], bool] = lambda: False,
    placement: Placement | None = None,
) -> Source:
    """Build the distribution that candidates are drawn from, and settle open sizes by it.

    ``fitted``: whether a calibrated one is needed at all; ``stop`` is asked now and then whether
    to settle for less; ``placement``: of covariates, if it is known better.
    """
    problem = space.problem
    unsettled = narrow(problem)
    calibrated = start == "calibrated" and fitted
    placement = placement or likely(problem, start, calibrated)
    margins, columns = placement.margins, placement.columns
    for turn in range(_TURNS):
        codes, cells, weights = _rows(space, placement, calibrated, rng, stop)
        if not calibrated or not columns or turn == _TURNS - 1 or stop():
            break
        if weights.sum() ** 2 > _SOUND * problem.schema.records * (weights @ weights):
            break
        refine(problem, margins, columns, codes, weights)
    if calibrated and decide(problem, cells, weights):
        fit(problem, codes, cells, weights, stop)
    if unsettled:
        leeway = Leeway.of(problem, codes, cells, weights) if calibrated else None
        settle(problem, count_weights(cells, weights, len(problem.low)), rng, stop, leeway)
        if calibrated:
            fit(problem, codes, cells, weights, stop)
    compass, influence, curvature = orient(problem, codes, weights)
    groups = group_rows(cells)
    return Source(space, codes, cells, weights, compass, influence, curvature, calibrated, groups)


def _rows(
    space: Space,
    placement: Placement,
    calibrated: bool,
    rng: np.random.Generator,
    stop: Callable[[], bool],
) -> Rows:
    """Rows of a pool, the cells that they are in, and their weights, calibrated if need be."""
    problem, margins, guessed = space.problem, placement.margins, placement.guessed

    def drawn(size: int) -> Codes:
        like = None
        if calibrated and followed(problem, size):
            like = _scout(problem, placement, size, rng, stop)
        return sample(problem, margins, size, calibrated, rng, like, guessed)

    codes, weights = space.pool(margins, drawn)
    if calibrated and not space.drawn:
        weights = weights * density(problem, codes, weights, margins, guessed)
    records = problem.schema.records
    weights *= records / weights.sum()
    cells = problem.cells(codes)
    possible = (problem.high[cells] > 0).all(axis=1)
    if calibrated and (weights * possible).sum() > 0:
        weights = weights * possible
        if problem.curved and not followed(problem, len(codes)):
            # Standard errors are least where covariates are balanced: there no small change of
            # the weights moves them, so the start must lie aside.
            weights = weights * rng.gamma(_SHAPE, 1 / _SHAPE, len(weights))
        weights *= records / weights.sum()
        fit(problem, codes, cells, weights, stop)
    return codes, cells, weights


def _scout(
    problem: Problem,
    placement: Placement,
    size: int,
    rng: np.random.Generator,
    stop: Callable[[], bool],
) -> Codes:
    """Calibrate a few rows, and repeat each as its weight says.

    How variables go together is found sooner by a few rows: that their chance associations are
    larger is what standard errors, least where there are none, need to be moved at all.
    """
    found: list[tuple[float, int, Codes, FloatArray]] = []
    for turn in range(_PARTIES):
        margins, guessed = placement.margins, placement.guessed
        codes = sample(problem, margins, _SCOUTS, True, rng, guessed=guessed)
        cells = problem.cells(codes)
        weights = (problem.high[cells] > 0).all(axis=1) + 1e-9
        weights *= problem.schema.records / weights.sum()
        found.append((explore(problem, codes, cells, weights, stop), turn, codes, weights))
        if stop():
            break
    _, _, codes, weights = min(found, key=lambda party: party[:2])
    order = rng.permutation(_SCOUTS)
    return np.repeat(codes, rounded(weights * size / weights.sum(), order, size, rng), axis=0)


def group_rows(cells: CellArray) -> NDArray[Any]:
    """Give rows that fall into the same cells of all tables the same number."""
    groups = np.zeros(len(cells), dtype=np.int64)
    for table in range(cells.shape[1]):
        joint = groups * (int(cells[:, table].max()) + 1) + cells[:, table]
        groups = np.unique(joint, return_inverse=True)[1]
    return groups.astype(np.min_scalar_type(int(groups.max())))


def _calibrate(source: Source, weights: FloatArray, sweeps: int) -> None:
    """Bring noisy weights back towards the published statistics."""
    problem = source.space.problem
    low, high = problem.low.astype(np.float64), problem.high.astype(np.float64)
    for _ in range(sweeps):
        residual = source.compass.offset + sum_rows(source.influence, weights)
        if len(residual):
            tilt = source.influence @ (source.curvature @ -residual)
            tilt_weights(weights, tilt, problem.schema.records)
        wrong = 0.0
        for table in problem.binding:
            wrong += rake(weights, source.cells, table, low, high)
        if wrong < WRONG and float(residual @ residual) < OFF:
            break


def rounded(weights: FloatArray, order: IntArray, total: int, rng: np.random.Generator) -> IntArray:
    """Systematic rounding: whole counts that sum to ``total``, close along ``order``."""
    running = np.cumsum(weights[order])
    running *= total / running[-1]
    steps = np.floor(running + rng.random())
    steps[-1] = total
    counts = np.empty(len(weights), dtype=np.int64)
    counts[order] = np.diff(np.minimum(steps, total), prepend=0.0).astype(np.int64)
    return counts
