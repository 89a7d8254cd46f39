"""From real quantities that meet every figure to values that there are, the coarsest first.

Whole values of one variable near real ones are a lattice. A vector of it is judged by what finer
variables cannot make up for; these converge again before it is their turn. The slopes of figures
miss what a step of a coarse value adds of second order, so that much is aimed beside.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evosynth.approach import PRINTS
from evosynth.fences import snapped
from evosynth.kernels.lattice import near_planes, reduce_basis
from evosynth.newton import away
from evosynth.problem import Problem
from evosynth.reals import Place, converge, released
from evosynth.schema import Codes, FloatArray, IntArray

_TRIES = 200
_PASSES = 3
"""Times that second-order effects are estimated and aimed beside."""
_ROUNDS = 4
_NOISE = 0.3
"""On the target, in levels."""
_REACH = 0.3
"""Part of a usual change by which finer variables may make up."""
_SLACK, _LAST_SLACK = 0.15, 0.5
"""Distance in half-widths that counts as one, of what nothing can make up for, and in the end."""
_MOST_SWAPS = 400_000
_MOST_ROWS = 60_000
"""Records whose influence is looked up at a time."""
_AIM, _INSIDE = 0.5, 0.9
_MEASURED = 20
_LOST = 100.0
"""What it costs to leave a figure outside its digits that no finer variable moves."""
_MET = 1e-3
_STEPS = 20
MOST_RECORDS = 250
_NEAR, _FAR = 3.0, 100.0
"""Distances in half-widths from which real values are not worth rounding, or not worth another
start from somewhere else."""
_AIMS = 0.5, 0.93
"""Parts of digits to aim into: at every other start, values shy of their ends aim farther."""


def settle(
    problem: Problem,
    columns: IntArray,
    starts: Callable[[int], Codes],
    most: int,
    rng: np.random.Generator,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Codes, float]:
    """Round real values that meet the figures, from several starts; and the distance left."""
    best, least = starts(0), np.inf
    nearest = np.inf
    for start in range(most):
        if stop() or (start > 4 and nearest > _FAR):
            break
        codes = starts(start) if start else best
        codes = snapped(problem, columns, released(problem, columns, codes, rng))
        try:
            place = converge(
                Place.of(problem, columns, codes, shy=start % 2 == 1),
                np.ones(len(columns), dtype=np.bool_),
                _AIMS[start % 2],
                stop=stop,
            )
            nearest = min(nearest, place.worst)
            if place.worst > _NEAR:
                continue
            found, loss = rounded(place, rng, stop)
        except np.linalg.LinAlgError:
            continue
        if loss < least:
            best, least = found, loss
        if least == 0.0:
            break
    return best, least


def rounded(
    place: Place, rng: np.random.Generator, stop: Callable[[], bool] = lambda: False
) -> tuple[Codes, float]:
    """Round variable by variable; return the best dataset and its distance, by `away`."""
    records, problem = len(place.codes), place.problem
    ones = np.ones(records, dtype=np.int64)
    free = np.ones(len(place.columns), dtype=np.bool_)
    spread = place.codes[:, place.columns].std(axis=0)
    best, least = place.codes, away(problem.measure(place.codes, ones))
    for variable in np.argsort(spread, kind="stable").tolist():
        free[variable] = False
        cheapest, chosen = np.inf, place
        for _ in range(_ROUNDS):
            if stop():
                return best, least
            found, costs = _near(place, variable, free, rng)
            place = place.put(variable, found[0][:, place.columns[variable]])
            if costs[0] < cheapest:
                cheapest, chosen = float(costs[0]), place
            if not free.any():
                for codes in found[:_MEASURED]:
                    loss = away(problem.measure(codes, ones))
                    if loss < least:
                        best, least = codes, loss
                if least == 0.0:
                    return best, least
            if cheapest < _MET:
                break
        place = converge(chosen, free, _AIM, _STEPS, stop) if free.any() else chosen
    return best, least


def _near(
    place: Place, variable: int, left: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[Codes, FloatArray]:
    """Datasets with whole values of one variable, the best first, and what each leaves."""
    problem, slopes, records = place.problem, place.slopes, len(place.codes)
    own = slice(variable * records, (variable + 1) * records)
    column = int(place.columns[variable])
    finer = np.repeat(left, records)
    reach = place.effects[finer] * (_REACH * slopes.scale[finer])[:, None]
    slack = _SLACK if left.any() else _LAST_SLACK
    values, vectors = np.linalg.eigh(reach.T @ reach + slack**2 * np.eye(len(place.residual)))
    whiten = vectors / np.sqrt(np.maximum(values, slack**2))
    low, high = slopes.low[own], slopes.high[own]
    movable = np.flatnonzero(high > low)
    if not len(movable):
        return place.codes[None], np.zeros(1)
    effects, rest = slopes.effects[own][movable], place.aside
    mine = rest[own][movable]
    rest[own] = 0.0
    start = place.beside(rest)
    aim = np.clip(place.residual, -_AIM, _AIM)
    low, high = low[movable], high[movable]
    room = np.minimum(1.0, (high - low) / 2)
    basis = np.hstack([np.diag(1 / room), effects @ whiten])
    basis = np.ascontiguousarray(basis[np.argsort((basis**2).sum(axis=1), kind="stable")])
    star, norm = reduce_basis(basis, _MOST_SWAPS)
    expansion = problem.expand(place.codes, np.ones(records))
    offset = expansion.offset + start - slopes.residual
    tries = max(20, min(_TRIES, _MOST_ROWS // records))
    second = np.zeros(len(aim))
    found, reached = [], []
    for _ in range(_PASSES):
        goal = np.append(mine / room, (aim - start - second) @ whiten)
        targets = np.tile(goal, (tries, 1))
        targets[1:, : len(room)] += rng.normal(0.0, _NOISE, (tries - 1, len(room))) / room
        near = near_planes(basis, star, norm, targets, np.zeros((tries, len(norm))))
        steps = np.rint(near[:, : len(room)] * room)
        steps = np.unique(np.clip(steps, low, high), axis=0).astype(np.int64)
        codes = np.repeat(place.codes[None], len(steps), axis=0)
        codes[:, movable, column] = place.codes[movable, column] + steps
        influence = expansion.influence(codes.reshape(-1, codes.shape[2]))
        residual = offset + influence.reshape(len(steps), records, -1).sum(axis=1)
        second = (residual - start - steps @ effects).mean(axis=0)
        found.append(codes)
        reached.append(residual)
    residual = np.concatenate(reached)
    outside = (residual - np.clip(residual, -_INSIDE, _INSIDE)) @ whiten
    # What nothing that is left moves must print now.
    alone = ~reach.any(axis=0)
    costs = (outside**2).sum(axis=1) + _LOST * (np.abs(residual[:, alone]) > PRINTS).sum(axis=1)
    order = np.argsort(costs, kind="stable")[:_MEASURED]
    return np.concatenate(found)[order], costs[order]
