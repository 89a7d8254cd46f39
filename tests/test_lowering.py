"""Figures printed from random data are admitted by what they are lowered to."""

# ruff: noqa: E501 (a case per line)

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from evosynth import kinds
from evosynth.schema import Schema
from evosynth.spec import load

RECORDS = 400
VARIABLES: dict[str, Any] = {
    "SEX": {"categories": {"1": "Male", "2": "Female"}},
    "AREA": {"categories": {"n": "North", "s": "South", "w": "West"}, "missing": "true"},
    "GRADE": {
        "categories": {"1": "a", "2": "b", "3": "c"},
        "missing": {"-9": "Refused", "-8": "?"},
    },
    "AGE": {"integer": ["18", "60"]},
    "PAY": {"number": {"min": "0.0", "max": "20.0", "decimals": "1"}, "missing": {"-1": "None"}},
    "KIDS": {"integer": ["0", "5"], "missing": "true"},
}
N, D = "0", "0.00"
OUTPUTS: dict[str, dict[str, Any]] = {
    "frequencies": {"kind": "frequencies", "of": "GRADE", "counts": dict.fromkeys(["1", "2", "3", "-9", "-8", "missing", "valid", "total"], N), "percentages": {"2": D, "missing": D}, "valid_percentages": {"1": D, "2": D, "3": D}},
    "frequencies, where": {"kind": "frequencies", "of": "AREA", "where": "SEX == 1 and AGE < 40", "percentages": {"n": D, "s": D, "w": D, "missing": D}, "valid_percentages": {"n": D}},
    "crosstab": {"kind": "crosstab", "rows": "SEX", "columns": "AREA", "counts": {"1": [N] * 4, "2": [N] * 4, "total": [N] * 4}, "row_percentages": {"1": [D] * 3}, "column_percentages": {"2": [D] * 4}},
    "crosstab, shares alone": {"kind": "crosstab", "rows": ["SEX", "GRADE"], "columns": "AREA", "row_percentages": {"1": {"1": [D] * 3, "total": [D] * 3}, "2": {"3": {"n": D}}}, "percentages": {"total": {"2": [D] * 4}}, "column_proportions": {"1": {"1": [D] * 4}}},
    "crosstab, where": {"kind": "crosstab", "rows": "GRADE", "columns": "SEX", "where": "AREA in (n, s) and GRADE != 3", "row_percentages": {"1": [D] * 2, "2": [D] * 2}, "counts": {"1": [N] * 2, "2": [N] * 2}},
    "summary": {"kind": "summary", "of": ["AGE", "PAY"], "by": "AREA", "n": {"PAY": {"n": N, "s": N, "total": N}}, "mean": {"AGE": {"n": D, "total": D}, "PAY": {"n": D, "w": D}}, "sd": {"PAY": {"n": D, "s": D, "total": D}}, "median": {"PAY": {"n": D, "total": D}, "AGE": {"w": D}}, "skewness": {"PAY": {"s": D}}, "quantiles": {"25": {"PAY": {"n": D, "total": D}}}, "min": {"AGE": {"n": N}}, "max": {"PAY": {"s": "0.0"}}, "above": {"10": {"PAY": {"n": D, "total": D}}}, "iqr": {"PAY": {"total": D}}},
    "summary, each": {"kind": "summary", "of": "KIDS", "each": ["SEX", "GRADE"], "where": "AREA == n", "n": {"SEX": {"1": N}, "total": N}, "mean": {"SEX": {"1": D, "2": D}, "GRADE": {"3": D}}, "sum": {"total": N}, "standard_error": {"GRADE": {"1": D}}, "kurtosis": {"total": D}},
    "correlation": {"kind": "correlation", "of": ["AGE", "PAY", "KIDS"], "pearson": {"PAY": {"AGE": D}, "KIDS": {"AGE": D, "PAY": D}}, "spearman": {"KIDS": {"PAY": D}}, "covariances": {"PAY": {"PAY": D}}, "p_values": {"PAY": {"AGE": "0.000"}}},
    "correlation, listwise": {"kind": "correlation", "of": ["AGE", "PAY", "KIDS"], "missing": "listwise", "where": "SEX == 2", "spearman": {"PAY": {"AGE": D}, "KIDS": {"AGE": D}}, "p_values": {"PAY": {"AGE": "0.000"}}},
    "chi_square": {"kind": "chi_square", "rows": "AREA", "columns": "GRADE", "statistic": D, "df": N, "cramers_v": "0.000", "p": "0.000"},
    "chi_square, yates": {"kind": "chi_square", "rows": "SEX", "columns": "AREA", "where": "AREA != w", "yates": "true", "statistic": D, "p": "0.000"},
    "t_test": {"kind": "t_test", "of": "PAY", "by": "SEX", "t": "0.000", "df": N, "difference": "0.000", "p": "0.000"},
    "t_test, Welch": {"kind": "t_test", "of": "KIDS", "by": "AREA", "where": "AREA in (n, w)", "equal_variances": "false", "t": "0.000", "df": D, "p": "0.000"},
    "anova": {"kind": "anova", "of": "PAY", "by": "GRADE", "f": "0.000", "eta_squared": "0.0000", "p": "0.000"},
    "odds_ratio": {"kind": "odds_ratio", "rows": "SEX", "columns": "AREA", "where": "AREA in (s, w)", "exposed": "2", "event": "w", "odds_ratio": D, "odds_ratio_ci": [D, D], "risk_ratio": D, "risk_ratio_ci": [D, D], "p": "0.000"},
    "logit, where": {"kind": "logit", "formula": "SEX ~ AGE + AREA", "where": "GRADE != 3", "observations": N, "odds_ratios": {"AGE": "0.0000", "AREA[w]": D}, "confidence_intervals": {"AGE": [D, D]}, "aic": D, "lr_p_value": "0.000"},
    "ols": {"kind": "ols", "formula": "PAY ~ AGE*GRADE", "robust": "HC3", "observations": N, "coefficients": {"AGE:GRADE[2]": "0.000"}, "betas": {"AGE": "0.000"}, "p_values": {"AGE": "0.000"}, "r_squared": "0.000"},
    "ordered": {"kind": "ordered", "formula": "GRADE ~ AGE + KIDS", "statistics": {"KIDS": "0.000"}, "cut_points": {"1|2": "0.000"}, "pseudo_r_squared": "0.0000"},
    "multinomial": {"kind": "multinomial", "formula": "GRADE ~ AGE + KIDS", "reference": {"GRADE": "2"}, "relative_risk_ratios": {"1": {"AGE": "0.000"}, "3": {"KIDS": "0.000"}}, "log_likelihood": D},
    "poisson": {"kind": "poisson", "formula": "KIDS ~ SEX + I(AGE^2)", "exposure": "AGE", "rate_ratios": {"SEX[2]": "0.000"}, "deviance": D},
}  # fmt: skip


