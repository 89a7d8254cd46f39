"""Comments, strings and values in SPSS."""

from __future__ import annotations

from evosynth.schema import Variable
from evosynth.scripts.text import is_text, line

_LONGEST = 240
"""Characters of a comment, which must not be broken: each of its lines would need a stop."""


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
