"""Correlations: every way to write them, and what can be wrong."""

# ruff: noqa: E501 (a case per line)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from outputs import all_exact, faults, figures, indent, recomputed, write
from scipy import stats

from evosynth.spec import load

VARIABLES = """\
A: {label: Age, integer: [0, 20]}
B: {label: Body mass, integer: [0, 20]}
C: {label: Cost, integer: [0, 20], missing: {-9: Refused}}
S: {label: Sex, categories: {m: Male, f: Female}}
"""
A = [1, 2, 3, 4, 5, 6, 7, 8]
B = [2, 1, 4, 3, 7, 5, 8, 6]
C = [9, 9, 7, 8, -9, 5, 5, 1]
DATA = pd.DataFrame({"A": A, "B": B, "C": C, "S": list("mmmmffff")})
SHAPE = "kind: correlation\nof: [A, B, C]\n"
PAIRS = {"r of A and B": "0.83", "r of A and C": "-0.92", "r of B and C": "-0.78"}


def spec_of(folder: Path, output: str, records: int = 8):
    return load(write(folder, VARIABLES, output, records))


def pasted(text: str, shape: str = SHAPE) -> str:
    return f"{shape}table: |2\n{indent(text, 2)}"


WAYS = {
    "mapping": SHAPE + "pearson: {B: {A: 0.83}, C: {A: -0.92, B: -0.78}}",
    "upper": SHAPE + "pearson: {A: {B: 0.83, C: -0.92}, B: {C: -0.78}}",
    "lists": SHAPE + "pearson: [[0.83], [-0.92, -0.78]]",
    "lists with diagonal": SHAPE + "pearson: [[1.00], [0.83, 1.00], [-0.92, -0.78, 1.00]]",
    "lower triangle": pasted("     A      B      C\nA    1.00\nB    0.83   1.00\nC   -0.92  -0.78   1.00\n"),
    "full": pasted("           Age    Body mass  Cost\nAge        1.00   0.83      −0.92\nBody mass  0.83   1.00      −0.78\nCost      −0.92  −0.78       1.00\n"),
    "numbered": pasted("              1      2      3\n1. Age        —\n2. Body mass  .83    —\n3. Cost       -.92   -.78   —\n"),
    "Stata": pasted("             |        A        B        C\n-------------+---------------------------\n           A |   1.00\n           B |   0.83     1.00\n           C |  -0.92    -0.78     1.00\n"),
    "SPSS": pasted("                          Age     Body mass  Cost\nAge        Pearson Correlation     1     .83  -.92\n           N                       8       8     7\nBody mass  Pearson Correlation   .83       1  -.78\n           N                       8       8     7\nCost       Pearson Correlation  -.92    -.78     1\n           N                       7       7     7\n"),
    "Markdown": pasted("| | A | B |\n|-|-|-|\n| B | 0.83 | |\n| C | -0.92 | -0.78 |\n"),
}  # fmt: skip


