"""The same regression on the original and on synthetic data: overlap of intervals, distance."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from evosynth.errors import DataError
from evosynth.formula import Factor, Formula, parse
from evosynth.risk.coding import Column, encode
from evosynth.risk.tables import is_quantity
from evosynth.schema import FloatArray

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95


@dataclass(frozen=True)
class Distance:
    """How far coefficients are from those of the original, in its own uncertainty."""

    squared: float
    """The squared Mahalanobis distance; NaN where it is undefined."""
    df: int
    critical: float
    """What the squared distance of a second sample like the original would seldom exceed."""

    @property
    def exceeds(self) -> bool | None:
        """Whether it is more than the critical value; nothing where undefined."""
        return None if np.isnan(self.squared) else bool(self.squared > self.critical)


@dataclass(frozen=True)
class Comparison:
    """One regression, fitted to both frames."""

    formula: str
    model: str
    """``ols`` of a quantity, ``logit`` of a variable with two values."""
    coefficients: pd.DataFrame
    """By ``term``: ``original``, ``original_se``, ``synthetic``, ``synthetic_se``, ``overlap``."""
    distance: Distance

    @property
    def overlap(self) -> float:
        """Mean overlap of the intervals that both frames have; NaN where there is none."""
        known = self.coefficients["overlap"].dropna()
        return float(known.mean()) if len(known) else float("nan")


def interval_overlap(
    original: ArrayLike,
    original_se: ArrayLike,
    synthetic: ArrayLike,
    synthetic_se: ArrayLike,
    level: float = LEVEL,
) -> FloatArray:
    """Overlap of confidence intervals, as the mean of its shares of both.

    1 when they are the same, 0 when they are disjoint (Karr et al. 2006), and NaN where an
    estimate or a standard error is missing or an interval has no length.
    """
    from scipy.stats import norm

    given = (original, original_se, synthetic, synthetic_se)
    a, se_a, b, se_b = (np.asarray(one, dtype=np.float64) for one in given)
    half = float(norm.ppf((1 + level) / 2))
    low = np.maximum(a - half * se_a, b - half * se_b)
    high = np.minimum(a + half * se_a, b + half * se_b)
    shared = np.maximum(high - low, 0)
    usable = np.isfinite(a + b + se_a + se_b) & (se_a > 0) & (se_b > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (shared / (2 * half * se_a) + shared / (2 * half * se_b)) / 2
    return np.where(usable, found, np.nan)


def mahalanobis(
    original: ArrayLike, covariance: ArrayLike, synthetic: ArrayLike, level: float = LEVEL
) -> Distance:
    """Measure coefficients against those of the original.

    Parameters
    ----------
    original, covariance
        Coefficients of the original and their covariance matrix.
    synthetic
        The same coefficients from synthetic data.
    level
        Of the chi-squared distribution, for the critical value.
    """
    from scipy.stats import chi2

    a, b = np.asarray(original, dtype=np.float64), np.asarray(synthetic, dtype=np.float64)
    v = np.asarray(covariance, dtype=np.float64)
    k = len(a)
    squared = float("nan")
    if k and np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(v).all():
        scale = np.sqrt(np.diag(v))
        if (scale > 0).all():
            # Scaled to correlations first: coefficients differ in units by powers of ten.
            alike = v / np.outer(scale, scale)
            if np.linalg.matrix_rank(alike, tol=1e-12) == k:
                apart = (b - a) / scale
                squared = float(apart @ np.linalg.solve(alike, apart))
    return Distance(squared, k, float(chi2.ppf(level, k)) if k else float("nan"))


def compare_regressions(
    original: pd.DataFrame,
    synthetic: pd.DataFrame,
    formula: str,
    categories: Collection[str] = (),
    level: float = LEVEL,
) -> Comparison:
    """Fit one regression to both frames and compare what they find.

    Records with a missing value are left out of a fit, those with a logarithm of no positive
    number among them. A term that a frame cannot estimate is NaN there; then the distance is, too.

    Parameters
    ----------
    formula
        As in a spec: ``income ~ age + I(age^2) + sex*region``. A quantity gets least squares, an
        outcome with two values a logit of the second one.
    categories
        Numeric variables that are codes: dummies against the first level of the original.
    """
    import pandas as pd

    try:
        parsed = parse(formula)
    except ValueError as error:
        raise DataError(f"{formula}: {error}") from None
    for where, frame in (("original lacks", original), ("synthetic data lack", synthetic)):
        lacking = [name for name in parsed.variables if name not in frame.columns]
        if lacking:
            raise DataError(f"{formula}: the {where}: {', '.join(lacking)}")
    coded = {name: _coded(original, synthetic, name, categories) for name in parsed.variables}
    two_valued = _two_valued(original, synthetic, parsed.outcome, coded[parsed.outcome])
    one, two = (
        _fit(label, frame, parsed, coded, two_valued)
        for label, frame in (("original", original), ("synthetic", synthetic))
    )
    frame = pd.DataFrame({"term": one.terms, "original": one.values, "original_se": one.errors})
    frame["synthetic"], frame["synthetic_se"] = two.values, two.errors
    frame["overlap"] = interval_overlap(one.values, one.errors, two.values, two.errors, level)
    distance = mahalanobis(one.values, one.covariance, two.values, level)
    return Comparison(formula, "ols" if two_valued is None else "logit", frame, distance)


@dataclass(frozen=True)
class _Fit:
    terms: list[str]
    values: FloatArray
    covariance: FloatArray

    @property
    def errors(self) -> FloatArray:
        found: FloatArray = np.sqrt(np.diag(self.covariance))
        return found


def _fit(
    label: str,
    frame: pd.DataFrame,
    formula: Formula,
    coded: Mapping[str, Column | None],
    outcome: Column | None,
) -> _Fit:
    import pandas as pd

    blocks = {"Intercept": np.ones(len(frame))}
    for term in formula.terms:
        blocks.update(_product([_dummies(label, frame, f, coded[f.variable]) for f in term]))
    x = np.column_stack(list(blocks.values()))
    if outcome is not None:
        y = (outcome.codes[label] == _valid(outcome)[1]).astype(np.float64)
    else:
        y = _numbers(frame[formula.outcome])
        y = _logged(y) if formula.log else y
    known = np.isfinite(y) & np.isfinite(x).all(axis=1)
    known &= frame[list(formula.variables)].notna().all(axis=1).to_numpy()
    x, y = x[known], y[known]
    kept = _independent(x)
    terms, size = list(blocks), x.shape[1]
    values, covariance = np.full(size, np.nan), np.full((size, size), np.nan)
    if kept and len(y) > len(kept):
        found = _estimated(pd.DataFrame(x[:, kept]), y, outcome is not None)
        if found is not None:
            values[kept], covariance[np.ix_(kept, kept)] = found
    return _Fit(terms, values, covariance)


def _estimated(x: Any, y: FloatArray, binary: bool) -> tuple[FloatArray, FloatArray] | None:
    """Fit with statsmodels; nothing where the likelihood has no maximum."""
    from statsmodels.discrete.discrete_model import Logit
    from statsmodels.regression.linear_model import OLS
    from statsmodels.tools.sm_exceptions import PerfectSeparationError

    if not binary:
        result = OLS(y, x).fit()
        return np.asarray(result.params), np.asarray(result.cov_params())
    if y.min() == y.max():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = Logit(y, x).fit(disp=0, maxiter=100)
            values, covariance = np.asarray(result.params), np.asarray(result.cov_params())
        except (PerfectSeparationError, np.linalg.LinAlgError):
            return None
    # Where records are separated a coefficient grows without end, and Newton's method says so.
    if not result.mle_retvals["converged"] or not np.isfinite(covariance).all():
        return None
    return values, covariance


def _independent(x: FloatArray) -> list[int]:
    """Columns that do not follow from those before them."""
    kept: list[int] = []
    basis = np.zeros((len(x), 0))
    for position in range(x.shape[1]):
        column = x[:, position]
        rest = column - basis @ (basis.T @ column)
        rest = rest - basis @ (basis.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > 1e-8 * float(np.linalg.norm(column)) and size > 0:
            basis = np.column_stack([basis, rest / size])
            kept.append(position)
    return kept


def _dummies(
    label: str, frame: pd.DataFrame, factor: Factor, column: Column | None
) -> dict[str, FloatArray]:
    if column is None:
        values = _numbers(frame[factor.variable])
        return {str(factor): _logged(values) if factor.log else values**factor.power}
    if factor.log or factor.power != 1:
        raise DataError(f"{factor}: {factor.variable} is no quantity")
    levels = _valid(column)
    # A reference that the original lacks would leave it with one dummy too many.
    first = next((k for k in levels if (column.codes["original"] == k).any()), 0)
    return {
        f"{column.name}[{column.levels[k]}]": (column.codes[label] == k).astype(np.float64)
        for k in levels
        if k != first
    }


def _product(blocks: Sequence[dict[str, FloatArray]]) -> dict[str, FloatArray]:
    found = blocks[0]
    for block in blocks[1:]:
        found = {f"{a}:{b}": x * y for a, x in found.items() for b, y in block.items()}
    return found


def _coded(
    original: pd.DataFrame, synthetic: pd.DataFrame, name: str, categories: Collection[str]
) -> Column | None:
    """Code a category alike in both frames; nothing for a quantity."""
    if name not in categories and is_quantity(original[name]) and is_quantity(synthetic[name]):
        return None
    frames = {"original": original, "synthetic": synthetic}
    return encode(frames, [name], categorical=[name])[name]


def _two_valued(
    original: pd.DataFrame, synthetic: pd.DataFrame, name: str, column: Column | None
) -> Column | None:
    """Code an outcome with two values, numbers or not; nothing for a quantity."""
    if column is None and original[name].nunique() != 2:
        return None
    found = _coded(original, synthetic, name, [name]) if column is None else column
    n_levels = 0 if found is None else len(_valid(found))
    if n_levels != 2 and column is not None:
        raise DataError(f"{name} has {n_levels} levels: an outcome is a quantity or has two")
    return found if n_levels == 2 else None


def _valid(column: Column) -> list[int]:
    return [k for k in range(column.size) if k != column.missing]


def _numbers(column: pd.Series[Any]) -> FloatArray:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _logged(values: FloatArray) -> FloatArray:
    return np.log(values, out=np.full(len(values), np.nan), where=values > 0)
