"""P-values as they are printed: numbers, bounds, stars; and what they say of a statistic."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from evosynth.counting import population
from evosynth.errors import Fault
from evosynth.objective import Figure, Mention, Output, Text
from evosynth.printed import Printed, Published, Within
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd

_WIDE = 0.02
"""Part of a bound on a statistic by which it is enough to be inside it."""


def _levels(value: Any) -> Any:
    if not isinstance(value, list) or not value:
        raise ValueError("expected the levels of *, **, … in turn, such as [0.05, 0.01, 0.001]")
    return value


def _falling(value: tuple[float, ...]) -> tuple[float, ...]:
    if list(value) != sorted(set(value), reverse=True):
        raise ValueError("more stars stand for a smaller level; begin with that of one star")
    return value


Stars = Annotated[
    tuple[Annotated[float, Field(gt=0, lt=1)], ...],
    BeforeValidator(_levels),
    AfterValidator(_falling),
    WithJsonSchema({"type": "array", "items": {"type": "number"}}),
]
"""Levels that one, two … stars stand for."""


class Tested(Output):
    """A test whose p-value may be printed in several ways."""

    p: Text | None = Field(None, description="two-sided p-value, as 0.034, <0.001, *** or ns")
    stars: Stars = Field((0.05, 0.01, 0.001), description="levels of one, two … stars")

    statistics: ClassVar[tuple[str, ...]] = ()
    """Keys of the figures other than p."""

    def read(self) -> tuple[list[tuple[str, Published]], list[Fault]]:
        """Every published figure by its key, and what is wrong with them."""
        found: list[tuple[str, Published]] = []
        faults = []
        for key in self.statistics:
            printed = getattr(self, key)
            if isinstance(printed, tuple):
                found += zip((f"{key} low", f"{key} high"), printed, strict=True)
            elif printed is not None:
                found.append((key, printed))
        if self.p is not None:
            try:
                found.append(("p", read_p(self.p, self.stars)))
            except ValueError as error:
                faults.append(Fault(("p",), str(error)))
        if not found and not faults:
            faults.append(
                Fault((), f"no figure is given; there are {', '.join(self.statistics)}, p")
            )
        return found, faults

    def figures(self, schema: Schema) -> tuple[Figure, ...]:
        """One per key."""
        return tuple(Figure(key.replace("_", " "), printed) for key, printed in self.read()[0])

    @property
    def keys(self) -> list[str]:
        """Keys of the published figures."""
        return [key for key, _ in self.read()[0]]


class MeansTested(Tested):
    """A test of the means of a quantity in groups."""

    of: str = Field(description="the quantity")
    by: str = Field(description="the variable whose values make the groups")

    def mentions(self) -> Iterator[Mention]:
        """Name the quantity and the groups."""
        yield Mention(("of",), self.of)
        yield Mention(("by",), self.by)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Quantities that are none, and figures that cannot be read."""
        if schema[self.of].values.dtype == object:
            yield Fault(("of",), f"{self.of!r} holds categories that are not numbers")
        if self.of == self.by:
            yield Fault(("by",), f"{self.by!r} stands under of as well")
        yield from self.read()[1]

    def observed(
        self, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> tuple[FloatArray, NDArray[Any]]:
        """Quantity and group of every record, selected with pandas."""
        people, weights = population(frame, counts, [self.of, self.by], self.condition, schema)
        times = weights.astype(np.int64)
        y = np.repeat(people[self.of].to_numpy(dtype=float), times)
        return y, np.repeat(people[self.by].to_numpy(), times)


def read_p(text: str, stars: Sequence[float]) -> Published:
    """Read a p-value; raise ``ValueError`` with a remedy."""
    plain = re.sub(r"^[pP]\s*=?\s*(?=[<>≤≥.\d])", "", text.strip())
    lowered = plain.casefold().replace(".", "").replace(" ", "")
    if plain and set(plain) == {"*"}:
        if len(plain) > len(stars):
            raise ValueError(f"{plain} has more stars than levels are listed under stars")
        level = stars[len(plain) - 1]
        below = stars[len(plain)] if len(plain) < len(stars) else 0.0
        return Within(plain, below, level, _decimals(level), open_high=True)
    if lowered in {"ns", "notsignificant"}:
        return Within(plain, stars[0], 1.0, _decimals(stars[0]))
    bound = Within.parse(plain)
    if bound is not None:
        low, high = max(0.0, bound.low), min(1.0, bound.high)
        return Within(bound.text, low, high, bound.decimals, bound.open_low, bound.open_high)
    printed = Printed.parse(plain)
    if not 0 <= printed.value <= 1:
        raise ValueError(f"{printed} is not a p-value; it must lie between 0 and 1")
    return printed


def _decimals(level: float) -> int:
    text = f"{level:.10f}".rstrip("0")
    return max(3, len(text) - 2)


def p_box(
    low: FloatArray, high: FloatArray, keys: Sequence[str], statistic: Callable[[float], float]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Turn the interval of ``p`` into one of a statistic that falls as p rises.

    Returns the ends of every interval, and the unit of those that are wide.
    """
    low, high, unit = low.copy(), high.copy(), np.full(len(low), np.inf)
    for i in [i for i, key in enumerate(keys) if key == "p"]:
        least = statistic(min(1.0, float(high[i])))
        high[i] = statistic(float(low[i])) if low[i] > 0 else np.inf
        low[i], unit[i] = least, _WIDE * max(abs(least), 0.05)
    return low, high, unit


def p_faults(
    read: Sequence[tuple[str, Published]],
    key: str,
    p_of: Callable[[float, float], float],
    dfs: tuple[float, float],
) -> Iterator[Fault]:
    """Find a p-value that does not follow from the size of a published statistic.

    ``p_of``: p-value of a size and degrees of freedom, of which ``dfs`` are the ends.
    """
    known = dict(read)
    if key not in known or "p" not in known:
        return
    low, high = known[key].interval
    sizes = (0.0 if low < 0 < high else min(abs(low), abs(high))), max(abs(low), abs(high))
    most = max(p_of(sizes[0], df) for df in dfs)
    least = min(p_of(sizes[1], df) for df in dfs)
    if most < known["p"].interval[0] - 1e-12 or least > known["p"].interval[1] + 1e-12:
        message = (
            f"{known['p']} does not follow: {key} {known[key]} has p from {least:.3g} to {most:.3g}"
        )
        yield Fault(("p",), message, clash=True)
