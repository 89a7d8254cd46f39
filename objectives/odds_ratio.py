"""Odds ratio and risk ratio of a two-by-two table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field
from scipy import stats

from evosynth import tails
from evosynth.analysis import Analysis, Testing
from evosynth.classes import Classes, classify
from evosynth.counting import count_by, levels_within, population
from evosynth.errors import Fault, many
from evosynth.objective import Figure, Mention, Plan, Text
from evosynth.printed import Printed
from evosynth.schema import Codes, FloatArray, IntArray, Schema
from evosynth.significance import Tested, p_box
from evosynth.sums import Sums, Totals

if TYPE_CHECKING:
    import pandas as pd


def _two(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("expected the two ends of the interval, [lower, upper]")
    return value


Ends = Annotated[tuple[Printed, Printed], BeforeValidator(_two)]


class OddsRatio(Tested):
    """Odds ratio and risk ratio of the first row against the second, for the first column.

    Name ``exposed`` and ``event`` where those are not the first values. Confidence intervals and
    the p-value are Wald's, of the log odds ratio, or of the log risk ratio where only that is
    given.
    """

    kind: Literal["odds_ratio"]
    rows: str = Field(description="the exposure")
    columns: str = Field(description="the outcome")
    exposed: Text | None = Field(None, description="row value that is compared with the other")
    event: Text | None = Field(None, description="column value whose odds and risk are compared")
    odds_ratio: Printed | None = Field(None, description="ratio of the odds of the event")
    odds_ratio_ci: Ends | None = Field(None, description="its confidence interval")
    risk_ratio: Printed | None = Field(None, description="ratio of the risks of the event")
    risk_ratio_ci: Ends | None = Field(None, description="its confidence interval")
    level: Annotated[float, Field(gt=0, lt=1)] = Field(0.95, description="of the intervals")

    statistics: ClassVar[tuple[str, ...]] = (
        "odds_ratio",
        "odds_ratio_ci",
        "risk_ratio",
        "risk_ratio_ci",
    )

    def mentions(self) -> Iterator[Mention]:
        """Name the variables and the values that are compared."""
        yield Mention(("rows",), self.rows)
        yield Mention(("columns",), self.columns)
        if self.exposed is not None:
            yield Mention(("exposed",), self.rows, self.exposed)
        if self.event is not None:
            yield Mention(("event",), self.columns, self.event)

    def _levels(self, name: str, first: str | None, schema: Schema) -> list[int]:
        """Levels that are compared: those of the subpopulation, the named one first."""
        levels = levels_within(name, self.condition, schema)
        chosen = None if first is None else schema[name].levels[first]
        return sorted(levels, key=lambda level: level != chosen)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Variables without exactly two values, ratios that cannot be."""
        if self.rows == self.columns:
            yield Fault(("columns",), f"{self.columns!r} is named twice")
            return
        for key, name in (("rows", self.rows), ("columns", self.columns)):
            found = self._levels(name, None, schema)
            if len(found) != 2:
                yield Fault((key,), f"{name!r} has {many(len(found), 'value')}, not two; use where")
        yield from self.read()[1]
        for key, printed in self.read()[0]:
            if key != "p" and printed.interval[1] <= 0:
                yield Fault((key.partition(" ")[0],), f"{printed} is not above 0")
        for key in ("odds_ratio", "risk_ratio"):
            yield from _end_faults(key, getattr(self, key), getattr(self, f"{key}_ci"))

    def _groups(self, schema: Schema) -> dict[str, IntArray]:
        found = {}
        for name, first in ((self.rows, self.exposed), (self.columns, self.event)):
            groups = np.full(schema[name].size, -1)
            groups[self._levels(name, first, schema)] = [0, 1]
            found[name] = groups
        return found

    def lower(self, schema: Schema) -> Plan:
        """Follow the four cells."""
        classes = classify(schema, self._groups(schema), self.condition)
        return Plan(smooth=(_Ratios(classes, self.figures(schema), self.keys, self.level),))

    def analysis(self, schema: Schema) -> Analysis:
        """Ratios of a two-by-two table."""

        def values(name: str, first: str | None) -> tuple[str, str]:
            one, two = (schema[name].texts[i] for i in self._levels(name, first, schema))
            return one, two

        keys = tuple(self.keys)
        only_risk = not any(key.startswith("odds") for key in keys) and len(keys) > 1
        compared = values(self.rows, self.exposed), values(self.columns, self.event)
        return Testing("odds_ratio", self.rows, self.columns, keys, only_risk, compared, self.level)

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Count with pandas, compare with statsmodels."""
        from statsmodels.stats.contingency_tables import Table2x2

        names = [self.rows, self.columns]
        people, weights = population(frame, counts, names, self.condition, schema)
        cells = count_by(people, weights, names)
        rows = schema[self.rows].values[self._levels(self.rows, self.exposed, schema)].tolist()
        columns = (
            schema[self.columns].values[self._levels(self.columns, self.event, schema)].tolist()
        )
        table = np.array([[cells.get((r, c), 0.0) for c in columns] for r in rows])
        keys = self.keys
        if (table == 0).any():
            return np.full(len(keys), np.nan)
        found = Table2x2(table, shift_zeros=False)
        odds = found.oddsratio_confint(1 - self.level)
        risk = found.riskratio_confint(1 - self.level)
        only_risk = not any(key.startswith("odds") for key in keys) and len(keys) > 1
        values = {
            "odds_ratio": found.oddsratio,
            "odds_ratio_ci low": odds[0],
            "odds_ratio_ci high": odds[1],
            "risk_ratio": found.riskratio,
            "risk_ratio_ci low": risk[0],
            "risk_ratio_ci high": risk[1],
            "p": found.riskratio_pvalue() if only_risk else found.oddsratio_pvalue(),
        }
        return np.array([float(values[key]) for key in keys])


def _end_faults(key: str, ratio: Printed | None, ends: Ends | None) -> Iterator[Fault]:
    """Find intervals whose ends are the wrong way round or leave the ratio outside."""
    if ends is None:
        return
    low, high = ends
    if low.value > high.value:
        message = f"{low} is larger than {high}; write [lower, upper]"
        yield Fault((f"{key}_ci",), message)
    elif ratio is not None and not (
        low.interval[0] <= ratio.interval[1] and ratio.interval[0] <= high.interval[1]
    ):
        message = f"{ratio} is not between {low} and {high}, the ends of its interval"
        yield Fault((key,), message, clash=True)


class _Ratios(Sums):
    counts_only = True

    def __init__(
        self, classes: Classes, figures: Sequence[Figure], keys: Sequence[str], level: float
    ) -> None:
        super().__init__(classes, figures)
        self.keys = keys
        # A p-value goes with a ratio on the published side of 1.
        known = [f.printed.value for k, f in zip(keys, figures, strict=True) if k.endswith("ratio")]
        self.sign = int(np.sign(known[0] - 1)) if known else 0
        self.z = float(stats.norm.isf((1 - level) / 2))
        self.only_risk = not any(key.startswith("odds") for key in keys) and len(keys) > 1

    def features(self, codes: Codes) -> FloatArray:
        """Count records."""
        return np.ones((len(codes), 1))

    def evaluate(self, totals: Totals) -> Totals:
        """Ratios and the ends of their intervals; a p-value is a bound on z."""
        a, b, c, d = totals[:, 0]
        odds, risk = np.log(a * d / (b * c)), np.log(a * (c + d) / (c * (a + b)))
        odds_se = np.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
        risk_se = np.sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))
        z = risk / risk_se if self.only_risk else odds / odds_se
        values = {
            "odds_ratio": np.exp(odds),
            "odds_ratio_ci low": np.exp(odds - self.z * odds_se),
            "odds_ratio_ci high": np.exp(odds + self.z * odds_se),
            "risk_ratio": np.exp(risk),
            "risk_ratio_ci low": np.exp(risk - self.z * risk_se),
            "risk_ratio_ci high": np.exp(risk + self.z * risk_se),
            "p": z * (self.sign or (1 if np.real(z) >= 0 else -1)),
        }
        return np.array([values[key] for key in self.keys])

    def box(self, totals: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P-values are bounds on the size of z."""
        return p_box(self.low, self.high, self.keys, lambda p: tails.normal(p / 2))
