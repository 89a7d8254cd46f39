"""Data files that open where people work: one module per format, with what it cannot hold."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, get_args

from evosynth.errors import FormatError, suggest

if TYPE_CHECKING:
    from types import ModuleType

    from evosynth.formats.dataset import Dataset
    from evosynth.formats.limits import Fit
    from evosynth.schema import Schema

Format = Literal["csv", "parquet", "stata", "spss", "excel"]
NAMES: tuple[Format, ...] = get_args(Format)
ALWAYS: tuple[Format, ...] = ("csv", "parquet")
"""Formats that are written whether or not they are asked for."""

SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".dta": "stata",
    ".sav": "spss",
    ".xlsx": "excel",
}
_ALSO: dict[str, Format] = {suffix[1:]: name for suffix, name in SUFFIXES.items()}
_PACKAGES = {"stata": "pyreadstat", "spss": "pyreadstat", "excel": "openpyxl"}
_MODULES = {"csv": "arrow", "parquet": "arrow"}


def named(text: str) -> Format:
    """Return the format that a name or a file's ending stands for; raise ``ValueError`` if none."""
    plain = text.strip().casefold().removeprefix(".")
    for name in NAMES:
        if plain == name:
            return name
    if plain in _ALSO:
        return _ALSO[plain]
    raise ValueError(f"no format {text!r}{suggest(plain, NAMES)}")


def wanted(asked: Iterable[Format]) -> tuple[Format, ...]:
    """List the formats to write, each once: those that are always written, then those asked for."""
    return tuple(dict.fromkeys([*ALWAYS, *asked]))


def file_name(name: Format, stem: str = "data") -> str:
    """Name the file of a format."""
    return stem + next(suffix for suffix, own in SUFFIXES.items() if own == name)


def installed(name: Format, purpose: str) -> None:
    """Raise `FormatError` with what to install if the package of a format is not there."""
    package = _PACKAGES.get(name)
    if package is not None and importlib.util.find_spec(package) is None:
        remedy = f"install it with: pip install {package}"
        raise FormatError(f"{purpose} needs the Python package {package}; {remedy}")


def module(name: Format) -> ModuleType:
    """Return the module of a format; it offers ``fit`` and ``write``."""
    return importlib.import_module(f"evosynth.formats.{_MODULES.get(name, name)}")


def fit(name: Format, schema: Schema) -> Fit:
    """Say how the names, labels and missing codes of a schema go into a format.

    Raises `FormatError` where one cannot be held at all.
    """
    if name != "stata":  # which needs a package to read alone
        installed(name, f"format {name}")
    found: Fit = module(name).fit(schema)
    return found


def notes(asked: Iterable[Format], schema: Schema) -> list[str]:
    """Say what becomes of names and labels that a format cannot hold as they are."""
    return [
        f"{file_name(name)}: {note}" for name in wanted(asked) for note in fit(name, schema).notes
    ]


def write(name: Format, dataset: Dataset, path: object) -> None:
    """Write a dataset in a format."""
    module(name).write(dataset, path, name)
