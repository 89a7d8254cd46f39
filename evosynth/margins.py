"""What tables of counts say about each other through the cells that they have in common."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from evosynth.grid import Grid
from evosynth.schema import IntArray

_ROUNDS = 4


def parents(fine: Grid, coarse: Grid) -> IntArray | None:
    """Cell of ``coarse`` that each cell of ``fine`` is part of; ``None`` if it is not finer."""
    found = np.zeros((1,) * len(fine.columns), dtype=np.int64)
    for column, groups, stride in zip(coarse.columns, coarse.groups, coarse.strides, strict=True):
        if column not in fine.columns:
            return None
        axis = fine.columns.index(column)
        part = np.zeros(fine.shape[axis], dtype=np.int64)
        part[fine.groups[axis]] = groups
        if (part[fine.groups[axis]] != groups).any():
            return None
        shape = [-1 if i == axis else 1 for i in range(len(fine.columns))]
        found = found + (part * stride).reshape(shape)
    return np.broadcast_to(found, fine.shape).ravel()


def project(
    fine: Grid, low: IntArray, high: IntArray, coarse: Grid, records: int
) -> tuple[IntArray, IntArray] | None:
    """Bounds that the cells of a table set to those of a coarser one."""
    part = parents(fine, coarse)
    if part is None:
        return None
    return _sums(part, low, high, coarse.size, records)


def _sums(
    part: IntArray, low: IntArray, high: IntArray, size: int, records: int
) -> tuple[IntArray, IntArray]:
    lowest = np.bincount(part, low, size).astype(np.int64)
    highest = np.bincount(part, high, size).astype(np.int64)
    least = np.maximum(lowest, records - (highest.sum() - highest))
    most = np.minimum(highest, records - (lowest.sum() - lowest))
    return least, most


def plain(grid: Grid) -> Grid:
    """Leave out variables of which all values are one group; the cells are the same."""
    kept = [i for i, size in enumerate(grid.shape) if size > 1]
    return Grid(tuple(grid.columns[i] for i in kept), tuple(grid.groups[i] for i in kept))


def common(one: Grid, two: Grid) -> Grid:
    """Return the finest table that is coarser than both."""
    columns, groups = [], []
    for column, group in zip(one.columns, one.groups, strict=True):
        if column not in two.columns:
            continue
        joined = _join(group, two.groups[two.columns.index(column)])
        if joined.max() > 0:
            columns.append(column)
            groups.append(joined)
    return Grid(tuple(columns), tuple(groups))


def _join(one: IntArray, two: IntArray) -> IntArray:
    """Group levels that either grouping puts together."""
    if np.array_equal(one, two):
        return one
    joined = one.copy()
    while True:
        least = np.full(int(two.max()) + 1, len(one))
        np.minimum.at(least, two, joined)
        new = least[two]
        least = np.full(int(one.max()) + 1, len(one))
        np.minimum.at(least, one, new)
        new = least[one]
        if np.array_equal(new, joined):
            return np.unique(joined, return_inverse=True)[1]
        joined = new


def tighten(grids: tuple[Grid, ...], bounds: list[tuple[IntArray, IntArray]], records: int) -> None:
    """Narrow the bounds of tables, in place, by those of coarser and finer ones.

    Where they contradict each other, narrowing ends before it does harm.
    """
    pairs = []
    for one, two in combinations(range(len(grids)), 2):
        if grids[one].size >= grids[two].size:
            part = parents(grids[one], grids[two])
            fine, coarse = one, two
        else:
            part = parents(grids[two], grids[one])
            fine, coarse = two, one
        if part is not None:
            pairs.append((fine, coarse, part))
    for _ in range(_ROUNDS):
        changed = False
        for fine, coarse, part in pairs:
            changed |= _exchange(*bounds[fine], *bounds[coarse], part, records)
        for low, high in bounds:
            changed |= _exchange(low, high, *_whole(records), np.zeros(len(low), np.int64), records)
        if not changed:
            break


def _whole(records: int) -> tuple[IntArray, IntArray]:
    return np.array([records]), np.array([records])


def _exchange(
    low: IntArray, high: IntArray, above: IntArray, below: IntArray, part: IntArray, records: int
) -> bool:
    """Narrow fine cells by the coarse cells that they make up, and the reverse."""
    least, most = _sums(part, low, high, len(above), records)
    changed = _narrow(above, below, least, most)
    lowest = np.bincount(part, low, len(above)).astype(np.int64)
    highest = np.bincount(part, high, len(above)).astype(np.int64)
    floor = above[part] - (highest[part] - high)
    roof = below[part] - (lowest[part] - low)
    return _narrow(low, high, floor, roof) or changed


def _narrow(low: IntArray, high: IntArray, least: IntArray, most: IntArray) -> bool:
    """Narrow intervals where that leaves something of them; tell whether any changed."""
    new_low, new_high = np.maximum(low, least), np.minimum(high, most)
    sound = new_low <= new_high
    changed = bool((sound & ((new_low > low) | (new_high < high))).any())
    low[sound], high[sound] = new_low[sound], new_high[sound]
    return changed
