"""Dates and identifiers, from a spec to a file and back."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pyreadstat
import pytest

import evosynth
from evosynth.proof import read_data

SPEC = """records: 120
variables:
  ID: {label: Patient, identifier: {prefix: P, digits: 5}}
  ADMITTED: {label: Day of admission, date: [2019-01-01, 2019-12-31]}
  DISCHARGED: {label: Day of discharge, date: [2019-01-01, 2020-06-30], missing: true}
  STAY: {label: Days, integer: [0, 60], missing: true, derived: DISCHARGED - ADMITTED}
  SEX: {label: Sex, categories: {1: Male, 2: Female}}
outputs:
  - {kind: frequencies, of: SEX, counts: {1: 50, 2: 70}}
  - {kind: frequencies, of: SEX, where: ADMITTED >= 2019-07-01, counts: {1: 20, 2: 31}}
  - {kind: summary, of: STAY, mean: 7.2, sd: 5.1}
rules:
  - ADMITTED <= DISCHARGED
  - if SEX == 1 then ADMITTED >= '2019-03-01'
"""


@pytest.fixture
def load(tmp_path):
    def read(text: str) -> evosynth.Spec:
        file = tmp_path / "spec.yaml"
        file.write_text(text, encoding="utf-8")
        return evosynth.load(file)

    return read


def test_dates_and_identifiers_reach_the_files_and_come_back(load, tmp_path):
    spec = load(SPEC)
    result = evosynth.synthesize(spec, 1)
    folder = result.save(tmp_path / "out")
    assert result.exact
    data = pd.read_csv(folder / "data.csv", parse_dates=["ADMITTED", "DISCHARGED"])
    assert data["ID"].tolist() == [f"P{n:05d}" for n in range(1, 121)]
    assert data["ADMITTED"].between("2019-01-01", "2019-12-31").all()
    both = data.dropna()
    assert len(both) > 60
    assert ((both["DISCHARGED"] - both["ADMITTED"]).dt.days == both["STAY"]).all()
    assert (data.loc[data["SEX"] == 1, "ADMITTED"] >= "2019-03-01").all()
    late = data[data["ADMITTED"] >= "2019-07-01"]
    assert late["SEX"].value_counts().to_dict() == {2: 31, 1: 20}
    first = (folder / "data.csv").read_text().splitlines()[1]
    assert "00:00" not in first
    table = pa.parquet.read_table(folder / "data.parquet")
    assert table.schema.field("ADMITTED").type == pa.date32()
    for name in ("data.csv", "data.parquet"):
        assert evosynth.verify(spec, read_data(folder / name, spec.schema))["exact"].all()
    assert "Tells records apart" in (folder / "codebook.md").read_text()


def test_plain_identifiers_are_numbers(load):
    spec = load(SPEC.replace("{prefix: P, digits: 5}", "true"))
    assert evosynth.synthesize(spec, 1).data["ID"].tolist() == list(range(1, 121))


BAD = [
    (
        "2019-12-31]}",
        "2018-12-31]}",
        "variables.ADMITTED.date: the first day, 2019-01-01, is after",
    ),
    ("2019-12-31]}", "2019-13-31]}", "'2019-13-31' is no day such as 2019-01-31"),
    ("where: ADMITTED >= 2019-07-01", "where: ADMITTED >= 7", "'7' is not a day such as"),
    ("of: STAY,", "of: ID,", "'ID' tells records apart; no figure can be of it"),
    ("- ADMITTED <= DISCHARGED", "- ID > 3", "'ID' tells records apart; no rule can be about it"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD, ids=[new for _, new, _ in BAD])
def test_what_is_wrong_with_dates_and_identifiers_is_told(load, old, new, message):
    assert old in SPEC
    with pytest.raises(evosynth.SpecError) as error:
        load(SPEC.replace(old, new, 1))
    assert message in str(error.value)


def test_every_format_holds_dates_and_identifiers(load, tmp_path):
    spec = load("formats: [stata, spss, excel]\n" + SPEC)
    result = evosynth.synthesize(spec, 1)
    folder = result.save(tmp_path / "out", formats=spec.formats)
    plain = pd.read_csv(folder / "data.csv", parse_dates=["ADMITTED", "DISCHARGED"])
    stata = pyreadstat.read_dta(folder / "data.dta")[0]
    spss = pyreadstat.read_sav(folder / "data.sav")[0]
    excel = pd.read_excel(folder / "data.xlsx", sheet_name="data")
    for other in (stata, spss, excel):
        assert other["ID"].tolist() == plain["ID"].tolist()
        for name in ("ADMITTED", "DISCHARGED"):
            days = pd.to_datetime(other[name]).dt.as_unit("s")
            pd.testing.assert_series_equal(days, plain[name].dt.as_unit("s"))
    for file in ("data.dta", "data.sav", "data.xlsx"):
        assert evosynth.verify(spec, read_data(folder / file, spec.schema))["exact"].all()


def test_the_starter_script_selects_by_date(load, tmp_path):
    result = evosynth.synthesize(load(SPEC), 1)
    folder = result.save(tmp_path / "out")
    printed = subprocess.run(
        [sys.executable, folder / "analysis.py"], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split() for line in printed.splitlines() if line.startswith("SEX=")]
    assert [row[1:] for row in rows] == [["50", "50"], ["70", "70"], ["20", "20"], ["31", "31"]]
    assert 'date("2019-07-01", "YMD")' in (folder / "analysis.do").read_text()
    assert "DATE.DMY(1,7,2019)" in (folder / "analysis.sps").read_text()