@pytest.mark.parametrize("output", WAYS.values(), ids=WAYS)
def test_ways_to_write_the_same_correlations(tmp_path: Path, output: str) -> None:
    spec = spec_of(tmp_path, output)
    assert figures(spec) == PAIRS
    x, y, z = np.array(A), np.array(B), np.array(C)
    there = z >= 0
    values = [
        stats.pearsonr(x, y)[0],
        stats.pearsonr(x[there], z[there])[0],
        stats.pearsonr(y[there], z[there])[0],
    ]
    assert recomputed(spec, DATA) == pytest.approx(values)
    assert all(f.printed.prints(v) for f, v in zip(spec.figures[0], values, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        ",A,B,C\nA,1.00,,\nB,0.83,1.00,\nC,-0.92,-0.78,1.00\n",
        "x;Age;Body mass\nBody mass;0.83;\nCost;-0.92;-0.78\n",
    ],
)
def test_files(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.csv").write_text(text)
    assert figures(spec_of(tmp_path, SHAPE + "file: r.csv")) == PAIRS


def test_stars_and_p_values(tmp_path: Path) -> None:
    starred = pasted("   A         B        C\nB  0.83*\nC  -0.92**   -0.78*   \n", SHAPE)
    expected = {
        "r of A and B": "0.83",
        "p of A and B": "*",
        "r of A and C": "-0.92",
        "p of A and C": "**",
        "r of B and C": "-0.78",
        "p of B and C": "*",
    }
    spec = spec_of(tmp_path, starred)
    assert figures(spec) == expected
    written = SHAPE + "pearson: [[0.83], [-0.92, -0.78]]\np_values: [['*'], ['**', '*']]"
    assert figures(spec_of(tmp_path, written)) == expected
    printed = [
        f.printed.prints(v) for f, v in zip(spec.figures[0], recomputed(spec, DATA), strict=True)
    ]
    assert all(printed)
    beside = pasted("   A             B\nB  0.83 (0.010)\nC  -0.92 (0.003)  -0.78 (0.04)\n")
    spec = spec_of(tmp_path, beside)
    assert [f.printed.text for f in spec.figures[0] if f.label.startswith("p")] == [
        "0.010",
        "0.003",
        "0.04",
    ]


def test_spearman_covariances_and_listwise(tmp_path: Path) -> None:
    rest = "spearman: {B: {A: 0.89}, C: {A: -0.95}}\ncovariances: {A: {A: 6.95}, B: {A: 5.60}}\np_values: {B: {A: <0.05}}\nmissing: listwise"
    spec = spec_of(tmp_path, SHAPE + rest)
    kept = DATA[DATA["C"] >= 0]
    values = dict(zip(figures(spec), recomputed(spec, DATA), strict=True))
    rank = stats.spearmanr(kept["A"], kept["B"])
    cov = np.cov(kept["A"], kept["B"])
    assert values == {
        "covariance of A and A": pytest.approx(cov[0, 0]),
        "rho of A and B": pytest.approx(rank.statistic),
        "covariance of A and B": pytest.approx(cov[0, 1]),
        "p of A and B": pytest.approx(rank.pvalue),
        "rho of A and C": pytest.approx(stats.spearmanr(kept["A"], kept["C"]).statistic),
    }


def test_shows_and_where(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, pasted("   A\nB  0.60\n", SHAPE + "where: S == m\nshows: spearman\n"))
    assert figures(spec) == {"rho of A and B": "0.60"}
    assert recomputed(spec, DATA) == pytest.approx([0.6])


TABLE = "     A      B\nB    0.83\nC   -0.92  -0.78\n"
FAULTS = {
    "nothing": (SHAPE, "8 outputs[0]: no figure is given; there are pearson, spearman, covariances, p_values, table and file"),
    "one": ("kind: correlation\nof: [A]\npearson: {A: {A: 1}}", "9 outputs[0].of: list two or more different quantities"),
    "no quantity": ("kind: correlation\nof: [A, S]\npearson: {S: {A: 1}}", "9 outputs[0].of: 'S' holds categories that are not numbers"),
    "unknown": (SHAPE + "pearson: {B: {A: 0.83}, D: {A: 0.10}}", "10 outputs[0].pearson.D: not listed under of (known: A, B, C)"),
    "unknown other": (SHAPE + "pearson: {B: {X: 0.83}}", "10 outputs[0].pearson.B.X: not listed under of (known: A, B, C)"),
    "shape": (SHAPE + "pearson: [0.83, [1, 2]]", "10 outputs[0].pearson[0]: expected a mapping by variable, or a list"),
    "beyond 1": (SHAPE + "pearson: {B: {A: 1.83}}", "10 outputs[0].pearson.B.A: 1.83 is not between -1 and 1"),
    "diagonal": (SHAPE + "pearson: {A: {A: 0.90}}", "10 outputs[0].pearson.A.A: 'A' with itself is 1, not 0.90"),
    "twice": (SHAPE + "pearson: {B: {A: 0.83}, A: {B: 0.80}}", "10 outputs[0].pearson.A.B: r of A and B is 0.80 here, but 0.83 before"),
    "stars": (SHAPE + "p_values: {B: {A: '****'}}", "10 outputs[0].p_values.B.A: **** has more stars than levels are listed under stars"),
    "levels": (SHAPE + "stars: [0.001, 0.01]\np_values: {B: {A: '*'}}", "10 outputs[0].stars: more stars stand for a smaller level; begin with that of one star"),
    "p": (SHAPE + "pearson: {B: {A: 0.83}}\np_values: {B: {A: 0.030}}", None),
    "row": (pasted(TABLE.replace("C ", "D ")), "13 outputs[0].table[2]: 'D' is not listed under of (known: A, B, C)"),
    "column": (pasted("\n" + TABLE.replace("A   ", "X   ")), "12 outputs[0].table[1]: 'X' is not listed under of (known: A, B, C)"),
    "cell": (pasted(TABLE.replace("-0.78", "-1.78")), "13 outputs[0].table[2]: -1.78 is not between -1 and 1"),
    "several": (pasted("| | A |\n| B | 0.83 (0.01, 0.02) |\n"), "12 outputs[0].table[1]: '0.83 0.01 0.02' holds more than a figure and its p-value"),
}  # fmt: skip


@pytest.mark.parametrize(("output", "says"), FAULTS.values(), ids=FAULTS)
def test_faults(tmp_path: Path, output: str, says: str | None) -> None:
    path = write(tmp_path, VARIABLES, output, 8)
    if says is None:  # values of C may be missing
        assert load(path)
    else:
        assert faults(path) == [says]


COMPLETE = VARIABLES.replace(", missing: {-9: Refused}", "")


def test_figures_that_contradict_each_other(tmp_path: Path) -> None:
    path = write(
        tmp_path, COMPLETE, SHAPE + "pearson: {B: {A: 0.83}}\np_values: {B: {A: 0.030}}", 8
    )
    assert faults(path) == [
        "11 outputs[0].p_values.B.A: p of A and B is 0.030, but 0.83 among 8 records has p from "
        "0.00989 to 0.0117"
    ]
    path = write(tmp_path, COMPLETE, SHAPE + "pearson: [[0.90], [0.90, -0.90]]", 8)
    assert faults(path) == [
        "10 outputs[0].pearson: no data have these correlations: the smallest eigenvalue of their "
        "matrix is -0.8000, and rounding explains -0.0100 at most"
    ]


def test_data_reprint_the_matrix(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(0, 21, 150)
    data = pd.DataFrame({"A": a, "B": (a + rng.integers(0, 21, 150)) // 2})
    data["C"] = (rng.integers(0, 21, 150) + 20 - a) // 2
    r = data.corr()
    rho = data.corr("spearman")
    lines = [f"pearson: {{B: {{A: {r.B.A:.3f}}}, C: {{A: {r.C.A:.3f}, B: {r.C.B:.3f}}}}}"]
    lines += [f"spearman: {{C: {{A: {rho.C.A:.2f}}}}}", "p_values: {B: {A: '***'}}"]
    assert all_exact(write(tmp_path, COMPLETE, SHAPE + "\n".join(lines), 150))
