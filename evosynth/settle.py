"""Settles counts that published shares rest on but that are not published themselves.

Percentages of a row, or the median of a group, bound counts only once the size of the row or group
is known. Sizes that nothing fixes are chosen here: near what is expected, so that every share can
be printed as published, and so that they add up.
"""

from __future__ import annotations

import numpy as np

from evosynth.agreement import Effects
from evosynth.margins import parents, tighten
from evosynth.objective import Smooth
from evosynth.problem import FlatShare, Problem
from evosynth.schema import Codes, FloatArray, IntArray

_RESTARTS = 3
"""Times that all sizes are chosen anew when they do not agree."""
_TRIES = 40
"""Times that three sizes of a table are chosen anew."""
_IDLE = 25
"""Tries without success after which two sizes are drawn at random."""
_STEPS = 4000
"""Shifts of records between groups that are tried for figures such as chi-square."""
_WRONG = 1e6
"""What a record too many costs beside such figures, in half-widths."""
_CHOICES = 200
"""Sizes considered for each group."""
_FARTHEST = 4000
"""How far from what is expected a size is looked for."""


def settle(problem: Problem, expected: FloatArray, rng: np.random.Generator) -> None:
    """Choose the open sizes, and set the bounds that follow from them.

    ``expected`` is roughly the count of every cell.
    """
    best: list[tuple[IntArray, IntArray]] = []
    least = np.inf
    for _ in range(_RESTARTS if problem.shares else 1):
        bounds, wrong = _settled(problem, expected, rng)
        if wrong < least:
            best, least = bounds, wrong
        if least == 0:
            break
    for table, (low, high) in enumerate(best):
        here = problem.slice(table)
        sound = low <= high
        problem.low[here] = np.where(sound, low, problem.low[here])
        problem.high[here] = np.where(sound, high, problem.high[here])
    problem.__dict__.pop("binding", None)


def _settled(
    problem: Problem, expected: FloatArray, rng: np.random.Generator
) -> tuple[list[tuple[IntArray, IntArray]], float]:
    """Bounds of every table once sizes are chosen, and by how many records they contradict."""
    slices = [problem.slice(table) for table in range(len(problem.grids))]
    bounds = [(problem.low[here].copy(), problem.high[here].copy()) for here in slices]
    tighten(problem.grids, bounds, problem.schema.records)
    shares: dict[int, list[FlatShare]] = {}
    for share in problem.shares:
        shares.setdefault(share.of, []).append(share)
    tables = {problem.table(of) for of in shares}
    wrong = 0.0
    for table in sorted(tables, key=lambda t: problem.grids[t].size):
        low, high = bounds[table]
        first = int(problem.first_cell[table])
        options = {
            cell: _options(
                problem,
                shares[first + cell],
                float(expected[first + cell]),
                int(low[cell]),
                int(high[cell]),
                bounds,
            )
            for cell in range(len(low))
            if first + cell in shares
        }
        sizes = _choose(problem, table, options, bounds, expected)
        sizes, left = _agree(problem, table, sizes, options, bounds, shares, rng)
        wrong += left
        low[:], high[:] = np.where(sizes >= 0, sizes, low), np.where(sizes >= 0, sizes, high)
        for cell in np.flatnonzero(sizes >= 0):
            for share in shares.get(first + int(cell), []):
                _bound(problem, share, int(sizes[cell]), bounds)
        tighten(problem.grids, bounds, problem.schema.records)
    return bounds, wrong


def _bound(
    problem: Problem, share: FlatShare, size: int, bounds: list[tuple[IntArray, IntArray]]
) -> None:
    """Narrow the cells of a share once its size is settled."""
    lows, highs = share.bounds(size)
    for cell, least, most in zip(share.cells.tolist(), lows, highs, strict=True):
        table = problem.table(cell)
        at = cell - int(problem.first_cell[table])
        if least > most:  # contradictory: as near as whole numbers come
            least, most = most, least
        bounds[table][0][at] = max(bounds[table][0][at], least)
        bounds[table][1][at] = min(bounds[table][1][at], most)


