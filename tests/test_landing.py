"""Real weights in printed digits, and whole counts near them that print as published."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import problem_of

from evosynth.approach import PRINTS
from evosynth.counts_lattice import Lattice
from evosynth.exact import Exact
from evosynth.kernels.cells import count_cells, count_weights
from evosynth.landing import _mended
from evosynth.parts import parted, parts, sampled, thinned
from evosynth.relaxed import Relaxed, sharpen
from evosynth.spec import load
from evosynth.synthesis import synthesize

SPECS = Path(__file__).parent.parent / "specs"


def never() -> bool:
    return False


@pytest.fixture(scope="module")
def housing():
    """An ordered and a multinomial logit with standard errors over 72 record types."""
    return Exact.of(problem_of(load(SPECS / "copenhagen-housing.yaml")), "calibrated", 1)


def relaxed_of(strategy):
    source, problem = strategy.source, strategy.problem
    free = np.flatnonzero(source.weights > 0)
    part = parts(problem, source.codes)
    return Relaxed(
        problem, source.codes, source.cells, source.weights.copy(), free, part, np.empty(0)
    )


def test_sharpening_brings_all_figures_into_their_digits_and_meets_the_tables(housing):
    before = relaxed_of(housing)
    assert np.abs(before.figures()[1]).max() > 10
    after, _, residual = sharpen(before, 40, never)
    assert np.abs(residual).max() < 1.1
    problem = housing.problem
    held = count_weights(after.cells, after.weights, len(problem.low))
    np.testing.assert_allclose(held, problem.low, atol=1e-4)
    assert after.weights.min() >= 0
    # The residual is that of a new estimate, not of the expansion.
    measured = problem.measure(after.codes, after.weights)
    np.testing.assert_allclose(measured, residual[: problem.size], atol=1e-9)


def test_sharpening_meets_further_sums(housing):
    first = relaxed_of(housing)
    tie = np.zeros((len(first.free), 1))
    tie[5] = 1.0
    goal = np.array([np.rint(first.own[5])])
    after, _, _ = sharpen(first, 40, never, tie, goal)
    assert after.own[5] == pytest.approx(goal[0], abs=1e-3)


def test_landing_draws_whole_counts_that_print_as_published(housing):
    problem = housing.problem
    losses = []
    for seed in range(12):
        found = housing.landing.draw(np.random.default_rng(seed), never)
        if found is None:
            continue
        counts, loss = found
        assert counts.min() >= 0
        held = count_cells(housing.source.cells, counts, len(problem.low))
        np.testing.assert_array_equal(held, problem.low)
        there = counts > 0
        measured = problem.measure(housing.source.codes[there], counts[there])
        assert (loss == 0.0) == bool((np.abs(measured) < PRINTS).all())
        losses.append(loss)
        if loss == 0.0:
            break
    assert min(losses) == 0.0


def test_a_lattice_holds_exactly_the_counts_that_meet_all_demands():
    ties = np.array([[1, 1, 0], [1, 0, 2], [1, 1, 2], [1, 0, 0], [1, 0, 3]], dtype=float)
    goals = np.array([7.0, 3.0, 8.0])
    lattice = Lattice.of(ties, goals)
    np.testing.assert_array_equal(lattice.counts @ ties, goals)
    np.testing.assert_array_equal(lattice.basis @ ties, 0)
    assert lattice.basis.shape == (2, 5)
    # No whole-number point between those of the basis: its minors have no common factor.
    minors = [
        round(np.linalg.det(lattice.basis[:, [i, j]])) for i in range(5) for j in range(i + 1, 5)
    ]
    assert np.gcd.reduce(minors) == 1


def test_a_lattice_says_when_nothing_meets_the_demands():
    assert Lattice.of(np.array([[2.0], [4.0]]), np.array([3.0])) is None
    assert Lattice.of(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([3.0, 1.0])) is None


SMALL = """
title: A small survey
records: 600
variables:
  G: {label: Group, categories: {1: First, 2: Second, 3: Third}}
  A: {label: Age, integer: [0, 20]}
  Y: {label: Outcome, categories: {0: "No", 1: "Yes"}}
outputs:
- {kind: frequencies, of: G, counts: {1: 200, 2: 250, 3: 150}}
- kind: logit
  formula: Y ~ G + A
  coefficients: {Intercept: -0.512, "G[2]": 0.314, "G[3]": -0.221, A: 0.051}
  standard_errors: {Intercept: 0.204, "G[2]": 0.194, "G[3]": 0.223, A: 0.014}
"""


@pytest.fixture(scope="module")
def logit(tmp_path_factory):
    file = tmp_path_factory.mktemp("landing") / "spec.yaml"
    file.write_text(SMALL)
    return Exact.of(problem_of(load(file)), "calibrated", 1)


def test_parts_get_whole_sizes_and_rows_are_thinned_within_them(logit):
    rng = np.random.default_rng(1)
    first = sharpen(relaxed_of(logit), 40, never)[0]
    assert first.part.max() == 5
    after = parted(first, rng, never)
    assert len(after.sizes) == 6
    sizes = np.bincount(after.part, after.weights)
    np.testing.assert_allclose(sizes, np.rint(sizes), atol=1e-3)
    assert np.abs(after.figures()[1]).max() < 1.1
    few = thinned(after, logit.source.groups, 60, rng, never)
    assert len(few.free) <= 72
    rest = np.delete(few.weights, few.free)
    np.testing.assert_array_equal(rest, np.rint(rest))
    assert few.weights.sum() == pytest.approx(600, abs=1e-3)


def test_a_sample_of_rows_stands_for_all(logit):
    first = relaxed_of(logit)
    few = sampled(first, 50, np.random.default_rng(1))
    assert len(few.free) < len(first.free)
    assert few.weights.sum() == pytest.approx(600)
    assert set(np.unique(few.part[few.free])) == set(range(6))


def test_the_number_of_workers_changes_nothing():
    spec = load(SPECS / "copenhagen-housing.yaml")
    one, two = (synthesize(spec, seed=2, workers=workers, generations=0) for workers in (1, 2))
    pd.testing.assert_frame_equal(one.data, two.data)


def test_rows_of_which_too_much_is_taken_have_it_from_the_nearest_of_the_same_cells():
    ties = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    influence = np.array([[0.0], [3.0], [0.5], [0.1]])
    counts = np.array([-1.0, 4.0, 2.0, 5.0])
    found = _mended(ties, influence, counts)
    assert found.tolist() == [0.0, 4.0, 1.0, 5.0]
    assert (found @ ties == counts @ ties).all()
    assert _mended(ties, influence, np.array([1.0, 1.0, 1.0, -1.0])) is None
