"""The end game: from one near miss to the next, until one of them prints as published.

Where records are few, or values are whole numbers, the figures around a dataset are a lattice that
no choice of moves makes finer: none of its points may lie in all digits. Figures are curved, so the
lattice differs around every other near miss, and there are many of these close by. Each is looked
at in turn, the nearer ones first, and none twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evosynth.approach import INSIDE, PRINTS, disjoint, effects_of, outside
from evosynth.bands import Bands
from evosynth.closest import Reduced, centre, choose
from evosynth.kernels.lattice import near_planes
from evosynth.recount import Recount
from evosynth.schema import FloatArray, IntArray
from evosynth.space import Moves, Payload, Space

_FEWEST, _EACH, _MOST = 60, 10, 400
"""Moves: some for each direction in which figures move."""
_PROPOSED, _KEPT = 18, 4
_SPREADS = 0.5, 1.0, 2.0, 4.0, 8.0
"""Half-widths that points may lie from where figures should be."""
_NOISE, _JITTER = 0.2, 0.5
_COARSE = 3.0
"""Distance of planes, from which some other than the nearest are looked at, too."""
_SCALE = 2.0
_TRIES, _MEASURED = 200, 12
"""Points of a lattice that are looked for, and how many of them are estimated anew."""
_HEAT = 0.5
"""By how much more a near miss may be missed, in roots of half-widths, to be the next."""
_BAND = 4.0
"""The same, beside the best, for it to be looked at."""
_PATIENCE = 3
"""Rounds that lead nowhere after which the best is where to go on."""


def wander(
    space: Space,
    payload: Payload,
    rng: np.random.Generator,
    rounds: int,
    stop: Callable[[], bool] = lambda: False,
) -> Payload:
    """Go from near miss to near miss by moves that keep to tables; return the best seen."""
    bands = Bands.of(space.problem)
    best, least = payload, outside(bands.measure(*space.rows(payload)), PRINTS)
    here, idle = payload, 0
    recount, moving = Recount.of(space, bands), Moving(space, bands)
    seen: set[bytes] = set()
    for attempt in range(rounds):
        if least == 0.0 or stop():
            break
        near = moving.near(here, attempt, rng) if recount is None else recount.near(here, rng)
        following, nearest = None, least + _BAND
        for found in near:
            measured = bands.measure(*space.rows(found))
            loss, key = outside(measured, PRINTS), np.round(measured, 3).tobytes()
            if loss < least:
                best, least = found, loss
            if least == 0.0:
                return best
            warm = loss + _HEAT * rng.exponential()
            if key not in seen and loss < least + _BAND and warm < nearest:
                following, nearest, chosen = found, warm, key
        if following is None:
            idle += 1
            here = best if idle == _PATIENCE else here
        else:
            here, idle = following, 0
            seen.add(chosen)
    return best


@dataclass
class Moving:
    """Near misses by moves on disjoint records."""

    space: Space
    bands: Bands
    rank: int | None = None
    """Directions in which the figures moved the last time."""

    def near(self, payload: Payload, attempt: int, rng: np.random.Generator) -> list[Payload]:
        """Find datasets whose figures should be near their digits, the nearest first."""
        rank = self.space.problem.size if self.rank is None else self.rank
        size = min(_MOST, max(_FEWEST, _EACH * rank))
        moves, effects, reach, residual = _fine(
            self.space, self.bands, payload, size, attempt % 2 == 1, rng
        )
        if len(moves) == 0:
            return []
        scale = np.maximum(np.sqrt((effects**2).mean(axis=0)), 1e-300)
        finest = 1e-6 * np.sqrt(len(effects))
        self.rank = int(np.linalg.matrix_rank(effects / scale, tol=finest))
        found = _points(moves, effects, reach, residual, size, rng)
        return [self.space.apply(payload, moves, times) for times in found]


def _fine(
    space: Space, bands: Bands, payload: Payload, size: int, evenly: bool, rng: np.random.Generator
) -> tuple[Moves, FloatArray, FloatArray, FloatArray]:
    """Take moves on disjoint records, those first of which enough just cover the way that is left.

    ``evenly``: as many of each variable, as those of coarse ones alone move some figures. Returns
    them with their effects, the reach of each, and the residual.
    """
    moves = space.propose(payload, _PROPOSED * size, rng, rare=evenly)
    residual, effects = effects_of(space, payload, moves)
    residual = np.append(residual, bands.residual(*space.rows(payload)))
    effects = np.hstack([effects, bands.effects(moves)])
    moves = bands.freed(moves)
    sound = np.flatnonzero((effects != 0.0).any(axis=1) & np.isfinite(effects).all(axis=1))
    needed = 2 * (np.abs(residual) + 3) / np.sqrt(min(size, len(space.stock(payload))))
    extent = np.sqrt(((effects[sound] / needed) ** 2).mean(axis=1))
    unfit = np.abs(np.log(np.maximum(extent, 1e-9))) + rng.exponential(0.3, len(sound))
    order = np.argsort(unfit)
    if evenly:
        order = order[np.argsort(_times(_variable(moves, sound[order])), kind="stable")]
    kept, reach = disjoint(space, payload, moves, sound[order])
    kept, reach = kept[: _KEPT * size], reach[: _KEPT * size]
    return moves.subset(kept), effects[kept], reach, residual


def _variable(moves: Moves, some: IntArray) -> IntArray:
    """Return the first variable that each of some moves changes."""
    before, after = moves.codes[moves.row_from[some, 0]], moves.codes[moves.row_to[some, 0]]
    return np.asarray((before != after).argmax(axis=1))


def _times(labels: IntArray) -> IntArray:
    """How often each label occurred before."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    found = np.empty(len(labels), dtype=np.int64)
    found[order] = np.arange(len(labels)) - np.repeat(starts, np.diff(starts, append=len(labels)))
    return found


