"""Micro-mutations on data that carry their sums: each is judged by a few exact additions.

A move takes one or two records out of their rows and puts them into other rows. ``slot_*`` say
where the stock of available records changes, ``row_*`` where the row's statistics are found;
-1 means that there is no second record, or no stock to add to.
"""

from __future__ import annotations

import numpy as np

from evosynth.kernels._jit import Flags, Floats, Integers, jit

_NOTHING = 1e-12
"""Change of a whitened figure that is rounding alone."""


@jit
def draw_changes(
    codes: Integers,
    first: Integers,
    second: Integers,
    free: Integers,
    stepped: Integers,
    sizes: Integers,
    valid: Integers,
    uniform: Floats,
) -> tuple[Integers, Integers, Integers, Flags, Flags]:
    """Draw what each move changes: the variable, its old and new level, and whether it is a swap.

    Half of the moves swap one variable between two records, which keeps its margin; the others
    replace a value, half of these that of a quantity by one that is near: one to three steps
    away, or now and then farther. The last array tells which moves change anything.
    """
    size = len(first)
    variable = np.empty(size, dtype=np.int64)
    old = np.empty(size, dtype=np.int64)
    new = np.empty(size, dtype=np.int64)
    swap = np.zeros(size, dtype=np.bool_)
    kept = np.zeros(size, dtype=np.bool_)
    for m in range(size):
        what, which, where = uniform[m]
        step = 0.3 <= what < 0.85 and len(stepped) > 0
        choice = stepped if step else free
        v = choice[int(which * len(choice))]
        variable[m] = v
        old[m] = codes[first[m], v]
        if what < (0.3 if len(stepped) > 0 else 0.5):
            swap[m] = True
            new[m] = codes[second[m], v]
        elif step:
            far = abs(2.0 * where - 1.0)
            shift = 1 + int(6.0 * far)
            if far >= 0.5:
                shift = int(np.exp((2.0 * far - 1.0) * np.log(3.0 + valid[v] / 4.0)))
            if where < 0.5:
                shift = -shift
            new[m] = old[m]
            if old[m] < valid[v]:
                new[m] = min(max(old[m] + shift, 0), valid[v] - 1)
        else:
            new[m] = int(where * sizes[v])
        kept[m] = new[m] != old[m]
    return variable, old, new, swap, kept


@jit
def _shift(
    cells: Integers, source: int, target: int, counts: Integers, low: Integers, high: Integers
) -> int:
    """Move one record from a row to another in every table; return the change in violation."""
    change = 0
    for t in range(cells.shape[1]):
        a, b = cells[source, t], cells[target, t]
        if a != b:
            change -= max(0, low[a] - counts[a], counts[a] - high[a])
            change -= max(0, low[b] - counts[b], counts[b] - high[b])
            counts[a] -= 1
            counts[b] += 1
            change += max(0, low[a] - counts[a], counts[a] - high[a])
            change += max(0, low[b] - counts[b], counts[b] - high[b])
    return change


@jit
def _neutral(cells: Integers, row_from: Integers, row_to: Integers, pair: bool) -> bool:
    """Whether a move leaves every table as it is."""
    for t in range(cells.shape[1]):
        first, to_first = cells[row_from[0], t], cells[row_to[0], t]
        if pair:
            second, to_second = cells[row_from[1], t], cells[row_to[1], t]
            straight = first == to_first and second == to_second
            crossed = first == to_second and second == to_first
            if not (straight or crossed):
                return False
        elif first != to_first:
            return False
    return True


