"""Reads what a report is made of: the files of a run's folder, and nothing else."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evosynth.errors import FolderError
from evosynth.report import facts
from evosynth.report.figures import Found, read_number

PAGE = "report.html"


@dataclass(frozen=True)
class Folder:
    """What the files of a run say."""

    run: dict[str, Any]
    facts: dict[str, Any]
    found: dict[int, list[Found]]
    """By output."""
    rules: list[dict[str, str]] = field(default_factory=list)
    overlap: list[dict[str, str]] = field(default_factory=list)
    weights: dict[str, Any] = field(default_factory=dict)
    risk: dict[str, Any] = field(default_factory=dict)
    pictures: dict[str, bytes] = field(default_factory=dict)
    """SVG files that the risk section names."""


def read(folder: Path) -> Folder:
    """Read a folder; raise `FolderError` where a run has left none."""
    if not folder.is_dir():
        raise FolderError(f"{folder}: is not a folder; name the one that `run -o` wrote")
    run = _json(folder / "run.json")
    about = _json(folder / facts.NAME)
    for name, found in (("run.json", run), (facts.NAME, about)):
        if not found:
            remedy = "run it anew with this version, or name the folder that `run -o` wrote"
            raise FolderError(f"{folder}: there is no {name}; {remedy}")
    rows = _csv(folder / "verification.csv")
    if not rows and run.get("figures"):
        raise FolderError(f"{folder}: there is no verification.csv; run it anew")
    risk = _json(folder / "risk.json")
    try:
        return Folder(
            run,
            about,
            _found(rows),
            _csv(folder / "rules.csv"),
            _csv(folder / "overlap.csv"),
            _json(folder / "weights.json"),
            risk,
            _pictures(folder, risk),
        )
    except (KeyError, ValueError) as error:
        remedy = "it was changed by hand, or written by another version; run it anew"
        raise FolderError(f"{folder}/verification.csv: cannot be understood; {remedy}") from error


def _json(path: Path) -> dict[str, Any]:
    """Read an object; an empty one if there is no file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise FolderError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise FolderError(f"{path}: is not JSON; run it anew") from error
    return found if isinstance(found, dict) else {"results": found}


def _csv(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FolderError(f"{path}: cannot be read: {error}") from error


def _found(rows: list[dict[str, str]]) -> dict[int, list[Found]]:
    """Figures by output; of several copies, the one that is farthest off."""
    by: dict[int, dict[str, list[Found]]] = {}
    for row in rows:
        output = by.setdefault(int(row["output"]), {})
        copy = row.get("copy") or ""
        made = Found(
            row["figure"],
            row["published"],
            row["reproduced"],
            row["exact"] == "True",
            read_number(row["value"]),
            read_number(row["half_units"]),
            (int(copy),) if copy and row["exact"] != "True" else (),
        )
        output.setdefault(copy, []).append(made)
    return {
        position: [_worst(list(same)) for same in zip(*copies.values(), strict=True)]
        for position, copies in by.items()
    }


def _worst(same: list[Found]) -> Found:
    """Choose the copy which is farthest off, and name all copies that miss the figure."""
    missed = [made for made in same if not made.exact]
    if not missed:
        return same[0]
    worst = max(missed, key=lambda f: float("inf") if f.distance is None else abs(f.distance))
    copies = tuple(sorted(copy for made in missed for copy in made.copies))
    return Found(
        worst.label,
        worst.published,
        worst.reproduced,
        False,
        worst.value,
        worst.distance,
        copies,
    )


def _pictures(folder: Path, about: Any) -> dict[str, bytes]:
    """SVG files of the same folder that are named anywhere in a section."""
    found: dict[str, bytes] = {}
    for name in _texts(about):
        if name.endswith(".svg") and Path(name).name == name:
            path = folder / name
            if path.is_file() and not path.is_symlink():
                found[name] = path.read_bytes()
    return found


def _texts(node: Any) -> list[str]:
    if isinstance(node, str):
        return [node]
    parts = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [text for part in parts for text in _texts(part)]
