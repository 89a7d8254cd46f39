"""Frequencies and cross-tabulations: figures, lowering and recomputation agree with counting."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cases import small
from hypothesis import given, settings
from hypothesis import strategies as st

from evosynth.objective import Output
from evosynth.spec import Spec

DATA = pd.DataFrame({"A": [1, 1, 1, 2, 2, 2, 2, 2], "B": list("xyyxxyzz")})
VARIABLES = """\
records: 8
variables:
  A: {categories: {1: one, 2: two}}
  B: {categories: {x: ex, y: why, z: zed}}
outputs:
"""
CASES = {
    "counts": (
        "{kind: frequencies, of: B, counts: {x: 3, y: 3, z: 2}}",
        ["B=x", "B=y", "B=z"],
        [3, 3, 2],
    ),
    "some proportions": (
        "{kind: frequencies, of: B, proportions: {z: 0.25}}",
        ["B=z"],
        [0.25],
    ),
    "table of counts": (
        "{kind: crosstab, rows: A, columns: B, counts: {2: [2, 1, 2], 1: [1, 2, 0]}}",
        ["A=1, B=x", "A=1, B=y", "A=1, B=z", "A=2, B=x", "A=2, B=y", "A=2, B=z"],
        [1, 2, 0, 2, 1, 2],
    ),
    "table of proportions": (
        "{kind: crosstab, rows: B, columns: A, proportions: "
        "{x: {1: 0.125, 2: 0.250}, y: [0.250, 0.125], z: [0.000, 0.250]}}",
        ["B=x, A=1", "B=x, A=2", "B=y, A=1", "B=y, A=2", "B=z, A=1", "B=z, A=2"],
        [0.125, 0.25, 0.25, 0.125, 0, 0.25],
    ),
}


@pytest.fixture(params=CASES, ids=list(CASES))
def case(request, tmp_path):
    text, labels, values = CASES[request.param]
    return small(tmp_path, f"{VARIABLES}  - {text}\n"), labels, values


def only(spec: Spec) -> Output:
    return spec.outputs[0]


def test_labels_and_recomputed_values(case):
    spec, labels, values = case
    output = only(spec)
    assert [figure.label for figure in output.figures(spec.schema)] == labels
    found = output.recompute(DATA, np.ones(8), spec.schema)
    np.testing.assert_allclose(found, values)
    assert all(f.printed.prints(v) for f, v in zip(spec.figures[0], found, strict=True))


def test_grouped_records_give_the_same_values(case):
    spec, _, values = case
    grouped = DATA.groupby(["A", "B"]).size().reset_index(name="n")
    found = only(spec).recompute(grouped[["A", "B"]], grouped["n"].to_numpy(float), spec.schema)
    np.testing.assert_allclose(found, values)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=8, max_size=8))
def test_the_intervals_admit_exactly_the_data_that_print_the_figures(tmp_path_factory, rows):
    text, _, _ = CASES["table of proportions"]
    spec = small(tmp_path_factory.mktemp("spec"), f"{VARIABLES}  - {text}\n")
    levels = np.array(rows)
    frame = pd.DataFrame({"A": levels[:, 0] + 1, "B": np.array(list("xyz"))[levels[:, 1]]})
    values = only(spec).recompute(frame, np.ones(8), spec.schema)
    printed = [f.printed.prints(v) for f, v in zip(spec.figures[0], values, strict=True)]
    plan = only(spec).lower(spec.schema)
    assert (plan.shares, plan.smooth) == ((), ())
    counts = [np.bincount(t.grid.cells(levels), minlength=t.grid.size) for t in plan.tables]
    inside = [
        all(
            plan.tables[table].low[cell] <= counts[table][cell] <= plan.tables[table].high[cell]
            for table, cell in places
        )
        for places in plan.counted
    ]
    assert inside == printed


def test_nested_rows_make_a_table_of_three_variables(tmp_path):
    text = """\
records: 8
variables:
  A: {categories: {1: one, 2: two}}
  B: {categories: {x: ex, y: why}}
  C: {categories: {p: pe, q: qu}}
outputs:
  - kind: crosstab
    rows: [A, B]
    columns: C
    counts: {1: {x: [0, 1], y: [2, 0]}, 2: {x: {q: 1, p: 3}, y: [1, 0]}}
"""
    spec = small(tmp_path, text)
    data = pd.DataFrame(
        {"A": [1, 1, 1, 2, 2, 2, 2, 2], "B": list("xyyxxxxy"), "C": list("qpppppqp")}
    )
    found = only(spec).recompute(data, np.ones(8), spec.schema)
    assert found.tolist() == [0, 1, 2, 0, 3, 1, 1, 0]
    assert spec.figures[0][4].label == "A=2, B=x, C=p"
    assert [f.printed.text for f in spec.figures[0]] == list("01203110")
