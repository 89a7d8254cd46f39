"""Files of every format: read back by independent readers, with labels and missing codes intact."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import time

import openpyxl
import pandas as pd
import pyarrow.parquet
import pyreadstat
import pytest
from cases import small

import evosynth
from evosynth import cli, formats
from evosynth.errors import DataError, FormatError
from evosynth.formats import limits, stata

LONG = "a_name_with_exactly_32_characters"[:32]
LONGER = "a_name_with_exactly_32_charactersX"
SPEC = f"""
title: Trust – الثقة 🚗
source: 'A report, "table" 3'
records: 300
formats: [stata, spss, excel]
variables:
  AREA:   {{label: 'Région "où"', categories: {{n: Nörd, s: 'جنوب', '=1+1': '🌊 West'}}}}
  CARS:   {{label: Cars, categories: {{0: No, 1: Yes}}, missing: {{-9: Refused, -8: Don't know}}}}
  INCOME: {{label: Income, integer: [0, 200], missing: {{-1: Not asked}}}}
  HEIGHT: {{label: Height, number: {{min: 1.20, max: 2.20, decimals: 2}}, missing: true}}
  KIDS:   {{label: Children, integer: [0, 9], missing: true}}
  PRICE:  {{label: Price, number: {{min: 0, max: 2, decimals: 3}}, missing: {{-9: Unknown}}}}
  {LONG}: {{label: {"l" * 80}, categories: {{1: {"v" * 120}, 2: Two}}}}
  {LONGER}: {{label: {"é" * 81}, categories: {{1: {"é" * 61}, 2: Two}}}}
outputs:
  - kind: frequencies
    of: AREA
    counts: {{n: 100, s: 150, '=1+1': 50}}
  - kind: frequencies
    of: CARS
    counts: {{0: 86, 1: 191, -9: 12, -8: 11}}
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return evosynth.synthesize(small(tmp_path_factory.mktemp("spec"), SPEC), seed=2)


@pytest.fixture(scope="module")
def folder(result, tmp_path_factory):
    return result.save(tmp_path_factory.mktemp("out") / "out")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".dta", ".sav", ".xlsx"])
def test_every_file_reads_back_equal(suffix, result, folder):
    found = evosynth.read_data(folder / f"data{suffix}", result.spec.schema)
    pd.testing.assert_frame_equal(found, result.data, check_dtype=False)
    assert found["HEIGHT"].isna().any() and (found["INCOME"] == -1).any()
    assert evosynth.verify(result.spec, found)["exact"].all()


def test_stata_labels_missing_values_and_notes(folder):
    frame, about = pyreadstat.read_dta(str(folder / "data.dta"), user_missing=True)
    assert about.variable_value_labels["CARS"] == {
        0: "No",
        1: "Yes",
        "a": "Refused",
        "b": "Don't know",
    }
    assert about.variable_value_labels["INCOME"] == {"a": "Not asked"}
    assert about.column_names_to_labels["AREA"] == 'Région "où"'
    assert (frame["CARS"] == "a").sum() == 12
    assert about.file_label == "SYNTHETIC teaching data: Trust – الثقة 🚗"
    assert "synthetic" in about.notes[0] and "Do not use" in about.notes[1]
    whole = pd.read_stata(folder / "data.dta", convert_categoricals=False)  # another reader
    assert whole["CARS"].isna().sum() == 23
    assert whole["HEIGHT"].dropna().between(1.2, 2.2).all()


def test_spss_labels_missing_values_and_documents(folder):
    _, about = pyreadstat.read_sav(str(folder / "data.sav"), user_missing=True)
    assert about.variable_value_labels["AREA"] == {"n": "Nörd", "s": "جنوب", "=1+1": "🌊 West"}
    assert about.missing_ranges["CARS"] == [{"lo": -9, "hi": -9}, {"lo": -8, "hi": -8}]
    assert about.variable_value_labels["INCOME"] == {-1: "Not asked"}
    assert "synthetic" in " ".join(about.notes)
    frame, _ = pyreadstat.read_sav(str(folder / "data.sav"))
    assert frame["CARS"].isna().sum() == 23


def test_excel_holds_text_as_text_and_a_codebook(folder):
    book = openpyxl.load_workbook(folder / "data.xlsx")
    assert book.sheetnames == ["about", "data", "codebook"]
    kinds = {cell.data_type for cell in book["data"]["A"]}
    assert kinds == {"s"}  # no formula, whatever a code begins with
    rows = list(book["codebook"].values)
    assert ("AREA", 'Région "où"', "s", "جنوب", None) in rows
    assert ("CARS", "Cars", -9, "Refused", "missing") in rows
    assert ("INCOME", "Income", -1, "Not asked", "missing") in rows
    assert ("KIDS", "Children", "(blank)", "No value", "missing") in rows
    assert ("PRICE", "Price", -9, "Unknown", "missing") in rows
    assert "synthetic" in book["about"]["A2"].value


def test_parquet_labels_the_missing_codes_of_quantities(folder):
    schema = pyarrow.parquet.read_schema(folder / "data.parquet")
    about = {field.name: field.metadata for field in schema}
    assert about["INCOME"][b"value_labels"] == b'{"-1": "Not asked"}'
    assert about["PRICE"][b"value_labels"] == b'{"-9": "Unknown"}'
    assert about["PRICE"][b"missing_values"] == b'["-9"]'
    assert b"value_labels" not in about["KIDS"]


def test_codebook_counts_the_missing_codes_of_quantities(folder):
    data = pd.read_csv(folder / "data.csv", keep_default_na=False)
    unknown = int((data["PRICE"] == -9).sum())
    share = f"{unknown / 300:.2%}"
    assert unknown > 0
    assert f"| -9 | Unknown (missing) | {unknown} | {share} |" in (
        folder / "codebook.md"
    ).read_text("utf-8")
    page = (folder / "codebook.html").read_text("utf-8")
    assert f'<td class="number">{unknown}</td><td class="number">{share}</td>' in page


R = """
suppressMessages(library(haven))
d <- read_dta(file.path(commandArgs(TRUE)[1], "data.dta"))
s <- read_sav(file.path(commandArgs(TRUE)[1], "data.sav"), user_na = TRUE)
f <- suppressWarnings(foreign::read.spss(file.path(commandArgs(TRUE)[1], "data.sav"),
                      use.value.labels = FALSE, to.data.frame = TRUE, reencode = "UTF-8"))
cat(sum(na_tag(d$CARS) == "a", na.rm = TRUE), "\n")
cat(names(attr(d$CARS, "labels")), sep = "|"); cat("\n")
cat(attr(s$AREA, "label"), names(attr(s$AREA, "labels")), sep = "|"); cat("\n")
cat(attr(s$CARS, "na_values"), sum(unclass(s$CARS) == -9), sum(is.na(f$CARS)), "\n")
cat(attr(d, "label"), "\n")
"""


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_reads_labels_and_missing_values(folder):
    there = 'cat(requireNamespace("haven") && requireNamespace("foreign"))'
    found = subprocess.run(["Rscript", "-e", there], capture_output=True, text=True, check=True)
    if found.stdout != "TRUE":
        pytest.skip("R's packages haven and foreign are not installed")
    done = subprocess.run(
        ["Rscript", "-e", R, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "12 ",
        "No|Yes|Refused|Don't know",
        'Région "où"|Nörd|جنوب|🌊 West',
        "-9 -8 12 23 ",
        "SYNTHETIC teaching data: Trust – الثقة 🚗 ",
    ]


R13 = """
suppressMessages(library(readstata13))
d <- read.dta13(file.path(commandArgs(TRUE)[1], "data.dta"), convert.factors = FALSE,
                missing.type = TRUE)
about <- attributes(d)
cat(names(d)[7], about$var.labels[1], about$datalabel, sep = "|"); cat("\\n")
cat(names(about$label.table$CARS), sep = "|"); cat("\\n")
cat(table(about$missing$CARS), sum(is.na(d$HEIGHT)) > 0, unique(d$AREA)[1] %in% d$AREA, "\\n")
"""


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_a_reader_of_its_own_opens_the_stata_file(folder):
    there = 'cat(requireNamespace("readstata13", quietly = TRUE))'
    found = subprocess.run(["Rscript", "-e", there], capture_output=True, text=True, check=True)
    if found.stdout != "TRUE":
        pytest.skip("R's package readstata13 is not installed")
    done = subprocess.run(
        ["Rscript", "-e", R13, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f'{LONG}|Région "où"|SYNTHETIC teaching data: Trust – الثقة 🚗',
        "No|Yes|Refused|Don't know",
        "12 11 TRUE TRUE ",
    ]


PSPP = "GET FILE='data.sav'.\nDISPLAY DICTIONARY.\nDISPLAY DOCUMENTS.\nFREQUENCIES CARS AREA.\n"


@pytest.mark.skipif(shutil.which("pspp") is None, reason="PSPP is not installed")
def test_pspp_opens_the_spss_file(folder, tmp_path):
    shutil.copy(folder / "data.sav", tmp_path)
    (tmp_path / "look.sps").write_text(PSPP)
    done = subprocess.run(
        ["pspp", "-O", "format=csv", "-o", "out.csv", "look.sps"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "out.csv").read_text("utf-8")
    for row in (
        'AREA,1,"Région ""où""",Nominal,Input,8,Left,A4,A4,',
        "CARS,2,Cars,Nominal,Input,8,Right,F8.0,F8.0,-9; -8",
        ",s,جنوب",
        ",-9[a],Refused",
        f"{LONG},1,{'v' * 120}"[len(LONG) :],
        "Missing,Refused,12,4.0%,,",
        ",🌊 West,50,16.7%",
    ):
        assert row in text, row
    assert "These data are synthetic" in text


def test_names_and_labels_are_never_cut_in_silence(result, folder):
    notes = formats.notes(result.spec.formats, result.spec.schema)
    text = "\n".join(notes)
    assert f"data.dta: variable {LONGER} is called {LONG}_2"[:70] in text
    assert f"data.dta: the label of {LONGER} is shortened to 80 characters: {'é' * 79}…" in notes
    short = f"{'é' * 58}…"
    assert f"data.sav: the label of {LONGER}=1 is shortened to 120 bytes: {short}" in notes
    assert not any(f" {LONG} is" in note or f"{LONG}=" in note for note in notes)
    book = (folder / "codebook.md").read_text("utf-8")
    assert "is shortened to 120 bytes" in book
    columns = pd.read_stata(folder / "data.dta").columns
    assert LONG in columns and len(set(columns)) == 8


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "missing: {-9: Refused, -8: Don't know}",
            "missing: {-9: A, 5: B, 6: C, 7: D}",
            None,
        ),
        (
            "missing: {-1: Not asked}",
            "missing: {-1: A, 900: B, -7: C, 901: D}",
            r"variables.INCOME.missing: SPSS takes up to 3 missing codes, or a range",
        ),
        (
            "missing: {-1: Not asked}",
            f"missing: {{{', '.join(f'{-i}: m{i}' for i in range(1, 28))}}}",
            r"variables.INCOME.missing: Stata has 26 missing values",
        ),
    ],
)
def test_what_a_format_cannot_hold_is_refused_before_the_search(
    old, new, message, tmp_path, capsys
):
    text = SPEC.replace(old, new)
    if message is None:
        text = text.replace("-9: 12, -8: 11", "missing: 23")
    if message is None:
        assert formats.fit("spss", small(tmp_path, text).schema)
        return
    with pytest.raises(evosynth.SpecError, match=rf"spec.yaml:9 {message}"):
        small(tmp_path, text)
    command = ["run", str(tmp_path / "spec.yaml"), "-o", str(tmp_path / "out")]
    text = text.replace("formats: [stata, spss, excel]", "start: calibrated")
    small(tmp_path, text)
    assert cli.main([*command, "--format", "spss", "--format", "stata"]) == 2
    assert re.search(rf"spec.yaml:9 {message}", capsys.readouterr().err)


def test_reserved_names_and_names_that_differ_in_case_are_replaced():
    assert limits.rename(["if", "str5", "AGE"], 32, len, stata._allowed) == {
        "if": "v_if",
        "str5": "v_str5",
        "AGE": "AGE",
    }
    own = ["_people", "_term12", "s_k", "s_kids", "_terms"]  # the first three are the script's
    found = limits.rename(own, 32, len, stata._allowed)
    assert list(found.values()) == ["v_people", "v_term12", "v_s_k", "s_kids", "_terms"]
    found = limits.rename(
        ["age", "AGE", "All"], 64, len, lambda n: n.upper() != "ALL", str.casefold
    )
    assert found == {"age": "age", "AGE": "AGE_2", "All": "v_All"}


def test_missing_codes_of_numbers_are_told_as_they_stand_in_the_data(tmp_path):
    text = SPEC.replace("decimals: 2}, missing: true", "decimals: 2}, missing: {-9: Refused}")
    schema = small(tmp_path, text).schema
    assert "data.dta: missing codes of HEIGHT: -9 is .a" in formats.notes(["stata"], schema)
    notes = list(stata._variable_notes(schema["HEIGHT"], stata.fit(schema)))
    assert notes == [".a was the code -9: Refused"]


def test_formats_of_the_command_line_add_to_those_of_the_spec(tmp_path, capsys):
    small(tmp_path, SPEC.replace("formats: [stata, spss, excel]", "formats: [stata]"))
    out = tmp_path / "out"
    code = cli.main(["run", str(tmp_path / "spec.yaml"), "-o", str(out), "--format", "xlsx"])
    assert code == 0
    assert "missing codes of CARS: -9 is .a, -8 is .b" in capsys.readouterr().err
    there = sorted(file.name for file in out.glob("data.*"))
    assert there == ["data.csv", "data.dta", "data.parquet", "data.xlsx"]


def test_an_unknown_format_is_a_fault_with_its_line(tmp_path):
    with pytest.raises(evosynth.SpecError, match=r":5 formats: no format 'stat' \(did you mean"):
        small(tmp_path, SPEC.replace("[stata, spss", "[stat, spss"))


def test_a_package_that_is_missing_is_named(result, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "openpyxl" else find(name)
    )
    with pytest.raises(FormatError, match="format excel needs .* pip install openpyxl"):
        formats.notes(["excel"], result.spec.schema)


@pytest.mark.parametrize("suffix", [".dta", ".sav", ".xlsx"])
def test_files_that_are_none_are_refused(suffix, result, tmp_path):
    file = tmp_path / f"data{suffix}"
    file.write_bytes(b"nothing of the kind")
    with pytest.raises(DataError, match="cannot be read"):
        evosynth.read_data(file, result.spec.schema)
    with pytest.raises(DataError, match="No such file"):
        evosynth.read_data(tmp_path / f"none{suffix}", result.spec.schema)


def test_records_beyond_one_sheet_go_on_in_another(result, tmp_path, monkeypatch):
    from evosynth.formats import excel

    monkeypatch.setattr(excel, "_ROWS", 101)
    folder = result.save(tmp_path / "out", formats=["excel"])
    book = openpyxl.load_workbook(folder / "data.xlsx", read_only=True)
    assert book.sheetnames == ["about", "data", "data 2", "data 3", "codebook"]
    found = evosynth.read_data(folder / "data.xlsx", result.spec.schema)
    pd.testing.assert_frame_equal(found, result.data, check_dtype=False)
    assert "so they are in 3 sheets" in (folder / "codebook.md").read_text("utf-8")


def test_bytes_depend_on_the_data_alone(result, folder, tmp_path):
    time.sleep(2.1)  # times in files have a second or two of precision
    again = result.save(tmp_path / "out")
    for suffix in (".csv", ".parquet", ".dta", ".sav", ".xlsx"):
        name = f"data{suffix}"
        assert (again / name).read_bytes() == (folder / name).read_bytes(), name
