"""Newton steps in the values of quantities: all records move a little, and all pull together.

At a dataset, the effect of a record on the figures differs between neighbouring values by the
slope of the figures along that value. The smallest change of all values that takes every figure
into its digits by these slopes, kept within the cells of tables, rounded to the values that there
are, and repeated from where it leads, converges where micro-mutations would need to be coherent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosynth.fences import cell_ends, keep_bonds, keep_ranks
from evosynth.kernels.lattice import descend
from evosynth.problem import Problem
from evosynth.schema import Codes, FloatArray, IntArray

_AIMS = 0.5, 0.9, 0.98
"""Parts of a printed digit, from its middle, that steps aim into: the farther after a failure."""
_PRINTS = 0.999
_FINEST = 0.1
"""Distance in half-widths below which figures are near enough."""
_STEPS = 60
_LONGEST = 0.5
"""Root mean square of a step, in standard deviations of each variable."""
_DOUBTS = 0.02, 3.0
"""Parts of a figure's distance that a step may leave: as steps succeed, and as they fail."""
_DOUBT = 0.2
_FACTORS = 1 / 3, 1.0, 3.0
_WORTHWHILE = 0.98
_FAILURES = 8
_ACTIVE = 6
_PASSES = 10
_FEWEST = 1e-9


@dataclass(frozen=True)
class Slopes:
    """The figures around a dataset, as they depend on each value that may change."""

    residual: FloatArray
    """Distance of each figure, in half-widths."""
    effects: FloatArray
    """Effect of one step of each value, shape (records × variables, figures)."""
    low: FloatArray
    """Steps that each value can go down, not positive."""
    high: FloatArray
    scale: FloatArray
    """Standard deviation of each value's variable, in steps."""
    bends: FloatArray
    """Change of the effect from one step to the next; 0 at the ends of a variable."""


def newton(
    problem: Problem,
    columns: IntArray,
    codes: Codes,
    rng: np.random.Generator,
    stop: Callable[[], bool] = lambda: False,
    most: int = _STEPS,
) -> Codes:
    """Move the values of ``columns`` until figures are no longer brought nearer.

    Records stay in their cells of tables. Returns the best dataset that was seen.
    """
    if not len(columns) or not problem.size:
        return codes
    ones = np.ones(len(codes), dtype=np.int64)
    best, least = codes, away(problem.measure(codes, ones))
    doubt, longest, failures = _DOUBT, _LONGEST, 0
    slopes = None
    for _ in range(most):
        if least == 0.0 or failures == _FAILURES or stop():
            break
        slopes = slopes or around(problem, columns, best)
        tried = []
        for factor in _FACTORS:
            aim = _AIMS[failures % len(_AIMS)]
            step = whole_steps(slopes, len(columns), aim, factor * doubt, longest, rng)
            found = _moved(best, columns, step)
            keep_bonds(problem, found, best)
            tried.append((away(problem.measure(found, ones)), factor * doubt, found))
        loss, used, found = min(tried, key=lambda one: one[0])
        if loss < least:
            failures = 0 if loss < _WORTHWHILE * least else failures + 1
            best, least, slopes = found, loss, None
            doubt, longest = min(max(used, _DOUBTS[0]), _DOUBTS[1]), min(_LONGEST, 2 * longest)
        else:
            failures += 1
            doubt, longest = min(_DOUBTS[1], 2 * doubt), longest / 2
    return best


def newton_step(
    slopes: Slopes, columns: IntArray, codes: Codes, doubt: float, rng: np.random.Generator
) -> Codes:
    """Move the values of ``columns`` once, as their slopes say."""
    return _moved(codes, columns, whole_steps(slopes, len(columns), _AIMS[0], doubt, _LONGEST, rng))


def _moved(codes: Codes, columns: IntArray, step: IntArray) -> Codes:
    found = codes.copy()
    found[:, columns] = codes[:, columns] + step.reshape(len(columns), -1).T
    return found


def away(residual: FloatArray) -> float:
    """Sum the cube roots of distances outside digits: near figures count, far ones do, too."""
    return float(np.cbrt(np.maximum(np.abs(residual) - _PRINTS, 0.0)).sum())


