"""From real weights to whole counts that print as published: a closest-vector problem.

Counts that leave the fixed cells of tables alone form a lattice. Each of its vectors moves the
figures by known amounts, so counts near the weights whose figures are in their digits are a lattice
vector near a target. Some whole-number combinations of counts are all but decided by the figures;
rounded one by one they leave figures far off, so they are fixed first, the weights of all else are
brought back into the digits, and the rest is rounded then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from evosynth.kernels.lattice import near_planes, reduce_basis
from evosynth.polish import INSIDE, PRINTS, outside
from evosynth.problem import CellArray, Problem
from evosynth.relaxed import AIM, Relaxed, sharpen
from evosynth.schema import Codes, FloatArray, IntArray

_SCALE = 2.0
"""What a half-width counts beside the usual change of a count."""
_MOST_SWAPS = 400_000
_TRIES = 60
_NOISE = 0.3
"""On the target, in usual changes of counts."""
_JITTER = 0.4
"""On what is rounded and coarse, in steps."""
_NEGATIVE = 3.0
"""What a count below 0 costs, in roots of half-widths."""
_MEASURED = 8
"""Of all tries, how many are estimated anew."""
_COARSE = (8.0, 4.0, 2.0, 2.0, 2.0)
"""Size of a step, in half-widths, from which it is fixed, dive by dive."""
_CHOICES = 3
"""Ways to fix what is coarse before a dive is given up."""
_FIRST_STEPS, _STEPS, _FEW_STEPS = 40, 30, 3
_SHAPE = 8.0
"""Of the noise on weights at the start: the smaller, the more."""
_ROUNDED = 0.35
"""Share of the free rows that are rounded at a time."""
_SPARED = 3
"""Heaviest rows of every cell that stay free."""
_MOST_PARTS = 64
_MANY = 1500
"""Rows that are free while parts are settled."""
_FEWEST, _EACH, _MOST = 120, 6, 330
"""Free rows in the end: some, and some for each figure, but not more than can be reduced."""


def land(
    problem: Problem,
    codes: Codes,
    cells: CellArray,
    weights: FloatArray,
    groups: IntArray,
    rng: np.random.Generator,
    stop: Callable[[], bool],
) -> tuple[IntArray, float] | None:
    """Find whole counts near the weights, with how far they are outside their digits (roots)."""
    noisy = weights * rng.gamma(_SHAPE, 1 / _SHAPE, len(weights))
    noisy *= problem.schema.records / noisy.sum()
    free = np.flatnonzero(noisy > 0)
    part = _parts(problem, codes)
    relaxed = Relaxed(problem, codes, cells, noisy, free, part, np.empty(0))
    relaxed = sharpen(relaxed, _FIRST_STEPS, stop)[0]
    relaxed = _thinned(relaxed, groups, _MANY, rng, stop)
    relaxed = _parted(relaxed, rng, stop)
    most = min(_MOST, _FEWEST + _EACH * problem.size)
    relaxed = _thinned(relaxed, groups, most, rng, stop)
    lattice = Lattice.of(*relaxed.ties())
    if lattice is None:
        return None
    best: tuple[IntArray, float] | None = None
    for coarse in _COARSE:
        if stop():
            break
        dive = _dive(relaxed, lattice, coarse, rng, stop)
        lattice = dive.lattice
        if dive.counts is not None and (best is None or dive.loss < best[1]):
            best = dive.counts, dive.loss
        if dive.relaxed is None or (best is not None and best[1] == 0.0):
            break
        relaxed = dive.relaxed
    return best


def _parts(problem: Problem, codes: Codes) -> IntArray:
    """Number rows by the values of all categorical variables, if there are others as well."""
    part = np.zeros(len(codes), dtype=np.int64)
    quantities = 0
    for column, variable in enumerate(problem.schema.variables):
        if variable.categorical:
            part = part * len(variable.quantities) + codes[:, column]
        else:
            quantities += 1
    part = np.unique(part, return_inverse=True)[1]
    return part if quantities and part.max() < _MOST_PARTS else np.zeros_like(part)


def _parted(
    relaxed: Relaxed, rng: np.random.Generator, stop: Callable[[], bool]
) -> Relaxed:
    """Fix how many records there are of each part.

    Coefficients of categories and their standard errors all but decide how many records are in
    each combination of them; as these are whole numbers, quantities must make up for it.
    """
    n_parts = int(relaxed.part.max()) + 1
    if n_parts == 1:
        return relaxed
    first = np.zeros(n_parts, dtype=np.int64)
    first[relaxed.part[::-1]] = np.arange(len(relaxed.part))[::-1]
    ties, goals = replace(relaxed, free=np.arange(len(relaxed.part))).ties()
    whole = [(ties[:, k] == ties[first, k][relaxed.part]).all() for k in range(ties.shape[1])]
    lattice = Lattice.of(ties[first][:, whole], goals[whole])
    if lattice is None:
        return relaxed
    wanted = np.bincount(relaxed.part, relaxed.weights, n_parts)
    least = np.bincount(relaxed.part, relaxed.weights * ~np.isin(np.arange(len(relaxed.part)), relaxed.free), n_parts)
    usual = np.sqrt(wanted + 0.25)
    basis = np.ascontiguousarray(lattice.basis / usual)
    star, norm = reduce_basis(basis, _MOST_SWAPS)
    best, nearest = relaxed, np.inf
    for attempt in range(_CHOICES):
        noise = rng.normal(0.0, _NOISE * (attempt > 0), (1, n_parts))
        target = (wanted - lattice.counts) / usual + noise / usual
        near = near_planes(basis, star, norm, target, np.zeros((1, len(norm))))[0]
        sizes = np.rint(near * usual) + lattice.counts
        if (sizes < least).any() or stop():
            continue
        fixed, _, off = sharpen(replace(relaxed, sizes=sizes), _STEPS, stop)
        distance = float(np.abs(off).max(initial=0.0))
        if distance < nearest:
            best, nearest = fixed, distance
        if distance < 1.0:
            break
    return best


def _thinned(
    relaxed: Relaxed,
    groups: IntArray,
    most: int,
    rng: np.random.Generator,
    stop: Callable[[], bool],
) -> Relaxed:
    """Round rows, a part of them at a time, and let those that are left make up for it."""
    if len(relaxed.free) <= 1.2 * most:
        return relaxed
    while len(relaxed.free) > 1.2 * most and not stop():
        weights = relaxed.weights.copy()
        own = weights[relaxed.free]
        spared = np.zeros(len(own), dtype=np.bool_)
        order = np.argsort(-own, kind="stable")
        tables = [relaxed.cells[:, table] for table in relaxed.problem.binding]
        for cells in (*tables, relaxed.part):
            cell = cells[relaxed.free][order]
            by_cell = np.argsort(cell, kind="stable")
            start = np.flatnonzero(np.diff(cell[by_cell], prepend=-1))
            rank = np.arange(len(cell)) - np.repeat(start, np.diff(start, append=len(cell)))
            spared[order[by_cell[rank < _SPARED]]] = True
        keys = np.where(spared, np.inf, np.minimum(own, 1.0) * rng.exponential(size=len(own)))
        size = min(int((~spared).sum()), max(int(_ROUNDED * len(own)), 1), len(own) - most)
        if size <= 0:
            break
        chosen = np.argsort(keys)[:size]
        rows = relaxed.free[rng.permutation(chosen)]
        rows = rows[np.argsort(groups[rows], kind="stable")]
        running = np.floor(np.cumsum(weights[rows]) + rng.random())
        weights[rows] = np.diff(running, prepend=0.0)
        left = np.delete(relaxed.free, chosen)
        relaxed = replace(relaxed, weights=weights, free=left)
        relaxed = sharpen(relaxed, _FEW_STEPS, stop)[0]
    return sharpen(relaxed, _STEPS, stop)[0]


@dataclass(frozen=True)
class Lattice:
    """Whole counts of the free rows that meet the tables: one, and a basis of all differences."""

    counts: FloatArray
    basis: FloatArray
    """Shape (dimensions, free rows)."""

    @classmethod
    def of(cls, ties: FloatArray, goals: FloatArray) -> Lattice | None:
        """Meet one demand after the other by what leaves those before it alone."""
        basis = np.eye(len(ties))
        counts = np.zeros(len(ties))
        for demand, goal in zip(ties.T, goals, strict=True):
            values = basis @ demand
            while np.count_nonzero(values) > 1:
                used = np.flatnonzero(values)
                size = np.abs(values[used])
                length = (basis[used] ** 2).sum(axis=1)
                pivot = used[np.lexsort((length, size))[0]]
                others = used[used != pivot]
                times = np.trunc(values[others] / values[pivot])
                basis[others] -= times[:, None] * basis[pivot]
                values[others] -= times * values[pivot]
            left = goal - counts @ demand
            used = np.flatnonzero(values)
            if len(used) == 0:
                if left != 0:
                    return None
                continue
            times = left / values[used[0]]
            if times != np.rint(times):
                return None
            counts += times * basis[used[0]]
            basis = np.delete(basis, used[0], axis=0)
        return cls(counts, basis) if len(basis) else None


@dataclass(frozen=True)
class Dive:
    """What came of one reduction."""

    lattice: Lattice
    counts: IntArray | None
    """Best whole counts of all rows, if any are not negative."""
    loss: float
    relaxed: Relaxed | None
    """Weights with what is coarse fixed, if these can still meet the figures."""


def _dive(
    relaxed: Relaxed,
    lattice: Lattice,
    coarse: float,
    rng: np.random.Generator,
    stop: Callable[[], bool],
) -> Dive:
    """Round the weights in many ways, and fix what is coarse in one of them."""
    own = relaxed.own
    influence, residual = relaxed.figures()
    effects = lattice.basis @ influence
    live = np.abs(effects).max(axis=0) > 1e-9
    aim = np.clip(residual, -AIM, AIM)
    start = residual + (lattice.counts - own) @ influence
    usual = np.sqrt(own + 0.25)
    basis = np.hstack([lattice.basis / usual, _SCALE * effects[:, live]])
    basis = np.ascontiguousarray(basis[np.argsort((basis**2).sum(axis=1), kind="stable")])
    star, norm = reduce_basis(basis, _MOST_SWAPS)
    rows = len(own)
    lattice = Lattice(lattice.counts, np.rint(basis[:, :rows] * usual))
    large = np.sqrt(norm) > coarse * _SCALE
    targets = np.tile(
        np.append((own - lattice.counts) / usual, -_SCALE * (start - aim)[live]), (_TRIES, 1)
    )
    targets[1:, :rows] += rng.normal(0.0, _NOISE, (_TRIES - 1, rows))
    jitter = rng.normal(0.0, _JITTER, (_TRIES, len(norm))) * large
    jitter[: _TRIES // 2] = 0.0
    near = near_planes(basis, star, norm, targets, jitter)
    tried = np.unique(np.rint(near[:, :rows] * usual) + lattice.counts, axis=0)
    reached = residual + (tried - own) @ influence
    negative = -np.minimum(tried, 0.0).sum(axis=1)
    cost = np.sqrt(np.maximum(np.abs(reached) - INSIDE, 0.0)).sum(axis=1) + _NEGATIVE * negative
    order = np.argsort(cost, kind="stable")
    tried, negative = tried[order], negative[order]
    best, least = None, np.inf
    for counts in tried[negative == 0][:_MEASURED]:
        whole = relaxed.weighing(counts)
        loss = _loss(whole)
        if loss < least:
            best, least = np.rint(whole.weights).astype(np.int64), loss
        if least == 0.0:
            return Dive(lattice, best, least, relaxed)
    found = None
    if large.any():
        ties = star[large] / norm[large, None]
        ties = (ties[:, :rows] / usual + _SCALE * ties[:, rows:] @ influence[:, live].T).T
        seen: list[FloatArray] = []
        for counts in tried:
            goals = counts @ ties
            if len(seen) == _CHOICES or stop():
                break
            if any(np.abs(goals - other).max() < 0.5 for other in seen):
                continue
            seen.append(goals)
            fixed, _, off = sharpen(relaxed, _STEPS, stop, ties, goals)
            if np.abs(off).max(initial=0.0) < 1.0:
                found = fixed
                break
    elif coarse > min(_COARSE):
        found = relaxed
    return Dive(lattice, best, least, found)


def _loss(whole: Relaxed) -> float:
    """How far figures, estimated anew, are outside their digits."""
    held = whole.weights > 0
    counts = np.rint(whole.weights[held]).astype(np.int64)
    measured = whole.problem.measure(whole.codes[held], counts)
    return outside(np.append(measured, whole.bands()[1]), PRINTS)
