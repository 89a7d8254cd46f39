"""Strings and values in R."""

from __future__ import annotations

from evosynth.schema import Variable
from evosynth.scripts.text import is_text


def quoted(text: str) -> str:
    """Write a string; what does not print is escaped."""
    found = ""
    for c in text:
        if c in '"\\':
            found += f"\\{c}"
        elif c == "\0":
            found += " "  # which R's strings cannot hold
        elif c.isprintable():
            found += c
        else:
            found += f"\\U{ord(c):08x}" if ord(c) > 0xFFFF else f"\\u{ord(c):04x}"
    return f'"{found}"'


def value(variable: Variable, text: str) -> str:
    """Write a value of a variable."""
    return quoted(text) if is_text(variable) else text
