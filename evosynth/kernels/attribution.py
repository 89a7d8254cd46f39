"""Who shares the keys of whom: numbering of keys, sparse tables of keys by target, their sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosynth.kernels._jit import Flags, Floats, Integers, jit

(
    DORIG,
    DSYN,
    IS,
    DIS,
    DISCO,
    DISDIO,
    CAPD,
    CAPS,
    DCAP,
    LARGEST,
    CELLS,
    KEPT_D,
    KEPT_S,
) = range(13)
"""Places in what `sum_cells` returns."""


@jit
def number_values(values: Integers) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Give numbers to distinct values in the order of appearance, by hashing.

    Returns the number of each value, and the distinct values.
    """
    n = len(values)
    capacity = 1024
    slots = np.full(capacity, -1, dtype=np.int32)
    seen = np.empty(512, dtype=np.int64)
    found = np.empty(n, dtype=np.int32)
    size = 0
    for i in range(n):
        value = values[i]
        # Fibonacci hashing spreads neighbouring values; the top bits are the best mixed.
        place = ((value * np.int64(-7046029254386353131)) >> 20) & (capacity - 1)
        while slots[place] >= 0 and seen[slots[place]] != value:
            place = (place + 1) & (capacity - 1)
        if slots[place] < 0:
            seen[size] = value
            slots[place] = size
            size += 1
            found[i] = size - 1
            if 2 * size >= capacity:
                capacity *= 4
                slots = np.full(capacity, -1, dtype=np.int32)
                wider = np.empty(capacity // 2, dtype=np.int64)
                wider[:size] = seen[:size]
                seen = wider
                for k in range(size):
                    place = ((seen[k] * np.int64(-7046029254386353131)) >> 20) & (capacity - 1)
                    while slots[place] >= 0:
                        place = (place + 1) & (capacity - 1)
                    slots[place] = k
        else:
            found[i] = slots[place]
    return found, seen[:size].copy()


@jit
def sort_by_key(ids: Integers, n_keys: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return where the records of each key begin, and the records in the order of their keys."""
    start = np.zeros(n_keys + 1, dtype=np.int64)
    for i in range(len(ids)):
        start[ids[i] + 1] += 1
    for k in range(n_keys):
        start[k + 1] += start[k]
    place = start[:-1].copy()
    order = np.empty(len(ids), dtype=np.int32)
    for i in range(len(ids)):
        order[place[ids[i]]] = i
        place[ids[i]] += 1
    return start, order


@jit
def tabulate(
    start_d: Integers,
    order_d: Integers,
    target_d: Integers,
    start_s: Integers,
    order_s: Integers,
    target_s: Integers,
    n_levels: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Count target levels within each key on both sides, leaving out cells empty on both.

    Returns where the cells of each key begin, and per cell the level and both counts.
    """
    n_keys = len(start_d) - 1
    most = len(order_d) + len(order_s)
    level = np.empty(most, dtype=np.int32)
    d = np.empty(most, dtype=np.int32)
    s = np.empty(most, dtype=np.int32)
    begin = np.empty(n_keys + 1, dtype=np.int64)
    where = np.full(n_levels, -1, dtype=np.int64)
    size = 0
    for k in range(n_keys):
        begin[k] = size
        for side in range(2):
            start, order, target = start_d, order_d, target_d
            if side == 1:
                start, order, target = start_s, order_s, target_s
            for i in range(start[k], start[k + 1]):
                t = target[order[i]]
                cell = where[t]
                if cell < 0:
                    cell = size
                    where[t] = cell
                    level[cell] = t
                    d[cell] = 0
                    s[cell] = 0
                    size += 1
                if side == 0:
                    d[cell] += 1
                else:
                    s[cell] += 1
        for cell in range(begin[k], size):
            where[level[cell]] = -1
    begin[n_keys] = size
    return begin, level[:size].copy(), d[:size].copy(), s[:size].copy()


@jit
def sum_cells(
    begin: Integers,
    d: Integers,
    s: Integers,
    excluded: Flags,
    limit: int,
    tau: float,
    low: int,
    high: int,
    disclosive: Integers,
) -> Floats:
    """Sum what attribution measures are made of, in the order of the constants above.

    What is disclosive is decided by all records; exclusions then only stop cells from counting.

    Parameters
    ----------
    excluded
        Cells that do not count.
    limit
        Largest count of a cell that counts; 0 for no limit.
    tau
        Share of one level within a key from which it is disclosive.
    low, high
        Sizes of keys that an intruder acts on; ``high`` 0 for no limit.
    disclosive
        Filled, per cell, with the original records that are attributed correctly.
    """
    sums = np.zeros(13)
    for k in range(len(begin) - 1):
        d_all, s_all, d_key, s_key = 0, 0, 0, 0
        for c in range(begin[k], begin[k + 1]):
            d_all += d[c]
            s_all += s[c]
            if not excluded[c]:
                d_key += d[c] if limit == 0 or d[c] <= limit else 0
                s_key += s[c] if limit == 0 or s[c] <= limit else 0
        acts = s_all >= low and (high == 0 or s_all <= high)
        original_acts = d_all >= low and (high == 0 or d_all <= high)
        told = False
        for c in range(begin[k], begin[k + 1]):
            told = told or (acts and s[c] > 0 and s[c] >= tau * s_all - 1e-9)
        for c in range(begin[k], begin[k + 1]):
            disclosive[c] = 0
            if excluded[c]:
                continue
            d_cell = d[c] if limit == 0 or d[c] <= limit else 0
            s_cell = s[c] if limit == 0 or s[c] <= limit else 0
            in_d = original_acts and d[c] > 0 and d[c] >= tau * d_all - 1e-9
            in_s = acts and s[c] > 0 and s[c] >= tau * s_all - 1e-9
            sums[KEPT_D] += d_cell
            sums[KEPT_S] += s_cell
            if in_d:
                sums[DORIG] += d_cell
            if in_s:
                sums[DSYN] += s_cell
            if s_all > 0:
                sums[IS] += d_cell
            if told:
                sums[DIS] += d_cell
            if in_s and d_cell > 0:
                sums[DISCO] += d_cell
                sums[CELLS] += 1
                sums[LARGEST] = max(sums[LARGEST], float(d_cell))
                disclosive[c] = d_cell
                if in_d:
                    sums[DISDIO] += d_cell
            if d_cell > 0:
                sums[CAPD] += d_cell * d_cell / d_key
            if s_cell > 0:
                sums[CAPS] += s_cell * s_cell / s_key
                sums[DCAP] += d_cell * s_cell / s_key
    return sums
