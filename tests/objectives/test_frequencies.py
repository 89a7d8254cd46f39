"""Frequencies: every way to write them, what they constrain, and what can be wrong."""

# ruff: noqa: E501 (a case per line)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from outputs import all_exact, faults, figures, indent, recomputed, write

from evosynth.spec import load

VARIABLES = """\
SEX: {label: Sex, categories: {1: Male, 2: Female}}
HEALTH: {label: Health, categories: {1: Good, 2: Fair, 3: Bad}, missing: {-9: Refused, -8: Unknown}}
WORK: {label: In work, categories: {0: "No", 1: "Yes"}, missing: true}
"""
DATA = pd.DataFrame(
    {
        "SEX": [1, 1, 1, 2, 2, 2, 2, 2, 2, 2],
        "HEALTH": [1, 1, 2, 1, 2, 2, 1, -9, -8, -9],
        "WORK": pd.array([0, 1, 1, 1, None, 1, None, 0, 1, 1], dtype="Int64"),
    }
)
HEALTH = "kind: frequencies\nof: HEALTH\n"
WORK = "kind: frequencies\nof: WORK\n"


def spec_of(folder: Path, output: str, records: int = 10):
    return load(write(folder, VARIABLES, output, records))


def pasted(text: str, shape: str) -> str:
    return f"{shape}table: |2\n{indent(text, 2)}"


COUNTS = {"WORK=0": "2", "WORK=1": "6", "WORK=missing": "2", "WORK=total": "10"}
WAYS = {
    "mapping": WORK + "counts: {0: 2, 1: 6, missing: 2, total: 10}",
    "labels": pasted("In work   n\nNo        2\nYes       6\nMissing   2\nTotal    10\n", WORK),
    "codes": pasted("0        2\n1        6\nMissing  2\nTotal   10\n", WORK),
    "on its side": pasted("   No    Yes  Missing  Total\n    2      6        2     10\n", WORK),
    "Markdown": pasted("| | n |\n|-|-|\n| No | 2 |\n| Yes | 6 |\n| Missing | 2 |\n| All | 10 |\n", WORK),
    "twice": pasted("No        2\nYes       6\nMissing   2\nTotal    10\n", WORK) + "counts: {0: 2, 1: 6}",
}  # fmt: skip


@pytest.mark.parametrize("output", WAYS.values(), ids=WAYS)
def test_ways_to_write_the_same_counts(tmp_path: Path, output: str) -> None:
    spec = spec_of(tmp_path, output)
    assert figures(spec) == COUNTS
    found = dict(zip(figures(spec), recomputed(spec, DATA), strict=True))
    assert found == {"WORK=0": 2, "WORK=1": 6, "WORK=missing": 2, "WORK=total": 10}


@pytest.mark.parametrize(
    "text",
    ["WORK,n\n0,2\n1,6\nmissing,2\ntotal,10\n", "Work;n\nYes;6\nNo;2\nMissing;2\nTotal;10\n"],
)
def test_files(tmp_path: Path, text: str) -> None:
    (tmp_path / "work.csv").write_text(text)
    assert figures(spec_of(tmp_path, WORK + "file: work.csv")) == COUNTS


def test_missing_codes_are_values_and_may_be_taken_together(tmp_path: Path) -> None:
    spec = spec_of(
        tmp_path,
        HEALTH + "counts: {1: 4, 2: 3, 3: 0, -9: 2, -8: 1, missing: 3, valid: 7}\n"
        "percentages: {1: 40, missing: 30}\nvalid_percentages: {1: 57.1, 2: 42.9, 3: 0.0}\n"
        "proportions: {2: 0.30, valid: 0.70}",
    )
    values = dict(zip(figures(spec), recomputed(spec, DATA), strict=True))
    assert values.pop("valid percentages: HEALTH=1") == pytest.approx(400 / 7)
    assert values.pop("valid percentages: HEALTH=2") == pytest.approx(300 / 7)
    assert values == {
        "counts: HEALTH=1": 4,
        "counts: HEALTH=2": 3,
        "counts: HEALTH=3": 0,
        "counts: HEALTH=-9": 2,
        "counts: HEALTH=-8": 1,
        "counts: HEALTH=missing": 3,
        "counts: HEALTH=valid": 7,
        "percentages: HEALTH=1": 40,
        "percentages: HEALTH=missing": 30,
        "valid percentages: HEALTH=3": 0,
        "proportions: HEALTH=2": pytest.approx(0.3),
        "proportions: HEALTH=valid": pytest.approx(0.7),
    }


