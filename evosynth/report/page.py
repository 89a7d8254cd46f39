"""The page: what stands in it, from what the files of a folder say."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from jinja2 import TemplateError

from evosynth.errors import FolderError
from evosynth.notice import FORBIDDEN, NOTICE
from evosynth.report.figures import LONGEST, Found, lined_up, number
from evosynth.report.folder import PAGE, Folder, read
from evosynth.report.pictures import forest
from evosynth.report.progress import convergence
from evosynth.report.rendering import render
from evosynth.report.risks import pictured
from evosynth.report.risks import section as risks
from evosynth.report.weighting import section as weighting
from evosynth.report.words import kind

_MOST_MISSES = 200
_FIRST_MISSES = 15
_MOST_OVERLAPS = 50


def make(folder: str | os.PathLike[str]) -> Path:
    """Write ``report.html`` into the folder of a run, from its files alone."""
    from evosynth.write import write_whole

    place = Path(folder)
    path = place / PAGE
    write_whole(path, page(read(place)), force=True)
    return path


def page(folder: Folder) -> str:
    """Return the page as text."""
    try:
        return render("report.html", **context(folder))
    except (LookupError, TypeError, ValueError, AttributeError, TemplateError) as error:
        remedy = "it was changed by hand, or written by another version; run it anew"
        raise FolderError(
            f"a file of the folder cannot be understood ({error!r}); {remedy}"
        ) from error


def context(folder: Folder) -> dict[str, Any]:
    """Everything that the template shows."""
    run, about = {"stopped": "", **folder.run}, folder.facts
    outputs = [
        _output(position, output, folder.found.get(position, []))
        for position, output in enumerate(about["outputs"])
    ]
    figures = sum(len(found) for found in folder.found.values())
    exact = sum(f.exact for found in folder.found.values() for f in found)
    misses = _misses(outputs)
    broken = [rule for rule in folder.rules if rule["kept"] != "True"]
    return {
        "title": about["title"] or "Synthetic teaching data",
        "named": bool(about["title"]),
        "source": about["source"],
        "notice": NOTICE,
        "forbidden": FORBIDDEN,
        "figures": figures,
        "exact": exact,
        "missed": figures - exact,
        "records": about["records"],
        "run": run,
        "copies": run.get("copies"),
        "command": about["command"],
        "seconds": sum(run.get("seconds", {}).values()),
        "outputs": outputs,
        "misses": misses,
        "miss_width": min(LONGEST, max((_tail(m["figure"]) for m in misses), default=0)),
        "most_misses": _MOST_MISSES,
        "first_misses": _FIRST_MISSES,
        "rules": folder.rules,
        "broken": broken,
        "contradictions": run.get("contradictions", []),
        "variables": about["variables"],
        "associations": {**about["associations"], "of": about["records"]},
        "files": about["files"],
        "examples": about["examples"],
        "spec": about["spec"],
        "spec_cut": about["spec_cut"],
        "progress": convergence(run),
        "overlap": _overlap(folder.overlap),
        "weights": weighting(folder.weights, about["variables"]),
        "risk": risks(folder.risk),
        "verdict": folder.risk.get("verdict"),
        "risk_pictures": pictured(folder.risk),
        "pictures": folder.pictures,
    }


def _output(position: int, about: dict[str, Any], found: list[Found]) -> dict[str, Any]:
    """Return an output with its figures where a paper would print them."""
    shown = about["tables"]
    return {
        **about,
        "position": position,
        "words": kind(about["kind"]),
        "tables": None if shown is None else [lined_up(table, found) for table in shown],
        "found": found,
        "names": _names(shown or []),
        "exact": sum(f.exact for f in found),
        "missed": [f for f in found if not f.exact],
        "forest": _forest(about.get("forest"), found),
        "references": about.get("references") or [],
        "weight": about.get("weight"),
    }


def _names(tables: list[dict[str, Any]]) -> dict[int, str]:
    """Name figures by their row and column."""
    found = {}
    for table in tables:
        for row in table["rows"]:
            for column, figure in zip(table["columns"], row["cells"], strict=True):
                told = [*row["labels"], *([] if column == "Value" else [column])]
                found[figure] = " · ".join(text for text in told if text)
    return found


def _forest(about: dict[str, Any] | None, found: list[Found]) -> dict[str, Any] | None:
    """Place the estimates of a model beside those in print."""
    if not about:
        return None
    rows = []
    for row in about["rows"]:
        printed = [found[i] if i is not None and i < len(found) else None for i in row["published"]]
        rows.append(
            {
                "label": row["label"],
                "equation": row["equation"],
                "estimate": row["estimate"],
                "published": [_value(figure) for figure in printed],
                "exact": all(figure is None or figure.exact for figure in printed),
                "text": _interval(row["estimate"]),
            }
        )
    placed = forest(rows, about["ratio"])
    return None if placed is None else {**placed, **{k: about[k] for k in ("ratio", "level")}}


def _value(figure: Found | None) -> float | None:
    try:
        return None if figure is None else float(figure.published)
    except ValueError:  # a bound such as <0.001 has no place on an axis
        return None


def _interval(estimate: list[float | None]) -> str:
    """Say an estimate with its interval, to as many digits as the interval's width deserves."""
    value, low, high = estimate
    if value is None:
        return ""
    width = value if low is None or high is None else high - low
    size = math.floor(math.log10(abs(width))) if width else 0
    decimals = min(max(1 - size, 0), 8)

    def tell(x: float) -> str:
        return f"{x:,.{decimals}f}".replace("-", "−")

    return (
        tell(value)
        if low is None or high is None
        else (f"{tell(value)} ({tell(low)} to {tell(high)})")
    )


def _misses(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every miss, the farthest first."""
    found = [
        {"output": output, "figure": figure, "name": output["names"].get(i, figure.label)}
        for output in outputs
        for i, figure in enumerate(output["found"])
        if not figure.exact
    ]

    def size(miss: dict[str, Any]) -> float:
        distance = miss["figure"].distance
        return float("inf") if distance is None else abs(distance)

    return sorted(found, key=size, reverse=True)


def _tail(figure: Found) -> int:
    """Characters of a figure from its decimal point on."""
    return max(len(number(text)[1]) for text in (figure.published, figure.reproduced))


def _overlap(rows: list[dict[str, str]]) -> dict[str, Any] | None:
    if not rows:
        return None
    shares = [float(row["share"]) for row in rows]
    most = sorted(rows, key=lambda row: -float(row["share"]))
    return {
        "mean": sum(shares) / len(shares),
        "most": max(shares),
        "rows": most[:_MOST_OVERLAPS],
        "left": max(0, len(rows) - _MOST_OVERLAPS),
    }
