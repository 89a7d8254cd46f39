"""Copies: all exact, all different, the same bytes for any number of workers."""

from __future__ import annotations

import re
from itertools import combinations

import pandas as pd
import pytest
from cases import SMALL, small

import evosynth
from evosynth import cli, copies
from evosynth.errors import FolderError


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Three copies, made by two workers from the command line."""
    root = tmp_path_factory.mktemp("copies")
    small(root)
    command = ["run", str(root / "spec.yaml"), "-o", str(root / "out"), "--copies", "3"]
    assert cli.main([*command, "--workers", "2", "--format", "stata"]) == 0
    return root


def content(folder):
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def test_every_copy_is_exact_and_no_two_are_the_same(made):
    spec = evosynth.load(made / "spec.yaml")
    frames = []
    for number in (1, 2, 3):
        folder = made / "out" / f"copy-0{number}"
        names = sorted(f.name for f in folder.iterdir())
        assert names == ["codebook.html", "codebook.md", "data.csv", "data.dta", "data.parquet"]
        frames.append(evosynth.read_data(folder / "data.csv", spec.schema))
        assert evosynth.verify(spec, frames[-1])["exact"].all()
    for one, two in combinations(frames, 2):
        names = list(one.columns)
        pair = [f.sort_values(names).reset_index(drop=True) for f in (one, two)]
        assert not pair[0].equals(pair[1])


def test_overlap_counts_records_in_common(made):
    table = pd.read_csv(made / "out" / "overlap.csv")
    assert table[["copy", "other"]].to_numpy().tolist() == [[1, 2], [1, 3], [2, 3]]
    one, two = (pd.read_csv(made / "out" / f"copy-0{n}" / "data.csv") for n in (1, 2))
    counts = [f.groupby(list(f.columns)).size() for f in (one, two)]
    common = pd.concat(counts, axis=1).fillna(0).min(axis=1).sum()
    assert table["records_in_common"][0] == common
    assert table["share"][0] == pytest.approx(common / 400, abs=1e-4)


def test_the_answer_sheet_holds_every_figure_and_students_get_none(made):
    spec = evosynth.load(made / "spec.yaml")
    sheet = (made / "out" / "answers.md").read_text("utf-8")
    for figures in spec.figures:
        for figure in figures:
            assert re.search(rf"\| {re.escape(figure.printed.text)} \|", sheet)
    assert "3 of 3 copies reprint every figure" in sheet
    there = {f.name for f in (made / "out").iterdir() if f.is_file()}
    assert {"answers.md", "overlap.csv", "verification.csv", "run.json", "analysis.R"} <= there
    assert {"report.html", "report.json"} <= there


def test_the_same_bytes_for_any_number_of_workers(made, tmp_path):
    spec = evosynth.load(made / "spec.yaml")
    evosynth.make_copies(spec, tmp_path / "out", 3, formats=["stata"])
    one, two = content(made / "out"), content(tmp_path / "out")
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


def test_a_copy_can_be_made_alone_by_its_seed(made):
    spec = evosynth.load(made / "spec.yaml")
    alone = evosynth.synthesize(spec, copies.seed_of(1, 2)).data
    found = evosynth.read_data(made / "out" / "copy-02" / "data.csv", spec.schema)
    pd.testing.assert_frame_equal(found, alone, check_dtype=False)


def test_another_run_replaces_all_copies_or_none(made, tmp_path, monkeypatch):
    spec = small(tmp_path, SMALL)
    out = tmp_path / "out"
    evosynth.make_copies(spec, out, 2)
    (out / "mine.txt").write_text("precious")
    before = content(out)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(copies, "answers", full)
        with pytest.raises(FolderError, match="No space left on device"):
            evosynth.make_copies(spec, out, 1, seed=5, force=True)
    assert content(out) == before
    evosynth.make_copies(spec, out, 1, seed=5, force=True)
    assert sorted(f.name for f in out.glob("copy-*")) == ["copy-01"]
    assert (out / "mine.txt").read_text() == "precious"


def test_copies_that_are_alike_or_miss_figures_are_made_anew(tmp_path, monkeypatch):
    spec = small(tmp_path, SMALL)
    seeds = []

    def seed_of(seed, number, attempt=0):
        seeds.append((number, attempt))
        return 7 if attempt == 0 else 100 * attempt + number

    monkeypatch.setattr(copies, "seed_of", seed_of)
    made = evosynth.make_copies(spec, tmp_path / "out", 2)
    assert seeds == [(1, 0), (2, 0), (2, 1)]
    assert [copy.seed for copy in made] == [7, 102]


def test_copies_cannot_be_resumed(made, tmp_path, capsys):
    command = ["run", str(made / "spec.yaml"), "-o", str(tmp_path / "out"), "--copies", "2"]
    assert cli.main([*command, "--resume"]) == 2
    assert "leave it out with --copies" in capsys.readouterr().err
