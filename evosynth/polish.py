"""The last step: whole-number moves that land every smooth figure inside its printed digit.

Moves that leave all tables alone change the residual by known amounts, so "every figure prints as
published" is a closest-vector problem: whole numbers z within each move's reach such that
residual + z · effects lies in the box. Lattice reduction makes the nearest plane near enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from evosynth.kernels.cells import sum_rows
from evosynth.kernels.lattice import balance, descend, nearest_plane, reduce_basis
from evosynth.kernels.moves import best_pair, neutral_moves, pick_neutral
from evosynth.newton import newton
from evosynth.schema import FloatArray, IntArray
from evosynth.space import FINEST, ROOM, TRUST, Moves, Payload, Space
from evosynth.steer import steerable

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
_REWEIGHTED = 8
_FEW_RECORDS = 1000
"""Records up to which pairs of moves are tried exhaustively."""
_PAIRED = 800
_STEPS = 40
_NEWTON = 10
_APPROACHES = 80
_APPROACHED = 5
"""Moves, of each record, among which those of an approach are sought."""
_AT_RANDOM = 0.5
"""Share of them that are taken as they come, not those first that pull most."""
_FARTHER = 2.0
"""How much farther off, in its own units, a step may lead before it is taken back."""
_NO_NEARER = 12
"""Steps of an approach that bring figures no nearer after which it ends."""
_PASSES = 20
_HOPELESS = 8
"""Rounds without success after which a candidate is left."""
_ALONE = 1 / 3
"""Share of figures that a usual move leaves alone from which variables are polished in turn."""
_CLOSE, _PERSISTENCE = 3.0, 4
"""Distance, by `outside`, from which no round is the last, up to so many times as many."""
_TURNS = 8
"""Rounds by variable for each round of all variables at once."""


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
        payload = _approach(space, best, rng, stop)
        loss = _loss(space, payload)
        if loss < least:
            best, least = payload, loss
    divided = _divided(space, best, rng)
    few = space.problem.schema.records <= _FEW_RECORDS
    stalled = 0
    last = rounds * (_TURNS if divided else 1)
    for attempt in range(_PERSISTENCE * last):
        if attempt >= last and least > _CLOSE:
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
    return best


def _approach(
    space: Space, payload: Payload, rng: np.random.Generator, stop: Callable[[], bool]
) -> Payload:
    """Make many moves at once, as long as that brings figures nearer.

    What single records hardly change, such as a standard error given all others, takes many
    moves that pull together: distances count in units of what such moves can do.
    """
    least, idle, part = np.inf, 0, 1.0
    found = before = payload
    promised: FloatArray | None = None
    whiten, distance = np.empty((0, 0)), np.inf
    both = not space.drawn
    for _ in range(_APPROACHES):
        size = min(_MOST_MOVES, _APPROACHED * len(space.stock(payload)))
        moves = _neutral(space, payload, space.propose(payload, size, rng))
        if len(moves) == 0:
            break
        residual, effects = _effects(space, payload, moves)
        off = outside(residual, INSIDE)
        idle = 0 if off < least else idle + 1
        if off < least:
            found, least = payload, off
        if least == 0.0 or idle == _NO_NEARER or stop():
            break
        left = residual - np.clip(residual, -ROOM, ROOM)
        if promised is not None and ((left @ whiten) ** 2).sum() > _FARTHER * distance:
            payload, promised, part = before, None, part / 4
            continue
        sound = np.flatnonzero(np.isfinite(effects).all(axis=1))
        moves, effects = moves.subset(sound), effects[sound]
        wrong = TRUST * np.abs(residual) if promised is None else np.abs(residual - promised)
        doubt = np.maximum(FINEST, wrong)
        values, vectors = np.linalg.eigh(effects.T @ effects + np.diag(doubt**2))
        whiten = vectors / np.sqrt(np.maximum(values, FINEST**2))
        rest = left @ whiten
        distance = float(rest @ rest)
        rest *= part
        part = min(1.0, 2 * part)
        white = effects @ whiten
        pull = -(white @ rest)
        if len(space.stock(payload)) < len(pull):
            pull[rng.random(len(pull)) < _AT_RANDOM] *= 1e-9
        first = np.argsort(-np.abs(pull) if both else -pull)
        order, reach = _disjoint(space, payload, moves, first)
        times = np.zeros(len(moves), dtype=np.int64)
        times[order] = descend(white[order], reach, rest, _PASSES)
        promised = residual + times @ effects
        before, payload = payload, space.apply(payload, moves, times)
    return found


def _disjoint(
    space: Space, payload: Payload, moves: Moves, order: IntArray
) -> tuple[IntArray, FloatArray]:
    """Choose moves on disjoint records, the first in order first; and the reach of each."""
    stock = space.stock(payload)
    ordered = moves.subset(order)
    chosen, reach = pick_neutral(
        ordered.slot_from,
        ordered.slot_to,
        ordered.row_from,
        ordered.row_to,
        ordered.cells,
        stock,
        np.zeros(len(stock), dtype=np.bool_),
    )
    return order[chosen], reach[chosen]


def _nearer(
    space: Space, payload: Payload, rng: np.random.Generator, stop: Callable[[], bool]
) -> Payload:
    """Approach by Newton steps where values are few enough, and by many moves otherwise."""
    if space.drawn and steerable(space.problem, space.stepped):
        found = newton(space.problem, space.stepped, payload, rng, stop, most=_NEWTON)
        if found is not payload:
            return found
    return _approach(space, payload, rng, stop)


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
        for found in _joint(space, near, attempt, rng):
            yield found, _loss(space, found)


def _loss(space: Space, payload: Payload) -> float:
    """How far figures, estimated anew, are outside their digits; 0 if all print as published."""
    return outside(space.problem.measure(*space.rows(payload)), PRINTS)


def outside(residual: FloatArray, room: float) -> float:
    """Sum the roots of distances, so that landing a figure counts for more than nearing others."""
    return float(np.sqrt(np.maximum(np.abs(residual) - room, 0.0)).sum())


def _joint(
    space: Space, payload: Payload, attempt: int, rng: np.random.Generator
) -> Iterator[Payload]:
    """Candidates in which moves of any variable land all figures at once."""
    few = min(400, 100 + 10 * space.problem.size)
    size = few * (8 + min(attempt // (_TURNS if attempt >= _TURNS else 1), 8)) // 8
    moves = space.propose(payload, _PROPOSED * size, rng, rare=True)
    moves, effects, reach, residual = _pool(space, payload, moves, size, attempt % 2 == 1, rng)
    if len(moves) == 0:
        return
    aim = _centre(effects, residual)
    chosen = _choose(effects, residual - aim, reach, size, rng)
    moves = moves.subset(chosen)
    for times in _solve(effects[chosen], residual, aim, reach[chosen], rng):
        yield space.apply(payload, moves, times)


def _divided(space: Space, payload: Payload, rng: np.random.Generator) -> list[int]:
    """Variables that figures rest on, if most moves leave many figures alone; otherwise none."""
    found, changes = [], []
    for column in space.free:
        moves = space.propose(payload, 200, rng, column=int(column))
        if len(moves) == 0:
            continue
        _, effects = _effects(space, payload, moves)
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
        moves = _neutral(space, payload, space.propose(payload, _PAIRED, rng))
        if len(moves) < 2:
            break
        residual, effects = _effects(space, payload, moves)
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


def _neutral(space: Space, payload: Payload, moves: Moves) -> Moves:
    """Keep the moves that leave every table alone, each by itself."""
    stock = space.stock(payload)
    kept = neutral_moves(moves.slot_from, moves.row_from, moves.row_to, moves.cells, stock)
    return moves.subset(kept)


def _by_variable(
    space: Space,
    payload: Payload,
    column: int,
    attempt: int,
    rng: np.random.Generator,
) -> Payload:
    """Land figures by moves of one variable, each set of figures that it changes by itself."""
    size = min(_PROPOSED * 20 * (space.problem.size + 10), 15 * len(space.stock(payload)))
    size = min(_MOST_MOVES, max(1000, size))
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
        aim = _centre(mine, residual[inside])
        chosen = _choose(mine, residual[inside] - aim, reach[own], few, rng)
        solutions = _solve(mine[chosen], residual[inside], aim, reach[own[chosen]], rng)
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


def _centre(effects: FloatArray, residual: FloatArray) -> FloatArray:
    """Where in their digits the moves can bring the figures: as near to the middle as may be.

    Figures that rest on each other may not all be brought to the middle. What is out of reach is
    spread so that the largest distance is small (reweighted least squares towards a high norm).
    """
    scale = np.maximum(np.sqrt((effects**2).mean(axis=0)), 1e-300)
    _, strength, directions = np.linalg.svd(effects / scale, full_matrices=False)
    kept = directions[strength > 1e-7 * strength.max(initial=1e-300)] * scale
    centre = residual.copy()
    weight = np.ones(len(residual))
    for _ in range(_REWEIGHTED):
        root = np.sqrt(weight)
        steps = np.linalg.lstsq((kept * root).T, root * residual, rcond=1e-12)[0]
        centre = residual - steps @ kept
        weight = 0.5 * weight + 0.5 * np.maximum(np.abs(centre), 1e-3) ** 4
        weight /= weight.max()
    return centre if (np.abs(centre) < 1).all() else np.clip(centre, -ROOM, ROOM)


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

    The reduction is made once; noise on the target then gives many different solutions. If none
    is found, what comes nearest is offered in the end.
    """
    order = np.argsort((effects**2).sum(axis=1))
    effects, low, high = effects[order], -reach[order, 0], reach[order, 1]
    n_moves = len(effects)
    middle, half = (low + high) / 2, (high - low) / 2
    room = np.maximum(1 - np.abs(aim), _LEAST_ROOM)
    basis = np.hstack([np.diag(1 / half), _SCALE * effects / room])
    star, norm = reduce_basis(basis, _MOST_SWAPS)
    nearest, least = None, outside(residual, INSIDE)
    solved = False
    for attempt in range(_TRIES):
        noise = rng.normal(0.0, _NOISE, n_moves) if attempt else 0.0
        target = np.concatenate([middle / half + noise, -_SCALE * (residual - aim) / room])
        times = np.rint(nearest_plane(basis, star, norm, target)[:n_moves] * half)
        within = np.clip(times, low, high)
        loss = outside(residual + within @ effects, INSIDE)
        if loss == 0.0:
            solved = True
            yield _back(within, order)
        elif loss < least:
            nearest, least = within, loss
    if nearest is not None and not solved:
        yield _back(nearest, order)


def _back(times: FloatArray, order: IntArray) -> IntArray:
    found = np.empty(len(times), dtype=np.int64)
    found[order] = times.astype(np.int64)
    return found
