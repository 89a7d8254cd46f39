"""Sums of features within groups, and what a change of them spreads to records."""

from __future__ import annotations

import numpy as np

from evosynth.kernels._jit import Floats, Integers, jit


@jit
def sum_groups(group: Integers, features: Floats, counts: Floats, n_groups: int) -> Floats:
    """Sum each feature over the records of each group; group -1 is not counted."""
    n_rows, width = features.shape
    total = np.zeros((n_groups, width))
    for i in range(n_rows):
        g = group[i]
        if g >= 0 and counts[i] != 0.0:
            for k in range(width):
                total[g, k] += counts[i] * features[i, k]
    return total


@jit
def spread_groups(group: Integers, features: Floats, change: Floats) -> Floats:
    """Effect of each record on each figure; ``change`` has shape (groups, features, figures)."""
    n_rows, width = features.shape
    n_figures = change.shape[2]
    effect = np.zeros((n_rows, n_figures))
    for i in range(n_rows):
        g = group[i]
        if g >= 0:
            for k in range(width):
                x = features[i, k]
                for j in range(n_figures):
                    effect[i, j] += x * change[g, k, j]
    return effect
