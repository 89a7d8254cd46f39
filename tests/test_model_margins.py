"""Contradictions between models and what is published besides them; truthful print has none."""

# ruff: noqa: E501 (a case per line)

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from models import TERMS, VARIABLES, by_term, printed, truth
from outputs import faults

from evosynth.spec import load

MODELS: dict[str, tuple[str, str]] = {
    "logit": ("YES", "YES"),
    "probit": ("YES", "YES"),
    "poisson": ("VISITS", "VISITS"),
    "multinomial": ("CHOICE", "CHOICE"),
    "ordered": ("GRADE", "GRADE"),
    "ols": ("PAY", ""),
}
ERRORS = dict.fromkeys(MODELS, {"standard_errors": by_term("0.0000")})
ERRORS["multinomial"] = {"standard_errors": {c: by_term("0.0000") for c in "bc"}}
ERRORS["ordered"] = {"standard_errors": by_term("0.0000", TERMS[1:])}
ERRORS["ols"] = ERRORS["ols"] | {"rmse": "0.000", "log_likelihood": "0.000"}


def _frequencies(name: str, data: pd.DataFrame) -> dict[str, Any]:
    counts = data[name].astype(str).value_counts()
    return {
        "kind": "frequencies",
        "of": name,
        "counts": {value: str(counts.get(value, 0)) for value in VARIABLES[name]["categories"]},
    }


def _crosstab(row: str, column: str, data: pd.DataFrame) -> dict[str, Any]:
    values = VARIABLES[column].get("categories") or [str(v) for v in range(26)]
    table = pd.crosstab(data[row].astype(str), data[column].astype(str))
    table = table.reindex(columns=list(values), fill_value=0)
    cells = {value: [str(n) for n in table.loc[value]] for value in table.index}
    return {"kind": "crosstab", "rows": row, "columns": column, "counts": cells}


def _summary(name: str, data: pd.DataFrame) -> dict[str, Any]:
    return {"kind": "summary", "of": name, "sd": f"{data[name].std():.2f}"}


def _spec(folder: Path, outputs: list[dict[str, Any]], data: pd.DataFrame) -> Path:
    path = folder / "spec.yaml"
    tree: dict[str, Any] = {"records": str(len(data)), "variables": VARIABLES}
    free = {"kind": "frequencies", "of": "SEX", "counts": {"total": len(data)}}
    path.write_text(yaml.safe_dump(tree | {"outputs": [free]}, sort_keys=False))
    schema = load(path).schema
    filled = [printed(o, data, schema) if "formula" in o else o for o in outputs]
    path.write_text(yaml.safe_dump(tree | {"outputs": filled}, sort_keys=False))
    return path


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("seed", range(6))
def test_truthful_print_is_never_faulted(tmp_path, kind, seed):
    rng = np.random.default_rng(seed)
    data = truth(seed, int(rng.integers(150, 400)))
    # A rare category, and one that goes with age, bring bounds near.
    data.loc[rng.random(len(data)) < 0.8, "AREA"] = "n"
    if seed % 2:
        data.loc[data["AGE"] > 50, "AREA"] = "w"
    outcome, table = MODELS[kind]
    raw = {"kind": kind, "formula": f"{outcome} ~ AGE + SEX + AREA", **ERRORS[kind]}
    outputs = [raw, _frequencies("AREA", data), _frequencies("SEX", data), _summary("AGE", data)]
    if table:
        outputs += [_crosstab("AREA", table, data)]
    assert load(_spec(tmp_path, outputs, data)).plans


@pytest.mark.parametrize("formula", ["YES ~ SEX", "YES ~ SEX*AREA", "YES ~ SEX + AREA"])
def test_model_that_follows_from_a_table(tmp_path, formula):
    data = truth(3, 300)
    counts = data.groupby(["SEX", "AREA", "YES"]).size()
    layers = {
        sex: {area: [str(counts[int(sex), area, y]) for y in (0, 1)] for area in "nsw"}
        for sex in "12"
    }
    names = ["Intercept", "SEX[2]"]
    if "AREA" in formula:
        names += ["AREA[s]", "AREA[w]"]
    if "*" in formula:
        names += ["SEX[2]:AREA[s]", "SEX[2]:AREA[w]"]
    raw = {"kind": "logit", "formula": formula, "coefficients": by_term("0.000", names)}
    raw |= {"standard_errors": by_term("0.000", names), "observations": "0"}
    table = {"kind": "crosstab", "rows": ["SEX", "AREA"], "columns": "YES"}
    path = _spec(tmp_path, [raw, table | {"counts": layers}], data)
    assert load(path).plans
    text = path.read_text()
    tree = yaml.safe_load(text)
    told = float(tree["outputs"][0]["coefficients"]["SEX[2]"])
    tree["outputs"][0]["coefficients"]["SEX[2]"] = f"{told + 0.01:.3f}"
    path.write_text(yaml.safe_dump(tree, sort_keys=False))
    (fault,) = faults(path)
    assert "SEX[2] is" in fault
    assert f"but the counts of outputs[1] give {told:.3f}" in fault