def _choose(
    problem: Problem,
    table: int,
    options: dict[int, list[int]],
    bounds: list[tuple[IntArray, IntArray]],
    expected: FloatArray,
) -> IntArray:
    """Size of each cell of a table that shares rest on; -1 where none is needed."""
    low, high = bounds[table]
    first = int(problem.first_cell[table])
    sizes = np.full(len(low), -1)
    for members, total in _families(problem, table, bounds):
        open_cells = [cell for cell in members if cell in options]
        rest = [cell for cell in members if cell not in options]
        least = sum(int(low[cell]) for cell in rest)
        most = sum(int(high[cell]) for cell in rest)
        goals = [float(expected[first + cell]) for cell in open_cells]
        chosen = _add_up([options[cell] for cell in open_cells], goals, total, least, most)
        sizes[open_cells] = chosen
    return sizes


def _agree(
    problem: Problem,
    table: int,
    sizes: IntArray,
    possible: dict[int, list[int]],
    bounds: list[tuple[IntArray, IntArray]],
    shares: dict[int, list[FlatShare]],
    rng: np.random.Generator,
) -> tuple[IntArray, float]:
    """Change chosen sizes until the cells that they bound agree with coarser tables.

    Three sizes at a time are chosen anew, the best of all combinations; if that does not do, many
    combinations of one half of the sizes are matched with many of the other. Returns the records
    by which they still contradict, too.
    """
    cells, options = list(possible), list(possible.values())
    movable = [i for i, found in enumerate(options) if len(found) > 1]
    effects = Effects.of(problem, table, cells, options, bounds, shares)
    if not movable or effects is None:
        return sizes, 0.0
    chosen = [
        found.index(int(sizes[cell])) if int(sizes[cell]) in found else 0
        for cell, found in zip(cells, options, strict=True)
    ]
    judges = _judges(problem)
    least = effects.wrong(chosen)
    best, nearest = chosen, np.inf
    kept, fewest, idle = chosen, least, 0
    for _ in range(_TRIES):
        if least == 0 and nearest == 0:
            break
        before = least
        some = rng.choice(movable, min(len(movable), 3), replace=False)
        chosen, least = effects.improve(chosen, least, some, rng)
        if least < fewest:
            kept, fewest = chosen, least
        idle = idle + 1 if least == before else 0
        if idle > _IDLE and least > 0:  # leave what no three sizes improve
            chosen, idle = list(chosen), 0
            for i in rng.choice(movable, min(len(movable), 2), replace=False):
                chosen[i] = int(rng.integers(len(options[i])))
            least = effects.wrong(chosen)
            continue
        if least == 0 or not np.isfinite(nearest):
            off = 0.0
            if least == 0 and judges:
                agreed = _sizes(sizes, cells, options, chosen)
                off = _off(problem, table, agreed, bounds, shares, judges, effects)
            if off < nearest:
                best, nearest = chosen, off if least == 0 else np.inf
    if fewest > 0 and len(movable) > 3:
        kept, fewest = effects.match(kept, fewest, movable, rng)
    agreed = _sizes(sizes, cells, options, best if np.isfinite(nearest) else kept)
    if 0 < nearest < np.inf and len(movable) > 1:
        open_cells = [cells[i] for i in movable]
        agreed = _wander(
            problem, table, agreed, open_cells, bounds, shares, judges, effects, nearest, rng
        )
    return agreed, fewest


