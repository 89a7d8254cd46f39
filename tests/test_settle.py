"""Sizes that shares rest on but that no one published: chosen so that all can be printed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cases import problem_of, small, source_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from evosynth.programme import Programme, Rows
from evosynth.record_types import Types
from evosynth.settle import narrow, settle
from evosynth.spec import load
from evosynth.synthesis import synthesize

VARIABLES = """\
records: {records}
variables:
  A: {{categories: {{1: one, 2: two, 3: three}}}}
  B: {{categories: {{x: ex, y: why}}}}
  X: {{integer: [0, 30]}}
outputs:
"""


def percentages(table, digits=1):
    """Row percentages of a table, as a spec writes them."""
    shares = 100 * table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    rows = [", ".join(f"{share:.{digits}f}" for share in row) for row in shares]
    return "{" + ", ".join(f"{a + 1}: [{row}]" for a, row in enumerate(rows)) + "}"


def settled(folder, outputs, records):
    """The problem of a spec after its sizes were settled."""
    spec = small(folder, VARIABLES.format(records=records) + outputs)
    problem = problem_of(spec)
    before = problem.low.copy(), problem.high.copy()
    assert problem.shares
    source_of(Types(problem))
    assert (problem.low >= before[0]).all()
    assert (problem.high <= before[1]).all()
    return problem


def sizes_of(problem):
    """Sizes that were chosen, after checking that they print every share."""
    found = {}
    for share in problem.shares:
        assert problem.low[share.of] == problem.high[share.of]
        size = found[share.of] = int(problem.low[share.of])
        low, high = share.bounds(size)
        assert (problem.low[share.cells] >= low).all()
        assert (problem.high[share.cells] <= high).all()
        assert (problem.low[share.cells] <= problem.high[share.cells]).all()
    return list(found.values())


tables = st.lists(st.integers(1, 40), min_size=6, max_size=6).map(
    lambda cells: np.array(cells).reshape(3, 2)
)


@settings(max_examples=40, deadline=None)
@given(tables, st.integers(0, 2))
def test_rows_of_percentages_get_sizes_that_print_them_and_add_up(tmp_path_factory, table, digits):
    records = int(table.sum())
    cells = percentages(table, digits)
    text = f"  - {{kind: crosstab, rows: A, columns: B, row_percentages: {cells}}}\n"
    problem = settled(tmp_path_factory.mktemp("spec"), text, records)
    sizes = sizes_of(problem)
    assert sum(sizes) == records
    for share, size in zip(problem.shares, sizes, strict=True):
        assert problem.low[share.cells].sum() <= size <= problem.high[share.cells].sum()


@settings(max_examples=20, deadline=None)
@given(tables)
def test_sizes_agree_with_the_column_totals(tmp_path_factory, table):
    records, (x, y) = int(table.sum()), table.sum(axis=0)
    text = (
        f"  - {{kind: frequencies, of: B, counts: {{x: {x}, y: {y}}}}}\n"
        "  - {kind: crosstab, rows: A, columns: B, "
        f"row_percentages: {percentages(table, 0)}}}\n"
    )
    problem = settled(tmp_path_factory.mktemp("spec"), text, records)
    assert sum(sizes_of(problem)) == records
    low, high = (
        sum(bound[share.cells] for share in problem.shares) for bound in (problem.low, problem.high)
    )
    assert low[0] <= x <= high[0]
    assert low[1] <= y <= high[1]


def test_rough_margins_guide_the_sizes(tmp_path):
    text = (
        "  - {kind: frequencies, of: A, percentages: {1: 60, 2: 30, 3: 10}}\n"
        "  - {kind: crosstab, rows: A, columns: B, "
        "row_percentages: {1: [33.3, 66.7], 2: [50.0, 50.0], 3: [25.0, 75.0]}}\n"
    )
    problem = settled(tmp_path, text, 120)
    sizes = sizes_of(problem)
    assert sum(sizes) == 120
    np.testing.assert_allclose(np.array(sizes) / 1.2, [60, 30, 10], atol=0.5)
    assert (sizes[0] % 3, sizes[1] % 2, sizes[2] % 4) == (0, 0, 0)


def test_published_sizes_are_not_chosen(tmp_path):
    text = (
        "  - {kind: frequencies, of: A, counts: {1: 60, 2: 40, 3: 20}}\n"
        "  - {kind: crosstab, rows: A, columns: B, "
        "row_percentages: {1: [33.3, 66.7], 2: [50.0, 50.0], 3: [25.0, 75.0]}}\n"
    )
    problem = settled(tmp_path, text, 120)
    assert sizes_of(problem) == [60, 40, 20]


def test_groups_with_a_median_get_sizes_that_admit_it(tmp_path):
    text = "  - {kind: summary, of: X, by: A, median: {1: 11.5, 2: 12, 3: 9.5}}\n"
    problem = settled(tmp_path, text, 451)
    sizes = dict(zip("123", dict.fromkeys(share.of for share in problem.shares), strict=True))
    sizes = {value: int(problem.low[of]) for value, of in sizes.items()}
    assert sum(sizes.values()) == 451
    assert sizes["1"] % 2 == 0 == sizes["3"] % 2  # a half needs evenly many
    sizes_of(problem)
    spec = small(tmp_path, VARIABLES.format(records=451) + text)
    assert synthesize(spec, seed=2).exact


def test_a_run_prints_percentages_of_rows_of_unknown_size(tmp_path):
    rng = np.random.default_rng(5)
    table = rng.integers(5, 60, (3, 2))
    text = (
        "  - {kind: crosstab, rows: A, columns: B, "
        f"row_percentages: {percentages(table)}}}\n"
        "  - {kind: summary, of: X, by: A, mean: {1: 12.3, 2: 14.1, 3: 9.9}}\n"
    )
    spec = small(tmp_path, VARIABLES.format(records=table.sum()) + text)
    result = synthesize(spec, seed=1)
    assert result.exact
    assert len(result.data) == table.sum()
    shares = pd.crosstab(result.data["A"], result.data["B"], normalize="index") * 100
    printed = np.round(100 * table / table.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(shares, printed, rtol=0, atol=0.05 + 1e-9)


@pytest.mark.parametrize(("records", "least"), [(2, 0), (8, 4), (20, 4), (100, 4)])
def test_sizes_that_cannot_print_every_share_print_what_they_can(tmp_path, records, least):
    text = (
        "  - {kind: crosstab, rows: A, columns: B, "
        "row_percentages: {1: [33.3, 66.7], 2: [33.3, 66.7], 3: [33.3, 66.7]}}\n"
    )
    path = tmp_path / "spec.yaml"
    path.write_text(VARIABLES.format(records=records) + text)
    result = synthesize(load(path, anyway=True), seed=1, generations=3)
    assert len(result.data) == records
    found = result.verification["exact"]
    counts = pd.crosstab(result.data["A"], result.data["B"]).reindex(columns=["x", "y"])
    printed = [f"{100 * x / (x + y):.1f}" == "33.3" for x, y in counts.fillna(0).to_numpy()]
    assert int(found.sum()) == 2 * sum(printed)
    assert least <= found.sum() < 6


def two_tables(table, other):
    """Row percentages of two tables with the columns of B, and no size at all."""
    return (
        f"  - {{kind: crosstab, rows: A, columns: B, row_percentages: {percentages(table)}}}\n"
        f"  - {{kind: crosstab, rows: C, columns: B, row_percentages: {percentages(other)}}}\n"
    )


TWO = VARIABLES.replace("outputs:", "  C: {{categories: {{1: c, 2: d, 3: e, 4: f}}}}\noutputs:")


@pytest.mark.parametrize("number", range(4))
def test_tables_with_a_common_column_are_settled_together(tmp_path, number):
    rng = np.random.default_rng(number)
    records = 900
    a, c = rng.integers(0, 3, records), rng.integers(0, 4, records)
    b = rng.random(records) < 0.3 + 0.1 * a + 0.05 * c
    table, other = (np.bincount(2 * x + b).reshape(-1, 2) for x in (a, c))
    spec = small(tmp_path, TWO.format(records=records) + two_tables(table, other))
    problem = problem_of(spec)
    source_of(Types(problem), seed=number)
    sizes = sizes_of(problem)
    assert sum(sizes[:3]) == sum(sizes[3:]) == records
    low, high = (
        [sum(bound[s.cells] for s in part) for part in (problem.shares[:3], problem.shares[3:])]
        for bound in (problem.low, problem.high)
    )
    assert (np.maximum(*low) <= np.minimum(*high)).all()
    assert synthesize(spec, seed=number).exact


@pytest.mark.parametrize("seed", [1, 2])
def test_chi_square_of_two_rows_of_percentages_settles_their_sizes(tmp_path, seed):
    # Of 271 + 422 records: the statistic depends on these sizes, which nobody printed.
    table = np.array([[103, 168], [215, 207]])
    text = (
        "  - {kind: crosstab, rows: B, columns: A2, "
        "row_percentages: {x: [38.0, 62.0], y: [50.9, 49.1]}}\n"
        "  - {kind: chi_square, rows: B, columns: A2, statistic: 11.13, df: 1, cramers_v: 0.127}\n"
    )
    names = VARIABLES.replace("outputs:", "  A2: {{categories: {{1: one, 2: two}}}}\noutputs:")
    spec = small(tmp_path, names.format(records=table.sum()) + text)
    result = synthesize(spec, seed=seed)
    assert result.exact
    found = pd.crosstab(result.data["B"], result.data["A2"])
    chi2 = stats.chi2_contingency(found, correction=False).statistic
    assert f"{chi2:.2f}" == "11.13"


def test_settled_sizes_differ_by_seed_and_repeat(tmp_path):
    table = np.array([[210, 190], [130, 170], [90, 110]])
    cells = percentages(table, 0)
    text = f"  - {{kind: crosstab, rows: A, columns: B, row_percentages: {cells}}}\n"
    spec = small(tmp_path, VARIABLES.format(records=900) + text)
    found = []
    for seed in (1, 1, 2, 3):
        problem = problem_of(spec)
        source_of(Types(problem), seed=seed)
        found.append(tuple(sizes_of(problem)))
    assert found[0] == found[1]
    assert len(set(found)) > 1


def test_a_bound_that_excludes_its_end_is_kept(tmp_path):
    # Were a half under a half, the expected sizes would do; as it is, a row must be large enough
    # for a little more than a half to print as 50.
    text = (
        "  - {kind: frequencies, of: B, counts: {x: 450, y: 450}}\n"
        "  - {kind: crosstab, rows: A, columns: B, "
        "row_percentages: {1: [<50, '>50'], 2: [50, 50], 3: [50, 50]}}\n"
    )
    problem = problem_of(small(tmp_path, VARIABLES.format(records=900) + text))
    expected = np.full(len(problem.low), 450.0)
    expected[[share.of for share in problem.shares]] = 850, 26, 24
    settle(problem, expected, np.random.default_rng(1))
    sizes = sizes_of(problem)
    assert sum(sizes) == 900
    assert max(sizes[1:]) > 100


def test_settling_stops_when_asked_to(tmp_path):
    asked = []
    table = np.array([[103, 168], [215, 207], [50, 61]])
    text = (
        f"  - {{kind: crosstab, rows: A, columns: B, row_percentages: {percentages(table)}}}\n"
        "  - {kind: chi_square, rows: A, columns: B, statistic: 400.12}\n"
    )
    path = tmp_path / "spec.yaml"
    path.write_text(VARIABLES.format(records=table.sum()) + text)
    problem = problem_of(load(path, anyway=True))
    expected = np.full(len(problem.low), table.sum() / 3)
    settle(problem, expected, np.random.default_rng(1), lambda: bool(asked.append(1)) or True)
    assert len(asked) == 1
    assert sum(sizes_of(problem)) == table.sum()


def test_sizes_published_elsewhere_bound_the_ranks_of_medians(tmp_path):
    """The size of a group is the same whether or not its quantity is named beside it."""
    text = """
