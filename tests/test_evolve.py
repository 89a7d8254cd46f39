"""The loop: elitist, deterministic, stoppable; and it does the work even from a poor start."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from cases import FOUNDING, problem_of, small

from evosynth.evolve import Candidate, Limits, Loss, evolve, keep_best, tournament
from evosynth.exact import POPULATION, Exact
from evosynth.spec import load
from evosynth.synthesis import synthesize


def candidate(loss, content):
    return Candidate(np.array(content), np.empty(0, np.int64), np.empty(0), Loss((loss,)))


def test_the_best_survive_and_equal_ones_survive_once():
    crowd = [candidate(3.0, [3]), candidate(1.0, [1]), candidate(1.0, [1]), candidate(2.0, [2])]
    assert [c.loss for c in keep_best(crowd, 3)] == [1.0, 2.0, 3.0]
    assert [c.loss for c in keep_best(crowd, 1)] == [1.0]


def test_tournaments_prefer_the_better_and_pair_different_parents():
    crowd = [candidate(float(i), [i]) for i in range(10)]
    pairs = tournament(crowd, 2000, np.random.default_rng(0))
    assert len(pairs) == 2000
    assert all(a is not b for a, b in pairs)
    first = np.bincount([int(a.loss) for a, _ in pairs], minlength=10)
    assert first[0] > first[4] > first[8]
    assert first[9] == 0


def test_losses_never_rise_and_the_log_tells_of_every_generation():
    problem = problem_of(load(FOUNDING[1]))
    strategy = Exact.of(problem, "uniform", 1)
    seen = []
    state, reason = evolve(
        strategy.toolbox(), 1, POPULATION, Limits(4), lambda s: seen.append(s.generation)
    )
    assert reason == "generation limit"
    assert seen == [0, 1, 2, 3, 4] == state.log.select("generation")
    best = state.log.select("best")
    assert all(later < earlier for earlier, later in zip(best, best[1:], strict=False))
    assert best[-1] < best[0] / 20


def test_the_watcher_can_stop_a_run():
    strategy = Exact.of(problem_of(load(FOUNDING[1])), "uniform", 1)
    state, reason = evolve(
        strategy.toolbox(), 1, POPULATION, Limits(50), lambda s: s.generation == 2
    )
    assert (reason, state.generation) == ("interrupted", 2)


@pytest.mark.parametrize("path", FOUNDING, ids=["experiment-1", "experiment-2"])
def test_evolution_reaches_print_from_a_uniform_start(path):
    spec = dataclasses.replace(load(path), start="uniform")
    result = synthesize(spec, seed=2, workers=2)
    assert result.log[0]["exact"] <= 1
    assert result.generations >= 1
    assert result.exact


def test_workers_change_nothing(tmp_path):
    spec = small(tmp_path)
    frames = [synthesize(spec, seed=5, workers=workers).data for workers in (1, 2, 5)]
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])
    assert not frames[0].equals(synthesize(spec, seed=6).data)
