from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evosynth.pasted import MAX_CELLS, MAX_FILE_CELLS, MAX_TEXT, Pasted, match, parse, parse_csv
from evosynth.printed import Printed


def read(found: Pasted) -> dict[str, list[str]]:
    """Rows as ``label > label: [text/text, …]``, for a table without faults."""
    assert not found.faults, found.faults
    rows = {" > ".join(row.stub): ["/".join(cell) for cell in row.cells] for row in found.rows}
    assert len(rows) == len(found.rows)
    return rows


STATA_TWO_WAY = """\
           |          sex
    tenure |      Male     Female |     Total
-----------+----------------------+----------
     Owned |       120        130 |       250
    Rented |     1,080         90 |     1,170
-----------+----------------------+----------
     Total |     1,200        220 |     1,420

          Pearson chi2(1) = 249.0372   Pr = 0.000
"""


def test_stata_two_way() -> None:
    found = parse(STATA_TWO_WAY)
    assert found.header == ("Male", "Female", "Total")
    assert found.corner == ("tenure",)
    assert found.spanners == (("sex", "sex", "sex"),)
    assert [row.line for row in found.rows] == [3, 4, 6]
    assert read(found) == {
        "Owned": ["120", "130", "250"],
        "Rented": ["1,080", "90", "1,170"],
        "Total": ["1,200", "220", "1,420"],
    }


def test_stata_percentages_below_counts_are_second_texts() -> None:
    found = parse("""\
           |          sex
    tenure |      Male     Female |     Total
-----------+----------------------+----------
     Owned |       120        130 |       250
           |     48.00      52.00 |    100.00
-----------+----------------------+----------
    Rented |     1,080         90 |     1,170
           |     92.31       7.69 |    100.00
""")
    assert read(found) == {
        "Owned": ["120/48.00", "130/52.00", "250/100.00"],
        "Rented": ["1,080/92.31", "90/7.69", "1,170/100.00"],
    }


def test_stata_one_way_leaves_the_last_cell_of_the_total_empty() -> None:
    found = parse("""\
     tenure |      Freq.     Percent        Cum.
------------+-----------------------------------
      Owned |        120       48.00       48.00
     Rented |        130       52.00      100.00
------------+-----------------------------------
      Total |        250      100.00
""")
    assert found.header == ("Freq.", "Percent", "Cum.")
    assert read(found)["Total"] == ["250", "100.00", ""]
    assert found.rows[2].cells[2] == ()


def test_stata_correlations() -> None:
    found = parse("""\
             |      AGE   INCOME    HOURS
-------------+---------------------------
         AGE |   1.0000
      INCOME |   0.3100*  1.0000
             |   0.0010
       HOURS |  -0.0200   0.1500   1.0000
""")
    assert found.header == ("AGE", "INCOME", "HOURS")
    assert read(found) == {
        "AGE": ["1.0000", "", ""],
        "INCOME": ["0.3100/*/0.0010", "1.0000", ""],
        "HOURS": ["-0.0200", "0.1500", "1.0000"],
    }


def test_stata_regression() -> None:
    found = parse("""\
        cars | Coefficient  Std. err.      z    P>|z|     [95% conf. interval]
-------------+----------------------------------------------------------------
         age |  -.0787123   .0052001   -15.14   0.000     -.088904   -.0685203
       2.sex |  -.5501001   .1010101    -5.45   0.000    -.7480764   -.3521238
       _cons |   6.403401   .4123001    15.53   0.000     5.595308    7.211494
""")
    labels = ("Coefficient", "Std. err.", "z", "P>|z|", "[95% conf.", "interval]")
    assert found.header == labels
    assert read(found)["2.sex"][:3] == ["-.5501001", ".1010101", "-5.45"]


def test_spss_crosstab() -> None:
    found = parse("""\
                                    Sex
                              Male     Female    Total
Tenure   Owned    Count        120        130      250
                  % within    48.0%      52.0%   100.0%
         Rented   Count         80         90      170
                  % within    47.1%      52.9%   100.0%
Total             Count        200        220      420
""")
    assert found.header == ("Male", "Female", "Total")
    assert read(found) == {
        "Tenure > Owned > Count": ["120", "130", "250"],
        "Tenure > Owned > % within": ["48.0", "52.0", "100.0"],
        "Tenure > Rented > Count": ["80", "90", "170"],
        "Tenure > Rented > % within": ["47.1", "52.9", "100.0"],
        "Total > Count": ["200", "220", "420"],
    }


