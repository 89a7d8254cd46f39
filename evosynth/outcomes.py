"""Values of an outcome that a linear model explains, for records whose covariates are settled."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv, ndtri

from evosynth.explained import Predictor
from evosynth.kernels.cells import count_cells, violation
from evosynth.kernels.moves import accept_moves
from evosynth.problem import Problem
from evosynth.schema import Codes, FloatArray, IntArray

_SKEWNESSES = (0.0, 0.4, 0.8, 1.2, 1.6, 2.0, 2.6)
_CROSSINGS, _CROSSED = 60, 4000
"""Times that values are moved, and how many at a time."""
_MET = 1e-7
"""Squared distance of coefficients and spread, in standard errors, that is near enough."""
_TRIED = 10
"""Records that are tried for a cell that lacks some, or has too many."""
_STRIDE = 0.1
"""Usual length of such a move, in standard deviations."""


def outcome(
    problem: Problem, predictor: Predictor, codes: Codes, rng: np.random.Generator
) -> Codes:
    """Draw the outcome of every record: predicted, with errors as skewed as its tables want them.

    Values then step across what its tables tell apart until these are right.
    """
    column = predictor.model.outcome
    y, eta = predictor.model.likelihood.y.values, predictor(codes)
    sd = np.sqrt(predictor.rss / len(codes))
    uniform = rng.random(len(codes))
    best: tuple[int, Codes] | None = None
    for skewness in _SKEWNESSES:
        values = eta + sd * _errors(skewness, uniform)
        found = codes.copy()
        found[:, column] = _nearest(y, values)
        held = count_cells(problem.cells(found), np.ones(len(found), np.int64), len(problem.low))
        wrong = violation(held, problem.low, problem.high)
        if best is None or wrong < best[0]:
            best = wrong, found
    assert best is not None
    return _crossed(problem, predictor, best[1], rng)


def _errors(skewness: float, uniform: FloatArray) -> FloatArray:
    """Errors of mean 0 and standard deviation 1, normal or of a gamma distribution."""
    if skewness == 0.0:
        return np.asarray(ndtri(uniform))
    shape = 4 / skewness**2
    return np.asarray((gammaincinv(shape, uniform) - shape) / np.sqrt(shape))


def _nearest(grid: FloatArray, values: FloatArray) -> IntArray:
    """Level nearest to each value."""
    return np.searchsorted((grid[1:] + grid[:-1]) / 2, values)


def _crossed(
    problem: Problem, predictor: Predictor, codes: Codes, rng: np.random.Generator
) -> Codes:
    """Move values, so that tables come right and coefficients and spread stay as published."""
    column = predictor.model.outcome
    y = predictor.model.likelihood.y.values
    x, eta = predictor.model.likelihood.rows(codes).x, predictor(codes)
    sd = np.sqrt(predictor.rss / len(codes))
    root = np.linalg.inv(np.linalg.cholesky(x.T @ x)).T / sd

    def features(rows: IntArray, levels: IntArray) -> FloatArray:
        error = y[levels] - eta[rows]
        square = (error**2 - sd**2) / (2 * sd**2 * np.sqrt(len(codes)))
        return np.column_stack([(x[rows] @ root) * error[:, None], square])

    every = np.arange(len(codes))
    residual = features(every, codes[:, column].astype(np.int64)).sum(axis=0)
    ones = np.ones(len(codes), dtype=np.int64)
    held = count_cells(problem.cells(codes), ones, len(problem.low))
    for _ in range(_CROSSINGS):
        rows = rng.permutation(len(codes))[:_CROSSED]
        here = codes[rows, column].astype(np.int64)
        reach = rng.exponential(_STRIDE * np.std(codes[:, column]), len(rows))
        there = here + np.rint(reach * rng.choice([-1, 1], len(rows))).astype(np.int64)
        there = np.clip(there, 0, len(y) - 1)
        missed = _missed(problem, codes, column, held)
        rows, there = (np.append(m, r) for m, r in zip(missed, (rows, there), strict=True))
        here = codes[rows, column].astype(np.int64)
        moved = np.concatenate([codes[rows], codes[rows]])
        moved[len(rows) :, column] = there
        position = np.arange(len(rows))
        slot, none, before, after = np.full((4, len(rows), 2), -1)
        slot[:, 0], before[:, 0], after[:, 0] = rows, position, position + len(rows)
        made = accept_moves(
            ones.copy(),
            slot,
            none,
            before,
            after,
            problem.cells(moved),
            held,
            problem.low,
            problem.high,
            np.vstack([features(rows, here), features(rows, there)]),
            residual,
            np.full(len(rows), -1e-9),
            1.0,
        )
        codes = codes.copy()
        codes[rows[made], column] = there[made]
        if violation(held, problem.low, problem.high) == 0 and residual @ residual < _MET:
            break
    return codes


def _missed(
    problem: Problem, codes: Codes, column: int, held: IntArray
) -> tuple[IntArray, IntArray]:
    """List moves into cells that lack records, or out of crowded ones: records and new levels.

    The nearest records move. The finer the outcome, the less likely is chance to hit the value
    that a median must have.
    """
    rows, levels = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    here = codes[:, column].astype(np.int64)
    for cell in np.flatnonzero((held < problem.low) | (held > problem.high)).tolist():
        table = problem.table(cell)
        grid = problem.grids[table]
        if column not in grid.columns:
            continue
        lacks = bool(held[cell] < problem.low[cell])
        at = np.unravel_index(cell - int(problem.first_cell[table]), grid.shape)
        movable = np.ones(len(codes), dtype=np.bool_)
        goals = np.empty(0, np.int64)
        for own, groups, group in zip(grid.columns, grid.groups, at, strict=True):
            inside = groups == group
            if own == column:
                goals = np.flatnonzero(inside == lacks)
            movable &= inside[codes[:, own]] != (lacks and own == column)
        near = np.flatnonzero(movable)
        if not len(goals):
            continue
        there = goals[_nearest(goals.astype(np.float64), here[near].astype(np.float64))]
        order = np.argsort(np.abs(there - here[near]), kind="stable")[:_TRIED]
        rows.append(near[order])
        levels.append(there[order])
    return np.concatenate(rows), np.concatenate(levels)
