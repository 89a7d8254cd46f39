"""Starting points: what they promise about the data that are drawn from them."""

from __future__ import annotations

import numpy as np
import pytest
from cases import FOUNDING, SPECS, problem_of, small, source_of

from evosynth.kernels.cells import violation
from evosynth.record_types import Types
from evosynth.records import Records
from evosynth.spec import load
from evosynth.synthesis import synthesize


@pytest.mark.parametrize("space_kind", [Types, Records])
def test_calibrated_weights_meet_the_published_statistics(space_kind):
    problem = problem_of(load(FOUNDING[1]))
    source = source_of(space_kind(problem))
    totals = np.zeros(len(problem.low))
    for table in range(len(problem.grids)):
        np.add.at(totals, source.cells[:, table], source.weights)
    outside = np.maximum(problem.low - totals, totals - problem.high).clip(min=0)
    assert outside.sum() < 8
    residual = source.compass.offset + source.weights @ source.influence
    assert np.linalg.norm(residual) < 0.5


@pytest.mark.parametrize("space_kind", [Types, Records])
@pytest.mark.parametrize("start", ["uniform", "univariate", "calibrated"])
def test_draws_have_the_right_number_of_records_and_differ(tmp_path, start, space_kind):
    space = space_kind(problem_of(small(tmp_path)))
    source = source_of(space, start)
    draws = [source.draw(np.random.default_rng(i)) for i in range(3)]
    for payload in draws:
        counts = space.rows(payload)[1]
        assert counts.sum() == 400
        assert counts.min() >= 0
    assert space.common(draws[0], draws[1]) < 0.95


def test_calibrated_draws_start_nearer_than_univariate_and_those_than_uniform():
    problem = problem_of(load(FOUNDING[1]))
    space = Types(problem)
    wrong = {}
    for start in ("uniform", "univariate", "calibrated"):
        source = source_of(space, start)
        payload = source.draw(np.random.default_rng(1))
        cells, _ = space.totals(payload, source.compass, source.influence)
        wrong[start] = violation(cells, problem.low, problem.high)
    assert wrong["calibrated"] < wrong["univariate"] / 5 < wrong["uniform"] / 10


def test_univariate_draws_follow_published_margins_and_uniform_draws_do_not():
    problem = problem_of(load(FOUNDING[0]))
    space = Types(problem)
    column = problem.schema.index["AREAP"]
    shares = {}
    for start in ("uniform", "univariate"):
        source = source_of(space, start)
        codes, counts = space.rows(source.draw(np.random.default_rng(1)))
        shares[start] = np.bincount(codes[:, column], counts) / 4027
    np.testing.assert_allclose(shares["univariate"], [0.1716, 0.2210, 0.1838, 0.4236], atol=0.03)
    np.testing.assert_allclose(shares["uniform"], 0.25, atol=0.03)


def test_tables_with_very_many_cells_are_calibrated_in_sweeps(tmp_path):
    rng = np.random.default_rng(0)
    cells = rng.multinomial(5000, rng.dirichlet(np.ones(1640))).reshape(41, 40)
    rows = ", ".join(f"{a}: {row.tolist()}" for a, row in enumerate(cells))
    text = f"""\
records: 5000
variables:
  A: {{integer: [0, 40]}}
  B: {{integer: [0, 39]}}
outputs:
  - {{kind: crosstab, rows: A, columns: B, counts: {{{rows}}}}}
"""
    problem = problem_of(small(tmp_path, text))
    assert len(problem.low) > 1500
    source = source_of(Types(problem))
    np.testing.assert_allclose(source.weights, cells.ravel(), atol=1e-6)


def test_tables_that_follow_from_others_do_not_bind():
    problem = problem_of(load(FOUNDING[1]))
    names = [
        tuple(problem.schema.variables[c].name for c in problem.grids[t].columns)
        for t in problem.binding
    ]
    assert names == [("TENURE", "CARS"), ("ETHGROUP", "CARS"), ("AREAP",), ("SEX",), ("LTILL",)]


def test_contradictory_tables_leave_a_start(tmp_path):
    text = """\
records: 10
variables:
  A: {categories: {0: a, 1: b}}
  B: {categories: {0: a, 1: b}}
  C: {categories: {0: a, 1: b}}
outputs:
  - {kind: crosstab, rows: A, columns: B, counts: {0: [5, 0], 1: [0, 5]}}
  - {kind: crosstab, rows: B, columns: C, counts: {0: [5, 0], 1: [0, 5]}}
  - {kind: crosstab, rows: A, columns: C, counts: {0: [0, 5], 1: [5, 0]}}
"""
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    spec = load(path, anyway=True)
    assert len(spec.clashes) == 1
    space = Types(problem_of(spec))
    source = source_of(space)
    payload = source.draw(np.random.default_rng(1))
    assert payload.sum() == 10
    assert payload.min() >= 0


def test_a_maximum_far_out_in_the_tail_is_reached(tmp_path):
    """So many types are not all held, and a sample with this mean and sd never comes near."""
    text = """\
records: 200
variables:
  AGE: {integer: [0, 120]}
  PAY: {integer: [0, 5000]}
outputs:
  - {kind: summary, of: AGE, mean: 30.00, sd: 5.00, max: 90}
"""
    result = synthesize(small(tmp_path, text), seed=1, generations=5)
    assert result.verification["reproduced"].tolist() == ["90", "30.00", "5.00"]


def test_weights_of_which_a_model_makes_nothing_do_not_end_the_run():
    spec = load(SPECS / "school-absence.yaml")  # with this seed a likelihood overflows
    result = synthesize(spec, 7, time=1)
    assert len(result.data) == 146


def test_counts_are_drawn_as_widely_as_a_negative_binomial_tells_and_not_as_a_poisson_model_does():
    problem = problem_of(load(SPECS / "school-absence.yaml"))
    source = source_of(Records(problem))
    # Rows of equal weights that would tell as much: few where calibration must bend all of them.
    assert source.weights.sum() ** 2 / (source.weights @ source.weights) > 500