SPSS = """\
                                          Valid     Cumulative
                 Frequency    Percent    Percent      Percent
Valid    No             2       20.0       25.0         25.0
         Yes            6       60.0       75.0        100.0
         Total          8       80.0      100.0
Missing  System         2       20.0
Total                  10      100.0
"""
STATA = """\
    In work |      Freq.     Percent        Cum.
------------+-----------------------------------
         No |          2       25.00       25.00
        Yes |          6       75.00      100.00
------------+-----------------------------------
      Total |          8      100.00
"""


def test_spss(tmp_path: Path) -> None:
    assert figures(spec_of(tmp_path, pasted(SPSS, WORK))) == {
        "counts: WORK=0": "2",
        "percentages: WORK=0": "20.0",
        "valid percentages: WORK=0": "25.0",
        "counts: WORK=1": "6",
        "percentages: WORK=1": "60.0",
        "valid percentages: WORK=1": "75.0",
        "counts: WORK=valid": "8",
        "percentages: WORK=valid": "80.0",
        "valid percentages: WORK=valid": "100.0",
        "counts: WORK=missing": "2",
        "percentages: WORK=missing": "20.0",
        "counts: WORK=total": "10",
        "percentages: WORK=total": "100.0",
    }


def test_stata(tmp_path: Path) -> None:
    output = pasted(STATA, WORK + "where: WORK in (0, 1)\n")
    spec = spec_of(tmp_path, output)
    assert list(figures(spec).values()) == ["2", "25.00", "6", "75.00", "8", "100.00"]
    assert recomputed(spec, DATA) == [2, 25, 6, 75, 8, 100]


def test_counts_and_percentages_in_one_cell(tmp_path: Path) -> None:
    text = "No       2 (20.0%)\nYes      6 (60.0%)\nMissing  2 (20.0%)\n"
    output = pasted(text, WORK + "shows: [counts, percentages]\n")
    assert list(figures(spec_of(tmp_path, output)).values()) == [
        "2",
        "20.0",
        "6",
        "60.0",
        "2",
        "20.0",
    ]


def test_where(tmp_path: Path) -> None:
    spec = spec_of(
        tmp_path, HEALTH + "where: SEX == 1\ncounts: {1: 2, total: 3}\npercentages: {2: 33}"
    )
    assert recomputed(spec, DATA) == pytest.approx([2, 3, 100 / 3])


def test_bounds(tmp_path: Path) -> None:
    output = WORK + "suppressed: [1, 4]\ncounts: {0: c, 1: '>=5', missing: <3}"
    table = spec_of(tmp_path, output).plans[0].tables[0]
    assert (table.low.tolist(), table.high.tolist()) == ([1, 5, 0], [4, 10, 2])
    rounded = "kind: frequencies\nof: SEX\nrounded: {base: 3, random: true}\ncounts: {1: 3, 2: 6}"
    table = spec_of(tmp_path, rounded).plans[0].tables[0]
    assert (table.low.tolist(), table.high.tolist()) == ([1, 4], [5, 8])


def test_the_intervals_admit_exactly_the_data_that_print_the_figures(tmp_path: Path) -> None:
    output = "kind: frequencies\nof: SEX\npercentages: {1: 33, 2: 67}"
    spec = spec_of(tmp_path, output, records=1000)
    table = spec.plans[0].tables[0]
    for men in range(320, 340):
        data = pd.DataFrame({"SEX": np.repeat([1, 2], [men, 1000 - men])})
        values = spec.outputs[0].recompute(data, np.ones(1000), spec.schema)
        printed = [f.printed.prints(v) for f, v in zip(spec.figures[0], values, strict=True)]
        counts = np.array([men, 1000 - men])
        assert ((table.low <= counts) & (counts <= table.high)).tolist() == printed


