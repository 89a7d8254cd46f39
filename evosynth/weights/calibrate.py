"""Calibration of a data frame: from totals to weights, or to the reason why there are none."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from evosynth.errors import WeightsError, have, many
from evosynth.schema import FloatArray, IntArray
from evosynth.weights import conflicts
from evosynth.weights.coding import Coded, encode, named
from evosynth.weights.design import Sampling, design_weights
from evosynth.weights.diagnostics import Calibration, margin_table
from evosynth.weights.distance import METHODS, Method, distance
from evosynth.weights.matrix import Matrix
from evosynth.weights.newton import Solution, measure_of, solve
from evosynth.weights.rounding import whole_units, within
from evosynth.weights.totals import Margin, from_csv, inline, scaled, text_of

if TYPE_CHECKING:
    import pandas as pd

Scale: TypeAlias = Literal["population", "sample"]
Totals: TypeAlias = Mapping[str, Any] | str | os.PathLike[str]
Bounds: TypeAlias = tuple[float, float] | None
_MOST_BYTES = 64 * 2**20
_BARELY = 1e-9
"""By what share bounds may be missed."""
_NOTHING = 1e-10
"""Ratio to the design weight, beside the largest, below which a weight is 0."""


@dataclass(frozen=True)
class Settings:
    """How to calibrate."""

    method: Method = "raking"
    bounds: Bounds = None
    """Smallest and largest ratio of new to old weight."""
    trim: Bounds = None
    """Smallest and largest weight, in mean weights."""
    scale: Scale = "population"
    decimals: int | None = None
    population: float | None = None
    sampling: Sampling = Sampling()

    def faults(self) -> list[str]:
        """Say what is wrong with the settings."""
        found = []
        if self.method not in METHODS:
            found.append(f"method: there is no {self.method!r}; there are {', '.join(METHODS)}")
        if self.bounds is None and self.method in {"logit", "truncated linear"}:
            found.append(f"bounds: {self.method} needs them, such as [0.3, 3]")
        for name, pair in (("bounds", self.bounds), ("trim", self.trim)):
            if pair is None:
                continue
            if not _numbers(pair, 2):
                found.append(f"{name}: expected two numbers, such as (0.3, 3), not {pair!r}")
            elif not 0 <= pair[0] < 1 < pair[1]:
                found.append(f"{name}: [{pair[0]:g}, {pair[1]:g}] must lie around 1, from 0 up")
            elif name == "bounds" and self.method == "logit" and not np.isfinite(pair[1]):
                found.append("bounds: logit needs a finite upper one; raking does without")
        if self.scale not in ("population", "sample"):
            found.append(f"scale: population or sample, not {self.scale!r}")
        if isinstance(self.decimals, bool) or self.decimals not in (None, *range(10)):
            found.append(f"round: decimals from 0 to 9, not {self.decimals!r}")
        if self.population is not None:
            if not (_numbers([self.population], 1) and 0 < self.population < np.inf):
                found.append(f"population: must be a number above 0, not {self.population!r}")
        return found


def _numbers(values: Any, many: int) -> bool:
    """Whether this is a sequence of so many real numbers."""
    return (
        isinstance(values, Sequence | np.ndarray)
        and len(values) == many
        and all(isinstance(v, int | float | np.integer | np.floating) for v in values)
    )


def calibrate(
    frame: pd.DataFrame,
    totals: Totals | Sequence[Totals],
    *,
    method: Method = "raking",
    bounds: Bounds = None,
    design: str | Mapping[str, Any] | None = None,
    population: float | None = None,
    scale: Scale = "population",
    round: int | None = None,
    trim: Bounds = None,
    name: str = "WEIGHT",
    label: str = "Calibration weight",
) -> Calibration:
    """Weight records so that weighted totals are as given.

    Parameters
    ----------
    frame
        The records.
    totals
        By variable, ``{"SEX": {1: 210000, 2: 225000}}``; crossed, ``{"SEX:REGION": {1: {1: …}}}``;
        of a quantity, ``{"INCOME": 3.2e9}`` or ``{"INCOME by SEX": {1: …}}``; of all records,
        ``{"total": 435000}``. Or the name of a CSV file, or a list of such mappings and files.
    method
        ``"raking"``, ``"linear"``, ``"logit"`` or ``"truncated linear"``.
    bounds
        Smallest and largest ratio of new to design weight; ``"logit"`` and ``"truncated linear"``
        need them.
    design
        Variable that holds design weights, or how the sample was drawn: ``{"strata": "REGION",
        "sizes": {1: 20000}, "proportional_to": "STAFF"}``. Equal weights if not given.
    population
        Size of the population; totals of records are then shares, and scaled to it.
    scale
        ``"population"``, or ``"sample"`` for weights that sum to the number of records.
    round
        Decimals of the weights; totals are then met as nearly as that allows.
    trim
        Smallest and largest weight, in mean weights; totals are met all the same.
    name, label
        Of the column.

    Raises
    ------
    WeightsError
        With every reason why there are no such weights; there is no half-calibrated result.
    """
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise WeightsError(f"expected a pandas data frame, not {type(frame).__name__}")
    bounds, trim = _pair(bounds), _pair(trim)
    settings = Settings(method, bounds, trim, scale, round, population, _sampling(design))
    margins, faults = read_totals(totals)
    if faults:
        raise WeightsError("\n".join(faults))
    return calibrated(frame, margins, settings, name, label)


def _pair(given: Any) -> Any:
    """Take an array or a list of two for a pair; anything else is told of later."""
    return tuple(given) if isinstance(given, list | np.ndarray) and np.ndim(given) == 1 else given


def _sampling(design: str | Mapping[str, Any] | None) -> Sampling:
    if design is None:
        return Sampling()
    if isinstance(design, str):
        return Sampling(weight=design)
    if not isinstance(design, Mapping):
        raise WeightsError(f"design: expected a variable or a mapping, not {design!r}")
    unknown = set(design) - {"strata", "sizes", "proportional_to", "weight"}
    if unknown:
        known = "strata, sizes, proportional_to and weight"
        raise WeightsError(f"design: unknown {', '.join(sorted(unknown))}; there are {known}")
    sizes = design.get("sizes")
    if sizes is not None:
        if not isinstance(sizes, Mapping) or not _numbers([*sizes.values()], len(sizes)):
            raise WeightsError(f"design: sizes: expected {{stratum: population}}, not {sizes!r}")
        sizes = {text_of(stratum): float(size) for stratum, size in sizes.items()}
    return Sampling(**{**design, "sizes": sizes})


def read_totals(totals: Totals | Sequence[Totals]) -> tuple[list[Margin], list[str]]:
    """Read mappings and CSV files."""
    several = totals if isinstance(totals, list | tuple) else [totals]
    margins: list[Margin] = []
    faults: list[str] = []
    for part in several:
        if isinstance(part, Mapping):
            found, wrong = inline(part)
        elif isinstance(part, str | os.PathLike):
            file = Path(part)
            try:
                if file.stat().st_size > _MOST_BYTES:
                    raise WeightsError(f"{file}: larger than {_MOST_BYTES // 2**20} MiB")
                text = file.read_bytes().decode("utf-8-sig")
            except OSError as error:
                faults.append(f"{file}: cannot be read: {error.strerror or error}")
                continue
            except UnicodeDecodeError:
                faults.append(f"{file}: not UTF-8 text; save the file as UTF-8")
                continue
            found, wrong = from_csv(text, (), str(file))
        else:
            raise WeightsError(f"totals: expected a mapping or a file, not {part!r}")
        margins += found
        faults += [f"{f.place}: {f.message}" if f.place else f.message for f in wrong]
    return margins, faults


def calibrated(
    frame: pd.DataFrame, margins: Sequence[Margin], settings: Settings, name: str, label: str
) -> Calibration:
    """Calibrate records to margins."""
    faults = settings.faults()
    repeated = {m.label for m in margins if [o.label for o in margins].count(m.label) > 1}
    faults += [f"the totals of {again} are given twice" for again in sorted(repeated)]
    if not margins:
        faults.append("there are no totals")
    if not len(frame):
        faults.append("there are no records")
    if not (isinstance(name, str) and name.strip() and name.isprintable()):
        faults.append(f"name: expected the name of a column, not {name!r}")
    if faults:
        raise WeightsError("\n".join(faults))
    if settings.population is not None:
        margins = scaled(margins, settings.population)
    frame = named(frame)
    coded, faults = encode(frame, margins)
    faults += conflicts.sums(margins)
    if faults:
        raise WeightsError("\n".join(faults))
    design = design_weights(frame, settings.sampling, coded.margins)
    start, low, high = _limits(design, coded, settings)
    solution, faults = _solved(coded, start, low, high, settings)
    if faults:
        raise WeightsError("\n".join(faults))
    nothing = np.abs(solution.ratios) < _NOTHING * np.abs(solution.ratios).max()
    if settings.method in {"raking", "logit"} and nothing.any():
        raise WeightsError(conflicts.vanishing(coded, nothing, settings.method))
    weights = np.where(nothing, 0.0, start * solution.ratios)
    factor = len(weights) / weights.sum() if settings.scale == "sample" else 1.0
    final = weights * factor
    unrounded = float(np.abs(solution.error).max(initial=0.0))
    if settings.decimals is not None:
        limits = factor * start * low, factor * start * high
        final = _rounded(final, coded, *limits, settings)
    table = margin_table(coded, design, final, factor)
    return Calibration(
        name, label, settings, final, design, weights / design, table, solution.steps, unrounded
    )


def _rounded(
    weights: FloatArray, coded: Coded, low: FloatArray, high: FloatArray, settings: Settings
) -> FloatArray:
    """Round to decimals, within the bounds and above 0 where the method keeps weights there."""
    digits, unit = settings.decimals or 0, 10.0 ** (settings.decimals or 0)
    order = np.lexsort(coded.codes[::-1]) if coded.codes else np.arange(len(weights))
    wanted = (weights * unit)[order]
    least = np.broadcast_to(np.ceil(low * unit * (1 - _BARELY)), len(weights))[order]
    most = np.broadcast_to(np.floor(high * unit * (1 + _BARELY)), len(weights))[order]
    if settings.method in {"raking", "logit"}:
        least = np.maximum(least, 1.0)
    units = whole_units(wanted)
    outside = (units < least) | (units > most)
    if outside.any():
        cells = [codes[order] for codes, _ in zip(coded.codes, coded.counts, strict=False)]
        inside = within(wanted, least, most) if (least <= most).all() else wanted
        if inside is wanted or _cost(inside - wanted, cells) > 2 * _cost(units - wanted, cells) + 1:
            none, beyond = int((outside & (units == 0)).sum()), int(outside.sum())
            what = f"{many(none, 'weight')} would be rounded to 0"
            if not none:
                what = f"{many(beyond, 'weight')} would be rounded beyond the bounds"
            remedy = ", or scale: population" if settings.scale == "sample" else ""
            raise WeightsError(f"round: {what}; take more decimals{remedy}")
        units = inside
    found = np.empty_like(weights)
    found[order] = units
    return np.round(found / unit, digits)


def _cost(change: FloatArray, cells: Sequence[IntArray]) -> float:
    """Largest change of a total of records, in units."""
    changes = [np.bincount(codes, change) for codes in cells]
    return max(abs(float(change.sum())), *(float(np.abs(c).max()) for c in changes), 0.0)


def _limits(
    design: FloatArray, coded: Coded, settings: Settings
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights to start from, and bounds of the ratios to them."""
    low, high = settings.bounds or ((0.0 if settings.method != "linear" else -np.inf), np.inf)
    if settings.trim is None:
        return design, np.array(low), np.array(high)
    counted = [margin.sum for margin in coded.counts]
    mean = (counted[0] if counted else float(design.sum())) / len(design)
    least, most = settings.trim[0] * mean, settings.trim[1] * mean
    floor, ceiling = np.maximum(low * design, least), np.minimum(high * design, most)
    stuck = int((floor >= ceiling).sum())
    if stuck:
        raise WeightsError(
            f"trim: {many(stuck, 'record')} {have(stuck)} design weights that cannot come "
            f"between {least:g} and "
            f"{most:g} within the bounds; widen bounds or trim"
        )
    # A little inside, so that there is room on both sides.
    room = 0.001 * np.where(np.isfinite(ceiling), ceiling - floor, mean)
    start = np.clip(design, floor + room, ceiling - room)
    return start, floor / start, ceiling / start


