"""Weights to start from: those that the way of drawing the sample implies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evosynth.errors import WeightsError, have, many, suggest
from evosynth.schema import FloatArray
from evosynth.weights.coding import column_of
from evosynth.weights.totals import Margin

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Sampling:
    """How a sample was drawn, or the variable that holds its design weights."""

    strata: str | None = None
    """Variable of the strata, each drawn by itself."""
    sizes: Mapping[str, float] | None = None
    """Population of each stratum; that of its totals if not given."""
    proportional_to: str | None = None
    """Quantity that the probability of a record is proportional to."""
    weight: str | None = None
    """Variable that holds the design weights."""


def design_weights(
    frame: pd.DataFrame, sampling: Sampling, margins: Sequence[Margin]
) -> FloatArray:
    """Inverse probabilities of selection, scaled to the population of each stratum.

    Without any information every record stands for equally many.
    """
    n = len(frame)
    known = [name for name in (sampling.strata, sampling.proportional_to, sampling.weight) if name]
    for name in known:
        if name not in frame.columns:
            hint = suggest(name, [str(c) for c in frame.columns])
            raise WeightsError(f"design: the data have no variable {name!r}{hint}")
        if list(frame.columns).count(name) > 1:
            raise WeightsError(f"design: the data have several variables {name!r}")
    if sampling.weight is not None:
        return _positive(frame, sampling.weight)
    share = np.ones(n)
    if sampling.proportional_to is not None:
        share = 1.0 / _positive(frame, sampling.proportional_to)
    if sampling.strata is None:
        counted = [margin.sum for margin in margins if margin.quantity is None]
        return np.asarray(share * ((counted[0] if counted else n) / share.sum()))
    column = column_of(frame, sampling.strata)
    sizes = sampling.sizes
    if sizes is None:
        own = [m for m in margins if m.names == (sampling.strata,) and m.quantity is None]
        if not own:
            remedy = f"give sizes: {{stratum: population}}, or totals of {sampling.strata!r}"
            raise WeightsError(f"design: the size of the strata is not known; {remedy}")
        sizes = {cell[0]: total for cell, total in own[0].cells.items()}
    given = {column.find(name): float(size) for name, size in sizes.items()}
    held = np.bincount(column.codes, minlength=len(column.texts)) > 0
    absent = [t for place, t in enumerate(column.texts) if held[place] and place not in given]
    if absent:
        raise WeightsError(f"design: no size is given for the strata {', '.join(absent[:5])}")
    wrong = [f"{name}: {size:g}" for name, size in sizes.items() if not 0 < size < np.inf]
    if wrong:
        raise WeightsError(f"design: sizes must be above 0, not {', '.join(wrong[:5])}")
    population = np.array([given.get(place, 0.0) for place in range(len(column.texts))])
    within = np.where(held, np.bincount(column.codes, share, len(column.texts)), 1.0)
    return np.asarray(share * (population / within)[column.codes])


def _positive(frame: pd.DataFrame, name: str) -> FloatArray:
    import pandas as pd

    values = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=float)
    wrong = int((~(np.isfinite(values) & (values > 0))).sum())
    if wrong:
        message = f"{many(wrong, 'record')} {have(wrong)} no number above 0 in {name!r}"
        raise WeightsError(f"design: {message}; leave them out, or take another variable")
    return values
