"""Weights of rows as real numbers, brought into the printed digits of every figure.

Tables are linear in the weights and kept as such. The other figures are met by Newton's method
with re-expansion: of all changes of the weights that do the same, the one that is least beside what
samples vary by. What takes large changes is approached in several steps, the rest at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from evosynth.kernels.cells import count_weights, sum_rows
from evosynth.problem import CellArray, Problem
from evosynth.schema import Codes, FloatArray, IntArray

AIM = 0.5
"""Part of a printed digit, from its middle, that real weights aim into."""
_REACHED = 0.1
"""How far beyond it they may end."""
_NEAR = 30.0
"""Distance, in half-widths, below which figures are estimated anew."""
_DOUBT, _LEAST_DOUBT = 0.1, 0.1
"""Part of a figure's distance, and half-widths, that its expansion may be wrong by."""
_USUAL, _DOWN, _UP = 0.3, 0.7, 3.0
"""Largest change in one step, as a share: of a usual weight, of any downwards and upwards."""
_CUT = 0.0025
"""Part of a step, squared, that these limits may cut off single rows."""
_BOUND = 4
"""Times that rows are held at these limits and others make up for it."""
_MODEST = 1.0
_WORTHWHILE = 0.1
"""Change of a usual weight from which a step within all limits is long enough."""
_MUCH_HARDER = 10.0
_WORSE, _BETTER = 1.05, 0.95
"""What a step may and should change distances by."""
_ENOUGH = 0.9
"""Distance, in half-widths, within which steps that hardly help are not made."""
_LEAST_TRUST = 1e-3
_RIDGE, _HARDER, _HARDEST = 1e-2, 3.0, 1e12
_SHORT = 1e-6
"""What tables may lack."""
_SINGULAR = 1e-10


@dataclass(frozen=True)
class Relaxed:
    """Rows with real weights, some of which are free to change."""

    problem: Problem
    codes: Codes
    cells: CellArray
    weights: FloatArray
    free: IntArray
    part: IntArray
    """Number of the part that each row belongs to."""
    sizes: FloatArray
    """Records of each part; none while they are open."""

    @property
    def own(self) -> FloatArray:
        """Weights of the free rows."""
        return np.asarray(self.weights[self.free])

    def weighing(self, own: FloatArray) -> Relaxed:
        """Return the same with other weights of the free rows."""
        weights = self.weights.copy()
        weights[self.free] = own
        return replace(self, weights=weights)

    def ties(self) -> tuple[FloatArray, FloatArray]:
        """Demands of fixed cells, and of the number of records, on the free rows.

        Shape (free rows, demands) and (demands).
        """
        problem = self.problem
        fixed = np.zeros(len(problem.low), dtype=np.bool_)
        for table in problem.binding:
            here = problem.slice(int(table))
            fixed[here] = problem.low[here] == problem.high[here]
        held = np.zeros((len(self.free), len(problem.low)))
        held[np.arange(len(self.free))[:, None], self.cells[self.free]] = 1.0
        rest = self.weights.copy()
        rest[self.free] = 0.0
        kept = count_weights(self.cells, rest, len(problem.low))
        if len(self.sizes):
            left = self.sizes - np.bincount(self.part, rest, len(self.sizes))
            parts = np.eye(len(self.sizes))[self.part[self.free]]
        else:
            left = np.array([problem.schema.records - rest.sum()])
            parts = np.ones((len(self.free), 1))
        goals = np.append(left, problem.low[fixed] - kept[fixed])
        return np.hstack([parts, held[:, fixed]]), np.rint(goals)

    def bands(self) -> tuple[FloatArray, FloatArray]:
        """Cells that may be anything within narrow bounds, as figures: influence and residual."""
        problem = self.problem
        found = count_weights(self.cells, self.weights, len(problem.low))
        wide = 5 * np.sqrt(found + 1)
        open_ = problem.low < problem.high
        slack = (found - wide > problem.low) & (found + wide < problem.high)
        kept = np.flatnonzero(open_ & ~slack)
        half = (problem.high[kept] - problem.low[kept] + 1) / 2
        middle = (problem.high[kept] + problem.low[kept]) / 2
        held = np.zeros((len(self.free), len(problem.low)))
        held[np.arange(len(self.free))[:, None], self.cells[self.free]] = 1.0
        return held[:, kept] / half, (found[kept] - middle) / half

    def figures(self) -> tuple[FloatArray, FloatArray]:
        """Influence of the free rows on the figures, and the residual, in half-widths."""
        held = self.weights > 0
        codes, weights = self.codes[held], self.weights[held]
        expansion = self.problem.expand(codes, weights)
        influence = expansion.influence(codes)
        residual = expansion.offset + sum_rows(influence, weights)
        if np.abs(residual).max(initial=0.0) < _NEAR:
            measured = self.problem.measure(codes, weights)  # type: ignore[arg-type]
            residual = np.where(np.isfinite(measured), measured, residual)
        position = np.cumsum(held) - 1
        band, off = self.bands()
        return np.hstack([influence[position[self.free]], band]), np.append(residual, off)


