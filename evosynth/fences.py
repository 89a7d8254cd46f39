"""How far values may move before a table or a quantile takes note."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evosynth.problem import Problem
from evosynth.ranks import GroupQuantile, order_statistics
from evosynth.schema import Codes, IntArray
from evosynth.sources import worked_out

_FARTHEST = 60
"""Levels below a quantile among which its lower record is sought."""
_TINY = 1e-9


def cell_ends(problem: Problem, column: int) -> tuple[IntArray, IntArray]:
    """First and last level of the run of levels around each that no table tells apart."""
    if column in problem.ends:
        return problem.ends[column]
    variable = problem.schema.variables[column]
    new = np.zeros(variable.size, dtype=np.bool_)
    new[0] = True
    new[variable.valid :] = True
    for grid in problem.grids:
        for at, groups in zip(grid.columns, grid.groups, strict=True):
            if at == column:
                new[1:] |= np.diff(groups) != 0
            elif at in problem.schema.derived:
                found = worked_out(problem.schema, at)
                if found is not None and found[0] == column:
                    new[1:] |= np.diff(groups[found[1]]) != 0
    start = np.flatnonzero(new)
    run = np.cumsum(new) - 1
    problem.ends[column] = start[run], np.append(start[1:], variable.size)[run] - 1
    return problem.ends[column]


def keep_bonds(problem: Problem, found: Codes, before: Codes) -> None:
    """Complete changed records, in place; those that may not be are put back."""
    allowed = problem.schema.complete(found)
    if allowed is not None:
        found[~allowed] = before[~allowed]


def keep_ranks(
    problem: Problem, column: int, codes: Codes, least: IntArray, most: IntArray
) -> None:
    """Keep the records on either side of a small group's quantiles where they are."""
    blocks = [block for block in problem.smooth if isinstance(block, GroupQuantile)]
    for inside, rank in _ranked(blocks, column, codes):
        here = codes[inside, column].astype(np.int64)
        below, middle, above = inside[:rank], inside[rank], inside[rank + 1 :]
        most[below] = np.minimum(most[below], here[rank])
        least[above] = np.maximum(least[above], here[rank])
        if rank:
            least[middle] = max(least[middle], here[rank - 1])
        if len(above):
            most[middle] = min(most[middle], here[rank + 1])


def pin(
    blocks: list[GroupQuantile], column: int, codes: Codes, least: IntArray, most: IntArray
) -> None:
    """Keep the records that these quantiles follow as they are, and others on their side."""
    for inside, rank in _ranked(blocks, column, codes):
        level = int(codes[inside[rank], column])
        most[inside[: rank + 1]] = np.minimum(most[inside[: rank + 1]], level)
        least[inside[rank:]] = np.maximum(least[inside[rank:]], level)


def _ranked(
    blocks: list[GroupQuantile], column: int, codes: Codes
) -> Iterator[tuple[IntArray, int]]:
    """Yield the records of each quantile's group in order, and each rank that it follows."""
    for block in blocks:
        inside = block.members(codes)
        if block.column != column or not len(inside):
            continue
        inside = inside[np.argsort(codes[inside, column], kind="stable")]
        for rank in {rank for rank, share in order_statistics(block.parts, len(inside)) if share}:
            yield inside, rank


def snapped(problem: Problem, columns: IntArray, codes: Codes) -> Codes:
    """Put the middle records of small groups where their quantiles print as published.

    Others go to the side of them that their rank says; all stay in their cells of tables.
    """
    found = codes.copy()
    for block in problem.smooth:
        if not isinstance(block, GroupQuantile) or block.column not in columns:
            continue
        inside = block.members(found)
        if len(block.parts) != 1 or not len(inside):
            continue
        here = found[inside, block.column].astype(np.int64)
        order = np.argsort(here, kind="stable")
        ranks = order_statistics(block.parts, len(inside))
        (first, _), (second, along) = ranks
        valid = problem.schema.variables[block.column].valid
        lower, upper = _middle(block, valid, here[order[first]], along)
        if lower < 0:
            continue
        goal = here.copy()
        goal[order[: first + 1]] = np.minimum(goal[order[: first + 1]], lower)
        goal[order[second:]] = np.maximum(goal[order[second:]], upper)
        goal[order[first]] = lower
        if second > first:
            goal[order[second]] = upper
        least, most = (ends[here] for ends in cell_ends(problem, block.column))
        found[inside, block.column] = np.clip(goal, least, most)
    return found


def _middle(block: GroupQuantile, valid: int, now: int, along: float) -> tuple[int, int]:
    """Levels of the two middle records at which a quantile prints as published, or -1."""
    values = block.values[:valid]
    hits = np.flatnonzero([block.published.prints(value) for value in values.tolist()])
    if len(hits):
        level = int(hits[np.argmin(np.abs(hits - now))])
        return level, level
    centre = block.target[0]
    lower = int(np.searchsorted(values, centre)) - 1
    if lower < 0 or along <= 0.0:
        return -1, -1
    for below in range(lower, max(-1, lower - _FARTHEST), -1):
        wanted = (centre - (1 - along) * values[below]) / along
        upper = min(int(np.searchsorted(values, wanted - _TINY)), valid - 1)
        for above in (upper, max(upper - 1, 0)):
            if block.published.prints((1 - along) * values[below] + along * values[above]):
                return below, above
    return -1, -1
