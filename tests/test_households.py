"""Persons in households: sizes, what members share, rules across members, both levels exact."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import evosynth
from evosynth.proof import read_data

SPEC = """records: 1000
households: {count: 420, size: HSIZE}
variables:
  HSIZE: {label: Household size, integer: [1, 7], unit: household}
  TENURE: {label: Tenure, categories: {1: Own, 2: Rent}, unit: household}
  KIDS: {label: Children, integer: [0, 5], unit: household, counts: AGE < 16}
  AGE: {label: Age, integer: [0, 95]}
  SEX: {label: Sex, categories: {1: Male, 2: Female}}
  PAY: {label: Weekly pay, integer: [0, 3000], zeros: 0.4}
outputs:
  - kind: frequencies
    unit: household
    of: HSIZE
    counts: {1: 119, 2: 149, 3: 65, 4: 58, 5: 20, 6: 7, 7: 2}
  - kind: crosstab
    unit: household
    rows: TENURE
    columns: KIDS
    counts: {1: [190, 40, 25, 5, 0, 0], 2: [120, 18, 15, 5, 2, 0]}
  - {kind: frequencies, of: TENURE, counts: {1: 610, 2: 390}}
  - {kind: crosstab, rows: TENURE, columns: SEX, counts: {1: [300, 310], 2: [185, 205]}}
  - {kind: summary, of: AGE, by: SEX, mean: {1: 38.2, 2: 40.1}}
  - {kind: summary, of: PAY, where: AGE >= 16, by: TENURE, mean: {1: 810.5, 2: 640.2}}
rules:
  - if PNO == 1 then AGE >= 18
  - if AGE < 16 then PAY == 0
"""


@pytest.fixture
def load(tmp_path):
    def read(text: str, anyway: bool = False) -> evosynth.Spec:
        file = tmp_path / "spec.yaml"
        file.write_text(text, encoding="utf-8")
        return evosynth.load(file, anyway=anyway)

    return read


def sound(data: pd.DataFrame) -> None:
    by = data.groupby("HID")
    assert (by["HSIZE"].nunique() == 1).all()
    assert (by["TENURE"].nunique() == 1).all()
    assert (by.size() == by["HSIZE"].first()).all()
    assert (by["AGE"].agg(lambda a: (a < 16).sum()) == by["KIDS"].first()).all()
    assert (by["AGE"].max() >= 18).all()
    assert (by["PNO"].agg(list).map(lambda p: p == list(range(1, len(p) + 1)))).all()
    assert (data.loc[data["AGE"] < 16, "PAY"] == 0).all()


@pytest.mark.parametrize("seed", [1, 2])
def test_households_hold_together_and_both_levels_are_exact(load, tmp_path, seed):
    spec = load(SPEC)
    result = evosynth.synthesize(spec, seed)
    folder = result.save(tmp_path / "out")
    assert result.exact
    data = pd.read_csv(folder / "data.csv")
    assert list(data.columns) == [
        "HID", "PNO", "HSIZE", "TENURE", "KIDS", "AGE", "SEX", "PAY",
    ]  # fmt: skip
    sound(data)
    homes = data.drop_duplicates("HID")
    assert homes["HSIZE"].value_counts().sort_index().tolist() == [119, 149, 65, 58, 20, 7, 2]
    table = pd.crosstab(homes["TENURE"], homes["KIDS"])
    assert table.loc[2].tolist() == [120, 18, 15, 5, 2]
    assert data["TENURE"].value_counts().to_dict() == {1: 610, 2: 390}
    found = evosynth.verify(spec, read_data(folder / "data.csv", spec.schema))
    assert found["exact"].all()


def test_the_starter_script_counts_households(load, tmp_path):
    result = evosynth.synthesize(load(SPEC), 1)
    folder = result.save(tmp_path / "out")
    printed = subprocess.run(
        [sys.executable, folder / "analysis.py"], capture_output=True, text=True, check=True
    ).stdout
    rows = [
        line.rsplit(maxsplit=2)[1:]
        for line in printed.splitlines()
        if "=" in line[:40] and line[:1].isalpha()
    ]
    assert len(rows) == 29
    assert all(published == found for published, found in rows)


def test_the_same_seed_gives_the_same_households_for_any_number_of_workers(load):
    spec = load(SPEC)
    one, two = (evosynth.synthesize(spec, 3, workers=w).data for w in (1, 2))
    pd.testing.assert_frame_equal(one, two)


def test_every_candidate_keeps_its_households(load):
    result = evosynth.synthesize(load(SPEC), 1, generations=0)
    assert result.slots is not None
    for candidate in result.state.population:
        assert np.array_equal(candidate.payload[:, -1].astype(int), np.sort(result.slots.slot))


def test_sizes_that_do_not_come_to_the_number_of_persons_clash(load):
    text = SPEC.replace("records: 1000", "records: 990")
    text = text.replace("{1: 610, 2: 390}", "{1: 600, 2: 390}").replace("[300, 310]", "[295, 305]")
    with pytest.raises(evosynth.SpecError) as error:
        load(text)
    assert str(error.value).endswith(
        "spec.yaml:2 households: 420 households of these sizes have 1000 members, but records is "
        "990 (off by 10)"
    )
    data = evosynth.synthesize(load(text, anyway=True), 1, time=5).data
    assert len(data) == 990
    sound(data)


BAD = [
    ("size: HSIZE}", "size: SIZE}", "2 households.size: 'SIZE' is no integer variable with unit"),
    ("size: HSIZE}", "size: HSIZE, person: AGE}", "2 households.person: 'AGE' is a variable alr"),
    ("of: HSIZE", "of: AGE", "unknown variable 'AGE'"),
    (
        "households: {count: 420, size: HSIZE}\n",
        "",
        "variables.HSIZE.unit: there are no households; add `households: {count: …, size: …}`",
    ),
    (
        "integer: [0, 95]}",
        "integer: [0, 95], counts: SEX == 1}",
        "variables.AGE.counts: only a variable with unit: household can count members",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD, ids=[m[:40] for _, _, m in BAD])
def test_bad_households_are_told_with_their_line(load, old, new, message):
    assert old in SPEC
    with pytest.raises(evosynth.SpecError) as error:
        load(SPEC.replace(old, new, 1))
    assert message in str(error.value)


def test_rules_that_no_household_keeps_are_told(load):
    text = "records: 5\nhouseholds: {count: 2, size: SIZE}\nvariables:\n"
    text += "  SIZE: {integer: [1, 4], unit: household}\n  AGE: {integer: [0, 90]}\n"
    text += "outputs:\n  - {kind: frequencies, of: AGE, counts: {20: 2}}\n"
    text += "rules: [if PNO == 1 then AGE >= 18, SIZE > 4]\n"
    with pytest.raises(evosynth.SpecError) as error:
        load(text)
    assert "no record can keep this rule" in str(error.value)


RISING = """records: 1000
households: {count: 420, size: HSIZE}
variables:
  HSIZE: {integer: [1, 6], unit: household}
  ROOMS: {integer: [1, 9], unit: household, rises_with: {HSIZE: 0.6}}
  AGE: {integer: [0, 90]}
  PAY: {integer: [0, 3000], rises_with: {ROOMS: 0.5, PNO: -0.3}}
