"""The last step: whole-number moves that land every smooth figure inside its printed digit.

Moves that leave all tables alone change the residual by known amounts, so "every figure prints as
published" is a closest-vector problem: whole numbers z within each move's reach such that
residual + z · effects lies in the box. Lattice reduction makes the nearest plane near enough.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evosynth.kernels.cells import sum_rows
from evosynth.kernels.lattice import balance, nearest_plane, reduce_basis
from evosynth.kernels.moves import pick_neutral
from evosynth.problem import Problem
from evosynth.schema import Codes, FloatArray, IntArray
from evosynth.space import Moves, Payload, Space

INSIDE = 0.93
"""How far from its target, in half-widths, the expansion may leave a figure."""
PRINTS = 0.999
"""Distance in half-widths below which a figure, estimated anew, prints as published."""

_SCALE = 2.0
_TRIES = 100
_NOISE = 0.2
_CHOICE = 4
_PROPOSED = 18
_KEPT = 6
_SCARCE = 4
"""Records per move of a pool below which only fine moves are worth trying."""
_MOST_SWAPS = 400_000


def measure(problem: Problem, codes: Codes, counts: IntArray) -> FloatArray:
    """Distance of every smooth figure from its target, estimated anew, in half-widths."""
    parts = [block.refit(codes, counts.astype(np.float64)) for block in problem.smooth]
    found = np.concatenate([np.empty(0), *parts])
    return np.where(np.isnan(found), np.inf, found)


def polish(space: Space, payload: Payload, rng: np.random.Generator, rounds: int) -> Payload:
    """Try to land a candidate whose tables are exact; return the best that was seen."""
    best, least = payload, _worst(space, payload)
    few = min(400, 100 + 10 * space.problem.size)
    scarce = space.problem.schema.records < _SCARCE * few
    for attempt in range(rounds):
        if least < PRINTS:
            break
        start = best
        size = few * (4 + min(attempt, 8)) // 4
        fine = scarce or attempt % 2 == 1
        moves, effects, reach, residual = _pool(space, start, size, fine, rng)
        if len(moves) == 0:
            continue
        chosen = _choose(effects, residual, reach, size, rng)
        moves = moves.subset(chosen)
        for times in _solve(effects[chosen], residual, reach[chosen], rng):
            found = space.apply(start, moves, times)
            worst = _worst(space, found)
            if worst < least:
                best, least = found, worst
            if least < PRINTS:
                break
    return best


def _worst(space: Space, payload: Payload) -> float:
    return float(np.abs(measure(space.problem, *space.rows(payload))).max(initial=0.0))


def _effects(space: Space, payload: Payload, moves: Moves) -> tuple[FloatArray, FloatArray]:
    """Residual of a candidate and the effect of each move on it, in half-widths.

    Both are of the expansion at the candidate, in which they add up exactly.
    """
    codes, counts = space.rows(payload)
    expansion = space.problem.expand(codes, counts.astype(np.float64))
    residual = expansion.offset + sum_rows(expansion.influence(codes), counts)
    used, local = np.unique(np.stack([moves.row_from, moves.row_to]), return_inverse=True)
    influence = np.zeros((len(used), space.problem.size))
    real = used >= 0
    influence[real] = expansion.influence(moves.codes[used[real]])
    ends = influence[local.reshape(2, len(moves), 2)].sum(axis=2)
    return residual, np.asarray(ends[1] - ends[0])


def _pool(
    space: Space, payload: Payload, size: int, fine: bool, rng: np.random.Generator
) -> tuple[Moves, FloatArray, FloatArray, FloatArray]:
    """Find moves on disjoint records that leave the tables alone.

    Returns them with their effects, the reach of each, and the residual. Where records are scarce
    the moves must be no larger than the way that is left: ``fine`` takes those first whose effects
    are of the size at which ``size`` of them just cover it.
    """
    stock = space.stock(payload)
    moves = space.propose(payload, _PROPOSED * size, rng, rare=True)
    if fine and len(moves):
        residual, effects = _effects(space, payload, moves)
        needed = 2 * (np.abs(residual) + 3) / np.sqrt(min(size, len(stock)))
        extent = np.sqrt(((effects / needed) ** 2).mean(axis=1))
        unfit = np.abs(np.log(np.maximum(extent, 1e-9))) + rng.exponential(0.3, len(moves))
        moves = moves.subset(np.argsort(unfit))
    taken = np.zeros(len(stock), dtype=np.bool_)
    chosen, reach = pick_neutral(
        moves.slot_from, moves.slot_to, moves.row_from, moves.row_to, moves.cells, stock, taken
    )
    kept = np.flatnonzero(chosen)[: _KEPT * size]
    moves, reach = moves.subset(kept), reach[kept]
    residual, effects = _effects(space, payload, moves)
    useful = np.flatnonzero((effects != 0.0).any(axis=1) & np.isfinite(effects).all(axis=1))
    return moves.subset(useful), effects[useful], reach[useful], residual


def _choose(
    effects: FloatArray,
    residual: FloatArray,
    reach: FloatArray,
    size: int,
    rng: np.random.Generator,
) -> IntArray:
    """Choose moves that reach every direction, and whose middle lies near the target.

    Moves on rare categories are few and alone move some figures: leverage finds them. The
    nearest plane is sought around half of every move's reach, so of each few moves the one
    whose half brings the sum closest to cancelling the residual is taken.
    """
    scale = np.maximum(np.sqrt((effects**2).mean(axis=0)), 1e-300)
    spread = effects / scale
    metric = np.linalg.pinv(spread.T @ spread, hermitian=True)
    leverage = np.einsum("ij,jk,ik->i", spread, metric, spread).clip(min=0)
    weight = leverage / leverage.sum() + 1 / len(effects)
    few = max(1, min(_CHOICE, len(effects) // size))
    size = min(size, len(effects))
    drawn: IntArray = rng.choice(len(effects), (size, few), replace=False, p=weight / weight.sum())
    middle = (reach[:, 1] - reach[:, 0])[:, None] / 2 * effects / scale
    return np.asarray(drawn[np.arange(size), balance(residual / scale, middle[drawn])])


def _solve(
    effects: FloatArray, residual: FloatArray, reach: FloatArray, rng: np.random.Generator
) -> Iterator[IntArray]:
    """Whole numbers of times to make each move, within reach, that bring the figures into the box.

    The reduction is made once; noise on the target then gives many different solutions.
    """
    order = np.argsort((effects**2).sum(axis=1))
    effects, low, high = effects[order], -reach[order, 0], reach[order, 1]
    n_moves = len(effects)
    middle, half = (low + high) / 2, (high - low) / 2
    basis = np.hstack([np.diag(1 / half), _SCALE * effects])
    star, norm = reduce_basis(basis, _MOST_SWAPS)
    for attempt in range(_TRIES):
        noise = rng.normal(0.0, _NOISE, n_moves) if attempt else 0.0
        target = np.concatenate([middle / half + noise, -_SCALE * residual])
        times = np.rint(nearest_plane(basis, star, norm, target)[:n_moves] * half)
        if (times < low).any() or (times > high).any():
            continue
        if np.abs(residual + times @ effects).max() < INSIDE:
            found = np.empty(n_moves, dtype=np.int64)
            found[order] = times.astype(np.int64)
            yield found
