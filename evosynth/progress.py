"""Shows where a search stands: a live line for people, plain lines for logs, JSON for machines."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

from evosynth.console import note, say
from evosynth.errors import shown
from evosynth.printed import half_units

if TYPE_CHECKING:
    from evosynth.synthesis import Progress


class Display(Protocol):
    """Something to call after every generation."""

    def __call__(self, now: Progress) -> None:
        """Show where the search stands."""

    def close(self) -> None:
        """Leave the terminal tidy."""


def describe(now: Progress) -> str:
    """Tell the generation, the figures exact of all, the worst figure and the time."""
    off = "not estimable yet" if now.distance is None else f"{half_units(now.distance)} off"
    worst = f", worst {shown(now.worst)} ({off})" if now.worst else ""
    return (
        f"generation {now.generation}: {now.exact} of {now.figures} figures exact"
        f"{worst}, {now.seconds:.1f} s"
    )


class Live:
    """Rewrites one line of a terminal."""

    def __init__(self) -> None:
        self.width = 0

    def __call__(self, now: Progress) -> None:
        """Overwrite the line."""
        columns = shutil.get_terminal_size().columns
        text = describe(now)[: columns - 1]
        note(f"\r{text:<{self.width}}", end="")
        self.width = len(text)

    def close(self) -> None:
        """End the line."""
        if self.width:
            note("")


class Plain:
    """Prints a line at the start, then whenever twice the time has passed."""

    def __init__(self) -> None:
        self.next = 0.0

    def __call__(self, now: Progress) -> None:
        """Print unless a line was printed lately."""
        if now.seconds >= self.next or not now.worst:
            self.next = max(1.0, 2 * now.seconds)
            note(describe(now))

    def close(self) -> None:
        """Nothing to tidy."""


class Lines:
    """Prints one JSON object per generation."""

    def __call__(self, now: Progress) -> None:
        """Print it."""
        say(json.dumps({"event": "generation", **asdict(now)}))

    def close(self) -> None:
        """Nothing to tidy."""


class Silent:
    """Shows nothing."""

    def __call__(self, now: Progress) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Nothing to tidy."""


def choose(quiet: bool, machine: bool) -> Display:
    """Pick the display that fits the options and the terminal."""
    if machine:
        return Lines()
    if quiet:
        return Silent()
    return Live() if sys.stderr.isatty() else Plain()
