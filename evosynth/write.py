"""Writes the output folder: aside first, then moved into place, so nothing is half-written."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from evosynth import __version__, checkpoint, formats, messy
from evosynth.codebook import codebook, contradictions, describe
from evosynth.codebook_page import page
from evosynth.errors import FolderError
from evosynth.evolve import GENERATION_LIMIT, INTERRUPTED, TIME_LIMIT
from evosynth.formats import Format
from evosynth.formats.dataset import Dataset
from evosynth.place import STAGING, move, recover
from evosynth.proof import group, read_data, verify
from evosynth.risk.written import FILES, fill
from evosynth.rules import compliance
from evosynth.scripts import scripts

if TYPE_CHECKING:
    from evosynth.report.live import Live
    from evosynth.spec import Spec
    from evosynth.synthesis import Result


MESSY = "data-messy.csv"
"""Data with planted problems; a typo is text, so other formats would not hold it."""


def ready(folder: Path, force: bool) -> None:
    """Raise `FolderError` if a run may not write there."""
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            folder.lstat()  # fails on names that no folder can have
        above = folder
        while not os.path.lexists(above):
            above = above.parent
        if not above.is_dir():
            place = "" if above == folder else f"cannot be made: {above} "
            raise FolderError(f"{folder}: {place}is a file, not a folder; choose another name")
        if above == folder and any(folder.iterdir()) and not force:
            remedy = "choose another folder, or add --force to replace its results"
            raise FolderError(f"{folder}: is not empty; {remedy}")
        if above == folder:
            recover(folder)
        if not os.access(above, os.W_OK | os.X_OK):
            raise FolderError(f"{folder}: cannot be written: no permission in {above}")
    except OSError as error:
        raise FolderError(f"{folder}: cannot be written: {error.strerror or error}") from error


def save(
    result: Result, folder: Path, force: bool, asked: Sequence[Format], live: Live | None = None
) -> Path:
    """Write everything aside, verify the written data, then move it into place.

    ``live``: the page of this very run, which may stand in the folder until then.
    """
    if live is None or not live.there:
        ready(folder, force)
    notes = formats.notes(asked, result.spec.filed)
    staging = None
    try:
        where = folder if folder.exists() else folder.parent
        where.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=STAGING, dir=where))
        _fill(staging, result, asked, notes)
        unfinished = (staging / checkpoint.NAME).exists()
        if live is not None:
            live.give_way()
        # Risk that was measured on earlier data says nothing of these.
        old = [*FILES, *([] if unfinished else [checkpoint.NAME])]
        move(staging, folder, remove=[name for name in old if not (staging / name).exists()])
    except OSError as error:
        raise FolderError(f"{folder}: cannot be written: {error.strerror or error}") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
    return folder


def _fill(staging: Path, result: Result, asked: Sequence[Format], notes: Sequence[str]) -> None:
    spec, wanted = result.spec, formats.wanted(asked)
    fill_copy(staging, result, wanted, notes)
    result.verification.to_csv(staging / "verification.csv", index=False)
    if result.messy is not None:
        result.messy.key.to_csv(staging / "key.csv", index=False)
        result.messy.verification.to_csv(staging / "verification-messy.csv", index=False)
    for file, text in scripts(result.filed, wanted).items():
        write_text(staging / file, text)
    if result.risk is not None:
        fill(result.risk, staging)
    _json(staging / "run.json", summary(result))
    write_report(staging, result.filed, result.data, command(result, asked))
    if not result.exact:
        checkpoint.save(staging / checkpoint.NAME, result.state, spec, result.seed, result.strategy)


def fill_copy(folder: Path, result: Result, wanted: Sequence[Format], notes: Sequence[str]) -> None:
    """Write data and codebook, and verify the data that were written."""
    spec = result.spec
    begun = time.perf_counter()
    dataset = Dataset.of(result.data, result.filed)
    for name in wanted:
        formats.write(name, dataset, folder / formats.file_name(name))
    result.seconds["write"] = time.perf_counter() - begun
    begun = time.perf_counter()
    read = read_data(folder / "data.csv", spec.schema)
    result.verification = verify(spec, read)
    if spec.bound:
        result.rules = compliance(spec.bound, *group(read, spec.schema))
        result.rules.to_csv(folder / "rules.csv", index=False)
    weights = _weights(result, read, folder)
    result.seconds["verify"] = time.perf_counter() - begun
    rules = result.rules if spec.bound else None
    about = result.filed, result.data, result.verification, notes, rules
    if spec.teaching is not None:
        result.messy = messy.plant(result.data, result.filed, result.seed)
        messy.write(result.messy, result.filed.schema, folder / MESSY)
    write_text(folder / "codebook.md", codebook(*about) + weights)
    write_text(folder / "codebook.html", page(*about))


def _weights(result: Result, read: pd.DataFrame, folder: Path) -> str:
    """Write what the weights of the written file do; return what the codebook says of them."""
    from evosynth.weights import column

    if result.weights is None or result.spec.weighting is None:
        return ""
    name = result.weights.name
    if name not in read.columns:
        csv = pd.read_csv(folder / "data.csv", usecols=[name], dtype={name: "float64"})
        read = read.assign(**{name: csv[name].to_numpy()})
    result.weights = column.measure(result.weights, read, result.spec.weighting)
    column.write(result.weights, folder)
    return column.section(result.weights)


def write_report(folder: Path, spec: Spec, data: pd.DataFrame, command: Sequence[str]) -> None:
    """Write what a report tells besides the other files, then the page that is made of all."""
    from evosynth.report import facts
    from evosynth.report.folder import PAGE, read
    from evosynth.report.page import page as report

    about = facts.gather(spec, data, describe(data, spec.schema), command)
    _json(folder / facts.NAME, about)
    write_text(folder / PAGE, report(read(folder)))


def command(result: Result, asked: Sequence[Format]) -> list[str]:
    """Return the command that makes the same data again."""
    spec = result.spec
    words = ["evosynth", "run", readable(Path(spec.document.file).name), "-o", "out"]
    words += ["--seed", str(result.seed)]
    if result.strategy != spec.strategy:
        words += ["--strategy", result.strategy]
    if result.reason in {TIME_LIMIT, INTERRUPTED, GENERATION_LIMIT}:
        words += ["--generations", str(result.generations)]
    return words + options(spec, asked)


def options(spec: Spec, asked: Sequence[Format]) -> list[str]:
    """Return options that any run of a spec needs to write the same files."""
    added = [name for name in asked if name not in (*spec.formats, *formats.ALWAYS)]
    words = [word for name in added for word in ("--format", name)]
    return [*words, "--anyway"] if spec.clashes else words


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8 with plain line ends."""
    path.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, spec: Spec, about: dict[str, object]) -> None:
    """Write what identifies a spec, and whatever else is to be told."""
    _json(path, {**_identity(spec), **about})


