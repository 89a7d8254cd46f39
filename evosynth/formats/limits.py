"""Names and labels that are too long for a format: shortened, and never without saying so."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evosynth.errors import shown
from evosynth.schema import Schema, Variable

Length = Callable[[str], int]
_DOTS = "…"


def n_bytes(text: str) -> int:
    """Length of a text in UTF-8."""
    return len(text.encode("utf-8", "replace"))


@dataclass
class Fit:
    """How the variables of a schema stand in a file."""

    names: dict[str, str]
    """Name in the file, by name in the spec."""
    labels: dict[str, str]
    values: dict[str, dict[Any, str]]
    """Labels of values, by name in the spec and by value."""
    notes: list[str] = field(default_factory=list)
    """What is not as in the spec."""


def plain(schema: Schema) -> Fit:
    """Everything as it is in the spec."""
    return Fit(
        {v.name: v.name for v in schema.shown},
        {v.name: tidy(v.label) for v in schema.shown},
        {v.name: labels for v in schema.shown if (labels := value_labels(v))},
    )


def value_labels(variable: Variable) -> dict[Any, str]:
    """Labels of the values of a variable that stand in data files."""
    if variable.identifier is not None:
        return {}
    first, end = 0, variable.size - variable.blank
    labels = variable.labels
    if labels is None:  # a quantity: only codes of missing values have labels
        first, labels = (
            variable.valid,
            (*variable.texts[: variable.valid], *variable.missing_labels),
        )
    values = variable.values[first:end].tolist()
    return dict(zip(values, map(tidy, labels[first:end]), strict=True))


def tidy(text: str) -> str:
    """Text on one line without characters that do not print; scripts and emoji stay as they are."""
    kept = "".join(" " if unicodedata.category(c) in _UNPRINTABLE else c for c in text)
    return " ".join(kept.split())


_UNPRINTABLE = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}


def shorten(text: str, most: int, length: Length) -> str:
    """Cut a text so that it ends in an ellipsis and is no longer than ``most``."""
    if length(text) <= most:
        return text
    kept = text
    while length(kept) + length(_DOTS) > most:
        kept = kept[:-1]
    while kept and (unicodedata.combining(kept[-1]) or kept[-1] in "\u200d\ufe0f "):
        kept = kept[:-1]
    return kept + _DOTS


def rename(
    names: Iterable[str],
    most: int,
    length: Length,
    allowed: Callable[[str], bool],
    fold: Callable[[str], str] = str,
) -> dict[str, str]:
    """Give each variable a name that a format takes: its own if possible, else one near it.

    ``fold``: names that fold to the same text are the same to the format.
    """
    names = list(names)
    own = [name for name in names if allowed(name) and length(name) <= most]
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in own:
        if fold(name) not in taken:
            found[name] = name
            taken.add(fold(name))
    for name in names:
        if name in found:
            continue
        stem = name if allowed(name) else f"v_{name.strip('_')}"
        number = 1
        while True:
            tail = "" if number == 1 else f"_{number}"
            short = stem
            while length(short + tail) > most:
                short = short[:-1]
            if fold(short + tail) not in taken and allowed(short + tail):
                break
            number += 1
        found[name] = short + tail
        taken.add(fold(short + tail))
    return {name: found[name] for name in names}


def say_names(fit: Fit, why: str) -> None:
    """Note every name that is not the spec's."""
    for name, given in fit.names.items():
        if name != given:
            fit.notes.append(f"variable {shown(name)} is called {shown(given)} ({why})")


def fit_labels(fit: Fit, most: int, length: Length, unit: str) -> None:
    """Shorten the labels of variables."""
    for name, label in fit.labels.items():
        fit.labels[name] = shorten(label, most, length)
        if fit.labels[name] != label:
            what = f"label of {shown(name)} is shortened to {unit}"
            fit.notes.append(f"the {what}: {fit.labels[name]}")


def fit_values(fit: Fit, most: int, length: Length, unit: str) -> None:
    """Shorten the labels of values."""
    for name, labels in fit.values.items():
        for value, label in labels.items():
            labels[value] = shorten(label, most, length)
            if labels[value] != label:
                what = f"label of {shown(name)}={shown(str(value))} is shortened to {unit}"
                fit.notes.append(f"the {what}: {labels[value]}")


def back(fit: Fit, columns: Iterable[str], fold: Callable[[str], str] = str) -> Mapping[str, str]:
    """Names of the spec, by name in a file, where the file has names of its own."""
    there = {fold(str(column)): str(column) for column in columns}
    return {
        there[fold(given)]: name
        for name, given in fit.names.items()
        if name not in there.values() and fold(given) in there
    }
