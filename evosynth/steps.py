"""Lands figures by steps of single values of quantities: a closest-vector problem.

A step of a coarse quantity is made or not, and its effect is known exactly; a fine one may go
either way and several steps at once, as far as its effect is all but straight. Steps are the
smallest changes that there are, so where they lead is where the expansion says, up to what all of
them bend together; that is much the same for solutions near each other, and is allowed for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from evosynth.approach import INSIDE, PRINTS, outside
from evosynth.closest import centre
from evosynth.fences import cell_ends, keep_ranks
from evosynth.kernels.lattice import near_planes, reduce_basis
from evosynth.newton import around, whole_steps
from evosynth.problem import Problem
from evosynth.relaxed import AIM
from evosynth.schema import Codes, FloatArray, IntArray

_CANDIDATES = 4000
"""Values among which those that step are chosen."""
_FEWEST, _EACH, _MOST = 100, 8, 450
"""Values that step: some, and some for each figure, more as need be."""
_MORE = 1.3
_DENSE = 1.0
"""Spacing of lattice points, beside what moves and figures may be off, that is dense enough."""
_STRAIGHT = 0.02
"""Half-widths by which an effect may bend."""
_LONGEST = 0.3
"""Standard deviations that a value may go."""
_SCALE = 2.0
"""What a half-width counts beside the usual change of a value."""
_LEAST_ROOM = 0.15
_NOISE = 0.3
_TRIES, _MEASURED, _TURNS = 80, 8, 3
"""Solutions of one reduction; how many are estimated anew; and how often."""
_GLIDES = 8
_COVER = 0.25
"""Squared steps of a usual value."""
_FINEST = 0.3
"""Half-widths below which distances are not told apart further."""
_NEAR = 0.05
"""Distance for each figure, squared, below which steps of a few values do the rest."""
_DOUBTS = 0.02, 0.1, 0.5
"""Parts of a figure's distance that a step of all values may leave."""
_PATIENCE, _WORTHWHILE = 2, 0.9
"""Rounds that may bring figures hardly nearer, and what they should leave of their distance."""
_HOPEFUL, _HOPE = 12.0, 8
"""Distance, in roots of half-widths, from which more rounds are worthwhile, and how many."""
_MOST_SWAPS = 400_000


@dataclass(frozen=True)
class Steps:
    """Values that may step, and what that does, in half-widths."""

    record: IntArray
    column: IntArray
    sign: IntArray
    """Direction of a step."""
    slope: FloatArray
    """Effect of a step, shape (values, figures)."""
    bend: FloatArray
    """Effect of z steps beyond z slopes, by z squared; nothing of single ones."""
    low: FloatArray
    """Fewest steps: 0, or how far a fine value may go back, not positive."""
    high: FloatArray
    half: FloatArray
    """Usual number of steps, beside the middle of what may be."""

    def subset(self, chosen: IntArray) -> Steps:
        """Only the chosen values."""
        return Steps(
            self.record[chosen],
            self.column[chosen],
            self.sign[chosen],
            self.slope[chosen],
            self.bend[chosen],
            self.low[chosen],
            self.high[chosen],
            self.half[chosen],
        )

    @property
    def middle(self) -> FloatArray:
        """Steps around which solutions are sought."""
        return np.where(self.low == 0.0, self.half, 0.0)

    def apply(self, codes: Codes, times: FloatArray) -> Codes:
        """Make so many steps of each value."""
        found = codes.copy()
        moved = found[self.record, self.column] + self.sign * times.astype(np.int64)
        found[self.record, self.column] = moved
        return found

    def effect(self, times: FloatArray) -> FloatArray:
        """Sum what so many steps do, shape (ways, figures)."""
        return np.asarray(times @ self.slope + times**2 @ self.bend)


