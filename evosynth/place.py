"""Moves finished files into place, all or none of them, whatever happens in between."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

STAGING = ".evosynth."
"""What names of unfinished folders begin with; eight random characters follow."""
_EARLIER = ".evosynth.earlier."
_JOURNAL = "journal.json"
_RANDOM = re.compile(r"[a-z0-9_]{8}")


def move(staging: Path, folder: Path, remove: Sequence[str] = ()) -> None:
    """Rename the folder where it is new, else its files, leaving other files there alone.

    Files that are replaced, or named in ``remove``, are kept aside until all is in place; a
    failure, or the next run after one that was killed, puts them back.
    """
    staging.chmod(0o755)
    if not folder.exists():
        staging.rename(folder)
        return
    new = sorted(file.name for file in staging.iterdir())
    old = [name for name in dict.fromkeys([*new, *remove]) if os.path.lexists(folder / name)]
    earlier = Path(tempfile.mkdtemp(prefix=_EARLIER, dir=folder))
    journal = earlier / _JOURNAL
    try:
        journal.write_text(json.dumps({"new": new, "old": old}), encoding="utf-8")
        for name in old:
            os.replace(folder / name, earlier / name)
        for name in new:
            os.replace(staging / name, folder / name)
        journal.unlink()  # from here on the new files are those that count
    except BaseException:
        _undo(earlier, folder)
        raise
    shutil.rmtree(earlier, ignore_errors=True)


class Borrowed:
    """One name in a folder, used for the time being: what was there is kept aside.

    Should the run be killed, `recover` puts it back.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.made = _make(folder)
        self.folder = folder
        self.earlier: Path | None = None
        try:
            self.earlier = Path(tempfile.mkdtemp(prefix=_EARLIER, dir=folder))
            old = [name] if os.path.lexists(folder / name) else []
            told = json.dumps({"new": [name], "old": old})
            (self.earlier / _JOURNAL).write_text(told, encoding="utf-8")
            for one in old:
                os.replace(folder / one, self.earlier / one)
        except BaseException:
            self.close()
            raise

    def give_back(self) -> None:
        """Put back what was there."""
        if self.earlier is not None:
            _undo(self.earlier, self.folder)
            self.earlier = None

    def close(self) -> None:
        """Put back what was there, and remove folders that were made and are empty."""
        self.give_back()
        for path in self.made:
            try:
                path.rmdir()
            except OSError:
                break


def _make(folder: Path) -> list[Path]:
    """Make a folder and those above it; return what was not there, the innermost first."""
    made = []
    for path in (folder, *folder.parents):
        if path.exists():
            break
        made.append(path)
    folder.mkdir(parents=True, exist_ok=True)
    return made


def recover(folder: Path) -> None:
    """Put back what a run that was killed in the middle of a move had set aside.

    What such runs had not finished writing is removed.
    """
    for earlier in sorted(folder.glob(f"{_EARLIER}*")):
        if earlier.is_dir() and not earlier.is_symlink():
            _undo(earlier, folder)
    for unfinished in folder.glob(f"{STAGING}????????"):
        if unfinished.is_symlink():
            continue
        if unfinished.is_dir():
            shutil.rmtree(unfinished, ignore_errors=True)
        elif _RANDOM.fullmatch(unfinished.name.removeprefix(STAGING)):  # a page that was to follow
            unfinished.unlink(missing_ok=True)


def _undo(earlier: Path, folder: Path) -> None:
    journal = earlier / _JOURNAL
    if journal.exists():
        try:
            told = json.loads(journal.read_text(encoding="utf-8"))
            new, old = ([Path(str(n)).name for n in told[key]] for key in ("new", "old"))
        except (ValueError, KeyError, TypeError):  # killed before anything was moved
            new, old = [], []
        for name in new:
            if name not in old or os.path.lexists(earlier / name):
                _discard(folder / name)
        for name in old:
            if os.path.lexists(earlier / name):
                os.replace(earlier / name, folder / name)
    shutil.rmtree(earlier, ignore_errors=True)


def _discard(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