def _wander(
    problem: Problem,
    table: int,
    sizes: IntArray,
    movable: list[int],
    bounds: list[tuple[IntArray, IntArray]],
    shares: dict[int, list[FlatShare]],
    judges: list[tuple[int, Smooth, Codes]],
    effects: Effects,
    nearest: float,
    rng: np.random.Generator,
) -> IntArray:
    """Move records between groups, few or many at a time, while the judges come nearer."""
    low, high = bounds[table]
    first = int(problem.first_cell[table])
    for _ in range(_STEPS):
        if nearest == 0:
            break
        one, two = (int(c) for c in rng.choice(movable, 2, replace=False))
        widest = max(2.0, problem.schema.records / 2)
        shift = int(np.exp(rng.random() * np.log(widest)))
        trial = sizes.copy()
        trial[one] += shift
        trial[two] -= shift
        if trial[one] > high[one] or trial[two] < max(1, low[two]):
            continue
        if not all(
            _possible(problem, share, int(trial[cell]), bounds)
            for cell in (one, two)
            for share in shares[first + cell]
        ):
            continue
        off = _off(problem, table, trial, bounds, shares, judges, effects)
        if off < nearest:
            sizes, nearest = trial, off
    return sizes


def _sizes(
    sizes: IntArray, cells: list[int], options: list[list[int]], chosen: list[int]
) -> IntArray:
    agreed = sizes.copy()
    agreed[cells] = [found[at] for found, at in zip(options, chosen, strict=True)]
    return agreed


def _judges(problem: Problem) -> list[tuple[int, Smooth, Codes]]:
    """Figures that follow from the counts of one table alone, such as chi-square.

    With the table, and a record of each of its cells.
    """
    found = []
    for block in problem.smooth:
        grid = block.counted
        for table, known in enumerate(problem.grids):
            if grid is not None and known.key == grid.key:
                codes = np.zeros((known.size, len(problem.schema.variables)), np.int64)
                levels = np.unravel_index(np.arange(known.size), known.shape)
                for column, group, level in zip(known.columns, known.groups, levels, strict=True):
                    first = np.array([int(np.argmax(group == g)) for g in range(group.max() + 1)])
                    codes[:, column] = first[level]
                found.append((table, block, codes.astype(problem.schema.dtype)))
    return found


def _off(
    problem: Problem,
    table: int,
    sizes: IntArray,
    bounds: list[tuple[IntArray, IntArray]],
    shares: dict[int, list[FlatShare]],
    judges: list[tuple[int, Smooth, Codes]],
    effects: Effects,
) -> float:
    """How far figures that follow from counts are off, in the middle of the counts' bounds."""
    trial = [(low.copy(), high.copy()) for low, high in bounds]
    for cell in np.flatnonzero(sizes >= 0).tolist():
        for share in shares.get(int(problem.first_cell[table]) + cell, []):
            _bound(problem, share, int(sizes[cell]), trial)
    total = _WRONG * effects.contradiction(trial)
    for judged, block, codes in judges:
        low, high = trial[judged]
        room = 1.0 + 0.1 * float((high - low).sum())
        off = np.abs(block.refit(codes, (low + high) / 2))
        total += float(np.maximum(np.nan_to_num(off, nan=1e6) - room, 0.0).sum())
    return total


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
    problem: Problem,
    shares: list[FlatShare],
    goal: float,
    low: int,
    high: int,
    bounds: list[tuple[IntArray, IntArray]],
) -> list[int]:
    """Sizes near what is expected at which every share can be printed, nearest first."""
    low = min(max(low, 1), high)  # a share of nothing is no number
    if low >= high:
        return [low]
    centre = int(np.clip(round(goal), low, high))
    found: list[int] = []
    for step in range(_FARTHEST):
        for size in {centre - step, centre + step}:
            if low <= size <= high and all(
                _possible(problem, share, size, bounds) for share in shares
            ):
                found.append(size)
        if len(found) >= _CHOICES:
            break
    return found or [centre]


def _possible(
    problem: Problem, share: FlatShare, size: int, bounds: list[tuple[IntArray, IntArray]]
) -> bool:
    """Whether cells can have their shares of a size within what else bounds them."""
    least = most = 0
    for cell, low, high in zip(share.cells.tolist(), *share.bounds(size), strict=True):
        table = problem.table(cell)
        at = cell - int(problem.first_cell[table])
        low, high = max(low, int(bounds[table][0][at])), min(high, int(bounds[table][1][at]))
        if low > high:
            return False
        least, most = least + low, most + high
    return not share.complete or least <= size <= most


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
