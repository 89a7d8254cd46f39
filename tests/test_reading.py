"""Tables printed in many ways are read back; labels are found; faults point to their line."""

# ruff: noqa: E501 (a case per line)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evosynth.pasted import parse, parse_csv
from evosynth.reading import (
    STATISTICS,
    VALID,
    Labels,
    label_columns,
    read_cells,
    read_list,
    read_matrix,
    read_summary,
)
from evosynth.schema import MISSING, Schema, Variable
from evosynth.written import TOTAL

SIZES = {
    "SEX": ("Male", "Female"),
    "AREA": ("North", "South and east", "West"),
    "QUIT": ("No", "Yes"),
}


def categories(name: str, labels: tuple[str, ...], missing: int = 0) -> Variable:
    size = len(labels)
    values = np.arange(1, size + 1)
    return Variable(name, name.title(), values, labels, np.full(size, 1 / size), missing)


def quantity(name: str, label: str) -> Variable:
    return Variable(name, label, np.arange(10), None, np.full(10, 0.1))


SCHEMA = Schema(
    1000,
    (
        *(categories(name, labels) for name, labels in SIZES.items()),
        categories("HEALTH", ("Good", "Bad", "Refused"), missing=1),
        quantity("AGE", "Age in years"),
        quantity("PAY", "Pay"),
        quantity("HOURS", "Hours a week"),
    ),
)


@pytest.mark.parametrize(
    ("label", "value"),
    [
        *[("1", "1"), ("Male", "1"), ("male", "1"), (" FEMALE: ", "2"), ("Female*", "2")],
        *[("1 Male", "1"), ("2. Female", "2"), ("Total", TOTAL), ("All", TOTAL)],
        *[("Fe male", None), ("3", None), ("", None), ("Grand total", TOTAL)],
    ],
)
def test_labels(label: str, value: str | None) -> None:
    labels = Labels(SCHEMA["SEX"], TOTAL)
    assert labels.find(label) == value
    assert labels.find(label) == value


def test_labels_that_are_ambiguous_or_codes_of_others() -> None:
    twins = Labels(categories("X", ("same", "Same", "1")))
    assert twins.find("same") is None
    assert twins.find("1") == "1"
    assert twins.find("3") == "3"


def test_missing_values_are_labels_only_where_they_count() -> None:
    assert Labels(SCHEMA["HEALTH"]).find("Refused") is None
    assert Labels(SCHEMA["HEALTH"], missing=True).find("refused") == "3"
    assert Labels(SCHEMA["HEALTH"], MISSING, VALID).find("System") == MISSING
    assert "is a missing value" in Labels(SCHEMA["HEALTH"]).unknown("Refused")
    assert "did you mean 'Good'?" in Labels(SCHEMA["HEALTH"]).unknown("Godo")


def test_every_word_names_one_statistic() -> None:
    words = [word.casefold() for name, labels in STATISTICS.items() for word in (name, *labels)]
    assert len(words) == len(set(words))


# ---- what is printed is read back --------------------------------------------------------------

Table = np.ndarray


def padded(lines: list[list[str]], right: bool = True, gap: str = "  ") -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = []
    for first, *rest in lines:
        cells = [t.rjust(w) if right else t.ljust(w) for t, w in zip(rest, widths[1:], strict=True)]
        rows.append(gap.join([first.ljust(widths[0]), *cells]).rstrip() + "\n")
    return "".join(rows)


def lines_of(table: Table, names: tuple[str, str], by_label: bool, marks: bool) -> list[list[str]]:
    stub, head = (
        SIZES[n] if by_label else tuple(str(i + 1) for i in range(len(SIZES[n]))) for n in names
    )
    cells = [[f"{n:,}" if marks else str(n) for n in row] for row in table]
    return [[names[0], *head], *([s, *row] for s, row in zip(stub, cells, strict=True))]


def markdown(lines: list[list[str]]) -> str:
    rows = ["| " + " | ".join(line) + " |\n" for line in lines]
    return rows[0] + "|" + "---|" * len(lines[0]) + "\n" + "".join(rows[1:])


def stata(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) + 2 for column in zip(*lines, strict=True)]
    rows = [
        f"{first:>{widths[0]}} |"
        + "".join(f"{t:>{w}}" for t, w in zip(rest, widths[1:], strict=True))
        for first, *rest in lines
    ]
    return (
        "\n".join([rows[0], "-" * (widths[0] + 1) + "+" + "-" * sum(widths[1:]), *rows[1:]]) + "\n"
    )


def r_table(lines: list[list[str]]) -> str:
    body = [[lines[0][0], *lines[0][1:]], *([f"  {first}", *rest] for first, *rest in lines[1:])]
    width = max(len(line[0]) for line in body)
    return f"{' ' * (width + 1)}COLUMN\n" + padded(body, gap="  ")


