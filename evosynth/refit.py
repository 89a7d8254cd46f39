"""Models fitted to data with pandas and statsmodels: for proof, apart from the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.formula import Factor, Formula
from evosynth.schema import FloatArray, Schema

if TYPE_CHECKING:
    import pandas as pd


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
    return n / (n - 1) if robust == "stata" else 1.0


def fit_glm(
    family: Any,
    y: pd.Series[float],
    x: pd.DataFrame,
    counts: FloatArray,
    robust: str | None,
    exposure: pd.Series[float] | None = None,
) -> Estimates | None:
    """Fit a generalised linear model; a sandwich needs one row per record."""
    from statsmodels.genmod.generalized_linear_model import GLM

    n = float(counts.sum())
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


def fit_discrete(model: Any, n: float, robust: str | None) -> Estimates | None:
    """Fit one of statsmodels' discrete models by Newton's method."""
    fit = model.fit(
        method="newton",
        maxiter=100,
        tol=1e-12,
        disp=0,
        cov_type="nonrobust" if robust is None else "HC0",
    )
    if not fit.mle_retvals["converged"]:
        return None
    values = np.asarray(fit.params).ravel(order="F")
    errors = np.asarray(fit.bse).ravel(order="F") * np.sqrt(inflation(robust, n, len(values)))
    measures = {"log_likelihood": float(fit.llf), "null_log_likelihood": float(fit.llnull)}
    return Estimates(values, errors, measures)
