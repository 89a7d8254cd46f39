"""Verification: it sees what is in the file, and nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cases import FOUNDING, small

import evosynth
from evosynth.errors import DataError
from evosynth.proof import group, read_data, verify

TEXT = """\
records: 6
variables:
  A: {categories: {01: one, 02: two}}
  N: {integer: [1, 3]}
outputs:
  - {kind: frequencies, of: A, counts: {01: 2, 02: 4}}
  - {kind: frequencies, of: N, proportions: {1: 0.33, 3: 0.17}}
"""
DATA = "A,N\n01,1\n01,1\n02,2\n02,2\n02,2\n02,3\n"


@pytest.fixture
def spec(tmp_path):
    return small(tmp_path, TEXT)


def test_codes_with_leading_zeros_stay_text(spec, tmp_path):
    (tmp_path / "data.csv").write_text(DATA)
    found = verify(spec, read_data(tmp_path / "data.csv", spec.schema))
    assert found["exact"].all()
    assert found["reproduced"].tolist() == ["2", "4", "0.33", "0.17"]


def test_a_miss_is_reported_with_its_distance(spec, tmp_path):
    (tmp_path / "data.csv").write_text(DATA.replace("02,3", "01,3"))
    found = verify(spec, read_data(tmp_path / "data.csv", spec.schema))
    assert found["exact"].tolist() == [False, False, True, True]
    assert found["reproduced"].tolist() == ["3", "3", "0.33", "0.17"]
    assert found["half_units"][:2].tolist() == [2.0, -2.0]


def test_other_columns_and_another_number_of_records_are_allowed(spec, tmp_path):
    frame = pd.concat([pd.read_csv(pd.io.common.StringIO(DATA), dtype={"A": str})] * 2)
    frame.assign(id=range(12)).to_parquet(tmp_path / "data.parquet")
    found = verify(spec, read_data(tmp_path / "data.parquet", spec.schema))
    assert found["exact"].tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("data.csv", "A,M\n01,1\n", "no column 'N' (known: A, M)"),
        ("data.csv", "A,n\n01,1\n", "no column 'N' (did you mean 'n'?)"),
        (
            "data.csv",
            "A,N\n01,1\n03,7\n",
            "column 'A' holds values that the spec does not list: '03'",
        ),
        ("data.csv", "A,N\n02,7\n", "column 'N' holds values that the spec does not list: 7"),
        ("data.csv", "A,N\n02,300\n", "column 'N' holds values that the spec does not list: 300"),
        (
            "data.csv",
            "A,N\n02,\n02,1\n",
            "column 'N' holds values that the spec does not list: ''",
        ),
        ("data.csv", "A,N\n02,x\n", "column 'N' holds values that the spec does not list: 'x'"),
        (
            "data.csv",
            "A,N\n02,1\n01,x\n02,2\n01,\n",
            "column 'N' holds values that the spec does not list: 'x', ''",
        ),
        ("data.csv", "A;N\n02;1\n", "columns are set apart by ';'; save it with commas instead"),
        ("data.csv", "", "cannot be read: No columns to parse from file"),
        ("data.csv", "A,N\n", "there are no records"),
        ("data.txt", "A,N\n", "the name must end in .csv, .parquet, .dta, .sav or .xlsx"),
        ("data.parquet", "A,N\n", "cannot be read"),
    ],
)
def test_data_that_do_not_fit_are_refused(spec, tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(DataError) as error:
        read_data(path, spec.schema)
    assert f"{path}: {message}" in str(error.value)


def test_a_missing_file_is_refused(spec, tmp_path):
    with pytest.raises(DataError, match="none.csv: cannot be read: No such file"):
        read_data(tmp_path / "none.csv", spec.schema)


def test_large_data_are_grouped_without_changing_a_figure():
    spec = evosynth.load(FOUNDING[1])
    data = evosynth.synthesize(spec, seed=4).data
    large = pd.concat([data] * 20, ignore_index=True)
    grouped, counts = group(large, spec.schema)
    assert len(grouped) < len(data) < counts.sum() == len(large)
    columns = ["value", "reproduced"]
    one = verify(spec, data)[columns].iloc[:14]
    many = verify(spec, large)[columns].iloc[:14]
    np.testing.assert_allclose(one["value"], many["value"], rtol=1e-9)
    assert one["reproduced"].tolist() == many["reproduced"].tolist()
