"""How a search got there: figures exact, distance and diversity by generation, and phases."""

from __future__ import annotations

from typing import Any

from evosynth.report.pictures import curve

_PHASES = {
    "start": ("Start", "draws candidates from the distribution nearest to the published figures"),
    "evolution": ("Evolution", "breeds candidates, and changes them record by record"),
    "polish": ("Polish", "lands the best candidates inside the printed digits"),
}


def convergence(run: dict[str, Any]) -> dict[str, Any] | None:
    """Curves and phases of a run; nothing where there is no log, as with copies."""
    log = run.get("log") or []
    if not log:
        return None
    by = [row["generation"] for row in log]
    targets = run.get("targets") or run.get("figures") or 0
    diversity = [(g, 1 - row["alike"]) for g, row in zip(by, log, strict=True)]
    exact = [(g, float(row["exact"])) for g, row in zip(by, log, strict=True)]
    worst = [(g, row["worst"]) for g, row in zip(by, log, strict=True)]
    best = [(g, row["best"]) for g, row in zip(by, log, strict=True)]
    curves = [
        ("Figures exact", "of the best candidate", curve(exact, (0, max(1, targets)))),
        (
            "Farthest figure",
            "half-units of its last printed digit; below 1 it prints as published",
            curve(worst, log=True),
        ),
        ("Error", "fitness of the leading candidate", curve(best, log=True)),
        (
            "Diversity",
            "share of records that candidates do not have in common",
            curve(diversity, (0, 1)),
        ),
    ]
    return {
        "targets": targets,
        "generations": log[-1]["generation"],
        "curves": [
            {"name": name, "unit": unit, "curve": drawn, "words": _words(name, unit, log)}
            for name, unit, drawn in curves
            if drawn is not None
        ],
        "phases": _phases(run, log),
        "last": log[-1],
    }


def _words(name: str, unit: str, log: list[dict[str, Any]]) -> str:
    key = {"Figures exact": "exact", "Farthest figure": "worst", "Error": "best"}.get(name)

    def tell(row: dict[str, Any]) -> str:
        value = 1 - row["alike"] if key is None else row[key]
        return "not estimable" if value is None else f"{value:.4g}"

    first, last = log[0], log[-1]
    return (
        f"{name}, {unit}, by generation: {tell(first)} at generation {first['generation']}, "
        f"{tell(last)} at generation {last['generation']}."
    )


def _phases(run: dict[str, Any], log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tell what each phase brought, and how long it took."""
    spent = run.get("phases") or {}
    gained = dict.fromkeys(_PHASES, 0)
    better = dict.fromkeys(_PHASES, 0)
    before = 0
    for row in log:
        phase = row.get("by") or ""
        if phase in _PHASES:
            gained[phase] += row["exact"] - before
            better[phase] += 1
        before = row["exact"]
    longest = max([*spent.values(), 1e-9])
    return [
        {
            "name": name,
            "what": what,
            "gained": gained[key],
            "better": better[key],
            "seconds": spent.get(key),
            "share": (spent.get(key) or 0.0) / longest,
        }
        for key, (name, what) in _PHASES.items()
        if better[key] or key in spent
    ]
