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
from evosynth.objective import Smooth
from evosynth.problem import JointExpansion, Problem
from evosynth.ranks import GroupQuantile, order_statistics
from evosynth.schema import Codes, FloatArray, IntArray

_ROOM = 0.99
"""Distance in half-widths that counts as none."""
_MOST_NUMBERS = 20_000_000
"""Influences that may be tabulated."""
_PROBES = 16
"""Values by which records are compared."""
_PER_RECORD, _MOST_PROPOSALS = 400, 40_000
"""Proposals for each record between one expansion of the figures and the next, and at most."""
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


def _kinds(
    problem: Problem, codes: Codes, column: int, blocks: list[Smooth]
) -> tuple[Codes, IntArray, list[Smooth]]:
    """Tell records apart by how the variable counts in them.

    Returns a record of each kind, the kind of each record, and the blocks that it moves.
    """
    others, kind = np.unique(np.delete(codes, column, axis=1), axis=0, return_inverse=True)
    others = np.insert(others, column, 0, axis=1)
    probes = np.unique(
        np.linspace(0, problem.schema.variables[column].valid - 1, _PROBES, dtype=int)
    )
    every = np.repeat(others, len(probes), axis=0)
    every[:, column] = np.tile(probes, len(others))
    found = [problem.cells(every).reshape(len(others), -1).astype(np.float64)]
    moved = []
    for block in blocks:
        influence = block.expand(codes, np.ones(len(codes))).influence(every)
        table = influence.reshape(len(others), len(probes), -1)
        change = (table - table[:, :1]).reshape(len(others), -1)
        if change.any():
            moved.append(block)
            found.append(change.round(6))
    signs = np.hstack(found)
    mark = signs @ np.random.default_rng(0).random(signs.shape[1])
    _, first, alike = np.unique(mark, return_index=True, return_inverse=True)
    return others[first], alike.ravel()[kind.ravel()], moved


def anneal(
    problem: Problem,
    codes: Codes,
    column: int,
    heats: tuple[float, float],
    proposals: int,
    rng: np.random.Generator,
) -> Codes:
    """Anneal one variable of a dataset from one temperature to another; return the outcome."""
    variable = problem.schema.variables[column]
    n_levels = variable.valid
    movable = np.flatnonzero(codes[:, column] < n_levels)
    others, kind, blocks = _kinds(
        problem,
        codes,
        column,
        [
            block
            for block in problem.smooth
            if not (isinstance(block, GroupQuantile) and block.column == column)
        ],
    )
    size = len(others) * n_levels * sum(block.size for block in blocks)
    if not len(movable) or size > _MOST_NUMBERS:
        return codes
    every = np.repeat(others, n_levels, axis=0)
    every[:, column] = np.tile(np.arange(n_levels), len(others))
    cells = problem.cells(every).reshape(len(others), n_levels, -1)
    order = movable[np.argsort(kind[movable], kind="stable")]
    mates = np.column_stack(
        [np.searchsorted(kind[order], kind[order]), np.bincount(kind[order])[kind[order]]]
    )
    ones = np.ones(len(codes))
    most = min(_PER_RECORD * len(codes), _MOST_PROPOSALS)
    steps = np.geomspace(*heats, max(1, proposals // most) + 1)
    for hot, cold in pairwise(steps.tolist()):
        ranks = _Ranks.of(problem, codes, column)
        expansion = JointExpansion(tuple(block.expand(codes, ones) for block in blocks))
        table = expansion.influence(every).reshape(len(others), n_levels, -1)
        moving = (table != table[:, :1]).any(axis=1)
        touched = np.full((len(others), moving.sum(axis=1).max(initial=0)), -1)
        for row, figures in enumerate(moving):
            touched[row, : figures.sum()] = np.flatnonzero(figures)
        ordered = np.zeros(ranks.member.shape, dtype=np.int64)
        sizes = ranks.member.sum(axis=1)
        for group, inside in enumerate(ranks.member):
            ordered[group, : sizes[group]] = np.sort(codes[inside, column])
        levels, _ = anneal_column(
            codes[:, column].astype(np.int64),
            order,
            mates,
            kind,
            touched,
            table,
            expansion.residual(codes, ones),
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
            np.geomspace(hot, cold, most),
            rng.random((most, 7)),
        )
        codes = codes.copy()
        codes[:, column] = levels
    return codes
