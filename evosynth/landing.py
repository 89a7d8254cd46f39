"""From real weights to whole counts that print as published: a closest-vector problem.

Counts that leave the fixed cells of tables alone form a lattice. Each of its vectors moves the
figures by known amounts, so counts near the weights whose figures are in their digits are a lattice
vector near a target. Some whole-number combinations of counts are all but decided by the figures;
rounded one by one they leave figures far off, so they are fixed first, the weights of all else are
brought back into the digits, and the rest is rounded then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosynth.approach import INSIDE, PRINTS, outside
from evosynth.counts_lattice import MOST_SWAPS, Lattice
from evosynth.kernels.lattice import near_planes, reduce_basis
from evosynth.parts import FEW_RECORDS, parted, parts, sampled, thinned
from evosynth.problem import CellArray, Problem
from evosynth.relaxed import AIM, Relaxed, sharpen
from evosynth.schema import Codes, FloatArray, IntArray
from evosynth.start import Source

_SCALE = 2.0
"""What a half-width counts beside the usual change of a count."""
_TRIES = 200
_NOISE = 0.3
"""On the target, in usual changes of counts."""
_JITTER = 0.4
"""On what is rounded and coarse, in steps."""
_NEGATIVE = 3.0
"""What a count below 0 costs, in roots of half-widths."""
_MEASURED = 8
"""Of all tries, how many are estimated anew."""
_COARSE = (8.0, 4.0, 2.0, 2.0, 2.0)
"""Size of a step, in half-widths, from which it is fixed, dive by dive."""
_CHOICES = 3
"""Ways to fix what is coarse before a dive is given up."""
_FIRST_STEPS, _STEPS = 40, 12
_SHAPES = (8.0, 40.0)
"""Of the noise on weights at the start, either: the smaller, the more."""
NEAR = 100.0
"""Distance, in half-widths, from which weights are too far off for parts to be settled."""
_MANY = 2000
"""Rows that are free at first."""
_MOST_CELLS, _MOST_FIGURES = 400, 200
"""Cells and figures up to which it is tried."""
_MANY_RECORDS = 6000
"""Records up to which it is tried where types are too many to enumerate: in more, moves do as well,
and sooner."""
_FEWEST, _EACH, _MOST = 120, 6, 330
"""Free rows in the end: some, and some for each figure, but not more than can be reduced."""


def suits(source: Source) -> bool:
    """Whether landing is worth trying."""
    problem = source.space.problem
    quantities = any(not variable.categorical for variable in problem.schema.variables)
    return (
        problem.curved
        and source.calibrated
        and len(problem.low) <= _MOST_CELLS
        and problem.size <= _MOST_FIGURES
        and not (quantities and problem.schema.records < FEW_RECORDS)
        and not (source.space.drawn and problem.schema.records > _MANY_RECORDS)
    )


def reach(source: Source, rng: np.random.Generator, stop: Callable[[], bool]) -> float:
    """Sharpen a start distribution, and tell how far off, in half-widths, that ends."""
    problem = source.space.problem
    part = parts(problem, source.codes)
    free = np.flatnonzero(source.weights > 0)
    shape = problem, source.codes, source.cells
    relaxed = sampled(Relaxed(*shape, source.weights, free, part, np.empty(0)), _MANY, rng)
    try:
        off = np.abs(sharpen(relaxed, _FIRST_STEPS, stop)[2]).max(initial=0.0)
    except np.linalg.LinAlgError:
        return np.inf
    return float(off) if np.isfinite(off) else np.inf


@dataclass(frozen=True)
class Landing:
    """Weights whose figures are in their digits, and what it takes to round them."""

    problem: Problem
    codes: Codes
    cells: CellArray
    weights: FloatArray
    groups: NDArray[Any]
    part: IntArray

    @classmethod
    def of(cls, source: Source) -> Landing:
        """Start from a distribution within `NEAR`."""
        part = parts(source.space.problem, source.codes)
        shape = source.space.problem, source.codes, source.cells
        return cls(*shape, source.weights, source.groups, part)

    def draw(
        self, rng: np.random.Generator, stop: Callable[[], bool]
    ) -> tuple[IntArray, float] | None:
        """Find whole counts near the weights, and how far they are outside their digits (roots)."""
        try:
            return self._draw(rng, stop)
        except np.linalg.LinAlgError:
            return None

    def _draw(
        self, rng: np.random.Generator, stop: Callable[[], bool]
    ) -> tuple[IntArray, float] | None:
        problem = self.problem
        shape = float(rng.choice(_SHAPES))
        noisy = self.weights * rng.gamma(shape, 1 / shape, len(self.weights))
        free = np.flatnonzero(noisy > 0)
        relaxed = Relaxed(problem, self.codes, self.cells, noisy, free, self.part, np.empty(0))
        relaxed, _, off = sharpen(sampled(relaxed, _MANY, rng), _FIRST_STEPS, stop)
        if not np.abs(off).max(initial=0.0) < NEAR:
            return None
        relaxed = parted(relaxed, rng, stop)
        most = min(_MOST, _FEWEST + _EACH * problem.size)
        relaxed = thinned(relaxed, self.groups, most, rng, stop)
        lattice = Lattice.of(*relaxed.ties())
        if lattice is None:
            return None
        best: tuple[IntArray, float] | None = None
        for coarse in _COARSE:
            if stop():
                break
            dive = _dive(relaxed, lattice, coarse, rng, stop)
            lattice = dive.lattice
            if dive.counts is not None and (best is None or dive.loss < best[1]):
                best = dive.counts, dive.loss
            if dive.relaxed is None or (best is not None and best[1] == 0.0):
                break
            relaxed = dive.relaxed
        return best


@dataclass(frozen=True)
class Dive:
    """What came of one reduction."""

    lattice: Lattice
    counts: IntArray | None
    """Best whole counts of all rows, if any are not negative."""
    loss: float
    relaxed: Relaxed | None
    """Weights with what is coarse fixed, if these can still meet the figures."""


def _dive(
    relaxed: Relaxed,
    lattice: Lattice,
    coarse: float,
    rng: np.random.Generator,
    stop: Callable[[], bool],
) -> Dive:
    """Round the weights in many ways, and fix what is coarse in one of them."""
    own = relaxed.own
    influence, residual = relaxed.figures()
    effects = lattice.basis @ influence
    live = np.abs(effects).max(axis=0) > 1e-9
    aim = np.clip(residual, -AIM, AIM)
    start = residual + (lattice.counts - own) @ influence
    usual = np.sqrt(own + 0.25)
    basis = np.hstack([lattice.basis / usual, _SCALE * effects[:, live]])
    basis = np.ascontiguousarray(basis[np.argsort((basis**2).sum(axis=1), kind="stable")])
    star, norm = reduce_basis(basis, MOST_SWAPS)
    rows = len(own)
    lattice = Lattice(lattice.counts, np.rint(basis[:, :rows] * usual))
    large = np.sqrt(norm) > coarse * _SCALE
    targets = np.tile(
        np.append((own - lattice.counts) / usual, -_SCALE * (start - aim)[live]), (_TRIES, 1)
    )
    targets[1:, :rows] += rng.normal(0.0, _NOISE, (_TRIES - 1, rows))
    jitter = rng.normal(0.0, _JITTER, (_TRIES, len(norm))) * large
    jitter[: _TRIES // 2] = 0.0
    near = near_planes(basis, star, norm, targets, jitter)
    tried = np.unique(np.rint(near[:, :rows] * usual) + lattice.counts, axis=0)
    reached = residual + (tried - own) @ influence
    negative = -np.minimum(tried, 0.0).sum(axis=1)
    cost = np.sqrt(np.maximum(np.abs(reached) - INSIDE, 0.0)).sum(axis=1) + _NEGATIVE * negative
    order = np.argsort(cost, kind="stable")
    tried, negative = tried[order], negative[order]
    best, least = None, np.inf
    for counts in tried[negative == 0][:_MEASURED]:
        whole = relaxed.weighing(counts)
        loss = _loss(whole)
        if loss < least:
            best, least = np.rint(whole.weights).astype(np.int64), loss
        if least == 0.0:
            return Dive(lattice, best, least, relaxed)
    if best is None:
        mended = _mended(relaxed.ties()[0], influence, tried[0])
        if mended is not None:
            whole = relaxed.weighing(mended)
            best, least = np.rint(whole.weights).astype(np.int64), _loss(whole)
    found = None
    if large.any():
        ties = star[large] / norm[large, None]
        ties = (ties[:, :rows] / usual + _SCALE * ties[:, rows:] @ influence[:, live].T).T
        seen: list[FloatArray] = []
        for counts in tried:
            goals = counts @ ties
            if len(seen) == _CHOICES or stop():
                break
            if any(np.abs(goals - other).max() < 0.5 for other in seen):
                continue
            seen.append(goals)
            fixed, _, off = sharpen(relaxed, _STEPS, stop, ties, goals)
            if np.abs(off).max(initial=0.0) < 1.0:
                found = fixed
                break
    elif coarse > min(_COARSE):
        found = relaxed
    return Dive(lattice, best, least, found)


def _mended(ties: FloatArray, influence: FloatArray, counts: FloatArray) -> FloatArray | None:
    """Let rows of which more is taken than there is have it from others in the same cells.

    What that does to the figures is left to moves later on; ``None`` if there are no such rows.
    """
    counts = counts.copy()
    scale = np.maximum(np.abs(influence).max(axis=0, initial=0.0), 1e-300)
    for row in np.flatnonzero(counts < 0).tolist():
        while counts[row] < 0:
            alike = np.flatnonzero((counts > 0) & (ties == ties[row]).all(axis=1))
            if not len(alike):
                return None
            far = (((influence[alike] - influence[row]) / scale) ** 2).sum(axis=1)
            counts[alike[np.argmin(far)]] -= 1
            counts[row] += 1
    return counts


def _loss(whole: Relaxed) -> float:
    """How far figures, estimated anew, are outside their digits."""
    held = whole.weights > 0
    counts = np.rint(whole.weights[held]).astype(np.int64)
    measured = whole.problem.measure(whole.codes[held], counts)
    return outside(np.append(measured, whole.bands()[1]), PRINTS)
