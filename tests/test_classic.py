"""The founding algorithm, operator by operator."""

from __future__ import annotations

import numpy as np
import pytest
from cases import FOUNDING, SMALL, problem_of, small

from evosynth.classic import Classic
from evosynth.evolve import Limits, evolve
from evosynth.spec import load
from evosynth.synthesis import synthesize


def classic(spec):
    weights = tuple(output.weight for output in spec.outputs)
    return Classic.of(problem_of(spec), spec.plans, weights)


@pytest.fixture(scope="module")
def founding():
    return classic(load(FOUNDING[1]))


def test_the_start_is_uniform(founding):
    codes = founding.draw(np.random.default_rng(0)).payload
    assert codes.shape == (4027, 7)
    for column, size in enumerate(founding.problem.schema.sizes):
        shares = np.bincount(codes[:, column], minlength=size) / 4027
        np.testing.assert_allclose(shares, 1 / size, atol=0.03)


@pytest.mark.parametrize(
    ("generation", "rate"),
    [(1, 0.01), (250, 0.01), (251, 0.005), (501, 0.001), (751, 0.0005), (1001, 0.0001)],
)
def test_the_mutation_rate_falls_every_250_generations(founding, generation, rate):
    parent = founding.draw(np.random.default_rng(0))
    age = founding.problem.schema.index["AGE"]
    changed = [
        (founding.mutate(parent, np.random.default_rng(i), generation, 0).payload != parent.payload)
        for i in range(12)
    ]
    share = np.mean([c[:, age].mean() for c in changed])
    expected = rate * 45 / 46  # a replacement is drawn from all 46 ages, the old one among them
    assert share == pytest.approx(expected, abs=4 * np.sqrt(expected / (12 * 4027)))


@pytest.mark.parametrize("path", FOUNDING, ids=["assumed", "published"])
def test_replacements_follow_the_univariate_distribution(path):
    strategy = classic(load(path))
    schema = strategy.problem.schema
    parent = strategy.draw(np.random.default_rng(0))
    column = schema.index["ETHGROUP"]
    parent.payload[:, column] = 1
    found = np.concatenate(
        [
            strategy.mutate(parent, np.random.default_rng(i), 1, 0).payload[:, column]
            for i in range(40)
        ]
    )
    replaced = (found == 0).sum()
    assert replaced == pytest.approx(40 * 4027 * 0.01 * 0.9878, rel=0.1)


def test_there_is_no_crossover(founding):
    a, b = (founding.draw(np.random.default_rng(i)) for i in range(2))
    assert founding.mate(a, b, np.random.default_rng(0)) is a


def test_the_loss_is_the_weighted_sum_of_mean_squared_errors(tmp_path):
    text = """\
records: 4
variables:
  A: {categories: {1: one, 2: two}}
  B: {categories: {1: one, 2: two}}
outputs:
  - {kind: crosstab, weight: 0.5, rows: A, columns: B, counts: {1: [1, 1], 2: [1, 1]}}
  - {kind: frequencies, weight: 2, of: A, proportions: {1: 0.50, 2: 0.50}}
"""
    strategy = classic(small(tmp_path, text))
    codes = np.array([[0, 0], [0, 0], [0, 0], [1, 1]], dtype=np.uint8)
    found = strategy.candidate(codes)
    # cells 3, 0, 0, 1 instead of 1, 1, 1, 1; shares .75 and .25 instead of .5 and .5
    table = (2**2 + 1 + 1 + 0) / 16 / 4
    shares = (0.25**2 + 0.25**2) / 2
    assert strategy.evaluate(found)[0] == pytest.approx(0.5 * table + 2 * shares)


def test_a_coefficient_that_cannot_be_estimated_counts_as_one(tmp_path):
    text = """\
records: 6
variables:
  A: {categories: {1: one, 2: two}}
  Y: {categories: {0: "no", 1: "yes"}}
outputs:
  - {kind: logit, formula: Y ~ A, coefficients: {Intercept: 0.1, "A[2]": 0.2}}
"""
    strategy = classic(small(tmp_path, text))
    codes = np.array([[0, 0], [0, 1]] * 3, dtype=np.uint8)
    assert strategy.evaluate(strategy.candidate(codes))[0] == 1.0


def test_the_loop_keeps_the_best_of_parents_and_children(founding):
    state, reason = evolve(founding.toolbox(), 3, 24, Limits(12), lambda state: False)
    best = state.log.select("best")
    assert reason == "generation limit"
    assert len(state.population) == 24
    assert all(later <= earlier for earlier, later in zip(best, best[1:], strict=False))
    assert best[-1] < 0.9 * best[0]
    assert state.best.loss == best[-1]


def test_a_spec_may_ask_for_it(tmp_path):
    spec = small(tmp_path, f"strategy: classic\n{SMALL}")
    assert synthesize(spec, generations=1).strategy == "classic"
    assert synthesize(spec, strategy="exact").exact
