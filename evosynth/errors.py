"""What can go wrong, each with the place and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

Path = tuple[str | int, ...]

MOST_LINES = 100
LONGEST = 80
_MOST_NAMES = 24
_MOST_COMPARED = 200


def shown(text: str) -> str:
    """Text from a spec, safe and short enough to print in a message."""
    plain = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: LONGEST + 1])
    return plain if len(text) <= LONGEST else f"{plain[:LONGEST]}…"


class EvosynthError(Exception):
    """Root of every error that evosynth raises on purpose."""


class SizeError(EvosynthError):
    """A problem too large to search in the memory of an ordinary machine."""


class DataError(EvosynthError):
    """A data file that cannot be read or does not fit the spec."""


class WeightsError(EvosynthError):
    """Totals that no weights reach, or that do not fit the data; one line per reason."""


class RiskError(EvosynthError):
    """Data or settings of which no disclosure risk can be measured; one line per reason."""


class FolderError(EvosynthError):
    """An output folder that may not be written."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a spec, at one place."""

    path: Path
    message: str
    clash: bool = False
    """Whether it is a contradiction between figures, which a run may be told to bear."""

    @property
    def place(self) -> str:
        """The path as people write it, for example ``outputs[3].formula``."""
        text = ""
        for part in self.path:
            name = f"[{part}]" if isinstance(part, int) else shown(part)
            text += name if isinstance(part, int) or not text else f".{name}"
        return text


class FormatError(EvosynthError):
    """A file format that cannot hold the data, or whose package is not installed."""

    def __init__(self, message: str, path: Path = ()) -> None:
        self.fault = Fault(path, message)
        super().__init__(f"{self.fault.place}: {message}" if path else message)


class SpecError(EvosynthError):
    """All faults of a spec file at once."""

    def __init__(self, file: str, faults: Iterable[tuple[int | None, Fault]]) -> None:
        self.file = file
        self.faults = tuple(sorted(faults, key=lambda item: (item[0] or 0, item[1].place)))
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """One line per fault, ``file:line place: message``, of the first `MOST_LINES`."""
        found = [
            f"{self.file}{f':{line}' if line else '' if fault.place else ':'} "
            f"{f'{fault.place}: ' if fault.place else ''}{fault.message}"
            for line, fault in self.faults[:MOST_LINES]
        ]
        more = len(self.faults) - len(found)
        return [*found, f"{self.file} and {many(more, 'more fault')}"] if more else found


def many(count: float | str, noun: str) -> str:
    """Return a number with its noun: 1 record, 4,027 records."""
    text = count if isinstance(count, str) else f"{count:,}"
    if text == "1":
        return f"1 {noun}"
    return f"{text} {noun[:-1]}ies" if noun.endswith(("py", "ry")) else f"{text} {noun}s"


def are(count: float) -> str:
    """Return the verb that goes with a number."""
    return "is" if count == 1 else "are"


def have(count: float) -> str:
    """Return the verb that goes with a number."""
    return "has" if count == 1 else "have"


def nearest(wrong: str, known: Iterable[str]) -> str | None:
    """Return the known name that a word is nearly, if there is one."""
    names = [str(name) for name in known]
    if len(names) > _MOST_COMPARED or len(wrong) > LONGEST:
        return None
    folded = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(wrong.casefold(), list(folded), n=1)
    return folded[close[0]] if close else None


def suggest(wrong: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` or the known names when they are few."""
    names = [str(name) for name in known]
    close = nearest(wrong, names)
    if close is not None:
        return f" (did you mean {close!r}?)"
    if 0 < len(names) <= _MOST_NAMES and len(wrong) <= LONGEST:
        return f" (known: {', '.join(names)})"
    return ""
