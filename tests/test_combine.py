"""Small groups: shifts that keep sums and quantiles, combined until everything prints."""

from __future__ import annotations

import numpy as np
import pytest
from cases import problem_of, small
from scipy import stats

from evosynth.approach import PRINTS
from evosynth.combine import combine
from evosynth.kernels.combine import extend_beam, walk

TRUTH = {
    1: [12, 15, 17, 19, 24, 27, 31, 38, 40, 44, 47, 52],
    2: [3, 8, 8, 9, 14, 22, 25, 29, 33, 35],
}
T = stats.ttest_ind(*TRUTH.values()).statistic


def by_group(statistic):
    """A statistic of each group, as a paper prints it."""
    return ", ".join(f"{group}: {statistic(np.array(x)):.2f}" for group, x in TRUTH.items())


SPEC = f"""\
records: 22
variables:
  G: {{categories: {{1: one, 2: two}}}}
  X: {{integer: [0, 60]}}
outputs:
  - kind: summary
    of: X
    by: G
    n: {{1: 12, 2: 10}}
    mean: {{{by_group(np.mean)}}}
    sd: {{{by_group(lambda x: x.std(ddof=1))}}}
    median: {{{by_group(np.median)}}}
    quantiles:
      25: {{{by_group(lambda x: np.quantile(x, 0.25))}}}
      75: {{{by_group(lambda x: np.quantile(x, 0.75))}}}
  - kind: t_test
    of: X
    by: G
    t: {T:.4f}
"""
ONES = np.ones(22, np.int64)


@pytest.fixture(scope="module")
def problem(tmp_path_factory):
    return problem_of(small(tmp_path_factory.mktemp("combine"), SPEC))


def records(problem, groups):
    """Coded records of the values of two groups."""
    codes = [(number, x) for number, values in enumerate(groups) for x in values]
    return np.array(codes, dtype=problem.schema.dtype)


def missed(problem, codes):
    return int((np.abs(problem.measure(codes, ONES)) >= PRINTS).sum())


def test_values_shifted_within_both_groups_are_brought_back(problem):
    one, two = (list(values) for values in TRUTH.values())
    one[0] -= 6
    one[4] += 3
    one[11] += 3
    two[1] -= 3
    two[8] += 3
    codes = records(problem, [one, two])
    assert missed(problem, records(problem, TRUTH.values())) == 0
    before = missed(problem, codes)
    assert before >= 3  # both sds and t
    found = combine(problem, np.array([1]), codes, np.random.default_rng(1))
    assert missed(problem, found) == 0
    np.testing.assert_array_equal(found[:, 0], codes[:, 0])
    assert missed(problem, codes) == before  # what was given is left alone


def test_nothing_is_tried_when_told_to_stop(problem):
    codes = records(problem, [[x + 1 for x in values] for values in TRUTH.values()])
    found = combine(problem, np.array([1]), codes, np.random.default_rng(1), lambda: True)
    np.testing.assert_array_equal(found, codes)


def test_a_walk_keeps_bounds_and_quantiles_and_adds_effects_up():
    rng = np.random.default_rng(3)
    levels = np.array([5, 9, 11, 14, 18, 20])
    least, most = np.maximum(levels - 6, 0), levels + 6
    values = np.arange(40.0)
    influence = np.stack([np.tile(values, (6, 1)), np.tile(values**2, (6, 1))], axis=2)
    states, effects = walk(
        levels,
        least,
        most,
        influence,
        np.array([0.0, 0.0, 0.0]),
        np.ones(3),
        values,
        np.array([0, 2]),
        np.array([2, 3]),
        np.array([0.5, 0.5]),
        np.array([[12.5, 0.4]]),
        np.array([[1, -1]]),
        0.9,
        np.full(5000, 50.0),
        400,
        rng.random((5000, 7)),
    )
    assert len(np.unique(states, axis=0)) > 100
    assert ((states >= least) & (states <= most)).all()
    np.testing.assert_allclose(np.median(states, axis=1), 12.5)
    np.testing.assert_allclose(effects[:, 0], states.sum(axis=1) - levels.sum())
    np.testing.assert_allclose(effects[:, 1], (states**2).sum(axis=1) - (levels**2).sum())
    assert (effects[:, 0] != 0).any()  # sums may move, if rarely
    assert (effects[:, 0] == 0).mean() > 0.1


def test_a_quantile_that_is_off_may_come_nearer_but_not_go_farther():
    rng = np.random.default_rng(4)
    levels = np.array([5, 9, 11, 16, 18, 20])  # the median is 13.5, 12.5 is published
    values = np.arange(40.0)
    states, effects = walk(
        levels,
        np.zeros(6, np.int64),
        np.full(6, 39),
        np.zeros((6, 40, 0)),
        np.array([2.5]),
        np.ones(1),
        values,
        np.array([0, 2]),
        np.array([2, 3]),
        np.array([0.5, 0.5]),
        np.array([[12.5, 0.4]]),
        np.array([[1, -1]]),
        0.9,
        np.full(3000, 0.1),
        3000,
        rng.random((3000, 7)),
    )
    off = np.abs(np.median(states, axis=1) - 12.5) / 0.4
    assert (np.diff(off) <= 1e-9).all()
    assert off[-1] == 0
    np.testing.assert_allclose(effects[:, 0], (np.median(states, axis=1) - 13.5) / 0.4)


def test_the_beam_holds_the_best_sums_of_states_and_ways():
    rng = np.random.default_rng(5)
    residual, effect = rng.normal(0, 4, (7, 5)), rng.normal(0, 4, (30, 2))
    touched = np.array([1, 3])
    before, way = extend_beam(residual, effect, touched, 0.9, 20)
    every = np.repeat(residual[:, None, :], 31, axis=1)
    every[:, 1:, touched] += effect
    loss = np.sqrt(np.maximum(np.abs(every) - 0.9, 0)).sum(axis=2)
    np.testing.assert_allclose(loss[before, way + 1], np.sort(loss.ravel())[:20])
