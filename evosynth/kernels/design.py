"""Rows of a design matrix, and estimating equations summed over them."""

from __future__ import annotations

import numpy as np

from evosynth.kernels._jit import Floats, Integers, jit


@jit
def fill_design(
    codes: Integers,
    column_start: Integers,
    factor_variable: Integers,
    factor_start: Integers,
    lookup: Floats,
) -> Floats:
    """Multiply the looked-up factors of each column, for each record."""
    n_rows = codes.shape[0]
    n_columns = len(column_start) - 1
    rows = np.empty((n_rows, n_columns))
    for i in range(n_rows):
        for j in range(n_columns):
            value = 1.0
            for f in range(column_start[j], column_start[j + 1]):
                value *= lookup[factor_start[f] + codes[i, factor_variable[f]]]
            rows[i, j] = value
    return rows


@jit
def logit_residuals(rows: Floats, outcome: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Residual ``y - p`` and variance ``p (1 - p)`` of each record at coefficients ``theta``."""
    n_rows, n_columns = rows.shape
    residual = np.empty(n_rows)
    variance = np.empty(n_rows)
    for i in range(n_rows):
        eta = 0.0
        for j in range(n_columns):
            eta += rows[i, j] * theta[j]
        p = 1.0 / (1.0 + np.exp(-eta))
        residual[i] = outcome[i] - p
        variance[i] = p * (1.0 - p)
    return residual, variance


@jit
def sum_products(rows: Floats, weights: Floats) -> Floats:
    """Weighted cross-products ``sum_i w_i x_i x_i'``; rows of weight 0 cost nothing."""
    n_rows, n_columns = rows.shape
    total = np.zeros((n_columns, n_columns))
    for i in range(n_rows):
        w = weights[i]
        if w == 0.0:
            continue
        for j in range(n_columns):
            x = w * rows[i, j]
            if x == 0.0:
                continue
            for k in range(j + 1):
                total[j, k] += x * rows[i, k]
    for j in range(n_columns):
        for k in range(j):
            total[k, j] = total[j, k]
    return total
