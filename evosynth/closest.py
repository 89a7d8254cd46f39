"""Whole numbers of moves that bring figures into their digits: a closest-vector problem.

Lattice reduction makes the nearest plane near enough.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evosynth.approach import INSIDE, outside
from evosynth.kernels.lattice import balance, nearest_plane, reduce_basis
from evosynth.schema import FloatArray, IntArray
from evosynth.space import ROOM

_SCALE = 2.0
_TRIES = 100
_NOISE = 0.2
_CHOICE = 4
_MOST_SWAPS = 400_000
_LEAST_ROOM = 0.15
_REWEIGHTED = 8


def centre(effects: FloatArray, residual: FloatArray) -> FloatArray:
    """Where in their digits the moves can bring the figures: as near to the middle as may be.

    Figures that rest on each other may not all be brought to the middle. What is out of reach is
    spread so that the largest distance is small (reweighted least squares towards a high norm).
    """
    scale = np.maximum(np.sqrt((effects**2).mean(axis=0)), 1e-300)
    _, strength, directions = np.linalg.svd(effects / scale, full_matrices=False)
    kept = directions[strength > 1e-7 * strength.max(initial=1e-300)] * scale
    nearest = residual.copy()
    weight = np.ones(len(residual))
    for _ in range(_REWEIGHTED):
        root = np.sqrt(weight)
        steps = np.linalg.lstsq((kept * root).T, root * residual, rcond=1e-12)[0]
        nearest = residual - steps @ kept
        weight = 0.5 * weight + 0.5 * np.maximum(np.abs(nearest), 1e-3) ** 4
        weight /= weight.max()
    return nearest if (np.abs(nearest) < 1).all() else np.clip(nearest, -ROOM, ROOM)


def choose(
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


def solve(
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
