"""The lattice step: it lands figures, leaves tables alone, and says the truth about its result."""

from __future__ import annotations

import numpy as np
import pytest
from cases import FOUNDING, problem_of, small, source_of, spaces, strategy_of

from evosynth.approach import PRINTS
from evosynth.evolve import Limits, evolve
from evosynth.exact import POPULATION
from evosynth.kernels.cells import count_cells
from evosynth.polish import _pool, polish
from evosynth.record_types import Types
from evosynth.records import Records
from evosynth.spec import load


def near(space):
    """A candidate whose tables are exact and whose figures are near, from two generations."""
    toolbox = strategy_of(space).toolbox()
    toolbox.register("finish", lambda population, rng: population[0])
    state, _ = evolve(toolbox, 1, POPULATION, Limits(3), lambda state: False)
    return state.population[0].payload


def table_counts(problem, space, payload):
    codes, counts = space.rows(payload)
    return count_cells(problem.cells(codes), counts, len(problem.low))


@pytest.mark.parametrize("space_kind", [Types, Records])
def test_polish_lands_every_coefficient_and_leaves_the_tables_alone(space_kind):
    problem = problem_of(load(FOUNDING[1]))
    space = space_kind(problem)
    payload = near(space)
    assert np.abs(problem.measure(*space.rows(payload))).max() > 1
    landed = polish(space, payload, np.random.default_rng(3), rounds=12)
    assert np.abs(problem.measure(*space.rows(landed))).max() < PRINTS
    np.testing.assert_array_equal(
        table_counts(problem, space, landed), table_counts(problem, space, payload)
    )


@pytest.mark.parametrize("fine", [False, True])
def test_effects_of_moves_add_up_exactly_in_the_expansion(tmp_path, fine):
    problem = problem_of(small(tmp_path))
    for space in spaces(problem):
        payload = source_of(space).draw(np.random.default_rng(1))
        rng = np.random.default_rng(2)
        proposed = space.propose(payload, 800, rng)
        moves, effects, reach, residual = _pool(space, payload, proposed, 40, fine, rng)
        assert len(moves) > 20
        codes, counts = space.rows(payload)
        expansion = problem.expand(codes, counts.astype(float))
        times = reach[:, 1].astype(np.int64)
        moved_codes, moved_counts = space.rows(space.apply(payload, moves, times))
        moved = expansion.offset + moved_counts @ expansion.influence(moved_codes)
        np.testing.assert_allclose(residual + times @ effects, moved, atol=1e-6)


def test_polish_never_returns_something_worse(tmp_path):
    problem = problem_of(small(tmp_path))
    for space in spaces(problem):
        payload = source_of(space).draw(np.random.default_rng(1))
        before = np.abs(problem.measure(*space.rows(payload))).max()
        after = polish(space, payload, np.random.default_rng(2), rounds=1)
        assert np.abs(problem.measure(*space.rows(after))).max() <= before
