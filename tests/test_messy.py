"""Planted problems: the key tells every difference, and what the figures become is recomputed."""

from __future__ import annotations

import pandas as pd
import pytest
from cases import SMALL, small

import evosynth
from evosynth import cli

TEACHING = """
teaching:
  missing: {AGE: 0.05, AREA: 3}
  outliers: {AGE: 4}
  duplicates: 0.02
  typos: {AREA: 5, WORK: 2, AGE: 3}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("messy")
    small(root, SMALL + TEACHING)
    assert cli.main(["run", str(root / "spec.yaml"), "-o", str(root / "out"), "--seed", "4"]) == 0
    return root / "out"


def read(folder):
    texts = {"dtype": str, "keep_default_na": False}
    return [
        pd.read_csv(folder / name, **texts) for name in ("data.csv", "data-messy.csv", "key.csv")
    ]


def test_the_key_undoes_every_problem(folder):
    clean, messy, key = read(folder)
    assert len(messy) == 408
    for row in key[key["problem"] != "duplicate"].itertuples():
        at = int(row.record) - 1
        assert messy.at[at, row.column] == row.new != row.old
        messy.at[at, row.column] = row.old
    doubled = key[key["problem"] == "duplicate"]
    assert len(doubled) == 8
    for row in doubled.itertuples():
        other = int(row.new.rsplit(" ", 1)[1]) - 1
        assert messy.iloc[int(row.record) - 1].equals(messy.iloc[other].rename(int(row.record) - 1))
    rest = messy.drop(index=[int(record) - 1 for record in doubled["record"]])
    pd.testing.assert_frame_equal(rest.reset_index(drop=True), clean)


MIXED = """\
records: 80
variables:
  ID: {identifier: {prefix: P, digits: 3}}
  AREA: {categories: {"01": Tees, "02": Tyne, 'say "N"': North}, missing: {ZZ: Unknown}}
  PAY: {number: {min: 0, max: 90, decimals: 1}, missing: {-9: Refused}}
  DOSE: {number: {min: 0, max: 0.00200, decimals: 5}}
  KIDS: {integer: [0, 9], missing: true}
  SEEN: {date: [2025-01-01, 2025-12-31], missing: true}
outputs:
  - {kind: summary, of: PAY, mean: 41.3}
teaching:
  missing: {AREA: 3, PAY: 3, SEEN: 3}
  outliers: {PAY: 6, DOSE: 6, KIDS: 6}
  typos: {AREA: 6, PAY: 3}
  duplicates: 4
weights: {name: W, totals: {AREA: {"01": 300.5, "02": 250, 'say "N"': 210, ZZ: 90}}}
"""


def test_what_is_not_spoilt_stands_as_in_the_data(tmp_path):
    spec = small(tmp_path, MIXED)
    folder = evosynth.synthesize(spec, seed=2).save(tmp_path / "out")
    clean, messy, key = read(folder)
    lines, others = (
        (folder / name).read_text().splitlines() for name in ("data.csv", "data-messy.csv")
    )
    assert lines[0] == others[0] and others[0].endswith(',"W"')
    touched = set(key["record"].astype(int))
    of = dict(zip(messy["ID"], others[1:], strict=True))
    plain = [line for line in others[1:] if others.index(line) not in touched]
    assert len(plain) > 40 and set(plain) <= set(lines)
    assert {len(text.partition(".")[2]) for text in messy["PAY"]} >= {0, 1}  # 87, not 87.0
    assert len(of) == 80
    for row in key[key["problem"] != "duplicate"].itertuples():
        assert clean.at[int(row.original_record) - 1, row.column] == row.old
        assert messy.at[int(row.record) - 1, row.column] == row.new
    outliers = key.loc[key["problem"] == "outliers", "new"]
    assert not outliers.str.contains(r"\.0*$|\.\d*0$").any()


def test_an_outlier_is_no_code_of_missing_values(tmp_path):
    codes = ", ".join(f"{code}: No answer" for code in (*range(3, 10), 10, 100))
    text = f"""\
