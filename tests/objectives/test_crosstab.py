"""Cross-tabulations: every way to write them, what they constrain, and what can be wrong."""

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
AREA: {label: Area, categories: {n: North, s: South, w: West}}
WORK: {label: In work, categories: {0: "No", 1: "Yes"}}
"""
DATA = pd.DataFrame(
    {
        "SEX": [1, 1, 1, 2, 2, 2, 2, 2],
        "AREA": list("nssnnsww"),
        "WORK": [0, 1, 1, 0, 0, 1, 0, 1],
    }
)
# By sex and area: 1 2 0 / 2 1 2
CELLS = {
    "SEX=1, AREA=n": "1",
    "SEX=1, AREA=s": "2",
    "SEX=1, AREA=w": "0",
    "SEX=2, AREA=n": "2",
    "SEX=2, AREA=s": "1",
    "SEX=2, AREA=w": "2",
}
TOTALS = {
    "SEX=1, AREA=total": "3",
    "SEX=2, AREA=total": "5",
    "SEX=total, AREA=n": "3",
    "SEX=total, AREA=s": "3",
    "SEX=total, AREA=w": "2",
    "SEX=total, AREA=total": "8",
}
SHAPE = "kind: crosstab\nrows: SEX\ncolumns: AREA\n"


def spec_of(folder: Path, output: str, variables: str = VARIABLES, records: int = 8):
    return load(write(folder, variables, output, records))


def pasted(text: str, shape: str = SHAPE) -> str:
    return f"{shape}table: |2\n{indent(text, 2)}"


WAYS = {
    "mapping": SHAPE + "counts: {2: {w: 2, n: 2, s: 1}, 1: {n: 1, s: 2, w: 0}}",
    "lists": SHAPE + "counts: {1: [1, 2, 0], 2: [2, 1, 2]}",
    "list of lists": SHAPE + "counts: [[1, 2, 0], [2, 1, 2]]",
    "codes": pasted("SEX  n  s  w\n1    1  2  0\n2    2  1  2\n"),
    "labels": pasted(
        "Sex     North  South  West\nMale        1      2     0\nFemale      2      1     2\n"
    ),
    "R": pasted("     AREA\nSEX   n s w\n  1   1 2 0\n  2   2 1 2\n"),
    "pandas": pasted("AREA  n  s  w\nSEX          \n1     1  2  0\n2     2  1  2\n"),
    "Stata": pasted(
        "           |              Area\n"
        "       Sex |     North      South       West\n"
        "-----------+---------------------------------\n"
        "      Male |         1          2          0\n"
        "    Female |         2          1          2\n"
    ),
    "Markdown": pasted(
        "| | North | South | West |\n|-|-|-|-|\n| Male | 1 | 2 | 0 |\n| Female | 2 | 1 | 2 |\n"
    ),
    "LaTeX": pasted(
        " & North & South & West \\\\\n\\hline\nMale & 1 & 2 & 0 \\\\\nFemale & 2 & 1 & 2 \\\\\n"
    ),
    "long": pasted("SEX,AREA,counts\n1,n,1\n1,s,2\n1,w,0\n2,n,2\n2,s,1\n2,w,2\n"),
    "long with labels, turned": pasted(
        "| Area | Sex | n |\n|-|-|-|\n| North | Male | 1 |\n| North | Female | 2 |\n"
        "| South | Male | 2 |\n| South | Female | 1 |\n| West | Male | 0 |\n| West | Female | 2 |\n"
    ),
    "twice, and equal": pasted("SEX  n  s  w\n1    1  2  0\n2    2  1  2\n2    2  1  2\n")
    + "counts: {1: [1, 2, 0], 2: [2, 1, 2]}",
}


@pytest.mark.parametrize("output", WAYS.values(), ids=WAYS)
def test_ways_to_write_the_same_counts(tmp_path: Path, output: str) -> None:
    spec = spec_of(tmp_path, output)
    assert figures(spec) == CELLS
    assert recomputed(spec, DATA) == [1, 2, 0, 2, 1, 2]


WITH_TOTALS = {
    "lists": SHAPE + "counts: {1: [1, 2, 0, 3], 2: [2, 1, 2, 5], total: [3, 3, 2, 8]}",
    "mapping": SHAPE
    + "counts: {1: {n: 1, s: 2, w: 0, total: 3}, 2: {n: 2, s: 1, w: 2, total: 5}, total: [3, 3, 2, 8]}",
    "pasted": pasted(
        "Sex     North  South  West  Total\nMale        1      2     0      3\n"
        "Female      2      1     2      5\nAll         3      3     2      8\n"
    ),
    "codes without header": pasted("1  1  2  0  3\n2  2  1  2  5\nTotal  3  3  2  8\n"),
}


@pytest.mark.parametrize("output", WITH_TOTALS.values(), ids=WITH_TOTALS)
def test_totals(tmp_path: Path, output: str) -> None:
    spec = spec_of(tmp_path, output)
    assert figures(spec) == CELLS | TOTALS
    found = dict(zip(figures(spec), recomputed(spec, DATA), strict=True))
    assert found == {label: float(text) for label, text in (CELLS | TOTALS).items()}


FILES = {
    "wide": "SEX,n,s,w\n1,1,2,0\n2,2,1,2\n",
    "wide with labels": ",North,South,West\nMale,1,2,0\nFemale,2,1,2\n",
    "semicolons, turned rows": "Sex;West;South;North\nFemale;2;1;2\nMale;0;2;1\n",
    "long": "SEX,AREA,counts\n1,n,1\n1,s,2\n1,w,0\n2,n,2\n2,s,1\n2,w,2\n",
    "long with labels": "Area,Sex,n\nNorth,Male,1\nSouth,Male,2\nWest,Male,0\n"
    "North,Female,2\nSouth,Female,1\nWest,Female,2\n",
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_files(tmp_path: Path, text: str) -> None:
    (tmp_path / "cells.csv").write_text(text)
    assert figures(spec_of(tmp_path, SHAPE + "file: cells.csv")) == CELLS


SHARES = {
    "row percentages": ("row_percentages: {1: [33.3, 66.7, 0.0], 2: [40.0, 20.0, 40.0]}", [100 / 3, 200 / 3, 0, 40, 20, 40]),
    "column percentages": ("column_percentages: {1: [33.3, 66.7, 0.0], 2: [66.7, 33.3, 100.0]}", [100 / 3, 200 / 3, 0, 200 / 3, 100 / 3, 100]),
    "percentages": ("percentages: {1: [12.5, 25.0, 0.0], 2: [25.0, 12.5, 25.0]}", [12.5, 25, 0, 25, 12.5, 25]),
    "proportions": ("proportions: {1: [0.125, 0.250, 0.000], 2: [0.250, 0.125, 0.250]}", [0.125, 0.25, 0, 0.25, 0.125, 0.25]),
    "row proportions": ("row_proportions: {1: [0.33, 0.67, 0.00], 2: [0.4, 0.2, 0.4]}", [1 / 3, 2 / 3, 0, 0.4, 0.2, 0.4]),
    "column proportions": ("column_proportions: {2: [0.67, 0.33, 1.00]}", [2 / 3, 1 / 3, 1]),
    "with total": ("row_percentages: {1: [33.3, 66.7, 0.0, 100.0]}", [100 / 3, 200 / 3, 0, 100]),
}  # fmt: skip


@pytest.mark.parametrize(("cells", "values"), SHARES.values(), ids=SHARES)
def test_shares(tmp_path: Path, cells: str, values: list[float]) -> None:
    spec = spec_of(tmp_path, SHAPE + cells)
    found = recomputed(spec, DATA)
    np.testing.assert_allclose(found, values)
    assert all(f.printed.prints(v) for f, v in zip(spec.figures[0], found, strict=True))


BOTH = {
    "12 (3.4)": "Sex     North     South     West\nMale    1 (33.3)  2 (66.7)  0 (0.0)\nFemale  2 (40.0)  1 (20.0)  2 (40.0)\n",
    "per cent signs": "Sex     North      South      West\nMale    1 (33.3%)  2 (66.7%)  0 (0.0%)\nFemale  2 (40.0%)  1 (20.0%)  2 (40.0%)\n",
    "below each other": "Sex    |  North  South   West\n-------+---------------------\nMale   |      1      2      0\n       |   33.3   66.7    0.0\nFemale |      2      1      2\n       |   40.0   20.0   40.0\n",
    "columns side by side": "|  | North | | South | | West | |\n|---|---|---|---|---|---|---|\n|  | n | % | n | % | n | % |\n| Male | 1 | 33.3 | 2 | 66.7 | 0 | 0.0 |\n| Female | 2 | 40.0 | 1 | 20.0 | 2 | 40.0 |\n",
    "percent beside": "Sex\tNorth\t%\tSouth\t%\tWest\t%\nMale\t1\t33.3\t2\t66.7\t0\t0.0\nFemale\t2\t40.0\t1\t20.0\t2\t40.0\n",
    "SPSS": "                        North  South  West\nSex  Male    Count         1      2      0\n             % within Sex  33.3%  66.7%  0.0%\n     Female  Count         2      1      2\n             % within Sex  40.0%  20.0%  40.0%\n",
}  # fmt: skip


@pytest.mark.parametrize("text", BOTH.values(), ids=BOTH)
def test_counts_and_percentages_in_one_table(tmp_path: Path, text: str) -> None:
    spec = spec_of(tmp_path, pasted(text, SHAPE + "shows: [counts, row_percentages]\n"))
    counts = {f"counts: {label}": value for label, value in CELLS.items()}
    shares = dict(zip(CELLS, ["33.3", "66.7", "0.0", "40.0", "20.0", "40.0"], strict=True))
    assert figures(spec) == counts | {f"row percentages: {k}": v for k, v in shares.items()}


def test_nested_rows(tmp_path: Path) -> None:
    shape = "kind: crosstab\nrows: [AREA, SEX]\ncolumns: WORK\n"
    ways = {
        shape + "counts: {n: {1: [1, 0], 2: [2, 0]}, s: [[0, 2], [0, 1]], w: {1: [0, 0], 2: [1, 1]}}",
        pasted("AREA  SEX  0  1\nn     1    1  0\nn     2    2  0\ns     1    0  2\ns     2    0  1\nw     1    0  0\nw     2    1  1\n", shape),
        pasted("             No  Yes\nNorth\n  Male        1    0\n  Female      2    0\nSouth\n  Male        0    2\n  Female      0    1\nWest\n  Male        0    0\n  Female      1    1\n", shape),
        pasted(", , AREA = n\n\n   WORK\nSEX  0  1\n  1  1  0\n  2  2  0\n\n, , AREA = s\n\n   WORK\nSEX  0  1\n  1  0  2\n  2  0  1\n\n, , AREA = w\n\n   WORK\nSEX  0  1\n  1  0  0\n  2  1  1\n", shape),
        pasted("\t\tNo\tYes\nNorth\tMale\t1\t0\n\tFemale\t2\t0\nSouth\tMale\t0\t2\n\tFemale\t0\t1\nWest\tMale\t0\t0\n\tFemale\t1\t1\n", shape),
    }  # fmt: skip
    for output in ways:
        spec = spec_of(tmp_path, output)
        assert "".join(figures(spec).values()) == "102002010011"
        assert recomputed(spec, DATA) == [1, 0, 2, 0, 0, 2, 0, 1, 0, 0, 1, 1]


def test_suppressed_bounded_structural_and_rounded_cells(tmp_path: Path) -> None:
    text = "Sex     North  South  West\nMale      c      <3     structural\nFemale    *      >=1    2\n"
    spec = spec_of(tmp_path, pasted(text, SHAPE + "suppressed: [1, 4]\n"))
    table = spec.plans[0].tables[0]
    assert table.low.tolist() == [1, 0, 0, 1, 1, 2]
    assert table.high.tolist() == [4, 2, 0, 4, 8, 2]
    assert all(
        f.printed.prints(v) for f, v in zip(spec.figures[0], recomputed(spec, DATA), strict=True)
    )


@pytest.mark.parametrize(
    ("rounded", "low", "high"),
    [("5", [0, 3, 8], [2, 7, 12]), ("{base: 5, random: true}", [0, 1, 6], [4, 9, 14])],
)
def test_rounded_counts(tmp_path: Path, rounded: str, low: list[int], high: list[int]) -> None:
    output = SHAPE + f"rounded: {rounded}\ncounts: {{1: [0, 5, 10], 2: [0, 5, 10]}}"
    table = spec_of(tmp_path, output, records=30).plans[0].tables[0]
    assert table.low.tolist() == low * 2
    assert table.high.tolist() == high * 2


PARTIAL = {
    "rows": pasted("Sex     North     South     West\nFemale  2 (66.7)  1 (33.3)  2 (100.0)\n", SHAPE + "shows: [counts, column_percentages]\n"),
    "columns": pasted("Sex     South\nMale    2\nFemale  1\n"),
    "cells": pasted("Sex | North | South\nMale | 1 | \nFemale | | 1\n"),
    "percentages": SHAPE + "row_percentages: {2: {n: 40.0}}",
}  # fmt: skip


@pytest.mark.parametrize("output", PARTIAL.values(), ids=PARTIAL)
def test_a_partial_table_constrains_only_what_it_lists(tmp_path: Path, output: str) -> None:
    spec = spec_of(tmp_path, output)
    values = recomputed(spec, DATA)
    assert all(f.printed.prints(v) for f, v in zip(spec.figures[0], values, strict=True))
    listed = {place for places in spec.plans[0].counted for place in places}
    for number, table in enumerate(spec.plans[0].tables):
        others = [cell for cell in range(table.grid.size) if (number, cell) not in listed]
        assert (table.low[others] == 0).all()
        assert (table.high[others] == 8).all()


def test_partial_shares_are_not_taken_for_the_whole(tmp_path: Path) -> None:
    partial = spec_of(tmp_path, SHAPE + "column_percentages: {2: [50.0, 25.0, 75.0]}")
    shares = partial.plans[0].shares
    assert len(shares) == 3
    assert shares[0].bounds(4) == ([2], [2])
    whole = spec_of(tmp_path, SHAPE + "column_percentages: {1: [50.0, 75, 25], 2: [50.0, 25, 75]}")
    assert whole.plans[0].shares[0].bounds(4) == ([2, 2], [2, 2])


MISSING = """\
SEX: {label: Sex, categories: {1: Male, 2: Female}, missing: {-9: Refused, -8: Unknown}}
AREA: {label: Area, categories: {n: North, s: South, w: West}, missing: true}
"""


def test_missing_values_are_not_counted(tmp_path: Path) -> None:
    spec = spec_of(
        tmp_path, WAYS["lists"] + "\nrow_percentages: {1: [33.3, 66.7, 0.0]}", MISSING, 12
    )
    extra = pd.DataFrame({"SEX": [-9, -8, 1, 2], "AREA": ["n", None, None, None]})
    data = pd.concat([DATA[["SEX", "AREA"]], extra], ignore_index=True)
    np.testing.assert_allclose(recomputed(spec, data), [1, 2, 0, 2, 1, 2, 100 / 3, 200 / 3, 0])


def test_where(tmp_path: Path) -> None:
    shape = "kind: crosstab\nrows: SEX\ncolumns: WORK\nwhere: AREA in (n, s)\n"
    spec = spec_of(
        tmp_path, shape + "counts: {1: [1, 2], 2: [2, 1]}\nrow_percentages: {1: [33, 67]}"
    )
    np.testing.assert_allclose(recomputed(spec, DATA), [1, 2, 2, 1, 100 / 3, 200 / 3])


def test_values_outside_of_the_subpopulation_need_not_be_listed(tmp_path: Path) -> None:
    shape = "kind: crosstab\nrows: AREA\ncolumns: SEX\nwhere: AREA != w\n"
    spec = spec_of(tmp_path, shape + "counts: {n: [1, 2], s: [2, 1]}")
    assert recomputed(spec, DATA) == [1, 2, 2, 1]


def test_printed_marks(tmp_path: Path) -> None:
    text = "Sex     North    South    West\nMale    1,200    2,300    0\nFemale  1 000    2,500    1,000\n"
    text = text.replace("1 000", "1\u2009000")
    spec = spec_of(tmp_path, pasted(text), records=8000)
    assert [f.printed.value for f in spec.figures[0]] == [1200, 2300, 0, 1000, 2500, 1000]


def test_labels_yes_and_no(tmp_path: Path) -> None:
    shape = "kind: crosstab\nrows: WORK\ncolumns: SEX\n"
    spec = spec_of(
        tmp_path, pasted("     Male  Female\nYes     2       2\nNo      1       3\n", shape)
    )
    assert list(figures(spec).values()) == ["1", "3", "2", "2"]


TABLE = "Sex     North  South  West\nMale        1      2     0\nFemale      2      1     2\n"
NUMBER = "is not a number as printed, such as 1,024 or -0.0650"
FAULTS = {
    "nothing": (SHAPE, "7 outputs[0]: give the cells: one of counts, proportions, percentages, row_proportions, row_percentages, column_proportions, column_percentages, table and file"),
    "unknown value": (SHAPE + "counts:\n  1: [1, 2, 0]\n  2: {n: 2, x: 1, w: 2}", [
        "12 outputs[0].counts.2: no cells for AREA=s; a table lists every value",
        "12 outputs[0].counts.2.x: 'AREA' has no value 'x' (known: n, s, w)",
    ]),
    "too few": (SHAPE + "counts: {1: [1, 2], 2: [2, 1, 2]}", "10 outputs[0].counts.1: 2 cells, but 'AREA' has 3 values (n, s, w)"),
    "no number": (SHAPE + "counts: {1: [1, two, 0], 2: [2, 1, 2]}", f"10 outputs[0].counts.1[1]: 'two' {NUMBER}"),
    "no count": (SHAPE + "counts: {1: [1, 2.0, 0], 2: [2, 1, −2]}", [
        "10 outputs[0].counts.1[1]: 2.0 is not a number of records; counts are whole and not negative",
        "10 outputs[0].counts.2[2]: -2 is not a number of records; counts are whole and not negative",
    ]),
    "a dash": (SHAPE + "counts: {1: [1, 2, –], 2: [2, 1, 2]}", "10 outputs[0].counts.1[2]: '–' may mean none or not shown; write 0, structural or suppressed, or leave the cell empty"),
    "no multiple": (SHAPE + "rounded: 5\ncounts: {1: [0, 5, 3], 2: [0, 0, 5]}", "11 outputs[0].counts.1[2]: 3 is not a multiple of 5"),
    "sum": (SHAPE + "counts: {1: [1, 2, 0], 2: [2, 1, 1]}", "10 outputs[0].counts: the cells sum to 7, but records is 8 (1 missing)"),
    "too many": (SHAPE + "counts: {1: [1, 12, 0], 2: [2, 1, 1]}", "10 outputs[0].counts.1[1]: 12 is more than all 8 records"),
    "total": (SHAPE + "counts: {1: [1, 2, 0, 4], 2: [2, 1, 2, 4]}", [
        "7 outputs[0]: SEX=1 comes to 4 records here, but to 3 in its other cells (off by 1)",
        "7 outputs[0]: SEX=2 comes to 4 records here, but to 5 in its other cells (off by 1)",
    ]),
    "percentages of a row": (SHAPE + "row_percentages:\n  1: [33, 66, 0]\n  2: [40, 40, 40]", "12 outputs[0].row_percentages.2: the percentages of SEX=2 sum to 120, which is not 100 within their rounding (±1.5)"),
    "percentages of some": (SHAPE + "row_percentages: {2: {n: 70.0, s: 40.0}}", "10 outputs[0].row_percentages.2: the percentages of SEX=2 sum to 110, which is not 100 within their rounding (±0.1)"),
    "no percentage": (SHAPE + "row_percentages: {2: {n: 140.0}}", "10 outputs[0].row_percentages.2.n: 140.0 is not a percentage; it must lie between 0 and 100"),
    "no such share": (SHAPE + "counts: {1: [1, 2, 0, 3], 2: [2, 1, 2, 5]}\nrow_percentages: {2: {n: 44.0}}", "11 outputs[0].row_percentages.2.n: no number of records out of 5 has a share that prints as 44.0"),
    "suppressed": (SHAPE + "suppressed: [9, 1]\ncounts: {1: [1, 2, 0], 2: [2, 1, 2]}", "10 outputs[0].suppressed: 9 is larger than 1; write [smallest, largest]"),
    "row label": (pasted(TABLE.replace("Female", "Femal ")), "13 outputs[0].table[2]: 'Femal' is neither a value of 'SEX' nor a total (did you mean 'Female'?)"),
    "column label": (pasted("Table 1: by area\n\n" + TABLE.replace("West", "Wets")), "13 outputs[0].table[2]: 'Wets' is neither a value of 'AREA' nor a total (did you mean 'West'?)"),
    "cell": (pasted(TABLE.replace("2     0", "2   0.5")), "12 outputs[0].table[1]: 0.5 is not a number of records; counts are whole and not negative"),
    "cell that is none": (pasted(TABLE.replace("2     0", "2    1x")), "12 outputs[0].table[1]: '1x' is not a figure; write one number per cell (thousands as 1,234) or .. for none"),
    "two numbers": (pasted("\n" + TABLE.replace("1      2     0", "1 (33) 2     0")), "13 outputs[0].table[2]: '1 33' holds 2 numbers; say under shows what they are"),
    "of what": (pasted("\tNorth\t%\tSouth\t%\tWest\t%\nMale\t1\t33\t2\t67\t0\t0\n"), "11 outputs[0].table[0]: '%' may be of a row, a column or all; list row_percentages, column_percentages or percentages under shows"),
    "twice": (pasted(TABLE + "Female      2      1     3\n"), "14 outputs[0].table[3]: 2, w is 3 here, but 2 before; keep one of them"),
    "sum of a table": (pasted(TABLE.replace("0\n", "9\n")), "12 outputs[0].table[1]: 9 is more than all 8 records") ,
    "sum of two lines": (pasted(TABLE.replace("0\n", "1\n")), "10 outputs[0].table: the cells sum to 9, but records is 8 (1 too many)"),
    "no figures": (pasted("Sex  North  South  West\n"), "11 outputs[0].table[0]: no figures were found; paste the table with its labels and figures"),
    "columns": (pasted("Male    5  2\nFemale  3  1\n"), "11 outputs[0].table[0]: 2 columns without a header, but 'AREA' has 3 values"),
    "table and file": (pasted(TABLE) + "file: cells.csv", "14 outputs[0].file: give either table or file, not both"),
    "no file": (SHAPE + "file: sells.csv", "10 outputs[0].file: sells.csv: cannot be read: No such file or directory"),
    "file elsewhere": (SHAPE + "file: ../cells.csv", "10 outputs[0].file: '../cells.csv' must be the plain name of a file beside the spec"),
}  # fmt: skip


@pytest.mark.parametrize(("output", "says"), FAULTS.values(), ids=FAULTS)
def test_faults(tmp_path: Path, output: str, says: str | list[str]) -> None:
    (tmp_path / "cells.csv").write_text(FILES["wide"])
    path = write(tmp_path, VARIABLES, output, 8)
    assert faults(path) == ([says] if isinstance(says, str) else says)


IN_FILES = {
    "label": ("\nSEX,n,s,w\n1,1,2,0\n3,2,1,2\n", "line 4: '3' is neither a value of 'SEX' nor a total (known: 1, 2, Male, Female)"),
    "header": ("\nSEX,n,s,x\n1,1,2,0\n2,2,1,2\n", "line 2: 'x' is neither a value of 'AREA' nor a total (known: n, s, w, North, South, West)"),
    "cell": ("SEX,n,s,w\n1,1,2,0\n2,2,1,-2\n", "line 3: -2 is not a number of records; counts are whole and not negative"),
    "long": ("SEX,AREA,n\n1,n,1\n1,s,2\n1,w,0\n2,n,2\n2,m,1\n2,w,2\n", "line 6: 'm' is neither a value of 'AREA' nor a total (known: n, s, w, North, South, West)"),
    "twice": ("SEX,n,s,w\n1,1,2,0\n2,2,1,2\n1,1,2,1\n", "line 4: 1, w is 1 here, but 0 before; keep one of them"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "says"), IN_FILES.values(), ids=IN_FILES)
def test_faults_in_a_file_name_it_and_its_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "cells.csv").write_text(text)
    path = write(tmp_path, VARIABLES, SHAPE + "file: cells.csv", 8)
    assert faults(path) == [f"10 outputs[0].file: cells.csv, {says}"]


def test_missing_values_have_no_place_in_a_table(tmp_path: Path) -> None:
    path = write(tmp_path, MISSING, pasted(TABLE + "Refused     1      0     0\n"), 12)
    says = (
        "13 outputs[0].table[3]: 'Refused' is a missing value, which is not counted here; remove it"
    )
    assert faults(path) == [says]


def test_figures_are_read_once(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, WAYS["labels"])
    output = spec.outputs[0]
    assert output._read(spec.schema) is output._read(spec.schema)


def test_data_reprint_the_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"SEX": rng.integers(1, 3, 200), "AREA": rng.choice(list("nsw"), 200)})
    table = pd.crosstab(data["SEX"], data["AREA"])
    shares = (100 * table.div(table.sum(axis=1), axis=0)).round(1)
    rows = [
        [str(sex), *(f"{n} ({s})" for n, s in zip(table.loc[sex], shares.loc[sex], strict=True))]
        for sex in (1, 2)
    ]
    text = "\n".join(map("  ".join, [["SEX", "n", "s", "w"], *rows])) + "\n"
    shape = SHAPE + "shows: [counts, row_percentages]\n"
    assert all_exact(write(tmp_path, VARIABLES, pasted(text, shape), 200))
