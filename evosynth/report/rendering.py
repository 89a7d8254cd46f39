"""Fills templates: whatever a spec or a file says is text, never markup."""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evosynth.errors import many
from evosynth.report.figures import heat, number
from evosynth.report.pictures import drawn_bars

_LONGEST = 80
"""Characters of a title where it only points to what it is the title of."""


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