FAULTS = {
    "nothing": (WORK, "7 outputs[0]: no figure is listed; give one of counts, proportions, percentages, valid_percentages, table and file"),
    "unknown": (WORK + "counts: {0: 2, 2: 6}", "9 outputs[0].counts.2: 'WORK' has no value '2' (known: 0, 1, missing)"),
    "no missing": ("kind: frequencies\nof: SEX\ncounts: {1: 3, missing: 1}", "9 outputs[0].counts.missing: 'SEX' has no value 'missing' (known: 1, 2)"),
    "sum": (WORK + "counts: {0: 2, 1: 6, missing: 3}", "9 outputs[0].counts: the cells sum to 11, but records is 10 (1 too many)"),
    "too many": (WORK + "counts: {0: 12}", "9 outputs[0].counts.0: 12 is more than all 10 records"),
    "some sum": (WORK + "percentages: {0: 50, 1: 60}", "9 outputs[0].percentages: the percentages sum to 110, which is not 100 within their rounding (±1)"),
    "share": (WORK + "percentages: {0: 25}", "9 outputs[0].percentages.0: no number of records out of 10 has a share that prints as 25"),
    "valid": (WORK + "valid_percentages: {0: 25, missing: 20}", "9 outputs[0].valid_percentages.missing: a missing value has no valid percentage"),
    "label": (pasted("No    2\nYse   6\n", WORK), "11 outputs[0].table[1]: 'Yse' is neither a value of 'WORK' nor a total (did you mean 'Yes'?)"),
    "columns": (pasted("No    2  20\nYes   6  60\n", WORK), [
        f"{line} outputs[0].table[{line - 10}]: 2 numbers; say under shows what they are, such as [counts, percentages]" for line in (10, 11)
    ]),
    "count": (pasted("\n\nNo    2\nYes   6.5\n", WORK), "13 outputs[0].table[3]: 6.5 is not a number of records; counts are whole and not negative"),
    "twice": (pasted("No    2\nNo    3\n", WORK), "11 outputs[0].table[1]: 0 is 3 here, but 2 before; keep one of them"),
    "rows": (pasted("     Row %\nNo    2\nYes   6\n", WORK), [
        f"{line} outputs[0].table[{line - 10}]: row percentages cannot stand here; say what it is under shows" for line in (11, 12)
    ]),
}  # fmt: skip


@pytest.mark.parametrize(("output", "says"), FAULTS.values(), ids=FAULTS)
def test_faults(tmp_path: Path, output: str, says: str | list[str]) -> None:
    path = write(tmp_path, VARIABLES, output, 10)
    assert faults(path) == ([says] if isinstance(says, str) else says)


def test_faults_in_a_file_name_it_and_its_line(tmp_path: Path) -> None:
    (tmp_path / "work.csv").write_text("WORK,n\n0,2\n1,many\n")
    path = write(tmp_path, VARIABLES, WORK + "file: work.csv", 10)
    says = "'many' is not a figure; write one number per cell (thousands as 1,234) or .. for none"
    assert faults(path) == [f"9 outputs[0].file: work.csv, line 3: {says}"]


def test_a_file_needs_a_header(tmp_path: Path) -> None:
    (tmp_path / "work.csv").write_text("No,2\nYes,6\n")
    path = write(tmp_path, VARIABLES, WORK + "file: work.csv", 10)
    says = "a value stands in the first line, which should be a header, such as n or %"
    assert faults(path) == [f"9 outputs[0].file: work.csv, line 1: {says}"]


def test_data_reprint_the_table(tmp_path: Path) -> None:
    data = DATA.sample(300, replace=True, random_state=1)
    shares = 100 * data["WORK"].value_counts(normalize=True)
    output = (
        f"kind: frequencies\nof: WORK\ncounts: {{missing: {data['WORK'].isna().sum()}}}\n"
        f"valid_percentages: {{0: {shares[0]:.1f}, 1: {shares[1]:.1f}}}"
    )
    assert all_exact(write(tmp_path, VARIABLES, output, 300))
