"""What weights do: margins before and after, how uneven they are, and what that costs."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.schema import FloatArray, IntArray
from evosynth.weights.coding import Coded
from evosynth.weights.newton import measure_of

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.weights.calibrate import Settings

_BINS = 30
_QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def design_effect(weights: FloatArray) -> float:
    """Kish's design effect of unequal weights, n Σw² / (Σw)²."""
    return float(len(weights) * (weights @ weights) / weights.sum() ** 2)


@dataclass(frozen=True)
class Calibration:
    """Weights, and how they came about."""

    name: str
    label: str
    settings: Settings
    weights: FloatArray = field(repr=False)
    design: FloatArray = field(repr=False)
    """Weights before calibration."""
    ratios: FloatArray = field(repr=False)
    """The g-weights: new over design weight, before scaling and rounding."""
    margins: pd.DataFrame = field(repr=False)
    """One row per total: ``margin``, ``cell``, ``records``, ``total``, ``before``, ``after`` and
    ``relative_error``, on the scale of the weights. The error of a total next to 0 is relative to
    the sum of absolute values before."""
    steps: int
    solved_to: float
    """Largest relative error before rounding."""
    mode: str = "a"
    """``"a"``: added afterwards; ``"b"``: published outputs are weighted."""

    @property
    def max_relative_error(self) -> float:
        """Of all totals under the final weights."""
        return float(self.margins["relative_error"].abs().max())

    @property
    def design_effect(self) -> float:
        """Kish's design effect."""
        return design_effect(self.weights)

    @property
    def effective_n(self) -> float:
        """Records of equal weight that would tell as much."""
        return len(self.weights) / self.design_effect

    @property
    def factor(self) -> float:
        """What the population was scaled by."""
        if self.settings.scale == "population":
            return 1.0
        return len(self.weights) / float(self.design @ self.ratios)

    def summary(self) -> dict[str, Any]:
        """Return what ``weights.json`` says."""
        ratios, weights, settings = self.ratios, self.weights, self.settings
        counts, edges = np.histogram(ratios, _BINS)
        return {
            "name": self.name,
            "label": self.label,
            "mode": self.mode,
            "method": settings.method,
            "bounds": _finite(settings.bounds),
            "trim": _finite(settings.trim),
            "scale": settings.scale,
            "round": settings.decimals,
            "records": len(weights),
            "sum": float(weights.sum()),
            "mean": float(weights.mean()),
            "min": float(weights.min()),
            "max": float(weights.max()),
            "zero": int((weights == 0).sum()),
            "negative": int((weights < 0).sum()),
            "steps": self.steps,
            "max_relative_error": self.max_relative_error,
            "max_relative_error_before_rounding": self.solved_to,
            "design_effect": self.design_effect,
            "effective_n": self.effective_n,
            "ratios": {
                "min": float(ratios.min()),
                "max": float(ratios.max()),
                "mean": float(ratios.mean()),
                "sd": float(ratios.std()),
                "quantiles": {
                    f"{q:g}": float(v)
                    for q, v in zip(_QUANTILES, np.quantile(ratios, _QUANTILES), strict=True)
                },
                "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
            },
            "margins": self.margins.to_dict("records"),
        }

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw the distribution of the g-weights as SVG; needs matplotlib."""
        from evosynth.weights.plot import draw

        draw(self, path)


def _finite(bounds: tuple[float, float] | None) -> list[float | None] | None:
    """Write bounds as JSON has them, where no number is infinite."""
    return None if bounds is None else [float(b) if np.isfinite(b) else None for b in bounds]


def _sums(cells: IntArray, weights: FloatArray, size: int) -> FloatArray:
    return np.bincount(cells, weights, size)[:size].astype(np.float64)


def margin_table(
    coded: Coded, design: FloatArray, weights: FloatArray, factor: float
) -> pd.DataFrame:
    """Compare weighted sums before and after with totals, all on the scale of the weights."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    column = 0
    start = design * factor
    for margin, cells in zip(coded.margins, coded.codes, strict=True):
        size = len(margin.cells)
        cells = np.where(cells < 0, size, cells)  # records that a weighted total leaves out
        held = np.bincount(cells, minlength=size)
        if margin.quantity is None:
            before, after = (_sums(cells, w, size) for w in (start, weights))
            usual = before
        else:
            own = coded.quantities[:, column : column + size]
            before, after = start @ own, weights @ own
            usual = start @ np.abs(own)
            column += size
        wanted = np.array([*margin.cells.values()]) * factor
        counts = size if margin.quantity is None else 0
        relative = (after - wanted) / measure_of(wanted, usual, counts)
        for position, cell in enumerate(margin.cells):
            rows.append(
                {
                    "margin": margin.label,
                    "cell": ":".join(cell),
                    "records": int(held[position]),
                    "total": float(wanted[position]),
                    "before": float(before[position]),
                    "after": float(after[position]),
                    "relative_error": float(relative[position]),
                }
            )
    return pd.DataFrame(rows)