def test_spss_frequencies() -> None:
    found = parse("""\
                                          Valid     Cumulative
                 Frequency    Percent    Percent      Percent
Valid    Male         120       47.4        48.0         48.0
         Female       130       51.4        52.0        100.0
         Total        250       98.8       100.0
Missing  System         3        1.2
Total                 253      100.0
""")
    assert found.header == ("Frequency", "Percent", "Percent", "Percent")
    assert found.spanners == (("", "", "Valid", "Cumulative"),)
    assert read(found) == {
        "Valid > Male": ["120", "47.4", "48.0", "48.0"],
        "Valid > Female": ["130", "51.4", "52.0", "100.0"],
        "Valid > Total": ["250", "98.8", "100.0", ""],
        "Missing > System": ["3", "1.2", "", ""],
        "Total": ["253", "100.0", "", ""],
    }


def test_r_table_with_codes() -> None:
    found = parse("""\
     CARS
SEX      0    1
  1    703 1120
  2   1200 1004
""")
    assert (found.header, found.corner) == (("0", "1"), ("SEX",))
    assert read(found) == {"1": ["703", "1120"], "2": ["1200", "1004"]}


def test_r_table_with_labels_of_several_words() -> None:
    found = parse("""\
        CARS
SEX      No access Access
  Male         703   1120
  Female      1200   1004
""")
    assert (found.header, found.corner) == (("No access", "Access"), ("SEX",))
    assert read(found) == {"Male": ["703", "1120"], "Female": ["1200", "1004"]}


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("SEX\n   1    2 \n 703 1120 \n", ("1", "2")),
        ("\n Owned Rented \n   703   1120 \n", ("Owned", "Rented")),
        ("Owned\tRented\n703\t1120", ("Owned", "Rented")),
    ],
)
def test_one_way_tables_that_lie_on_their_side(text: str, header: tuple[str, ...]) -> None:
    found = parse(text)
    assert found.header == header
    assert [(row.stub, row.cells) for row in found.rows] == [((), (("703",), ("1120",)))]


def test_r_table_of_three_variables() -> None:
    found = parse("""\
, , AREA = n

     CARS
SEX      0    1
  1     12   30
  2     10   20

, , AREA = s

     CARS
SEX      0    1
  1      1    3
  2      4    5
""")
    assert found.header == ("0", "1")
    assert read(found) == {
        "n > 1": ["12", "30"],
        "n > 2": ["10", "20"],
        "s > 1": ["1", "3"],
        "s > 2": ["4", "5"],
    }


def test_r_ftable() -> None:
    found = parse("""\
             Age      Child     Adult
             Survived    No Yes    No Yes
Class Sex
1st   Male                0   5   118  57
      Female              0   1     4 140
2nd   Male                0  11   154  14
      Female              0  13    13  80
""")
    assert found.header == ("No", "Yes", "No", "Yes")
    assert found.spanners == (("Child", "Child", "Adult", "Adult"),)
    assert read(found)["Class Sex > 2nd > Female"] == ["0", "13", "13", "80"]


def test_r_summary_of_a_model() -> None:
    found = parse("""\
Coefficients:
             Estimate Std. Error z value Pr(>|z|)
(Intercept)  6.403400   0.412300  15.531  < 2e-16 ***
AGE         -0.078700   0.005200 -15.134  < 2e-16 ***
SEX2        -0.150100   0.071010  -2.113   0.0346 *
WORK1        0.100000   0.060000   1.667   0.0956 .
---
Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1
""")
    assert found.header == ("Estimate", "Std. Error", "z value", "Pr(>|z|)")
    assert read(found) == {
        "(Intercept)": ["6.403400", "0.412300", "15.531", "<2e-16/***"],
        "AGE": ["-0.078700", "0.005200", "-15.134", "<2e-16/***"],
        "SEX2": ["-0.150100", "0.071010", "-2.113", "0.0346/*"],
        "WORK1": ["0.100000", "0.060000", "1.667", "0.0956/."],
    }


def test_pandas_crosstab() -> None:
    found = parse("CARS     0     1\nSEX             \n1      703  1120\n2     1200  1004\n")
    assert found.header == ("0", "1")
    assert read(found) == {"SEX > 1": ["703", "1120"], "SEX > 2": ["1200", "1004"]}


def test_markdown() -> None:
    found = parse(r"""
| Tenure | Male | Female |
|--------|-----:|:------:|
| Owned  | 120 (48.0%) | 0.31\*\* |
| **Rented** | 1,080 | c |
| &nbsp;&nbsp;From the council |  | <10 |
""")
    assert (found.header, found.corner) == (("Male", "Female"), ("Tenure",))
    assert [row.line for row in found.rows] == [3, 4, 5]
    assert read(found) == {
        "Owned": ["120/48.0", "0.31/**"],
        "Rented": ["1,080", "c"],
        "Rented > From the council": ["", "<10"],
    }


