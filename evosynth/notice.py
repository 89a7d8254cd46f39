"""What goes with the data wherever they go: that they are synthetic, and what they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evosynth.errors import many

if TYPE_CHECKING:
    from evosynth.spec import Spec

NOTICE = (
    "These data are synthetic: no record describes a person. They were made from published figures "
    "alone, to reproduce those figures; anything else in them is arbitrary. Use them to teach and "
    "to practise, not to draw conclusions."
)
LABEL = "SYNTHETIC teaching data"
FORBIDDEN = (
    "Do not use them to estimate anything that is not among the published figures, to study "
    "people, places or policies, to check a publication, or in place of the original data."
)
_MOST_NAMED = 40


def called(spec: Spec, position: int) -> str:
    """Name an output: its title, or what it is and of which variables."""
    return spec.titles[position]


def statement(spec: Spec) -> list[str]:
    """Sentences that travel inside the files."""
    count = sum(len(figures) for figures in spec.figures)
    names = [called(spec, position) for position in range(len(spec.outputs))]
    more = len(names) - _MOST_NAMED
    listed = "; ".join(names[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
    made = f"They were made to reproduce {many(count, 'published figure')}, of: {listed}."
    return [NOTICE, FORBIDDEN, f"{made} verification.csv says which of them are exact."]
