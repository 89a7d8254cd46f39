"""One-way analysis of variance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import stats

from evosynth.classes import Classes, all_levels, any_level, classify
from evosynth.errors import Fault
from evosynth.moments import Powers, Sample
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


class _Anova(Powers):
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

    def box(self, totals: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P-values are bounds on F."""
        n = totals[:, 0]
        groups = int((n > 0).sum())
        df = max(1, groups - 1), max(1e-9, float(n.sum()) - groups)
        return p_box(self.low, self.high, self.keys, lambda p: float(stats.f.isf(p, *df)))
