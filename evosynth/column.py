"""Small datasets: one variable at a time is annealed until its own figures print as published.

Of a dozen records of which the mean, the standard deviation and all quartiles are printed there
are few that fit, and no smooth path leads to them. Trying values by the hundred thousand does.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evosynth.kernels.cells import count_cells
from evosynth.kernels.column import anneal_column
from evosynth.problem import JointExpansion, Problem
from evosynth.ranks import GroupQuantile, order_statistics
from evosynth.schema import Codes, FloatArray, IntArray

_ROOM = 0.99
"""Distance in half-widths that counts as none."""
_MOST_NUMBERS = 20_000_000
"""Influences that may be tabulated."""
_PROPOSALS = 40_000
"""Between one expansion of the figures and the next."""
_WRONG = 60.0
"""What a record in a wrong cell costs, in roots of half-widths."""


@dataclass(frozen=True)
class _Ranks:
    """Quantiles of a variable as arrays; see `anneal_column`."""

    member: NDArray[np.bool_]
    figures: IntArray
    first_part: IntArray
    ranks: IntArray
    shares: FloatArray
    ends: FloatArray

    @classmethod
    def of(cls, problem: Problem, codes: Codes, column: int) -> _Ranks:
        groups: dict[object, list[GroupQuantile]] = {}
        for block in problem.smooth:
            if isinstance(block, GroupQuantile) and block.column == column:
                groups.setdefault(block.classes.grid.key, []).append(block)
        member, figures, first, ranks, shares, ends = [], [0], [0], [], [], []
        for blocks in groups.values():
            inside = blocks[0].classes.grid.cells(codes) == 0
            if not inside.any():
                continue
            member.append(inside)
            for block in blocks:
                for rank, share in order_statistics(block.parts, int(inside.sum())):
                    ranks.append(rank)
                    shares.append(share)
                first.append(len(ranks))
                ends.append(block.target)
            figures.append(len(ends))
        return cls(
            np.array(member, dtype=np.bool_).reshape(-1, len(codes)),
            np.array(figures),
            np.array(first),
            np.array(ranks, dtype=np.int64),
            np.array(shares, dtype=np.float64),
            np.array(ends, dtype=np.float64).reshape(-1, 2),
        )


def anneal(
    problem: Problem, codes: Codes, column: int, heats: FloatArray, rng: np.random.Generator
) -> Codes:
    """Anneal one variable of a dataset from each temperature to the next; return the outcome."""
    variable = problem.schema.variables[column]
    movable = np.flatnonzero(codes[:, column] < variable.valid)
    others, kind = np.unique(np.delete(codes, column, axis=1), axis=0, return_inverse=True)
    n_levels = variable.valid
    if not len(movable) or len(others) * n_levels * problem.size > _MOST_NUMBERS:
        return codes
    every = np.repeat(np.insert(others, column, 0, axis=1), n_levels, axis=0)
    every[:, column] = np.tile(np.arange(n_levels), len(others))
    cells = problem.cells(every).reshape(len(others), n_levels, -1)
    blocks = [
        block
        for block in problem.smooth
        if not (isinstance(block, GroupQuantile) and block.column == column)
    ]
    ones = np.ones(len(codes))
    for hot, cold in pairwise(heats.tolist()):
        ranks = _Ranks.of(problem, codes, column)
        parts = [block.expand(codes, ones) for block in blocks]
        tables = [part.influence(every).reshape(len(others), n_levels, -1) for part in parts]
        # What the variable does not move at first it does not move later.
        kept = [i for i, table in enumerate(tables) if (table != table[:, :1]).any()]
        blocks = [blocks[i] for i in kept]
        table = np.concatenate(
            [np.empty((len(others), n_levels, 0)), *(tables[i] for i in kept)], axis=2
        )
        residual = JointExpansion(tuple(parts[i] for i in kept)).residual(codes, ones)
        moving = (table != table[:, :1]).any(axis=1)
        touched = np.full((len(others), moving.sum(axis=1).max(initial=0)), -1)
        for row, figures in enumerate(moving):
            touched[row, : figures.sum()] = np.flatnonzero(figures)
        ordered = np.zeros(ranks.member.shape, dtype=np.int64)
        sizes = ranks.member.sum(axis=1)
        for group, inside in enumerate(ranks.member):
            ordered[group, : sizes[group]] = np.sort(codes[inside, column])
        change = (table - table[:, :1]).reshape(len(others), -1)
        mark = change @ np.random.default_rng(0).random(change.shape[1])  # tells rows apart
        alike = np.unique(mark.round(6), return_inverse=True)[1].ravel()[kind.ravel()]
        order = movable[np.argsort(alike[movable], kind="stable")]
        first, count = (
            np.searchsorted(alike[order], alike[order]),
            np.bincount(alike[order])[alike[order]],
        )
        levels, _ = anneal_column(
            codes[:, column].astype(np.int64),
            order,
            np.column_stack([first, count]),
            kind.ravel(),
            touched,
            table,
            residual,
            cells,
            count_cells(problem.cells(codes), ones.astype(np.int64), len(problem.low)),
            problem.low,
            problem.high,
            ranks.member,
            ordered,
            sizes,
            ranks.figures,
            ranks.first_part,
            ranks.ranks,
            ranks.shares,
            ranks.ends,
            variable.quantities[:n_levels],
            _WRONG,
            _ROOM,
            np.geomspace(hot, cold, _PROPOSALS),
            rng.random((_PROPOSALS, 7)),
        )
        codes = codes.copy()
        codes[:, column] = levels
    return codes