PRINTERS = {
    "spaces": padded,
    "left": lambda lines: padded(lines, right=False),
    "markdown": markdown,
    "stata": stata,
    "r": r_table,
    "tabs": lambda lines: "".join("\t".join(line) + "\n" for line in lines),
    "latex": lambda lines: "".join(" & ".join(line) + " \\\\\n" for line in lines),
}
counts = st.one_of(st.integers(0, 99), st.integers(0, 9_999_999))


def tables(rows: str, columns: str) -> st.SearchStrategy[Table]:
    shape = len(SIZES[rows]), len(SIZES[columns])
    size = shape[0] * shape[1]
    return st.lists(counts, min_size=size, max_size=size).map(lambda n: np.array(n).reshape(shape))


def expected(table: Table) -> dict[tuple[str, ...], int]:
    return {(str(i + 1), str(j + 1)): int(n) for (i, j), n in np.ndenumerate(table)}


def read_back(text: str, names: tuple[str, str], csv: bool = False) -> dict[tuple[str, ...], int]:
    parser = parse_csv if csv else parse
    table = parser(text)
    stubs = label_columns(table, names, SCHEMA)
    table = table if stubs is None else parser(text, stubs)
    found, faults = read_cells(table, "table", names[:1], names[1], SCHEMA, ())
    assert not faults, (text, faults)
    return {cell.key: int(cell.text.replace(",", "")) for cell in found}


@pytest.mark.parametrize("name", PRINTERS)
@pytest.mark.parametrize(
    "names", [("SEX", "AREA"), ("AREA", "SEX"), ("QUIT", "AREA"), ("AREA", "QUIT")]
)
@settings(max_examples=25, deadline=None)
@given(data=st.data(), marks=st.booleans())
def test_crosstabs_are_read_back(
    name: str, names: tuple[str, str], data: st.DataObject, marks: bool
) -> None:
    table = data.draw(tables(*names))
    text = PRINTERS[name](lines_of(table, names, True, marks))
    assert read_back(text, names) == expected(table)


@pytest.mark.parametrize("name", PRINTERS)
@settings(max_examples=25, deadline=None)
@given(table=tables("AREA", "SEX"))
def test_crosstabs_by_code_are_read_back(name: str, table: Table) -> None:
    text = PRINTERS[name](lines_of(table, ("AREA", "SEX"), False, False))
    assert read_back(text, ("AREA", "SEX")) == expected(table)


@settings(max_examples=25, deadline=None)
@given(
    table=tables("AREA", "SEX"),
    by_label=st.booleans(),
    long=st.booleans(),
    mark=st.sampled_from(",;\t"),
)
def test_files_are_read_back(table: Table, by_label: bool, long: bool, mark: str) -> None:
    frame = pd.DataFrame(table)
    frame.index = pd.Index(SIZES["AREA"] if by_label else ["1", "2", "3"], name="AREA")
    frame.columns = pd.Index(SIZES["SEX"] if by_label else ["1", "2"], name="SEX")
    if long:
        text = frame.stack().rename("count").reset_index().to_csv(index=False, sep=mark)
    else:
        text = frame.to_csv(sep=mark)
    assert read_back(text, ("AREA", "SEX"), csv=True) == expected(table)


@settings(max_examples=25, deadline=None)
@given(table=tables("AREA", "SEX"))
def test_what_pandas_prints_is_read_back(table: Table) -> None:
    frame = pd.DataFrame(
        table, pd.Index(SIZES["AREA"], name="AREA"), pd.Index(SIZES["SEX"], name="SEX")
    )
    assert read_back(frame.to_string() + "\n", ("AREA", "SEX")) == expected(table)


# ---- other tables --------------------------------------------------------------------------------


def test_a_list_passes_over_cumulative_shares() -> None:
    table = parse(
        "Sex     Freq.  Percent   Cum.\nMale       10    25.00  25.00\nFemale     30    75.00  100.00\n"
    )
    found, faults = read_list(table, "table", SCHEMA["SEX"], ())
    assert not faults
    assert [(c.key, c.form, c.text) for c in found] == [
        (("1",), "counts", "10"),
        (("1",), "percentages", "25.00"),
        (("2",), "counts", "30"),
        (("2",), "percentages", "75.00"),
    ]


def test_statistics_stand_in_the_header_or_in_the_stub() -> None:
    upright = parse(
        "          Mean (SD)   p25\nAge in years  3.1 (1.2)  2\nPay           5.0 (2.5)  3\n"
    )
    sideways = parse("       AGE   PAY\nmean   3.1   5.0\nsd     1.2   2.5\n25%      2     3\n")
    for table in (upright, sideways):
        found, faults = read_summary(table, "table", ("AGE", "PAY"), (), (), (), SCHEMA)
        assert not faults
        assert {(s.variable, s.name): s.text for s in found} == {
            ("AGE", "mean"): "3.1",
            ("AGE", "sd"): "1.2",
            ("AGE", "quantile 25"): "2",
            ("PAY", "mean"): "5.0",
            ("PAY", "sd"): "2.5",
            ("PAY", "quantile 25"): "3",
        }


