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