outputs:
  - {kind: summary, of: AGE, mean: 38.3}
"""


def test_variables_of_persons_and_households_rise_with_each_other(load):
    data = evosynth.synthesize(load(RISING), 1).data
    homes = data.drop_duplicates("HID")
    assert 0.25 < homes["ROOMS"].corr(homes["HSIZE"], "spearman") < 0.75
    assert 0.35 < data["PAY"].corr(data["ROOMS"], "spearman") < 0.65
    assert -0.45 < data["PAY"].corr(data["PNO"], "spearman") < -0.15
    assert abs(data["AGE"].corr(data["PAY"])) < 0.1


def test_nothing_rises_with_the_number_of_a_household(load):
    with pytest.raises(evosynth.SpecError, match="'HID' tells records apart; nothing rises"):
        load(RISING.replace("PNO: -0.3", "HID: 0.3"))


SKIPPED = """records: 246
households: {count: 100, size: HSIZE}
variables:
  HSIZE: {integer: [1, 6], unit: household}
  TENURE: {categories: {own: Owner, rent: Renter}, unit: household, missing: {dk: Don't know}}
  NKIDS: {integer: [0, 4], unit: household, counts: AGE < 16}
  REL: {categories: {1: Head, 2: Partner, 3: Child, 4: Other}}
  AGE: {integer: [0, 95]}
  WORK: {categories: {1: "Yes", 2: "No"}, missing: {-8: Under 16}}
  HAPPY: {integer: [0, 10], missing: {-8: Under 16, -9: Refused}}
rules:
  - if PNO == 1 then REL == 1 and AGE >= 18
  - if PNO > 1 then REL != 1
  - if PNO > 2 then REL != 2
  - if REL == 2 then AGE >= 18
  - if AGE < 16 then WORK == -8 and HAPPY == -8 else WORK != -8 and HAPPY != -8
  - if AGE < 16 then REL in (3, 4)
outputs:
  - kind: frequencies
    unit: household
    of: HSIZE
    counts: {1: 28, 2: 32, 3: 16, 4: 16, 5: 6, 6: 2}
"""


def test_rare_codes_that_rules_ask_of_children_do_not_keep_them_out_of_households(load):
    result = evosynth.synthesize(load(SKIPPED), 1, time=20)
    assert result.exact
    data = result.data
    young = data["AGE"] < 16
    assert young.mean() > 0.08
    assert (data["HAPPY"][young] == -8).all() and (data["HAPPY"][~young] != -8).all()
    assert (data["NKIDS"] == young.groupby(data["HID"]).transform("sum")).all()


def test_clashes_of_households_are_told_without_the_rules_of_persons(load):
    text = SKIPPED.replace("integer: [0, 4], unit", "integer: [2, 4], unit")
    with pytest.raises(evosynth.SpecError) as found:
        load(text)
    assert "HSIZE=1 has 28 records, but the rules and derived variables forbid it" in str(
        found.value
    )
