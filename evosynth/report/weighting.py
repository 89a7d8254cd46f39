"""The section on weights: what they are, whether they meet their totals, and what they cost."""

from __future__ import annotations

from typing import Any

from evosynth.errors import many
from evosynth.report.tidy import blocks, text

_MODES = {
    "a": "Published figures are unweighted; the weight was calibrated afterwards, for realism.",
    "b": "Published figures are weighted by it; the search drew it together with the data.",
}


def section(weights: dict[str, Any], variables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the parts of the section from ``weights.json`` and the variables of the report."""
    if not weights:
        return []
    ratios = weights["ratios"]
    told: dict[str, Any] = {"column": f"{weights['name']}: {weights['label']}"}
    told["use"] = _MODES[weights["mode"]]
    if weights["mode"] == "a":
        told["method"] = f"{weights['method']}, {text(weights['steps'])} Newton steps"
    for key, what in (("bounds", "the design weights"), ("trim", "their mean")):
        if weights[key] is not None:
            low, high = weights[key]
            ends = f"at least {text(low)}"
            if high is not None:
                ends = f"between {text(low)} and {text(high)}"
            told[key] = f"weights {ends} times {what}"
    if weights["round"] is not None:
        told["rounded"] = f"to {weights['round']} decimals"
    told["weights"] = (
        f"from {text(weights['min'])} to {text(weights['max'])}, mean {text(weights['mean'])}, "
        f"sum {text(weights['sum'])} (the {weights['scale']})"
    )
    for key in ("zero", "negative"):
        if weights[key]:
            told[f"{key} weights"] = weights[key]
    told["totals"] = (
        f"{len(weights['margins'])}; the largest relative error is "
        f"{_small(weights['max_relative_error'])}"
    )
    told["design effect (Kish)"] = f"{weights['design_effect']:.3f}"
    told["effective sample size"] = (
        f"{weights['effective_n']:,.0f} of {many(weights['records'], 'record')}"
    )
    quantiles = ratios["quantiles"]
    told["g-weights, final over starting weight"] = (
        f"from {ratios['min']:.3f} to {ratios['max']:.3f}, median {quantiles['0.5']:.3f}, "
        f"90 % between {quantiles['0.05']:.3f} and {quantiles['0.95']:.3f}"
    )
    rows = [_row(margin, variables) for margin in weights["margins"]]
    return blocks(
        {**told, "distribution of g-weights": ratios["histogram"], "totals, before and after": rows}
    )


def _row(margin: dict[str, Any], variables: list[dict[str, Any]]) -> dict[str, Any]:
    names, cells = margin["margin"].split(":"), str(margin["cell"]).split(":")
    known = {v["name"]: v for v in variables}
    labels, words = [], []
    for i, name in enumerate(names):
        about = known.get(name, {})
        labels.append(about.get("label") or name)
        cell = cells[i] if i < len(cells) else ""
        level = next(
            (bar[0] for bar in about.get("bars") or [] if bar[0].split(" ")[0] == cell), ""
        )
        words.append(level.partition(" ")[2] or cell)
    return {
        "variable": " by ".join(labels),
        "category": ", ".join(word for word in words if word),
        "records": margin["records"],
        "published total": margin["total"],
        "before": margin["before"],
        "after": margin["after"],
        "relative_error": _small(margin["relative_error"]),
    }


def _small(error: float) -> str:
    return f"{error:.1e}".replace("-", "−") if error else "0"
