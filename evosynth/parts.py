"""Rows with real weights made ready for rounding: fewer rows, and whole sizes of their parts.

A part is all rows with the same values of all categorical variables and, where records are few, of
quantities of a few levels. Coefficients of categories and
their standard errors all but decide how many records are in each; as these are whole numbers,
quantities must make up for what rounding them does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosynth.counts_lattice import MOST_SWAPS, Lattice
from evosynth.kernels.lattice import near_planes, reduce_basis
from evosynth.problem import Problem
from evosynth.relaxed import AIM, Relaxed, sharpen
from evosynth.schema import Codes, FloatArray, IntArray

FEW_RECORDS = 300
_MOST_PARTS, _MOST_OF_FEW = 64, 256
"""Parts up to which they matter, and where records are few."""
_COARSE = 6
"""Levels up to which quantities of few records make parts, too."""
_TRIES = 40
_NOISE = 0.5
"""On the sizes of parts, in what samples vary by."""
_CHOICES = 4
"""Sizes of all parts that are tried."""
_STEPS, _FEW_STEPS = 30, 3
_ABSORBED = 0.25
"""Squared part of what samples vary by that rows may make up for within their parts."""
_FINEST = 0.3
"""Half-widths below which distances are not told apart further."""
_ROUNDED = 0.35
"""Share of the free rows that are rounded at a time."""
_SPARED = 3
"""Heaviest rows of every cell that stay free."""


def parts(problem: Problem, codes: Codes) -> IntArray:
    """Give rows numbers by the values of all coarse variables, if there are others as well."""
    part = np.zeros(len(codes), dtype=np.int64)
    few, quantities = problem.schema.records < FEW_RECORDS, 0
    for column, variable in enumerate(problem.schema.variables):
        if variable.categorical or (few and variable.valid <= _COARSE):
            part = part * int(problem.schema.sizes[column]) + codes[:, column]
        else:
            quantities += 1
    part = np.unique(part, return_inverse=True)[1]
    most = _MOST_OF_FEW if few else _MOST_PARTS
    return part if quantities and part.max() < most else np.zeros_like(part)


def parted(relaxed: Relaxed, rng: np.random.Generator, stop: Callable[[], bool]) -> Relaxed:
    """Fix how many records there are of each part, so that the figures can still be met."""
    n_parts = int(relaxed.part.max()) + 1
    if n_parts == 1:
        return relaxed
    first = np.zeros(n_parts, dtype=np.int64)
    first[relaxed.part[::-1]] = np.arange(len(relaxed.part))[::-1]
    ties, goals = replace(relaxed, free=np.arange(len(relaxed.part))).ties()
    whole = (ties == ties[first][relaxed.part]).all(axis=0)
    lattice = Lattice.of(ties[first][:, whole], goals[whole])
    if lattice is None:
        return relaxed
    best, nearest = relaxed, np.inf
    for sizes in _sizes(relaxed, lattice, rng)[:_CHOICES]:
        if stop():
            break
        fixed, _, off = sharpen(replace(relaxed, sizes=sizes), _STEPS, stop)
        distance = float(np.abs(off).max(initial=0.0))
        if distance < nearest:
            best, nearest = fixed, distance
        if distance < 1.0:
            break
    return best


def _sizes(relaxed: Relaxed, lattice: Lattice, rng: np.random.Generator) -> FloatArray:
    """Whole sizes of all parts, those first that leave figures where rows can make up for it."""
    n_parts = len(lattice.counts)
    wanted = np.bincount(relaxed.part, relaxed.weights, n_parts)
    fixed = relaxed.weights.copy()
    fixed[relaxed.free] = 0.0
    least = np.bincount(relaxed.part, fixed, n_parts)
    influence, residual = relaxed.figures()
    own, part = relaxed.own, relaxed.part[relaxed.free]
    mine = np.bincount(part, own, n_parts)
    typical = np.zeros((n_parts, influence.shape[1]))
    np.add.at(typical, part, own[:, None] * influence)
    typical /= np.maximum(mine, 1e-300)[:, None]
    within = (influence - typical[part]) * np.sqrt(own)[:, None]
    values, vectors = np.linalg.eigh(_ABSORBED * within.T @ within)
    whiten = vectors / np.sqrt(np.maximum(values, 0.0) + _FINEST**2)
    usual = np.sqrt(wanted + 0.25)
    basis = np.hstack([lattice.basis / usual, lattice.basis @ typical @ whiten])
    basis = np.ascontiguousarray(basis[np.argsort((basis**2).sum(axis=1), kind="stable")])
    star, norm = reduce_basis(basis, MOST_SWAPS)
    gap = residual - np.clip(residual, -AIM, AIM)
    start = gap + (lattice.counts - wanted) @ typical
    target = np.append((wanted - lattice.counts) / usual, -start @ whiten)
    targets = np.tile(target, (_TRIES, 1))
    targets[1:, :n_parts] += rng.normal(0.0, _NOISE, (_TRIES - 1, n_parts))
    near = near_planes(basis, star, norm, targets, np.zeros((_TRIES, len(norm))))
    found = np.unique(np.rint(near[:, :n_parts] * usual) + lattice.counts, axis=0)
    found = found[(found >= least).all(axis=1)]
    off = (gap + (found - wanted) @ typical) @ whiten
    cost = (off**2).sum(axis=1) + (((found - wanted) / usual) ** 2).sum(axis=1)
    return np.asarray(found[np.argsort(cost, kind="stable")])


def _spared(relaxed: Relaxed) -> NDArray[np.bool_]:
    """Tell which free rows are the heaviest of some cell, or of some part."""
    own = relaxed.own
    spared = np.zeros(len(own), dtype=np.bool_)
    order = np.argsort(-own, kind="stable")
    tables: list[NDArray[Any]] = [relaxed.cells[:, table] for table in relaxed.problem.binding]
    for cells in [*tables, relaxed.part]:
        cell = cells[relaxed.free][order]
        by_cell = np.argsort(cell, kind="stable")
        start = np.flatnonzero(np.diff(cell[by_cell], prepend=-1))
        rank = np.arange(len(cell)) - np.repeat(start, np.diff(start, append=len(cell)))
        spared[order[by_cell[rank < _SPARED]]] = True
    return spared


def sampled(relaxed: Relaxed, most: int, rng: np.random.Generator) -> Relaxed:
    """Leave out most rows, rather the light ones, and let the others stand for them."""
    weights = np.zeros(len(relaxed.weights))
    free, own = relaxed.free, relaxed.own
    if len(free) > most:
        chance = np.minimum(np.minimum(own / np.median(own), 3.0) * most / len(free), 1.0)
        chance[_spared(relaxed)] = 1.0
        kept = rng.random(len(free)) < chance
        free, own = free[kept], own[kept] / chance[kept]
    weights[free] = own * relaxed.problem.schema.records / own.sum()
    return replace(relaxed, weights=weights, free=free)


def thinned(
    relaxed: Relaxed,
    groups: IntArray,
    most: int,
    rng: np.random.Generator,
    stop: Callable[[], bool],
) -> Relaxed:
    """Round rows, a share of them at a time, and let those that are left make up for it."""
    if len(relaxed.free) <= 1.2 * most:
        return relaxed
    while len(relaxed.free) > 1.2 * most and not stop():
        weights = relaxed.weights.copy()
        own, spared = relaxed.own, _spared(relaxed)
        keys = np.where(spared, np.inf, np.minimum(own, 1.0) * rng.exponential(size=len(own)))
        size = min(int((~spared).sum()), int(_ROUNDED * len(own)), len(own) - most)
        if size <= 0:
            break
        chosen = np.argsort(keys)[:size]
        rows = relaxed.free[rng.permutation(chosen)]
        rows = rows[np.argsort(groups[rows], kind="stable")]
        running = np.floor(np.cumsum(weights[rows]) + rng.random())
        weights[rows] = np.diff(running, prepend=0.0)
        left = np.delete(relaxed.free, chosen)
        relaxed = sharpen(replace(relaxed, weights=weights, free=left), _FEW_STEPS, stop)[0]
    return sharpen(relaxed, _STEPS, stop)[0]
