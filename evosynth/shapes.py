"""Shapes of quantities that no figure fixes: shares of their values, within their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from scipy import stats
from scipy.interpolate import PchipInterpolator

from evosynth.printed import Printed
from evosynth.schema import FloatArray

Name = Literal["normal", "skewed", "lognormal", "uniform", "tapered"]

_CURVES = {
    "normal": stats.norm(0.5, 1 / 6).pdf,
    "skewed": stats.beta(1.8, 5.0).pdf,
    "lognormal": stats.lognorm(0.7, scale=0.12).pdf,
    "tapered": stats.beta(1.15, 1.8).pdf,
    "uniform": np.ones_like,
}
"""Density of each shape on the way from the smallest to the largest value."""
_HEAPED = 6.0
"""How much more frequent round values are than their neighbours, on top of those they attract."""
_LEAST = 1e-4
"""Density of any value beside the usual one, so that figures may use it."""


class ShapeSpec(BaseModel):
    """What the distribution of a quantity looks like where nothing is published of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: Name | None = Field(None, description="the curve; tapered or normal unless given")
    heaped: Printed | None = Field(None, description="values are often rounded to multiples of it")
    quantiles: dict[str, Printed] | None = Field(None, description="per cent: value")


def _named(value: Any) -> Any:
    return {"base": value} if isinstance(value, str) else value


Shape = Annotated[
    ShapeSpec,
    BeforeValidator(_named),
    WithJsonSchema({"anyOf": [{"enum": list(_CURVES)}, ShapeSpec.model_json_schema()]}),
]


def fault(shape: ShapeSpec, values: FloatArray) -> str:
    """Say why values cannot have a shape, or nothing."""
    low, high = float(values[0]), float(values[-1])
    if shape.heaped is not None:
        unit = shape.heaped.value
        if not unit > 0 or np.count_nonzero(_multiples(values, unit)) < 2:
            return f"fewer than two values from {low:g} to {high:g} are multiples of {shape.heaped}"
    if shape.quantiles is None:
        return ""
    if shape.base is not None:
        return "give a base or quantiles, not both"
    try:
        at = sorted((float(q), v.value) for q, v in shape.quantiles.items())
    except ValueError:
        return "quantiles are given by per cent, {25: 31, 50: 40}"
    for percent, value in at:
        if not 0 <= percent <= 100:
            return f"{percent:g} is no per cent from 0 to 100"
        if not low <= value <= high:
            return f"the {percent:g} % quantile, {value:g}, is outside {low:g} to {high:g}"
    for (one, a), (two, b) in zip(at, at[1:], strict=False):
        if b <= a:
            return f"the {two:g} % quantile, {b:g}, is not above the {one:g} % quantile, {a:g}"
    return ""


def shares(shape: ShapeSpec | None, values: FloatArray, decimals: int) -> FloatArray:
    """Shares of ascending values; without a hint, what many quantities of surveys look like."""
    if len(values) < 3:
        return np.full(len(values), 1 / len(values))
    width = float(values[-1] - values[0])
    along = (values - values[0] + width / len(values) / 2) / (width * (1 + 1 / len(values)))
    base = shape.base if shape is not None and shape.base else None
    if shape is not None and shape.quantiles:
        found = _between(shape.quantiles, values)
    else:
        curve = _CURVES[base or ("normal" if decimals else "tapered")]
        found = np.asarray(curve(along), dtype=np.float64)
    found = found / found.sum()
    found = (found + _LEAST * found.mean()) / (1 + _LEAST)
    if shape is not None and shape.heaped is not None:
        found = _heap(found, values, shape.heaped.value)
    return np.asarray(found / found.sum())


def _between(quantiles: dict[str, Printed], values: FloatArray) -> FloatArray:
    """Shares whose running sum passes smoothly through quantiles."""
    step = float(values[1] - values[0])
    points = {float(values[0] - step / 2): 0.0, float(values[-1] + step / 2): 1.0}
    for percent, value in quantiles.items():
        points[value.value] = float(percent) / 100
    at = sorted(points)
    below = np.maximum.accumulate([points[value] for value in at])
    curve = PchipInterpolator(at, below)
    edges = np.append(values - step / 2, values[-1] + step / 2)
    return np.asarray(np.maximum(np.diff(curve(edges)), 0.0))


def _multiples(values: FloatArray, unit: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.asarray(np.abs(values / unit - np.rint(values / unit)) < 1e-9)


def _heap(found: FloatArray, values: FloatArray, unit: float) -> FloatArray:
    """Let multiples attract most of what lies nearer to them than to the next one."""
    kept = found / (1 + _HEAPED)
    nearest = np.rint(values / unit) * unit
    at = np.clip(np.searchsorted(values, nearest - 1e-9), 0, len(values) - 1)
    there = np.abs(values[at] - nearest) < 1e-9
    at = np.where(there, at, np.arange(len(values)))
    np.add.at(kept, at, found * _HEAPED / (1 + _HEAPED))
    return kept


def together(correlations: Sequence[tuple[int, int, float]]) -> bool:
    """Whether the last correlation can be beside each two others that close a triangle with it."""
    known = {frozenset((one, two)): r for one, two, r in correlations}
    one, two, r = correlations[-1]
    for other in {column for pair in known for column in pair} - {one, two}:
        a, b = (known.get(frozenset((column, other))) for column in (one, two))
        if a is not None and b is not None and 1 + 2 * a * b * r < a * a + b * b + r * r:
            return False
    return True
