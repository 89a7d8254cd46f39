"""What the benchmarks of whole specs share: the written verification, and figures missed."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

import evosynth


def written(result: evosynth.Result) -> pd.DataFrame:
    """Save a result, and read the verification that was written beside the data."""
    with tempfile.TemporaryDirectory() as folder:
        saved = result.save(Path(folder) / "out")
        return pd.read_csv(saved / "verification.csv", dtype={"published": str, "reproduced": str})


def fractions(found: Sequence[pd.DataFrame]) -> dict[str, object]:
    """Count runs with all figures exact, and figures exact in all runs together."""
    exact = [frame["exact"] for frame in found]
    return {
        "fully exact": f"{sum(run.all() for run in exact)} of {len(exact)}",
        "figures exact": f"{sum(run.sum() for run in exact):,} of {sum(map(len, exact)):,}",
    }


def seconds(found: Sequence[float]) -> dict[str, object]:
    """Median and largest search time."""
    return {
        "search s, median": f"{pd.Series(found).median():.2f}" if found else "–",
        "max": f"{max(found):.2f}" if found else "–",
    }


def listing(found: Sequence[pd.DataFrame], reason: str | None = None) -> list[dict[str, object]]:
    """Every figure that was missed in a run of the same spec, how often, how far off and why.

    What is known of why is seen from the other runs: some met all figures, or this one at least.
    """
    all_met = [number for number, frame in enumerate(found, 1) if frame["exact"].all()]
    every = pd.concat(found, ignore_index=True)
    missed = every[~every["exact"]].assign(size=lambda f: f["half_units"].abs())
    rows: list[dict[str, object]] = []
    for (output, figure), part in missed.groupby(["output", "figure"], sort=False):
        first = part.iloc[0]
        rows.append(
            {
                "figure": _cell(f"outputs[{output}] {first['kind']}: {figure}"),
                "published": _cell(first["published"]),
                "missed in": f"{len(part)} of {len(found)}",
                "half-units off, median": f"{part['size'].median():.3g}",
                "e.g.": _cell(first["reproduced"]),
                "why": _why(all_met, len(part), len(found), reason),
            }
        )
    return rows


def _why(all_met: list[int], missed: int, runs: int, reason: str | None) -> str:
    """Say what is known of a figure that some runs missed."""
    if all_met:
        seeds = ", ".join(map(str, all_met))
        return f"possible: seed{'s' * (len(all_met) > 1)} {seeds} met all figures in the time"
    if missed < runs:
        return (
            f"possible by itself ({runs - missed} runs met it), not found with the rest; {reason}"
        )
    return f"never met beside the rest; {reason}"


def _cell(text: str) -> str:
    """Text that may stand in a Markdown table."""
    return text.replace("|", r"\|").replace("*", r"\*")
