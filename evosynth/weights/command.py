"""``evosynth weight``: a weight column for any data file."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evosynth.errors import FolderError, WeightsError
from evosynth.weights import column
from evosynth.weights.calibrate import calibrate
from evosynth.weights.files import read


def run(options: argparse.Namespace, say: Callable[[str], None]) -> int:
    """Read data, calibrate, write the folder, and say what came of it."""
    from evosynth.place import move
    from evosynth.write import ready

    source = Path(options.data)
    folder = Path(options.output or f"{source.stem}-weighted")
    ready(folder, options.force)
    held = read(source)
    frame = held.frame
    if options.name.casefold() in {str(name).casefold() for name in frame.columns}:
        remedy = "choose another with --name"
        raise WeightsError(f"{source}: there is a column {options.name!r} already; {remedy}")
    found = calibrate(
        frame,
        _totals(options.totals),
        method=options.method,
        bounds=options.bounds,
        design=_design(options),
        population=options.population,
        scale=options.scale,
        round=options.round,
        trim=options.trim,
        name=options.name,
        label=options.label,
    )
    staging = None
    try:
        where = folder if folder.exists() else folder.parent
        where.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".evosynth.", dir=where))
        target = staging / f"data{source.suffix.lower()}"
        held.write(target, found)
        column.write(found, staging)
        move(staging, folder)
    except OSError as error:
        raise FolderError(f"{folder}: cannot be written: {error.strerror or error}") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
    for line in column.told(found):
        say(line)
    say(f"Written to {folder}: {', '.join(sorted(file.name for file in folder.iterdir()))}")
    return 0


def _design(options: argparse.Namespace) -> str | dict[str, Any] | None:
    if options.strata is None and options.proportional_to is None:
        return None if options.design is None else str(options.design)
    if options.design is not None:
        raise WeightsError("--design is a column of weights; leave --strata and the like out")
    return {"strata": options.strata, "proportional_to": options.proportional_to}


def _totals(files: list[str]) -> list[Any]:
    """Read YAML files here; CSV files are read with the other totals."""
    from evosynth.document import read as read_yaml

    found: list[Any] = []
    for file in files:
        if Path(file).suffix.lower() in {".yaml", ".yml"}:
            tree = read_yaml(file).tree
            found.append(tree.get("totals", tree) if isinstance(tree, dict) else tree)
        else:
            found.append(file)
    return found