@pytest.mark.parametrize(
    "text",
    [
        "Tenure | 2011 | 2021\n--- | --- | ---\nOwned | 120 | 130\nRented | 80 | ..\n",
        "+--------+------+------+\n| Tenure | 2011 | 2021 |\n+========+======+======+\n"
        "| Owned  | 120  | 130  |\n+--------+------+------+\n| Rented | 80   | ..   |\n"
        "+--------+------+------+\n",
        "┌────────┬──────┬──────┐\n│ Tenure │ 2011 │ 2021 │\n├────────┼──────┼──────┤\n"
        "│ Owned  │ 120  │ 130  │\n│ Rented │ 80   │ ..   │\n└────────┴──────┴──────┘\n",
        "Tenure  2011  2021\n──────────────────\nOwned    120   130\nRented    80    ..\n",
        "Tenure\t2011\t2021\nOwned\t120\t130\nRented\t80\t..\n",
        "Tenure 2011 2021\nOwned 120 130\nRented 80 ..\n",
        "Tenure;2011;2021\nOwned;120;130\nRented;80;..\n",
    ],
)
def test_headers_of_years(text: str) -> None:
    found = parse(text)
    assert (found.header, found.corner) == (("2011", "2021"), ("Tenure",))
    assert read(found) == {"Owned": ["120", "130"], "Rented": ["80", ".."]}


def test_latex() -> None:
    found = parse(r"""\begin{tabular}{lrr}
\toprule
 & \multicolumn{2}{c}{Sex} \\
\cmidrule(lr){2-3}
Tenure & Male & Female \\
\midrule
\textbf{Owned} \& mortgaged & 1{,}120 (48.0\%) & $-0.31^{***}$ \\
Rented & 12\,080 & $<0.001$ \\[2pt]
 & (0.05) & (0.06) \\ % standard errors
\quad Council & 80 & -- \\
\bottomrule
\end{tabular}
""")
    assert (found.header, found.corner) == (("Male", "Female"), ("Tenure",))
    assert found.spanners == (("Sex", "Sex"),)
    assert read(found) == {
        "Owned & mortgaged": ["1,120/48.0", "-0.31/***"],
        "Rented": ["12080/0.05", "<0.001/0.06"],
        "Rented > Council": ["80", "–"],
    }


def test_excel_with_two_label_columns() -> None:
    found = parse(
        "\t\tNo\tYes\r\nNorth\tMale\t120\t130\r\n\tFemale\t1,200\t..\r\n"
        "South\tMale\t1\t2\r\n\tFemale\t\t4\r\n"
    )
    assert found.header == ("No", "Yes")
    assert read(found) == {
        "North > Male": ["120", "130"],
        "North > Female": ["1,200", ".."],
        "South > Male": ["1", "2"],
        "South > Female": ["", "4"],
    }


def test_code_columns_are_labels_where_their_number_is_known() -> None:
    tabbed = "AREA\tSEX\tN\nn\t1\t703\n\t2\t120\ns\t1\t12\n"
    expected = {"n > 1": ["703"], "n > 2": ["120"], "s > 1": ["12"]}
    for text in (tabbed, "AREA  SEX     N\nn     1     703\n      2     120\ns     1      12\n"):
        found = parse(text, stubs=2)
        assert (found.corner, found.header) == (("AREA", "SEX"), ("N",))
        assert read(found) == expected


TABLE_1 = """\
Table 1. Characteristics of the sample
                          Overall        Male          Female
                          (N=250)       (N=120)       (N=130)
Age, mean (SD)          45.2 (12.1)   44.8 (11.9)   45.6 (12.3)
Sex, n (%)
  Male                  120 (48.0%)
  Female                130 (52.0%)
Tenure, n (%)
  Owned                 150 (60.0%)   70 (58.3%)    80 (61.5%)
  Rented                100 (40.0%)   50 (41.7%)    50 (38.5%)
BMI, median [IQR]       27.1 [24.0, 30.2]   27.0 [23.9, 30.1]   27.3 [24.1, 30.5]
Total                   250           120           130
Notes: IQR is the interquartile range.
"""


def test_table_1() -> None:
    found = parse(TABLE_1)
    assert found.header == ("Overall", "Male", "Female")
    assert found.spanners == (("(N=250)", "(N=120)", "(N=130)"),)
    assert read(found) == {
        "Age, mean (SD)": ["45.2/12.1", "44.8/11.9", "45.6/12.3"],
        "Sex, n (%) > Male": ["120/48.0", "", ""],
        "Sex, n (%) > Female": ["130/52.0", "", ""],
        "Tenure, n (%) > Owned": ["150/60.0", "70/58.3", "80/61.5"],
        "Tenure, n (%) > Rented": ["100/40.0", "50/41.7", "50/38.5"],
        "BMI, median [IQR]": ["27.1/24.0/30.2", "27.0/23.9/30.1", "27.3/24.1/30.5"],
        "Total": ["250", "120", "130"],
    }


