"""Rounds weights so that running sums, and so totals, stay as near as they can."""

from __future__ import annotations

import numpy as np

from evosynth.schema import FloatArray, IntArray


def whole_units(weights: FloatArray, decimals: int, order: IntArray) -> FloatArray:
    """Round to decimals along an order: what one weight loses, the next one gains."""
    unit = 10.0**decimals
    running = np.rint(np.cumsum(weights[order] * unit))
    found = np.empty_like(weights)
    found[order] = np.diff(running, prepend=0.0)
    return np.round(found / unit, decimals)