def walk(
    problem: Problem,
    columns: IntArray,
    codes: Codes,
    rng: np.random.Generator,
    rounds: int,
    stop: Callable[[], bool] = lambda: False,
) -> Codes:
    """Step values until all figures print as published, or rounds are over; return the best."""
    ones = np.ones(len(codes), dtype=np.int64)
    residual = problem.measure(codes, ones)
    best, least = codes, outside(residual, PRINTS)
    idle = 0
    for _ in range(rounds if len(columns) else 0):
        if least == 0.0 or idle == (_HOPE if least < _HOPEFUL else _PATIENCE) or stop():
            break
        codes, residual = _glided(problem, columns, codes, residual, rng, stop)
        steps = _chosen(_candidates(problem, columns, codes, rng), residual, rng)
        nearest = outside(residual, PRINTS)
        for found, off in _solutions(problem, codes, steps, residual, rng, stop):
            loss = outside(off, PRINTS)
            if loss < nearest:
                codes, residual, nearest = found, off, loss
        idle = 0 if nearest < _WORTHWHILE * least else idle + 1
        if nearest < least:
            best, least = codes, nearest
    return best


def _glided(
    problem: Problem,
    columns: IntArray,
    codes: Codes,
    residual: FloatArray,
    rng: np.random.Generator,
    stop: Callable[[], bool],
) -> tuple[Codes, FloatArray]:
    """Let all values make up for what a few of them hardly change, whatever becomes of the rest.

    Distances count in units of what as many values as will step can do.
    """
    ones = np.ones(len(codes), dtype=np.int64)
    for _ in range(_GLIDES):
        slopes = around(problem, columns, codes)
        part = _COVER * min(1.0, _MOST / len(slopes.effects))
        cover = part * slopes.effects.T @ slopes.effects
        metric = np.asarray(np.linalg.inv(cover + _FINEST**2 * np.eye(len(residual))), np.float64)
        now = _distance(residual, metric)
        if not now > _NEAR * len(residual) or stop():
            break
        tried: list[tuple[float, float, Codes, FloatArray]] = []
        for doubt in _DOUBTS:
            if tried and stop():
                break
            step = whole_steps(slopes, len(columns), AIM, doubt, _LONGEST, rng)
            found = codes.copy()
            found[:, columns] = codes[:, columns] + step.reshape(len(columns), -1).T
            off = problem.measure(found, ones)
            tried.append((_distance(off, metric), doubt, found, off))
        reached, _, found, off = min(tried, key=lambda one: one[0])
        if not reached < now:
            break
        codes, residual = found, off
    return codes, residual


def _distance(residual: FloatArray, metric: FloatArray) -> float:
    beyond = residual - np.clip(residual, -AIM, AIM)
    return float(beyond @ metric @ beyond)


