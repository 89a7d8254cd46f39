"""Values dealt to records by raked shares, then annealed until cell counts lie in intervals.

A record's cell in each table is kept in ``cells``; giving variable v another level moves it by
the difference of two ``steps``. What one record more or less in a cell costs is kept too, so a
proposal is judged by a few lookups.
"""

from __future__ import annotations

import numpy as np

from evosynth.kernels._jit import Floats, Integers, jit

_SWAPS = np.uint64(0.94 * 2**16)
_NEAR = np.uint64(0.7 * 2**16)
_GOLDEN = 0.6180339887498949
_MOST = 32
_FREELY = -100
_HALF = np.uint64(32)
_LOWER = np.uint64(2**32 - 1)
_SHORT = np.uint64(2**16 - 1)


@jit
def rake_shares(
    shares: Floats,
    base: Integers,
    weights: Integers,
    step: Integers,
    low: Integers,
    high: Integers,
    rounds: int,
) -> None:
    """Scale the shares of a variable's levels in each group of records until its tables fit.

    ``base`` holds the cells of a group without the variable, ``step`` what each level adds to
    them, both per table.
    """
    n_groups, n_tables = base.shape
    n_levels = step.shape[1]
    n_records = np.sum(weights)
    for r in range(rounds):
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
            whole = 0.0
            for a in range(n_levels):
                whole += shares[g, a]
            for a in range(n_levels):
                shares[g, a] = shares[g, a] / whole if whole > 0.0 else 1.0 / n_levels
        if worst * 2.0 < 1.0 or worst * 1e5 < n_records:
            break


@jit
def rake_types(
    weights: Floats, cells: Integers, first: Integers, low: Integers, high: Integers, rounds: int
) -> None:
    """Scale the weights of types of records, in place, until all tables fit; cells by table."""
    n_tables, n_types = cells.shape
    factor = np.ones(len(low))
    total = np.zeros(len(low))
    for k in range(n_types):
        total[cells[0, k]] += weights[k]
    for r in range(rounds):
        worst = 0.0
        for t in range(n_tables):
            for c in range(first[t], first[t + 1]):
                goal = min(max(total[c], low[c]), high[c])
                if total[c] > 0.0:
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
def deal_levels(shares: Floats, weights: Integers, group: Integers, offset: float) -> Integers:
    """Level of each record, so that each group of records gets its shares, evenly rounded."""
    n_groups, n_levels = shares.shape
    dealt = np.zeros(n_groups, dtype=np.int64)
    sofar = np.zeros(n_groups)
    level = np.zeros(n_groups, dtype=np.int64)
    levels = np.empty(len(group), dtype=np.int64)
    for g in range(n_groups):
        sofar[g] = shares[g, 0]
    for i in range(len(group)):
        g = group[i]
        point = (dealt[g] + (offset + g * _GOLDEN) % 1.0) / weights[g]
        while point >= sofar[g] and level[g] < n_levels - 1:
            level[g] += 1
            sofar[g] += shares[g, level[g]]
        dealt[g] += 1
        levels[i] = level[g]
    return levels


@jit
def _miss(count: int, low: int, high: int) -> int:
    """How many records too many or too few."""
    return max(0, low - count, count - high)


@jit
def _price(
    cell: int, counts: Integers, low: Integers, high: Integers, more: Integers, less: Integers
) -> None:
    """Note what one record more or less in a cell costs."""
    now = _miss(counts[cell], low[cell], high[cell])
    more[cell] = _miss(counts[cell] + 1, low[cell], high[cell]) - now
    less[cell] = _miss(counts[cell] - 1, low[cell], high[cell]) - now


@jit
def _draw(state: Integers) -> np.uint64:
    """Next random 64 bits (xorshift64*; Vigna 2016)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(0x2545F4914F6CDD1D)


@jit
def anneal(
    codes: Integers,
    cells: Integers,
    active: Integers,
    table_start: Integers,
    table: Integers,
    step: Integers,
    sizes: Integers,
    counts: Integers,
    low: Integers,
    high: Integers,
    temperatures: Floats,
    proposals: int,
    near: Integers,
    group: Integers,
    shares: Floats,
    state: Integers,
) -> int:
    """Change ``active`` variables of records until no cell is wrong; return what remains wrong.

    Most proposals swap a value between two records, a few replace one. ``codes``, ``cells`` and
    ``counts`` are updated in place.
    """
    more = np.empty(len(low), dtype=np.int8)
    less = np.empty(len(low), dtype=np.int8)
    loss = 0
    for c in range(len(low)):
        _price(c, counts, low, high, more, less)
        loss += _miss(counts[c], low[c], high[c])
    chance = np.zeros(_MOST + 1, dtype=np.uint64)
    n_records = np.uint64(len(codes))
    n_near = np.uint64(near.shape[1])
    n_active = np.uint64(len(active))
    for temperature in temperatures:
        for d in range(_MOST):
            chance[d] = np.uint64(np.exp(-d / temperature) * (2.0**32 - 1.0))
        for _ in range(proposals):
            if loss == 0:
                return 0
            where = _draw(state)
            what = _draw(state)
            i = np.int64(((where >> _HALF) * n_records) >> _HALF)
            v = np.int64((((what >> np.uint64(16)) & _SHORT) * n_active) >> np.uint64(16))
            column = active[v]
            old = np.int64(codes[i, column])
            swap = (what & _SHORT) < _SWAPS
            change = 0
            if swap:
                if (what & _SHORT) < _NEAR:
                    j = np.int64(near[i, ((where & _LOWER) * n_near) >> _HALF])
                else:
                    j = np.int64(((where & _LOWER) * n_records) >> _HALF)
                new = np.int64(codes[j, column])
                if new == old:
                    continue
                for k in range(table_start[v], table_start[v + 1]):
                    shift = step[k, new] - step[k, old]
                    p = cells[i, table[k]]
                    q = cells[j, table[k]]
                    if shift != 0 and p + shift != q:
                        change += less[p] + more[p + shift] + less[q] + more[q - shift]
            else:
                j = i
                new = np.int64(((where & _LOWER) * np.uint64(sizes[v])) >> _HALF)
                if new == old:
                    continue
                for k in range(table_start[v], table_start[v + 1]):
                    shift = step[k, new] - step[k, old]
                    p = cells[i, table[k]]
                    if shift != 0:
                        change += less[p] + more[p + shift]
            if change > 0 and (what >> _HALF) >= chance[min(change, _MOST)]:
                continue
            if len(shares) > 0 and change >= _FREELY:
                then = shares[group[i], new]
                now = shares[group[i], old]
                if swap:
                    then *= shares[group[j], old]
                    now *= shares[group[j], new]
                if then < now and then < now * ((_draw(state) >> _HALF) / 2.0**32):
                    continue
            loss += change
            codes[i, column] = new
            if swap:
                codes[j, column] = old
            for k in range(table_start[v], table_start[v + 1]):
                shift = step[k, new] - step[k, old]
                if shift == 0:
                    continue
                t = table[k]
                p = cells[i, t]
                counts[p] -= 1
                counts[p + shift] += 1
                cells[i, t] = p + shift
                if swap:
                    q = cells[j, t]
                    counts[q] -= 1
                    counts[q - shift] += 1
                    cells[j, t] = q - shift
                    _price(q, counts, low, high, more, less)
                    _price(q - shift, counts, low, high, more, less)
                _price(p, counts, low, high, more, less)
                _price(p + shift, counts, low, high, more, less)
    return loss
