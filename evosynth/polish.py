"""The last step: whole-number moves that land every smooth figure inside its printed digit.

Moves that leave all tables alone change the residual by known amounts, so "every figure prints as
published" is a closest-vector problem: whole numbers z within each move's reach such that
residual + z · effects lies in the box. Lattice reduction makes the nearest plane near enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from evosynth.approach import (
    INSIDE,
    MOST_MOVES,
    PRINTS,
    approach,
    effects_of,
    neutral,
    outside,
)
from evosynth.blocks import by_blocks, fine_column
from evosynth.closest import Reduced, centre, choose, solve
from evosynth.kernels.moves import best_pair, pick_neutral
from evosynth.newton import newton
from evosynth.recount import countable
from evosynth.schema import FloatArray, IntArray
from evosynth.space import Moves, Payload, Space
from evosynth.steer import steerable
from evosynth.wander import wander

_PROPOSED = 18
_KEPT = 6
_JOINT = 90
"""Figures up to which all are polished at once; more are divided by what moves them."""
_FEW_RECORDS = 1000
"""Records up to which pairs of moves are tried exhaustively."""
_PAIRED = 800
_STEPS = 40
_NEWTON = 10
_HOPELESS = 8
"""Rounds without success after which a candidate is left."""
_ALONE = 1 / 3
"""Share of figures that a usual move leaves alone from which variables are polished in turn."""
_CLOSE, _PERSISTENCE = 3.0, 4
"""Distance, by `outside`, from which no round is the last, up to so many times as many."""
_BENT, _MEASURED = 4, 12
"""Times that a reduction is used, each time allowing for what moves bent before, and how many of
its solutions are estimated anew."""
_TURNS = 8
"""Rounds by variable for each round of all variables at once."""
_LEAST_WANDERED, _MOST_WANDERED, _WANDERED = 10, 60, 1_000_000
"""Rounds of the end game at least and at most; in between, records times figures of all of them."""


def polish(
    space: Space,
    payload: Payload,
    rng: np.random.Generator,
    rounds: int,
    stop: Callable[[], bool] = lambda: False,
) -> Payload:
    """Try to land a candidate whose tables are exact; return the best that was seen."""
    best, least = payload, _loss(space, payload)
    if space.problem.curved:
        payload = _far(space, best, rng, stop)
        loss = _loss(space, payload)
        if loss < least:
            best, least = payload, loss
    divided = _divided(space, best, rng)
    few = space.problem.schema.records <= _FEW_RECORDS
    stalled = 0
    last = rounds * (_TURNS if divided else 1)
    for attempt in range(_PERSISTENCE * last):
        if (attempt >= last and least > _CLOSE) or stop():
            break
        before = least
        for found, loss in _landings(
            space, best, least, divided, few and stalled > 1, attempt, rng, stop
        ):
            if loss < least:
                best, least = found, loss
            if least == 0.0 or stop():
                return best
        stalled = 0 if least < before else stalled + 1
        if stalled == _HOPELESS:
            break
    if 0.0 < least <= _CLOSE and (space.problem.size <= _JOINT or countable(space)):
        work = space.problem.schema.records * space.problem.size
        wandered = min(max(_LEAST_WANDERED, _WANDERED // work), _MOST_WANDERED)
        best = wander(space, best, rng, wandered, stop)
    return best


def _nearer(
    space: Space, payload: Payload, rng: np.random.Generator, stop: Callable[[], bool]
) -> Payload:
    """Approach by Newton steps where values are few enough, and by many moves otherwise."""
    if space.drawn and steerable(space.problem, space.steered):
        found = newton(space.problem, space.steered, payload, rng, stop, most=_NEWTON)
        if found is not payload:
            return found
    return _far(space, payload, rng, stop)


def _far(
    space: Space, payload: Payload, rng: np.random.Generator, stop: Callable[[], bool]
) -> Payload:
    """Bring figures near by many moves: of fine values after coarse ones, or of all at once."""
    column = fine_column(space)
    if column is None:
        return approach(space, payload, rng, stop)
    return by_blocks(space, payload, column, rng, stop)


def _landings(
    space: Space,
    best: Payload,
    least: float,
    divided: list[int],
    stalled: bool,
    attempt: int,
    rng: np.random.Generator,
    stop: Callable[[], bool],
) -> Iterator[tuple[Payload, float]]:
    """Candidates that may be better than the best, with their losses: three ways, in turn."""
    if stalled and attempt % 2:
        yield _descend(space, _kicked(space, best, attempt, rng), rng)
    elif divided and (attempt % _TURNS or space.problem.size > _JOINT):
        for column in rng.permutation(divided):
            found = _by_variable(space, best, int(column), attempt, rng)
            loss = least if found is best else _loss(space, found)
            if loss < least:
                best, least = found, loss
            yield found, loss
    else:
        # What a landing leaves outside is often what single records hardly change.
        curved = attempt % 2 == 1 and space.problem.curved and not divided
        near = _nearer(space, best, rng, stop) if curved else best
        if stop():
            return
        yield from _joint(space, near, attempt, rng)


def _loss(space: Space, payload: Payload) -> float:
    """How far figures, estimated anew, are outside their digits; 0 if all print as published."""
    return outside(space.problem.measure(*space.rows(payload)), PRINTS)


def _joint(
    space: Space, payload: Payload, attempt: int, rng: np.random.Generator
) -> Iterator[tuple[Payload, float]]:
    """Candidates in which moves of any variable land all figures at once, with their losses."""
    few = min(400, 100 + 10 * space.problem.size)
    size = few * (8 + min(attempt // (_TURNS if attempt >= _TURNS else 1), 8)) // 8
    moves = space.propose(payload, _PROPOSED * size, rng, rare=True)
    moves, effects, reach, residual = _pool(space, payload, moves, size, attempt % 2 == 1, rng)
    if len(moves) == 0:
        return
    aim = centre(effects, residual)
    chosen = choose(effects, residual - aim, reach, size, rng)
    moves, effects = moves.subset(chosen), effects[chosen]
    reduced = Reduced.of(effects, aim, reach[chosen])
    bent = np.zeros(len(residual))
    for _ in range(_BENT):
        wrong: list[FloatArray] = []
        for times in reduced.solutions(residual + bent, aim, rng):
            found = space.apply(payload, moves, times)
            measured = space.problem.measure(*space.rows(found))
            yield found, outside(measured, PRINTS)
            wrong.append(measured - residual - times @ effects)
            if len(wrong) == _MEASURED and space.problem.curved:
                break
        # What all moves bend together is much the same in all solutions: half of them are made.
        bent = np.median(wrong, axis=0) if wrong else bent
        if not space.problem.curved or not wrong or not np.isfinite(bent).all():
            break


def _divided(space: Space, payload: Payload, rng: np.random.Generator) -> list[int]:
    """Variables that figures rest on, if most moves leave many figures alone; otherwise none."""
    found, changes = [], []
    for column in space.free:
        moves = space.propose(payload, 200, rng, column=int(column))
        if len(moves) == 0:
            continue
        _, effects = effects_of(space, payload, moves)
        if effects.any():
            found.append(int(column))
            single = effects[~_swaps(moves)]
            changes.append((single if len(single) else effects) != 0.0)
    # Figures that nothing changes now, such as a p-value below what is printed, do not count.
    live = np.any([change.any(axis=0) for change in changes], axis=0)
    alone = [1 - float(change[:, live].mean()) for change in changes]
    return found if changes and np.mean(alone) > _ALONE else []


def _swaps(moves: Moves) -> NDArray[np.bool_]:
    return np.asarray(moves.slot_from[:, 1] >= 0)


def _parts(effects: FloatArray, touched: NDArray[np.bool_]) -> IntArray:
    """Give figures that some move changes together the same number; -1 to those not touched."""
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


def _descend(space: Space, payload: Payload, rng: np.random.Generator) -> tuple[Payload, float]:
    """Make the best pair of moves out of many, again and again, while that helps."""
    least = _loss(space, payload)
    for _ in range(_STEPS):
        if least == 0.0:
            break
        moves = neutral(space, payload, space.propose(payload, _PAIRED, rng))
        if len(moves) < 2:
            break
        residual, effects = effects_of(space, payload, moves)
        useful = (effects != 0.0).any(axis=1) & np.isfinite(effects).all(axis=1)
        moves, effects = moves.subset(useful), effects[useful]
        one, two, _ = best_pair(
            effects, moves.slot_from, residual, INSIDE, outside(residual, INSIDE)
        )
        if one < 0:
            break
        times = np.zeros(len(moves), dtype=np.int64)
        times[[one] if two < 0 else [one, two]] = 1
        found = space.apply(payload, moves, times)
        loss = _loss(space, found)
        if loss >= least:
            break
        payload, least = found, loss
    return payload, least


def _kicked(space: Space, payload: Payload, attempt: int, rng: np.random.Generator) -> Payload:
    """Make a few moves at random, to leave what no pair of moves improves."""
    moves = space.propose(payload, 200, rng)
    chosen, stock = np.zeros(len(moves), dtype=np.int64), space.stock(payload)
    neutral, _ = pick_neutral(
        moves.slot_from,
        moves.slot_to,
        moves.row_from,
        moves.row_to,
        moves.cells,
        stock,
        np.zeros(len(stock), dtype=np.bool_),
    )
    chosen[np.flatnonzero(neutral)[: attempt % 6]] = 1
    return space.apply(payload, moves, chosen)


def _by_variable(
    space: Space,
    payload: Payload,
    column: int,
    attempt: int,
    rng: np.random.Generator,
) -> Payload:
    """Land figures by moves of one variable, each set of figures that it changes by itself."""
    size = min(_PROPOSED * 20 * (space.problem.size + 10), 15 * len(space.stock(payload)))
    size = min(MOST_MOVES, max(1000, size))
    moves = space.propose(payload, size, rng, rare=attempt % 4 == 1, column=column)
    if len(moves) == 0:
        return payload
    moves, effects, reach, residual = _pool(space, payload, moves, size, attempt % 4 > 0, rng)
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
        few = min(300, (60 + 12 * int(inside.sum())) * (2 + attempt % 4) // 2)
        mine = effects[np.ix_(own, inside)]
        aim = centre(mine, residual[inside])
        chosen = choose(mine, residual[inside] - aim, reach[own], few, rng)
        solutions = solve(mine[chosen], residual[inside], aim, reach[own[chosen]], rng)
        solved = next(solutions, None)
        if solved is not None:
            times[own[chosen]] = solved
    return space.apply(payload, moves, times) if times.any() else payload


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
        residual, effects = effects_of(space, payload, moves)
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
    residual, effects = effects_of(space, payload, moves)
    useful = np.flatnonzero((effects != 0.0).any(axis=1) & np.isfinite(effects).all(axis=1))
    return moves.subset(useful), effects[useful], reach[useful], residual
