"""Types and records must behave alike: what is moved is moved, and sums stay true."""

from __future__ import annotations

import numpy as np
import pytest
from cases import FOUNDING, problem_of, random_codes, small, source_of, spaces, strategy_of

from evosynth.errors import SizeError
from evosynth.exact import POPULATION, Exact
from evosynth.record_types import Types, few_types
from evosynth.records import Records
from evosynth.space import FINEST
from evosynth.spec import load


@pytest.fixture(params=["Types", "Records"])
def strategy(request, tmp_path):
    problem = problem_of(small(tmp_path))
    space = {"Types": Types, "Records": Records}[request.param](problem)
    return strategy_of(space, "univariate")


def sums(strategy, payload):
    source = strategy.source
    return strategy.space.totals(payload, source.compass, source.influence)


def test_types_enumerate_every_combination_once(tmp_path):
    space = Types(problem_of(small(tmp_path)))
    assert len(space.codes) == 3 * 23 * 2 * 2 == len(np.unique(space.codes, axis=0))
    assert space.codes.dtype == np.uint8
    np.testing.assert_array_equal(space.codes @ space.strides, np.arange(len(space.codes)))


def test_burst_keeps_records_and_sums_true(strategy):
    parent = strategy.draw(np.random.default_rng(1))
    before = parent.payload.copy()
    rng = np.random.default_rng(2)
    child = strategy.mutate(strategy.mate(parent, parent, rng), rng, 1, 0)
    cells, residual = sums(strategy, child.payload)
    np.testing.assert_array_equal(child.cells, cells)
    np.testing.assert_allclose(child.residual, residual, atol=1e-8)
    assert strategy.space.rows(child.payload)[1].sum() == 400
    assert not np.array_equal(child.payload, before)
    np.testing.assert_array_equal(parent.payload, before)
    assert strategy.evaluate(child) < strategy.evaluate(parent)


def test_a_heated_burst_also_makes_moves_that_worsen(strategy):
    parent = strategy.draw(np.random.default_rng(1))
    cold = hot = parent
    for step in range(4):
        rng = np.random.default_rng(step)
        cold = strategy.mutate(strategy.mate(cold, cold, rng), rng, 1, 0)
        hot = strategy.mutate(strategy.mate(hot, hot, rng), rng, 1, 10)
    assert strategy.evaluate(cold) < strategy.evaluate(hot)


def test_crossing_takes_a_block_and_keeps_the_number_of_records(strategy):
    space = strategy.space
    a, b = (strategy.draw(np.random.default_rng(i)).payload for i in range(2))
    for i in range(20):
        child = space.cross(a, b, np.random.default_rng(i))
        assert space.rows(child)[1].sum() == 400
        assert child.min() >= 0
    shares = [space.common(a, b), space.common(a, child), space.common(b, child)]
    assert shares[0] < shares[1] < 1
    assert shares[0] < shares[2] < 1


def test_common_is_the_overlap_of_two_multisets(tmp_path):
    problem = problem_of(small(tmp_path))
    rng = np.random.default_rng(0)
    a, b = random_codes(problem, rng), random_codes(problem, rng)
    types, records = spaces(problem)
    counts = [np.bincount(c @ types.strides, minlength=len(types.codes)) for c in (a, b)]
    expected = np.minimum(*counts).sum() / 400
    assert 0 < expected < 1
    assert types.common(*(c.astype(np.int32) for c in counts)) == expected
    assert records.common(a, b[::-1]) == expected
    assert records.common(a, a[::-1]) == 1.0


def test_swaps_keep_the_margins_of_the_swapped_variable(strategy):
    space = strategy.space
    payload = strategy.draw(np.random.default_rng(4)).payload
    moves = space.propose(payload, 500, np.random.default_rng(5))
    pairs = np.flatnonzero(moves.slot_from[:, 1] >= 0)
    assert len(pairs) > 50
    for m in pairs[:50]:
        old = moves.codes[moves.row_from[m]]
        new = moves.codes[moves.row_to[m]]
        assert (old != new).any(axis=0).sum() == 1
        np.testing.assert_array_equal(np.sort(old, axis=0), np.sort(new, axis=0))


def test_apply_backwards_undoes_apply_forwards(tmp_path):
    space = Types(problem_of(small(tmp_path)))
    payload = np.full(len(space.codes), 3, dtype=np.int32)
    moves = space.propose(payload, 100, np.random.default_rng(0))
    times = np.ones(len(moves), dtype=np.int64)
    there = space.apply(payload, moves, times)
    assert not np.array_equal(there, payload)
    np.testing.assert_array_equal(space.apply(there, moves, -times), payload)


def wide(records, quantities):
    variables = "\n".join(f"  V{i}: {{integer: [1, 20]}}" for i in range(quantities))
    return f"""\
records: {records}
variables:
  Y: {{categories: {{0: "No", 1: "Yes"}}}}
{variables}
outputs:
  - {{kind: frequencies, of: Y, proportions: {{0: 0.4, 1: 0.6}}}}
"""


def test_the_founding_spec_is_held_as_types_and_a_wide_one_as_records(tmp_path):
    assert isinstance(Exact.of(problem_of(load(FOUNDING[1])), "uniform", 1).space, Types)
    wide_problem = problem_of(small(tmp_path, wide(50, 9)))
    assert not few_types(wide_problem)
    assert isinstance(Exact.of(wide_problem, "uniform", 1).space, Records)


def test_large_problems_keep_fewer_candidates_and_huge_ones_are_refused(tmp_path):
    few = problem_of(small(tmp_path, wide(20_000_000, 9)))
    space = Records(few)
    strategy = Exact(few, space, None, False, lambda: False)
    assert 4 <= strategy.population < POPULATION
    assert (strategy.population - 4) * 2 * space.bytes <= 2**30
    with pytest.raises(SizeError, match="100,000,000 records of 10 variables"):
        Records(problem_of(small(tmp_path, wide(100_000_000, 9))))


def test_no_figure_is_lost_because_others_are_printed_far_more_finely(tmp_path):
    text = """\
records: 300
variables:
  INCOME: {integer: [10000, 10999]}
  Y: {categories: {0: "no", 1: "yes"}}
outputs:
  - kind: logit
    formula: Y ~ INCOME
    coefficients: {Intercept: "-20.1", INCOME: "0.0019876543"}
"""
    problem = problem_of(small(tmp_path, text))
    source = source_of(Types(problem), "univariate")
    assert source.influence.shape[1] == 2
    centred = source.influence - np.average(source.influence, axis=0, weights=source.weights)
    spread = (centred * source.weights[:, None]).T @ centred
    finest = FINEST**2 * source.compass.whiten.T @ source.compass.whiten
    np.testing.assert_allclose(spread + finest, np.eye(2), atol=1e-6)
    assert np.diag(spread).min() > 0.9
