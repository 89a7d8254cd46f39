"""Weighted counts, shares and moments: smooth functions of sums of the weights of records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.classes import Classes
from evosynth.moments import GroupMoments, Sample, Values
from evosynth.objective import Figure
from evosynth.schema import Codes, FloatArray, Schema
from evosynth.sums import Sums, Totals

if TYPE_CHECKING:
    import pandas as pd

STATISTICS = frozenset({"n", "mean", "sum", "sd", "variance", "standard_error"})
"""Statistics of a summary that have a weighted form; n stays the number of records."""


def weights_of(schema: Schema) -> tuple[int, FloatArray]:
    """Column of the weight, and its value by level."""
    assert schema.weight is not None
    return schema.index[schema.weight], schema[schema.weight].quantities


def record_weights(frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
    """Weight of each row of data, times the records that it stands for."""
    return np.asarray(frame[str(schema.weight)].to_numpy(dtype=float) * counts)


class WeightedCells(Sums):
    """Sums of weights in cells, and their shares of others."""

    def __init__(
        self,
        classes: Classes,
        schema: Schema,
        figures: Sequence[Figure],
        parts: FloatArray,
        wholes: FloatArray,
        scales: FloatArray,
    ) -> None:
        """Tell which cells each figure sums (``parts``), and of which it is a share (``wholes``).

        Both have shape (figures, cells); a figure that is a share of nothing is a plain sum.
        """
        super().__init__(classes, figures)
        self.column, self.weights = weights_of(schema)
        self.parts, self.wholes, self.scales = parts, wholes, scales
        self.plain = ~wholes.any(axis=1)

    def features(self, codes: Codes) -> FloatArray:
        """Return the weight."""
        return np.asarray(self.weights[codes[:, self.column]][:, None])

    def evaluate(self, totals: Totals) -> Totals:
        """Sum cells, and divide by the sum of others."""
        whole = np.where(self.plain, 1.0, self.wholes @ totals[:, 0])
        return np.asarray(self.scales * (self.parts @ totals[:, 0]) / whole)

    def jacobian(self, totals: FloatArray) -> FloatArray:
        """Return the change of each figure with each cell."""
        whole = np.where(self.plain, 1.0, self.wholes @ totals[:, 0])[:, None]
        value = (self.parts @ totals[:, 0])[:, None] / whole
        change = self.scales[:, None] * (self.parts - value * self.wholes) / whole
        return np.asarray(change[:, :, None])


class WeightedSample(Sample):
    """Moments from sums of w, wx, wx² …, of records, and of w², w²x, w²x²."""

    records: float
    """All records of the sample."""

    @property
    def variance(self) -> Values:
        """Weighted variance × n/(n - 1), as R's survey and Stata's analytic weights have it."""
        size = self.sums[:, -4]
        return np.asarray(self.squares / self.n * size / (size - 1))

    @property
    def standard_error(self) -> Values:
        """Linearised standard error of a weighted mean, of a sample drawn with replacement."""
        middle = self.sums[:, 1] / self.n
        squares = self.sums[:, -1] - 2 * middle * self.sums[:, -2] + middle**2 * self.sums[:, -3]
        return np.asarray(np.sqrt(squares * self.records / (self.records - 1)) / self.n)


class WeightedMoments(GroupMoments):
    """Weighted moments of one quantity in groups of records."""

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        schema: Schema = about[4]
        self.weight, self.weights = weights_of(schema)
        self.records = float(schema.records)

    def features(self, codes: Codes) -> FloatArray:
        """Weighted powers, a 1 to count records, and powers weighted twice."""
        weights = self.weights[codes[:, self.weight]][:, None]
        powers = self.powers[codes[:, self.column]]
        squared = self.powers[:, 1][codes[:, self.column]][:, None] ** np.arange(3)
        ones = np.ones_like(weights)
        return np.hstack([weights * powers, ones, weights**2 * squared])

    def _moments(self, own: Totals) -> Totals:
        found = np.empty(len(own), dtype=own.dtype)
        for moment, rows in self.rows.items():
            sample = WeightedSample(own[rows], self.about)
            sample.records = self.records
            found[rows] = getattr(sample, moment)
        return found


def weighted_statistic(
    name: str, values: FloatArray, weights: FloatArray, counts: FloatArray, records: float
) -> float:
    """Compute a weighted statistic as an analyst would; ``weights`` are those of single records."""
    size = float(counts.sum())
    if name == "n":
        return size
    if not size:
        return float("nan")
    mean = float(np.average(values, weights=weights * counts))
    if name == "mean":
        return mean
    if name == "sum":
        return float(values @ (weights * counts))
    if name == "standard_error":
        spread = counts @ (weights * (values - mean)) ** 2
        return float(np.sqrt(spread * records / (records - 1)) / (weights @ counts))
    if size < 2:
        return float("nan")
    variance = float(np.average((values - mean) ** 2, weights=weights * counts)) * size / (size - 1)
    return variance if name == "variance" else variance**0.5
