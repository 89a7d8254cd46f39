"""``evosynth weight`` adds a column to a file and leaves everything else as it is."""

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pyreadstat
import pytest

from evosynth.cli import main

FRAME = pd.DataFrame({"AREA": ["01", "02", "02", "01"], "INC": [-9.0, 20.5, 30.0, 40.0]})
TOTALS = "AREA,total\n01,500\n02,480\n"
WEIGHTS = [250, 240, 240, 250]


@pytest.fixture
def weighted(tmp_path):
    """Run the command on a file; return the new file, or ``None`` if it was refused."""

    def run(file, totals=TOTALS):
        (tmp_path / "totals.csv").write_text(totals, encoding="utf-8")
        out = tmp_path / "out"
        code = main(["weight", str(file), "--totals", str(tmp_path / "totals.csv"), "-o", str(out)])
        assert out.exists() == (code == 0)
        return out / f"data{file.suffix}" if code == 0 else None

    return run


def test_texts_of_csv_stay(tmp_path, weighted):
    lines = ["AREA,NOTE,N,P", "01,NA,1,0.10", '02,"a, b",,5e3', "02,,3,1.0", "01,x,4,.5"]
    file = tmp_path / "data.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = weighted(file).read_text(encoding="utf-8").splitlines()
    assert found[0] == lines[0] + ",WEIGHT"
    for line, before, weight in zip(found[1:], lines[1:], WEIGHTS, strict=True):
        kept, _, last = line.rpartition(",")
        assert kept == before
        assert float(last) == pytest.approx(weight)


def test_missing_codes_of_spss_stay(tmp_path, weighted):
    about = {
        "file_label": "A survey",
        "note": "Fieldwork in May",
        "column_labels": {"AREA": "Area", "INC": "Income"},
        "variable_value_labels": {"INC": {-9: "Refused"}},
        "missing_ranges": {"INC": [-9]},
        "variable_measure": {"AREA": "nominal", "INC": "scale"},
        "variable_format": {"INC": "F5.1"},
    }
    file = tmp_path / "data.sav"
    pyreadstat.write_sav(FRAME, file, **about)
    new = weighted(file)
    frame, meta = pyreadstat.read_sav(new, user_missing=True)
    assert frame["INC"].tolist() == FRAME["INC"].tolist()
    assert frame["WEIGHT"].tolist() == pytest.approx(WEIGHTS)
    assert pyreadstat.read_sav(new)[0]["INC"].isna().tolist() == [True, False, False, False]
    _, before = pyreadstat.read_sav(file)
    assert (meta.file_label, meta.notes) == ("A survey", ["Fieldwork in May"])
    assert meta.variable_value_labels == before.variable_value_labels
    assert meta.variable_measure["AREA"] == "nominal"
    assert meta.original_variable_types["INC"] == "F5.1"
    assert meta.column_names_to_labels["WEIGHT"] == "Calibration weight"


def test_missing_codes_of_spss_are_no_values(tmp_path, weighted, capsys):
    file = tmp_path / "data.sav"
    pyreadstat.write_sav(FRAME, file, missing_ranges={"INC": [-9]})
    assert weighted(file, "variable,value,total\nINC,,900\n") is None
    assert "INC: 1 record has no number there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ending", "write"), [("sav", pyreadstat.write_sav), ("dta", pyreadstat.write_dta)]
)
def test_values_are_found_by_their_labels(tmp_path, weighted, ending, write):
    frame = FRAME.assign(SEX=[1.0, 2.0, 2.0, 1.0])
    file = tmp_path / f"data.{ending}"
    write(frame, file, variable_value_labels={"SEX": {1: "Men", 2: "Women", 3: "x", 4: "x"}})
    new = weighted(file, "SEX,total\nMen,500\nWomen,480\n")
    read = pyreadstat.read_sav if ending == "sav" else pyreadstat.read_dta
    assert read(new)[0]["WEIGHT"].tolist() == pytest.approx(WEIGHTS)


def test_extended_missing_values_of_stata_stay(tmp_path, weighted):
    frame = FRAME.assign(
        INC=["a", 20.5, 30.0, 40.0],
        DAY=pd.date_range("2020-01-01", periods=4),
    )
    file = tmp_path / "data.dta"
    pyreadstat.write_dta(
        frame,
        file,
        file_label="A survey",
        variable_value_labels={"INC": {"a": "Refused"}},
        missing_user_values={"INC": ["a"]},
    )
    found, meta = pyreadstat.read_dta(weighted(file), user_missing=True)
    assert found["INC"].tolist() == ["a", 20.5, 30.0, 40.0]
    assert found["DAY"].tolist() == frame["DAY"].tolist()
    assert meta.variable_value_labels["INC"] == {"a": "Refused"}
    assert meta.file_label == "A survey"
    assert found["WEIGHT"].tolist() == pytest.approx(WEIGHTS)


def test_other_sheets_stay(tmp_path, weighted):
    file = tmp_path / "book.xlsx"
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active["A1"] = "=1+1"
    sheet = book.create_sheet("data")
    for row in (["AREA", "INC"], *FRAME.itertuples(index=False)):
        sheet.append(list(row))
    sheet["B2"].font = openpyxl.styles.Font(bold=True)
    book.save(file)
    found = openpyxl.load_workbook(weighted(file))
    assert found.sheetnames == ["Notes", "data"]
    assert found["Notes"]["A1"].value == "=1+1"
    assert found["data"]["B2"].font.bold
    header, *rows = found["data"].iter_rows(values_only=True)
    assert header == ("AREA", "INC", "WEIGHT")
    assert [row[:2] for row in rows] == list(FRAME.itertuples(index=False, name=None))
    assert [row[2] for row in rows] == pytest.approx(WEIGHTS)


def test_labels_in_parquet_stay(tmp_path, weighted):
    table = pa.Table.from_pandas(FRAME)
    fields = [table.schema.field("AREA").with_metadata({"label": "Area"}), table.schema.field(1)]
    file = tmp_path / "data.parquet"
    pa.parquet.write_table(table.cast(pa.schema(fields, {b"title": b"A survey"})), file)
    new = weighted(file)
    found = pa.parquet.read_schema(new)
    assert found.field("AREA").metadata[b"label"] == b"Area"
    assert found.field("WEIGHT").metadata[b"label"] == b"Calibration weight"
    assert found.metadata[b"title"] == b"A survey"
    assert pd.read_parquet(new)["WEIGHT"].tolist() == pytest.approx(WEIGHTS)


@pytest.mark.parametrize("suffix", [".parquet", ".dta", ".sav", ".xlsx"])
def test_broken_files_are_refused_in_a_line(tmp_path, weighted, capsys, suffix):
    file = tmp_path / f"data{suffix}"
    file.write_bytes(b"AREA,INC\n01,2\n")
    assert weighted(file) is None
    message = capsys.readouterr().err
    assert f"{file}: cannot be read: " in message
    assert "Traceback" not in message


def test_lines_longer_than_the_header_are_refused(tmp_path, weighted, capsys):
    file = tmp_path / "data.csv"
    file.write_text("AREA,INC\n01,2,\n02,3,\n", encoding="utf-8")
    assert weighted(file) is None
    assert "its lines have more values than the first line has names" in capsys.readouterr().err
