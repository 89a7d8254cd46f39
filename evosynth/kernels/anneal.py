"""One variable given to records by raked shares, then annealed until its tables are satisfied.

A record's cell in each table is its ``base``, from its other variables, plus the ``step`` of its
level. What one record more or less in a cell costs is kept at hand, so a proposal is judged by a
few lookups.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosynth.kernels._jit import Floats, Integers, jit

_SWAP = np.uint64(0.94 * 2**16)
_SWAP_NEAR = np.uint64(0.7 * 2**16)
"""Of 2^16 proposals, how many swap levels, and how many of these between similar records."""
_DEAREST = 32
"""Changes that cost this much are never made."""
_GOLDEN = (5**0.5 - 1) / 2
_HALF = np.uint64(32)
_LOWER = np.uint64(2**32 - 1)
_SHORT = np.uint64(2**16 - 1)


@jit
def rake_types(
    weights: Floats, cells: Integers, first: Integers, low: Integers, high: Integers, rounds: int
) -> None:
    """Scale the weights of types of records, in place, until all tables fit.

    ``cells`` has the shape (tables, types); table t has the cells from ``first[t]`` on.
    """
    n_tables, n_types = cells.shape
    total = np.zeros(len(low))
    factor = np.ones(len(low))
    for k in range(n_types):
        total[cells[0, k]] += weights[k]
    for _ in range(rounds):
        worst = 0.0
        for t in range(n_tables):
            for c in range(first[t], first[t + 1]):
                goal = min(max(total[c], low[c]), high[c]) if total[c] > 0.0 else 0.0
                worst = max(worst, abs(goal - total[c]))
                factor[c] = goal / total[c] if total[c] > 0.0 else 1.0
                total[c] = 0.0
            after = (t + 1) % n_tables
            for k in range(n_types):
                weights[k] *= factor[cells[t, k]]
                total[cells[after, k]] += weights[k]
        if worst < 0.5:
            break


@jit
def rake_shares(
    shares: Floats,
    weights: Integers,
    base: Integers,
    step: Integers,
    low: Integers,
    high: Integers,
    rounds: int,
) -> None:
    """Scale the shares of levels in each group of records, in place, until all tables fit."""
    n_groups, n_tables = base.shape
    n_levels = step.shape[1]
    enough = max(0.5, 1e-5 * np.sum(weights))
    for _ in range(rounds):
        worst = 0.0
        for t in range(n_tables):
            total = np.zeros(len(low))
            for g in range(n_groups):
                for a in range(n_levels):
                    total[base[g, t] + step[t, a]] += weights[g] * shares[g, a]
            for c in range(len(low)):
                if total[c] > 0.0:
                    goal = min(max(total[c], low[c]), high[c])
                    worst = max(worst, abs(goal - total[c]))
                    total[c] = goal / total[c]
            for g in range(n_groups):
                for a in range(n_levels):
                    shares[g, a] *= total[base[g, t] + step[t, a]]
        for g in range(n_groups):
            whole = np.sum(shares[g])
            for a in range(n_levels):
                shares[g, a] = shares[g, a] / whole if whole > 0.0 else 1.0 / n_levels
        if worst < enough:
            break


@jit
def deal_levels(shares: Floats, weights: Integers, group: Integers, offset: float) -> Integers:
    """Give each record a level, so that each group of records gets its shares, evenly rounded."""
    n_groups, n_levels = shares.shape
    levels = np.empty(len(group), dtype=np.int64)
    dealt = np.zeros(n_groups, dtype=np.int64)
    level = np.zeros(n_groups, dtype=np.int64)
    reached = shares[:, 0].copy()
    for i in range(len(group)):
        g = group[i]
        point = (dealt[g] + (offset + g * _GOLDEN) % 1.0) / weights[g]
        while point >= reached[g] and level[g] < n_levels - 1:
            level[g] += 1
            reached[g] += shares[g, level[g]]
        dealt[g] += 1
        levels[i] = level[g]
    return levels


@jit
def _miss(count: int, low: int, high: int) -> int:
    """How many records too many or too few."""
    return max(0, low - count, count - high)


@jit
def _add(
    cell: int,
    number: int,
    counts: Integers,
    low: Integers,
    high: Integers,
    more: Integers,
    less: Integers,
) -> None:
    """Put records into a cell and note what one more or less would then cost."""
    counts[cell] += number
    now = _miss(counts[cell], low[cell], high[cell])
    more[cell] = _miss(counts[cell] + 1, low[cell], high[cell]) - now
    less[cell] = _miss(counts[cell] - 1, low[cell], high[cell]) - now


@jit
def _draw(state: NDArray[np.uint64]) -> np.uint64:
    """Next 64 random bits (xorshift64*, Vigna 2016)."""
    x: np.uint64 = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(0x2545F4914F6CDD1D)


@jit
def anneal_levels(
    levels: Integers,
    base: Integers,
    step: Integers,
    counts: Integers,
    low: Integers,
    high: Integers,
    near: Integers,
    group: Integers,
    shares: Floats,
    temperatures: Floats,
    proposals: int,
    state: NDArray[np.uint64],
) -> int:
    """Change the levels of records until no cell is wrong; return what remains wrong.

    Most proposals swap levels, often with one of the similar records in ``near``; a few replace
    one. ``shares`` of the levels in each group of records, if there are any, are kept to as far
    as the tables allow. ``levels`` and ``counts`` are updated in place.
    """
    n_tables, n_levels = step.shape
    more = np.empty(len(low), dtype=np.int8)
    less = np.empty(len(low), dtype=np.int8)
    loss = 0
    for c in range(len(low)):
        _add(c, 0, counts, low, high, more, less)
        loss += _miss(counts[c], low[c], high[c])
    chance = np.zeros(_DEAREST + 1, dtype=np.uint64)
    n_records = np.uint64(len(levels))
    n_near = np.uint64(near.shape[1])
    for temperature in temperatures:
        for d in range(_DEAREST):
            chance[d] = np.uint64(np.exp(-d / temperature) * (2.0**32 - 1.0))
        for _ in range(proposals):
            if loss == 0:
                return 0
            where, what = _draw(state), _draw(state)
            i = np.int64(((where >> _HALF) * n_records) >> _HALF)
            j = i
            swap = (what & _SHORT) < _SWAP
            old = np.int64(levels[i])
            if swap:
                if (what & _SHORT) < _SWAP_NEAR:
                    j = np.int64(near[i, ((where & _LOWER) * n_near) >> _HALF])
                else:
                    j = np.int64(((where & _LOWER) * n_records) >> _HALF)
                new = np.int64(levels[j])
            else:
                new = np.int64(((where & _LOWER) * np.uint64(n_levels)) >> _HALF)
            if new == old:
                continue
            change = 0
            for t in range(n_tables):
                a, b = step[t, old], step[t, new]
                p, q = base[i, t], base[j, t]
                if a != b:
                    if not swap:
                        change += less[p + a] + more[p + b]
                    elif p != q:
                        change += less[p + a] + more[p + b] + less[q + b] + more[q + a]
            if change > 0 and (what >> _HALF) >= chance[min(change, _DEAREST)]:
                continue
            if len(shares) > 0:
                then, now = shares[group[i], new], shares[group[i], old]
                if swap:
                    then *= shares[group[j], old]
                    now *= shares[group[j], new]
                if then < now * ((_draw(state) >> _HALF) / 2.0**32):
                    continue
            loss += change
            levels[i] = new
            if swap:
                levels[j] = old
            for t in range(n_tables):
                a, b = step[t, old], step[t, new]
                p, q = base[i, t], base[j, t]
                if a != b and not (swap and p == q):
                    _add(p + a, -1, counts, low, high, more, less)
                    _add(p + b, 1, counts, low, high, more, less)
                    if swap:
                        _add(q + b, -1, counts, low, high, more, less)
                        _add(q + a, 1, counts, low, high, more, less)
    return loss