def sharpen(
    relaxed: Relaxed,
    steps: int,
    stop: Callable[[], bool],
    ties: FloatArray | None = None,
    goals: FloatArray | None = None,
) -> tuple[Relaxed, FloatArray, FloatArray]:
    """Bring the figures into their digits; return influence and residual of the outcome, too.

    ``ties``, ``goals``: what else the free rows must sum to.
    """
    sums, goal = relaxed.ties()
    if ties is not None and goals is not None:
        sums, goal = np.hstack([sums, ties]), np.append(goal, goals)
    size = np.maximum(np.abs(sums).max(axis=0, initial=0.0), 1e-300)
    sums, goal = sums / size, goal / size
    trust = _USUAL
    influence, residual = relaxed.figures()
    far = _far(residual)
    for _ in range(steps):
        own = relaxed.own
        short = goal - own @ sums
        reached = (np.abs(residual) < AIM + _REACHED).all() and np.abs(short).max() < _SHORT
        if reached or trust < _LEAST_TRUST or stop():
            break
        share = _step(own, sums, short, influence, residual, trust)
        moved = relaxed.weighing(own * (1 + share))
        found = moved.figures()
        reach = _far(found[1])
        if reach < _WORSE * far or np.abs(short).max() > _SHORT:
            idle = reach > _BETTER * far and np.abs(found[1]).max() < _ENOUGH
            relaxed, (influence, residual), far = moved, found, reach
            if idle and np.abs(short).max() < _SHORT:
                break
            trust = min(_USUAL, 2 * trust)
        else:
            trust /= 4
    return relaxed, influence, residual


def _far(residual: FloatArray) -> float:
    """Sum of the roots of distances from what is aimed into."""
    return float(np.sqrt(np.maximum(np.abs(residual) - AIM, 0.0)).sum())


def _step(
    own: FloatArray,
    sums: FloatArray,
    short: FloatArray,
    influence: FloatArray,
    residual: FloatArray,
    trust: float,
) -> FloatArray:
    """Change of each weight, as a share of it; of a usual one no more than ``trust``."""
    share, ridge = _least(
        own,
        sums,
        short,
        influence,
        np.clip(residual, -AIM, AIM) - residual,
        residual,
        trust,
        _RIDGE,
        inside=True,
    )
    if ridge <= _MODEST or own @ share**2 >= _WORTHWHILE**2 * own.sum():
        return np.clip(share, -_DOWN, _UP)
    # A few rows stand in the way: they go as far as they may.
    bound = np.zeros(len(own), dtype=np.bool_)
    ridge = _RIDGE
    while True:
        for _ in range(_BOUND):
            here = ~bound
            kept = own * share * bound
            gap = np.clip(residual, -AIM, AIM) - residual - kept @ influence
            lacks = short - kept @ sums
            moved, ridge = _least(
                own[here], sums[here], lacks, influence[here], gap, residual, trust, ridge
            )
            share[here] = moved
            bounded = np.clip(share, -_DOWN, _UP)
            cut = own @ (share - bounded) ** 2
            if cut <= _CUT * (own @ share**2):
                return np.asarray(bounded)
            bound |= share != bounded
            share = bounded
        if ridge > _HARDEST:
            return share
        bound[:] = False
        ridge *= _MUCH_HARDER


def _least(
    own: FloatArray,
    sums: FloatArray,
    short: FloatArray,
    influence: FloatArray,
    gap: FloatArray,
    residual: FloatArray,
    trust: float,
    ridge: float,
    inside: bool = False,
) -> tuple[FloatArray, float]:
    """Least change of all that do the same, as shares of the weights; and the ridge it takes.

    ``inside``: no share may be beyond its limits.
    """
    root = np.sqrt(own)[:, None]
    sums, influence = sums * root, influence * root
    values, vectors = np.linalg.eigh(sums.T @ sums)
    kept = values > _SINGULAR * values[-1]
    basis = sums @ (vectors[:, kept] / np.sqrt(values[kept]))
    mending = basis @ ((short @ vectors[:, kept]) / np.sqrt(values[kept]))
    gap = gap - mending @ influence
    influence = influence - basis @ (basis.T @ influence)
    doubt = np.maximum(_LEAST_DOUBT, _DOUBT * np.abs(residual))
    influence = influence / doubt
    values, vectors = np.linalg.eigh(influence.T @ influence)
    values = np.maximum(values, 0.0)
    wanted = (gap / doubt) @ vectors
    while True:
        part = wanted / (values + ridge)
        usual = np.sqrt(part**2 @ values / own.sum())
        if usual <= trust or ridge > _HARDEST:
            share = (influence @ (vectors @ part) + mending) / root[:, 0]
            fits = not inside or (share.min() > -_DOWN and share.max() < _UP)
            if fits or ridge > _HARDEST:
                return np.asarray(share), ridge
        ridge *= _HARDER
