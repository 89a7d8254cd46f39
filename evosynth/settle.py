"""Settles counts that published shares rest on but that are not published themselves.

Percentages of a row, or the median of a group, bound counts only once the size of the row or group
is known. Sizes that nothing fixes are chosen here: near what is expected, so that every share can
be printed as published, and so that they add up.
"""

from __future__ import annotations

import numpy as np

from evosynth.margins import parents, tighten
from evosynth.problem import FlatShare, Problem
from evosynth.schema import FloatArray, IntArray

_CHOICES = 60
"""Sizes considered for each group."""
_FARTHEST = 4000
"""How far from what is expected a size is looked for."""


def settle(problem: Problem, expected: FloatArray, rng: np.random.Generator) -> None:
    """Choose the open sizes, and set the bounds that follow from them.

    ``expected`` is roughly the count of every cell.
    """
    slices = [problem.slice(table) for table in range(len(problem.grids))]
    bounds = [(problem.low[here].copy(), problem.high[here].copy()) for here in slices]
    tighten(problem.grids, bounds, problem.schema.records)
    shares: dict[int, list[FlatShare]] = {}
    for share in problem.shares:
        shares.setdefault(share.of, []).append(share)
    tables = {int(np.searchsorted(problem.first_cell, of, "right")) - 1 for of in shares}
    for table in sorted(tables, key=lambda t: problem.grids[t].size):
        low, high = bounds[table]
        first = int(problem.first_cell[table])
        sizes = _choose(problem, table, bounds, expected, shares, rng)
        low[:], high[:] = np.where(sizes >= 0, sizes, low), np.where(sizes >= 0, sizes, high)
        for cell in np.flatnonzero(sizes >= 0):
            for share in shares.get(first + int(cell), []):
                _bound(problem, share, int(sizes[cell]), bounds)
        tighten(problem.grids, bounds, problem.schema.records)
    for here, (low, high) in zip(slices, bounds, strict=True):
        sound = low <= high
        problem.low[here] = np.where(sound, low, problem.low[here])
        problem.high[here] = np.where(sound, high, problem.high[here])
    problem.__dict__.pop("binding", None)


def _bound(
    problem: Problem, share: FlatShare, size: int, bounds: list[tuple[IntArray, IntArray]]
) -> None:
    """Narrow the cells of a share once its size is settled."""
    lows, highs = share.bounds(size)
    for cell, least, most in zip(share.cells.tolist(), lows, highs, strict=True):
        table = int(np.searchsorted(problem.first_cell, cell, "right")) - 1
        at = cell - int(problem.first_cell[table])
        if least > most:  # contradictory: as near as whole numbers come
            least, most = most, least
        bounds[table][0][at] = max(bounds[table][0][at], least)
        bounds[table][1][at] = min(bounds[table][1][at], most)


def _choose(
    problem: Problem,
    table: int,
    bounds: list[tuple[IntArray, IntArray]],
    expected: FloatArray,
    shares: dict[int, list[FlatShare]],
    rng: np.random.Generator,
) -> IntArray:
    """Size of each cell of a table that shares rest on; -1 where none is needed."""
    low, high = bounds[table]
    first = int(problem.first_cell[table])
    sizes = np.full(len(low), -1)
    options: dict[int, list[int]] = {}
    for cell in range(len(low)):
        found = shares.get(first + cell)
        if found is not None:
            goal = float(expected[first + cell])
            options[cell] = _options(found, goal, int(low[cell]), int(high[cell]), rng)
    for members, total in _families(problem, table, bounds):
        open_cells = [cell for cell in members if cell in options]
        rest = [cell for cell in members if cell not in options]
        least = sum(int(low[cell]) for cell in rest)
        most = sum(int(high[cell]) for cell in rest)
        goals = [float(expected[first + cell]) for cell in open_cells]
        chosen = _add_up([options[cell] for cell in open_cells], goals, total, least, most)
        sizes[open_cells] = chosen
    return sizes


def _families(
    problem: Problem, table: int, bounds: list[tuple[IntArray, IntArray]]
) -> list[tuple[list[int], int]]:
    """Cells of a table that must add up to a known count, and that count."""
    grid = problem.grids[table]
    best: tuple[int, IntArray, IntArray] | None = None
    for other, coarse in enumerate(problem.grids):
        if other == table or coarse.size > grid.size:
            continue
        low, high = bounds[other]
        part = parents(grid, coarse)
        if part is not None and (low == high).all() and (best is None or coarse.size > best[0]):
            best = coarse.size, part, low
    if best is None:
        return [(list(range(grid.size)), problem.schema.records)]
    _, part, totals = best
    return [(np.flatnonzero(part == i).tolist(), int(total)) for i, total in enumerate(totals)]


def _options(
    shares: list[FlatShare], goal: float, low: int, high: int, rng: np.random.Generator
) -> list[int]:
    """Sizes near what is expected at which every share can be printed, nearest first."""
    if low >= high:
        return [low]
    centre = int(np.clip(round(goal), low, high))
    found: list[int] = []
    for step in range(_FARTHEST):
        for size in {centre - step, centre + step}:
            if low <= size <= high and all(_possible(share, size) for share in shares):
                found.append(size)
        if len(found) >= _CHOICES:
            break
    return found or [centre]


def _possible(share: FlatShare, size: int) -> bool:
    lows, highs = share.bounds(size)
    return all(a <= b for a, b in zip(lows, highs, strict=True))


def _add_up(
    options: list[list[int]], goals: list[float], total: int, least: int, most: int
) -> list[int]:
    """Choose one of each so that they add up, as near to the goals as possible.

    The cells that are not chosen here take up between ``least`` and ``most``.
    """
    if not options:
        return []
    nearest = [found[0] for found in options]
    if total - most <= sum(nearest) <= total - least:
        return nearest
    # Cost of every reachable sum, one group after the other.
    costs: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}
    for found, goal in zip(options, goals, strict=True):
        new: dict[int, tuple[float, tuple[int, ...]]] = {}
        for so_far, (cost, path) in costs.items():
            for size in found:
                at = so_far + size
                price = cost + (size - goal) ** 2 / max(goal, 1.0)
                if at not in new or price < new[at][0]:
                    new[at] = price, (*path, size)
        ranked = sorted(new.items(), key=lambda item: item[1][0])
        costs = dict(ranked[:2000])
    fitting = [item for at, item in costs.items() if total - most <= at <= total - least]
    return list(min(fitting)[1]) if fitting else nearest
