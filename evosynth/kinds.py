"""Finds output kinds by name: modules of ``evosynth.objectives``, then other people's packages."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from evosynth.objective import Output

_PACKAGE = "evosynth.objectives"


@cache
def names() -> tuple[str, ...]:
    """Every known kind: a module ``crosstab.py`` offers ``kind: crosstab``."""
    return tuple(sorted(_own() | set(_others())))


@cache
def find(kind: str) -> type[Output]:
    """Return the class of a kind; the module ``odds_ratio`` holds the class ``OddsRatio``."""
    if kind in _own():
        module, name = f"{_PACKAGE}.{kind}", kind.title().replace("_", "")
    else:
        module, _, name = _others()[kind].partition(":")
    found: type[Output] = getattr(importlib.import_module(module), name)
    if not issubclass(found, Output):
        raise TypeError(f"{module}:{name} is not an Output")
    return found


def _own() -> set[str]:
    package = importlib.import_module(_PACKAGE)
    return {
        module.name for module in pkgutil.iter_modules([str(Path(p)) for p in package.__path__])
    }


def _others() -> dict[str, str]:
    return {entry.name: entry.value for entry in entry_points(group=_PACKAGE)}
