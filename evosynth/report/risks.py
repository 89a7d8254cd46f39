"""Places the marks of the pictures of disclosure risk, from what ``risk.json`` says."""

from __future__ import annotations

from typing import Any

_MOST = 40


def pictured(risk: dict[str, Any]) -> dict[str, Any]:
    """Return bars of Dorig and DiSCO by target, riskiest first, and dots of TCAP by target.

    What the file does not hold, or holds in another form, is left out.
    """
    return {"bars": _bars(risk.get("attribution")), "dots": _dots(risk.get("protocol"))}


def _bars(rows: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"target": str(row.get("target")), "dorig": row.get("Dorig"), "disco": row.get("DiSCO")}
        for row in _objects(rows)
        if _share(row.get("Dorig")) and _share(row.get("DiSCO"))
    ]
    return sorted(found, key=lambda row: -row["disco"])[:_MOST]


def _dots(rows: Any) -> list[dict[str, Any]]:
    """One line per target: a mark for each comparison, with its interval, and the baseline."""
    found: dict[str, dict[str, Any]] = {}
    for row in _objects(rows):
        if not _share(row.get("raw")):
            continue
        name = str(row.get("target"))
        own = found.setdefault(name, {"target": name, "marks": [], "baseline": None})
        if _share(row.get("baseline")):
            own["baseline"] = row["baseline"]
        ends = [row.get("low"), row.get("high")]
        comparison = str(row.get("comparison"))
        own["marks"].append(
            {
                "of": comparison,
                "x": row["raw"],
                "ends": ends if all(_share(end) for end in ends) else None,
                "kind": _KINDS.get(comparison, "other"),
            }
        )
    return list(found.values())[:_MOST]


_KINDS = {"original -> synthetic": "inside", "holdout -> synthetic": "outside"}


def _objects(rows: Any) -> list[dict[str, Any]]:
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100