records: 60
variables:
  BIT: {{integer: [0, 1], missing: {{{codes}}}}}
outputs:
  - {{kind: frequencies, of: BIT, counts: {{valid: 60, missing: 0}}}}
teaching: {{outliers: {{BIT: 30}}}}
"""
    result = evosynth.synthesize(small(tmp_path, text), seed=1)
    *_, key = read(result.save(tmp_path / "out"))
    assert not set(key["new"].astype(int)) & {*range(3, 11), 100}


def test_there_are_as_many_problems_as_asked_for(folder):
    *_, key = read(folder)
    once = key.drop_duplicates(["problem", "original_record", "column"])
    counts = once.groupby(["problem", "column"]).size().to_dict()
    assert counts == {
        ("duplicate", ""): 8,
        ("missing", "AGE"): 20,
        ("missing", "AREA"): 3,
        ("outliers", "AGE"): 4,
        ("typos", "AGE"): 3,
        ("typos", "AREA"): 5,
        ("typos", "WORK"): 2,
    }
    outliers = key.loc[key["problem"] == "outliers", "new"].astype(float)
    assert (outliers > 62).all()  # the largest age is 40, the smallest 18
    assert not set(key.loc[key["column"] == "WORK", "new"]) & {"0", "1"}


def test_what_the_figures_become_is_told(folder):
    _, messy, _ = read(folder)
    told = pd.read_csv(folder / "verification-messy.csv").set_index("figure")
    both = (messy["AREA"] == "n") & (messy["WORK"] == "0")
    assert told.loc["AREA=n, WORK=0", "value"] == both.sum()
    assert not told["exact"].all()
    assert pd.read_csv(folder / "verification.csv")["exact"].all()


def test_the_same_seed_plants_the_same_problems(folder, tmp_path):
    spec = small(tmp_path, SMALL + TEACHING)
    again = evosynth.synthesize(spec, seed=4).save(tmp_path / "out")
    for name in ("data-messy.csv", "key.csv"):
        assert (again / name).read_bytes() == (folder / name).read_bytes()


def test_without_teaching_there_is_no_second_file(tmp_path):
    folder = evosynth.synthesize(small(tmp_path), seed=1).save(tmp_path / "out")
    assert not list(folder.glob("*messy*")) and not (folder / "key.csv").exists()


def test_copies_have_problems_of_their_own_and_the_trainer_the_key(tmp_path):
    spec = small(tmp_path, SMALL + TEACHING)
    evosynth.make_copies(spec, tmp_path / "out", 2)
    messy = [tmp_path / "out" / f"copy-0{n}" / "data-messy.csv" for n in (1, 2)]
    assert messy[0].read_bytes() != messy[1].read_bytes()
    key = pd.read_csv(tmp_path / "out" / "key.csv")
    assert set(key["copy"]) == {1, 2}
    assert not list((tmp_path / "out" / "copy-01").glob("key*"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("AREA: 3}", "ARAE: 3}", r"teaching.missing.ARAE: unknown variable 'ARAE' \(did you"),
        ("outliers: {AGE", "outliers: {AREA", "teaching.outliers.AREA: 'AREA' holds categories"),
        ("0.02", "1.5", "teaching.duplicates: 1.5 is neither a share below 1 nor a number"),
        ("0.02", "500", "teaching.duplicates: 500 is more than all 400 records"),
        ("0.02", "-1", "teaching.duplicates: input should be greater than 0"),
        ("duplicates:", "doubles:", "teaching.doubles: unknown key"),
    ],
)
def test_problems_that_cannot_be_planted_are_faults(old, new, message, tmp_path):
    with pytest.raises(evosynth.SpecError, match=message):
        small(tmp_path, SMALL + TEACHING.replace(old, new))
