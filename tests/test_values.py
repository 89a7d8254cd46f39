"""Missing values, decimals, subpopulations and bounds, from the spec to the written file."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from cases import small

import evosynth
from evosynth.errors import DataError, SpecError
from evosynth.proof import read_data, verify

SPEC = """\
title: Values that are missing
records: 200
variables:
  SEX: {categories: {1: Male, 2: Female}, missing: {-9: Refused, -8: Not asked}}
  AREA: {categories: {n: North, s: South}, missing: true}
  KIDS: {integer: [0, 8], missing: true}
  AGE: {integer: [18, 80], missing: {999: Unknown}}
  BMI: {number: {min: 15, max: 45, decimals: 1}, missing: true}
  DOSE: {number: {min: 0.25, max: 9.75, decimals: 2}}
outputs:
  - {kind: frequencies, of: SEX, counts: {1: 90, 2: 100, -9: 6, -8: 4}}
  - {kind: frequencies, of: AREA, counts: {n: 80, missing: 15}, valid_percentages: {n: 43.2}}
  - {kind: crosstab, rows: SEX, columns: AREA, counts: {1: [40, 45], 2: [38, 52]}}
  - {kind: summary, of: KIDS, n: 181, mean: 1.83, sd: 1.21, median: 2}
  - {kind: summary, of: AGE, by: SEX, n: {1: 85, 2: 97}, mean: {1: 44.12, 2: 46.03}}
  - {kind: summary, of: BMI, n: 170, mean: 26.38, sd: 4.27, min: 15.9, max: 44.1}
  - {kind: summary, of: DOSE, mean: 3.117, sd: 1.502, where: AGE >= 40 and SEX == 2}
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return evosynth.synthesize(small(tmp_path_factory.mktemp("spec"), SPEC), seed=1, workers=2)


@pytest.fixture(scope="module")
def folder(result, tmp_path_factory):
    return result.save(tmp_path_factory.mktemp("out") / "out")


def test_a_variable_holds_its_missing_values_last(result):
    schema = result.spec.schema
    assert schema["SEX"].texts == ("1", "2", "-9", "-8")
    assert schema["AREA"].texts == ("n", "s", "missing")
    assert schema["KIDS"].texts == (*"012345678", "missing")
    assert schema["BMI"].texts[:2] == ("15.0", "15.1")
    assert (schema["DOSE"].texts[0], schema["DOSE"].texts[-1]) == ("0.25", "9.75")
    found = [(v.valid, v.missing, v.blank, v.decimals) for v in schema.variables]
    assert found == [
        (2, 2, False, 0),
        (2, 1, True, 0),
        (9, 1, True, 0),
        (63, 1, False, 0),
        (301, 1, True, 1),
        (951, 0, False, 2),
    ]
    assert np.isnan(schema["AGE"].quantities[-1])
    assert schema["SEX"].proportions.sum() == pytest.approx(1)
    assert schema["SEX"].proportions[2:].sum() < 0.1


def test_every_figure_is_exact_in_the_written_file(result, folder):
    assert result.exact, result.verification[~result.verification["exact"]]
    for name in ("data.csv", "data.parquet"):
        data = read_data(folder / name, result.spec.schema)
        assert verify(result.spec, data)["exact"].all()


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_missing_values_are_blanks_or_codes_in_files(folder, name):
    read = pd.read_csv if name.endswith(".csv") else pd.read_parquet
    data = read(folder / name)
    assert data["AREA"].isna().sum() == 15
    assert data["KIDS"].isna().sum() == 19
    assert data["BMI"].isna().sum() == 30
    assert data["SEX"].value_counts().to_dict() == {2: 100, 1: 90, -9: 6, -8: 4}
    assert not data["AGE"].isna().any()
    assert data.loc[data["AGE"] != 999, "AGE"].between(18, 80).all()
    women = data[(data["SEX"] == 2) & (data["AGE"] != 999)]
    assert f"{women['AGE'].mean():.2f}" == "46.03"
    old = women[women["AGE"] >= 40]
    assert f"{old['DOSE'].mean():.3f} {old['DOSE'].std():.3f}" == "3.117 1.502"


def test_numbers_stand_with_their_decimals(folder):
    lines = (folder / "data.csv").read_text().splitlines()
    header = lines[0].replace('"', "").split(",")
    for row in lines[1:]:
        cells = dict(zip(header, row.split(","), strict=True))
        for name, decimals in (("BMI", 1), ("DOSE", 2)):
            assert len(cells[name].partition(".")[2]) <= decimals, row
        assert "." not in cells["KIDS"] + cells["AGE"] + cells["SEX"]
    types = pyarrow.parquet.read_schema(folder / "data.parquet")
    assert [str(types.field(name).type) for name in ("BMI", "DOSE")] == ["double", "double"]
    assert "int" in str(types.field("KIDS").type)


