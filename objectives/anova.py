"""One-way analysis of variance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import optimize, stats

from evosynth import tails
from evosynth.analysis import Analysis, Testing
from evosynth.classes import Classes, all_levels, any_level, classify
from evosynth.errors import Fault
from evosynth.moments import Compared, Ends, Sample, ratio_ends
from evosynth.objective import Figure, Plan
from evosynth.printed import Printed
from evosynth.schema import FloatArray, Schema
from evosynth.significance import MeansTested, p_box
from evosynth.sums import Totals

if TYPE_CHECKING:
    import pandas as pd


class Anova(MeansTested):
    """The F test of equal means of a quantity in several groups."""

    kind: Literal["anova"]
    f: Printed | None = Field(None, description="F statistic")
    eta_squared: Printed | None = Field(None, description="share of the sum of squares explained")

    statistics: ClassVar[tuple[str, ...]] = ("f", "eta_squared")

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Quantities that are none, and figures that cannot be."""
        yield from super().faults(schema)
        if self.eta_squared is not None and not 0 <= self.eta_squared.value <= 1:
            yield Fault(("eta_squared",), f"{self.eta_squared} is not between 0 and 1")
        if self.f is not None and self.f.value < 0:
            yield Fault(("f",), f"{self.f} is negative")

    def lower(self, schema: Schema) -> Plan:
        """Follow the moments of the groups."""
        groups = {self.by: all_levels(schema[self.by]), self.of: any_level(schema[self.of])}
        classes = classify(schema, groups, self.condition)
        return Plan(smooth=(_Anova(classes, self.of, self.keys, schema, self.figures(schema)),))

    def analysis(self, schema: Schema) -> Analysis:
        """One-way analysis of variance."""
        return Testing("anova", self.of, self.by, tuple(self.keys))

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Select the groups with pandas, test with scipy."""
        y, group = self.observed(frame, counts, schema)
        samples = [y[group == value] for value in dict.fromkeys(group.tolist())]
        if len(samples) < 2 or len(y) <= len(samples):
            return np.full(len(self.keys), np.nan)
        test = stats.f_oneway(*samples)
        between = sum(len(s) * (s.mean() - y.mean()) ** 2 for s in samples)
        values = {
            "f": test.statistic,
            "p": test.pvalue,
            "eta_squared": between / ((y - y.mean()) ** 2).sum(),
        }
        return np.array([float(values[key]) for key in self.keys])


class _Anova(Compared):
    def __init__(
        self,
        classes: Classes,
        variable: str,
        keys: Sequence[str],
        schema: Schema,
        figures: Sequence[Figure],
    ) -> None:
        super().__init__(classes, variable, 2, schema, figures)
        self.keys = keys

    def evaluate(self, totals: Totals) -> Totals:
        """F and the share explained; a p-value is a bound on F."""
        there = np.real(totals[:, 0]) > 0
        own = totals[there]
        all_records = Sample(own.sum(axis=0)[None, :], self.about)
        within = Sample(own, self.about).squares.sum()
        between = all_records.squares[0] - within
        groups = len(own)
        f = between / (groups - 1) / (within / (all_records.n[0] - groups))
        values = {"f": f, "p": f, "eta_squared": between / all_records.squares[0]}
        return np.array([values[key] for key in self.keys])

    def reach(
        self, sizes: Sequence[int] | None, means: Sequence[Ends], sds: Sequence[Ends]
    ) -> dict[str, Ends]:
        """F rises with the spread of the means and falls with the standard deviations."""
        if sizes is None:
            return {}
        there = [g for g, size in enumerate(sizes) if size > 0]
        n = np.array([sizes[g] for g in there], dtype=float)
        low, high = np.array([means[g] for g in there]).T
        df = len(there) - 1, float(n.sum()) - len(there)
        if min(df) < 1 or not np.isfinite([low, high]).all():
            return {}
        spread = np.array([sds[g] if sizes[g] > 1 else (0.0, 0.0) for g in there])
        within = ((n - 1)[:, None] * spread**2).sum(axis=0)
        between = _between(n, low, high)
        rest = ratio_ends((within[0], within[1]), between)
        share = 1 / (1 + rest[1]), 1 / (1 + rest[0])
        f = ratio_ends(
            (between[0] / df[0], between[1] / df[0]), (within[0] / df[1], within[1] / df[1])
        )
        p = float(stats.f.sf(f[1], *df)), float(stats.f.sf(f[0], *df))
        return {"f": f, "eta_squared": share, "p": p}

    def box(self, totals: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P-values are bounds on F."""
        n = totals[:, 0]
        groups = int((n > 0).sum())
        df = max(1, groups - 1), max(1e-9, float(n.sum()) - groups)
        return p_box(self.low, self.high, self.keys, lambda p: tails.fisher(p, *df))


def _between(n: FloatArray, low: FloatArray, high: FloatArray) -> Ends:
    """Return ends of the sum of squares between groups, for ends of their means.

    It is the least, over centres, of the weighted squares of distances from a centre.
    """

    def nearest(centre: float) -> float:
        return float((n * np.maximum(0, np.maximum(low - centre, centre - high)) ** 2).sum())

    span = float(high.max() - low.min())
    found = optimize.minimize_scalar(
        nearest,
        bounds=(float(low.min()), float(high.max())),
        method="bounded",
        options={"xatol": 1e-6 * span},
    )
    centre = float((n * (low + high) / 2).sum() / n.sum())
    most = float((n * np.maximum(high - centre, centre - low) ** 2).sum())
    error = 4 * float(n.sum()) * (1e-6 * span) ** 2  # of a minimum found so closely
    return max(0.0, float(found.fun) - error), most
