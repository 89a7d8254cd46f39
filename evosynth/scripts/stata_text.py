"""Names, strings and values in Stata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evosynth.schema import Schema, Variable
from evosynth.scripts.text import is_text

_HARMLESS = str.maketrans({'"': "”", "`": "‘", "$": "＄", "\\": "＼"})
"""Marks that end strings or begin macros, and marks that look like them."""


def harmless(text: str) -> str:
    """Text that stays inside a string or comment: no quotes, no macros."""
    return "".join(c if c.isprintable() else " " for c in text).translate(_HARMLESS)


def literal(variable: Variable, text: str) -> str:
    """Write a value; marks that mean something to Stata are written by their number."""
    if variable.date:
        return f'date("{text}", "YMD")'
    if not is_text(variable):
        return text
    parts: list[str] = []
    plain = ""
    for c in text:
        if c in '"`$\\' or not c.isprintable():
            parts += [f'"{plain}"'] if plain else []
            parts.append(f"uchar({ord(c)})")
            plain = ""
        else:
            plain += c
    parts += [f'"{plain}"'] if plain or not parts else []
    return parts[0] if len(parts) == 1 else f"({' + '.join(parts)})"


@dataclass(frozen=True)
class Names:
    """The variables as Stata knows them."""

    given: Mapping[str, str]
    schema: Schema

    def __getitem__(self, name: str) -> str:
        """Name in the Stata file."""
        return self.given[name]

    def valid(self, name: str) -> str:
        """Test that a variable is not missing."""
        variable = self.schema[name]
        test = f"!missing({self.given[name]})"
        if is_text(variable) and not variable.blank and not variable.date:
            for text in variable.texts[variable.valid :]:
                test += f" & {self.given[name]} != {literal(variable, text)}"
        return test