def test_codes_of_missing_values_travel_in_the_parquet_schema(folder):
    schema = pyarrow.parquet.read_schema(folder / "data.parquet")
    sex, area = schema.field("SEX").metadata, schema.field("AREA").metadata
    assert json.loads(sex[b"missing_values"]) == ["-9", "-8"]
    assert json.loads(sex[b"value_labels"])["-9"] == "Refused"
    assert b"missing_values" not in area
    assert json.loads(area[b"value_labels"]) == {"n": "North", "s": "South"}
    assert json.loads(schema.field("AGE").metadata[b"missing_values"]) == ["999"]


def test_the_codebook_tells_of_missing_values(folder):
    book = (folder / "codebook.md").read_text()
    assert "| -9 | Refused (missing) | 6 | 3.00% |" in book
    assert "| (blank) | No value (missing) | 15 | 7.50% |" in book
    assert "Number from 15.0 to 45.0; mean 26.38, standard deviation 4.27" in book
    assert "30 values are missing." in book
    assert "Whole number from 0 to 8; mean 1.83, standard deviation 1.21" in book
    assert "19 values are missing." in book


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"SEX": 3}, "column 'SEX' holds values that the spec does not list: 3"),
        ({"SEX": np.nan}, "column 'SEX' holds values that the spec does not list"),
        ({"KIDS": 9}, "column 'KIDS' holds values that the spec does not list: 9"),
        ({"BMI": 20.25}, "column 'BMI' holds values that the spec does not list: 20.25"),
        ({"DOSE": np.nan}, "column 'DOSE' holds values that the spec does not list"),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_values_that_a_spec_does_not_list_are_refused(result, tmp_path, change, message, suffix):
    data = result.data.astype({"SEX": float, "KIDS": float, "BMI": float})
    for name, value in change.items():
        data.loc[0, name] = value
    path = tmp_path / f"data.{suffix}"
    data.to_csv(path, index=False) if suffix == "csv" else data.to_parquet(path)
    with pytest.raises(DataError, match=message):
        read_data(path, result.spec.schema)


def test_large_data_with_blanks_are_grouped_alike(result):
    large = pd.concat([result.data] * 300, ignore_index=True)
    found = verify(result.spec, large)
    one = result.verification
    scaled = one["figure"].str.contains(r"^(?:counts|n of|SEX=|AREA=)")
    times = np.where(scaled & ~one["published"].str.contains(r"\."), 300, 1)
    moments = one["figure"].str.startswith("sd")  # n - 1 matters
    np.testing.assert_allclose(
        found["value"][~moments], (one["value"] * times)[~moments], rtol=1e-9
    )


SIMPLE = """\
records: {records}
variables:
  A: {{categories: {{1: one, 2: two}}}}
  B: {{categories: {{x: ex, y: why, z: zed}}}}
outputs:
  - {output}
"""


@pytest.mark.parametrize("share", ["0.12", "0.13"])
def test_a_share_halfway_may_be_printed_either_way(share, tmp_path):
    output = f"{{kind: frequencies, of: A, proportions: {{1: {share}}}}}"
    spec = small(tmp_path, SIMPLE.format(records=8, output=output))
    result = evosynth.synthesize(spec, seed=1)
    result.save(tmp_path / "out")
    assert (result.data["A"] == 1).sum() == 1
    assert result.exact


def test_half_a_percent_may_be_printed_either_way(tmp_path):
    output = (
        "{kind: crosstab, rows: A, columns: B, percentages: {1: [12, 13, 25], 2: [12, 13, 25]}}"
    )
    spec = small(tmp_path, SIMPLE.format(records=8, output=output))
    result = evosynth.synthesize(spec, seed=1)
    assert pd.crosstab(result.data["A"], result.data["B"]).to_numpy().tolist() == [[1, 1, 2]] * 2
    assert result.exact


@pytest.mark.parametrize(
    ("cells", "holds"),
    [
        ("{1: ['<10', 30, 20], 2: [15, suppressed, 20]}", lambda t: t[0][0] < 10),
        ("{1: ['<=4', 30, 20], 2: [15, '>= 12', 20]}", lambda t: t[0][0] <= 4 and t[1][1] >= 12),
        ("{1: ['>10', 30, 20], 2: [15, suppressed, 20]}", lambda t: t[0][0] > 10),
        ("{1: ['*', 30, 30], 2: [15, '*', 20]}", lambda t: 1 <= t[0][0] <= 9),
        ("{1: [structural, 30, 30], 2: [15, 5, 20]}", lambda t: t[0][0] == 0),
    ],
)
def test_bounds_on_cells_are_kept(cells, holds, tmp_path):
    output = f"{{kind: crosstab, rows: A, columns: B, counts: {cells}}}"
    spec = small(tmp_path, SIMPLE.format(records=100, output=output))
    result = evosynth.synthesize(spec, seed=1)
    result.save(tmp_path / "out")
    assert result.exact
    table = pd.crosstab(result.data["A"], result.data["B"]).reindex(columns=list("xyz"))
    assert holds(table.fillna(0).to_numpy())
    written = pd.read_csv(tmp_path / "out" / "verification.csv", dtype=str)
    assert written["exact"].tolist() == ["True"] * 6