def truth(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.integers(1, 3, RECORDS)
    age = rng.integers(18, 61, RECORDS)
    pay = (rng.gamma(4, 2, RECORDS) + age / 20 + sex / 2).clip(0, 20).round(1)
    return pd.DataFrame(
        {
            "SEX": sex,
            "AREA": rng.choice(np.array(["n", "s", "w", None], dtype=object), RECORDS),
            "GRADE": rng.choice([1, 2, 3, -9, -8], RECORDS),
            "AGE": age,
            "PAY": np.where(rng.random(RECORDS) < 0.1, -1.0, pay),
            "KIDS": pd.array(np.where(rng.random(RECORDS) < 0.1, None, age % 6), dtype="Int64"),
        }
    )


def paths(output: Any, schema: Schema) -> list[tuple[str | int, ...]]:
    """Where each figure stands in an output."""
    if hasattr(output, "_read"):
        return [item.path for item in output._read(schema)[0]]
    ends = {"low": 0, "high": 1}
    found = [key.split(" ") for key, _ in output.read()[0]]
    return [(key, ends[end[0]]) if end else (key,) for key, *end in found]


def printed(raw: dict[str, Any], data: pd.DataFrame, schema: Schema) -> dict[str, Any]:
    """Fill the figures of data into an output, to the decimals that stand in it."""
    output = kinds.find(raw["kind"]).model_validate(raw)
    values = output.recompute(data, np.ones(len(data)), schema)
    filled = copy.deepcopy(raw)
    for path, value in zip(paths(output, schema), values, strict=True):
        *above, last = path
        node: Any = filled
        for part in above:
            node = node[part]
        decimals = len(node[last].partition(".")[2])
        node[last] = f"{value:.{decimals}f}"
    return filled


def encode(data: pd.DataFrame, schema: Schema) -> np.ndarray:
    columns = []
    for variable in schema.variables:
        written = variable.values[: variable.size - variable.blank].tolist()
        known = {value: level for level, value in enumerate(written)}
        column = data[variable.name]
        levels = [variable.size - 1 if pd.isna(v) else known[v] for v in column.tolist()]
        columns.append(levels)
    return np.array(columns).T.astype(schema.dtype)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("raw", OUTPUTS.values(), ids=OUTPUTS)
def test_the_truth_is_admitted(raw: dict[str, Any], seed: int, tmp_path: Path) -> None:
    data = truth(seed)
    path = tmp_path / "spec.yaml"
    spec: dict[str, Any] = {"records": str(RECORDS), "variables": VARIABLES}
    free = {"kind": "frequencies", "of": "SEX", "counts": {"total": str(RECORDS)}}
    path.write_text(yaml.safe_dump(spec | {"outputs": [free]}, sort_keys=False))
    schema = load(path).schema
    outputs = [printed(raw, data, schema)]
    path.write_text(yaml.safe_dump(spec | {"outputs": outputs}, sort_keys=False))
    loaded = load(path)
    (plan,) = loaded.plans
    codes = encode(data, loaded.schema)
    counts = [np.bincount(t.grid.cells(codes), minlength=t.grid.size) for t in plan.tables]
    for table, found in zip(plan.tables, counts, strict=True):
        assert (table.low <= found).all()
        assert (found <= table.high).all()
    for share in plan.shares:
        size = int(counts[share.of[0]][share.of[1]])
        low, high = share.bounds(size)
        inside = [int(counts[table][cell]) for table, cell in share.cells]
        assert all(a <= n <= b for a, n, b in zip(low, inside, high, strict=True))
    for block in plan.smooth:
        off = block.refit(codes, np.ones(RECORDS))
        assert (np.abs(off) <= 1 + 1e-6).all()
        expansion = block.expand(codes, np.ones(RECORDS))
        there = expansion.offset + expansion.influence(codes).sum(axis=0)
        np.testing.assert_allclose(there, off, atol=1e-6)
    values = loaded.outputs[0].recompute(data, np.ones(RECORDS), loaded.schema)
    assert all(f.printed.prints(v) for f, v in zip(loaded.figures[0], values, strict=True))
