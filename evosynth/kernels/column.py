"""One variable of a small dataset annealed, all others held, until its figures print as published.

The loss is in printed digits: the roots of the distances of all figures from their digits, and
the violation of tables. Quantiles follow the sorted values of their groups exactly; all other
figures follow their expansion.
"""

from __future__ import annotations

import numpy as np

from evosynth.kernels._jit import Flags, Floats, Integers, jit

_SINGLE, _TOGETHER, _PAIRED = 0.4, 0.65, 0.9
"""Up to which numbers one value changes, two change in opposite directions or as they may; else
two swap."""

_MISSED = 1.0
"""What a quantile that is missed costs besides its distance: it is easily hit."""


@jit
def _replace(ordered: Integers, size: int, old: int, new: int) -> None:
    """Take a level out of the sorted ones and put another in."""
    at = np.searchsorted(ordered[:size], old)
    if new > old:
        while at + 1 < size and ordered[at + 1] < new:
            ordered[at] = ordered[at + 1]
            at += 1
    else:
        while at > 0 and ordered[at - 1] > new:
            ordered[at] = ordered[at - 1]
            at -= 1
    ordered[at] = new


@jit
def _rank_loss(
    group: int,
    figures: Integers,
    first_part: Integers,
    ranks: Integers,
    shares: Floats,
    ends: Floats,
    values: Floats,
    ordered: Integers,
    room: float,
) -> float:
    """Roots of the distances of a group's quantiles from their digits."""
    total = 0.0
    for f in range(figures[group], figures[group + 1]):
        value = 0.0
        for part in range(first_part[f], first_part[f + 1]):
            value += shares[part] * values[ordered[group, ranks[part]]]
        middle, half = ends[f]
        off = abs(value - middle) / half - room
        if off > 0.0:
            total += _MISSED + np.sqrt(off)
    return total


@jit
def anneal_column(
    levels: Integers,
    movable: Integers,
    mates: Integers,
    kind: Integers,
    touched: Integers,
    influence: Floats,
    residual: Floats,
    cells: Integers,
    counts: Integers,
    low: Integers,
    high: Integers,
    member: Flags,
    ordered: Integers,
    sizes: Integers,
    figures: Integers,
    first_part: Integers,
    ranks: Integers,
    shares: Floats,
    ends: Floats,
    values: Floats,
    weight: float,
    room: float,
    heat: Floats,
    random: Floats,
) -> tuple[Integers, float]:
    """Return the levels of the variable with the least loss that was met, and that loss.

    ``mates`` says where in ``movable``, and how many, those are whose values count alike.
    ``kind`` tells records apart that differ in other variables: ``influence`` and ``cells`` have
    the shape (kinds, levels, figures or tables), ``touched`` the figures of each kind, filled up
    with -1. ``member`` says which records a sorted group
    holds. ``heat`` is the temperature of each proposal, ``random`` seven numbers for each.
    """
    n_levels = influence.shape[1]
    n_figures = len(residual)
    n_groups = len(sizes)
    present = 0.0
    for f in range(n_figures):
        present += np.sqrt(max(abs(residual[f]) - room, 0.0))
    for c in range(len(low)):
        present += weight * max(0, low[c] - counts[c], counts[c] - high[c])
    rank_loss = np.zeros(n_groups)
    for g in range(n_groups):
        rank_loss[g] = _rank_loss(
            g, figures, first_part, ranks, shares, ends, values, ordered, room
        )
        present += rank_loss[g]
    best, least = levels.copy(), present
    after, root = residual.copy(), np.zeros(n_figures)
    for f in range(n_figures):
        root[f] = np.sqrt(max(abs(residual[f]) - room, 0.0))
    who = np.empty(2, dtype=np.int64)
    old = np.empty(2, dtype=np.int64)
    new = np.empty(2, dtype=np.int64)
    for step in range(len(heat)):
        what, one, two, far, way, other, luck = random[step]
        at = int(one * len(movable))
        who[0] = movable[at]
        if what < _PAIRED:
            who[1] = movable[mates[at, 0] + int(two * mates[at, 1])]
        else:
            who[1] = movable[int(two * len(movable))]
        old[0], old[1] = levels[who[0]], levels[who[1]]
        shift = 1 + int(3.0 * far)
        if far >= 0.5:
            shift = int(np.exp((2.0 * far - 1.0) * np.log(2.0 + n_levels / 2.0)))
        if way < 0.5:
            shift = -shift
        members = 1
        if what < _SINGLE:
            new[0] = old[0] + shift
        elif who[0] == who[1]:
            continue
        elif what < _PAIRED:
            members = 2
            new[0], new[1] = old[0] + shift, old[1] - shift
            if what >= _TOGETHER:
                new[1] = old[1] + int(np.rint(6.0 * other - 3.0))
        else:
            members = 2
            new[0], new[1] = old[1], old[0]
        fits = new[0] != old[0]
        for k in range(members):
            fits &= 0 <= new[k] < n_levels
        if not fits:
            continue
        loss = 0.0
        change = 0
        for k in range(members):
            row = kind[who[k]]
            for f in touched[row]:
                if f < 0:
                    break
                loss -= np.sqrt(max(abs(after[f]) - room, 0.0)) if k else root[f]
                after[f] += influence[row, new[k], f] - influence[row, old[k], f]
                loss += np.sqrt(max(abs(after[f]) - room, 0.0))
            for t in range(cells.shape[2]):
                a, b = cells[row, old[k], t], cells[row, new[k], t]
                if a != b:
                    change -= max(0, low[a] - counts[a], counts[a] - high[a])
                    change -= max(0, low[b] - counts[b], counts[b] - high[b])
                    counts[a] -= 1
                    counts[b] += 1
                    change += max(0, low[a] - counts[a], counts[a] - high[a])
                    change += max(0, low[b] - counts[b], counts[b] - high[b])
            for g in range(n_groups):
                if member[g, who[k]]:
                    _replace(ordered[g], sizes[g], old[k], new[k])
        loss += weight * change
        for g in range(n_groups):
            if member[g, who[0]] or (members == 2 and member[g, who[1]]):
                loss -= rank_loss[g]
                loss += _rank_loss(
                    g, figures, first_part, ranks, shares, ends, values, ordered, room
                )
        if loss <= -heat[step] * np.log(max(luck, 1e-300)):
            present += loss
            for k in range(members):
                levels[who[k]] = new[k]
                for f in touched[kind[who[k]]]:
                    if f < 0:
                        break
                    residual[f] = after[f]
                    root[f] = np.sqrt(max(abs(after[f]) - room, 0.0))
            for g in range(n_groups):
                if member[g, who[0]] or (members == 2 and member[g, who[1]]):
                    rank_loss[g] = _rank_loss(
                        g, figures, first_part, ranks, shares, ends, values, ordered, room
                    )
            if present < least - 1e-9:
                best[:] = levels
                least = present
                if least < 1e-9:
                    break
        else:
            for k in range(members):
                row = kind[who[k]]
                for f in touched[row]:
                    if f < 0:
                        break
                    after[f] = residual[f]
                for t in range(cells.shape[2]):
                    a, b = cells[row, old[k], t], cells[row, new[k], t]
                    if a != b:
                        counts[a] += 1
                        counts[b] -= 1
                for g in range(n_groups):
                    if member[g, who[k]]:
                        _replace(ordered[g], sizes[g], new[k], old[k])
    return best, least
