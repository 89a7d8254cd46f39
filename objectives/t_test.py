"""Student's and Welch's t test of two groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import stats

from evosynth import tails
from evosynth.analysis import Analysis, Testing
from evosynth.classes import Classes, any_level, classify
from evosynth.counting import levels_within
from evosynth.errors import Fault, many
from evosynth.moments import Compared, Ends, Sample, ratio_ends
from evosynth.objective import Figure, Plan
from evosynth.printed import Printed
from evosynth.schema import FloatArray, Schema
from evosynth.significance import MeansTested, p_box, p_faults
from evosynth.sums import Totals

if TYPE_CHECKING:
    import pandas as pd


class TTest(MeansTested):
    """The t test of a quantity in two groups: the first less the second."""

    kind: Literal["t_test"]
    by: str = Field(description="the variable whose two values make the groups")
    t: Printed | None = Field(None, description="t statistic")
    df: Printed | None = Field(None, description="degrees of freedom")
    difference: Printed | None = Field(None, description="difference of the means")
    equal_variances: bool = Field(True, description="pooled, or Welch's if false")

    statistics: ClassVar[tuple[str, ...]] = ("t", "df", "difference")

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Quantities that are none, and more or fewer than two groups."""
        yield from super().faults(schema)
        levels = levels_within(self.by, self.condition, schema)
        if len(levels) != 2:
            message = (
                f"{self.by!r} has {many(len(levels), 'value')}, not two; choose two with where"
            )
            yield Fault(("by",), message)
        if self.df is not None and self.df.value > 0:
            low, high = self.df.interval
            ends = (self.df.value,) * 2 if self.equal_variances else (max(low, 1e-9), high)
            yield from p_faults(
                self.read()[0], "t", lambda t, df: float(2 * stats.t.sf(t, df)), ends
            )

    def lower(self, schema: Schema) -> Plan:
        """Follow the moments of the two groups."""
        groups = np.full(schema[self.by].size, -1)
        groups[levels_within(self.by, self.condition, schema)] = [0, 1]
        classes = classify(
            schema, {self.by: groups, self.of: any_level(schema[self.of])}, self.condition
        )
        figures = self.figures(schema)
        block = _TTest(classes, self.of, self.keys, self.equal_variances, schema, figures)
        return Plan(smooth=(block,))

    def analysis(self, schema: Schema) -> Analysis:
        """Student's or Welch's test."""
        levels = levels_within(self.by, self.condition, schema)
        first, second = (schema[self.by].texts[level] for level in levels)
        groups = (first, second), (first, second)
        welch = not self.equal_variances
        return Testing("t_test", self.of, self.by, tuple(self.keys), welch, groups)

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Select the groups with pandas, test with scipy."""
        y, group = self.observed(frame, counts, schema)
        first, second = (
            y[group == schema[self.by].values[level]]
            for level in levels_within(self.by, self.condition, schema)
        )
        if min(len(first), len(second)) < 2:
            return np.full(len(self.keys), np.nan)
        test: Any = stats.ttest_ind(first, second, equal_var=self.equal_variances)
        values = {
            "t": test.statistic,
            "df": test.df,
            "p": test.pvalue,
            "difference": first.mean() - second.mean(),
        }
        return np.array([float(values[key]) for key in self.keys])


class _TTest(Compared):
    def __init__(
        self,
        classes: Classes,
        variable: str,
        keys: Sequence[str],
        pooled: bool,
        schema: Schema,
        figures: Sequence[Figure],
    ) -> None:
        super().__init__(classes, variable, 2, schema, figures)
        self.keys, self.pooled = keys, pooled
        # A p-value goes with a difference of the published sign.
        known = [f.printed.value for k, f in zip(keys, figures, strict=True) if k in "t difference"]
        self.sign = int(np.sign(known[0])) if known else 0

    def evaluate(self, totals: Totals) -> Totals:
        """T, degrees of freedom and difference; a p-value is a bound on the size of t."""
        values = self._compute(totals)
        return np.array([values[key] for key in self.keys])

    def _compute(self, totals: Totals) -> dict[str, Any]:
        sample = Sample(totals, self.about)
        n, variance = sample.n, sample.variance
        difference = sample.mean[0] - sample.mean[1]
        if self.pooled:
            df = n[0] + n[1] - 2
            squared = sample.squares.sum() / df * (1 / n[0] + 1 / n[1])
        else:
            parts = variance / n
            squared = parts.sum()
            df = squared**2 / (parts**2 / (n - 1)).sum()
        t = difference / np.sqrt(squared)
        sign = self.sign or (1 if np.real(t) >= 0 else -1)
        return {"t": t, "df": df, "difference": difference, "p": sign * t}

    def reach(
        self, sizes: Sequence[int] | None, means: Sequence[Ends], sds: Sequence[Ends]
    ) -> dict[str, Ends]:
        """T falls as the standard deviations rise; Welch's degrees of freedom have known ends."""
        difference = means[0][0] - means[1][1], means[0][1] - means[1][0]
        found: dict[str, Ends] = {"difference": difference}
        if sizes is None or min(sizes) < 2:
            return found
        one, two = sizes
        df = one + two - 2, one + two - 2
        weights = 1 / one, 1 / two
        if self.pooled:
            both = (1 / one + 1 / two) / df[0]
            weights = (one - 1) * both, (two - 1) * both
        else:
            df = min(one, two) - 1, one + two - 2
        error = (
            np.sqrt(weights[0] * sds[0][0] ** 2 + weights[1] * sds[1][0] ** 2),
            np.sqrt(weights[0] * sds[0][1] ** 2 + weights[1] * sds[1][1] ** 2),
        )
        low, high = ratio_ends(difference, error)
        least = 0.0 if low < 0 < high else min(abs(low), abs(high))
        p = (
            float(2 * stats.t.sf(max(abs(low), abs(high)), df[1])),
            float(2 * stats.t.sf(least, df[0])),
        )
        return {**found, "t": (low, high), "df": df, "p": p}

    def box(self, totals: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P-values are bounds on the size of t."""
        df = max(float(np.real(self._compute(totals)["df"])), 1e-9)
        return p_box(self.low, self.high, self.keys, lambda p: tails.student(p / 2, df))
