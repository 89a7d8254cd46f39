"""Values that a share of a distribution lies above, beside scipy's own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evosynth import tails


@pytest.mark.parametrize("share", [0.0, 1e-9, 0.001, 0.025, 0.3, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("df", [1.0, 7.5, 400.0])
def test_they_are_those_of_scipy(share, df):
    pairs = [
        (tails.normal(share), stats.norm.isf(share)),
        (tails.student(share, df), stats.t.isf(share, df)),
        (tails.chi_square(share, df), stats.chi2.isf(share, df)),
        (tails.fisher(share, 3.0, df), stats.f.isf(share, 3.0, df)),
    ]
    for found, expected in pairs:
        assert np.isclose(found, expected, rtol=1e-6, atol=1e-12) or found == expected
