"""Dense tables: every cell of every table at once."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from evosynth.dense import place
from evosynth.grid import Grid

SIZES = np.array([3, 5, 4, 2, 4])


def truth(sizes, records, seed):
    """Records of a few latent classes, so that all variables depend on each other."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(4, size=records)
    columns = []
    for size in sizes:
        ends = np.cumsum(rng.dirichlet(np.ones(size), 4), axis=1)
        columns.append((rng.random(records)[:, None] > ends[hidden][:, :-1]).sum(axis=1))
    return np.stack(columns, axis=1)


def grid(columns, sizes):
    return Grid(columns, tuple(np.arange(sizes[column]) for column in columns))


def grids(sizes, ways):
    return [grid(columns, sizes) for columns in combinations(range(len(sizes)), ways)]


def counts(codes, grid):
    """Count with numpy alone."""
    groups = [group[codes[:, c]] for c, group in zip(grid.columns, grid.groups, strict=True)]
    total = np.zeros(grid.shape, dtype=np.int64)
    np.add.at(total, tuple(groups), 1)
    return total.ravel()


def outside(codes, tables, low, high):
    """How many cells are outside their intervals."""
    found = [counts(codes, table) for table in tables]
    return sum(int(((x < a) | (x > b)).sum()) for x, a, b in zip(found, low, high, strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_all_two_way_tables_are_met_exactly(seed):
    data = truth(SIZES, 400, seed)
    tables = grids(SIZES, 2)
    exact = [counts(data, table) for table in tables]
    made = place(SIZES, 400, tables, exact, exact, np.random.default_rng(seed))
    assert made.shape == data.shape
    assert made.dtype == np.uint8
    assert outside(made, tables, exact, exact) == 0


@pytest.mark.parametrize("records", [1, 2, 30_000])
def test_few_and_many_records(records):
    data = truth(SIZES, records, 0)
    tables = grids(SIZES, 2)
    exact = [counts(data, table) for table in tables]
    made = place(SIZES, records, tables, exact, exact, np.random.default_rng(0))
    assert outside(made, tables, exact, exact) == 0


def test_tables_of_several_orders_that_share_variables_in_any_order():
    data = truth(SIZES, 500, 1)
    tables = [
        grid(columns, SIZES)
        for columns in [(3,), (4, 0), (1, 2), (2, 0, 3), (1, 0, 4), (0, 1, 2, 3)]
    ]
    exact = [counts(data, table) for table in tables]
    made = place(SIZES, 500, tables, exact, exact, np.random.default_rng(0))
    assert outside(made, tables, exact, exact) == 0


def test_suppressed_and_rounded_cells():
    data = truth(SIZES, 300, 2)
    tables = grids(SIZES, 2) + grids(SIZES, 1)
    exact = [counts(data, table) for table in tables]
    few = [(x > 0) & (x < 10) for x in exact]
    rounded = [5 * ((x + 2) // 5) for x in exact]
    low = [np.where(f, 1, np.maximum(r - 2, 0)) for f, r in zip(few, rounded, strict=True)]
    high = [np.where(f, 9, r + 2) for f, r in zip(few, rounded, strict=True)]
    made = place(SIZES, 300, tables, low, high, np.random.default_rng(0))
    assert outside(made, tables, low, high) == 0


def test_cells_that_are_not_published_are_free():
    data = truth(SIZES, 300, 3)
    tables = grids(SIZES, 2)
    rng = np.random.default_rng(0)
    exact = [counts(data, table) for table in tables]
    shown = [rng.random(len(x)) < 0.6 for x in exact]
    low = [np.where(s, x, 0) for s, x in zip(shown, exact, strict=True)]
    high = [np.where(s, x, 300) for s, x in zip(shown, exact, strict=True)]
    made = place(SIZES, 300, tables, low, high, rng)
    assert outside(made, tables, low, high) == 0


def test_groups_of_levels_that_cut_across_each_other():
    sizes = np.array([12, 5, 4])
    data = truth(sizes, 400, 4)
    bands, halves = np.arange(12) // 3, np.arange(12) % 2
    tables = [
        Grid((0, 1), (bands, np.arange(5))),
        Grid((2, 0), (np.arange(4), halves)),
        Grid((1, 2), (np.array([0, 0, 1, 1, 2]), np.arange(4))),
    ]
    exact = [counts(data, table) for table in tables]
    made = place(sizes, 400, tables, exact, exact, np.random.default_rng(0))
    assert outside(made, tables, exact, exact) == 0
    assert len(np.unique(made[:, 0])) == 12


def test_strong_dependence_on_a_variable_that_is_placed_last():
    rng = np.random.default_rng(5)
    last = rng.integers(2, size=5000)
    noisy = [np.where(rng.random(5000) < 0.9, 2 * last, rng.integers(4, size=5000))]
    noisy += [np.where(rng.random(5000) < 0.9, 2 * last + 1, rng.integers(4, size=5000))]
    data = np.stack([*noisy, last], axis=1)
    sizes = np.array([4, 4, 2])
    tables = grids(sizes, 2)
    exact = [counts(data, table) for table in tables]
    made = place(sizes, 5000, tables, exact, exact, rng)
    assert outside(made, tables, exact, exact) == 0


def test_the_same_seed_gives_the_same_records_and_another_seed_others():
    data = truth(SIZES, 200, 6)
    tables = grids(SIZES, 2)
    exact = [counts(data, table) for table in tables]
    first, again, other = (
        place(SIZES, 200, tables, exact, exact, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_tables_that_contradict_each_other_leave_little_wrong(monkeypatch):
    monkeypatch.setattr("evosynth.dense._ATTEMPTS", 1)
    data = truth(SIZES, 100, 7)
    tables = grids(SIZES, 2)
    exact = [counts(data, table) for table in tables]
    full = int(np.argmax(exact[0]))
    exact[0][full] -= 1
    exact[0][(full + 1) % len(exact[0])] += 1
    made = place(SIZES, 100, tables, exact, exact, np.random.default_rng(0))
    assert made.shape == (100, 5)
    assert 0 < outside(made, tables, exact, exact) < 40


def test_stopping_returns_all_records():
    data = truth(SIZES, 100, 8)
    tables = grids(SIZES, 3)
    exact = [counts(data, table) for table in tables]
    made = place(SIZES, 100, tables, exact, exact, np.random.default_rng(0), stop=lambda: True)
    assert made.shape == (100, 5)
    assert (made < SIZES).all()


def test_without_tables_records_are_random():
    made = place(SIZES, 1000, [], [], [], np.random.default_rng(0))
    assert made.shape == (1000, 5)
    for column, size in enumerate(SIZES):
        assert len(np.unique(made[:, column])) == size
