"""Comments, strings and values in SPSS."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evosynth.schema import Variable
from evosynth.scripts.text import is_text, line

_LONGEST = 240
"""Characters of a comment, which must not be broken: each of its lines would need a stop."""

_WIDTH = 250
"""SPSS may cut what stands behind the 256th character of a line."""
_WORD = re.compile(r"(?:'(?:[^']|'')*'|[^' ])+")
"""What must not be broken; a blank within quotes is part of it."""


def broken(text: str) -> Iterator[str]:
    """Break a long command between words; the lines that go on are indented."""
    if len(text) <= _WIDTH or text.startswith("*"):
        yield text
        return
    line = " " * (len(text) - len(text.lstrip()))
    for word in _WORD.findall(text):
        if line.strip() and len(line) + len(word) >= _WIDTH:
            yield line.rstrip()
            line = "    "
        line += f"{word} "
    yield line.rstrip()


def comment(text: str) -> str:
    """Write a comment; it is one line, and only its own full stop ends it."""
    return f"* {line(text, _LONGEST).rstrip(' .')}."


def quoted(text: str) -> str:
    """Write a string."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return "'" + plain.replace("'", "''") + "'"


def literal(variable: Variable, text: str) -> str:
    """Write a value of a variable."""
    if variable.date:
        year, month, day = text.split("-")
        return f"DATE.DMY({int(day)},{int(month)},{int(year)})"
    return quoted(text) if is_text(variable) else text
