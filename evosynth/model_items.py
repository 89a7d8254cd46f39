"""The published figures of a model, and what they tell of its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evosynth.printed import Published
from evosynth.schema import FloatArray

Robust: TypeAlias = Literal["HC0", "HC1", "HC2", "HC3", "stata", "survey"]


@dataclass(frozen=True)
class Item:
    """One published figure of a model."""

    form: str
    """Such as ``coefficient``, ``se`` or ``aic``."""
    parameter: int | None
    published: Published
    label: str
    path: tuple[str | int, ...]


@dataclass(frozen=True)
class Traits:
    """What the figures of a model depend on besides its estimate."""

    linear: bool = False
    """Least squares: t and F rather than z, and an error variance."""
    robust: Robust | None = None
    level: float = 95.0
    """Of confidence intervals, per cent."""
    ratios: bool = False
    """Whether intervals are those of exponentiated coefficients."""
    ratio_errors: bool = False
    """Whether standard errors are those of exponentiated coefficients."""
    logged: frozenset[int] = frozenset()
    """Parameters that are printed exponentiated: the search works with their logarithms."""
    survey: bool = False
    """Whether records are weighted as those of a survey, which says nothing of their errors."""
    about: float = 0.0
    """A number near the outcome, to sum squares about."""


def known_parameters(
    items: Sequence[Item], size: int, traits: Traits
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Parameters as far as published figures tell them, and which are told."""
    theta, told = np.zeros(size), np.zeros(size, dtype=np.bool_)
    by = {(item.form, item.parameter): item.published.value for item in items}
    for k in range(size):
        log = k in traits.logged
        value: float | None = None
        if ("coefficient", k) in by:
            value = by["coefficient", k]
            value = np.log(max(value, 1e-6)) if log else value
        elif ("ratio", k) in by:
            value = np.log(max(by["ratio", k], 1e-6))
        elif ("low", k) in by and ("high", k) in by:
            ends = by["low", k], by["high", k]
            if traits.ratios:
                ends = np.log(max(ends[0], 1e-6)), np.log(max(ends[1], 1e-6))
            value = sum(ends) / 2
        elif ("statistic", k) in by and ("se", k) in by and not traits.ratio_errors:
            value = by["statistic", k] * by["se", k]
        if value is not None:
            theta[k], told[k] = value, True
    return theta, told


def known_signs(items: Sequence[Item], theta: FloatArray) -> FloatArray:
    """Sign of each coefficient as far as it is published."""
    signs = np.sign(theta)
    for item in items:
        if item.form == "statistic" and item.parameter is not None:
            signs[item.parameter] = signs[item.parameter] or np.sign(item.published.value)
    return signs
