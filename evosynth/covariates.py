"""What the standard errors of a model tell of the distribution of its quantities.

A coefficient is the better known the more its quantity varies, and the intercept the worse the
farther all quantities lie from 0. Where nothing else is published of a quantity, that tells roughly
where it lies; drawn from its whole range instead, it may make nonsense of the model.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evosynth.fitted import Model
from evosynth.schema import FloatArray, Schema

_USUAL = 2.0
"""Standard deviations of the mean from the least value, where no intercept tells."""
_WIDEST = 0.35
"""Largest standard deviation, as a share of the range."""
_INSIDE = 1.5
"""Standard deviations of the mean from the largest value, at least."""
_NEAREST, _HALVINGS = 0.5, 40
"""Standard deviations of the mean from the least value, at least, and halvings that find it."""


def likely_moments(
    model: Model, schema: Schema, margins: list[FloatArray]
) -> Iterator[tuple[int, float, float]]:
    """Column, mean and standard deviation of each quantity that is a term by itself."""
    if model.likelihood.block[0] < 0:
        return
    errors = _errors(model)
    design = model.likelihood.design
    single = np.flatnonzero(np.diff(design.column_start) == 1)
    variables = design.factor_variable[design.column_start[single]]
    categories = [
        int(k) for k, v in zip(single, variables, strict=True) if schema.variables[v].categorical
    ]
    quantities = [
        (int(k), int(v))
        for k, v in zip(single, variables, strict=True)
        if not schema.variables[v].categorical
        and np.isfinite(errors[k])
        and int((design.factor_variable == v).sum()) == 1
    ]
    n = float(schema.records)
    base, odds = _weight(model, errors, categories, margins, n)
    if not quantities or not base > 0:
        return
    unit = 1 / np.sqrt(n * base)
    least = np.array([schema.variables[v].quantities[0] for _, v in quantities])
    error = np.array([errors[k] for k, _ in quantities])
    ends = [schema.variables[v].quantities[: schema.variables[v].valid] for _, v in quantities]
    spreads = np.array(
        [
            min(max(float(one), float(own[1] - own[0])), _WIDEST * float(own[-1] - own[0]))
            for one, own in zip(unit / error, ends, strict=True)
        ]
    )
    most = np.array([float(own[-1]) for own in ends]) - _INSIDE * spreads
    means = np.minimum(least + _USUAL * spreads, most)
    if np.isfinite(errors[0]) and design.column_start[1] == 0:
        means = _placed(least, spreads, most, error, errors[0] ** 2 - unit**2 * (1 + odds))
    for (_, v), mean, spread in zip(quantities, means, spreads, strict=True):
        yield v, float(mean), float(spread)


def _placed(
    least: FloatArray, spreads: FloatArray, most: FloatArray, error: FloatArray, left: float
) -> FloatArray:
    """Means equally far from the least values, in spreads, as far as ranges admit.

    ``left``: what distances from 0 add to the variance of the intercept.
    """
    near, far = _NEAREST, float(((most - least) / spreads).max(initial=_NEAREST))
    for _ in range(_HALVINGS):
        along = (near + far) / 2
        means = np.minimum(least + along * spreads, most)
        if float((means * error) @ (means * error)) < left:
            near = along
        else:
            far = along
    return np.asarray(np.minimum(least + near * spreads, most))


def _errors(model: Model) -> FloatArray:
    """Collect standard errors of the coefficients of the first predictor, nan if unknown."""
    found = np.full(model.likelihood.size, np.nan)
    by = {(item.form, item.parameter): item.published.value for item in model.items}
    for k in range(len(found)):
        if ("se", k) in by:
            found[k] = by["se", k] / (np.exp(model.start[k]) if model.traits.ratio_errors else 1.0)
        elif by.get(("statistic", k)):
            found[k] = abs(model.start[k] / by["statistic", k])
        elif ("low", k) in by and ("high", k) in by:
            low, high = by["low", k], by["high", k]
            if model.traits.ratios:
                low, high = np.log(max(low, 1e-9)), np.log(max(high, 1e-9))
            found[k] = (high - low) / (2 * 1.96)
    found[found <= 0] = np.nan
    return found


def _weight(
    model: Model, errors: FloatArray, columns: list[int], margins: list[FloatArray], n: float
) -> tuple[float, float]:
    """Information of a usual record, and the odds against reference categories, summed."""
    design = model.likelihood.design
    found: list[float] = []
    odds = 0.0
    by_variable: dict[int, list[tuple[int, float]]] = {}
    for k in columns:
        at = design.column_start[k]
        v, first = int(design.factor_variable[at]), int(design.factor_start[at])
        share = float(margins[v] @ design.lookup[first : first + len(margins[v])])
        by_variable.setdefault(v, []).append((k, share))
    for terms in by_variable.values():
        rest = 1 - sum(share for _, share in terms)
        if rest <= 0:
            continue
        odds += 1 / rest - 1
        found += [
            (1 / share + 1 / rest) / (n * errors[k] ** 2)
            for k, share in terms
            if np.isfinite(errors[k]) and share > 0
        ]
    if not found and model.traits.linear:
        found = [model.spread**-2]
    elif not found and len(margins[model.outcome]) == 2:
        found = [float(np.prod(margins[model.outcome]))]
    return (float(np.median(found)) if found else 0.0), odds