def test_suppressed_means_what_the_table_says(tmp_path):
    output = "{kind: frequencies, of: B, suppressed: [1, 4], counts: {x: suppressed, y: 70, z: 27}}"
    spec = small(tmp_path, SIMPLE.format(records=100, output=output))
    result = evosynth.synthesize(spec, seed=1)
    assert (result.data["B"] == "x").sum() == 3
    assert result.exact
    with pytest.raises(SpecError, match=r"the cells sum to 93 to 96, but records is 100 \(4 miss"):
        small(tmp_path, SIMPLE.format(records=100, output=output.replace("27", "22")))


def test_counts_rounded_to_a_base_lie_near_them(tmp_path):
    output = (
        "{kind: crosstab, rows: A, columns: B, rounded: 5, "
        "counts: {1: [10, 0, 25, 40], 2: [15, 30, 20, 60], total: [20, 30, 45, 100]}}"
    )
    spec = small(tmp_path, SIMPLE.format(records=100, output=output))
    result = evosynth.synthesize(spec, seed=1)
    assert result.exact
    table = pd.crosstab(result.data["A"], result.data["B"], margins=True).to_numpy()
    published = [[10, 0, 25, 40], [15, 30, 20, 60], [20, 30, 45, 100]]
    assert np.abs(table - published).max() <= 2


WHERE = """\
records: 300
variables:
  AGE: {integer: [18, 80]}
  SEX: {categories: {1: Male, 2: Female}, missing: {9: Unknown}}
  PAY: {integer: [0, 99], missing: true}
outputs:
  - {kind: frequencies, of: SEX, where: AGE < 30, counts: {1: 41, 2: 38, 9: 3, total: 82}}
"""


def test_a_subpopulation_is_counted_alone(tmp_path):
    text = WHERE + (
        "  - {kind: summary, of: PAY, where: 'SEX != 1 and AGE >= 30', n: 97, mean: 41.57}\n"
        "  - {kind: summary, of: PAY, where: 'AGE in (18, 19, 20) or AGE > 78', mean: 12.3}\n"
    )
    result = evosynth.synthesize(small(tmp_path, text), seed=1)
    result.save(tmp_path / "out")
    assert result.exact
    data = pd.read_csv(tmp_path / "out" / "data.csv")
    young = data[data["AGE"] < 30]
    assert young["SEX"].value_counts().to_dict() == {1: 41, 2: 38, 9: 3}
    older_women = data[(data["SEX"] == 2) & (data["AGE"] >= 30)]  # unknown is outside
    assert older_women["PAY"].notna().sum() == 97
    assert f"{older_women['PAY'].mean():.2f}" == "41.57"
    ends = data[data["AGE"].isin([18, 19, 20]) | (data["AGE"] > 78)]
    assert f"{ends['PAY'].mean():.1f}" == "12.3"


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("AGE < 30 or SEX == 1", "a subpopulation joins conditions on different variables by"),
        ("AGES < 30", "unknown variable 'AGES' (did you mean 'AGE'?)"),
        ("SEX == 3", "'SEX' has no value '3'"),
    ],
)
def test_a_subpopulation_that_cannot_be_is_refused(where, message, tmp_path):
    text = WHERE.replace("AGE < 30", f"'{where}'")
    with pytest.raises(SpecError) as error:
        small(tmp_path, text)
    assert message in str(error.value)
    assert "outputs[0].where" in str(error.value)


BAD_VARIABLES = [
    ("{categories: {1: a}, missing: {1: b}}", "X.missing.1: this code is a valid value as well"),
    ("{integer: [0, 9], missing: {5: b}}", "X.missing.5: this code is a valid value as well"),
    (
        "{integer: [0, 9], missing: {none: b}}",
        "X.missing.none: the other values are numbers; write a whole number such as -9",
    ),
    ("{integer: [0, 9], missing: 7}", "X.missing: write true (missing values are blanks), or"),
    (
        "{categories: {missing: a, 2: b}, missing: true}",
        "X.categories.missing: this word stands for a missing value",
    ),
    (
        "{number: {min: 2, max: 1.5, decimals: 1}}",
        "X.number: [2.0, 1.5] admits no value: 2.0 is larger than 1.5",
    ),
    ("{number: {min: 0, max: 900, decimals: 4}}", "X.number: more than 1,000,000 values"),
    ("{number: {min: 0, max: 1}}", "X.number.decimals: missing; it must be given"),
    (
        "{number: {min: 0.25, max: 1, decimals: 1}}",
        "X.number: 0.25 has more decimals than the 1 that values have",
    ),
]


@pytest.mark.parametrize(("variable", "message"), BAD_VARIABLES)
def test_bad_variables(variable, message, tmp_path):
    text = f"""\
records: 10
variables:
  X: {variable}
  A: {{categories: {{1: one}}}}
outputs:
  - {{kind: frequencies, of: A, counts: {{1: 10}}}}
"""
    with pytest.raises(SpecError) as error:
        small(tmp_path, text)
    assert f"variables.{message}" in str(error.value)
