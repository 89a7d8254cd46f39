"""Totals that weights must reach: of categories, of cross-classifications, of quantities."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np

from evosynth.errors import Fault, Path, many, shown

Cell: TypeAlias = tuple[str, ...]
"""One value of each variable of a margin, as text."""

MISSING = "missing"
"""Instead of a value: records that have none."""
EVERYONE = "total"
"""Name of the total of all records."""
MAX_CELLS = 20_000
_TOTAL_NAMES = frozenset({"total", "totals", "count", "counts", "population", "n", "sum"})
_BY = re.compile(r"\s+by\s+")


@dataclass(frozen=True)
class Margin:
    """Totals of all cells of some variables; of a quantity if there is one, else of records."""

    names: tuple[str, ...]
    cells: Mapping[Cell, float]
    quantity: str | None = None
    path: Path = ()
    """Where it is written."""

    @property
    def label(self) -> str:
        """Name it as a spec does."""
        crossed = ":".join(self.names)
        if self.quantity is None:
            return crossed or EVERYONE
        return f"{self.quantity} by {crossed}" if crossed else self.quantity

    def called(self, cell: Cell) -> str:
        """Name one of its cells."""
        where = ", ".join(f"{n}={v}" for n, v in zip(self.names, cell, strict=True))
        if self.quantity is None:
            return where or "all records"
        return f"{self.quantity}, {where}" if where else self.quantity

    @property
    def sum(self) -> float:
        """Total of all cells."""
        return math.fsum(self.cells.values())


Read: TypeAlias = tuple[list[Margin], list[Fault]]


def number(text: object, path: Path, faults: list[Fault], negative: bool = False) -> float:
    """Read a total, with or without separators of thousands; note what is wrong with it."""
    plain = str(text).strip().replace("\u2212", "-")
    if re.fullmatch(r"-?\d{1,3}([, \u00a0\u202f]\d{3})+(\.\d+)?", plain, re.ASCII):
        plain = re.sub(r"[, \u00a0\u202f]", "", plain)
    try:
        value = float(plain)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        faults.append(Fault(path, f"{shown(str(text))!r} is not a number"))
        return math.nan
    if value < 0 and not negative:
        faults.append(Fault(path, f"a total of records cannot be negative, as {plain} is"))
    return value


def text_of(value: Any) -> str:
    """Write a value as a spec does: 1 rather than 1.0, a day without a time; no value as such."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if value is None or type(value).__name__ in {"NAType", "NaTType"} or value != value:
        return MISSING
    return str(value).removesuffix(" 00:00:00") if isinstance(value, datetime) else str(value)


def parse_key(key: str) -> tuple[str | None, tuple[str, ...]]:
    """Split ``SEX:REGION``, ``INCOME by SEX`` and the like into a quantity and variables."""
    parts = _BY.split(key.strip(), maxsplit=1)
    names = tuple(name.strip() for name in parts[-1].split(":"))
    return (parts[0].strip(), names) if len(parts) == 2 else (None, names)


def inline(tree: Any, path: Path = (), levels: Mapping[str, Sequence[str]] | None = None) -> Read:
    """Read totals as a spec or a Python mapping holds them.

    ``levels``: values of each variable in order, by which a list may stand for a mapping.
    """
    faults: list[Fault] = []
    if not isinstance(tree, Mapping):
        return [], [Fault(path, "expected totals by variable: {SEX: {1: 210000, 2: 225000}}")]
    found = []
    for key, node in tree.items():
        text = ":".join(map(str, key)) if isinstance(key, tuple) else str(key)
        here = (*path, text)
        quantity, names = parse_key(text)
        node = _plain(node)
        if not isinstance(node, Mapping | list | tuple):
            if quantity is not None or len(names) != 1:
                message = f"expected a total for each cell of {', '.join(names)}"
                faults.append(Fault(here, message))
                continue
            everyone = names == (EVERYONE,)
            value = number(node, here, faults, negative=not everyone)
            found.append(Margin((), {(): value}, None if everyone else names[0], here))
            continue
        cells: dict[Cell, float] = {}
        for cell, given, where in _leaves(node, names, (), here, levels or {}, faults):
            if cell in cells:
                faults.append(Fault(where, f"{':'.join(cell)} stands there twice"))
            cells[cell] = number(given, where, faults, negative=quantity is not None)
        found.append(_plain_cells(Margin(names, cells, quantity, here), faults))
    return found, faults


def _plain(node: Any) -> Any:
    """Take a series or a table of pandas for a mapping, by its rows."""
    if hasattr(node, "to_dict"):
        return node.to_dict("index") if hasattr(node, "columns") else node.to_dict()
    return node


