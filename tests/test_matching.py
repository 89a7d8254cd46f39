"""Rows of unknown size are matched so that their sums agree, against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from evosynth.matching import Row, match
from evosynth.printed import Printed
from evosynth.programme import Programme, Rows


def row(size, cells, texts):
    """A row of percentages as printed."""
    printed = [Printed.parse(text) for text in texts]

    def bounds(n):
        ends = [figure.counts(n, 100.0) for figure in printed]
        return [low for low, _ in ends], [high for _, high in ends]

    return Row(size, np.array(cells), bounds)


def programme(table, loose=0):
    """Sizes and cells of rows that add up to the column totals of a table, within some room."""
    n_rows, width = table.shape
    columns = n_rows * (width + 1)
    matrix = np.zeros((width + 1, columns))
    for number in range(width + 1):
        matrix[number, number :: width + 1] = 1
    sums = np.append(table.sum(), table.sum(axis=0))
    room = np.append(0, np.full(width, loose))
    ties = Rows(sparse.csr_matrix(matrix), sums - room, sums + room)
    whole = np.ones(columns, np.int64)
    return Programme(np.zeros(columns), np.full(columns, float(table.sum())), whole, ties)


def printed(table, digits):
    shares = 100 * table / table.sum(axis=1, keepdims=True)
    return [[f"{share:.{digits}f}" for share in shares[i]] for i in range(len(table))]


@pytest.mark.parametrize("shape", [(2, 3), (5, 4), (7, 4), (9, 3)])
@pytest.mark.parametrize("digits", [1, 2])
def test_rows_print_their_shares_and_add_up(shape, digits):
    rng = np.random.default_rng(sum(shape) + digits)
    shares = rng.dirichlet(np.full(shape[0] * shape[1], 3.0))
    table = rng.multinomial(300 * 10**digits, shares).reshape(shape)
    texts, wide = printed(table, digits), shape[1] + 1
    rows = [
        row(i * wide, range(i * wide + 1, (i + 1) * wide), text) for i, text in enumerate(texts)
    ]
    near = np.zeros(shape[0] * wide)
    near[::wide] = table.sum(axis=1) * rng.uniform(0.99, 1.01, shape[0])
    found = match(programme(table, loose=1), rows, near)
    assert found is not None
    counts = found.reshape(shape[0], wide).astype(int)
    np.testing.assert_array_equal(counts[:, 1:].sum(axis=1), counts[:, 0])
    assert counts[:, 0].sum() == table.sum()
    assert np.abs(counts[:, 1:].sum(axis=0) - table.sum(axis=0)).max() <= 1
    assert printed(counts[:, 1:], digits) == texts


def test_rows_that_no_sizes_match_are_none():
    table = np.array([[1, 2], [3, 4]])
    rows = [row(0, [1, 2], ["33.33", "66.67"]), row(3, [4, 5], ["42.85", "57.14"])]
    assert match(programme(table), rows, np.array([3.0, 1, 2, 7, 3, 4])) is None
    rows[1] = row(3, [4, 5], ["42.86", "57.14"])
    found = match(programme(table), rows, np.array([3.0, 1, 2, 7, 3, 4]))
    assert found.tolist() == [3, 1, 2, 7, 3, 4]
