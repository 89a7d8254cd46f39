"""Grids and what their tables say about each other, against enumeration of all small data."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evosynth.grid import Grid
from evosynth.margins import common, parents, project, tighten
from evosynth.schema import Schema, Variable

SIZES = (3, 2, 4)
SCHEMA = Schema(
    9, tuple(Variable(f"V{s}", "", np.arange(s), None, np.full(s, 1 / s)) for s in SIZES)
)
EVERY = np.array(list(product(*map(range, SIZES))), dtype=np.uint8)
"""Every possible record once."""


def partitions(size):
    """Every way to put levels into groups, numbered by first appearance."""
    found = [(0,)]
    for _ in range(size - 1):
        found = [(*some, group) for some in found for group in range(max(some) + 2)]
    return [np.array(groups) for groups in found]


PARTITIONS = [partitions(size) for size in SIZES]


@st.composite
def grids(draw):
    columns = draw(st.lists(st.sampled_from(range(3)), unique=True, max_size=3))
    return Grid(tuple(columns), tuple(draw(st.sampled_from(PARTITIONS[c])) for c in columns))


def is_function(fine, coarse):
    """Whether the cell of ``fine`` tells that of ``coarse``."""
    pairs = set(zip(fine.cells(EVERY).tolist(), coarse.cells(EVERY).tolist(), strict=True))
    return len(pairs) == len({a for a, _ in pairs})


@lru_cache
def ways(records, cells):
    """All counts of so many cells that add up."""
    if cells == 1:
        return np.array([[records]])
    parts = [
        np.insert(ways(records - first, cells - 1), 0, first, axis=1)
        for first in range(records + 1)
    ]
    return np.concatenate(parts)


def test_cells_are_numbered_row_by_row():
    grid = Grid((2, 0), (np.array([0, 1, 1, 2]), np.array([1, 0, 1])))
    assert (grid.shape, grid.size, grid.strides) == ((3, 2), 6, (2, 1))
    codes = np.array([[0, 0, 0], [1, 1, 2], [2, 0, 3]], dtype=np.uint8)
    assert grid.cells(codes).tolist() == [1, 2, 5]


def test_a_grid_of_all_levels_tells_every_record_apart():
    grid = Grid.of([0, 1, 2], SCHEMA)
    assert grid.shape == SIZES
    assert grid.cells(EVERY).tolist() == list(range(24))
    assert Grid.of([], SCHEMA).cells(EVERY).tolist() == [0] * 24


@given(grids(), grids())
def test_grids_are_the_same_if_their_key_is(one, two):
    same = one.columns == two.columns and np.array_equal(one.cells(EVERY), two.cells(EVERY))
    assert (one.key == two.key) == same


@given(grids(), grids())
def test_parents_are_known_where_one_grid_is_finer(fine, coarse):
    part = parents(fine, coarse)
    if part is None:
        other = set(coarse.columns) - set(fine.columns)
        assert other or not is_function(fine, coarse)
    else:
        np.testing.assert_array_equal(part[fine.cells(EVERY)], coarse.cells(EVERY))


@given(grids(), grids())
def test_the_common_grid_is_coarser_than_both(one, two):
    shared = common(one, two)
    assert parents(one, shared) is not None
    assert parents(two, shared) is not None


def test_the_common_grid_is_the_finest_that_is_coarser_than_both():
    for one, two in product(PARTITIONS[2], repeat=2):
        a, b = Grid((2,), (one,)), Grid((2,), (two,))
        shared = common(a, b)
        coarser = [
            other
            for other in (Grid((2,), (groups,)) for groups in PARTITIONS[2])
            if is_function(a, other) and is_function(b, other)
        ]
        assert max(other.size for other in coarser) == shared.size
        assert all(is_function(shared, other) for other in coarser)


@st.composite
def tables(draw, fine, records, slack=2):
    """Bounds of a table that some data meet."""
    counts = draw(st.sampled_from(tuple(ways(records, fine.size))))
    below, above = (
        np.array(draw(st.lists(st.integers(0, slack), min_size=fine.size, max_size=fine.size)))
        for _ in "ab"
    )
    return np.maximum(counts - below, 0), np.minimum(counts + above, records)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from(PARTITIONS[2]))
def test_projected_bounds_are_what_data_within_the_table_can_reach(data, groups):
    fine, coarse = Grid((2,), (np.arange(4),)), Grid((2,), (groups,))
    low, high = data.draw(tables(fine, 6))
    every = ways(6, 4)
    inside = every[((every >= low) & (every <= high)).all(axis=1)]
    sums = np.stack([inside[:, groups == g].sum(axis=1) for g in range(coarse.size)], axis=1)
    found = project(fine, low, high, coarse, 6)
    np.testing.assert_array_equal(found, [sums.min(axis=0), sums.max(axis=0)])


def test_nothing_is_projected_onto_a_table_that_is_not_coarser():
    fine, other = Grid((0,), (np.arange(3),)), Grid((1,), (np.arange(2),))
    assert project(fine, np.zeros(3), np.full(3, 9), other, 9) is None


A, B = np.array([0, 1, 2]), np.array([0, 1])
CROSS = Grid((0, 1), (A, B))
ROWS, COLUMNS = Grid((0,), (A,)), Grid((1,), (B,))
PART = Grid((0,), (np.array([0, 0, 1]),))


def tightened(grids_, bounds, records):
    copies = [(low.copy(), high.copy()) for low, high in bounds]
    tighten(tuple(grids_), copies, records)
    return copies


def margin(every, grid):
    """Counts of a table of all datasets, which are given by cell of `CROSS`."""
    part = parents(CROSS, grid)
    return np.stack([every[:, part == cell].sum(axis=1) for cell in range(grid.size)], axis=1)


@st.composite
def problems(draw, among):
    """Tables, and bounds of each around the same data."""
    counts = draw(st.sampled_from(tuple(ways(6, 6))))[None]
    bounds = []
    for grid in among:
        here = margin(counts, grid)[0]
        slack = st.lists(st.integers(0, 3), min_size=grid.size, max_size=grid.size)
        below, above = np.array(draw(slack)), np.array(draw(slack))
        bounds.append((np.maximum(here - below, 0), np.minimum(here + above, 6)))
    return bounds


def reached(among, bounds):
    """Smallest and largest count of each cell over all data that meet all bounds."""
    every = ways(6, 6)
    kept = np.ones(len(every), dtype=bool)
    for grid, (low, high) in zip(among, bounds, strict=True):
        counts = margin(every, grid)
        kept &= ((counts >= low) & (counts <= high)).all(axis=1)
    return [(margin(every[kept], g).min(axis=0), margin(every[kept], g).max(axis=0)) for g in among]


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from([(CROSS,), (CROSS, ROWS), (CROSS, COLUMNS), (ROWS, PART)]))
def test_tables_inside_each_other_are_tightened_to_what_data_can_reach(data, among):
    bounds = data.draw(problems(among))
    found = tightened(among, bounds, 6)
    for (low, high), (least, most) in zip(found, reached(among, bounds), strict=True):
        np.testing.assert_array_equal(low, least)
        np.testing.assert_array_equal(high, most)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_tightening_tables_that_cross_rules_out_no_data(data):
    among = (PART, CROSS, COLUMNS, ROWS)
    bounds = data.draw(problems(among))
    found = tightened(among, bounds, 6)
    for given_, (low, high), (least, most) in zip(
        bounds, found, reached(among, bounds), strict=True
    ):
        assert (given_[0] <= low).all()
        assert (high <= given_[1]).all()
        assert (low <= least).all()
        assert (most <= high).all()


@given(st.data())
def test_tables_that_contradict_each_other_keep_some_counts(data):
    among = (CROSS, ROWS, COLUMNS)
    bounds = []
    for grid in among:
        ends = st.lists(st.integers(0, 6), min_size=grid.size, max_size=grid.size)
        pair = np.sort([data.draw(ends), data.draw(ends)], axis=0)
        bounds.append((pair[0], pair[1]))
    for low, high in tightened(among, bounds, 6):
        assert (low <= high).all()
