"""Models fitted as the usual programs fit them, never with evosynth."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import optimize, sparse, stats
from scipy.special import xlogy
from statsmodels.miscmodels.ordinal_model import OrderedModel

_LARGEST_ERROR = 5.0
"""A model of categories or counts with a larger standard error is nearly separated."""


@dataclass(frozen=True)
class Sample:
    """What a model is fitted to; the design matrix has an intercept."""

    y: pd.Series
    x: pd.DataFrame
    codes: list[int]
    """Values of a categorical outcome, the base first."""
    exposure: pd.Series | None = None
    weights: pd.Series | None = None
    robust: bool = False
    """Whether standard errors are HC1."""
    quantile: float = 0.5


@dataclass(frozen=True)
class Fit:
    """Figures of a model; a parameter is named by its term, or by its outcome and its term."""

    names: Sequence[tuple[str, ...]]
    values: np.ndarray
    errors: np.ndarray
    measures: dict[str, float]
    df: float = math.inf

    @property
    def p(self) -> np.ndarray:
        """Two-sided p-values."""
        return np.asarray(2 * self._t.sf(np.abs(self.values / self.errors)))

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Lower and upper ends of the coefficients' confidence intervals."""
        reach = self._t.isf((1 - level) / 2) * self.errors
        return np.column_stack([self.values - reach, self.values + reach])

    @property
    def _t(self) -> Any:
        return stats.t(self.df) if math.isfinite(self.df) else stats.norm()


def _terms(sample: Sample) -> list[tuple[str, ...]]:
    return [(str(name),) for name in sample.x]


def least_squares(sample: Sample) -> Fit:
    """Fit a linear model, weighted if there are weights."""
    y, x = sample.y.astype(float), sample.x
    model = sm.OLS(y, x) if sample.weights is None else sm.WLS(y, x, weights=sample.weights)
    fit = model.fit()
    measures = {
        "r_squared": fit.rsquared,
        "adjusted_r_squared": fit.rsquared_adj,
        "f": fit.fvalue,
        "f_p_value": fit.f_pvalue,
        "rmse": math.sqrt(fit.mse_resid),
        "log_likelihood": fit.llf,
        "aic": fit.aic,
        "bic": fit.bic,
    }
    errors = fit.HC1_se if sample.robust else fit.bse
    return Fit(_terms(sample), fit.params.to_numpy(), errors.to_numpy(), measures, fit.df_resid)


def quantile(sample: Sample) -> Fit:
    """Fit a quantile regression by linear programming; it has no agreed standard errors.

    Where statsmodels ends elsewhere there are several solutions, or it has not converged.
    """
    y, x, q = sample.y.to_numpy(dtype=float), sample.x.to_numpy(), sample.quantile
    n, width = x.shape
    found = optimize.linprog(
        np.concatenate([np.zeros(width), np.full(n, q), np.full(n, 1 - q)]),
        A_eq=sparse.hstack([sparse.csr_array(x), sparse.eye_array(n), -sparse.eye_array(n)]),
        b_eq=y,
        bounds=[(None, None)] * width + [(0, None)] * (2 * n),
    ).x[:width]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = sm.QuantReg(y, x).fit(q=q, max_iter=10_000, p_tol=1e-9)
    if np.abs(found - again.params).max() > 1e-5:
        raise ArithmeticError("not unique")
    return Fit(_terms(sample), found, np.full(width, math.nan), {})


def logit(sample: Sample) -> Fit:
    """Fit a logistic regression of the second value of the outcome."""
    return _binary(sm.Logit, sample)


def probit(sample: Sample) -> Fit:
    """Fit a probit of the second value of the outcome."""
    return _binary(sm.Probit, sample)


def _binary(model: Callable[..., Any], sample: Sample) -> Fit:
    y = (sample.y == sample.codes[1]).astype(float)
    fit = _discrete(model(y, sample.x), _terms(sample), sample.robust)
    deviances = {
        "deviance": -2 * fit.measures["log_likelihood"],
        "null_deviance": -2 * fit.measures["null_log_likelihood"],
    }
    return Fit(fit.names, fit.values, fit.errors, fit.measures | deviances)


def poisson(sample: Sample) -> Fit:
    """Fit a Poisson regression, perhaps with exposure."""
    model = sm.Poisson(sample.y, sample.x, exposure=sample.exposure)
    fit = _discrete(model, _terms(sample), sample.robust)
    exposure = 1.0 if sample.exposure is None else sample.exposure
    y, mean = sample.y, exposure * np.exp(sample.x @ fit.values)
    alone = exposure * (y.sum() / np.sum(exposure * np.ones(len(y))))
    deviances = {
        "deviance": 2 * float((xlogy(y, y / mean) - (y - mean)).sum()),
        "null_deviance": 2 * float((xlogy(y, y / alone) - (y - alone)).sum()),
    }
    return Fit(fit.names, fit.values, fit.errors, fit.measures | deviances)


