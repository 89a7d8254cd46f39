"""Pearson's chi-square test of a two-way table, and Cramér's V."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import stats

from evosynth import tails
from evosynth.analysis import Analysis, Testing
from evosynth.classes import Classes, all_levels, classify
from evosynth.counting import count_by, population
from evosynth.errors import Fault, many
from evosynth.objective import Figure, Mention, Plan
from evosynth.printed import Printed
from evosynth.schema import Codes, FloatArray, Schema
from evosynth.significance import Tested, p_box, p_faults
from evosynth.sums import Sums, Totals

if TYPE_CHECKING:
    import pandas as pd


class ChiSquare(Tested):
    """Chi-square, its degrees of freedom and p-value, and Cramér's V of a two-way table."""

    kind: Literal["chi_square"]
    rows: str = Field(description="the row variable")
    columns: str = Field(description="the column variable")
    statistic: Printed | None = Field(None, description="chi-square")
    df: Printed | None = Field(None, description="degrees of freedom")
    cramers_v: Printed | None = Field(None, description="Cramér's V, without correction")
    yates: bool = Field(False, description="whether Yates' correction was used (2 × 2 only)")

    statistics: ClassVar[tuple[str, ...]] = ("statistic", "df", "cramers_v")

    def mentions(self) -> Iterator[Mention]:
        """Name the row variable and the column variable."""
        yield Mention(("rows",), self.rows)
        yield Mention(("columns",), self.columns)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Figures that cannot be."""
        if self.rows == self.columns:
            yield Fault(("columns",), f"{self.columns!r} is named twice")
            return
        read, faults = self.read()
        yield from faults
        most = (schema[self.rows].valid - 1) * (schema[self.columns].valid - 1)
        if self.df is not None and self.df.interval[0] > most:
            message = f"{self.df} is more than {most}, the most that a table of these variables has"
            yield Fault(("df",), message, clash=True)
        elif self.df is not None and self.df.value >= 1:
            df = self.df.value
            yield from p_faults(
                read, "statistic", lambda x, df: float(stats.chi2.sf(x, df)), (df, df)
            )
        smaller = min(schema[self.rows].valid, schema[self.columns].valid) - 1
        if self.statistic is not None and self.statistic.interval[0] > schema.records * smaller:
            largest = (
                f"{schema.records * smaller}, the largest for {many(schema.records, 'record')}"
            )
            message = f"{self.statistic} is more than {largest}"
            yield Fault(("statistic",), message, clash=True)
        if self.statistic is not None and self.statistic.value < 0:
            yield Fault(("statistic",), f"{self.statistic} is negative")
        if self.cramers_v is not None and not 0 <= self.cramers_v.value <= 1:
            yield Fault(("cramers_v",), f"{self.cramers_v} is not between 0 and 1")

    def lower(self, schema: Schema) -> Plan:
        """Follow the cells."""
        groups = {name: all_levels(schema[name]) for name in (self.rows, self.columns)}
        classes = classify(schema, groups, self.condition)
        return Plan(smooth=(_ChiSquare(classes, self.figures(schema), self.keys, self.yates),))

    def analysis(self, schema: Schema) -> Analysis:
        """Pearson's test."""
        return Testing("chi_square", self.rows, self.columns, tuple(self.keys), self.yates)

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Count with pandas, test with scipy."""
        names = [self.rows, self.columns]
        people, weights = population(frame, counts, names, self.condition, schema)
        cells = count_by(people, weights, names)
        table = np.zeros([schema[name].valid for name in names])
        at = [
            {value: i for i, value in enumerate(schema[name].values[: schema[name].valid].tolist())}
            for name in names
        ]
        for (one, two), count in cells.items():
            table[at[0][one], at[1][two]] = count
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        if min(table.shape, default=0) < 2:
            return np.full(len(self.keys), np.nan)
        test = stats.chi2_contingency(table, correction=self.yates)
        plain = stats.chi2_contingency(table, correction=False)
        v = np.sqrt(plain.statistic / table.sum() / (min(table.shape) - 1))
        values = {"statistic": test.statistic, "df": test.dof, "p": test.pvalue, "cramers_v": v}
        return np.array([float(values[key]) for key in self.keys])


class _ChiSquare(Sums):
    counts_only = True

    def __init__(
        self, classes: Classes, figures: Sequence[Figure], keys: Sequence[str], yates: bool
    ) -> None:
        super().__init__(classes, figures)
        self.keys, self.yates = keys, yates

    def features(self, codes: Codes) -> FloatArray:
        """Count records."""
        return np.ones((len(codes), 1))

    def _shape(self, totals: Totals) -> tuple[Any, int, int]:
        table = totals[:, 0].reshape(self.classes.counted)
        table = table[np.real(table.sum(axis=1)) > 0][:, np.real(table.sum(axis=0)) > 0]
        smaller = max(1, min(table.shape, default=1) - 1)
        return table, (table.shape[0] - 1) * (table.shape[1] - 1), smaller

    def evaluate(self, totals: Totals) -> Totals:
        """Chi-square from the cells; a p-value is a bound on it."""
        table, df, smaller = self._shape(totals)
        n = table.sum()
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
        gap = table - expected
        plain = (gap**2 / expected).sum()
        test = plain
        if self.yates and df == 1:
            size = np.where(np.real(gap) >= 0, gap, -gap)
            size = size - np.where(np.real(size) > 0.5, 0.5, size)
            test = (size**2 / expected).sum()
        values = {
            "statistic": test,
            "p": test,
            "df": 0 * n + df,
            "cramers_v": np.sqrt(plain / n / smaller),
        }
        return np.array([values[key] for key in self.keys])

    def box(self, totals: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P-values are bounds on chi-square."""
        df = max(1, self._shape(totals)[1])
        return p_box(self.low, self.high, self.keys, lambda p: tails.chi_square(p, df))
