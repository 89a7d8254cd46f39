"""The last step: whole-number moves that land every smooth figure inside its printed digit.

Moves that leave all tables alone change the residual by known amounts, so "every figure prints as
published" is a closest-vector problem: whole numbers z within each move's reach such that
residual + z · effects lies in the box. Lattice reduction makes the nearest plane near enough.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evosynth.kernels.cells import sum_rows
from evosynth.kernels.lattice import balance, nearest_plane, reduce_basis
from evosynth.kernels.moves import pick_neutral
from evosynth.schema import FloatArray, IntArray
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
_MOST_SWAPS = 400_000
_JOINT = 90
"""Figures up to which all are polished at once; more are divided by what moves them."""
_MOST_MOVES = 60_000
_LEAST_ROOM = 0.15


def polish(
    space: Space, payload: Payload, aim: FloatArray, rng: np.random.Generator, rounds: int
) -> Payload:
    """Try to land a candidate whose tables are exact; return the best that was seen."""
    best, least = payload, _rank(space, payload)
    divided = _divided(space, payload, rng)
    for attempt in range(rounds):
        if least[0] == 0:
            break
        if divided and (attempt % 2 == 0 or space.problem.size > _JOINT):
            for column in rng.permutation(divided):
                found = _by_variable(space, best, int(column), aim, attempt, rng)
                rank = _rank(space, found)
                if rank < least:
                    best, least = found, rank
            continue
        for found in _joint(space, best, aim, attempt, rng):
            rank = _rank(space, found)
            if rank < least:
                best, least = found, rank
            if least[0] == 0:
                break
    return best


def _rank(space: Space, payload: Payload) -> tuple[int, float]:
    """Figures that are missed, and the distance of the worst."""
    size = np.abs(space.problem.measure(*space.rows(payload)))
    return int((size >= PRINTS).sum()), float(size.max(initial=0.0))


def _joint(
    space: Space, payload: Payload, aim: FloatArray, attempt: int, rng: np.random.Generator
) -> Iterator[Payload]:
    """Candidates in which moves of any variable land all figures at once."""
    few = min(400, 100 + 10 * space.problem.size)
    size = few * (4 + min(attempt, 8)) // 4
    moves = space.propose(payload, _PROPOSED * size, rng, rare=True)
    moves, effects, reach, residual = _pool(space, payload, moves, size, attempt % 2 == 1, rng)
    if len(moves) == 0:
        return
    chosen = _choose(effects, residual - aim, reach, size, rng)
    moves = moves.subset(chosen)
    for times in _solve(effects[chosen], residual, aim, reach[chosen], rng):
        yield space.apply(payload, moves, times)


def _divided(space: Space, payload: Payload, rng: np.random.Generator) -> list[int]:
    """Variables whose moves leave some figures alone; none if every move touches them all."""
    found, whole = [], True
    for column in space.free:
        moves = space.propose(payload, 200, rng, column=int(column))
        if len(moves) == 0:
            continue
        _, effects = _effects(space, payload, moves)
        touched = (effects != 0.0).any(axis=0)
        if touched.any():
            found.append(int(column))
            whole &= bool(touched.all()) and _parts(effects[~_swaps(moves)], touched).max() == 0
    return [] if whole else found


def _swaps(moves: Moves) -> NDArray[np.bool_]:
    return np.asarray(moves.slot_from[:, 1] >= 0)


def _parts(effects: FloatArray, touched: NDArray[np.bool_]) -> IntArray:
    """Number figures so that those that some move changes together share a number; else -1."""
    part = np.where(touched, np.arange(effects.shape[1]), -1)
    patterns = np.unique(effects != 0.0, axis=0)
    changed = True
    while changed:
        changed = False
        for pattern in patterns:
            if pattern.any() and (part[pattern] != part[pattern].min()).any():
                part[pattern] = part[pattern].min()
                changed = True
    return np.unique(part, return_inverse=True)[1] - int((part < 0).any())


def _by_variable(
    space: Space,
    payload: Payload,
    column: int,
    aim: FloatArray,
    attempt: int,
    rng: np.random.Generator,
) -> Payload:
    """Land figures by moves of one variable, each set of figures that it changes by itself."""
    size = min(_MOST_MOVES, _PROPOSED * 20 * (space.problem.size + 10))
    moves = space.propose(payload, size, rng, rare=attempt % 4 < 2, column=column)
    if len(moves) == 0:
        return payload
    moves, effects, reach, residual = _pool(space, payload, moves, size, attempt % 4 > 1, rng)
    single = effects[~_swaps(moves)]
    touched = (effects != 0.0).any(axis=0)
    parts = _parts(single if len(single) else effects, touched)
    times = np.zeros(len(moves), dtype=np.int64)
    for part in range(int(parts.max(initial=-1)) + 1):
        inside = parts == part
        if (np.abs(residual[inside]) < INSIDE).all():
            continue
        own = np.flatnonzero(
            (effects[:, inside] != 0.0).any(axis=1) & (effects[:, ~inside] == 0.0).all(axis=1)
        )
        if len(own) == 0:
            continue
        few = min(300, (60 + 12 * int(inside.sum())) * (2 + attempt // 2) // 2)
        mine = effects[np.ix_(own, inside)]
        chosen = _choose(mine, (residual - aim)[inside], reach[own], few, rng)
        solutions = _solve(mine[chosen], residual[inside], aim[inside], reach[own[chosen]], rng)
        solved = next(solutions, None)
        if solved is not None:
            times[own[chosen]] = solved
    return space.apply(payload, moves, times) if times.any() else payload


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
    space: Space, payload: Payload, moves: Moves, size: int, fine: bool, rng: np.random.Generator
) -> tuple[Moves, FloatArray, FloatArray, FloatArray]:
    """Keep moves on disjoint records that leave the tables alone.

    Returns them with their effects, the reach of each, and the residual. Where records are scarce
    the moves must be no larger than the way that is left: ``fine`` takes those first whose effects
    are of the size at which ``size`` of them just cover it.
    """
    stock = space.stock(payload)
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
    effects: FloatArray,
    residual: FloatArray,
    aim: FloatArray,
    reach: FloatArray,
    rng: np.random.Generator,
) -> Iterator[IntArray]:
    """Whole numbers of times to make each move, within reach, that bring the figures into the box.

    The reduction is made once; noise on the target then gives many different solutions.
    """
    order = np.argsort((effects**2).sum(axis=1))
    effects, low, high = effects[order], -reach[order, 0], reach[order, 1]
    n_moves = len(effects)
    middle, half = (low + high) / 2, (high - low) / 2
    room = np.maximum(1 - np.abs(aim), _LEAST_ROOM)
    basis = np.hstack([np.diag(1 / half), _SCALE * effects / room])
    star, norm = reduce_basis(basis, _MOST_SWAPS)
    for attempt in range(_TRIES):
        noise = rng.normal(0.0, _NOISE, n_moves) if attempt else 0.0
        target = np.concatenate([middle / half + noise, -_SCALE * (residual - aim) / room])
        times = np.rint(nearest_plane(basis, star, norm, target)[:n_moves] * half)
        if (times < low).any() or (times > high).any():
            continue
        if np.abs(residual + times @ effects).max() < INSIDE:
            found = np.empty(n_moves, dtype=np.int64)
            found[order] = times.astype(np.int64)
            yield found
