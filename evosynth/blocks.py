"""Many records of a fine quantity: coarse variables first, for what the fine one cannot do.

An outcome in pounds goes where its records are pushed, in small steps, so whatever it can move is
met at once by one Newton step. What it cannot move, such as the ratio of two standard errors or
what the means of groups demand of their covariates, takes exchanges of coarse values between many
records. These are judged by what is left once the outcome has made up for all that it can.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evosynth.approach import disjoint, effects_of, neutral
from evosynth.kernels.lattice import descend
from evosynth.newton import Slopes, around, newton_step
from evosynth.problem import Problem
from evosynth.schema import Codes, IntArray
from evosynth.space import FINEST, ROOM, Moves, Space

_LEAST_RECORDS = 3000
"""Records from which samples vary so little that expansions hold."""
_FINE = 50.0
"""Standard deviation, in steps, of a quantity that goes where it is pushed."""
_ROUNDS = 60
_IDLE = 10
"""Rounds that bring figures no nearer after which it ends."""
_PROPOSED = 2500
"""Exchanges of each coarse variable among which is chosen, twice: at random, and of rare values."""
_REACH = 0.05
"""What the fine quantity may make up for, in its standard deviations."""
_DOUBT = 0.02
"""Part of a figure's distance that its expansion may be wrong by."""
_NEAR, _NEARER, _COARSE = 0.1, 0.98, 2.0
"""Distance, in what samples vary by, that a few moves can go; what a round should change it by; and
how much samples must vary by, in the finest distances that are told apart, for it to matter."""
_SLOW = 20.0
"""Half-widths that samples vary by, of combinations of figures that records hardly change."""
_PASSES = 20
_TRUST, _LEAST_TRUST, _MOST_TRUST = 1.0, 0.1, 8.0
"""Change of any combination of figures in one round, in what samples vary by."""
_SURE, _UNSURE = 0.6, 0.2
"""Share of what a round promised, and kept, that makes the next one longer or shorter."""


def fine_column(space: Space) -> int | None:
    """Find the finest quantity, if there are so many records and it is fine enough."""
    problem = space.problem
    large = problem.curved and space.drawn and problem.schema.records >= _LEAST_RECORDS
    large &= problem.schema.bonds is None
    steps = {c: problem.schema.variables[c].valid / np.sqrt(12) for c in space.stepped.tolist()}
    column = max(steps, key=lambda c: steps[c], default=None)
    return column if large and column is not None and steps[column] >= _FINE else None


def by_blocks(
    space: Space, codes: Codes, column: int, rng: np.random.Generator, stop: Callable[[], bool]
) -> Codes:
    """Exchange coarse values, then move the fine ones, again and again.

    Ends where a few moves can do the rest. Returns the dataset that came nearest to that.
    """
    problem, fine = space.problem, np.array([column])
    best, least, idle, trust = codes, np.inf, 0, _TRUST
    for _ in range(_ROUNDS):
        slopes = around(problem, fine, codes)
        exchanged = _exchanged(space, codes, column, slopes, trust, rng)
        idle = 0 if exchanged.far < _NEARER * least else idle + 1
        if exchanged.far < least:
            best, least = codes, exchanged.far
        if least == 0.0 or idle == _IDLE or stop():
            break
        codes, trust = exchanged.codes, exchanged.trust
        codes = newton_step(around(problem, fine, codes), fine, codes, _DOUBT, rng)
    return best


@dataclass(frozen=True)
class _Exchanged:
    """What came of one round of exchanges."""

    codes: Codes
    trust: float
    """How far to go next time."""
    far: float
    """Distance before, in half-widths, in what single records hardly change; 0 if near."""


