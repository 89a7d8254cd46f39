"""The design matrix of a model from data, with pandas alone: for proof, apart from the search."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evosynth.formula import Factor, Formula
from evosynth.schema import FloatArray, Schema


def design_matrix(
    formula: Formula, frame: pd.DataFrame, schema: Schema, reference: Mapping[str, str]
) -> pd.DataFrame:
    """Dummy-code and multiply the terms of a formula, as an analyst would.

    Columns are named after their parts, sorted and joined by ``:``.
    """
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
