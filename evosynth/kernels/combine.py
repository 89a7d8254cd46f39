"""Walks through the states of small groups, and a beam search over combinations of them."""

from __future__ import annotations

import numpy as np

from evosynth.kernels._jit import Floats, Integers, jit

_PAIRED, _BALANCED = 0.5, 0.95
"""Up to which numbers two values shift in opposite directions, or those beside a quantile do;
else one shifts alone."""
_FAR = 40.0
_TINY = 1e-9


@jit
def walk(
    levels: Integers,
    least: Integers,
    most: Integers,
    influence: Floats,
    residual: Floats,
    weight: Floats,
    values: Floats,
    first_part: Integers,
    ranks: Integers,
    shares: Floats,
    ends: Floats,
    steps: Integers,
    room: float,
    heat: Floats,
    ways: int,
    random: Floats,
) -> tuple[Integers, Floats]:
    """Shift values of a group at random, and return states met with their effects on figures.

    ``influence`` has the shape (records, levels, figures). Quantiles, given by ranks, shares and
    ``ends`` (centre and half-width), are figures beyond these, and never get worse; ``steps``
    says by how many levels the records beside each may move without moving it. Levels stay
    between ``least`` and ``most``. Where more than ``ways`` states are met, each later one
    replaces one of them at random.
    """
    size, n_figures, n_smooth = len(levels), len(residual), influence.shape[2]
    here = levels.copy()
    states = np.empty((ways, size), dtype=np.int64)
    effects = np.empty((ways, n_figures))
    now, then = np.zeros(n_figures), np.zeros(n_figures)
    present = 0.0
    for f in range(n_figures):
        present += weight[f] * np.sqrt(max(abs(residual[f]) - room, 0.0))
    met = 0
    who, new = np.empty(3, dtype=np.int64), np.empty(3, dtype=np.int64)
    for step in range(len(random)):
        what, one, two, three, far, way, luck = random[step]
        who[0], who[1], who[2] = int(one * size), int(two * size), int(three * size)
        shift = int(_FAR**far)
        if way < 0.5:
            shift = -shift
        members = 1
        new[0] = here[who[0]] + shift
        if what < _PAIRED:
            members = 2
            new[1] = here[who[1]] - shift
        elif what < _BALANCED and len(ends):
            # The two records on either side of a quantile move so that it stays, a third so that
            # the sum stays.
            q = int(one * len(ends))
            if first_part[q + 1] - first_part[q] == 2:
                order = np.argsort(here, kind="mergesort")
                members = 3
                shift = shift // 8 + (shift > 0)
                for k in range(2):
                    who[k] = order[ranks[first_part[q] + k]]
                    new[k] = here[who[k]] + shift * steps[q, k]
                new[2] = here[who[2]] - shift * (steps[q, 0] + steps[q, 1])
                if steps[q, 0] + steps[q, 1] == 0:
                    members = 2
        sound = True
        for k in range(members):
            for j in range(k):
                sound &= who[k] != who[j]
            sound &= least[who[k]] <= new[k] <= most[who[k]]
        if not sound:
            continue
        after = here.copy()
        for k in range(members):
            after[who[k]] = new[k]
        total = 0.0
        if len(ends):
            ordered = np.sort(after)
            for q in range(len(ends)):
                value = 0.0
                for part in range(first_part[q], first_part[q + 1]):
                    value += shares[part] * values[ordered[ranks[part]]]
                f = n_smooth + q
                off = (value - ends[q, 0]) / ends[q, 1]
                if abs(off) > max(room, abs(residual[f] + now[f])) + _TINY:
                    sound = False
                    break
                then[f] = off - residual[f]
                total += np.sqrt(max(abs(off) - room, 0.0))
            if not sound:
                continue
        for f in range(n_smooth):
            change = now[f]
            for k in range(members):
                change += influence[who[k], new[k], f] - influence[who[k], here[who[k]], f]
            then[f] = change
            total += weight[f] * np.sqrt(max(abs(residual[f] + change) - room, 0.0))
        if total - present > -heat[step] * np.log(max(luck, 1e-300)):
            continue
        present = total
        here = after
        now[:] = then
        at = met if met < ways else int(luck * 1e9) % ways
        states[at] = here
        effects[at] = now
        met += 1
    met = min(met, ways)
    return states[:met], effects[:met]


@jit
def extend_beam(
    residual: Floats, effect: Floats, touched: Integers, room: float, beam: int
) -> tuple[Integers, Integers]:
    """Return the states and ways (-1 for none) whose sums come nearest to all printed digits.

    ``residual`` holds a state in each row, ``effect`` what each way does to the ``touched``
    figures. The loss is the sum of the roots of distances. Of several with the same loss the
    first is kept.
    """
    n_states, n_ways = len(residual), len(effect)
    loss = np.empty(n_states * (n_ways + 1))
    for s in range(n_states):
        rest = 0.0
        for f in range(residual.shape[1]):
            rest += np.sqrt(max(abs(residual[s, f]) - room, 0.0))
        loss[s * (n_ways + 1)] = rest
        for f in touched:
            rest -= np.sqrt(max(abs(residual[s, f]) - room, 0.0))
        for w in range(n_ways):
            total = rest
            for k in range(len(touched)):
                off = abs(residual[s, touched[k]] + effect[w, k]) - room
                if off > 0.0:
                    total += np.sqrt(off)
            loss[s * (n_ways + 1) + 1 + w] = total
    order = np.argsort(loss, kind="mergesort")[:beam]
    return order // (n_ways + 1), order % (n_ways + 1) - 1
