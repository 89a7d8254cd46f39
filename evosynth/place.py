"""Moves finished files into place, all or none of them, whatever happens in between."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

_EARLIER = ".evosynth.earlier."
_JOURNAL = "journal.json"


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


def recover(folder: Path) -> None:
    """Put back what a run that was killed in the middle of a move had set aside."""
    for earlier in sorted(folder.glob(f"{_EARLIER}*")):
        if earlier.is_dir() and not earlier.is_symlink():
            _undo(earlier, folder)


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
