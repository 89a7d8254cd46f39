"""Whole numbers of moves that bring figures into their digits: a closest-vector problem.

Lattice reduction makes the nearest plane near enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Reduced:
    """Moves whose lattice is reduced, for any number of targets."""

    order: IntArray
    effects: FloatArray
    low: FloatArray
    high: FloatArray
    room: FloatArray
    basis: FloatArray
    star: FloatArray
    norm: FloatArray

    @classmethod
    def of(cls, effects: FloatArray, aim: FloatArray, reach: FloatArray) -> Reduced:
        """Reduce the lattice of moves, given where in their digits figures are to land."""
        order = np.argsort((effects**2).sum(axis=1))
        effects, low, high = effects[order], -reach[order, 0], reach[order, 1]
        room = np.maximum(1 - np.abs(aim), _LEAST_ROOM)
        basis = np.hstack([np.diag(2 / (high - low)), _SCALE * effects / room])
        star, norm = reduce_basis(basis, _MOST_SWAPS)
        return cls(order, effects, low, high, room, basis, star, norm)

    def solutions(
        self, residual: FloatArray, aim: FloatArray, rng: np.random.Generator
    ) -> Iterator[IntArray]:
        """Whole numbers of times to make each move, within reach, that land the figures.

        Noise on the target gives many different ones. If none is found, what comes nearest is
        offered in the end.
        """
        n_moves = len(self.effects)
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        nearest, least = None, outside(residual, INSIDE)
        solved = False
        for attempt in range(_TRIES):
            noise = rng.normal(0.0, _NOISE, n_moves) if attempt else 0.0
            off = -_SCALE * (residual - aim) / self.room
            target = np.concatenate([middle / half + noise, off])
            near = nearest_plane(self.basis, self.star, self.norm, target)
            within = np.clip(np.rint(near[:n_moves] * half), self.low, self.high)
            loss = outside(residual + within @ self.effects, INSIDE)
            if loss == 0.0:
                solved = True
                yield self._back(within)
            elif loss < least:
                nearest, least = within, loss
        if nearest is not None and not solved:
            yield self._back(nearest)

    def _back(self, times: FloatArray) -> IntArray:
        found = np.empty(len(times), dtype=np.int64)
        found[self.order] = times.astype(np.int64)
        return found


def solve(
    effects: FloatArray,
    residual: FloatArray,
    aim: FloatArray,
    reach: FloatArray,
    rng: np.random.Generator,
) -> Iterator[IntArray]:
    """Whole numbers of times to make each move, within reach, that bring the figures into the box.

    The reduction is made once; see `Reduced.solutions`.
    """
    return Reduced.of(effects, aim, reach).solutions(residual, aim, rng)