def around(problem: Problem, columns: IntArray, codes: Codes) -> Slopes:
    """Find the slopes of the figures at a dataset, and how far each value may go."""
    ones = np.ones(len(codes))
    expansion = problem.expand(codes, ones)
    low, high, scale, width = [], [], [], []
    every = [codes]
    for column in columns.tolist():
        valid = problem.schema.variables[column].valid
        here = codes[:, column].astype(np.int64)
        first, last = cell_ends(problem, column)
        least, most = first[here], last[here]
        keep_ranks(problem, column, codes, least, most)
        for end in (np.maximum(here - 1, 0), np.minimum(here + 1, valid - 1)):
            every.append(codes.copy())
            every[-1][:, column] = np.where(here < valid, end, here)
            keep_bonds(problem, every[-1], codes)
        apart = every[-1][:, column].astype(np.int64) - every[-2][:, column]
        width.append(np.maximum(apart, 1))
        low.append(least - here)
        high.append(most - here)
        scale.append(np.full(len(codes), max(float(here.std()), 1.0)))
    # All at once: most of what an influence takes does not depend on how many records there are.
    influence = expansion.influence(np.concatenate(every)).reshape(len(every), len(codes), -1)
    residual = expansion.offset + influence[0].sum(axis=0)
    effects = (influence[2::2] - influence[1::2]).reshape(-1, len(residual))
    wide = np.concatenate(width)[:, None]
    effects /= wide
    bends = influence[2::2] - 2 * influence[0] + influence[1::2]
    bends = np.where(wide == 2, bends.reshape(effects.shape), 0.0)
    bends[~np.isfinite(bends).all(axis=1)] = 0.0
    effects[~np.isfinite(effects).all(axis=1)] = 0.0
    effects[np.abs(effects) < _FEWEST] = 0.0
    return Slopes(
        residual,
        effects,
        np.concatenate(low).astype(np.float64),
        np.concatenate(high).astype(np.float64),
        np.concatenate(scale),
        bends,
    )


def whole_steps(
    slopes: Slopes,
    parts: int,
    within: float,
    doubt: float,
    longest: float,
    rng: np.random.Generator,
) -> IntArray:
    """Find a change of values in whole steps, of two ways to round it the better.

    Either all values are rounded at once, or the coarsest variable first, so that finer ones can
    make up for what that changes.
    """
    size = len(slopes.effects) // parts
    fixed = np.zeros(len(slopes.effects), dtype=np.bool_)
    step = _solve(slopes, np.zeros(len(fixed)), fixed, within, doubt, longest)
    found = [_mend(slopes, _rounded(slopes, step, rng), within, doubt)]
    for part in np.argsort(slopes.scale[::size], kind="stable").tolist() if parts > 1 else []:
        here = slice(part * size, (part + 1) * size)
        step[here] = _rounded(slopes, step, rng)[here]
        fixed[here] = True
        if not fixed.all():
            step = _solve(slopes, step, fixed, within, doubt, longest)
    if parts > 1:
        found.append(_mend(slopes, step, within, doubt))
    losses = [away(slopes.residual + one @ slopes.effects) for one in found]
    return found[int(np.argmin(losses))].astype(np.int64)


def _rounded(slopes: Slopes, step: FloatArray, rng: np.random.Generator) -> FloatArray:
    whole = np.floor(step + rng.random(len(step)))
    return np.asarray(np.clip(whole, slopes.low, slopes.high))


def _solve(
    slopes: Slopes,
    step: FloatArray,
    fixed: NDArray[np.bool_],
    within: float,
    doubt: float,
    longest: float,
) -> FloatArray:
    """Find the smallest change of values not fixed that takes figures towards their digits.

    A value that would leave its range is given the less freedom, until it just reaches its end.
    """
    start = slopes.residual + np.where(fixed, step, 0.0) @ slopes.effects
    slack = np.maximum(_FINEST, doubt * np.abs(slopes.residual)) ** 2
    effects, full = slopes.effects[~fixed], slopes.scale[~fixed] ** 2
    low, high = slopes.low[~fixed], slopes.high[~fixed]
    freedom, move = full, np.zeros(len(full))
    aim = np.clip(start, -within, within)
    for _ in range(_ACTIVE):
        matrix = effects.T @ (effects * freedom[:, None]) + np.diag(slack)
        force = effects @ np.linalg.solve(matrix, aim - start)
        move = np.clip(freedom * force, low, high)
        aim = np.clip(start + move @ effects, -within, within)
        room = np.where(force > 0, high, -low)
        freedom = np.minimum(full, room / np.maximum(np.abs(force), _FEWEST))
    size = float(np.sqrt((move**2 / full).mean()))
    found = step.copy()
    found[~fixed] = move * min(1.0, longest / max(size, _FEWEST))
    return found


def _mend(slopes: Slopes, step: FloatArray, within: float, doubt: float) -> FloatArray:
    """Let single steps make up for what rounding has changed."""
    residual, effects = slopes.residual, slopes.effects
    slack = np.maximum(_FINEST, doubt * np.abs(residual))
    values, vectors = np.linalg.eigh(effects.T @ effects + np.diag(slack**2))
    whiten = vectors / np.sqrt(np.maximum(values, _FINEST**2))
    rest = residual + step @ effects
    rest = (rest - np.clip(rest, -within, within)) @ whiten
    reach = np.column_stack([step - slopes.low, slopes.high - step])
    order = np.argsort(-(effects**2).sum(axis=1))
    order = order[reach[order].sum(axis=1) > 0]
    more = descend((effects @ whiten)[order], np.minimum(reach[order], 1.0), rest, _PASSES)
    mended = step.copy()
    mended[order] += more
    return mended