def test_standard_errors_below_coefficients() -> None:
    found = parse("""\
--------------------------------------------
                      (1)             (2)
                     CARS            CARS
--------------------------------------------
AGE               -0.0787***      -0.0700***
                 (0.0052)        (0.0061)

SEX                                -0.550*
                                   (0.101)

Constant            6.403***        6.100**
                  (0.412)         (0.420)
--------------------------------------------
N                    4027            4027
--------------------------------------------
Standard errors in parentheses
* p<0.05, ** p<0.01, *** p<0.001
""")
    assert (found.header, found.spanners) == (("CARS", "CARS"), (("(1)", "(2)"),))
    assert read(found) == {
        "AGE": ["-0.0787/***/0.0052", "-0.0700/***/0.0061"],
        "SEX": ["", "-0.550/*/0.101"],
        "Constant": ["6.403/***/0.412", "6.100/**/0.420"],
        "N": ["4027", "4027"],
    }


def test_headings_hold_for_the_rows_below_them() -> None:
    flat = parse("""\
          N    %
Sex
Male    120  48.0
Female  130  52.0
Region, 2 parts
North   100  40.0
""")
    assert list(read(flat)) == ["Sex > Male", "Sex > Female", "Region, 2 parts > North"]
    indented = parse("\tN\nSex\n   Male\t120\n   Female\t130\nTotal\t250\n")
    assert list(read(indented)) == ["Sex > Male", "Sex > Female", "Total"]


def test_words_that_mark_figures_may_be_labels() -> None:
    found = parse(
        "          N     %\nValid   120  48.0\nMissing\nx         3   1.2\nNA        4   1.6\n"
    )
    assert read(found) == {
        "Valid": ["120", "48.0"],
        "Missing > x": ["3", "1.2"],
        "Missing > NA": ["4", "1.6"],
    }


def test_an_indented_row_stands_under_the_row_above() -> None:
    found = parse("            N\nOwned     250\n  Outright  120\n  Mortgage  130\nRented   90\n")
    assert list(read(found)) == ["Owned", "Owned > Outright", "Owned > Mortgage", "Rented"]


SINGLE_SPACES = {
    "Age N Percent\n16 to 24 120 23.4\n25 to 34 1,130 24.5\n35 and over 90 5.6\n": {
        "16 to 24": ["120", "23.4"],
        "25 to 34": ["1,130", "24.5"],
        "35 and over": ["90", "5.6"],
    },
    "N Percent\nMale 120 23.4\nFemale 130 76.6\n": {
        "Male": ["120", "23.4"],
        "Female": ["130", "76.6"],
    },
    "Area N Percent\nAREAP 48 120 23.4\nAREAP 49 130 76.6\n": {
        "AREAP 48": ["120", "23.4"],
        "AREAP 49": ["130", "76.6"],
    },
    "Income N\n1,000-1,999 120\n2,000–2,999 1,130\n3,000 or more 12\n": {
        "1,000-1,999": ["120"],
        "2,000–2,999": ["1,130"],
        "3,000 or more": ["12"],
    },
    "SEX N PCT\n1 703 11.2\n2 1200 10.4\n": {"1": ["703", "11.2"], "2": ["1200", "10.4"]},
    "1 703 1120\n2 1200 1004\n3 5 6\n": {
        "1": ["703", "1120"],
        "2": ["1200", "1004"],
        "3": ["5", "6"],
    },
    "Male 120 (48.0%) 130 (52.0%)\nFemale 12 (4.0%) c\n": {
        "Male": ["120/48.0", "130/52.0"],
        "Female": ["12/4.0", "c"],
    },
    "A 1\nB 0.31** 1\nC 0.20 0.15 1\n": {
        "A": ["1", "", ""],
        "B": ["0.31/**", "1", ""],
        "C": ["0.20", "0.15", "1"],
    },
    "Variable M SD 1 2 3\n1. Age 45.21 12.10 —\n2. Income 2.31 0.98 .31** —\n"
    "3. Health 3.40 1.02 −.20* .15 —\n": {
        "1. Age": ["45.21", "12.10", "—", "", ""],
        "2. Income": ["2.31", "0.98", ".31/**", "—", ""],
        "3. Health": ["3.40", "1.02", "-.20/*", ".15", "—"],
    },
    "        A       B      C\nA       1    0.31   0.20\nB               1   0.15\nC"
    "                      1\n": {
        "A": ["1", "0.31", "0.20"],
        "B": ["", "1", "0.15"],
        "C": ["", "", "1"],
    },
}


@pytest.mark.parametrize(("text", "rows"), SINGLE_SPACES.items())
def test_spaces_alone(text: str, rows: dict[str, list[str]]) -> None:
    assert read(parse(text)) == rows


