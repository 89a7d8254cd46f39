"""A published number with its printed precision."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from evosynth.errors import many, shown

_NUMBER = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)?(?:\.\d+)?", re.ASCII)
LONGEST = 40
_COMMA = re.compile(r"([+-]?)(\d+|\d{1,3}(?:[.' ]\d{3})+),(\d+)", re.ASCII)
"""A number with a decimal comma."""
_PER_CENT = re.compile(r"([+-]?(?:\d+(?:\.\d+)?|\.\d+))\s*%", re.ASCII)
_HALFWAY = 1e-12
_FINER = 10
_BOUND = re.compile(r"(<=|<|≤|>=|>|≥)\s*(\S+)")


def half_units(distance: float) -> str:
    """Say a distance in half-units of a last printed digit as people read numbers."""
    size = abs(distance)
    return many(f"{size:,.0f}" if size >= 100 else f"{size:.3g}", "half-unit")


@dataclass(frozen=True)
class Printed:
    """A number as it stands in print: ``-0.0650`` has four decimals.

    ``text`` is canonical: no thousands separators, no plus sign, a digit before the point.
    """

    text: str
    value: float
    decimals: int

    @classmethod
    def parse(cls, text: str) -> Printed:
        """Read a number from print; raise ``ValueError`` with a remedy if it is none."""
        plain = text.strip().replace("\u2212", "-")
        if plain.endswith("%"):
            raise ValueError(
                f"{shown(text)!r} is a percentage; write {shown(plain[:-1])} under a key "
                "for percentages"
            )
        comma = _COMMA.fullmatch(plain[:LONGEST])
        if comma and not _NUMBER.fullmatch(plain):
            meant = comma[1] + re.sub(r"\D", "", comma[2]) + "." + comma[3]
            raise ValueError(f"{shown(text)!r} has a decimal comma; write {meant}")
        if not any(c.isdigit() for c in plain) or not _NUMBER.fullmatch(plain):
            raise ValueError(
                f"{shown(text)!r} is not a number as printed, such as 1,024 or -0.0650"
            )
        if len(plain) > LONGEST:
            raise ValueError(f"a number of more than {LONGEST} characters is not a printed figure")
        sign = "-" if plain.startswith("-") else ""
        whole, _, fraction = plain.lstrip("+-").replace(",", "").partition(".")
        body = f"{int(whole or 0)}" + (f".{fraction}" if fraction else "")
        return cls(sign + body, float(sign + body), len(fraction))

    @property
    def half_width(self) -> float:
        """Half a unit of the last printed digit."""
        return 0.5 * 10.0**-self.decimals

    @property
    def interval(self) -> tuple[float, float]:
        """The values that print as this text; ``0.00`` and ``-0.00`` are different print-outs."""
        low, high = self.value - self.half_width, self.value + self.half_width
        if self.value == 0:
            return (low, 0.0) if self.text.startswith("-") else (0.0, high)
        return low, high

    def show(self, value: float) -> str:
        """Print another value to the same precision."""
        return format(value, f".{self.decimals}f")

    def prints(self, value: float) -> bool:
        """Whether ``value``, printed to this precision, is this very text.

        A value halfway between two print-outs is either: programs differ in which they choose. So
        do rounding errors about the sign of a zero.
        """
        if not math.isfinite(value):
            return False
        return self.show(value) == self.text or self.halfway(value)

    def halfway(self, value: float) -> bool:
        """Whether a value lies where this text and another meet."""
        slack = _HALFWAY * max(abs(value), self.half_width)
        if value == 0 and self.text.startswith("-"):
            return False
        return any(abs(value - end) <= slack for end in self.interval)

    def off(self, value: float) -> float:
        """Distance of a value in half-units of the last printed digit."""
        return (value - self.value) / self.half_width

    def counts(self, total: int, scale: float = 1.0) -> tuple[int, int]:
        """Smallest and largest count whose share of ``total``, × ``scale``, prints as this text.

        The pair is empty (low > high) when no count does.
        """
        if self.text.startswith("-"):
            return 1, 0
        if total == 0:
            return 0, 0
        low = max(0, math.ceil((self.value - self.half_width) / scale * total - 1e-6))
        high = min(total, math.floor((self.value + self.half_width) / scale * total + 1e-6))
        while low <= high and not self.prints(scale * low / total):
            low += 1
        while low <= high and not self.prints(scale * high / total):
            high -= 1
        return low, high

    def __str__(self) -> str:
        """Return the printed text."""
        return self.text

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Let spec models hold printed numbers; the reader hands them over as text."""
        return core_schema.no_info_after_validator_function(cls.parse, core_schema.str_schema())

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Editors accept the number bare or quoted."""
        return {"type": ["number", "string"], "description": "a number exactly as printed"}


def per_cent(value: Any) -> Any:
    """Read ``12%`` as 0.12, to as many digits."""
    found = _PER_CENT.fullmatch(value.strip()[:LONGEST]) if isinstance(value, str) else None
    return value if found is None else f"{Decimal(found[1]).scaleb(-2):f}"


def no_share(share: Printed, below: str = "to 1") -> str:
    """Say what is wrong with a share that is none."""
    meant = (
        f"; write {share}% or {Decimal(share.text).scaleb(-2):f}" if 1 < share.value <= 100 else ""
    )
    return f"{share} is no share from 0 {below}{meant}"


Share = Annotated[Printed, BeforeValidator(per_cent)]
"""A share from 0 to 1 of what is assumed, which may be written as ``12%``."""


@dataclass(frozen=True)
class Within:
    """A figure of which print tells only that it lies between two values: ``<0.001``."""

    text: str
    low: float
    high: float
    decimals: int = 0
    open_low: bool = False
    open_high: bool = False

    @classmethod
    def parse(cls, text: str) -> Within | None:
        """Read a bound such as ``<0.001`` or ``>= 5``; ``None`` if the text is none."""
        found = _BOUND.fullmatch(text.strip())
        if found is None:
            return None
        sign, end = found.group(1), Printed.parse(found.group(2))
        shown_as = f"{sign}{end.text}"
        if sign.startswith("<") or sign == "≤":
            return cls(shown_as, -math.inf, end.value, end.decimals, open_high=sign == "<")
        return cls(shown_as, end.value, math.inf, end.decimals, open_low=sign == ">")

    @property
    def half_width(self) -> float:
        """Half a unit of the last printed digit."""
        return 0.5 * 10.0**-self.decimals

    @property
    def interval(self) -> tuple[float, float]:
        """The values that are meant."""
        return self.low, self.high

    @property
    def value(self) -> float:
        """A value inside."""
        if math.isinf(self.low):
            return self.high - self.half_width
        return self.low + self.half_width if math.isinf(self.high) else (self.low + self.high) / 2

    def halfway(self, value: float) -> bool:
        """Whether a value lies where this text and another meet: ends are meant as they stand."""
        return False

    def show(self, value: float) -> str:
        """Print a value to the precision of the bounds, or as finely as tells its side of them."""
        text = format(value, f".{self.decimals}f")
        for decimals in range(self.decimals + 1, self.decimals + _FINER):
            if self.prints(float(text)) == self.prints(value):
                break
            text = format(value, f".{decimals}f")
        return text

    def prints(self, value: float) -> bool:
        """Whether ``value`` lies inside."""
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return above and below

    def off(self, value: float) -> float:
        """How far outside a value lies, in half-units of the last printed digit."""
        return (value - min(max(value, self.low), self.high)) / self.half_width

    def __str__(self) -> str:
        """Return the text."""
        return self.text


Published: TypeAlias = Printed | Within
"""What is published of a figure."""