def negative_binomial(sample: Sample) -> Fit:
    """Fit a negative binomial regression (NB2), perhaps with exposure."""
    model = sm.NegativeBinomial(sample.y, sample.x, exposure=sample.exposure)
    return _discrete(model, [*_terms(sample), ("alpha",)], sample.robust, first="bfgs")


def multinomial(sample: Sample) -> Fit:
    """Fit a multinomial logit against the first value of the outcome."""
    position = {code: k for k, code in enumerate(sample.codes)}
    names = [(str(code), str(name)) for code in sample.codes[1:] for name in sample.x]
    return _discrete(sm.MNLogit(sample.y.map(position), sample.x), names, sample.robust)


def _discrete(
    model: Any, names: Sequence[tuple[str, ...]], robust: bool, first: str | None = None
) -> Fit:
    """Fit to machine precision by Newton's method, perhaps from where another one ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what has not converged is drawn anew
        start = None
        if first is not None:
            start = np.asarray(model.fit(method=first, maxiter=500, disp=0).params)
        fit = model.fit(
            start_params=start,
            method="newton",
            maxiter=100,
            tol=1e-12,
            disp=0,
            cov_type="HC0" if robust else "nonrobust",
        )
        if not fit.mle_retvals["converged"]:
            raise ArithmeticError("not converged")
        values = np.asarray(fit.params).ravel(order="F")
        errors = np.asarray(fit.bse).ravel(order="F")
        if robust:
            errors = errors * math.sqrt(len(model.endog) / (len(model.endog) - len(values)))
        return _likelihood(names, values, errors, fit.llf, fit.llnull, len(model.endog))


def ordered(sample: Sample) -> Fit:
    """Fit a proportional odds model; cut points come after the coefficients.

    statsmodels ends a little beside the maximum and parametrises cut points otherwise: Newton
    steps follow, with derivatives by complex steps.
    """
    x = sample.x.drop(columns="Intercept")
    position = {code: k for k, code in enumerate(sample.codes)}
    y, rows, width = sample.y.map(position).to_numpy(), x.to_numpy(), x.shape[1]
    middle, scale = rows.mean(axis=0), rows.std(axis=0)
    model = OrderedModel(y, (rows - middle) / scale, distr="logit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = np.asarray(model.fit(method="bfgs", maxiter=500, disp=0).params)
    slopes = first[:width] / scale
    cuts = model.transform_threshold_params(first)[1:-1] + middle @ slopes
    theta = np.concatenate([slopes, cuts])

    def ll(at: np.ndarray) -> Any:
        below = 1 / (1 + np.exp(np.add.outer(rows @ at[:width], -at[width:])))
        edges = np.column_stack([np.zeros(len(y)), below, np.ones(len(y))])
        each = np.arange(len(y))
        return np.log(edges[each, y + 1] - edges[each, y]).sum()

    def score(at: np.ndarray) -> np.ndarray:
        steps = 1e-30j * np.eye(len(at))
        return np.array([ll(at + step).imag / 1e-30 for step in steps])

    for _ in range(5):
        small = np.diag(1e-5 * np.concatenate([1 / scale, np.ones(len(cuts))]))
        slope = [(score(theta + s) - score(theta - s)) / (2 * s.sum()) for s in small]
        covariance = np.linalg.inv(-np.array(slope))
        step = covariance @ score(theta)
        theta = theta + step
    errors = np.sqrt(np.diag(covariance))
    if not np.abs(step / errors).max() < 1e-6:
        raise ArithmeticError("not converged")
    names = [(str(name),) for name in x] + [
        (f"{a}|{b}",) for a, b in zip(sample.codes, sample.codes[1:], strict=False)
    ]
    sizes = np.bincount(y)
    return _likelihood(names, theta, errors, ll(theta), xlogy(sizes, sizes / len(y)).sum(), len(y))


def _likelihood(
    names: Sequence[tuple[str, ...]],
    values: np.ndarray,
    errors: np.ndarray,
    ll: float,
    null: float,
    n: int,
) -> Fit:
    """Collect what follows from log-likelihoods; alpha and cut points count as parameters."""
    if not np.isfinite(errors).all() or errors.max() > _LARGEST_ERROR:
        raise ArithmeticError("separated")
    k = len(values)
    terms = sum(name[-1] not in {"Intercept", "alpha"} and "|" not in name[-1] for name in names)
    measures = {
        "log_likelihood": ll,
        "null_log_likelihood": null,
        "pseudo_r_squared": 1 - ll / null,
        "aic": 2 * k - 2 * ll,
        "bic": k * math.log(n) - 2 * ll,
        "lr_chi_square": 2 * (ll - null),
        "lr_p_value": float(stats.chi2.sf(2 * (ll - null), terms)),
    }
    return Fit(names, values, errors, measures)
