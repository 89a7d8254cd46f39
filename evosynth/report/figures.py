"""Published and reproduced figures as a table shows them, lined up on the decimal point."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SIDE_BY_SIDE = 1
"""Columns up to which published and reproduced figures stand beside each other."""
_HEAT_FROM = 2
LONGEST = 14
"""Characters from a decimal point on that are lined up."""


@dataclass(frozen=True)
class Found:
    """One row of ``verification.csv``: a figure, and what became of it."""

    label: str
    published: str
    reproduced: str
    exact: bool
    value: float | None
    distance: float | None
    """In half-units of the last printed digit; nothing if it cannot be estimated."""
    copies: tuple[int, ...] = ()
    """Copies that miss it, where there are several."""

    @property
    def off(self) -> str:
        """How far off, as people read numbers."""
        if self.distance is None:
            return "not estimable"
        size = abs(self.distance)
        text = f"{size:,.0f}" if size >= 100 else f"{size:.3g}"
        sign = "+" if self.distance > 0 else "−"
        return f"{sign}{text} half-unit" + ("" if text == "1" else "s")


def number(text: str) -> tuple[str, str]:
    """Split a number before its decimal point; a minus sign is a real one."""
    whole, point, rest = text.partition(".")
    if point and rest[:1].isdigit():
        return minus(whole), f".{rest}"
    return minus(text), ""


def minus(text: str) -> str:
    """Put a real minus sign before a number."""
    return f"−{text[1:]}" if text[:1] == "-" and text[1:2].isdigit() else text


def lined_up(table: Mapping[str, Any], found: Sequence[Found]) -> dict[str, Any]:
    """Put figures into the places of a table: see `layout.tables`."""
    columns = list(table["columns"])
    rows = [
        {
            "labels": row["labels"],
            "cells": [found[i] if _known(i, found) else None for i in row["cells"]],
        }
        for row in table["rows"]
    ]
    widths = []
    for k in range(len(columns)):
        texts = [
            text
            for row in rows
            if row["cells"][k] is not None
            for text in (row["cells"][k].published, row["cells"][k].reproduced)
        ]
        widths.append(min(LONGEST, max((len(number(text)[1]) for text in texts), default=0)))
    _group(rows)
    cells = [cell for row in rows for cell in row["cells"] if cell is not None]
    heat = len(columns) >= _HEAT_FROM and len(rows) >= _HEAT_FROM
    return {
        **table,
        "rows": rows,
        "widths": widths,
        "beside": len(columns) <= _SIDE_BY_SIDE,
        "missed": sum(not cell.exact for cell in cells),
        "zero": all(cell.distance == 0 for cell in cells),
        "heat": heat,
    }


def _known(figure: Any, found: Sequence[Found]) -> bool:
    return isinstance(figure, int) and 0 <= figure < len(found)


def _group(rows: list[dict[str, Any]]) -> None:
    """Say a label of nested rows once: how many rows each stands for, 0 where it is said."""
    depth = max((len(row["labels"]) for row in rows), default=0)
    for row in rows:
        row["spans"] = [1] * len(row["labels"])
    for level in range(depth - 1):
        first = None
        for i, row in enumerate(rows):
            above: list[str] | None = None
            if first is not None:
                above = rows[first]["labels"][: level + 1]
            if above is not None and row["labels"][: level + 1] == above:
                assert first is not None
                rows[first]["spans"][level] += 1
                row["spans"][level] = 0
            else:
                first = i


def heat(distance: float | None, exact: bool) -> tuple[str, str]:
    """Class and text of a difference in half-units."""
    if distance is None:
        return "up3", "n. e."
    if distance == 0:
        return "same", "0"
    size = abs(distance)
    text = f"{size:,.0f}" if size >= 10 else f"{size:.1f}"
    text = ("+" if distance > 0 else "−") + text
    if exact:
        return "near", text
    strength = 1 + (size >= 3) + (size >= 10)
    return f"{'up' if distance > 0 else 'down'}{strength}", text


def read_number(value: Any) -> float | None:
    """Return a number of a file; nothing if it is none."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None
