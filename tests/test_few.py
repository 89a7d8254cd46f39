"""Small datasets: a variable annealed by itself lands figures that no smooth path leads to."""

from __future__ import annotations

import numpy as np
import pytest
from cases import SPECS, problem_of, small

from evosynth.approach import PRINTS
from evosynth.column import anneal
from evosynth.few import Few, few_records
from evosynth.kernels.cells import count_cells, violation
from evosynth.kernels.column import _replace
from evosynth.spec import load
from evosynth.synthesis import synthesize

RNG = np.random.default_rng(7)
TRUTH = {1: [12, 15, 15, 19, 24, 27, 31, 38, 40], 2: [3, 8, 8, 9, 14, 22, 35], 3: [20, 21, 33, 50]}


def by_group(statistic):
    """A statistic of each group, as a paper prints it."""
    return ", ".join(f"{group}: {statistic(np.array(x)):.2f}" for group, x in TRUTH.items())


SPEC = f"""\
records: {sum(map(len, TRUTH.values()))}
variables:
  G: {{categories: {{1: one, 2: two, 3: three}}}}
  X: {{integer: [0, 60]}}
outputs:
  - kind: summary
    of: X
    by: G
    n: {{{", ".join(f"{group}: {len(x)}" for group, x in TRUTH.items())}}}
    mean: {{{by_group(np.mean)}}}
    sd: {{{by_group(lambda x: x.std(ddof=1))}}}
    median: {{{by_group(np.median)}}}
    min: {{{by_group(np.min)}}}
    max: {{{by_group(np.max)}}}
    quantiles:
      25: {{{by_group(lambda x: np.quantile(x, 0.25))}}}
      75: {{{by_group(lambda x: np.quantile(x, 0.75))}}}
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    return small(tmp_path_factory.mktemp("few"), SPEC)


def test_few_records_with_quartiles_are_told_from_others(spec, tmp_path):
    assert few_records(problem_of(spec))
    many = SPEC.replace("records: 20", "records: 2000").replace(
        "n: {1: 9, 2: 7, 3: 4}", "n: {1: 9}"
    )
    assert not few_records(problem_of(small(tmp_path, many)))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_all_that_is_printed_of_a_few_records_is_reproduced(spec, seed):
    result = synthesize(spec, seed, time=60)
    assert result.verification["exact"].all()


def test_a_draw_has_its_tables_right_and_most_figures(spec):
    problem = problem_of(spec)
    strategy = Few.of(problem, "calibrated", 1)
    drawn = strategy.draw(np.random.default_rng(1))
    assert violation(drawn.cells, problem.low, problem.high) == 0
    off = np.abs(problem.measure(*strategy.space.rows(drawn.payload)))
    np.testing.assert_allclose(np.abs(drawn.residual), off)
    assert (off < PRINTS).mean() > 0.6
    undirected = strategy.candidate(strategy.source.draw(np.random.default_rng(1)))
    assert strategy.evaluate(drawn) < strategy.evaluate(undirected)


def test_annealing_changes_one_variable_only_and_brings_its_figures_nearer(spec):
    problem = problem_of(spec)
    codes = np.column_stack([np.repeat([0, 1, 2], [9, 7, 4]), RNG.integers(0, 61, 20)])
    codes = codes.astype(problem.schema.dtype)
    before = codes.copy()
    found = anneal(problem, codes, 1, (20.0, 1.0), 200_000, np.random.default_rng(1))
    np.testing.assert_array_equal(codes, before)
    np.testing.assert_array_equal(found[:, 0], codes[:, 0])
    ones = np.ones(20, np.int64)

    def far(data):
        cells = count_cells(problem.cells(data), ones, len(problem.low))
        off = np.maximum(np.abs(problem.measure(data, ones)) - 1, 0)
        return np.sqrt(off).sum() + violation(cells, problem.low, problem.high)

    assert far(found) < 0.2 * far(codes)


def test_a_value_that_is_missing_stays_missing(tmp_path):
    text = SPEC.replace("X: {integer: [0, 60]}", "X: {integer: [0, 60], missing: {'-9': refused}}")
    problem = problem_of(small(tmp_path, text))
    codes = np.column_stack([np.repeat([0, 1, 2], [9, 7, 4]), RNG.integers(0, 61, 20)])
    codes[:3, 1] = 61
    codes = codes.astype(problem.schema.dtype)
    found = anneal(problem, codes, 1, (9.0, 1.0), 40_000, RNG.spawn(1)[0])
    np.testing.assert_array_equal(found[:, 1] == 61, codes[:, 1] == 61)


def test_replacing_keeps_levels_sorted():
    rng = np.random.default_rng(5)
    for _ in range(200):
        size = int(rng.integers(1, 9))
        ordered = np.sort(rng.integers(0, 6, 9))
        ordered[:size] = np.sort(ordered[:size])
        old, new = int(rng.choice(ordered[:size])), int(rng.integers(0, 6))
        goal = ordered[:size].tolist()
        goal.remove(old)
        _replace(ordered, size, old, new)
        assert ordered[:size].tolist() == sorted([*goal, new])


def test_several_models_are_rounded_from_weights_only_where_steering_has_too_few_records():
    whole = {}
    for name in ("school-absence", "graduate-admissions"):
        spec = load(SPECS / f"{name}.yaml")
        assert few_records(problem_of(spec))
        whole[name] = Few.of(problem_of(spec), spec.start, 1).whole
    assert whole["school-absence"] is not None
    assert whole["graduate-admissions"] is None
