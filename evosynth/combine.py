"""Small groups: shifts that leave quantiles and means alone, combined until the rest prints.

In a dozen records of which a mean and all quartiles are met, a few are free to move in opposite
directions. Each such pair of shifts changes sums of squares and products by known amounts; of the
many ways to combine some in every group there often is one that lands all figures at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from evosynth.approach import PRINTS
from evosynth.fences import cell_ends, pin
from evosynth.kernels.combine import extend_beam, walk
from evosynth.problem import JointExpansion, Problem
from evosynth.ranks import GroupQuantile, order_statistics
from evosynth.schema import Codes, FloatArray, IntArray

_ROUNDS = 20
_NEXT = 10
"""Of how many datasets one is drawn to go on from."""
_STEPS = 20_000
"""Shifts that are tried in each group."""
_WAYS = 1_500
"""States of a group, at most, among which the best combination is sought."""
_BEAM = 150
"""Datasets that are kept from group to group."""
_HOT, _COLD = 3.0, 0.3
"""Temperatures of the walk through a group's states, in roots of half-widths."""
_FINEST = 20
"""Parts of the way between two records at which a quantile may lie."""
_ROOM = 0.97
_MOST_NUMBERS = 5_000_000
"""Influences that may be tabulated for a group."""


def combine(
    problem: Problem,
    columns: IntArray,
    codes: Codes,
    rng: np.random.Generator,
    stop: Callable[[], bool] = lambda: False,
) -> Codes:
    """Return the dataset with the fewest figures missed that combined shifts lead to."""
    ones = np.ones(len(codes), dtype=np.int64)
    best = here = codes
    rank = _rank(problem.measure(best, ones))
    for _ in range(_ROUNDS):
        if stop() or rank[0] == 0:
            break
        found = _combined(problem, columns, here, rng)
        reached = _rank(problem.measure(found[0], ones))
        if reached < rank:
            best, rank = found[0], reached
        here = found[int(rng.integers(len(found)))]
    return best


def _rank(residual: FloatArray) -> tuple[int, float]:
    """Figures missed, and the roots of their distances."""
    off = np.abs(residual)
    return int((off >= PRINTS).sum()), float(np.sqrt(np.maximum(off - PRINTS, 0.0)).sum())


@dataclass(frozen=True)
class _Part:
    """One quantity of one group of records."""

    column: int
    rows: IntArray
    influence: FloatArray
    """Of each record with each of its values, shape (records, levels, figures)."""
    moving: NDArray[np.bool_]
    """Figures that the quantity moves smoothly."""
    own: list[int]
    """Quantiles of just this group, by their number."""

    @classmethod
    def of(
        cls, problem: Problem, expansion: JointExpansion, codes: Codes, column: int, here: IntArray
    ) -> _Part | None:
        variable = problem.schema.variables[column]
        rows = here[codes[here, column] < variable.valid]
        if len(rows) < 2 or len(rows) * variable.valid * problem.size > _MOST_NUMBERS:
            return None
        every = np.repeat(codes[rows], variable.valid, axis=0)
        every[:, column] = np.tile(np.arange(variable.valid), len(rows))
        table = expansion.influence(every).reshape(len(rows), variable.valid, -1)
        own = [
            number
            for number, block in enumerate(_quantiles(problem))
            if block.column == column and np.array_equal(block.members(codes), rows)
        ]
        moving = (table != table[:, :1]).any(axis=(0, 1)) & ~_follows_ranks(problem)
        return cls(column, rows, table, moving, own)


def _quantiles(problem: Problem) -> list[GroupQuantile]:
    return [block for block in problem.smooth if isinstance(block, GroupQuantile)]


def _follows_ranks(problem: Problem) -> NDArray[np.bool_]:
    """Figures that follow single records."""
    kinds = [np.full(block.size, isinstance(block, GroupQuantile)) for block in problem.smooth]
    return np.concatenate([np.empty(0, np.bool_), *kinds])


