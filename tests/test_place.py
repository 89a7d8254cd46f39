"""Moving files into a folder that is in use: all of them, or none."""

from __future__ import annotations

import os
import shutil

import pytest

from evosynth import place


def folders(tmp_path):
    folder, staging = tmp_path / "out", tmp_path / "staging"
    folder.mkdir(), staging.mkdir()
    for name in ("a", "b", "gone", "mine"):
        (folder / name).write_text(f"old {name}")
    (folder / "copy-01").mkdir()
    (folder / "copy-01" / "data").write_text("old")
    for name in ("a", "b", "c"):
        (staging / name).write_text(f"new {name}")
    (staging / "copy-01").mkdir()
    (staging / "copy-01" / "data").write_text("new")
    return folder, staging


def content(folder):
    return {
        str(f.relative_to(folder)): f.read_text() for f in sorted(folder.rglob("*")) if f.is_file()
    }


NEW = {"a": "new a", "b": "new b", "c": "new c", "copy-01/data": "new", "mine": "old mine"}


def test_files_are_replaced_and_others_left_alone(tmp_path):
    folder, staging = folders(tmp_path)
    place.move(staging, folder, remove=["gone"])
    assert content(folder) == NEW
    assert not any(f.name.startswith(".evosynth") for f in folder.iterdir())


@pytest.mark.parametrize("failing", range(1, 9))
@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_a_failure_at_any_move_leaves_the_folder_as_it_was(failing, error, tmp_path, monkeypatch):
    folder, staging = folders(tmp_path)
    before = content(folder)
    calls, replace = [], os.replace

    def fails(*paths):
        calls.append(paths)
        if len(calls) == failing:
            raise error
        replace(*paths)

    monkeypatch.setattr(place.os, "replace", fails)
    with pytest.raises(type(error)):
        place.move(staging, folder, remove=["gone"])
    assert content(folder) == before


@pytest.mark.parametrize("killed", range(1, 9))
def test_a_run_that_was_killed_is_undone_by_the_next(killed, tmp_path, monkeypatch):
    folder, staging = folders(tmp_path)
    before = content(folder)
    calls, replace = [], os.replace

    def dies(*paths):
        calls.append(paths)
        if len(calls) == killed:
            raise SystemExit
        replace(*paths)

    with monkeypatch.context() as patch:
        patch.setattr(place.os, "replace", dies)
        patch.setattr(place, "_undo", lambda *_: None)  # nothing is tidied up any more
        with pytest.raises(SystemExit):
            place.move(staging, folder, remove=["gone"])
    assert content(folder) != before
    place.recover(folder)
    assert content(folder) == before


def test_a_run_that_was_killed_after_the_move_has_made_it(tmp_path, monkeypatch):
    folder, staging = folders(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)
        place.move(staging, folder, remove=["gone"])
    place.recover(folder)
    assert content(folder) == NEW


def test_a_journal_reaches_no_file_outside_of_its_folder(tmp_path):
    folder, _ = folders(tmp_path)
    (tmp_path / "precious").write_text("mine")
    earlier = folder / ".evosynth.earlier.x"
    earlier.mkdir()
    (earlier / "journal.json").write_text('{"new": ["../precious"], "old": []}')
    place.recover(folder)
    assert (tmp_path / "precious").read_text() == "mine"


def test_what_a_killed_run_had_not_finished_is_removed(tmp_path):
    folder, _ = folders(tmp_path)
    before = content(folder)
    unfinished = folder / ".evosynth.ab12_xyz"
    unfinished.mkdir()
    (unfinished / "data.csv").write_text("half of it")
    (folder / ".evosynth.0123_xyz").write_text("half a page")
    mine = [folder / ".evosynth.notes.txt", folder / ".evosynth.My.notes"]
    for file in mine:
        file.write_text("mine")
    place.recover(folder)
    for file in mine:
        file.unlink()
    assert content(folder) == before