def _json(path: Path, about: dict[str, object]) -> None:
    write_text(path, json.dumps(about, indent=2, ensure_ascii=False) + "\n")


def _identity(spec: Spec) -> dict[str, object]:
    return {
        "title": spec.title,
        "spec": readable(Path(spec.document.file).name),
        "spec_sha256": hashlib.sha256(spec.document.source).hexdigest(),
        "version": __version__,
        "python": platform.python_version(),
    }


def write_whole(path: Path, text: str, force: bool) -> None:
    """Write one file, whole or not at all; raise `FolderError` if it is there already."""
    aside = None
    try:
        if os.path.lexists(path) and not force:
            raise FolderError(f"{path}: is there already; choose another name, or add --force")
        handle, name = tempfile.mkstemp(prefix=".evosynth.", dir=path.parent)
        aside = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        aside.chmod(0o644)
        os.replace(aside, path)
    except OSError as error:
        raise FolderError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        if aside is not None:
            aside.unlink(missing_ok=True)


def readable(path: str | os.PathLike[str]) -> str:
    """Return a path as text that any file can hold, whatever its bytes."""
    return os.fsencode(path).decode("utf-8", "replace")


def summary(result: Result) -> dict[str, object]:
    """Return what ``run.json`` says."""
    spec = result.spec
    return {
        **_identity(spec),
        "seed": result.seed,
        "strategy": result.strategy,
        "records": spec.schema.records,
        "figures": len(result.verification),
        "exact": int(result.verification["exact"].sum()),
        "generations": result.generations,
        "stopped": result.stopped,
        "contradictions": contradictions(spec),
        "rules": result.rules.to_dict("records") if spec.bound else [],
        "seconds": {name: round(value, 3) for name, value in result.seconds.items()},
        "targets": len(result.state.distance),
        "phases": {name: round(value, 3) for name, value in result.phases.items()},
        "log": result.log,
    }