def _combined(
    problem: Problem, columns: IntArray, codes: Codes, rng: np.random.Generator
) -> list[Codes]:
    """Go from group to group and keep the best combinations so far; return some, best first."""
    ones = np.ones(len(codes), dtype=np.int64)
    expansion = problem.expand(codes, ones.astype(np.float64))
    held = [c for c, v in enumerate(problem.schema.variables) if v.categorical]
    _, group = np.unique(codes[:, held], axis=0, return_inverse=True)
    parts = []
    for label in rng.permutation(group.max() + 1):
        here = np.flatnonzero(group.ravel() == label)
        part = _Part.of(problem, expansion, codes, int(rng.choice(columns)), here)
        parts += [part] if part else []
    sharing = np.sum([part.moving for part in parts], axis=0)
    ranked = np.flatnonzero(_follows_ranks(problem))
    residual = problem.measure(codes, ones)[None, :]
    chosen: list[IntArray] = []
    ways = []
    for part in parts:
        touched = np.concatenate([np.flatnonzero(part.moving), ranked[part.own]])
        # Figures that hang on other groups, too, are left to the choice of the combination.
        weight = 1.0 / np.maximum(sharing[touched], 1) ** 2
        states, effect = _walked(problem, part, codes, residual[0, touched], weight, rng)
        if not len(states):
            continue
        before, way = extend_beam(residual, effect, touched, _ROOM, _BEAM)
        residual = residual[before]
        residual[:, touched] += np.where(way[:, None] >= 0, effect[way], 0.0)
        chosen = [past[before] for past in chosen] + [way]
        ways.append((part, states))
    found = []
    for number in range(min(len(residual), _NEXT)):
        found.append(codes.copy())
        for (part, states), way in zip(ways, chosen, strict=True):
            if way[number] >= 0:
                found[-1][part.rows, part.column] = states[way[number]]
    return found


def _walked(
    problem: Problem,
    part: _Part,
    codes: Codes,
    residual: FloatArray,
    weight: FloatArray,
    rng: np.random.Generator,
) -> tuple[IntArray, FloatArray]:
    """Return states of a group that differ in their effect on the figures, and these effects."""
    quantiles = _quantiles(problem)
    least, most = (ends[codes[:, part.column]] for ends in cell_ends(problem, part.column))
    others = [block for number, block in enumerate(quantiles) if number not in part.own]
    pin(others, part.column, codes, least, most)
    states, effect = walk(
        codes[part.rows, part.column].astype(np.int64),
        least[part.rows],
        most[part.rows],
        np.ascontiguousarray(part.influence[:, :, part.moving]),
        residual,
        weight,
        problem.schema.variables[part.column].quantities,
        *_ranked([quantiles[number] for number in part.own], len(part.rows)),
        _ROOM,
        np.geomspace(_HOT, _COLD, _STEPS),
        _WAYS,
        rng.random((_STEPS, 7)),
    )
    _, first = np.unique(effect.round(6), axis=0, return_index=True)
    return states[first], effect[first]


def _ranked(
    blocks: list[GroupQuantile], size: int
) -> tuple[IntArray, IntArray, FloatArray, FloatArray, IntArray]:
    """Describe the quantiles of a group as arrays; see `walk`."""
    first, ranks, shares, ends, steps = [0], [], [], [], []
    for block in blocks:
        parts = [(r, s) for r, s in order_statistics(block.parts, size) if s]
        ranks += [rank for rank, _ in parts]
        shares += [share for _, share in parts]
        first.append(len(ranks))
        ends.append(block.target)
        ratio = Fraction(parts[-1][1] / parts[0][1]).limit_denominator(_FINEST)
        steps.append((ratio.numerator, -ratio.denominator))
    return (
        np.array(first),
        np.array(ranks, dtype=np.int64),
        np.array(shares, dtype=np.float64),
        np.array(ends, dtype=np.float64).reshape(-1, 2),
        np.array(steps, dtype=np.int64).reshape(-1, 2),
    )
