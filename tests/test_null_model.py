"""The model without covariates, where outcome and exposure have more cells than records."""

from __future__ import annotations

import numpy as np
from cases import problem_of, small
from scipy import stats

SPEC = """\
records: 50
variables:
  X: {categories: {1: one, 2: two}}
  E: {integer: [1, 3000]}
  Y: {integer: [0, 500]}
outputs:
  - kind: poisson
    formula: Y ~ X
    exposure: E
    coefficients: {Intercept: -1.500, "X[2]": 0.200}
    null_deviance: 60.00
"""


def test_its_likelihood_is_that_of_one_rate_for_all(tmp_path):
    spec = small(tmp_path, SPEC)
    block = problem_of(spec).smooth[0]
    rng = np.random.default_rng(1)
    codes = np.column_stack(
        [rng.integers(0, 2, 50), rng.integers(0, 3000, 50), rng.integers(0, 501, 50)]
    ).astype(spec.schema.dtype)
    theta = block.null.fit(codes, np.ones(50))
    exposure, y = codes[:, 1].astype(float) + 1, codes[:, 2].astype(float)
    rate = y.sum() / exposure.sum()
    assert np.allclose(theta, np.log(rate))
    apart = block.null.values(codes, theta) - block.null.values(codes, theta + 0.1)
    mean = rate * exposure
    expected = stats.poisson.logpmf(y, mean) - stats.poisson.logpmf(y, mean * np.exp(0.1))
    assert np.allclose(apart, expected)