HEAD = """\
records: {records}
variables:
  DAYS: {{integer: [0, 20000]}}
  BORN: {{integer: [1925, 2002]}}
  GENDER: {{categories: {{1: Man, 2: Woman}}}}
  IOAW: {{categories: {{0: No, 1: Yes}}}}
  N: {{integer: [0, 9]}}
outputs:
"""
BENEFITS = """\
- kind: ols
  formula: DAYS ~ BORN + GENDER + IOAW
  coefficients: {Intercept: 98286.67, BORN: -48.71, "GENDER[2]": 332.89, "IOAW[1]": -1332.74}
  standard_errors: {Intercept: 1256.77, BORN: 0.64, "GENDER[2]": 19.66, "IOAW[1]": 231.36}
- kind: frequencies
  of: IOAW
  proportions: {0: 0.962, 1: 0.038}
"""
LOGIT = "- kind: logit\n  formula: IOAW ~ GENDER + N\n"
WOMEN = "- {kind: frequencies, of: GENDER, counts: {1: 80, 2: 20}}\n"
BY_GENDER = "- {kind: crosstab, rows: GENDER, columns: IOAW, counts: {1: [70, 10], 2: [%s]}}\n"
CASES = {
    # Published by Slokom et al. (2024): the shares of a benefit and its standard error disagree.
    (46900, BENEFITS): 'SE of IOAW[1] is 231.36, but beside the other standard errors it is at most 182.5 with 1759 to 1805 records of IOAW=1 by outputs[1]',
    (100, LOGIT + "  standard_errors: {'GENDER[2]': 0.499}\n" + WOMEN): "SE of GENDER[2] is 0.499, which puts the standard error at 0.4995 or less, but it is at least 0.5 with at most 20 with GENDER=2 and 80 with GENDER=1 by outputs[1]",
    (100, LOGIT + "  standard_errors: {'GENDER[2]': 0.560}\n" + BY_GENDER % "12, 8"): "but it is at least 0.568 with at most 20 with GENDER=2 and 80 with GENDER=1",
    (100, LOGIT + "  confidence_intervals: {'GENDER[2]': [1.00, 2.00]}\n" + WOMEN): "lower 95% limit of GENDER[2] is 1.00, which puts the standard error at 0.2577 or less",
    (100, LOGIT + "  standard_errors: {N: 0.043}\n"): "SE of N is 0.043, which puts the standard error at 0.0435 or less, but it is at least 0.04444 with 100 records",
    (100, "- kind: ols\n  formula: N ~ GENDER\n  standard_errors: {'GENDER[2]': 0.40}\n  rmse: 2.00\n" + WOMEN): "SE of GENDER[2] is 0.40, which puts the standard error at 0.405 or less, but it is at least 0.4988",
    (100, "- kind: poisson\n  formula: N ~ GENDER\n  standard_errors: {'GENDER[2]': 0.05}\n" + WOMEN): "but it is at least 0.08333",
    (100, LOGIT + "  coefficients: {N: 0.2}\n" + BY_GENDER % "20, 0"): "no record of GENDER=2 has IOAW=1 by outputs[1], so the coefficients of GENDER have no finite estimate",
    (100, "- kind: probit\n  formula: IOAW ~ GENDER\n  coefficients: {Intercept: 0.2}\n" + BY_GENDER % "0, 20"): "no record of GENDER=2 has IOAW=0 by outputs[1]",
}  # fmt: skip


@pytest.mark.parametrize("records, text", CASES)
def test_contradictions(tmp_path, records, text):
    path = tmp_path / "spec.yaml"
    path.write_text(HEAD.format(records=records) + text)
    (fault,) = faults(path)
    assert CASES[records, text] in fault


def test_separation_of_each_kind(tmp_path):
    counts = [["0", "9", "0"], ["9", "0", "9"]]
    for kind, missed in {"multinomial": 3, "ordered": 0}.items():
        rows = "\n".join(f"    {v}: [{', '.join(c)}]" for v, c in zip("12", counts, strict=True))
        path = tmp_path / f"{kind}.yaml"
        path.write_text(
            "records: 27\nvariables:\n  A: {categories: {1: a, 2: b}}\n"
            "  Y: {categories: {1: a, 2: b, 3: c}}\noutputs:\n"
            f"- kind: {kind}\n  formula: Y ~ A\n  observations: 27\n  log_likelihood: -9.9\n"
            f"- kind: crosstab\n  rows: A\n  columns: Y\n  counts:\n{rows}\n"
        )
        found = faults(path) if missed else []
        assert sum("no finite" in fault for fault in found) == missed


def test_the_error_of_a_single_term_tells_the_spread_alone(tmp_path):
    """Figures of 952 records whose residual variance is not published."""
    file = tmp_path / "spec.yaml"
    file.write_text("""
records: 952
variables:
  GROUP: {categories: {1: First, 2: Second}}
  SCORE: {number: {min: 0.0, max: 100.0, decimals: 1}}
outputs:
- {kind: frequencies, of: GROUP, counts: {1: 437, 2: 515}}
- kind: ols
  formula: SCORE ~ GROUP
  reference: {GROUP: 2}
  coefficients: {Intercept: 54.7724, "GROUP[1]": -0.6491}
  standard_errors: {Intercept: 0.3004, "GROUP[1]": 0.4434}
  observations: 952
  r_squared: 0.002
""")
    assert load(file).clashes == ()
