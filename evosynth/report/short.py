"""The short form of a report, as a notebook shows a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evosynth.codebook import reproduced
from evosynth.report.figures import Found, read_number
from evosynth.report.rendering import render
from evosynth.report.words import kind

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.synthesis import Result

_SHOWN = 10


def found(row: Mapping[Any, Any]) -> Found:
    """Return a row of a verification."""
    return Found(
        str(row["figure"]),
        str(row["published"]),
        str(row["reproduced"]),
        bool(row["exact"]),
        read_number(row["value"]),
        read_number(row["half_units"]),
    )


def missed(verification: pd.DataFrame) -> list[Found]:
    """Every miss, the farthest first."""
    rows = [found(row) for row in verification.to_dict("records") if not row["exact"]]
    return sorted(rows, key=lambda f: float("-inf") if f.distance is None else -abs(f.distance))


def short(result: Result) -> str:
    """Return a result as HTML."""
    verification, spec = result.verification, result.spec
    misses = missed(verification)
    return render(
        "short.html",
        title=spec.title or "Synthetic teaching data",
        figures=len(verification),
        exact=int(verification["exact"].sum()),
        missed=len(misses),
        broken=int((~result.rules["kept"]).sum()) if spec.bound else 0,
        records=spec.schema.records,
        variables=len(spec.schema.shown),
        seed=result.seed,
        generations=result.generations,
        stopped=result.stopped,
        outputs=[(n, kind(k), all_, done) for n, k, all_, done in reproduced(spec, verification)],
        misses=misses[:_SHOWN],
        more=max(0, len(misses) - _SHOWN),
    )
