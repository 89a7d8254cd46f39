"""Fills templates: whatever a spec or a file says is text, never markup."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evosynth.errors import many
from evosynth.report.figures import heat, number
from evosynth.report.pictures import drawn_bars

_WORD = 16
"""Letters of a word that is broken where a table has no room for it."""
_LINE = 71
"""Letters that stand beside each other on paper."""
_LONGEST = 80
"""Characters of a title where it only points to what it is the title of."""


def _words(texts: Iterable[object], columns: Sequence[str] = ()) -> str:
    """Return the class of a table whose words may have to be broken to have room on paper."""
    lengths = [max(map(len, str(text).split()), default=0) for text in texts]
    heads = [max(map(len, text.split()), default=0) + 2 for text in columns]
    return " words" if max(lengths, default=0) > _WORD or sum(heads) > _LINE else ""


@cache
def environment() -> Environment:
    """Templates of this package, everything escaped."""
    found = Environment(
        loader=PackageLoader("evosynth.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {
        "number": number,
        "comma": lambda value: f"{value:,}",
        "many": many,
        "words": _words,
        "cut": lambda text: text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()}…",
        "at": lambda value: f"{value:.2f}",
        "per_cent": lambda value: f"{100 * value:.1f} %",
        "picture": _picture,
    }
    found.globals |= {"heat": heat, "drawn_bars": drawn_bars}
    return found


def render(template: str, **context: Any) -> str:
    """Fill a template."""
    return environment().get_template(template).render(**context)


def part(template: str, macro: str, *arguments: Any) -> Markup:
    """Fill one macro of a template."""
    module = environment().get_template(template).module
    found: Markup = getattr(module, macro)(*arguments)
    return found


def _picture(svg: bytes) -> str:
    """Return the address of a picture that is part of the page; nothing in it can run there."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode('ascii')}"
