"""Brings figures that are far off near their digits, by many moves at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evosynth.kernels.cells import sum_rows
from evosynth.kernels.lattice import descend
from evosynth.kernels.moves import neutral_moves, pick_neutral
from evosynth.schema import FloatArray, IntArray
from evosynth.space import FINEST, ROOM, TRUST, Moves, Payload, Space

INSIDE = 0.93
"""How far from its target, in half-widths, the expansion may leave a figure."""
PRINTS = 0.999
"""Distance in half-widths below which a figure, estimated anew, prints as published."""
MOST_MOVES = 60_000
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


def outside(residual: FloatArray, room: float) -> float:
    """Sum the roots of distances, so that landing a figure counts for more than nearing others."""
    return float(np.sqrt(np.maximum(np.abs(residual) - room, 0.0)).sum())


def effects_of(space: Space, payload: Payload, moves: Moves) -> tuple[FloatArray, FloatArray]:
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


def neutral(space: Space, payload: Payload, moves: Moves) -> Moves:
    """Keep the moves that leave every table alone, each by itself."""
    stock = space.stock(payload)
    kept = neutral_moves(moves.slot_from, moves.row_from, moves.row_to, moves.cells, stock)
    return moves.subset(kept)


def disjoint(
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


def approach(
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
        size = min(MOST_MOVES, _APPROACHED * len(space.stock(payload)))
        moves = neutral(space, payload, space.propose(payload, size, rng))
        if len(moves) == 0:
            break
        residual, effects = effects_of(space, payload, moves)
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
        order, reach = disjoint(space, payload, moves, first)
        times = np.zeros(len(moves), dtype=np.int64)
        times[order] = descend(white[order], reach, rest, _PASSES)
        promised = residual + times @ effects
        before, payload = payload, space.apply(payload, moves, times)
    return found
