"""Any JSON as headings, name-and-value lists and tables, so that sections need no code."""

from __future__ import annotations

import math
from typing import Any

from evosynth.report.figures import LONGEST, minus, number

_MOST_ROWS = 60
_DEEPEST = 4
_MOST_BLOCKS = 60
_NO_NUMBER = ("suppressed", "undefined")
"""What stands in the place of a number."""


def blocks(
    node: dict[str, Any], depth: int = 3, decimals: int | None = None
) -> list[dict[str, Any]]:
    """Return parts in the order of the file, each with ``heading``, ``depth`` and one content.

    Contents: ``facts`` (pairs of name and text), ``table`` (columns, rows, rows left off),
    ``picture`` (name of a file), ``bars`` (of a histogram) or ``texts``. Numbers in tables have
    ``decimals``, or six digits.
    """
    found: list[dict[str, Any]] = []
    _walk("", node, depth, decimals, found)
    empty = dict.fromkeys(("facts", "table", "picture", "bars", "texts"))
    return [{**empty, **block} for block in found[:_MOST_BLOCKS]]


def _walk(
    heading: str,
    node: dict[str, Any],
    depth: int,
    decimals: int | None,
    found: list[dict[str, Any]],
) -> None:
    plain = {k: v for k, v in node.items() if not isinstance(v, dict | list)}
    facts = [(name(k), text(v)) for k, v in plain.items() if not _picture(v)]
    if facts or heading:
        found.append({"heading": heading, "depth": min(depth, 6), "facts": facts})
    for k, v in node.items():
        if _picture(v):
            found.append({"heading": "", "depth": depth, "picture": v, "alt": name(k)})
        elif isinstance(v, list):
            _list(name(k), v, depth + bool(heading), decimals, found)
        elif isinstance(v, dict) and v:
            deeper = depth + bool(heading)
            if bars := _histogram(name(k), v):
                found.append({"heading": name(k), "depth": min(deeper, 6), "bars": bars})
            elif _columns(v):
                rows = [
                    dict(zip(v, values, strict=True)) for values in zip(*v.values(), strict=True)
                ]
                _list(name(k), rows, deeper, decimals, found)
            elif deeper - 3 < _DEEPEST:
                _walk(name(k), v, deeper, decimals, found)


def _list(
    heading: str,
    items: list[Any],
    depth: int,
    decimals: int | None,
    found: list[dict[str, Any]],
) -> None:
    if not items:
        return
    about: dict[str, Any] = {"heading": heading, "depth": min(depth, 6)}
    if all(isinstance(item, dict) for item in items):
        keys = list(dict.fromkeys(k for item in items for k in item))
        rows = [[text(item.get(k), decimals) for k in keys] for item in items[:_MOST_ROWS]]
        about["table"] = {
            "columns": [name(k) for k in keys],
            "numeric": [_lined_up([item.get(k) for item in items]) for k in keys],
            "widths": [
                min(LONGEST, max(len(number(row[i])[1]) for row in rows)) for i in range(len(keys))
            ],
            "rows": rows,
            "left": max(0, len(items) - _MOST_ROWS),
        }
        found.append(about)
        return
    pictures = [item for item in items if _picture(item)]
    for picture in pictures:
        found.append({"heading": "", "depth": depth, "picture": picture, "alt": heading})
    rest = [text(item) for item in items[:_MOST_ROWS] if not _picture(item)]
    if rest:
        found.append({**about, "texts": rest})


def _columns(node: dict[str, Any]) -> bool:
    """Whether an object holds columns of equal length, as a data frame is written."""
    lengths = {len(v) if isinstance(v, list) else -1 for v in node.values()}
    return len(lengths) == 1 and -1 not in lengths and lengths != {0}


def _histogram(heading: str, node: dict[str, Any]) -> dict[str, Any] | None:
    """Return the bars of an object of counts and of the edges between them."""
    counts, edges = node.get("counts"), node.get("edges")
    if not (isinstance(counts, list) and isinstance(edges, list)):
        return None
    if not 0 < len(counts) == len(edges) - 1 or not all(_numeric(v) for v in [*counts, *edges]):
        return None
    told = [f"{edge:.4g}".replace("-", "−") for edge in edges]
    rows = [[f"{told[i]} to {told[i + 1]}", "", n, False] for i, n in enumerate(counts)]
    return {"name": heading, "bars": rows, "ends": [told[0], told[-1]]}


def _picture(value: Any) -> bool:
    return isinstance(value, str) and value.endswith(".svg")


def _lined_up(values: list[Any]) -> bool:
    """Whether a column holds numbers, some of which may be withheld or undefined."""
    left = [value for value in values if value not in _NO_NUMBER]
    return bool(left) and all(map(_numeric, left))


def _numeric(value: Any) -> bool:
    return value in (None, "") or (isinstance(value, int | float) and not isinstance(value, bool))


def name(key: Any) -> str:
    """Return a key as people write: ``effective_n`` as Effective n, but ``baseCAPd`` as it is."""
    words = str(key).replace("_", " ").strip()
    if not words.partition(" ")[0].islower():
        return words
    return words[:1].upper() + words[1:]


def text(value: Any, decimals: int | None = None) -> str:
    """Return a value as people read it; numbers to so many decimals, or six digits."""
    if value is None:
        return "undefined"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return minus(f"{value:,}")
    if isinstance(value, float):
        if not math.isfinite(value):
            return "undefined"
        if decimals is not None:
            return minus(f"{value:,.{decimals}f}")
        return minus(f"{value:,.0f}" if abs(value) >= 1e6 else f"{value:,.6g}")
    if isinstance(value, list):
        return ", ".join(text(item) for item in value)
    if isinstance(value, dict):
        return "; ".join(f"{name(k)}: {text(v)}" for k, v in value.items())
    return str(value)
