"""Summaries: every way to write them, what they constrain, and what can be wrong."""

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
SEX: {label: Sex, categories: {1: Male, 2: Female}}
AREA: {label: Area, categories: {n: North, s: South}}
AGE: {label: Age, integer: [0, 99], missing: true}
PAY: {label: Pay, number: {min: 0.0, max: 50.0, decimals: 1}, missing: {-1: Refused}}
"""
DATA = pd.DataFrame(
    {
        "SEX": [1, 1, 1, 1, 2, 2, 2, 2],
        "AREA": list("nnssnsss"),
        "AGE": pd.array([20, 30, 41, None, 35, 35, 50, 60], dtype="Int64"),
        "PAY": [10.0, 12.5, 20.1, 8.4, -1.0, 9.9, 30.2, 15.0],
    }
)
AGES = np.array([20, 30, 41, 35, 35, 50, 60])
AGE = "kind: summary\nof: AGE\n"
BY_SEX = AGE + "by: SEX\n"


def spec_of(folder: Path, output: str, records: int = 8):
    return load(write(folder, VARIABLES, output, records))


def pasted(text: str, shape: str) -> str:
    return f"{shape}table: |2\n{indent(text, 2)}"


STATISTICS = {
    "n: 7": 7,
    "mean: 38.71": AGES.mean(),
    "sd: 13.16": AGES.std(ddof=1),
    "variance: 173.2": AGES.var(ddof=1),
    "standard_error: 4.97": stats.sem(AGES),
    "median: 35": 35,
    "iqr: 13.0": np.subtract(*np.percentile(AGES, [75, 25])),
    "min: 20": 20,
    "max: 60": 60,
    "sum: 271": 271,
    "skewness: 0.39": stats.skew(AGES, bias=False),
    "kurtosis: 0.05": stats.kurtosis(AGES, bias=False),
    "quantiles: {25: 32.5, 90: 54.0}": np.percentile(AGES, [25, 90]),
    "above: {40: 42.9}": 300 / 7,
    "below: {35: 28.6}": 200 / 7,
}


@pytest.mark.parametrize(("figure", "value"), STATISTICS.items(), ids=list(STATISTICS))
def test_statistics(tmp_path: Path, figure: str, value: float) -> None:
    spec = spec_of(tmp_path, AGE + ("" if figure.startswith("n:") else "n: 7\n") + figure)
    found = recomputed(spec, DATA)
    at = [i for i, f in enumerate(spec.figures[0]) if not f.label.startswith("n of")] or [0]
    np.testing.assert_allclose(np.array(found)[at], value)
    for i in at:
        assert spec.figures[0][i].printed.prints(found[i])


PRINTED = {
    "n of AGE, SEX=1": "3",
    "n of AGE, SEX=2": "4",
    "n of AGE": "7",
    "mean of AGE, SEX=1": "30.33",
    "mean of AGE, SEX=2": "45.00",
    "mean of AGE": "38.71",
    "sd of AGE, SEX=1": "10.5",
    "sd of AGE, SEX=2": "12.2",
    "sd of AGE": "13.2",
}
WAYS = {
    "mappings": BY_SEX + "n: {1: 3, 2: 4, total: 7}\nmean: {1: 30.33, 2: 45.00, total: 38.71}\nsd: {1: 10.5, 2: 12.2, total: 13.2}",
    "lists": BY_SEX + "n: [3, 4, 7]\nmean: [30.33, 45.00, 38.71]\nsd: [10.5, 12.2, 13.2]",
    "each": AGE + "each: [SEX, AREA]\nn: {SEX: {1: 3, 2: 4}, total: 7}\nmean: {SEX: [30.33, 45.00], total: 38.71}\nsd: {SEX: [10.5, 12.2], total: 13.2}",
    "of several": "kind: summary\nof: [AGE, PAY]\nby: SEX\nn: {AGE: [3, 4, 7]}\nmean: {AGE: [30.33, 45.00, 38.71]}\nsd: {AGE: [10.5, 12.2, 13.2]}",
    "pasted": pasted("Sex      N   Mean   Std. Dev.\nMale     3  30.33        10.5\nFemale   4  45.00        12.2\nTotal    7  38.71        13.2\n", BY_SEX),
    "codes": pasted("SEX  n  mean   sd\n1    3  30.33  10.5\n2    4  45.00  12.2\nAll  7  38.71  13.2\n", BY_SEX),
    "mean (sd)": pasted("Sex     n  Mean (SD)\nMale    3  30.33 (10.5)\nFemale  4  45.00 (12.2)\nTotal   7  38.71 (13.2)\n", BY_SEX),
    "±": pasted("Sex     n  Mean ± SD\nMale    3  30.33 ± 10.5\nFemale  4  45.00 ± 12.2\nTotal   7  38.71 ± 13.2\n", BY_SEX),
    "sideways": pasted("       Male  Female  Total\nN         3       4      7\nMean  30.33   45.00  38.71\nSD     10.5    12.2   13.2\n", BY_SEX),
    "table 1": pasted("      Male          Female        Total\nAge   30.33 (10.5)  45.00 (12.2)  38.71 (13.2)\n", BY_SEX + "n: [3, 4, 7]\nshows: [mean, sd]\n"),
    "sizes": pasted("|  | Male (n=3) | Female (N = 4) | All |\n|-|-|-|-|\n| Age | 30.33 ± 10.5 | 45.00 ± 12.2 | 38.71 ± 13.2 |\n", BY_SEX + "n: [3, 4, 7]\nshows: [mean, sd]\n"),
    "headings": pasted("         n  mean     sd\nSex\n  Male   3  30.33  10.5\n  Female 4  45.00  12.2\nTotal    7  38.71  13.2\n", AGE + "each: [SEX, AREA]\n"),
}  # fmt: skip


@pytest.mark.parametrize("output", WAYS.values(), ids=WAYS)
def test_ways_to_write_the_same_statistics(tmp_path: Path, output: str) -> None:
    spec = spec_of(tmp_path, output)
    assert figures(spec) == PRINTED
    for figure, value in zip(spec.figures[0], recomputed(spec, DATA), strict=True):
        assert figure.printed.prints(value), (figure, value)


@pytest.mark.parametrize(
    "text",
    [
        "SEX,n,mean,sd\n1,3,30.33,10.5\n2,4,45.00,12.2\ntotal,7,38.71,13.2\n",
        ";Male;Female;Total\nn;3;4;7\nmean;30.33;45.00;38.71\nsd;10.5;12.2;13.2\n",
    ],
)
def test_files(tmp_path: Path, text: str) -> None:
    (tmp_path / "ages.csv").write_text(text)
    assert figures(spec_of(tmp_path, BY_SEX + "file: ages.csv")) == PRINTED


def test_several_quantities_and_crossed_groups(tmp_path: Path) -> None:
    shape = "kind: summary\nof: [AGE, PAY]\nby: [SEX, AREA]\n"
    nested = "mean: {AGE: {1: [25.0, 41.0], 2: {s: 48.3}}, PAY: {2: {s: 18.37, total: 18.37}, total: {n: 11.25}}}\n"
    spec = spec_of(tmp_path, shape + nested)
    women = np.mean([9.9, 30.2, 15.0])
    expected = [25, 41, 145 / 3, women, women, 11.25]
    assert recomputed(spec, DATA) == pytest.approx(expected)
    lines = [
        "Variable SEX AREA mean",
        *["AGE 1 n 25.0", "AGE 1 s 41.0", "AGE 2 s 48.3"],
        *["PAY 2 s 18.37", "PAY 2 total 18.37", "PAY total n 11.25"],
    ]
    text = "\n".join(lines).replace(" ", "\t") + "\n"
    assert figures(spec_of(tmp_path, pasted(text, shape))) == figures(spec)


def test_quartiles_and_ranges_are_two_numbers(tmp_path: Path) -> None:
    text = "Sex     Median [IQR]       Mean (range)\nMale    30.0 [25.0, 35.5]  30.3 (20-41)\n"
    spec = spec_of(tmp_path, pasted(text, BY_SEX + "n: [3, 4]\n"))
    values = dict(zip(figures(spec), recomputed(spec, DATA), strict=True))
    assert values.pop("mean of AGE, SEX=1") == pytest.approx(91 / 3)
    assert values == {
        "n of AGE, SEX=1": 3,
        "n of AGE, SEX=2": 4,
        "median of AGE, SEX=1": 30,
        "25 % quantile of AGE, SEX=1": 25,
        "75 % quantile of AGE, SEX=1": 35.5,
        "min of AGE, SEX=1": 20,
        "max of AGE, SEX=1": 41,
    }
    assert all(f.printed.prints(values[f.label]) for f in spec.figures[0] if f.label in values)


def test_total_leaves_out_records_without_a_group(tmp_path: Path) -> None:
    variables = VARIABLES.replace("2: Female}", "2: Female}, missing: true")
    data = DATA.assign(SEX=pd.array([1, 1, 1, 1, 2, 2, 2, None], dtype="Int64"))
    by = load(write(tmp_path, variables, BY_SEX + "n: {total: 6}", 8))
    each = load(write(tmp_path, variables, AGE + "each: SEX\nn: {total: 7}", 8))
    assert recomputed(by, data) == [6]
    assert recomputed(each, data) == [7]


def test_pandas_describe(tmp_path: Path) -> None:
    valid = DATA.assign(PAY=DATA["PAY"].where(DATA["PAY"] >= 0))
    text = valid[["AGE", "PAY"]].astype(float).describe().round(2).to_string() + "\n"
    spec = spec_of(
        tmp_path,
        pasted(
            text.replace(".00\n", "\n").replace("7.00", "7   "), "kind: summary\nof: [AGE, PAY]\n"
        ),
    )
    assert len(spec.figures[0]) == 16
    for figure, value in zip(spec.figures[0], recomputed(spec, DATA), strict=True):
        assert figure.printed.prints(value), (figure, value)


def test_where_and_coded_missing_values(tmp_path: Path) -> None:
    spec = spec_of(
        tmp_path, "kind: summary\nof: PAY\nwhere: AREA == n\nn: 2\nmean: 11.25\nabove: {10: 50}"
    )
    assert recomputed(spec, DATA) == [2, 50, 11.25]


def test_bounds(tmp_path: Path) -> None:
    spec = spec_of(
        tmp_path, BY_SEX + "n: {1: <4, 2: suppressed}\nsuppressed: [2, 5]\nmean: {1: '>20'}"
    )
    table = spec.plans[0].tables[0]
    assert table.low.tolist()[::2][:2] == [0, 2]
    assert table.high.tolist()[::2][:2] == [3, 5]


FAULTS = {
    "nothing": (AGE, "8 outputs[0]: no statistic is given; there are n, mean, sd, variance, standard_error, median, iqr, min, max, sum, skewness, kurtosis, quantiles, above, below, table and file"),
    "no quantity": ("kind: summary\nof: AREA\nmean: 3", "9 outputs[0].of: 'AREA' holds categories that are not numbers"),
    "by and each": (BY_SEX + "each: AREA\nmean: {1: 30}", "11 outputs[0].each: give either by (crossed) or each (one after the other)"),
    "by itself": (AGE + "by: AGE\nmean: {30: 30}", "10 outputs[0].by: 'AGE' stands under of as well"),
    "value": (BY_SEX + "mean: {1: 30.33, 3: 45.00}", "11 outputs[0].mean.3: 'SEX' has no value '3' (known: 1, 2)"),
    "one for all": (BY_SEX + "mean: 30.33", "11 outputs[0].mean: expected one number for each value of 'SEX'"),
    "too many": (BY_SEX + "mean: [1, 2, 3, 4]", "11 outputs[0].mean: 4 numbers, but 'SEX' has 2 values"),
    "no number": (AGE + "mean: x", "10 outputs[0].mean: 'x' is not a number as printed, such as 1,024 or -0.0650"),
    "negative": (AGE + "sd: −2.0", "10 outputs[0].sd: -2.0 cannot be negative"),
    "quantile": (AGE + "quantiles: {125: 30}", "10 outputs[0].quantiles.125: 125 is not a percentage between 0 and 100"),
    "outside": (AGE + "mean: 120.5", "10 outputs[0].mean: mean of AGE is 120.5, outside 0 to 99, the values of the variable (off by 21.45)"),
    "order": (AGE + "n: 8\nmedian: 30\nquantiles: {75: 20}", "12 outputs[0].quantiles.75: 75 % quantile of AGE is 20, below median of AGE, which is 30 (off by 9)"),
    "GRIM": (AGE + "n: 7\nmean: 38.75", "11 outputs[0].mean: no 7 values of 'AGE' have a mean that prints as 38.75 (GRIM; the nearest is 38.7143)"),
    "more than all": (AGE + "n: 9", "10 outputs[0].n: 9 is more than all 8 records"),
    "header": (pasted("Sex     n  moan\nMale    3  30.33\n", BY_SEX), "12 outputs[0].table[0]: 'moan' is not a statistic (did you mean 'mean'?)"),
    "row": (pasted("Sex     n  mean\nMale    3  30.33\n\nOther   4  45.00\n", BY_SEX), "15 outputs[0].table[3]: 'Other' names no quantity and group of this output"),
    "cell": (pasted("Sex     n  mean\nMale    3.5  30.33\n", BY_SEX), "13 outputs[0].table[1]: 3.5 is not a number of records; counts are whole and not negative"),
    "twice": (pasted("Sex     n  mean\nMale    3  30.33\nMale    3  30.00\n", BY_SEX), "14 outputs[0].table[2]: mean of AGE, SEX=1 is 30.00 here, but 30.33 before"),
    "two": (pasted("Sex     n  mean\nMale    3  30.33 (2.0)\n", BY_SEX), "13 outputs[0].table[1]: '30.33 2.0' holds more numbers than its header names"),
    "no header": (pasted("Male    3  30.33\nFemale  4  45.00\n", BY_SEX), "12 outputs[0].table[0]: the table needs a header that names the statistics, such as n mean sd"),
}  # fmt: skip


@pytest.mark.parametrize(("output", "says"), FAULTS.values(), ids=FAULTS)
def test_faults(tmp_path: Path, output: str, says: str) -> None:
    assert faults(write(tmp_path, VARIABLES, output, 8)) == [says]


def test_faults_in_a_file_name_it_and_its_line(tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text("SEX,mean\n1,30.33\n7,45.00\n")
    path = write(tmp_path, VARIABLES, BY_SEX + "file: ages.csv", 8)
    says = "line 3: '7' names no quantity and group of this output"
    assert faults(path) == [f"11 outputs[0].file: ages.csv, {says}"]


def test_data_reprint_the_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    age = rng.normal(45, 12, 120).round().clip(0, 99).astype(int)
    sex = rng.integers(1, 3, 120)
    lines = ["SEX  n  mean  sd  median"]
    for value in (1, 2):
        group = pd.Series(age[sex == value])
        lines.append(
            f"{value}  {len(group)}  {group.mean():.2f}  {group.std():.2f}  {group.median():.1f}"
        )
    assert all_exact(write(tmp_path, VARIABLES, pasted("\n".join(lines) + "\n", BY_SEX), 120))