def _exchanged(
    space: Space,
    codes: Codes,
    column: int,
    slopes: Slopes,
    trust: float,
    rng: np.random.Generator,
) -> _Exchanged:
    """Make exchanges of coarse values."""
    others = [int(c) for c in space.free if c != column]
    moves = joined([m for c in others for m in _proposed(space, codes, c, rng)])
    moves = neutral(space, codes, moves)
    if len(moves) == 0:
        return _Exchanged(codes, trust, 0.0)
    residual, effects = effects_of(space, codes, moves)
    sound = np.flatnonzero(np.isfinite(effects).all(axis=1))
    moves, effects = moves.subset(sound), effects[sound]
    free = (_REACH * slopes.scale) ** 2 * (slopes.high > slopes.low)
    doubt = np.maximum(FINEST, _DOUBT * np.abs(residual))
    spread = effects.T @ effects * (len(codes) / len(moves))
    made_up = slopes.effects.T @ (slopes.effects * free[:, None])
    values, vectors = np.linalg.eigh(spread + made_up + np.diag(doubt**2))
    whiten = vectors / np.sqrt(np.maximum(values, FINEST**2))
    wanted = (residual - np.clip(residual, -ROOM, ROOM)) @ whiten
    slow = (values > (_COARSE * FINEST) ** 2) & (values < _SLOW**2)
    far = float(np.sqrt((wanted**2 * values)[slow].sum()))
    long = float(np.abs(wanted[slow]).max(initial=0.0))
    if long < _NEAR:
        return _Exchanged(codes, trust, 0.0)
    trust = max(min(trust, long), _LEAST_TRUST)
    wanted = np.clip(wanted, -trust, trust)
    white = effects @ whiten
    order, reach = disjoint(space, codes, moves, np.argsort(white @ wanted))
    times = np.zeros(len(moves), dtype=np.int64)
    rest = wanted.copy()
    times[order] = descend(white[order], reach, rest, _PASSES)
    found = space.apply(codes, moves, times)
    reached = space.problem.measure(*space.rows(found))
    with np.errstate(invalid="ignore"):  # what a dataset does not determine is infinitely far
        before, promised, after = (
            float((((r - np.clip(r, -ROOM, ROOM)) @ whiten[:, slow]) ** 2).sum())
            for r in (residual, residual + times @ effects, reached)
        )
    kept = (before - after) / max(before - promised, 1e-9)
    if kept > _SURE:
        trust = min(2 * trust, _MOST_TRUST)
    elif not kept > _UNSURE:
        trust = max(trust / 2, _LEAST_TRUST)
    return _Exchanged(found, trust, far)


def _proposed(space: Space, codes: Codes, column: int, rng: np.random.Generator) -> list[Moves]:
    """Draw exchanges of a coarse variable between like records, and steps of a quantity."""
    found = [exchanges(space.problem, codes, column, _PROPOSED, rare, rng) for rare in (0, 1)]
    if column in space.stepped:
        found.append(space.propose(codes, 2 * _PROPOSED, rng, column=column))
    return found


def exchanges(
    problem: Problem,
    codes: Codes,
    column: int,
    size: int,
    rare: int,
    rng: np.random.Generator,
) -> Moves:
    """Draw exchanges of a variable between records that its tables do not tell apart otherwise.

    ``rare``: whether every value of it is as likely to be exchanged.
    """
    key = _likeness(problem, codes, column)
    order = np.argsort(key, kind="stable")
    count = np.bincount(key)
    start = np.cumsum(count) - count
    levels = codes[:, column]
    first = rng.integers(0, len(codes), size)
    if rare:
        held = np.bincount(levels)
        running = np.cumsum(1.0 / held[levels])
        first = np.searchsorted(running, rng.random(size) * running[-1])
        first = np.minimum(first, len(codes) - 1)
    second = order[start[key[first]] + (rng.random(size) * count[key[first]]).astype(np.int64)]
    differ = levels[first] != levels[second]
    first, second = first[differ], second[differ]
    n_moves = len(first)
    taken = np.concatenate([codes[first], codes[second]])
    put = taken.copy()
    put[:n_moves, column], put[n_moves:, column] = levels[second], levels[first]
    rows = np.concatenate([taken, put])
    position = np.arange(n_moves)
    row_from = np.stack([position, n_moves + position], axis=1)
    slot_to = np.full((n_moves, 2), -1)
    slots = np.stack([first, second], axis=1)
    return Moves(slots, slot_to, row_from, row_from + 2 * n_moves, rows, problem.cells(rows))


def _likeness(problem: Problem, codes: Codes, column: int) -> IntArray:
    """Give records the same number that tables of a variable tell apart by it alone."""
    tables = [i for i, grid in enumerate(problem.grids) if column in grid.columns]
    plain = codes.copy()
    plain[:, column] = 0
    cells = problem.cells(plain)[:, tables]
    key = np.zeros(len(codes), dtype=np.int64)
    for table in range(len(tables)):
        joint = key * (int(cells[:, table].max()) + 1) + cells[:, table]
        key = np.unique(joint, return_inverse=True)[1].ravel()
    return key


def joined(parts: list[Moves]) -> Moves:
    """Put moves of several kinds together."""
    ends = np.cumsum([0, *(len(part.codes) for part in parts)])

    def rows(of: Callable[[Moves], IntArray]) -> IntArray:
        shifted = [
            np.where(of(part) >= 0, of(part) + end, -1)
            for part, end in zip(parts, ends, strict=False)
        ]
        return np.concatenate(shifted)

    return Moves(
        np.concatenate([part.slot_from for part in parts]),
        np.concatenate([part.slot_to for part in parts]),
        rows(lambda part: part.row_from),
        rows(lambda part: part.row_to),
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.cells for part in parts]),
    )