def _solved(
    coded: Coded, start: FloatArray, low: FloatArray, high: FloatArray, settings: Settings
) -> tuple[Solution, list[str]]:
    """Run Newton's method, on the different kinds of records if these are few."""
    sizes = [len(margin.cells) for margin in coded.counts]
    codes = list(coded.codes[: len(sizes)])
    quantities, which = coded.quantities, None
    weights = start
    possible = float(np.prod(sizes, dtype=float))
    if not quantities.shape[1] and low.ndim == 0 and possible <= len(start):
        joint = np.ravel_multi_index(codes, sizes) if codes else np.zeros(len(start), np.int64)
        sums = np.bincount(joint, start, int(possible)).astype(np.float64)
        there = np.flatnonzero(np.bincount(joint, minlength=int(possible)))
        position = np.zeros(int(possible), dtype=np.int64)
        position[there] = np.arange(len(there))
        which, weights = position[joint], sums[there]
        codes = list(np.unravel_index(there, sizes)) if codes else []
        quantities = np.empty((len(there), 0))
    unit = np.sqrt((quantities**2).mean(axis=0)) if quantities.size else np.ones(0)
    unit = np.where(unit > 0, unit, 1.0)
    matrix = Matrix.of(list(zip(codes, sizes, strict=True)), quantities / unit, len(weights))
    totals = coded.totals
    units = np.concatenate([np.ones(sum(sizes)), unit[: quantities.shape[1]]])
    totals /= units
    gram = matrix.gram(weights)
    labels = coded.labels
    counts = [np.bincount(c, minlength=s) for c, s in zip(coded.codes, sizes, strict=False)]
    held = np.concatenate([np.empty(0), *counts])
    faults: list[str] = []
    if settings.method == "raking" or (low.size and (low > 0).any()) or settings.method == "logit":
        faults += conflicts.zeros(totals, held, labels, sum(sizes), settings.method)
    faults += conflicts.dependence(gram, totals, labels, units)
    scale = measure_of(totals, matrix.magnitude(weights), sum(sizes))
    nothing = Solution(np.ones(len(weights)), np.zeros(len(totals)), 0)
    if faults:
        return nothing, faults
    with np.errstate(over="ignore"):
        found = solve(matrix, gram, totals, weights, distance(settings.method, low, high), scale)
    if not found.converged or not np.isfinite(found.ratios).all():
        reasons = conflicts.explain(matrix, totals, weights, low, high, labels, found, scale, units)
        return nothing, [f"{settings.method} does not reach the totals: {reasons[0]}", *reasons[1:]]
    if which is not None:
        found = replace(found, ratios=found.ratios[which])
    return found, []
