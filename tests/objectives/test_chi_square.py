"""The chi-square test: agreement with scipy, ways to print a p-value, and what can be wrong."""

# ruff: noqa: E501 (a case per line)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from outputs import all_exact, faults, figures, recomputed, write
from scipy import stats

from evosynth.spec import load

VARIABLES = """\
SEX: {categories: {1: Male, 2: Female}, missing: true}
AREA: {categories: {n: North, s: South, w: West}}
WORK: {categories: {0: "No", 1: "Yes"}}
"""
CELLS = np.array([[12, 5, 9], [4, 11, 7]])
DATA = pd.DataFrame(
    [
        (sex, area, work)
        for sex, row in zip((1, 2), CELLS, strict=True)
        for area, n in zip("nsw", row, strict=True)
        for work in [0] * (n // 3) + [1] * (n - n // 3)
    ],
    columns=["SEX", "AREA", "WORK"],
).astype({"SEX": "Int64"})
SHAPE = "kind: chi_square\nrows: SEX\ncolumns: AREA\n"


def spec_of(folder: Path, output: str, records: int = 48):
    return load(write(folder, VARIABLES, output, records))


def test_agrees_with_scipy(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, SHAPE + "statistic: 6.21\ndf: 2\np: 0.045\ncramers_v: 0.360")
    test = stats.chi2_contingency(CELLS)
    v = np.sqrt(test.statistic / 48)
    found = recomputed(spec, DATA)
    assert dict(zip(figures(spec), found, strict=True)) == {
        "statistic": pytest.approx(test.statistic),
        "df": 2,
        "cramers v": pytest.approx(v),
        "p": pytest.approx(test.pvalue),
    }
    assert all(f.printed.prints(x) for f, x in zip(spec.figures[0], found, strict=True))


@pytest.mark.parametrize("yates", ["true", "false"])
def test_two_by_two(tmp_path: Path, yates: str) -> None:
    output = (
        f"kind: chi_square\nrows: SEX\ncolumns: WORK\nyates: {yates}\nstatistic: 0.10\np: '>0.5'"
    )
    table = pd.crosstab(DATA["SEX"], DATA["WORK"]).to_numpy()
    test = stats.chi2_contingency(table, correction=yates == "true")
    assert recomputed(spec_of(tmp_path, output), DATA) == pytest.approx(
        [test.statistic, test.pvalue]
    )


def test_missing_values_empty_rows_and_where(tmp_path: Path) -> None:
    output = SHAPE + "where: AREA in (n, s)\nstatistic: 6.23\ndf: 1"
    extra = pd.DataFrame({"SEX": pd.array([None] * 5, "Int64"), "AREA": list("nnsww"), "WORK": 1})
    data = pd.concat([DATA, extra], ignore_index=True)
    test = stats.chi2_contingency(CELLS[:, :2], correction=False)
    assert recomputed(spec_of(tmp_path, output, 53), data) == pytest.approx([test.statistic, 1])


P_VALUES = {
    "0.046": (0.0455, 0.0465),
    "<0.05": (0, 0.05),
    "p < .05": (0, 0.05),
    "'*'": (0.01, 0.05),
    "ns": (0.05, 1),
    "n.s.": (0.05, 1),
    "'***'": (0, 0.001),
    "≥0.02": (0.02, 1),
    "0.000": (0, 0.0005),
}


@pytest.mark.parametrize(("text", "interval"), P_VALUES.items(), ids=list(P_VALUES))
def test_p_values(tmp_path: Path, text: str, interval: tuple[float, float]) -> None:
    spec = spec_of(tmp_path, SHAPE + f"p: {text}")
    assert spec.figures[0][0].printed.interval == pytest.approx(interval)


def test_levels_of_stars(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, SHAPE + "stars: [0.1, 0.05]\np: '*'")
    assert spec.figures[0][0].printed.interval == (0.05, 0.1)


FAULTS = {
    "nothing": (SHAPE, "7 outputs[0]: no figure is given; there are statistic, df, cramers_v, p"),
    "one variable": ("kind: chi_square\nrows: SEX\ncolumns: SEX\ndf: 1", "9 outputs[0].columns: 'SEX' is named twice"),
    "p": (SHAPE + "p: 1.2", "10 outputs[0].p: 1.2 is not a p-value; it must lie between 0 and 1"),
    "p of words": (SHAPE + "p: significant", "10 outputs[0].p: 'significant' is not a number as printed, such as 1,024 or -0.0650"),
    "df": (SHAPE + "df: 4", "10 outputs[0].df: 4 is more than 2, the most that a table of these variables has"),
    "large": (SHAPE + "statistic: 49.9", "10 outputs[0].statistic: 49.9 is more than 48, the largest for 48 records"),
    "negative": (SHAPE + "statistic: −1.0", "10 outputs[0].statistic: -1.0 is negative"),
    "v": (SHAPE + "cramers_v: 1.10", "10 outputs[0].cramers_v: 1.10 is not between 0 and 1"),
    "does not follow": (SHAPE + "statistic: 6.21\ndf: 2\np: 0.460", "12 outputs[0].p: 0.460 does not follow: statistic 6.21 has p from 0.0447 to 0.0449"),
}  # fmt: skip


@pytest.mark.parametrize(("output", "says"), FAULTS.values(), ids=FAULTS)
def test_faults(tmp_path: Path, output: str, says: str) -> None:
    assert faults(write(tmp_path, VARIABLES, output, 48)) == [says]


def test_data_reprint_the_test(tmp_path: Path) -> None:
    output = SHAPE + "statistic: 6.21\ndf: 2\np: '*'\ncramers_v: 0.360"
    assert all_exact(write(tmp_path, VARIABLES.replace(", missing: true", ""), output, 48))
