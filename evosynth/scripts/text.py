"""Text of strangers inside scripts: it stays inside its string or comment, whatever it holds."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evosynth.analysis import Analysis
from evosynth.condition import And, Comparison, Condition
from evosynth.errors import many
from evosynth.notice import NOTICE
from evosynth.objective import Figure
from evosynth.printed import Within
from evosynth.schema import Variable

if TYPE_CHECKING:
    from evosynth.spec import Spec

_LONGEST = 150
_WIDTH = 90


@dataclass(frozen=True)
class Block:
    """One output: what its analysis is called, and what is published."""

    heading: str
    where: Condition | None
    figures: tuple[Figure, ...]
    analysis: Analysis | None


def blocks(spec: Spec) -> Iterator[Block]:
    """Walk through the outputs of a spec."""
    for position, (output, figures) in enumerate(zip(spec.outputs, spec.figures, strict=True)):
        kind = output.kind.replace("_", " ")
        title = f"{output.title} ({kind})" if output.title else kind.capitalize()
        heading = f"{position + 1}. {title}"
        if output.where is not None:
            heading += f", where {output.where}"
        where = output.condition
        if spec.households is not None and output.unit == "household":
            first = Comparison(spec.households.person, "==", ("1",))
            where = first if where is None else And((first, where))
        yield Block(heading, where, figures, output.analysis(spec.schema_of(output)))


def line(text: str, longest: int = _LONGEST) -> str:
    """One line of printable text; marks that begin or end comments are set apart."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    plain = " ".join(plain.split())
    while any(mark in plain for mark in ("/*", "*/", "//")):
        plain = plain.replace("/*", "/ *").replace("*/", "* /").replace("//", "/ /")
    plain = plain if len(plain) <= longest else plain[: longest - 1] + "…"
    return plain.rstrip(" \\")


def named(figure: Figure) -> str:
    """Name a figure, with its bounds where print tells them by a word, by stars or by rounding."""
    printed = figure.printed
    told = not isinstance(printed, Within) or printed.text.startswith(("<", ">", "≤", "≥"))
    if told or not isinstance(printed, Within) or printed.low == printed.high:
        return figure.label
    return f"{figure.label} [{printed.low:.10g} to {printed.high:.10g}]"


def opening(spec: Spec, run: str, width: int = _WIDTH) -> list[str]:
    """Say what a script does and what the data are, for its first comment."""
    title = line(spec.title) or "Synthetic teaching data"
    figures = sum(len(figures) for figures in spec.figures)
    told = f"Loads the data and prints {many(figures, 'published figure')}, recomputed. {run}"
    return [title, *textwrap.wrap(told, width), *textwrap.wrap(NOTICE, width)]


def is_text(variable: Variable) -> bool:
    """Whether the values of a variable are texts."""
    return variable.values.dtype == object or variable.date


def compared(comparison: Comparison, variable: Variable) -> tuple[str, list[str]]:
    """Operator and values of a comparison; categories by those codes that they have."""
    values = list(comparison.values)
    if variable.categorical:
        values = [text for text in variable.texts[: variable.valid] if text in comparison.values]
    return comparison.operator, values


def decimals(figure: Figure) -> int:
    """Decimals to print a figure with: two more where only bounds are published."""
    own = figure.printed.decimals
    return own + 2 if isinstance(figure.printed, Within) and own else own
