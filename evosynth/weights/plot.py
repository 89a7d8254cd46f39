"""A picture of the g-weights."""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING

import numpy as np

from evosynth.errors import WeightsError

if TYPE_CHECKING:
    from evosynth.weights.diagnostics import Calibration

_BINS = 60


def available() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(found: Calibration, path: str | os.PathLike[str]) -> None:
    """Write a histogram of new over old weights as SVG; the same weights, the same bytes."""
    if not available():
        raise WeightsError(
            "the plot needs matplotlib; install it with: pip install evosynth[plots]"
        )
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "evosynth", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7, 3.5), layout="constrained")
        axes = figure.add_subplot()
        low, high = float(found.ratios.min()), float(found.ratios.max())
        room = max(1e-3, 1e-9 * abs(high))
        ends = (low, high) if high - low > room else (low - room, high + room)
        axes.hist(found.ratios, bins=np.linspace(*ends, _BINS + 1).tolist(), color="#4c72b0")
        axes.axvline(1.0, color="black", linewidth=0.8, linestyle=":")
        for bound in found.settings.bounds or ():
            axes.axvline(bound, color="#c44e52", linewidth=0.8, linestyle="--")
        axes.set_xlabel("g-weight: weight after calibration over weight before")
        axes.set_ylabel("records")
        axes.set_title(
            f"{found.settings.method}: design effect {found.design_effect:.3f}, "
            f"effective sample size {found.effective_n:,.0f} of {len(found.weights):,}",
            fontsize=10,
        )
        figure.savefig(path, format="svg", metadata={"Date": None})