@jit
def accept_moves(
    stock: Integers,
    slot_from: Integers,
    slot_to: Integers,
    row_from: Integers,
    row_to: Integers,
    cells: Integers,
    counts: Integers,
    low: Integers,
    high: Integers,
    influence: Floats,
    residual: Floats,
    tolerances: Floats,
    weight: float,
) -> Flags:
    """Make each move that does not worsen the loss by more than its tolerance.

    The loss is ``weight`` × the tables' violation plus the squared residual. Moves that change
    neither are not made: they would only wear away what nothing published fixes, shapes and
    associations. ``stock``, ``counts`` and ``residual`` are updated in place. Returns which moves
    were made.
    """
    n_moves = len(slot_from)
    n_figures = len(residual)
    made = np.zeros(n_moves, dtype=np.bool_)
    delta = np.empty(n_figures)
    for m in range(n_moves):
        pair = slot_from[m, 1] >= 0
        if stock[slot_from[m, 0]] < 1:
            continue
        if pair:
            enough = 2 if slot_from[m, 0] == slot_from[m, 1] else 1
            if stock[slot_from[m, 1]] < enough:
                continue
        members = 2 if pair else 1
        delta[:] = 0.0
        change = 0.0
        idle = _neutral(cells, row_from[m], row_to[m], pair)
        for k in range(members):
            change += weight * _shift(cells, row_from[m, k], row_to[m, k], counts, low, high)
            for j in range(n_figures):
                delta[j] += influence[row_to[m, k], j] - influence[row_from[m, k], j]
        for j in range(n_figures):
            change += delta[j] * (2.0 * residual[j] + delta[j])
            idle &= abs(delta[j]) < _NOTHING
        if change <= tolerances[m] and not idle:
            made[m] = True
            for j in range(n_figures):
                residual[j] += delta[j]
            for k in range(members):
                stock[slot_from[m, k]] -= 1
                if slot_to[m, k] >= 0:
                    stock[slot_to[m, k]] += 1
        else:
            for k in range(members):
                _shift(cells, row_to[m, k], row_from[m, k], counts, low, high)
    return made


@jit
def neutral_moves(
    slot_from: Integers, row_from: Integers, row_to: Integers, cells: Integers, stock: Integers
) -> Flags:
    """Tell which moves can be made and leave every table as it is."""
    kept = np.zeros(len(slot_from), dtype=np.bool_)
    for m in range(len(slot_from)):
        a, b = slot_from[m]
        if stock[a] < 1 or (b >= 0 and (stock[b] < 1 or a == b)):
            continue
        kept[m] = _neutral(cells, row_from[m], row_to[m], b >= 0)
    return kept


@jit
def pick_neutral(
    slot_from: Integers,
    slot_to: Integers,
    row_from: Integers,
    row_to: Integers,
    cells: Integers,
    stock: Integers,
    taken: Flags,
) -> tuple[Flags, Floats]:
    """Choose moves on disjoint records that leave every table as it is.

    ``taken`` marks slots in use and is updated. Returns which moves were chosen, and how often
    each can be made backwards and forwards.
    """
    n_moves = len(slot_from)
    chosen = np.zeros(n_moves, dtype=np.bool_)
    reach = np.zeros((n_moves, 2))
    for m in range(n_moves):
        pair = slot_from[m, 1] >= 0
        a, b = slot_from[m]
        c, d = slot_to[m]
        if taken[a] or stock[a] < 1 or (c >= 0 and taken[c]):
            continue
        if pair and (taken[b] or stock[b] < 1 or a == b or (d >= 0 and (taken[d] or c == d))):
            continue
        if c >= 0 and (c == b or a == d):
            continue
        if not _neutral(cells, row_from[m], row_to[m], pair):
            continue
        chosen[m] = True
        taken[a] = True
        reach[m, 1] = stock[a]
        reach[m, 0] = 0
        if c >= 0:
            taken[c] = True
            reach[m, 0] = stock[c]
        if pair:
            taken[b] = True
            reach[m, 1] = min(stock[a], stock[b])
            if d >= 0:
                taken[d] = True
                reach[m, 0] = min(stock[c], stock[d])
    return chosen, reach


@jit
def best_pair(
    effects: Floats, slot_from: Integers, residual: Floats, room: float, least: float
) -> tuple[int, int, float]:
    """Find the one or two moves on different records that bring figures nearest to their digits.

    Returns the moves (the second -1 for none, both -1 if nothing is below ``least``) and the sum
    of the roots of the distances that are left.
    """
    n_moves, n_figures = effects.shape
    first, second = -1, -1
    for a in range(n_moves):
        for b in range(a, n_moves):
            if b > a and (
                slot_from[a, 0] == slot_from[b, 0]
                or slot_from[a, 0] == slot_from[b, 1]
                or slot_from[a, 1] == slot_from[b, 0]
                or (slot_from[a, 1] >= 0 and slot_from[a, 1] == slot_from[b, 1])
            ):
                continue
            loss = 0.0
            for j in range(n_figures):
                e = residual[j] + effects[a, j]
                if b > a:
                    e += effects[b, j]
                e = abs(e) - room
                if e > 0.0:
                    loss += np.sqrt(e)
                    if loss >= least:
                        break
            if loss < least:
                least = loss
                first = a
                second = b if b > a else -1
    return first, second, least
