"""The loop: elitist, deterministic, stoppable; and it does the work even from a poor start."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from cases import FOUNDING, SMALL, problem_of, small

from evosynth.errors import FolderError
from evosynth.evolve import (
    EVERY_FIGURE,
    NO_PROGRESS,
    Candidate,
    Limits,
    Loss,
    evolve,
    keep_best,
    tournament,
)
from evosynth.exact import POPULATION, Exact
from evosynth.spec import load
from evosynth.synthesis import synthesize

UNREACHABLE = """\
records: 100
variables:
  X: {categories: {0: a, 1: b}}
  Z: {integer: [1, 5]}
  Y: {categories: {0: "no", 1: "yes"}}
outputs:
  - {kind: crosstab, rows: X, columns: Y, counts: {0: [30, 20], 1: [20, 30]}}
  - {kind: logit, formula: Y ~ X, coefficients: {Intercept: -0.4055, "X[1]": 0.8111}}
"""


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


def test_losses_fall_and_the_log_tells_of_every_generation():
    problem = problem_of(load(FOUNDING[1]))
    strategy = Exact.of(problem, "uniform", 1)
    seen = []
    state, reason = evolve(
        strategy.toolbox(), 1, POPULATION, Limits(4), lambda s: seen.append(s.generation)
    )
    assert reason == "generation limit"
    assert sorted(set(seen)) == list(range(5)) == state.log.select("generation")
    # The first generation is also told of while it is drawn, the others once.
    assert len(seen) - seen.count(0) == 4 and seen.count(0) > 1
    best = state.log.select("best")
    assert all(later < earlier for earlier, later in pairwise(best))


def test_losses_never_rise_whatever_becomes_of_the_children():
    strategy = Exact.of(problem_of(load(FOUNDING[1])), "uniform", 1)
    toolbox = strategy.toolbox()
    toolbox.register("mutate", lambda child, rng, generation, stalled: strategy.draw(rng))
    state, _ = evolve(toolbox, 1, POPULATION, Limits(8), lambda state: False)
    best, mean = state.log.select("best"), state.log.select("mean")
    assert len(set(best)) > 1
    assert all(later <= earlier for earlier, later in pairwise(best))
    assert all(later <= earlier for earlier, later in pairwise(mean))


def test_the_watcher_can_stop_a_run_once_a_candidate_is_drawn():
    strategy = Exact.of(problem_of(load(FOUNDING[1])), "uniform", 1)
    state, reason = evolve(strategy.toolbox(), 1, POPULATION, Limits(50), lambda s: True)
    assert (reason, len(state.population)) == ("interrupted", 1)
    assert state.log.select("generation") == [0]


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


def test_tables_that_are_exact_at_once_are_drawn_once_and_no_more(tmp_path):
    text = SMALL[: SMALL.index("  - kind: frequencies")]
    drawn = {}
    for start in ("calibrated", "uniform"):
        strategy = Exact.of(problem_of(small(tmp_path, text)), start, 1)
        toolbox = strategy.toolbox()
        drawn[start] = []
        toolbox.register("draw", _counted(strategy.draw, drawn[start]))
        toolbox.register("redraw", _counted(strategy.redraw, drawn[start]))
        state, reason = evolve(toolbox, 1, POPULATION, Limits(0), lambda state: False)
        assert (reason == EVERY_FIGURE) == (start == "calibrated")
    assert [len(seen) for seen in drawn.values()] == [1, POPULATION]


def _counted(draw, seen):
    def counted(rng):
        seen.append(rng)
        return draw(rng)

    return counted


def test_a_search_that_gets_nowhere_ends_and_tries_on_when_asked(tmp_path, monkeypatch):
    monkeypatch.setattr("evosynth.evolve._PATIENCE", 4)
    toolbox = Exact.of(
        problem_of(small(tmp_path, UNREACHABLE, anyway=True)), "uniform", 1
    ).toolbox()
    state, ended = None, 0
    for _ in range(2):
        state, reason = evolve(toolbox, 1, 4, Limits(300), lambda state: False, state)
        assert reason == NO_PROGRESS
        standing = [(-row["exact"], row["worst"]) for row in state.log]
        reached = standing.index(standing[-1])
        assert reached > 0
        assert state.generation == max(reached, ended) + 4
        ended = state.generation


def test_workers_change_nothing(tmp_path):
    spec = small(tmp_path)
    frames = [synthesize(spec, seed=5, workers=workers).data for workers in (1, 2, 5)]
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])
    assert not frames[0].equals(synthesize(spec, seed=6).data)


def test_streams_of_random_numbers_do_not_coincide():
    seeds = [(7, 0, 0, 1), (7, 0, 1, 1), (7, 1, 0, 1), (7, 2), (7, 3)]
    drawn = {np.random.default_rng(seed).integers(2**62) for seed in seeds}
    assert len(drawn) == len(seeds)


def test_an_unfinished_exact_run_resumes_as_if_uninterrupted(tmp_path):
    spec = dataclasses.replace(load(FOUNDING[1]), start="uniform")
    whole = synthesize(spec, seed=3, generations=4, workers=2)
    assert not whole.state.exact.all()
    synthesize(spec, seed=3, generations=2, workers=2).save(tmp_path / "out")
    rest = synthesize(spec, seed=3, generations=2, workers=2, resume=tmp_path / "out")
    assert rest.generations == 4
    assert rest.log == whole.log
    assert rest.data.equals(whole.data)


@pytest.mark.parametrize("content", [b"", b"junk", b"PK\x03\x04 cut short"])
def test_a_damaged_checkpoint_is_refused(tmp_path, content):
    (tmp_path / "checkpoint.npz").write_bytes(content)
    with pytest.raises(FolderError, match="damaged, or not a checkpoint"):
        synthesize(small(tmp_path), resume=tmp_path)


def test_a_finished_run_leaves_no_checkpoint(tmp_path):
    spec = dataclasses.replace(load(FOUNDING[0]), start="uniform")
    synthesize(spec, seed=3, generations=0).save(tmp_path / "out")
    assert (tmp_path / "out" / "checkpoint.npz").exists()
    done = synthesize(spec, seed=3, resume=tmp_path / "out")
    done.save(tmp_path / "out", force=True)
    assert done.exact
    assert not (tmp_path / "out" / "checkpoint.npz").exists()


def test_figures_that_no_move_can_reach_are_reported_not_fatal(tmp_path):
    result = synthesize(small(tmp_path, UNREACHABLE, anyway=True), seed=1, generations=2)
    missed = result.verification[~result.verification["exact"]]
    assert missed["figure"].tolist() == ["X[1]"]
    assert missed["reproduced"].tolist() == ["0.8109"]
