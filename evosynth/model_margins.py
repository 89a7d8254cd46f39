"""Figures of models that the counts and moments published beside them do not admit.

A standard error is at least what it would be if fewer terms had been adjusted for, and the
information of a record is bounded: a quarter in a logit, whatever the data. Every step is a
bound, so a truthful print is never faulted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evosynth.classes import OUTSIDE, all_levels, classify
from evosynth.counting import levels_within
from evosynth.design import Column, reference_level
from evosynth.errors import Fault, many
from evosynth.estimated import Estimated
from evosynth.fitted import Model
from evosynth.grid import Grid
from evosynth.model_clashes import error_sources
from evosynth.model_items import Item
from evosynth.schema import IntArray, Schema

_SLACK = 1e-7

Counts = Callable[[Grid], tuple[IntArray, IntArray, Sequence[int]]]
"""Bounds of the cells of a grid by the published tables, and the outputs that they come from."""
Spread = Callable[[int], tuple[float, Sequence[int]]]
"""Largest standard deviation of a quantity as published, and the outputs that tell it."""


@dataclass(frozen=True)
class Known:
    """What is published besides the model."""

    count: Counts
    spread: Spread

    def levels(
        self, name: str, output: Estimated, schema: Schema
    ) -> tuple[IntArray, IntArray, Sequence[int]]:
        """Bounds of the number of records with each value of a category."""
        classes = classify(schema, {name: all_levels(schema[name])}, output.condition)
        low, high, sources = self.count(classes.grid)
        return low[classes.inside()], high[classes.inside()], sources


def clashes(
    i: int, output: Estimated, block: Model, known: Known, schema: Schema
) -> Iterator[Fault]:
    """Contradictions between a model and what is published besides it."""
    separated = list(_separated(i, output, known, schema))
    yield from separated
    if separated or output.robust is not None:
        return
    bounds = _Bounds(output, block, known, schema)
    found = list(_too_small(i, bounds))
    yield from found
    if not found and output.linear and output.weightless:
        yield from _too_large(i, bounds)


def _named(sources: Sequence[int]) -> str:
    return " and ".join(f"outputs[{source}]" for source in sources)


def _categories(output: Estimated, schema: Schema) -> list[str]:
    """Categories that are terms by themselves."""
    single = [c.parts[0] for c in output._columns(schema) if len(c.parts) == 1]
    return list(dict.fromkeys(p.factor.variable for p in single if p.level is not None))


def _separated(i: int, output: Estimated, known: Known, schema: Schema) -> Iterator[Fault]:
    """Find outcomes that a category never has: its coefficient has no finite estimate.

    The scores of such records have one sign, and those of each category must sum to 0.
    """
    outcome = schema[output._formula.outcome]
    levels = levels_within(outcome.name, output.condition, schema)
    for needed in output._needed(outcome, levels):
        groups = np.full(outcome.size, OUTSIDE)
        groups[levels] = 1
        groups[needed] = 0
        for name in _categories(output, schema):
            factor = schema[name]
            cells = {name: all_levels(factor), outcome.name: groups}
            classes = classify(schema, cells, output.condition)
            _, high, sources = known.count(classes.grid)
            for level in levels_within(name, output.condition, schema):
                if high[classes.cell((level, 0))] == 0:
                    texts = "|".join(outcome.texts[at] for at in needed[:4])
                    message = (
                        f"no record of {name}={factor.texts[level]} has {outcome.name}={texts} "
                        f"by {_named(sources)}, so the coefficients of {name} have no finite "
                        "estimate"
                    )
                    yield Fault(("outputs", i, "formula"), message, clash=True)


class _Bounds:
    """Bounds of sums of squares of the columns of a model, and its standard errors."""

    def __init__(self, output: Estimated, block: Model, known: Known, schema: Schema) -> None:
        self.output, self.block, self.known, self.schema = output, block, known, schema
        n = output._n(schema)
        self.n = schema.records if n is None else int(n.value)
        self.columns = output._columns(schema)
        size = block.likelihood.size
        df: float | None = math.inf
        if output.linear:
            df = self.n - size if n is not None and self.n > size else None
        self.errors: dict[int, tuple[Item, tuple[float, float]]] = {}
        for k in range(size):
            own = {item.form: item for item in block.items if item.parameter == k}
            sources = error_sources(own, block.traits, df)
            if sources and k not in block.traits.logged:
                low = max(source.ends[0] for source in sources)
                high, item = min(((s.ends[1], s.item) for s in sources), key=lambda pair: pair[0])
                self.errors[k] = item, (low, high)

    def variance(self) -> float:
        """Smallest residual variance of a linear model, as far as it is published."""
        found = 0.0
        size = len(self.columns)
        if self.output._n(self.schema) is None or self.n <= size:
            return found
        for item in self.block.items:
            low, high = item.published.interval
            if item.form == "rmse":
                found = max(found, max(low, 0.0) ** 2)
            elif item.form == "log_likelihood" and self.output.weightless:
                per = math.exp(-2 * high / self.n - 1) / (2 * math.pi)
                found = max(found, per * self.n / (self.n - size))
        return found

    def _reach(self, column: Column) -> float:
        """Half the range of a column."""
        low, high = 1.0, 1.0
        for part in column.parts:
            levels = levels_within(part.factor.variable, self.output.condition, self.schema)
            table = part.table(self.schema)[levels]
            ends = [a * b for a in (low, high) for b in (float(table.min()), float(table.max()))]
            low, high = min(ends), max(ends)
        return (high - low) / 2

    def most(self, column: Column) -> tuple[float, str]:
        """Bound the sum of squares about the mean of a column, and say by what."""
        found = self.n * self._reach(column) ** 2, many(self.n, "record")
        part = column.parts[0]
        name = part.factor.variable
        if len(column.parts) > 1 or part.factor.log or part.factor.power != 1:
            return found
        if part.level is None:
            spread, places = self.known.spread(self.schema.index[name])
            value = self.schema.records * spread**2
            return min(found, (value, f"the standard deviation in {_named(places)}"))
        if self.partial:
            return found
        least, most, sources = self.known.levels(name, self.output, self.schema)
        ends = [int(least[part.level]), int(most[part.level])]
        if ends[0] <= self.n / 2 <= ends[1]:
            return found
        value = max(count * (self.n - count) / self.n for count in ends)
        text = (
            f"{many(ends[1], 'record')} with {name}={self._text(name, part.level)} by "
            f"{_named(sources)}"
        )
        return min(found, (value, text))

    @property
    def partial(self) -> bool:
        """Whether the model may rest on some of the records alone."""
        return self.output._partial(self.schema)

    def _text(self, name: str, level: int) -> str:
        return self.schema[name].texts[level]

    def information(self, column: Column, record: float) -> tuple[float, str]:
        """Bound the information on a coefficient, if a record has so much at most."""
        if not column.parts:
            return record * self.n, many(self.n, "record")
        part = column.parts[0]
        if len(column.parts) > 1 or part.level is None:
            if self.output.averaged:
                return record * self.n * self._reach(column) ** 2, many(self.n, "record")
            found, text = self.most(column)
            return record * found, text
        name = part.factor.variable
        base = reference_level(name, self.schema, self.output.reference)
        _, high, sources = self.known.levels(name, self.output, self.schema)
        parts, counts = [], []
        for level in (part.level, base):
            counts.append(min(int(high[level]), self.n))
            parts.append(self._category(name, level, counts[-1], record))
        if min(counts) == 0 or min(parts) <= 0:
            return math.inf, ""
        values = " and ".join(
            f"{c} with {name}={self._text(name, level)}"
            for c, level in zip(counts, (part.level, base), strict=True)
        )
        text = f"at most {values}" + (f" by {_named(sources)}" if sources else "")
        return 1 / (1 / parts[0] + 1 / parts[1]), text

    def _category(self, name: str, level: int, count: int, record: float) -> float:
        """Bound the information of the records of a category."""
        found = record * count
        if not self.output.fitted_shares:
            return found
        outcome = self.schema[self.output._formula.outcome]
        levels = levels_within(outcome.name, self.output.condition, self.schema)
        groups = np.full(outcome.size, OUTSIDE)
        groups[levels] = np.arange(len(levels))
        cells = {name: all_levels(self.schema[name]), outcome.name: groups}
        classes = classify(self.schema, cells, self.output.condition)
        _, high, _ = self.known.count(classes.grid)
        one, two = (int(high[classes.cell((level, at))]) for at in (0, 1))
        # The fitted shares of a category sum to its events, and p (1 - p) is concave.
        return min(found, one * two / (one + two)) if one + two > 0 else found


def _too_small(i: int, bounds: _Bounds) -> Iterator[Fault]:
    """Find standard errors below what the most informative data would give."""
    record = bounds.output._information(bounds.schema, bounds.variance())
    if record is None:
        return
    for k, (item, (_, high)) in bounds.errors.items():
        column = bounds.output._column_of(k, bounds.schema)
        if column is None:
            continue
        found, text = bounds.information(column, record)
        least = 1 / math.sqrt(found) if 0 < found < math.inf else 0.0
        if high < least * (1 - _SLACK):
            message = (
                f"{item.label} is {item.published}, which puts the standard error at {high:.4g} or "
                f"less, but it is at least {least:.4g} with {text}"
            )
            yield Fault(("outputs", i, *item.path), message, clash=True)


def _too_large(i: int, bounds: _Bounds) -> Iterator[Fault]:
    """Find standard errors of least squares that no correlation of the terms explains.

    With variance inflation factors VIF, ``√(VIF_i - 1) ≤ Σ √(VIF_j - 1)`` over the other terms j,
    because they are as collinear with i as it is with them; and VIF = n v (SE / s)². A single term
    is collinear with none, and its error tells s alone.
    """
    size = len(bounds.columns)
    if bounds.partial or size < 3 or any(k not in bounds.errors for k in range(1, size)):
        return
    variance = bounds.variance()
    others = []
    for k in range(1, size):
        most, _ = bounds.most(bounds.columns[k])
        others.append(max(most * bounds.errors[k][1][1] ** 2 - variance, 0.0) ** 0.5)
    for k in range(1, size):
        column = bounds.columns[k]
        part = column.parts[0]
        if len(column.parts) > 1 or part.level is None:
            continue
        name = part.factor.variable
        low, high, sources = bounds.known.levels(name, bounds.output, bounds.schema)
        ends = [int(low[part.level]), int(high[part.level])]
        least = min(c * (bounds.n - c) / bounds.n for c in ends)
        item, (error, _) = bounds.errors[k]
        rest = sum(others) - others[k - 1]
        largest = max([0.0, *others[: k - 1], *others[k:]])
        if least <= 0 or least * error**2 - variance <= largest**2:
            continue
        most = math.sqrt((rest**2 + variance) / least)
        if error > most * (1 + _SLACK):
            count = f"{ends[0]}" if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
            message = (
                f"{item.label} is {item.published}, but beside the other standard errors it is at "
                f"most {most:.4g} with {many(count, 'record')} of {name}="
                f"{bounds.schema[name].texts[part.level]} by {_named(sources)}"
            )
            yield Fault(("outputs", i, *item.path), message, clash=True)