def _points(
    moves: Moves,
    effects: FloatArray,
    reach: FloatArray,
    residual: FloatArray,
    size: int,
    rng: np.random.Generator,
) -> list[IntArray]:
    """How often to make each move to get to different points of the lattice, the nearest first."""
    aim = centre(effects, residual)
    some = choose(effects, residual - aim, reach, size, rng)
    reduced = Reduced.of(effects[some], aim, reach[some])
    n_moves = len(some)
    middle, half = (reduced.low + reduced.high) / 2, (reduced.high - reduced.low) / 2
    noise = rng.normal(0.0, _NOISE, (_TRIES, n_moves))
    away = rng.normal(size=(_TRIES, n_moves)) @ reduced.effects
    away *= (rng.choice(_SPREADS, _TRIES) / np.abs(away).max(axis=1).clip(min=1e-300))[:, None]
    noise[0], away[0], away[_TRIES // 2 :] = 0.0, 0.0, 0.0
    target = -_SCALE * (residual - aim + away) / reduced.room
    targets = np.hstack([middle / half + noise, target])
    shape = reduced.basis, reduced.star, reduced.norm
    # Figures hang on few of the planes, those far apart: the nearest of these may not be the one.
    jitter = rng.normal(0.0, _JITTER, (_TRIES, n_moves)) * (np.sqrt(reduced.norm) > _COARSE)
    jitter[: _TRIES // 2] = 0.0
    near = near_planes(*shape, targets, jitter)
    within = np.clip(np.rint(near[:, :n_moves] * half), reduced.low, reduced.high)
    told = residual + within @ reduced.effects
    first = np.unique(np.round(told, 3), axis=0, return_index=True)[1]
    cost = np.sqrt(np.maximum(np.abs(told[first]) - INSIDE, 0.0)).sum(axis=1)
    found = []
    for one in first[np.argsort(cost, kind="stable")][:_MEASURED]:
        times = np.zeros(len(moves), dtype=np.int64)
        times[some[reduced.order]] = within[one].astype(np.int64)
        found.append(times)
    return found
