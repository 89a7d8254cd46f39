"""The output folder: complete, labelled, whole or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet
import pytest
from cases import SMALL, small

import evosynth
from evosynth import codebook, notice, write
from evosynth.errors import FolderError

SCRIPTS = ["analysis.R", "analysis.do", "analysis.py", "analysis.sps"]
FILES = [
    *SCRIPTS,
    "codebook.html",
    "codebook.md",
    "data.csv",
    "data.parquet",
    "report.html",
    "report.json",
    "run.json",
    "verification.csv",
]


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    spec = small(tmp_path_factory.mktemp("spec"))
    return evosynth.synthesize(spec, seed=3)


def test_everything_is_written_and_reads_back_equal(result, tmp_path):
    folder = result.save(tmp_path / "a" / "out")
    assert sorted(file.name for file in folder.iterdir()) == FILES
    csv = pd.read_csv(folder / "data.csv")
    assert len(csv) == 400
    pd.testing.assert_frame_equal(csv, result.data, check_dtype=False)
    parquet = pd.read_parquet(folder / "data.parquet")
    pd.testing.assert_frame_equal(parquet, result.data, check_dtype=False)
    verification = pd.read_csv(folder / "verification.csv", dtype={"published": str})
    assert verification["published"].tolist() == result.verification["published"].tolist()
    assert verification["exact"].all()
    run = json.loads((folder / "run.json").read_text())
    assert (run["seed"], run["records"], run["figures"], run["exact"]) == (3, 400, 11, 11)
    assert set(run["seconds"]) == {"search", "write", "verify"}
    assert set(run["phases"]) <= {"start", "evolution", "polish"} and run["phases"]["start"] > 0
    assert run["log"][-1]["exact"] == run["targets"]


def test_labels_travel_in_the_parquet_schema(result, tmp_path):
    schema = pyarrow.parquet.read_schema(result.save(tmp_path / "out") / "data.parquet")
    area = schema.field("AREA").metadata
    assert area[b"label"] == b"Area"
    assert json.loads(area[b"value_labels"]) == {"n": "North", "s": "South", "w": "West"}
    assert schema.metadata[b"title"] == b"A small survey"
    assert b"synthetic" in schema.metadata[b"notice"]


def test_verification_is_of_the_written_file(result, tmp_path, monkeypatch):
    described = write.Dataset.of

    def spoil(data, *rest):
        return described(data.assign(WORK=0), *rest)

    monkeypatch.setattr(write.Dataset, "of", spoil)
    spoilt = evosynth.synthesize(result.spec, seed=3)
    spoilt.save(tmp_path / "out")
    assert not spoilt.exact
    assert spoilt.verification.set_index("figure").loc["AREA=n, WORK=0", "reproduced"] == "120"


def test_a_folder_that_is_not_empty_is_refused_and_left_as_it_was(result, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "mine.txt").write_text("precious")
    with pytest.raises(FolderError, match=r"out: is not empty; .* --force"):
        result.save(folder)
    assert [file.name for file in folder.iterdir()] == ["mine.txt"]
    result.save(folder, force=True)
    assert sorted(file.name for file in folder.iterdir()) == sorted([*FILES, "mine.txt"])
    assert (folder / "mine.txt").read_text() == "precious"


def test_a_file_in_the_place_of_the_folder_is_refused(result, tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(FolderError, match="is a file, not a folder"):
        result.save(tmp_path / "out", force=True)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("file/sub", "sub: cannot be made: .*file is a file, not a folder"),
        ("file/a/b", "b: cannot be made: .*file is a file, not a folder"),
        ("dangling", "dangling: is a file, not a folder"),
        ("x" * 300, "x: cannot be written: File name too long"),
    ],
)
def test_a_folder_that_cannot_be_made_is_refused_before_the_search(path, message, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to("nowhere")
    with pytest.raises(FolderError, match=message):
        write.ready(tmp_path / path, force=True)


def test_a_folder_may_have_the_longest_name(result, tmp_path):
    assert result.save(tmp_path / ("x" * 255)).is_dir()


def test_a_write_that_fails_leaves_nothing_behind(result, tmp_path, monkeypatch):
    first = result.save(tmp_path / "out")
    before = {file.name: file.read_bytes() for file in first.iterdir()}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write, "codebook", full)
    with pytest.raises(FolderError, match="No space left on device"):
        evosynth.synthesize(result.spec, seed=4).save(tmp_path / "out", force=True)
    with pytest.raises(FolderError, match="No space left on device"):
        evosynth.synthesize(result.spec, seed=4).save(tmp_path / "new")
    assert {file.name: file.read_bytes() for file in first.iterdir()} == before
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_the_codebook_describes_variables_and_keeps_strangers_text_harmless(tmp_path):
    text = SMALL.replace("label: Area", "label: '<script>alert(1)</script> | x'")
    result = evosynth.synthesize(small(tmp_path, text), seed=1)
    book = codebook.codebook(result.spec, result.data, result.verification)
    assert notice.NOTICE in book
    assert "| n | North | 120 | 30.00% |" in book
    assert "11 of 11 published figures reproduced exactly as printed" in book
    assert "<script>" not in book
    assert "Whole number from 18 to 40" in book


def test_codes_that_look_like_missing_values_survive(tmp_path):
    text = SMALL.replace("{n: North, s: South, w: West}", "{NA: Namibia, null: Null, None: Nobody}")
    text = text.replace(
        "{n: [50, 70], s: [60, 90], w: [55, 75]}", "{NA: [50, 70], null: [60, 90], None: [55, 75]}"
    )
    result = evosynth.synthesize(small(tmp_path, text), seed=1)
    result.save(tmp_path / "out")
    assert result.exact


def test_a_writable_folder_under_a_parent_that_is_not_is_filled(result, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    folder.mkdir()
    made = []
    temporary = write.tempfile.mkdtemp
    monkeypatch.setattr(
        write.tempfile, "mkdtemp", lambda **how: made.append(how["dir"]) or temporary(**how)
    )
    result.save(folder)
    assert set(made) == {folder}
    assert sorted(file.name for file in folder.iterdir()) == FILES


def test_records_stand_in_no_particular_order(result):
    data = result.data
    assert not data["AREA"].is_monotonic_increasing
    runs = (data["AREA"] != data["AREA"].shift()).sum()
    assert runs > 150  # sorted data have 3, shuffled ones about 260


EXAMPLE = Path(__file__).parent.parent / "examples" / "quickstart.py"


@pytest.mark.skipif(not EXAMPLE.exists(), reason="examples are not part of the package")
def test_the_quickstart_can_be_run_again(tmp_path):
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, EXAMPLE], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "figures exact, written to cars" in done.stdout
