"""How strongly each two variables go together, whatever their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.schema import FloatArray, IntArray, Schema, Variable

if TYPE_CHECKING:
    import pandas as pd

MOST_VARIABLES = 40
_MOST_RECORDS = 20_000
"""Records that are looked at; enough for the two digits that are shown."""
R, ETA, V = "r", "η", "V"
"""Pearson's correlation, the correlation ratio, Cramér's V."""


def associations(data: pd.DataFrame, schema: Schema) -> dict[str, Any]:
    """Measure every pair: r of quantities, V of categories, η of a quantity by categories.

    Returns
    -------
    ``names``, ``records`` (how many were looked at), and by row the pairs below the diagonal:
    ``values`` (nothing where undefined) and ``measures``.
    """
    shown = [v for v in schema.shown if v.identifier is None][:MOST_VARIABLES]
    step = max(1, -(-len(data) // _MOST_RECORDS))
    part = data.iloc[::step]
    columns = [_column(part[v.name], v) for v in shown]
    values: list[list[float | None]] = []
    measures: list[list[str]] = []
    for i, one in enumerate(columns):
        found = [_pair(one, other) for other in columns[:i]]
        values.append([None if not np.isfinite(v) else round(float(v), 3) for v, _ in found])
        measures.append([how for _, how in found])
    return {
        "names": [v.name for v in shown],
        "records": len(part),
        "values": values,
        "measures": measures,
    }


def _column(column: pd.Series[Any], variable: Variable) -> FloatArray | IntArray:
    """Quantities as numbers, categories as numbers of levels; -1 where missing."""
    import pandas as pd

    if variable.date:
        days = pd.to_datetime(column, errors="coerce").to_numpy().astype("datetime64[D]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
    valid = variable.values[: variable.valid]
    if not variable.categorical:
        known = column.isin(valid).to_numpy(dtype=bool)
        found = np.full(len(column), np.nan)
        found[known] = column[known].to_numpy(dtype=np.float64)
        return found
    return np.asarray(pd.Index(list(valid)).get_indexer(pd.Index(column)), dtype=np.int64)


def _pair(one: FloatArray | IntArray, two: FloatArray | IntArray) -> tuple[float, str]:
    one_coded, two_coded = one.dtype.kind == "i", two.dtype.kind == "i"
    known = (one >= 0 if one_coded else np.isfinite(one)) & (
        two >= 0 if two_coded else np.isfinite(two)
    )
    one, two = one[known], two[known]
    if one_coded and two_coded:
        return _cramer(one.astype(np.int64), two.astype(np.int64)), V
    if one_coded or two_coded:
        codes, y = (one, two) if one_coded else (two, one)
        return _ratio(codes.astype(np.int64), y.astype(np.float64)), ETA
    return _pearson(one.astype(np.float64), two.astype(np.float64)), R


def _pearson(x: FloatArray, y: FloatArray) -> float:
    if len(x) < 2:
        return float("nan")
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0 else float("nan")


def _ratio(codes: IntArray, y: FloatArray) -> float:
    if not len(y):
        return float("nan")
    y = y - y.mean()
    total = float(y @ y)
    counts, sums = np.bincount(codes), np.bincount(codes, y)
    used = counts > 0
    if used.sum() < 2 or total <= 0:
        return float("nan")
    return float(np.sqrt(min(1.0, float((sums[used] ** 2 / counts[used]).sum()) / total)))


def _cramer(one: IntArray, two: IntArray) -> float:
    if not len(one):
        return float("nan")
    width = int(two.max()) + 1
    table = np.bincount(one * width + two, minlength=(int(one.max()) + 1) * width)
    table = table.reshape(-1, width).astype(np.float64)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return float("nan")
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chi = float(((table - expected) ** 2 / expected).sum())
    return float(np.sqrt(min(1.0, chi / (table.sum() * (min(table.shape) - 1)))))
