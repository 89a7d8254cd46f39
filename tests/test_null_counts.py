"""Counts of an outcome that log-likelihoods decide."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from cases import problem_of, small, source_of
from scipy import stats

from evosynth.null_counts import nearest, null_interval
from evosynth.record_types import Types

SPEC = """\
records: 300
variables:
  SEX: {{categories: {{1: Male, 2: Female}}}}
  CHOICE: {{categories: {{a: First, b: Second, c: Third}}}}
outputs:
  - kind: multinomial
    formula: CHOICE ~ SEX
    coefficients:
      b: {{Intercept: -0.31, "SEX[2]": 0.42}}
      c: {{Intercept: -0.72, "SEX[2]": 0.85}}
{figures}"""


def without_covariates(counts):
    """Return the log-likelihood of shares, by scipy's entropy."""
    counts = np.asarray(counts, dtype=float)
    return -counts.sum() * stats.entropy(counts[counts > 0])


def test_counts_are_those_nearest_that_print():
    expected, n = np.array([61.3, 40.2, 18.5]), 120
    goal = without_covariates([66, 38, 16])
    interval = goal - 0.004, goal + 0.004
    found = nearest(expected, np.zeros(3, int), np.full(3, n), interval)
    right = [
        counts
        for a, b in product(range(1, n), repeat=2)
        if min(counts := (a, b, n - a - b)) > 0
        and interval[0] <= without_covariates(counts) <= interval[1]
    ]
    assert len(right) > 1

    def far(counts):
        aside = (without_covariates(counts) - goal) / 0.004
        return ((counts - expected) ** 2 / expected).sum() + aside**2

    assert tuple(found) == min(right, key=far)


def test_counts_keep_to_bounds_of_tables():
    goal = without_covariates([66, 38, 16])
    interval = goal - 0.004, goal + 0.004
    low, high = np.array([0, 39, 0]), np.array([120, 120, 15])
    found = nearest(np.array([61.3, 40.2, 18.5]), low, high, interval)
    assert found is None or ((found >= low) & (found <= high)).all()
    low, high = np.array([66, 0, 0]), np.array([66, 120, 120])
    found = nearest(np.array([61.3, 40.2, 18.5]), low, high, interval)
    assert list(found) in ([66, 38, 16], [66, 16, 38])


def test_nothing_is_decided_where_most_counts_are_right_or_none_are():
    expected, low, high = np.array([61.0, 59.0]), np.zeros(2, int), np.full(2, 120)
    assert nearest(expected, low, high, (-90.0, -80.0)) is None
    assert nearest(expected, low, high, (-10.0, -9.9)) is None


@pytest.mark.parametrize(
    "figures",
    [
        "    null_log_likelihood: {ll0:.3f}\n",
        "    log_likelihood: {ll:.3f}\n    lr_chi_square: {lr:.3f}\n",
        "    log_likelihood: {ll:.3f}\n    pseudo_r_squared: {r2:.6f}\n",
    ],
)
def test_measures_of_fit_tell_the_interval_and_the_start_has_such_counts(tmp_path, figures):
    ll0 = without_covariates([131, 98, 71])
    ll = ll0 + 4.321
    text = figures.format(ll0=ll0, ll=ll, lr=2 * (ll - ll0), r2=1 - ll / ll0)
    problem = problem_of(small(tmp_path, SPEC.format(figures=text)))
    low, high = null_interval(problem.smooth[0])
    assert low <= ll0 <= high
    assert high - low < 0.01
    source_of(Types(problem))
    table = next(t for t, grid in enumerate(problem.grids) if grid.columns == (1,))
    counts = problem.low[problem.slice(table)]
    assert (counts == problem.high[problem.slice(table)]).all()
    assert counts.sum() == 300
    assert low <= without_covariates(counts) <= high


def test_a_wide_interval_leaves_counts_open(tmp_path):
    text = "    log_likelihood: -310.0\n    pseudo_r_squared: 0.02\n"
    problem = problem_of(small(tmp_path, SPEC.format(figures=text)))
    source_of(Types(problem))
    table = next(t for t, grid in enumerate(problem.grids) if grid.columns == (1,))
    assert (problem.low[problem.slice(table)] == 0).all()