CELLS = {
    "12": "12",
    "1,234,567": "1,234,567",
    "12\u2009345": "12345",
    "1\u00a0234\u00a0567": "1234567",
    "\u22120.31": "-0.31",
    "–0.31": "-0.31",
    "+0.31": "0.31",
    ".31": ".31",
    "12.5%": "12.5",
    "12.5 %": "12.5",
    "£1,234": "1,234",
    "1.2e-05": "1.2e-05",
    "0.31*": "0.31/*",
    "0.31 ***": "0.31/***",
    "0.31†": "0.31/†",
    "12 (3.4)": "12/3.4",
    "12 (3.4%)": "12/3.4",
    "12(3.4)": "12/3.4",
    "1,234 [12.0%]": "1,234/12.0",
    "12.3 ± 4.5": "12.3/4.5",
    "12.3 +/- 4.5": "12.3/4.5",
    "[1.2, 3.4]": "1.2/3.4",
    "(1.2 to 3.4)": "1.2/3.4",
    "(1.2–3.4)": "1.2/3.4",
    "(1.2-3.4)": "1.2/3.4",
    "(\u22121.2, \u22120.4)": "-1.2/-0.4",
    "(1,200, 3,400)": "1,200/3,400",
    "1.5 (95% CI 1.2 to 1.9)": "1.5/1.2/1.9",
    "1.5 (1.2, 1.9)***": "1.5/1.2/1.9/***",
    "12 (3.4%) [2.1, 4.7]": "12/3.4/2.1/4.7",
    "45.2 (SD 12.1)": "45.2/12.1",
    "-0.31*** (0.05)": "-0.31/***/0.05",
    "c (..)": "c/..",
    "<0.001": "<0.001",
    "< 0.001": "<0.001",
    "p<.001": "<.001",
    "p = 0.03": "0.03",
    "<10": "<10",
    "≥10": "≥10",
    **{mark: mark for mark in ("suppressed", "*", "c", "x", "..", ":", "-", "–", "—", "NA", "ns")},
    "": "",
}


@pytest.mark.parametrize(("text", "texts"), CELLS.items())
def test_cells(text: str, texts: str) -> None:
    found = parse(f"Group\tOne\tTwo\nMale\t{text}\t5\nFemale\t6\t7\n")
    assert read(found) == {"Male": [texts, "5"], "Female": ["6", "7"]}
    if text and texts != "*":
        spaced = parse(f"Group     One   Two\nMale     {text}     5\nFemale     6     7\n")
        assert read(spaced) == {"Male": [texts, "5"], "Female": ["6", "7"]}


COMMA = (
    " seems to have a decimal comma; "
    "write a decimal point, or a space after the comma of an interval"
)
NO_FIGURE = " is not a figure; write one number per cell (thousands as 1,234) or .. for none"
RAGGED = "; separate the columns with tabs or |, write .. for an empty cell and 1,234 for thousands"

UNREAD = {
    "": (0, "no figures were found; paste the table with its labels and figures"),
    "just\nwords": (0, "no figures were found; paste the table with its labels and figures"),
    "Sex\tMean\nMale\t12,5\nFemale\t13.5": (1, f"'12,5'{COMMA}"),
    "Sex;Mean\nMale;12.5\nFemale;0,312": (2, f"'0,312'{COMMA}"),
    "Sex  Mean\nMale  1.234,5\nFemale  13.5": (1, f"'1.234,5'{COMMA}"),
    "Male 12,5\nFemale 13.5": (0, f"'12,5'{COMMA}"),
    "Male 12 (3,4)\nFemale 13 (5.6)": (0, f"'12 (3,4)'{COMMA}"),
    "Sex\tN\tM\nMale\t12o\t3\nFemale\t3\t4": (1, f"'12o'{NO_FIGURE}"),
    "Sex    N   M\nMale   12  abc\nFemale  3  4": (1, f"'abc'{NO_FIGURE}"),
    "Male 12 13\nFemale 12 13o\nOther 1 2": (1, f"'Female 12 13o'{NO_FIGURE}"),
    "Sex N\nMale 12o\nFemale 13": (1, f"'Male 12o'{NO_FIGURE}"),
    "Age | N (%) | OR\n---|---|---\n18-34 | 1 205 (12.3) | 1 [Reference]\n35-49 | 2 | 3": (
        2,
        f"'1 205 (12.3)'{NO_FIGURE}",
    ),
    "Sex\tN %\nMale\t120 48.0": (1, f"'120 48.0'{NO_FIGURE}"),
    "Sex  N\nMale  12\nFemale  1 234": (
        2,
        f"2 figures in a table of 1 column{RAGGED}",
    ),
    "Sex   N  Mean  SD\nMale  12        3.4\nFemale  13  4.5  3.3": (
        1,
        f"2 figures in a table of 3 columns{RAGGED}",
    ),
    "Sex       N   Mean\nMale    abc    3.4\nFemale   12    3.3": (
        1,
        f"1 figure in a table of 2 columns{RAGGED}",
    ),
}