records: 6000
variables:
  SEX: {categories: {1: Male, 2: Female}}
  PAY: {integer: [1, 100]}
outputs:
- {kind: frequencies, of: SEX, counts: {1: 2500, 2: 3500}}
- {kind: summary, of: PAY, by: SEX, median: {1: 40, 2: 50}}
"""
    problem = problem_of(small(tmp_path, text))
    assert problem.shares
    assert narrow(problem) is False
    sizes = {int(problem.low[share.of]) for share in problem.shares}
    assert sizes == {2500, 3500}


def test_counts_anywhere_meet_bounds_and_conditions():
    matrix = sparse.csr_matrix([[1.0, 1.0, 1.0], [1.0, -2.0, 0.0]])
    rows = Rows(matrix, np.array([10.0, 0.0]), np.array([10.0, 0.0]))
    programme = Programme(np.zeros(3), np.full(3, 9.0), np.ones(3, np.int64), rows)
    found = programme.anywhere(np.array([-1.0, 0.5, 0.0]))
    assert found is not None
    np.testing.assert_array_equal(matrix @ found, [10, 0])
    assert (found == np.round(found)).all()
    assert found.max() <= 9
    impossible = Rows(matrix, np.array([40.0, 0.0]), np.array([40.0, 0.0]))
    assert replace(programme, rows=impossible).anywhere(np.ones(3)) is None


def test_sizes_far_from_what_is_expected_are_found_where_none_are_near(tmp_path, monkeypatch):
    monkeypatch.setattr(Programme, "solve", lambda self, pull: (None, True))
    table = np.array([[20, 30], [11, 4], [3, 8]])
    problem = settled(
        tmp_path,
        f"  - {{kind: crosstab, rows: A, columns: B, row_percentages: {percentages(table)}}}\n",
        int(table.sum()),
    )
    assert sum(sizes_of(problem)) == table.sum()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_fine_shares_of_many_rows_and_of_all_are_settled_without_luck(seed, tmp_path, monkeypatch):
    monkeypatch.setattr("evosynth.settle._ATTEMPTS", 2)
    rng = np.random.default_rng(seed)
    table = rng.multinomial(30_000, rng.dirichlet(np.full(28, 3.0))).reshape(7, 4)
    total = 100 * table.sum(axis=0) / table.sum()
    cells = percentages(table, 2)[:-1] + ", total: [" + ", ".join(f"{x:.2f}" for x in total) + "]}"
    ages = ", ".join(f"{a}: {a}" for a in range(1, 8))
    text = (
        f"records: 30000\nvariables:\n  A: {{categories: {{{ages}}}}}\n"
        "  B: {categories: {1: w, 2: x, 3: y, 4: z}}\noutputs:\n"
        f"  - {{kind: crosstab, rows: A, columns: B, row_percentages: {cells}}}\n"
    )
    problem = problem_of(small(tmp_path, text))
    source_of(Types(problem))
    assert sum(sizes_of(problem)) == 30_000
