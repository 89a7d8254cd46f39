"""The weight column of synthetic data: made, measured in the written file, and told of."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.errors import WeightsError, are, many
from evosynth.schema import Variable
from evosynth.weights import plot
from evosynth.weights.calibrate import calibrated
from evosynth.weights.coding import Coded, encode
from evosynth.weights.diagnostics import Calibration, margin_table
from evosynth.weights.newton import TOLERANCE
from evosynth.weights.spec import Weighting

if TYPE_CHECKING:
    import pandas as pd

JSON, CSV, PLOT = "weights.json", "weights.csv", "weights.svg"


def weigh(data: pd.DataFrame, weighting: Weighting) -> Calibration:
    """Weight records as a spec says: by calibration, or by the weights that they have."""
    if not weighting.weighted:
        try:
            return calibrated(
                data, weighting.margins, weighting.settings, weighting.name, weighting.label
            )
        except WeightsError as error:
            raise WeightsError(f"the weights of the spec:\n{error}") from error
    weights = data[weighting.name].to_numpy(dtype=float)
    coded, _ = encode(data, weighting.margins)
    even = np.full(len(weights), weights.mean())
    table = _measured(coded, even, weights)
    about = weighting.name, weighting.label, weighting.settings
    return Calibration(*about, weights, even, weights / even, table, 0, 0.0, "b")


def measure(found: Calibration, data: pd.DataFrame, weighting: Weighting) -> Calibration:
    """Take the margins anew from data as they were written."""
    weights = data[found.name].to_numpy(dtype=float)
    coded, _ = encode(data, weighting.margins)
    factor = found.factor
    table = _measured(coded, found.design, weights, factor)
    return replace(found, weights=weights, margins=table)


def _measured(coded: Coded, before: Any, after: Any, factor: float = 1.0) -> pd.DataFrame:
    return margin_table(coded, before, after, factor)


def variable(found: Calibration) -> Variable:
    """Return the weight as a variable of data files."""
    values = np.unique(found.weights)
    decimals = 6 if found.settings.decimals is None else found.settings.decimals
    share = np.full(len(values), 1 / len(values))
    if decimals == 0:
        values = values.astype(np.int64)
    return Variable(found.name, found.label, values, None, share, decimals=decimals)


def write(found: Calibration, folder: Path) -> list[str]:
    """Write diagnostics, with a plot where matplotlib is; return the names of the files."""
    files = [JSON, CSV]
    drawn = plot.available()
    if drawn:
        found.plot(folder / PLOT)
        files.append(PLOT)
    about = {**found.summary(), "plot": PLOT if drawn else None}
    text = json.dumps(about, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / JSON).write_text(text + "\n", encoding="utf-8", newline="\n")
    found.margins.to_csv(folder / CSV, index=False, lineterminator="\n")
    return files


def told(found: Calibration) -> list[str]:
    """Say in a few lines what the weights are like."""
    ratios = found.ratios
    lines = [
        f"{found.name}: {many(len(found.weights), 'weight')} from {found.weights.min():.6g} to "
        f"{found.weights.max():.6g}, sum {found.weights.sum():,.6f}".rstrip("0").rstrip(".")
        + f"; design effect {found.design_effect:.3f}, effective sample size "
        f"{found.effective_n:,.0f}.",
    ]
    if len(found.margins):
        every, error = len(found.margins), f"{found.max_relative_error:.1e}"
        met = int((found.margins["relative_error"].abs() <= TOLERANCE).sum())
        told = f"{many(every, 'total')} met"
        if met < every:
            told = f"{met} of {told}"
        if met < every and found.settings.decimals is not None and found.mode == "a":
            told = f"{many(every, 'total')} met but for rounding"
        lines.append(f"{told}, the largest relative error is {error}.")
    if found.mode == "a":
        lines.append(
            f"g-weights from {ratios.min():.3f} to {ratios.max():.3f}, median "
            f"{np.median(ratios):.3f} ({found.settings.method}, {many(found.steps, 'step')})."
        )
    negative = int((found.weights < 0).sum())
    if negative:
        lines.append(
            f"{many(negative, 'weight')} {are(negative)} negative, as the linear method allows."
        )
    if zero := int((found.weights == 0).sum()):
        lines.append(
            f"{many(zero, 'weight')} {are(zero)} 0, as the {found.settings.method} method allows."
        )
    return lines


def section(found: Calibration) -> str:
    """Return what the codebook says of the weights, in Markdown."""
    from evosynth.codebook import plain

    lines = ["", "## Weights", "", *told(found)]
    if len(found.margins):
        lines += ["", "| margin | value | records | total | before | after |"]
        lines += ["|---|---|---:|---:|---:|---:|"]
        for row in found.margins.to_dict("records"):
            numbers = " | ".join(f"{row[key]:,.10g}" for key in ("total", "before", "after"))
            name, cell = plain(row["margin"]), plain(row["cell"])
            lines.append(f"| {name} | {cell} | {row['records']:,} | {numbers} |")
    return "\n".join(lines) + "\n"