@pytest.mark.parametrize(("text", "fault"), UNREAD.items())
def test_says_what_cannot_be_read(text: str, fault: tuple[int, str]) -> None:
    assert [(found.line, found.message) for found in parse(text).faults] == [fault]


def test_a_comma_in_figures_is_not_a_separator() -> None:
    assert read(parse("Male 1,234 5,678\nFemale 2,345 6,789")) == {
        "Male": ["1,234", "5,678"],
        "Female": ["2,345", "6,789"],
    }
    assert read(parse("Sex N\nMale 1,234\nFemale 2,345")) == {
        "Male": ["1,234"],
        "Female": ["2,345"],
    }
    found = parse('Age,N\n16 to 24,120\n"25, or more","1,130"')
    assert found.header == ("N",)
    assert read(found) == {"16 to 24": ["120"], "25, or more": ["1,130"]}


def test_labels_set_flush_right_are_not_nested() -> None:
    found = parse("  Private rented |  12  3\n           Owned |   5  6\n")
    assert list(read(found)) == ["Private rented", "Owned"]
    found = parse(" tenure | n\n--------+-----\n rented |  12\n  owned |   5\n  total |  17\n")
    assert (found.corner, list(read(found))) == (("tenure",), ["rented", "owned", "total"])
    found = parse("Tenure\tN\nRented\t12\n  Flat\t5\n  Room\t7\n")
    assert list(read(found)) == ["Rented", "Rented > Flat", "Rented > Room"]


def test_bars_without_spaces() -> None:
    found = parse("Sex|N|Mean\nMale|12|3.4\nFemale||5.6\n")
    assert found.header == ("N", "Mean")
    assert read(found) == {"Male": ["12", "3.4"], "Female": ["", "5.6"]}


def test_footnotes_are_no_rows() -> None:
    found = parse("| A | B |\n|---|---|\n| x* | 12 |\n\n* includes 3 unknown\nSource: ONS 2011\n")
    assert read(found) == {"x*": ["12"]}


# ---- CSV ----


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_csv(mark: str) -> None:
    text = mark.join(["SEX", "0", "1"]) + "\r\n" + mark.join(["1", '"1,234"', "c"]) + "\r\n"
    found = parse_csv("\ufeff" + text + mark.join(["2", "", "5 (1.2%)"]))
    assert (found.corner, found.header) == (("SEX",), ("0", "1"))
    assert read(found) == {"1": ["1,234", "c"], "2": ["", "5/1.2"]}


def test_long_csv() -> None:
    found = parse_csv('AREA,SEX,count,percent\nn,1,12,3.4\nn,2,"1,200",c\n', stubs=2)
    assert (found.corner, found.header) == (("AREA", "SEX"), ("count", "percent"))
    assert read(found) == {"n > 1": ["12", "3.4"], "n > 2": ["1,200", "c"]}


def test_csv_lines_count_from_the_start_of_the_file() -> None:
    found = parse_csv("\nSEX,N\n\n1,12\n2,abc\n")
    assert [row.line for row in found.rows] == [3]
    assert [(f.line, f.message) for f in found.faults] == [(4, f"'abc'{NO_FIGURE}")]


def test_csv_that_is_none() -> None:
    assert [f.message for f in parse_csv("").faults] == ["the file is empty"]
    assert [f.message for f in parse_csv("a,b\n").faults] == [
        "no figures were found; paste the table with its labels and figures"
    ]
    huge = parse_csv('a,b\nx,"' + "1" * 200_000)
    assert [f.message for f in huge.faults] == [
        "not a CSV file: field larger than field limit (131072)"
    ]


# ---- what we print is read back ----

WORDS = st.text("abcdefgh", min_size=3, max_size=7)
LABELS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
FIGURES = st.one_of(
    st.integers(0, 10**7).map(lambda n: (f"{n:,}",)),
    st.decimals(-99, 99, places=2).map(lambda d: (f"{d:.2f}",)),
    st.tuples(st.integers(0, 999).map(str), st.integers(0, 999).map(lambda n: f"{n / 10:.1f}")),
    st.tuples(st.just("0.31"), st.sampled_from(["**", "***"])),
    st.sampled_from([("..",), ("c",), ("<10",), ("suppressed",)]),
)


@st.composite
def tables(drawn: st.DrawFn) -> tuple[list[str], dict[str, list[tuple[str, ...]]]]:
    header = drawn(st.lists(LABELS, min_size=1, max_size=5, unique=True))
    stubs = drawn(st.lists(LABELS, min_size=3, max_size=6, unique=True))
    size = len(header)
    rows = {stub: drawn(st.lists(FIGURES, min_size=size, max_size=size)) for stub in stubs}
    rows[stubs[0]] = [("12",)] * size
    return header, rows


def printed(texts: tuple[str, ...]) -> str:
    if len(texts) == 1:
        return texts[0]
    return "".join(texts) if texts[1].startswith("*") else f"{texts[0]} ({texts[1]}%)"


