"""Means, standard deviations and other moments of a quantity, by group."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from evosynth.classes import Classes
from evosynth.objective import Figure
from evosynth.schema import Codes, FloatArray, IntArray, Schema
from evosynth.sums import Sums, Totals

Values = NDArray[Any]


class Sample:
    """Moments of groups of records, from sums of powers about a fixed point; complex if need be."""

    def __init__(self, sums: Totals, about: float) -> None:
        self.n = sums[:, 0]
        self.sums = sums
        self.about = about

    @property
    def total(self) -> Values:
        """Sum of the values."""
        return np.asarray(self.sums[:, 1] + self.n * self.about)

    @property
    def mean(self) -> Values:
        """Mean."""
        return self.sums[:, 1] / self.n + self.about

    @property
    def squares(self) -> Values:
        """Sum of squared deviations from the mean."""
        return np.asarray(self.sums[:, 2] - self.sums[:, 1] ** 2 / self.n)

    @property
    def variance(self) -> Values:
        """Sample variance (n - 1)."""
        return np.asarray(self.squares / (self.n - 1))

    @property
    def sd(self) -> Values:
        """Sample standard deviation."""
        return np.sqrt(self.variance)

    @property
    def standard_error(self) -> Values:
        """Standard error of the mean."""
        return np.sqrt(self.variance / self.n)

    @property
    def skewness(self) -> Values:
        """Adjusted Fisher–Pearson skewness, as pandas, SPSS, SAS and Excel print it."""
        n, m = self.n, self.sums[:, 1] / self.n
        second = self.squares / n
        third = self.sums[:, 3] / n - 3 * m * self.sums[:, 2] / n + 2 * m**3
        return np.asarray(np.sqrt(n * (n - 1)) / (n - 2) * third / second**1.5)

    @property
    def kurtosis(self) -> Values:
        """Adjusted excess kurtosis, as pandas, SPSS, SAS and Excel print it."""
        n, m = self.n, self.sums[:, 1] / self.n
        second = self.squares / n
        fourth = (
            self.sums[:, 4] / n
            - 4 * m * self.sums[:, 3] / n
            + 6 * m**2 * self.sums[:, 2] / n
            - 3 * m**4
        )
        return np.asarray((n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * (fourth / second**2 - 3) + 6))


POWERS = {
    "total": 1,
    "mean": 1,
    "variance": 2,
    "sd": 2,
    "standard_error": 2,
    "skewness": 3,
    "kurtosis": 4,
}
"""Highest power that each moment needs."""


class Powers(Sums):
    """Base of figures that follow from sums of powers of one quantity within groups."""

    def __init__(
        self,
        classes: Classes,
        variable: str,
        powers: int,
        schema: Schema,
        figures: Sequence[Figure],
    ) -> None:
        super().__init__(classes, figures)
        self.column = schema.index[variable]
        quantities = schema[variable].quantities
        inside = quantities[: schema[variable].valid]
        self.about = float((inside.min() + inside.max()) / 2)
        self.powers = (quantities - self.about)[:, None] ** np.arange(powers + 1)

    def features(self, codes: Codes) -> FloatArray:
        """Powers of the quantity."""
        return np.asarray(self.powers[codes[:, self.column]])


Ends: TypeAlias = tuple[float, float]


class Compared(Powers):
    """Base of tests that compare groups by their sizes, means and standard deviations."""

    keys: Sequence[str]
    """The name of each figure."""

    @abstractmethod
    def reach(
        self, sizes: Sequence[int] | None, means: Sequence[Ends], sds: Sequence[Ends]
    ) -> dict[str, Ends]:
        """Return ends of the figures, by key, for ends of what is known of the groups."""


def ratio_ends(one: Ends, two: Ends) -> Ends:
    """Return the ends of a ratio; the divisor is not negative."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.divide(np.array(one)[:, None], np.array(two)[None, :])
    found = np.where(np.isnan(found), 0.0, found)  # 0 / 0 and ∞ / ∞: the other corners tell
    return float(found.min()), float(found.max())


class GroupMoments(Powers):
    """Moments of one quantity, each of one group of records or of several taken together."""

    def __init__(
        self,
        classes: Classes,
        variable: str,
        moments: Sequence[str],
        members: Sequence[Sequence[int]],
        schema: Schema,
        figures: Sequence[Figure],
    ) -> None:
        powers = max(POWERS[moment] for moment in moments)
        super().__init__(classes, variable, powers, schema, figures)
        self.rows: dict[str, IntArray] = {
            moment: np.array([i for i, m in enumerate(moments) if m == moment])
            for moment in dict.fromkeys(moments)
        }
        self.member = np.zeros((len(moments), self.n_groups))
        for row, groups in enumerate(members):
            self.member[row, list(groups)] = 1.0

    def evaluate(self, totals: Totals) -> Totals:
        """Each moment from the sums of its own groups."""
        return self._moments(self.member @ totals)

    def _moments(self, own: Totals) -> Totals:
        found = np.empty(len(own), dtype=own.dtype)
        for moment, rows in self.rows.items():
            found[rows] = getattr(Sample(own[rows], self.about), moment)
        return found

    def jacobian(self, totals: FloatArray) -> FloatArray:
        """Each figure depends on the sums of its own groups alone."""
        own = self.member @ totals
        slopes = np.empty(own.shape)
        for k in range(own.shape[1]):
            moved = own.astype(np.complex128)
            moved[:, k] += 1e-30j
            slopes[:, k] = np.imag(self._moments(moved)) / 1e-30
        return np.asarray(self.member[:, :, None] * slopes[:, None, :])

    def describe(
        self, outcome: int, given: tuple[int, ...], mean: FloatArray, sd: FloatArray, missing: float
    ) -> None:
        """Tell roughly how the quantity is distributed in each group, to start from."""
        self.outcome, self.given = outcome, given
        quantities = self.powers[:, 1] + self.about
        valid = np.isfinite(quantities)
        y = quantities[valid]
        density = np.full((self.n_groups + 1, len(quantities)), -np.inf)
        for group in range(self.n_groups):
            density[group, valid] = bell(y, float(mean[group]), float(sd[group]))
        density[-1, valid] = -np.log(len(y))
        if (~valid).any():
            density += np.log(max(1 - missing, 1e-9))
            density[:, ~valid] = np.log(max(missing, 1e-9) / (~valid).sum())
        self._density = density

    def log_density(self, codes: Codes) -> FloatArray:
        """Roughly as the published mean and standard deviation say."""
        plain = codes.copy()
        plain[:, self.column] = 0  # the group must not depend on the quantity's being missing
        return np.asarray(self._density[self.group_of(plain), codes[:, self.column]])


def bell(y: FloatArray, mean: float, sd: float) -> FloatArray:
    """Log probabilities on a grid: a normal curve, or a gamma curve where 0 is too near for it."""
    if not np.isfinite(mean) or not np.isfinite(sd) or sd <= 0:
        return np.full(len(y), -np.log(len(y)))
    step = (y[-1] - y[0]) / max(1, len(y) - 1)
    low = y[0] - step / 2
    if mean - 2 * sd < low < mean:
        shape = ((mean - low) / sd) ** 2
        found = stats.gamma.logpdf(y - low, shape, scale=sd**2 / (mean - low))
    else:
        found = stats.norm.logpdf(y, mean, sd)
    found = np.maximum(found, found.max() - 300)
    return np.asarray(found - np.log(np.exp(found - found.max()).sum()) - found.max())
