"""Calibration: the weights of rows closest in entropy to given ones that meet what is published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from evosynth.kernels.cells import count_weights, rake, sum_joint, sum_rows, tilt_rows
from evosynth.kernels.design import sum_products
from evosynth.problem import SENSELESS, CellArray, Problem
from evosynth.schema import Codes, FloatArray, IntArray
from evosynth.space import ROOM, Compass

_MOST_CELLS = 1500
"""Cells up to which calibration is solved at once rather than in sweeps."""
_STEPS = 30
_RIDGE = 0.01
"""Part of the curvature added to it at first: figures that repeat each other leave it singular."""
_SMALL_RIDGE = 1e-8
_SLOW = 0.05
"""Squared spread, in units of the compass, of combinations of curved figures below which these are
left where they are: to move them takes changes of the weights that no expansion holds for."""
_SOFTER, _HARDER = 0.2, 5.0
"""What a step that helps, or does not, changes it by."""
_WIDE_SHARE = 0.2
"""Width of a share from which it is left to the search."""
_PATIENCE = 6
"""Steps without progress after which calibration is left as it is."""
_SWEEPS = 60
_LONGEST = 3.0
"""Largest change of a weight in one step, on the log scale."""
_USUAL = 1.0
"""Largest change of a usual weight in one step, on the log scale."""
WRONG = 1.0
"""Records in wrong cells, over all tables, that calibration may leave."""
OFF = 0.01
"""Squared statistical distance that calibration may leave."""
_MANY_ROWS = 20_000
"""Rows from which curved figures are followed by short steps."""
_ROUGHLY_WRONG, _ROUGHLY_OFF = 0.005, 0.08
"""The same, by record and by figure, where rows are many and a dataset drawn from them is brought
nearer anyway, as figures are curved."""
_TRUST = 0.15
"""Usual change of weights, on the log scale, that a figure may ask for at first."""
_FOLLOWING = 1e-5
"""Part of the curvature added to it then."""
_FASTER, _IDLE = 0.95, 6
"""What steps should change distances by, and steps in a row that do not after which it is left."""


def fit(
    problem: Problem,
    codes: Codes,
    cells: CellArray,
    weights: FloatArray,
    stop: Callable[[], bool],
) -> None:
    """Calibrate weights in place, or leave them if contradictory figures spoil them."""
    before = weights.copy()
    if len(problem.low) + problem.size > _MOST_CELLS:
        _sweep(problem, codes, cells, weights, stop)
    elif followed(problem, len(codes)):
        explore(problem, codes, cells, weights, stop)
    else:
        _solve(problem, codes, cells, weights, stop)
    keep_sound(weights, before, problem.schema.records)


def followed(problem: Problem, rows: int) -> bool:
    """Whether figures are curved and rows so many that short steps are worth their while.

    Where values are tied, rows like others would not keep the rules.
    """
    few = len(problem.low) + problem.size <= _MOST_CELLS
    free = problem.schema.bonds is None
    return problem.curved and few and free and rows > _MANY_ROWS


def orient(
    problem: Problem, codes: Codes, weights: FloatArray
) -> tuple[Compass, FloatArray, FloatArray]:
    """Compass at a distribution, the influence of its rows, and the curvature of the dual."""
    compass = Compass.at(problem, codes, weights)
    influence = compass.influence(codes)
    ridge = (_SLOW if problem.curved else 1e-9) * np.eye(influence.shape[1])
    centred = influence - weights @ influence / weights.sum()
    curvature = np.linalg.inv(sum_products(centred, weights) + ridge)
    return compass, influence, np.asarray(curvature, dtype=np.float64)


def distances(problem: Problem, codes: Codes, cells: CellArray, weights: FloatArray) -> FloatArray:
    """Distances from figures and cells, in what samples vary by."""
    system = _System.at(problem, codes, cells, weights)
    variance = np.diag(system.ties @ system.products @ system.ties.T)
    return np.asarray(system.gap / np.sqrt(np.maximum(variance, 1.0)))


def _relaxed(problem: Problem, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bounds of every cell, those of shares by the present size of what they are shares of."""
    low, high = problem.low.astype(np.float64), problem.high.astype(np.float64)
    for share in problem.shares:
        size = sums[share.of]
        low[share.cells] = np.minimum(
            np.maximum(low[share.cells], share.low * size), high[share.cells]
        )
        high[share.cells] = np.maximum(
            np.minimum(high[share.cells], share.high * size), low[share.cells]
        )
    return low, high


