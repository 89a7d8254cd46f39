"""One published statistic of a group of records, and what it admits and contradicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evosynth import grim, ranks
from evosynth.counting import count_bounds
from evosynth.errors import Fault, Path, many
from evosynth.moments import POWERS
from evosynth.printed import Printed, Published
from evosynth.schema import Schema, Variable

MOMENTS = {name: name for name in POWERS} | {"sum": "total"}
_RANKS = {"median", "min", "max", "iqr", "quantile"}

Group = tuple[tuple[str, str], ...]
"""Values of the variables that make up a group; none for all records."""


_QUARTILES = (0.25, 0.75)


@dataclass(frozen=True)
class Item:
    """One published statistic of one variable in one group."""

    variable: str
    group: Group
    statistic: str
    argument: float
    published: Published
    path: Path
    small: bool = False
    """Whether its group is so small that single records decide its quantiles."""

    @property
    def label(self) -> str:
        """Name the statistic, the variable and the group."""
        name = self.statistic.replace("_", " ")
        if self.statistic == "quantile":
            name = f"{100 * self.argument:g} % quantile"
        elif self.statistic in {"above", "below"}:
            name = f"% {self.statistic} {self.argument:g}"
        where = ", ".join(f"{variable}={value}" for variable, value in self.group)
        return f"{name} of {self.variable}" + (f", {where}" if where else "")

    @property
    def counted(self) -> bool:
        """Whether it is a matter of counts."""
        return self.statistic not in MOMENTS and not self.follows

    @property
    def follows(self) -> bool:
        """Whether it is a quantile that follows its middle records."""
        return self.small and self.statistic in {"median", "quantile", "iqr"}


def together(items: Sequence[Item]) -> dict[tuple[str, Group], list[Item]]:
    """Statistics by quantity and group."""
    found: dict[tuple[str, Group], list[Item]] = {}
    for item in items:
        found.setdefault((item.variable, item.group), []).append(item)
    return found


def cuts(item: Item, members: Sequence[Item], size: int | None, schema: Schema) -> list[ranks.Cut]:
    """How the quantity must be cut for a statistic of ranks."""
    variable = schema[item.variable]
    if item.statistic in {"min", "max"}:
        found = ranks.extreme(variable, item.published, item.statistic == "max")
        return [] if found is None else [found]
    reach = next((m for m in members if m.statistic == "iqr"), None)
    if reach is not None and (item.statistic == "iqr" or item.argument in _QUARTILES):
        quartiles = dict(zip(_QUARTILES, _quartiles(reach, members, schema), strict=True))
        wanted = _QUARTILES if item.statistic == "iqr" else (item.argument,)
        return [cut for q in wanted for cut in ranks.quantile(variable, q, quartiles[q], size)]
    q = 0.5 if item.statistic == "median" else item.argument
    return ranks.quantile(variable, q, item.published, size)


def _quartiles(item: Item, members: Sequence[Item], schema: Schema) -> tuple[Published, Published]:
    """Quartiles that are an interquartile range apart: published ones, or some that would do."""
    known = {m.argument: m.published for m in members if m.statistic == "quantile"}
    decimals = max(schema[item.variable].decimals, item.published.decimals)

    def printed(value: float) -> Printed:
        return Printed.parse(f"{value:.{decimals}f}")

    reach = item.published.value
    if 0.25 in known and 0.75 in known:
        return _apart(item.published, known[0.25], known[0.75], schema[item.variable])
    if 0.25 in known:
        return known[0.25], printed(known[0.25].value + reach)
    if 0.75 in known:
        return printed(known[0.75].value - reach), known[0.75]
    middle = {m.statistic: m.published.value for m in members}
    values = schema[item.variable].quantities
    centre = middle.get("median", middle.get("mean", float(np.nanmean(values))))
    grid = 10.0 ** -schema[item.variable].decimals
    first = round((centre - reach / 2) / grid) * grid
    return printed(first), printed(first + reach)


def _apart(
    reach: Published, first: Published, third: Published, variable: Variable
) -> tuple[Published, Published]:
    """Values that print as both quartiles and are as far apart as published, if there are any."""
    lower, upper = ranks.printing(variable, first), ranks.printing(variable, third)
    for one in lower:
        for two in upper:
            if reach.prints(two - one):
                exact = [f"{value:.{variable.decimals}f}" for value in (one, two)]
                return Printed.parse(exact[0]), Printed.parse(exact[1])
    return first, third


def clashes(
    members: Sequence[Item], name: str, size: int | None, schema: Schema
) -> Iterator[Fault]:
    """Statistics of one group that cannot all be."""
    variable = schema[name]
    values = variable.quantities[: variable.valid]
    known = {(m.statistic, m.argument): m for m in members}

    def get(statistic: str) -> Item | None:
        return known.get((statistic, 0.0))

    smallest, largest = get("min"), get("max")
    low = smallest.published.interval[0] if smallest else float(values.min())
    high = largest.published.interval[1] if largest else float(values.max())
    source = {True: "the published minimum and maximum", False: "the values of the variable"}
    for item in members:
        if item.statistic in {"mean", "median", "quantile", "min", "max"}:
            least, most = item.published.interval
            gap = max(low - most, least - high)
            if gap > 1e-9:
                message = (
                    f"{item.label} is {item.published}, outside {low:g} to {high:g}, "
                    f"{source[smallest is not None or largest is not None]} (off by {gap:g})"
                )
                yield Fault(item.path, message, clash=True)
        if item.statistic in _RANKS and not cuts(item, members, size, schema):
            rest = "" if size is None else f" among {many(size, 'record')}"
            message = f"no values of {name!r} make {item.label} print as {item.published}{rest}"
            yield Fault(item.path, message, clash=True)
        if (
            item.statistic == "n"
            and count_bounds(item.published, schema.records)[0] > schema.records
        ):
            message = f"{item.published} is more than all {many(schema.records, 'record')}"
            yield Fault(item.path, message, clash=True)
    yield from _order_clashes(members)
    yield from _spread_clashes(get("sd"), get("variance"), get("standard_error"), size, schema)
    mean, sd = get("mean"), get("sd") or get("variance")
    if sd is not None and mean is not None:
        m = mean.published.value
        widest = max(
            0.0, (high - m) * (m - low) * (size / (size - 1) if size and size > 1 else 2.0)
        )
        power = 2 if sd.statistic == "variance" else 1
        if (
            sd.published.interval[0]
            > widest ** (power / 2) * (1 + 1e-9) + mean.published.half_width
        ):
            message = (
                f"{sd.label} is {sd.published}, but values from {low:g} to {high:g} with mean "
                f"{mean.published} have at most {widest ** (power / 2):.4g}"
            )
            yield Fault(sd.path, message, clash=True)
            return
    unit = 10.0**-variable.decimals
    if variable.categorical or size is None or size < 1 or mean is None:
        return
    first, last = grim.sums(mean.published, size, unit)
    if first > last:
        near = round(mean.published.value * size / unit) * unit / size
        message = (
            f"no {many(size, 'value')} of {name!r} have a mean that prints as {mean.published} "
            f"(GRIM; the nearest is {near:.{mean.published.decimals + 2}f})"
        )
        yield Fault(mean.path, message, clash=True)
    elif sd is not None:
        power = 2 if sd.statistic == "variance" else 1
        if not grim.possible_sd(mean.published, sd.published, size, unit, power):
            message = (
                f"no {many(size, 'value')} of {name!r} with mean {mean.published} have a "
                f"{sd.statistic} that prints as {sd.published} (GRIMMER)"
            )
            yield Fault(sd.path, message, clash=True)


def _order_clashes(members: Sequence[Item]) -> Iterator[Fault]:
    """Quantiles that are not in order."""
    at = {"min": 0.0, "median": 0.5, "max": 1.0}
    ordered = sorted(
        (item for item in members if item.statistic in {*at, "quantile"}),
        key=lambda item: at.get(item.statistic, item.argument),
    )
    for lower, upper in zip(ordered, ordered[1:], strict=False):
        gap = lower.published.interval[0] - upper.published.interval[1]
        if gap > 1e-9:
            message = (
                f"{upper.label} is {upper.published}, below {lower.label}, which is "
                f"{lower.published} (off by {gap:g})"
            )
            yield Fault(upper.path, message, clash=True)


def _spread_clashes(
    sd: Item | None, variance: Item | None, error: Item | None, size: int | None, schema: Schema
) -> Iterator[Fault]:
    """Find a variance or standard error that does not belong to the standard deviation."""
    source, low, high = sd, 0.0, np.inf
    if sd is not None:
        low, high = sd.published.interval
    if variance is not None:
        ends = variance.published.interval
        if sd is None:
            source, low, high = variance, max(ends[0], 0.0) ** 0.5, max(ends[1], 0.0) ** 0.5
        elif max(low, 0.0) ** 2 > ends[1] * (1 + 1e-9) or high**2 < ends[0] * (1 - 1e-9):
            message = (
                f"{variance.label} is {variance.published}, but sd {sd.published} makes it "
                f"{max(low, 0.0) ** 2:.4g} to {high**2:.4g}"
            )
            yield Fault(variance.path, message, clash=True)
            return
    if error is None or source is None:
        return
    among = f"{many(size, 'record')}" if size else f"at most {many(schema.records, 'record')}"
    least = max(low, 0.0) / (size or schema.records) ** 0.5
    most = high / (size or 1) ** 0.5
    ends = error.published.interval
    if least > ends[1] * (1 + 1e-9) or most < ends[0] * (1 - 1e-9):
        message = (
            f"{error.label} is {error.published}, but {source.statistic} {source.published} of "
            f"{among} makes it {least:.4g} to {most:.4g}"
        )
        yield Fault(error.path, message, clash=True)
