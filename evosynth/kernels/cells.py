"""Cell counts: which cell of each table a record falls into, and how many fall into each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosynth.kernels._jit import Floats, Integers, jit


@jit
def index_cells(
    codes: Integers,
    table_start: Integers,
    table_column: Integers,
    lookup_start: Integers,
    lookup: Integers,
    first_cell: Integers,
) -> NDArray[np.int32]:
    """Flat cell of each record in each table, shape (records, tables).

    ``lookup`` tells how many cells each level of a variable of a table is away from the first.
    """
    n_rows = codes.shape[0]
    n_tables = len(first_cell)
    cells = np.empty((n_rows, n_tables), dtype=np.int32)
    for i in range(n_rows):
        for t in range(n_tables):
            cell = first_cell[t]
            for c in range(table_start[t], table_start[t + 1]):
                cell += lookup[lookup_start[c] + codes[i, table_column[c]]]
            cells[i, t] = cell
    return cells


@jit
def count_cells(cells: Integers, counts: Integers, n_cells: int) -> NDArray[np.int64]:
    """Count the records in each cell, where row i stands for ``counts[i]`` records."""
    total = np.zeros(n_cells, dtype=np.int64)
    for i in range(cells.shape[0]):
        if counts[i] != 0:
            for t in range(cells.shape[1]):
                total[cells[i, t]] += counts[i]
    return total


@jit
def count_weights(cells: Integers, weights: Floats, n_cells: int) -> Floats:
    """Weight in each cell."""
    total = np.zeros(n_cells)
    for i in range(cells.shape[0]):
        for t in range(cells.shape[1]):
            total[cells[i, t]] += weights[i]
    return total


@jit
def sum_rows(rows: Floats, counts: Integers | Floats) -> Floats:
    """Sum of rows, row i taken ``counts[i]`` times."""
    total = np.zeros(rows.shape[1])
    for i in range(rows.shape[0]):
        if counts[i] != 0:
            for j in range(rows.shape[1]):
                total[j] += counts[i] * rows[i, j]
    return total


@jit
def rake(weights: Floats, cells: Integers, table: int, low: Floats, high: Floats) -> float:
    """Scale weights so that one table's cells come to lie in their intervals.

    Returns how much weight lay outside them.
    """
    total = np.zeros(len(low))
    for i in range(len(weights)):
        total[cells[i, table]] += weights[i]
    wrong = 0.0
    for c in range(len(low)):
        goal = min(max(total[c], low[c]), high[c]) if total[c] > 0.0 else 0.0
        wrong += abs(goal - total[c])
        total[c] = goal / total[c] if total[c] > 0.0 else 1.0
    for i in range(len(weights)):
        weights[i] *= total[cells[i, table]]
    return wrong


@jit
def sum_joint(
    cells: Integers, tables: Integers, n_cells: int, rows: Floats, weights: Floats
) -> tuple[Floats, Floats]:
    """Weighted sums, and sums of products, of cell indicators and real features side by side.

    Only the given tables count; the cells of others stay 0.
    """
    n_rows, width = rows.shape
    size = n_cells + width
    sums = np.zeros(size)
    products = np.zeros((size, size))
    for i in range(n_rows):
        w = weights[i]
        for s in range(len(tables)):
            c = cells[i, tables[s]]
            sums[c] += w
            for t in range(s + 1):
                products[c, cells[i, tables[t]]] += w
            for j in range(width):
                products[n_cells + j, c] += w * rows[i, j]
        for j in range(width):
            x = w * rows[i, j]
            sums[n_cells + j] += x
            for k in range(j + 1):
                products[n_cells + j, n_cells + k] += x * rows[i, k]
    for a in range(size):
        for b in range(a):
            both = products[a, b] + products[b, a]
            products[a, b] = both
            products[b, a] = both
    return sums, products


@jit
def tilt_rows(
    cells: Integers, tables: Integers, n_cells: int, rows: Floats, dual: Floats
) -> Floats:
    """Inner product of each row's indicators and features with ``dual``."""
    n_rows, width = rows.shape
    tilt = np.zeros(n_rows)
    for i in range(n_rows):
        for s in range(len(tables)):
            tilt[i] += dual[cells[i, tables[s]]]
        for j in range(width):
            tilt[i] += rows[i, j] * dual[n_cells + j]
    return tilt


@jit
def violation(counts: Integers, low: Integers, high: Integers) -> int:
    """How many records too many or too few, over all cells."""
    total = 0
    for c in range(len(counts)):
        total += max(0, low[c] - counts[c], counts[c] - high[c])
    return total