def _share_rows(problem: Problem, size: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Shares as sums that are 0 on target: a cell less its share of another.

    Returns the coefficients of all sums for each, those of the other cell alone, and the room on
    both sides as shares of it.
    """
    rows, others, room = [], [], []
    for share in problem.shares:
        for cell, low, high in zip(share.cells, share.low, share.high, strict=True):
            if high - low > _WIDE_SHARE:
                continue
            row, other = np.zeros((2, size))
            row[cell], other[share.of] = 1.0, 1.0
            row[share.of] -= (low + high) / 2
            rows.append(row)
            others.append(other)
            room.append((high - low) / 2)
    if not rows:
        return np.empty((0, size)), np.empty((0, size)), np.empty((2, 0))
    half = np.array(room)
    return np.array(rows), np.array(others), np.array([-half, half])


@dataclass(frozen=True)
class _System:
    """What a Newton step on the dual needs to know of one distribution."""

    shape: tuple[CellArray, IntArray, int, FloatArray]
    products: FloatArray
    ties: FloatArray
    """Sums that are demanded, as combinations of those of all cells and figures."""
    gap: FloatArray
    """By which each of these is off: in records, and in what samples vary by."""
    smooth: NDArray[np.bool_]
    """Which of these are figures."""
    wrong: float
    off: float
    residual: FloatArray

    @classmethod
    def at(cls, problem: Problem, codes: Codes, cells: CellArray, weights: FloatArray) -> _System:
        """Expand the figures at a distribution."""
        n_cells = len(problem.low)
        tables = np.arange(len(problem.grids)) if problem.shares else problem.binding
        tight = problem.high - problem.low <= np.maximum(2, 0.01 * problem.high)
        share_rows, share_of, share_room = _share_rows(problem, n_cells + problem.size)
        expansion = problem.expand(codes, weights)
        influence = expansion.influence(codes)
        # About the mean, as the number of records is fixed.
        mean = weights @ influence / weights.sum()
        influence -= mean
        variance = weights @ influence**2
        moved = variance > 1e-200  # what no record moves cannot be helped
        spread = np.where(moved, 1 / np.sqrt(np.maximum(variance, 1e-300)), 0.0)
        shape = (cells, tables, n_cells, influence * spread)
        sums, products = sum_joint(*shape, weights)
        gap = -sums
        gap[:n_cells] += np.clip(sums[:n_cells], problem.low, problem.high)
        gap[:n_cells][np.diag(products)[:n_cells] == 0] = 0.0
        rest = np.divide(sums[n_cells:], spread, out=np.zeros(problem.size), where=moved)
        residual = expansion.offset + weights.sum() * mean + rest
        residual = np.where(np.abs(residual) < SENSELESS, residual, 0.0)
        gap[n_cells:] = (np.clip(residual, -ROOM, ROOM) - residual) * spread
        # Cells well inside a wide interval are free to change; shares tie cells to others.
        active = np.append(tight | (gap[:n_cells] != 0.0), np.ones(problem.size, dtype=np.bool_))
        ties = np.vstack([np.eye(len(sums))[active], share_rows[:, : len(sums)]])
        share_sums = share_rows @ sums
        goal = np.clip(share_sums, *(share_room * (share_of @ sums)))
        gaps = np.concatenate([gap[active], goal - share_sums])
        wrong = float(np.abs(gap[:n_cells]).sum() + np.abs(goal - share_sums).sum())
        off = float((np.clip(gap[n_cells:], -1e4, 1e4) ** 2).sum())
        smooth = np.zeros(len(gaps), dtype=np.bool_)
        smooth[active.sum() - problem.size : active.sum()] = True
        return cls(shape, products, ties, gaps, smooth, wrong, off, residual)

    def tilt(self, damping: float, gap: FloatArray) -> FloatArray:
        """Logarithm by which each weight is to change so that the sums change by ``gap``."""
        tied = self.ties @ self.products @ self.ties.T
        ridge = damping * np.diag(np.diag(tied) + np.diag(tied).mean())
        return tilt_rows(*self.shape, _resolved(tied + ridge, gap) @ self.ties)


def _solve(
    problem: Problem,
    codes: Codes,
    cells: CellArray,
    weights: FloatArray,
    stop: Callable[[], bool],
) -> None:
    """Find the weights closest in entropy that meet the published statistics.

    They are weights × exp(F λ), F the indicators of all cells and the influence on all smooth
    figures; λ by Newton's method on the dual, all at once.
    """
    best, least, stalled = weights.copy(), np.inf, 0
    damping = _RIDGE if problem.curved or problem.shares else _SMALL_RIDGE
    for _ in range(_STEPS):
        system = _System.at(problem, codes, cells, weights)
        wrong, off = system.wrong, system.off
        stalled = 0 if wrong + off < 0.9 * least else stalled + 1
        damping = min(1.0, max(_SMALL_RIDGE, damping * (_HARDER if stalled else _SOFTER)))
        if wrong + off < least:
            best, least = weights.copy(), wrong + off
        if (wrong < WRONG and off < OFF) or stalled > _PATIENCE or stop():
            break
        tilt_weights(weights, system.tilt(damping, system.gap), problem.schema.records)
    weights[:] = best


def explore(
    problem: Problem,
    codes: Codes,
    cells: CellArray,
    weights: FloatArray,
    stop: Callable[[], bool],
) -> float:
    """Go towards the same weights by steps that are taken back where they lead astray.

    Where covariates are balanced, standard errors hardly change with the weights, and what an
    expansion asks for to move them is far too much: no figure may ask for more than its trust.
    Returns the distance that is left, in roots of half-widths.
    """
    records = problem.schema.records
    system, best, least = _System.at(problem, codes, cells, weights), weights.copy(), np.inf
    trust, idle = _TRUST, 0
    many = followed(problem, len(codes))
    enough = max(WRONG, _ROUGHLY_WRONG * records), (_ROUGHLY_OFF if many else OFF) * problem.size
    for _ in range(_STEPS):
        outside = np.sqrt(np.maximum(np.abs(system.residual) - ROOM, 0.0)).sum()
        merit = system.wrong / np.sqrt(records) + float(outside)
        idle = 0 if merit < _FASTER * least else idle + 1
        if merit < least:
            best, least, kept = weights.copy(), merit, system
            trust = min(1.0, 2 * trust)
        else:
            trust /= 4
        done = kept.wrong < enough[0] and kept.off < enough[1]
        if done or idle == _IDLE or stop():
            break
        most = np.where(kept.smooth, trust * np.sqrt(records), np.inf)
        weights[:] = best
        tilt_weights(weights, kept.tilt(_FOLLOWING, np.clip(kept.gap, -most, most)), records)
        system = _System.at(problem, codes, cells, weights)
    weights[:] = best
    return least


def _resolved(matrix: FloatArray, gaps: FloatArray) -> FloatArray:
    """Solve for the multipliers; where they are not determined, the smallest."""
    try:
        return np.asarray(linalg.cho_solve(linalg.cho_factor(matrix), gaps))
    except linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, gaps, rcond=1e-12)[0])


def _sweep(
    problem: Problem,
    codes: Codes,
    cells: CellArray,
    weights: FloatArray,
    stop: Callable[[], bool],
) -> None:
    """Go towards the same weights in cheap sweeps over the tables, and steps for the rest."""
    tables = np.arange(len(problem.grids)) if problem.shares else problem.binding
    influence = np.empty((len(codes), 0))
    for _ in range(_SWEEPS):
        off = 0.0
        if problem.size:
            compass, influence, curvature = orient(problem, codes, weights)
            residual = compass.offset + sum_rows(influence, weights)
            off = float(residual @ residual)
            tilt_weights(weights, influence @ (curvature @ -residual), problem.schema.records)
        sums = count_weights(cells, weights, len(problem.low)) if problem.shares else np.empty(0)
        low, high = _relaxed(problem, sums)
        wrong = sum(rake(weights, cells, table, low, high) for table in tables)
        if (wrong < WRONG and off < OFF) or stop():
            break


def tilt_weights(weights: FloatArray, tilt: FloatArray, records: int) -> None:
    """Multiply weights by exp(tilt), no more at a time than the expansion can be trusted."""
    tilt = tilt - weights @ tilt / weights.sum()
    bounded = np.clip(tilt, -_LONGEST, _LONGEST)
    usual = np.sqrt(weights @ bounded**2 / weights.sum())
    weights *= np.exp(np.clip(tilt * min(1.0, _USUAL / max(1e-300, usual)), -_LONGEST, _LONGEST))
    weights *= records / weights.sum()


def keep_sound(weights: FloatArray, before: FloatArray, records: int) -> None:
    """Go back to the weights before calibration if contradictory figures left nothing of them."""
    if not np.isfinite(weights).all() or weights.sum() < records / 2:
        weights[:] = before
