"""The lattice step: it lands figures, leaves tables alone, and says the truth about its result."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from cases import FOUNDING, problem_of, small, source_of, spaces, strategy_of

from evosynth.approach import PRINTS, approach
from evosynth.evolve import Limits, evolve
from evosynth.exact import POPULATION
from evosynth.kernels.cells import count_cells
from evosynth.polish import _joint, _pool, polish
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


def curved(tmp_path):
    """A logit with standard errors of a few hundred records: half of the moves bend its figures."""
    rng = np.random.default_rng(4)
    n = 400
    x = np.column_stack([np.ones(n), rng.integers(0, 2, n), rng.integers(20, 60, n)])
    y = rng.random(n) < 1 / (1 + np.exp(-(x @ [-2, 0.5, 0.04])))
    fit = sm.Logit(y.astype(int), x).fit(disp=0)
    names = ["Intercept", "'G[1]'", "AGE"]
    file = tmp_path / "spec.yaml"
    file.write_text(f"""
records: {n}
variables:
  G: {{categories: {{0: Without, 1: With}}}}
  AGE: {{integer: [20, 60]}}
  Y: {{categories: {{0: Absent, 1: Present}}}}
outputs:
- kind: logit
  formula: Y ~ G + AGE
  coefficients: {{{", ".join(f"{n}: {v:.4f}" for n, v in zip(names, fit.params, strict=True))}}}
  standard_errors: {{{", ".join(f"{n}: {v:.4f}" for n, v in zip(names, fit.bse, strict=True))}}}
  log_likelihood: {fit.llf:.3f}
""")
    return problem_of(load(file))


def test_what_moves_bend_together_is_allowed_for(tmp_path):
    space = Records(curved(tmp_path))
    source = source_of(space)
    ends = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        payload = approach(space, source.draw(rng), rng, lambda: False)
        losses = [loss for _, loss in _joint(space, payload, 0, rng)]
        if len(losses) > 1:
            ends.append((losses[0], min(losses)))
    assert sum(end for _, end in ends) < 0.75 * sum(start for start, _ in ends)
    assert any(start > 1 and end == 0.0 for start, end in ends)
