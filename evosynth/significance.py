"""P-values as they are printed: numbers, bounds, stars; and what they say of a statistic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, WithJsonSchema

from evosynth.errors import Fault
from evosynth.objective import Figure, Output, Text
from evosynth.printed import Printed, Published, Within
from evosynth.schema import Schema

_WIDE = 0.02
"""Part of a bound on a statistic by which it is enough to be inside it."""


def _levels(value: Any) -> Any:
    if not isinstance(value, list) or not value:
        raise ValueError("expected the levels of *, **, … in turn, such as [0.05, 0.01, 0.001]")
    return value


Stars = Annotated[
    tuple[Annotated[float, Field(gt=0, lt=1)], ...],
    BeforeValidator(_levels),
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


def read_p(text: str, stars: Sequence[float]) -> Published:
    """Read a p-value; raise ``ValueError`` with a remedy."""
    plain = text.strip()
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


def p_interval(
    low: float, high: float, statistic: Callable[[float], float]
) -> tuple[float, float, float]:
    """Interval of a statistic, the larger the smaller p, and the unit of one that is wide."""
    least = statistic(min(1.0, high))
    most = statistic(max(0.0, low)) if low > 0 else float("inf")
    return least, most, _WIDE * max(abs(least), 0.05)
