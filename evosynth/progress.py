"""Shows where a search stands: a live line for people, plain lines for logs, JSON for machines."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

from evosynth.console import note, say
from evosynth.errors import many, shown
from evosynth.printed import half_units

if TYPE_CHECKING:
    from evosynth.synthesis import Progress


class Display(Protocol):
    """Something to call after every generation."""

    def __call__(self, now: Progress) -> None:
        """Show where the search stands."""

    def close(self) -> None:
        """Leave the terminal tidy."""


def describe(now: Progress, width: int | None = None) -> str:
    """Tell the generation, the figures exact of all, the worst figure and the time.

    What does not fit the width is left out: the name of the worst figure first, the time never.
    """
    time = f"{now.seconds:.1f} s"
    head = f"generation {now.generation}: {now.exact} of {many(now.figures, 'figure')} exact"
    texts = [f"{head}, {time}", f"{now.exact} of {now.figures} exact, {time}", time]
    if now.worst:
        off = "not estimable yet" if now.distance is None else f"{half_units(now.distance)} off"
        named = f"{head}, worst {shown(now.worst)} ({off}), {time}"
        texts = [named, f"{head}, worst {off}, {time}", *texts]
    return next((text for text in texts if width is None or len(text) <= width), time)


class Live:
    """Rewrites one line of a terminal."""

    def __init__(self) -> None:
        self.width = 0

    def __call__(self, now: Progress) -> None:
        """Overwrite the line."""
        most = _columns() - 1
        text = describe(now, most)
        note(f"\r{text:<{min(self.width, most)}}", end="")
        self.width = len(text)

    def close(self) -> None:
        """End the line."""
        if self.width:
            note("")


def _columns() -> int:
    """Width of the terminal, even if only standard error goes there."""
    columns = 0
    with contextlib.suppress(OSError):
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    return shutil.get_terminal_size((columns or 80, 24)).columns


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