def as_csv(table: list[list[str]], mark: str) -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=mark).writerows(table)
    return stream.getvalue()


def as_columns(table: list[list[str]], bar: str = "") -> str:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        f"{line[0]:<{widths[0]}}{bar}"
        + "".join(f"{cell:>{width + 3}}" for cell, width in zip(line[1:], widths[1:], strict=True))
        for line in table
    ]
    return "\n".join(lines)


def as_markdown(table: list[list[str]]) -> str:
    lines = [f"| {' | '.join(line)} |" for line in table]
    return "\n".join([lines[0], "|---" * len(table[0]) + "|", *lines[1:]])


def as_latex(table: list[list[str]]) -> str:
    body = [" & ".join(line).replace("%", r"\%") + r" \\" for line in table]
    return "\n".join([r"\toprule", body[0], r"\midrule", *body[1:], r"\bottomrule"])


FORMATS = {
    "tabs": lambda table: "\n".join("\t".join(line) for line in table),
    "markdown": as_markdown,
    "columns": as_columns,
    "bars": lambda table: as_columns(table, " |"),
    "latex": as_latex,
    "semicolons": lambda table: as_csv(table, ";"),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("corner", ["", "Group"])
@settings(max_examples=60, deadline=None)
@given(tables())
def test_reads_back_what_was_printed(name: str, corner: str, table) -> None:
    header, rows = table
    lines = [[corner, *header], *([stub, *map(printed, cells)] for stub, cells in rows.items())]
    found = parse(FORMATS[name](lines))
    assert found.faults == ()
    assert found.header == tuple(header)
    assert [(row.stub, row.cells) for row in found.rows] == [
        ((stub,), tuple(cells)) for stub, cells in rows.items()
    ]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@settings(max_examples=60, deadline=None)
@given(tables())
def test_csv_reads_back_what_was_printed(mark: str, table) -> None:
    header, rows = table
    lines = [["Group", *header], *([stub, *map(printed, cells)] for stub, cells in rows.items())]
    found = parse_csv(as_csv(lines, mark))
    assert (found.faults, found.header, found.corner) == ((), tuple(header), ("Group",))
    assert [(row.stub, row.cells) for row in found.rows] == [
        ((stub,), tuple(cells)) for stub, cells in rows.items()
    ]


@given(st.decimals(-(10**6), 10**6, places=3))
def test_numbers_come_out_as_printed_figures(number) -> None:
    for text in (f"{number:,}", f"{number}".replace("-", "\u2212")):
        (row,) = parse(f"Group\tMean\nMale\t{text}%").rows
        assert Printed.parse(row.cells[0][0]).value == float(number)


# ---- anything at all ----


@settings(deadline=None, max_examples=300)
@given(st.text("ab1.,;()|&\\-+*% \t\n'\"=", max_size=120))
@example("|\n1|2")
@example("1\n|\n|")
@example(", , a = b\n1 2")
@example("\\\\\n&")
def test_any_text_is_read_or_refused(text: str) -> None:
    for found in (parse(text), parse(text, stubs=2), parse_csv(text), parse_csv(text, stubs=1)):
        assert found.rows or found.faults
        lines = text.count("\n") + 1
        assert all(0 <= item.line < lines for item in (*found.rows, *found.faults))
        widths = {len(row.cells) for row in found.rows}
        assert len(widths) <= 1
        assert not found.header or not widths or widths == {len(found.header)}


def test_bounds() -> None:
    message = f"more than {MAX_TEXT:,} characters; paste one table"
    assert parse("1" * (MAX_TEXT + 1)).faults[0].message == message
    ragged = "a\t" * 9_000 + "1\n" + "b\t1\n" * 9_000
    fault = f"more than {MAX_CELLS:,} cells; give one table"
    assert [f.message for f in parse(ragged, stubs=1).faults] == [fault]
    many = "a\t1\n" * (MAX_CELLS // 2)
    assert len(parse(many).rows) == MAX_CELLS // 2
    for found in (parse(f"{many}b\t1"), parse("a 1\n" * MAX_CELLS)):
        assert [(f.line, f.message) for f in found.faults] == [(MAX_CELLS // 2, fault)]


def test_a_file_may_hold_many_more_cells_than_a_pasted_table() -> None:
    fault = f"more than {MAX_FILE_CELLS:,} cells; give one table"
    ragged = "a\t" * 9_000 + "1\n" + "b\t1\n" * 9_000
    assert [f.message for f in parse_csv(ragged, stubs=1).faults] == [fault]
    wide = "," + ",".join(f"c{n}" for n in range(500)) + "\n"
    found = parse_csv(wide + "".join(f"r{n}" + ",1234567" * 500 + "\n" for n in range(500)))
    assert len(found.header) == 500 and not found.faults
    assert [len(row.cells) for row in found.rows] == [500] * 500
    assert {cell for row in found.rows for cell in row.cells} == {("1234567",)}
    long = "a\t1\n" * (MAX_FILE_CELLS // 2)
    faults = parse_csv(f"{long}b\t1").faults
    assert [(f.line, f.message) for f in faults] == [(MAX_FILE_CELLS // 2, fault)]


def printed_by_r(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[int]],
    names: Sequence[str],
) -> str:
    """A two-way table as R's `print(table(...))` lays it out."""
    stub = max(len(names[0]), *(len(row) + 2 for row in rows))
    wide = [max(len(c), *(len(f"{row[i]}") for row in cells)) for i, c in enumerate(columns)]

    def line(label: str, texts: Iterable[object]) -> str:
        return " ".join(
            [label.ljust(stub), *(f"{t}".rjust(w) for t, w in zip(texts, wide, strict=True))]
        )

    body = [line(f"  {row}", own) for row, own in zip(rows, cells, strict=True)]
    return "\n".join([f"{' ' * stub} {names[1]}", line(names[0], columns), *body]) + "\n"


LETTERS = st.sampled_from([*"abcxszuMF0123456789", "Yes", "No", "Not known"])


@given(
    st.lists(LETTERS.filter(lambda label: " " not in label), min_size=2, max_size=4, unique=True),
    st.lists(LETTERS, min_size=1, max_size=4, unique=True),
    st.sampled_from([("A", "B"), ("cyl", "gear"), ("sex", "x"), ("A", "c"), ("", "")]),
    st.sampled_from([9, 99, 4321]),
    st.randoms(use_true_random=False),
)
def test_what_r_prints(rows, columns, names, most, random) -> None:
    if not names[0]:
        columns = [label.replace(" ", ".") for label in columns]
    cells = [[random.randint(0, most) for _ in columns] for _ in rows]
    found = parse(printed_by_r(rows, columns, cells, names))
    assert found.header == tuple(columns)
    assert [row.stub for row in found.rows] == [(row,) for row in rows]
    assert [row.cells for row in found.rows] == [tuple((f"{c}",) for c in own) for own in cells]
    if names[0]:
        assert found.corner == names[:1]
        assert found.spanners == ((names[1],) * len(columns),)


@pytest.mark.parametrize(
    "text",
    [
        "Age      Male (n=40)  Female (n=60)\nYoung    10           20\nOld      30           40\n",
        "Age Male (n=40) Female (n=60)\nYoung 10 20\nOld 30 40\n",
        "       Male (n=40)    Female (n=60)\nYoung  10             20\nOld    30             40\n",
        "Age (n=100)  Male (n=40)  Female (n=60)\nYoung  10  20\nOld  30  40\n",
    ],
)
def test_the_size_of_a_group_is_part_of_its_label(text: str) -> None:
    found = parse(text)
    assert found.header == ("Male (n=40)", "Female (n=60)")
    assert [(row.stub, row.cells) for row in found.rows] == [
        (("Young",), (("10",), ("20",))),
        (("Old",), (("30",), ("40",))),
    ]
    assert not found.faults


@pytest.mark.parametrize(
    "unit",
    [
        "1 ",
        "1,",
        "1.",
        "1,234",
        "(",
        "\\hline[",
        "\\hspace{",
        "\\\\[",
        "1a",
        "(1",
        "*",
        "|",
        "-",
        "1%",
        "\\textbf{",
        "1±",
        "( ",
        " |",
        "<",
        '"',
    ],
)
def test_long_monotonous_texts_do_not_hang(unit: str) -> None:
    for text in (unit * (100_000 // len(unit)), unit * (100_000 // len(unit)) + "a&\\\\"):
        for found in (parse(text), parse_csv(text)):
            assert found.rows or found.faults


# ---- match ----

OPTIONS = {
    "1": ["Male"],
    "2": ["Female"],
    "n": ["North"],
    "N": ["Northern Ireland"],
    "16-24": ["16 to 24"],
    "a": ["Other", "Don't know"],
    "b": ["Other"],
}

LABELS_TO_CODES = {
    "1": "1",
    " 1 ": "1",
    "male": "1",
    "FEMALE:": "2",
    "Female *": "2",
    "Female†": "2",
    "Male²": "1",
    "n": "n",
    "N": "N",
    "north": "n",
    "northern  ireland": "N",
    "16–24": "16-24",
    "16 - 24": "16-24",
    "Don\u2019t know": "a",
    "1. Male": "1",
    "2 Female": "2",
    "other": None,
    "unknown": None,
    "": None,
    "*": None,
    "mal": None,
}


@pytest.mark.parametrize(("label", "code"), LABELS_TO_CODES.items())
def test_match(label: str, code: str | None) -> None:
    assert match(label, OPTIONS) == code