def _leaves(
    node: Any,
    names: tuple[str, ...],
    cell: Cell,
    path: Path,
    levels: Mapping[str, Sequence[str]],
    faults: list[Fault],
) -> Iterator[tuple[Cell, object, Path]]:
    """Walk down to single totals."""
    if len(cell) == len(names):
        if isinstance(node, Mapping | list | tuple) or node is None:
            faults.append(Fault(path, "expected a single total here"))
        else:
            yield cell, node, path
        return
    name = names[len(cell)]
    if isinstance(node, list | tuple):
        values = levels.get(name)
        if values is None or len(values) != len(node):
            size = "" if values is None else f"; {name!r} has {many(len(values), 'value')}"
            message = f"{len(node)} totals in a list{size}; write value: total"
            faults.append(Fault(path, message))
            return
        for position, (value, below) in enumerate(zip(values, node, strict=True)):
            yield from _leaves(below, names, (*cell, value), (*path, position), levels, faults)
    elif isinstance(node, Mapping):
        for value, below in node.items():
            several = value if isinstance(value, tuple) else (value,)
            texts = tuple(text_of(part) for part in several[: len(names) - len(cell)])
            here = (*path, ":".join(texts))
            yield from _leaves(below, names, (*cell, *texts), here, levels, faults)
    else:
        faults.append(Fault(path, f"expected a total for each value of {name!r}"))


def from_csv(text: str, path: Path = (), file: str = "") -> Read:
    """Read totals from a CSV file.

    Either one cross-classification, ``SEX,REGION,total``, a line per cell; or any margins below
    each other, ``variable,value,total``, where ``SEX:REGION`` has values such as ``1:3``, and a
    quantity has no value.
    """
    first = text.partition("\n")[0]
    apart = "," if "," in first else next((mark for mark in ";\t" if mark in first), ",")
    lines = csv.reader(io.StringIO(text), delimiter=apart)
    rows = [row for row in lines if any(part.strip() for part in row)]
    if len(rows) < 2:
        return [], [Fault(path, f"{file}: no totals in it; the first line names the columns")]
    header = [part.strip().lstrip("\ufeff") for part in rows[0]]
    last = header[-1].casefold()
    if last not in _TOTAL_NAMES or len(header) < 2:
        message = f"{file}, line 1: the last column must be called total, not {shown(header[-1])!r}"
        return [], [Fault(path, message)]
    faults: list[Fault] = []
    stacked = [name.casefold() for name in header[:-1]] == ["variable", "value"]
    margins: dict[tuple[str | None, tuple[str, ...]], dict[Cell, float]] = {}
    for line, row in enumerate(rows[1:], start=2):
        cells = [part.strip() for part in row]
        wrong: list[Fault] = []
        key: tuple[str | None, tuple[str, ...]] = (None, ())
        cell: Cell = ()
        if len(cells) != len(header):
            message = f"{many(len(cells), 'column')}, but the first line has {len(header)}"
            wrong.append(Fault(path, message))
        elif stacked:
            key = parse_key(cells[0])
            cell = tuple(part.strip() for part in cells[1].split(":")) if cells[1] else ()
            if not cell and key[0] is None:
                key = (None, ()) if key[1] == (EVERYONE,) else (key[1][0], ())
            elif len(cell) != len(key[1]):
                message = f"{cells[0]!r} needs {many(len(key[1]), 'value')}, {':'.join(key[1])}"
                wrong.append(Fault(path, message))
        else:
            key, cell = (None, tuple(header[:-1])), tuple(cells[:-1])
        value = number(cells[-1] if cells else "", path, wrong, negative=key[0] is not None)
        if not wrong and cell in margins.setdefault(key, {}):
            wrong.append(Fault(path, f"{', '.join(cell) or cells[0]} stands there twice"))
        faults += [Fault(path, f"{file}, line {line}: {fault.message}") for fault in wrong]
        if not wrong:
            margins[key][cell] = value
    found = [Margin(names, cells, quantity, path) for (quantity, names), cells in margins.items()]
    return [_plain_cells(margin, faults, file) for margin in found], faults


def _plain_cells(margin: Margin, faults: list[Fault], file: str = "") -> Margin:
    """Leave out sums that stand beside their parts, as in printed tables, if they are right."""
    if not any(EVERYONE in map(str.casefold, cell) for cell in margin.cells):
        return margin
    cells = {c: v for c, v in margin.cells.items() if EVERYONE not in map(str.casefold, c)}
    where = f"{file}: " if file else ""
    for cell, total in margin.cells.items():
        summed = [value.casefold() == EVERYONE for value in cell]
        parts = [
            value
            for other, value in cells.items()
            if all(any_ or a == b for any_, a, b in zip(summed, cell, other, strict=True))
        ]
        if any(summed) and not math.isclose(math.fsum(parts), total, rel_tol=1e-9, abs_tol=1e-9):
            message = f"{margin.called(cell)} is {total:.12g}, but its parts sum to"
            faults.append(Fault(margin.path, f"{where}{message} {math.fsum(parts):.12g}"))
    return Margin(margin.names, cells, margin.quantity, margin.path)


def scaled(margins: Sequence[Margin], population: float) -> list[Margin]:
    """Margins of records as shares of a population, whatever they sum to."""
    found = []
    for margin in margins:
        if margin.quantity is None and margin.sum > 0:
            factor = population / margin.sum
            cells = {cell: factor * value for cell, value in margin.cells.items()}
            margin = Margin(margin.names, cells, None, margin.path)
        found.append(margin)
    return found
