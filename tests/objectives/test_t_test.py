"""The t test: agreement with statsmodels and scipy, and what can be wrong."""

# ruff: noqa: E501 (a case per line)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from outputs import all_exact, faults, figures, recomputed, write
from scipy import stats
from statsmodels.stats.weightstats import ttest_ind

from evosynth.spec import load

VARIABLES = """\
GROUP: {categories: {a: A, b: B, c: C}}
X: {integer: [0, 40], missing: {-1: Refused}}
"""
ONE, TWO, THREE = [12, 15, 11, 19, 22], [20, 25, 31, 24, 18, 29], [1, 2, 3]
DATA = pd.DataFrame({"GROUP": [*"aaaaa", *"bbbbbb", *"ccc", "a"], "X": [*ONE, *TWO, *THREE, -1]})
SHAPE = "kind: t_test\nof: X\nby: GROUP\nwhere: GROUP in (a, b)\n"


def spec_of(folder: Path, output: str, records: int = 15):
    return load(write(folder, VARIABLES, output, records))


@pytest.mark.parametrize(("equal", "usevar"), [("true", "pooled"), ("false", "unequal")])
def test_agrees_with_statsmodels(tmp_path: Path, equal: str, usevar: str) -> None:
    spec = spec_of(
        tmp_path, SHAPE + f"equal_variances: {equal}\nt: -3\ndifference: -8.7\ndf: 9\np: <0.02"
    )
    t, p, df = ttest_ind(ONE, TWO, usevar=usevar)
    assert dict(zip(figures(spec), recomputed(spec, DATA), strict=True)) == {
        "t": pytest.approx(t),
        "df": pytest.approx(df),
        "difference": pytest.approx(np.mean(ONE) - np.mean(TWO)),
        "p": pytest.approx(p),
    }


def test_the_lowered_figures_agree(tmp_path: Path) -> None:
    test = stats.ttest_ind(ONE, TWO)
    text = f"t: {test.statistic:.4f}\ndf: 9\np: {test.pvalue:.4f}"
    spec = spec_of(tmp_path, SHAPE + text)
    (block,) = spec.plans[0].smooth
    levels = {value: level for level, value in enumerate(spec.schema["X"].values.tolist())}
    codes = np.array([["abc".index(g), levels[x]] for g, x in DATA.to_numpy()], dtype=np.uint8)
    assert (np.abs(block.refit(codes, np.ones(len(codes)))) < 1).all()
    codes[0, 1] += 3
    assert (np.abs(block.refit(codes, np.ones(len(codes)))) > 1).any()


FAULTS = {
    "nothing": (SHAPE, "6 outputs[0]: no figure is given; there are t, df, difference, p"),
    "three groups": ("kind: t_test\nof: X\nby: GROUP\nt: 1.0", "8 outputs[0].by: 'GROUP' has 3 values, not two; choose two with where"),
    "no quantity": ("kind: t_test\nof: GROUP\nby: X\nwhere: X in (1, 2)\nt: 1.0", "7 outputs[0].of: 'GROUP' holds categories that are not numbers"),
    "itself": ("kind: t_test\nof: X\nby: X\nwhere: X in (1, 2)\nt: 1.0", "8 outputs[0].by: 'X' stands under of as well"),
    "p": (SHAPE + "p: -0.2", "10 outputs[0].p: -0.2 is not a p-value; it must lie between 0 and 1"),
    "does not follow": (SHAPE + "t: −3.05\ndf: 9\np: <0.001", "12 outputs[0].p: <0.001 does not follow: t -3.05 has p from 0.0137 to 0.0139"),
}  # fmt: skip


@pytest.mark.parametrize(("output", "says"), FAULTS.values(), ids=FAULTS)
def test_faults(tmp_path: Path, output: str, says: str) -> None:
    assert faults(write(tmp_path, VARIABLES, output, 15)) == [says]


def test_data_reprint_the_test(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    group = rng.choice(list("ab"), 80)
    x = rng.integers(0, 30, 80) + 5 * (group == "b")
    test = stats.ttest_ind(x[group == "a"], x[group == "b"], equal_var=False)
    output = (
        "kind: t_test\nof: X\nby: GROUP\nequal_variances: false\n"
        f"t: {test.statistic:.3f}\ndf: {test.df:.2f}\np: {test.pvalue:.3f}"
    )
    variables = "GROUP: {categories: {a: A, b: B}}\nX: {integer: [0, 40]}\n"
    assert all_exact(write(tmp_path, variables, output, 80))