def _candidates(
    problem: Problem, columns: IntArray, codes: Codes, rng: np.random.Generator
) -> Steps:
    """Draw values that may step, and work out their effects."""
    expansion = problem.expand(codes, np.ones(len(codes)))
    few = max(1, min(len(codes), _CANDIDATES // len(columns)))
    found = []
    for column in columns.tolist():
        here = codes[:, column].astype(np.int64)
        first, last = cell_ends(problem, column)
        least, most = first[here], last[here]
        keep_ranks(problem, column, codes, least, most)
        able = np.flatnonzero((least < here) | (here < most))
        record = rng.permutation(able)[:few]
        here, least, most = here[record], least[record], most[record]
        sign = np.where(rng.random(len(record)) < 0.5, -1, 1)
        sign = np.where(least == here, 1, np.where(most == here, -1, sign))
        low = np.where(sign > 0, least - here, here - most).astype(np.float64)
        high = np.where(sign > 0, most - here, here - least).astype(np.float64)
        rows = codes[record]
        ends = [rows.copy(), rows.copy()]
        ends[0][:, column] = here + sign
        ends[1][:, column] = here - sign * (low < 0)
        before = expansion.influence(rows)
        forth, back = (expansion.influence(end) - before for end in ends)
        slope, bend = (forth - back) / 2, (forth + back) / 2
        curve = np.maximum(np.abs(bend).max(axis=1, initial=0.0), 1e-12)
        spread = max(float(codes[:, column].std()), 1.0)
        half = np.minimum(np.sqrt(_STRAIGHT / curve), _LONGEST * spread)
        half = np.minimum(half, np.minimum(high, -low))
        fine = half >= 1.0
        slope, bend = np.where(fine[:, None], slope, forth), np.where(fine[:, None], bend, 0.0)
        low, high = np.where(fine, low, 0.0), np.where(fine, high, 1.0)
        half = np.where(fine, half, 0.5)
        parts = record, np.full(len(record), column), sign, slope, bend, low, high, half
        found.append(parts)
    steps = Steps(*(np.concatenate(part) for part in zip(*found, strict=True)))
    sound = np.isfinite(steps.slope).all(axis=1) & np.isfinite(steps.bend).all(axis=1)
    return steps.subset(np.flatnonzero(sound & (steps.slope != 0.0).any(axis=1)))


def _chosen(steps: Steps, residual: FloatArray, rng: np.random.Generator) -> Steps:
    """Choose values that reach every direction, so many that the lattice is dense enough."""
    reach = steps.slope * steps.half[:, None]
    scale = np.maximum(np.sqrt((reach**2).mean(axis=0)), 1e-300)
    spread = reach / scale
    metric = np.linalg.pinv(spread.T @ spread, hermitian=True)
    leverage = np.einsum("ij,jk,ik->i", spread, metric, spread).clip(min=0)
    weight = leverage / leverage.sum() + 1 / len(reach)
    order = np.argsort(rng.exponential(size=len(reach)) / weight)
    # Two values of a record bend each other's effects: rather one of each.
    record = steps.record[order]
    by_record = np.argsort(record, kind="stable")
    start = np.flatnonzero(np.diff(record[by_record], prepend=-1))
    rank = np.arange(len(record)) - np.repeat(start, np.diff(start, append=len(record)))
    times = np.empty(len(record), dtype=np.int64)
    times[by_record] = rank
    order = order[np.argsort(times, kind="stable")]
    size = _FEWEST + _EACH * len(residual)
    while True:
        size = min(size, _MOST, len(order))
        kept = order[:size]
        values = np.linalg.eigvalsh(reach[kept].T @ reach[kept]).clip(min=0)
        spacing = 0.5 * np.log1p(_SCALE**2 * values).sum() - np.log(steps.half[kept]).sum()
        if spacing < size * np.log(_DENSE) or size in (_MOST, len(order)):
            break
        size = int(_MORE * size)
    return steps.subset(kept)


def _solutions(
    problem: Problem,
    codes: Codes,
    steps: Steps,
    residual: FloatArray,
    rng: np.random.Generator,
    stop: Callable[[], bool],
) -> Iterator[tuple[Codes, FloatArray]]:
    """Datasets whose figures should be in their digits, and where these are, estimated anew."""
    ones = np.ones(len(codes), dtype=np.int64)
    aim = centre(steps.slope * steps.half[:, None], residual)
    room = np.maximum(1 - np.abs(aim), _LEAST_ROOM)
    figures = _SCALE * steps.slope / room
    order = np.argsort((figures**2).sum(axis=1) + steps.half**-2, kind="stable")
    steps, size = steps.subset(order), len(order)
    basis = np.ascontiguousarray(np.hstack([np.diag(1 / steps.half), figures[order]]))
    star, norm = reduce_basis(basis, _MOST_SWAPS)
    shift = unforeseen = np.zeros(len(residual))
    for _ in range(_TURNS):
        left = residual + shift - aim
        target = np.append(steps.middle / steps.half, -_SCALE * left / room)
        targets = np.tile(target, (_TRIES, 1))
        targets[1:, :size] += rng.normal(0.0, _NOISE, (_TRIES - 1, size))
        near = near_planes(basis, star, norm, targets, np.zeros((_TRIES, size)))
        times = np.clip(np.rint(near[:, :size] * steps.half), steps.low, steps.high)
        times = np.unique(times, axis=0)
        told = steps.effect(times)
        cost = np.maximum(np.abs(residual + unforeseen + told) - INSIDE, 0.0)
        best = np.argsort(np.sqrt(cost).sum(axis=1), kind="stable")[:_MEASURED]
        wrong: list[FloatArray] = []
        for one in best.tolist():
            found = steps.apply(codes, times[one])
            off = problem.measure(found, ones)
            wrong.append(off - residual)
            yield found, off
            if (np.abs(off) < PRINTS).all() or stop():
                return
        # What all steps bend together is much the same in all solutions.
        shift = np.median(wrong - times[best] @ steps.slope, axis=0)
        unforeseen = np.median(wrong - told[best], axis=0)
