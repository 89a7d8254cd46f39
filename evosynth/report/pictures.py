"""Where the marks of small pictures go: bars, forest plots and curves, as shares of a width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from evosynth.codebook import Described

MOST_BARS = 40
_MOST_POINTS = 300
_FAR = 4.0
"""Ranges of the estimates beyond which an interval is cut off."""


def bars(described: Described) -> dict[str, Any]:
    """Tell what a picture of a distribution needs: per bar its name, short name, count, kind."""
    variable, counts = described.variable, described.counts.tolist()
    rows = []
    for i, count in enumerate(counts if len(counts) <= MOST_BARS else []):
        if variable.labels is not None:
            blank = variable.blank and i == variable.size - 1
            code = "blank" if blank else variable.texts[i]
            label = "No value" if blank else variable.labels[i]
            rows.append([f"{code} {label}".strip(), code, count, i >= variable.valid])
            continue
        low, high = (float(described.edges[i + k]) for k in (0, 1))
        name = f"{low:g} to {high:g}"
        if variable.date:
            first, last = (np.datetime64(int(np.ceil(end)), "D") for end in (low, high - 1))
            name = f"{first} to {last}"
        rows.append([name, "", count, False])
    ends = None
    if variable.labels is None and len(counts):
        ends = [variable.texts[0], variable.texts[variable.valid - 1]]
    return {
        "name": variable.name,
        "label": variable.label,
        "summary": described.summary,
        "bars": rows,
        "ends": ends,
        "levels": len(counts) if variable.categorical and not variable.identifier else None,
        "missing": described.missing,
    }


def drawn_bars(about: dict[str, Any]) -> dict[str, Any] | None:
    """Place the bars of a distribution; nothing if there is nothing to draw."""
    rows = about["bars"]
    most = max((row[2] for row in rows), default=0)
    if not most:
        return None
    step = 100 / len(rows)
    gap = 0.25 * step if about["ends"] is None else min(0.4, 0.2 * step)
    longest = max(1, int(40 / len(rows)))
    placed = [
        {
            "x": i * step + gap / 2,
            "middle": (i + 0.5) * step,
            "width": step - gap,
            "share": row[2] / most,
            "title": f"{row[0]}: {row[2]:,}",
            "below": row[1] if len(row[1]) <= longest else row[1][: longest - 1] + "…",
            "missing": row[3],
        }
        for i, row in enumerate(rows)
    ]
    spoken = "; ".join(bar["title"] for bar in placed)
    words = f"Distribution of {about['name']}. {spoken}."
    return {"bars": placed, "most": most, "ends": about["ends"], "words": words}


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers from one end of an axis to the other."""
    if not high > low:
        return [low]
    raw = (high - low) / wanted
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * m for m in (1, 2, 5, 10) if size * m >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Round ratios between two logarithms."""
    every = range(math.floor(low / math.log(10)) - 1, math.ceil(high / math.log(10)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.2, 1.4, 1.6, 1.8)):
        found = [m * 10.0**e for e in every for m in steps]
        found = [t for t in found if low - 1e-9 <= math.log(t) <= high + 1e-9]
        if len(found) >= 3:
            return found[:: -(-len(found) // 7)]
    return [math.exp(low), 1.0, math.exp(high)] if low < 0 < high else [math.exp(low)]


def forest(rows: Sequence[dict[str, Any]], ratio: bool) -> dict[str, Any] | None:
    """Place estimates and intervals on one axis, logarithmic where they are ratios.

    ``rows``: ``label``, ``equation``, ``estimate`` and ``published``, each value, low and high.
    """

    def scaled(x: float | None) -> float | None:
        if x is None or not math.isfinite(x) or (ratio and x <= 0):
            return None
        return math.log(x) if ratio else x

    placed = [{k: [scaled(x) for x in row[k]] for k in ("estimate", "published")} for row in rows]
    points = [x for p in placed for k in p if (x := p[k][0]) is not None] + [0.0]
    ends = [x for p in placed for k in p for x in p[k] if x is not None] + [0.0]
    if len(points) < 2:
        return None
    reach = _FAR * max(max(points) - min(points), 1e-12)
    low, high = max(min(ends), min(points) - reach), min(max(ends), max(points) + reach)
    room = 0.03 * (high - low) or 1.0
    low, high = low - room, high + room

    def at(x: float | None) -> float | None:
        return None if x is None else 100 * (min(max(x, low), high) - low) / (high - low)

    marks = log_ticks(low, high) if ratio else ticks(low, high, 4)
    return {
        "zero": at(0.0),
        "ticks": [
            {"x": at(math.log(t) if ratio else t), "text": f"{t:,.6g}".replace("-", "−")}
            for t in marks
        ],
        "rows": [
            {
                **row,
                "at": [at(x) for x in p["estimate"]],
                "printed": [at(x) for x in p["published"]],
                "cut": [x is not None and not low <= x <= high for x in p["estimate"]],
            }
            for row, p in zip(rows, placed, strict=True)
        ],
    }


def curve(
    points: Sequence[tuple[float, float | None]],
    ends: tuple[float, float] | None = None,
    log: bool = False,
) -> dict[str, Any] | None:
    """Place a curve in a square of 100 by 100; ``ends`` of the vertical axis if they are known."""
    known = [(x, y) for x, y in points if y is not None and math.isfinite(y)]
    if len(known) < 2:
        return None
    every = -(-len(known) // _MOST_POINTS)
    known = [*known[:-1:every], known[-1]]
    least = min((y for _, y in known if y > 0), default=1.0)  # where a logarithm must stop
    heights = [math.log10(max(y, least)) if log else y for _, y in known]
    low, high = ends if ends is not None else (min(heights), max(heights))
    if log:
        low, high = math.floor(low), math.ceil(high)
    high = high if high > low else low + 1
    first, last = known[0][0], known[-1][0]
    width = last - first or 1.0
    marks = [m for m in ticks(low, high, 4) if high - m > 0.12 * (high - low)] + [high]
    if log:
        marks = [float(k) for k in range(int(low), int(high) + 1, max(1, -(-int(high - low) // 4)))]
    return {
        "line": " ".join(
            f"{100 * (x - first) / width:.2f},{100 - 100 * (h - low) / (high - low):.2f}"
            for (x, _), h in zip(known, heights, strict=True)
        ),
        "marks": [
            {
                "y": 100 - 100 * (m - low) / (high - low),
                "text": _power(int(m)) if log else f"{m:,.6g}",
            }
            for m in marks
        ],
        "ends": [first, last],
    }


def _power(exponent: int) -> str:
    if -3 <= exponent <= 5:
        return f"{10.0**exponent:,.10g}"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
