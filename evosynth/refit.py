"""Models fitted to data with pandas and statsmodels: for proof, apart from the search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.formula import Factor, Formula
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd

_LEAST_SPREAD = 0.05
"""Dispersion from which a negative binomial is sought at least."""


@dataclass(frozen=True)
class Estimates:
    """What statsmodels finds."""

    values: FloatArray
    errors: FloatArray
    measures: Mapping[str, float]
    df: float = np.inf
    """Degrees of freedom of the t of a coefficient."""
    betas: FloatArray | None = None


def design_matrix(
    formula: Formula, frame: pd.DataFrame, schema: Schema, reference: Mapping[str, str]
) -> pd.DataFrame:
    """Dummy-code and multiply the terms of a formula, as an analyst would.

    Columns are named after their parts, sorted and joined by ``:``.
    """
    import pandas as pd

    blocks = [pd.DataFrame({"Intercept": 1.0}, index=frame.index)]
    for term in formula.terms:
        block = _columns(term[0], frame, schema, reference)
        for factor in term[1:]:
            other = _columns(factor, frame, schema, reference)
            block = pd.DataFrame(
                {
                    ":".join(sorted([*str(one).split(":"), str(two)])): block[one] * other[two]
                    for one in block
                    for two in other
                },
                index=frame.index,
            )
        blocks.append(block)
    return pd.concat(blocks, axis=1)


def _columns(
    factor: Factor, frame: pd.DataFrame, schema: Schema, reference: Mapping[str, str]
) -> pd.DataFrame:
    import pandas as pd

    name = factor.variable
    if not schema[name].categorical:
        values = frame[name].to_numpy(dtype=float)
        column = np.log(values) if factor.log else values**factor.power
        return pd.DataFrame({str(factor): column}, index=frame.index)
    codes = [str(value) for value in schema[name].values[: schema[name].valid].tolist()]
    texts = pd.Categorical(frame[name].astype(str), categories=codes)
    dummies = pd.get_dummies(texts, dtype=float).set_axis(frame.index)
    dummies.columns = [f"{name}[{code}]" for code in codes]
    return dummies.drop(columns=f"{name}[{reference.get(name, codes[0])}]")


def estimable(x: pd.DataFrame, weights: FloatArray) -> bool:
    """Whether no column of a design matrix follows from the others."""
    values = x.to_numpy() * np.sqrt(weights)[:, None]
    length = np.sqrt((values**2).sum(axis=0))
    if not (length > 0).all():
        return False
    return bool(np.linalg.matrix_rank(values / length, tol=1e-8) == x.shape[1])


def repeated(rows: Any, counts: FloatArray) -> Any:
    """One row per record."""
    if (counts == 1).all():
        return rows
    return rows.loc[rows.index.repeat(counts.astype(np.int64))].reset_index(drop=True)


def inflation(robust: str | None, n: float, size: int, linear: bool = False) -> float:
    """Return what a sandwich covariance is multiplied by, beyond what statsmodels does."""
    if robust == "HC1" or (robust == "stata" and linear):
        return n / (n - size)
    return n / (n - 1) if robust in {"stata", "survey"} else 1.0


def fit_glm(
    family: Any,
    y: pd.Series[float],
    x: pd.DataFrame,
    counts: FloatArray,
    robust: str | None,
    exposure: pd.Series[float] | None = None,
    survey: pd.Series[float] | None = None,
) -> Estimates | None:
    """Fit a generalised linear model; a sandwich needs one row per record."""
    from statsmodels.genmod.generalized_linear_model import GLM

    n = float(counts.sum())
    if survey is not None:
        y, x, survey = repeated(y, counts), repeated(x, counts), repeated(survey, counts)
        exposure = None if exposure is None else repeated(exposure, counts)
        model = GLM(y, x, family=family, freq_weights=survey, exposure=exposure)
        return _weighted_glm(model, x, n, robust)
    if robust is not None:
        y, x = repeated(y, counts), repeated(x, counts)
        exposure = None if exposure is None else repeated(exposure, counts)
        counts = np.ones(len(y))
    weights = None if (counts == 1).all() else counts
    model = GLM(y, x, family=family, freq_weights=weights, exposure=exposure)
    fit = model.fit(tol=1e-12, cov_type="nonrobust" if robust is None else "HC0")
    if not fit.converged:
        return None
    errors = fit.bse.to_numpy() * np.sqrt(inflation(robust, n, x.shape[1]))
    measures = {
        "log_likelihood": fit.llf,
        "null_log_likelihood": fit.llnull,
        "deviance": fit.deviance,
        "null_deviance": fit.null_deviance,
    }
    return Estimates(fit.params.to_numpy(), errors, measures)


def _weighted_glm(model: Any, x: pd.DataFrame, n: float, robust: str | None) -> Estimates | None:
    """Fit with the weights of a survey; the sandwich sums squares of weighted scores."""
    fit = model.fit(tol=1e-12)
    if not fit.converged:
        return None
    params = fit.params.to_numpy()
    rows = x.to_numpy()
    scores = rows * np.asarray(model.score_factor(params, scale=1.0))[:, None]
    bread = np.linalg.inv(-model.hessian(params, scale=1.0))
    covariance = bread @ (scores.T @ scores) @ bread
    errors = np.sqrt(np.diag(covariance) * inflation(robust, n, rows.shape[1]))
    return Estimates(params, errors, {})


def fit_discrete(model: Any, n: float, robust: str | None) -> Estimates | None:
    """Fit one of statsmodels' discrete models by Newton's method."""
    return _newton(model, n, robust)


class _Underdispersed(Exception):
    """The dispersion leaves what it can be; its derivatives there would take hours."""


def _keep_dispersed(params: FloatArray) -> None:
    if not params[-1] > 0:
        raise _Underdispersed


def fit_dispersed(model: Any, n: float, robust: str | None) -> Estimates | None:
    """Fit a negative binomial by Newton's method; there may be no dispersion to estimate.

    It starts from a Poisson model and from what spread that leaves, as R does, or from where
    another method leads.
    """
    for start in _dispersed(model):
        try:
            found = _newton(model, n, robust, start, _keep_dispersed)
        except (_Underdispersed, np.linalg.LinAlgError):
            continue
        if found is not None:
            return found
    return None


def _dispersed(model: Any) -> Iterator[FloatArray]:
    """Coefficients and dispersions from which a negative binomial may be found."""
    from statsmodels.genmod.families import Poisson
    from statsmodels.genmod.generalized_linear_model import GLM

    log_exposure = getattr(model, "exposure", None)
    exposure = None if log_exposure is None else np.exp(log_exposure)
    fit = GLM(model.endog, model.exog, family=Poisson(), exposure=exposure).fit()
    spread = ((model.endog - fit.mu) ** 2 - fit.mu).sum() / (fit.mu**2).sum()
    yield np.append(fit.params, max(spread, _LEAST_SPREAD))
    quiet = {"disp": 0, "warn_convergence": False, "skip_hessian": True}
    yield np.asarray(model.fit(method="bfgs", maxiter=500, **quiet).params)


def _newton(
    model: Any,
    n: float,
    robust: str | None,
    start: FloatArray | None = None,
    watch: Callable[[FloatArray], None] | None = None,
) -> Estimates | None:
    fit = model.fit(
        start_params=start,
        method="newton",
        maxiter=100,
        tol=1e-12,
        disp=0,
        cov_type="nonrobust" if robust is None else "HC0",
        callback=watch,
    )
    if not fit.mle_retvals["converged"]:
        return None
    values = np.asarray(fit.params).ravel(order="F")
    errors = np.asarray(fit.bse).ravel(order="F") * np.sqrt(inflation(robust, n, len(values)))
    measures = {"log_likelihood": float(fit.llf), "null_log_likelihood": float(fit.llnull)}
    return Estimates(values, errors, measures)


def fit_ordered(y: pd.Series[int], x: pd.DataFrame, robust: str | None) -> Estimates | None:
    """Fit a proportional odds model; what statsmodels finds is refined by Newton's method.

    It differentiates numerically, which leaves fewer digits than papers print.
    """
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    values = x.to_numpy()
    scale = np.maximum(values.std(axis=0), 1e-12)
    middle = values.mean(axis=0)
    model = OrderedModel(y.to_numpy(), (values - middle) / scale, distr="logit")
    fit = model.fit(method="bfgs", disp=0, maxiter=500)
    width = values.shape[1]
    slopes = np.asarray(fit.params)[:width] / scale
    cuts = model.transform_threshold_params(np.asarray(fit.params))[1:-1] + middle @ slopes
    theta = np.concatenate([slopes, cuts])
    levels = y.to_numpy()
    for _ in range(6):
        scores = ordered_scores(theta, levels, values)
        hessian = np.empty((len(theta), len(theta)))
        for k in range(len(theta)):
            moved = theta.astype(complex)
            moved[k] += 1e-30j
            hessian[k] = np.imag(ordered_scores(moved, levels, values)).sum(axis=0) / 1e-30
        covariance = np.linalg.inv(-hessian)
        step = covariance @ np.real(scores).sum(axis=0)
        theta = theta + step
    if not np.abs(step / np.sqrt(np.diag(covariance))).max() < 1e-6:
        return None
    if robust is not None:
        covariance = covariance @ (scores.T @ scores) @ covariance
    inflated = np.diag(covariance) * inflation(robust, len(y), len(theta))
    measures = {"log_likelihood": float(fit.llf), "null_log_likelihood": float(fit.llnull)}
    return Estimates(theta, np.sqrt(inflated), measures)


def ordered_scores(theta: Any, y: Any, x: Any) -> Any:
    """Score of each record of a proportional odds model, by coefficients and cut points."""
    n, width = x.shape
    cuts = np.concatenate([[-np.inf], theta[width:], [np.inf]])
    eta = x @ theta[:width]
    upper, lower = (1 / (1 + np.exp(eta - cuts[y + side])) for side in (1, 0))
    lower, upper = np.where(y == 0, 0, lower), np.where(y == len(cuts) - 2, 1, upper)
    up, low = upper * (1 - upper) / (upper - lower), lower * (1 - lower) / (upper - lower)
    by_cut = np.zeros((n, len(cuts)), dtype=up.dtype)
    by_cut[np.arange(n), y + 1] += up
    by_cut[np.arange(n), y] -= low
    return np.hstack([(low - up)[:, None] * x, by_cut[:, 1:-1]])
