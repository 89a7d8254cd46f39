"""One-way analysis of variance: agreement with statsmodels, and what can be wrong."""

# ruff: noqa: E501 (a case per line)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from outputs import all_exact, faults, figures, recomputed, write
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from evosynth.spec import load

VARIABLES = """\
FEED: {categories: {1: Bean, 2: Corn, 3: Meat}, missing: true}
W: {number: {min: 0.0, max: 30.0, decimals: 1}}
"""
DATA = pd.DataFrame(
    {
        "FEED": pd.array([1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, None], dtype="Int64"),
        "W": [10.1, 12.5, 9.9, 11.0, 14.2, 15.5, 13.1, 20.0, 18.7, 22.3, 19.4, 5.0],
    }
)
SHAPE = "kind: anova\nof: W\nby: FEED\n"


def spec_of(folder: Path, output: str, records: int = 12):
    return load(write(folder, VARIABLES, output, records))


def of_statsmodels(data: pd.DataFrame) -> list[float]:
    kept = data.dropna().astype({"FEED": int})
    table = anova_lm(ols("W ~ C(FEED)", kept).fit())
    squares = table["sum_sq"]
    return [table["F"].iloc[0], squares.iloc[0] / squares.sum(), table["PR(>F)"].iloc[0]]


def test_agrees_with_statsmodels(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, SHAPE + "f: 47.9\np: <0.001\neta_squared: 0.923")
    assert list(figures(spec)) == ["f", "eta squared", "p"]
    assert recomputed(spec, DATA) == pytest.approx(of_statsmodels(DATA))


def test_where(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, SHAPE + "where: FEED != 3\nf: 16.0\np: 0.010\neta_squared: 0.76")
    expected = of_statsmodels(DATA[DATA["FEED"] != 3])
    assert recomputed(spec, DATA) == pytest.approx(expected)


def test_the_lowered_figures_agree(tmp_path: Path) -> None:
    f, eta, p = of_statsmodels(DATA)
    spec = spec_of(tmp_path, SHAPE + f"f: {f:.3f}\neta_squared: {eta:.4f}\np: {p:.7f}")
    (block,) = spec.plans[0].smooth
    feed = DATA["FEED"].fillna(4).to_numpy(int) - 1
    codes = np.stack([feed, (DATA["W"] * 10).round().to_numpy(int)], axis=1).astype(np.uint16)
    assert (np.abs(block.refit(codes, np.ones(12))) < 1).all()


FAULTS = {
    "nothing": (SHAPE, "6 outputs[0]: no figure is given; there are f, eta_squared, p"),
    "itself": ("kind: anova\nof: W\nby: W\nf: 1.0", "8 outputs[0].by: 'W' stands under of as well"),
    "negative": (SHAPE + "f: -1.0", "9 outputs[0].f: -1.0 is negative"),
    "eta": (SHAPE + "eta_squared: 1.2", "9 outputs[0].eta_squared: 1.2 is not between 0 and 1"),
    "p": (SHAPE + "p: '****'", "9 outputs[0].p: **** has more stars than levels are listed under stars"),
}  # fmt: skip


@pytest.mark.parametrize(("output", "says"), FAULTS.values(), ids=FAULTS)
def test_faults(tmp_path: Path, output: str, says: str) -> None:
    assert faults(write(tmp_path, VARIABLES, output, 12)) == [says]


def test_data_reprint_the_analysis(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    feed = rng.integers(1, 4, 90)
    data = pd.DataFrame({"FEED": feed, "W": (rng.random(90) * 20 + 2 * feed).round(1)})
    f, eta, p = of_statsmodels(data)
    output = SHAPE + f"f: {f:.3f}\np: {p:.3f}\neta_squared: {eta:.3f}"
    assert all_exact(write(tmp_path, VARIABLES.replace(", missing: true", ""), output, 90))
