"""Rounds weights so that running sums, and so totals, stay as near as they can."""

from __future__ import annotations

import numpy as np

from evosynth.schema import FloatArray


def whole_units(weights: FloatArray) -> FloatArray:
    """Round to whole numbers in order: what one weight loses, the next one gains."""
    return np.diff(np.rint(np.cumsum(weights)), prepend=0.0)


def within(weights: FloatArray, least: FloatArray, most: FloatArray) -> FloatArray:
    """Round likewise, between whole numbers; a unit is carried at most, the rest spread evenly."""
    carried, numbers = 0.0, []
    for weight, low, high in zip(weights.tolist(), least.tolist(), most.tolist(), strict=True):
        number = min(max(round(weight + min(max(carried, -1.0), 1.0)), low), high)
        carried += weight - number
        numbers.append(number)
    found = np.array(numbers, dtype=np.float64)
    left = round(float(weights.sum() - found.sum()))
    while left:
        step = np.sign(left)
        room = np.flatnonzero((found + step >= least) & (found + step <= most))
        if not len(room):
            break
        some = min(abs(left), len(room))
        found[room[np.arange(some) * len(room) // some]] += step
        left -= int(step) * some
    return found
