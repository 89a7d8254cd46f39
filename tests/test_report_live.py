"""The page of a run that goes on, and what becomes of the folder when it ends."""

from __future__ import annotations

import os
import time

import pytest
from cases import small

from evosynth import cli, place, synthesis, write
from evosynth.report import live


def content(folder):
    return {
        str(f.relative_to(folder)): f.read_text() for f in sorted(folder.rglob("*")) if f.is_file()
    }


@pytest.fixture
def soon(monkeypatch):
    """Pages are written at once, and often."""
    monkeypatch.setattr(live, "_FROM", 0.01)
    monkeypatch.setattr(live, "_EVERY", 0.01)


def wait_for(condition):
    for _ in range(1000):
        if condition():
            return True
        time.sleep(0.01)
    return False


def shows(page, text):
    return wait_for(lambda: page.exists() and text in page.read_text("utf-8"))


@pytest.mark.parametrize("before", [None, {"report.html": "earlier", "mine.txt": "mine"}])
def test_a_page_stands_in_the_folder_while_the_run_lasts(before, soon, tmp_path):
    spec, folder = small(tmp_path), tmp_path / "a" / "out"
    if before is not None:
        folder.mkdir(parents=True)
        for name, text in before.items():
            (folder / name).write_text(text)
    with live.live(folder, spec, 7) as page:
        now = synthesis.Progress(3, 9, 11, "outputs[2] <b>AGE", 4.5, 12.0)
        page(now)
        assert shows(folder / "report.html", "9 of 11 published figures exact so far")
        text = (folder / "report.html").read_text("utf-8")
        assert '<meta http-equiv="refresh" content="5">' in text
        assert "&lt;b&gt;AGE (4.5 half-units off)" in text and "<b>" not in text
        page(synthesis.Progress(4, 11, 11, "", 0.5, 13.0))
        assert shows(folder / "report.html", "11 of 11")
        assert "<polyline" in (folder / "report.html").read_text("utf-8")
    if before is None:
        assert not (tmp_path / "a").exists()
    else:
        assert content(folder) == before


def test_a_short_run_has_no_page(tmp_path):
    with live.live(tmp_path / "out", small(tmp_path), 1) as page:
        page(synthesis.Progress(0, 1, 11, "x", None, 0.1))
        assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out").exists()


def slowly(monkeypatch, folder):
    """Make the search wait until its page is there; tell what was in it."""
    seen = []
    found = synthesis.synthesize

    def slow(*arguments, **options):
        result = found(*arguments, **options)
        assert shows(folder / "report.html", 'http-equiv="refresh"')
        seen.append(sorted(f.name for f in folder.iterdir() if not f.name.startswith(".")))
        return result

    monkeypatch.setattr(synthesis, "synthesize", slow)
    return seen


def test_the_report_takes_the_place_of_the_page(soon, tmp_path, monkeypatch, capsys):
    small(tmp_path)
    folder = tmp_path / "out"
    seen = slowly(monkeypatch, folder)
    assert cli.main(["run", str(tmp_path / "spec.yaml"), "-o", str(folder), "--quiet"]) == 0
    assert seen == [["report.html"]]
    text = (folder / "report.html").read_text("utf-8")
    assert "11 of 11 published figures reproduced exactly" in text and "refresh" not in text
    assert not [f.name for f in folder.iterdir() if f.name.startswith(".")]
    assert (folder / "data.csv").exists()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("there", [False, True])
def test_a_run_that_fails_leaves_the_folder_as_it_was(
    error, there, soon, tmp_path, monkeypatch, capsys
):
    small(tmp_path)
    folder = tmp_path / "out"
    command = ["run", str(tmp_path / "spec.yaml"), "-o", str(folder), "--force"]
    if there:
        assert cli.main(command) == 0
        (folder / "mine.txt").write_text("mine")
    before = {f.name: f.read_bytes() for f in folder.iterdir()} if there else None

    def fails(*_):
        raise error

    slowly(monkeypatch, folder)
    monkeypatch.setattr(write, "codebook", fails)
    assert cli.main([*command, "--seed", "2"]) in {2, 130}
    after = {f.name: f.read_bytes() for f in folder.iterdir()} if folder.exists() else None
    assert after == before


def test_what_a_killed_run_has_borrowed_comes_back(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "report.html").write_text("earlier")
    place.Borrowed(folder, "report.html")
    (folder / "report.html").write_text("live")
    write.ready(folder, force=True)  # as the next run does
    assert content(folder) == {"report.html": "earlier"}


def test_a_folder_that_cannot_be_written_stops_no_run(soon, tmp_path, monkeypatch):
    def fails(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(place.tempfile, "mkdtemp", fails)
    with live.live(tmp_path / "out", small(tmp_path), 1) as page:
        time.sleep(0.1)
        assert page.borrowed is None and page._writer.is_alive()
    assert not os.path.lexists(tmp_path / "out")