def test_groups_may_be_named_in_full() -> None:
    table = parse(
        "            n   mean\nSex: Male   12  3.1\nSEX = 2     10  2.0\nQuit Yes     3  1.0\n"
    )
    found, faults = read_summary(table, "table", ("AGE",), (), ("SEX", "QUIT"), (), SCHEMA)
    assert not faults
    assert [s.group for s in found[::2]] == [(("SEX", "1"),), (("SEX", "2"),), (("QUIT", "2"),)]


def test_a_triangle_without_its_first_row() -> None:
    table = parse(
        "                 1      2\n2. Pay           .30**\n3. Hours a week  .20    -.10\n"
    )
    found, faults = read_matrix(table, "table", ("AGE", "PAY", "HOURS"), SCHEMA)
    assert not faults
    assert [(c.one, c.two, c.text, c.p) for c in found] == [
        ("PAY", "AGE", ".30", "**"),
        ("HOURS", "AGE", ".20", ""),
        ("HOURS", "PAY", "-.10", ""),
    ]


@settings(max_examples=200, deadline=None)
@given(
    text=st.text(alphabet=st.sampled_from("1 2.%|\t\n,;()*-<SEXMaleFTotalmnsdAGE"), max_size=120)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    table = parse(text)
    age, groups = ("AGE", "PAY"), ("SEX",)
    read_cells(table, "table", groups, "QUIT", SCHEMA, ())
    read_cells(table, "table", ("SEX", "AREA"), "QUIT", SCHEMA, ("counts", "percentages"))
    read_list(table, "table", SCHEMA["SEX"], ())
    read_summary(table, "table", age, groups, (), (), SCHEMA)
    read_summary(table, "table", age, (), groups, ("mean",), SCHEMA)
    read_matrix(table, "table", age, SCHEMA)
    label_columns(table, ("SEX", "QUIT"), SCHEMA)


SPECS = Path(__file__).parents[1] / "specs"


@pytest.mark.parametrize("path", sorted(SPECS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_spec_loads_and_lists_each_figure_once(path: Path) -> None:
    from evosynth.spec import load

    spec = load(path)
    for figures, plan in zip(spec.figures, spec.plans, strict=True):
        labels = [figure.label for figure in figures]
        assert len(set(labels)) == len(labels)
        assert len(labels) == len(plan.counted) + sum(block.size for block in plan.smooth)


HEADED = {
    "beside labels": "       Male N (%)   Female N (%)\n",
    "behind a comma": "       Male, n (%)  Female, n (%)\n",
    "in a line below": "       Male         Female\n       N (%)        N (%)\n",
    "in a line above": "             N (%)\n       Male         Female\n",
    "with sizes": "       Male (n = 100)  Female (n = 100)\n",
}
ROWS = "North  47 (42.3)    64 (57.7)\nWest   45 (45.5)    54 (54.5)\n"


@pytest.mark.parametrize("header", HEADED.values(), ids=HEADED)
def test_what_cells_hold_stands_above_them(header: str) -> None:
    shows = ["counts", "row_percentages"]
    found, faults = read_cells(parse(header + ROWS), "table", ["AREA"], "SEX", SCHEMA, shows)
    assert not faults
    assert [(cell.key, cell.form, cell.text) for cell in found][:4] == [
        (("1", "1"), "counts", "47"),
        (("1", "1"), "row_percentages", "42.3"),
        (("1", "2"), "counts", "64"),
        (("1", "2"), "row_percentages", "57.7"),
    ]
    if "%" in header:
        _, (fault,) = read_cells(parse(header + ROWS), "table", ["AREA"], "SEX", SCHEMA, [])
        assert fault.message.endswith(
            "(%)': per cent of a row, a column or all? List what cells hold under shows, "
            "such as [counts, row_percentages]"
        )


@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("Male N (row %)   Female N (row %)", "row_percentages"),
        ("Male n (col %)   Female n (col %)", "column_percentages"),
        ("Male, No. (% of total)   Female, No. (% of total)", "percentages"),
    ],
)
def test_per_cent_above_cells_may_say_of_what(header: str, form: str) -> None:
    found, faults = read_cells(
        parse(f"       {header}\n{ROWS}"), "table", ["AREA"], "SEX", SCHEMA, []
    )
    assert not faults
    assert {cell.form for cell in found} == {"counts", form}


def test_counts_and_per_cent_of_one_variable() -> None:
    table = parse("Sex      N (%)\nMale     187 (46.8)\nFemale   213 (53.3)\n")
    found, faults = read_list(table, "table", SCHEMA["SEX"], [])
    assert not faults
    assert [(cell.key, cell.form, cell.text) for cell in found] == [
        (("1",), "counts", "187"),
        (("1",), "percentages", "46.8"),
        (("2",), "counts", "213"),
        (("2",), "percentages", "53.3"),
    ]


def test_labels_that_end_like_counts() -> None:
    labels = Labels(categories("X", ("Woman", "Woman (%)", "Iron")), TOTAL)
    assert [labels.find(text) for text in ("Woman (%)", "Woman, n (%)", "Iron")] == ["2", "1", "3"]
