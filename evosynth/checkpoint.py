"""Keeps an unfinished search so that it can go on later as if it had never stopped."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from deap import tools

from evosynth import __version__
from evosynth.errors import FolderError, shown
from evosynth.evolve import Candidate, Evolution, Loss
from evosynth.spec import Spec

NAME = "checkpoint.npz"
_ANEW = "start anew with --force instead of --resume"


def save(path: Path, state: Evolution, spec: Spec, seed: int, strategy: str) -> None:
    """Write the population, its sums, and what they belong to."""
    everyone = [*state.population, state.best]
    about = {
        **_identity(spec, seed, strategy),
        "generation": state.generation,
        "stalled": state.stalled,
        "idle": state.idle,
        "log": [dict(row) for row in state.log],
    }
    np.savez_compressed(
        path,
        about=np.array(json.dumps(about)),
        payload=np.stack([candidate.payload for candidate in everyone]),
        cells=np.stack([candidate.cells for candidate in everyone]),
        residual=np.stack([candidate.residual for candidate in everyone]),
        loss=np.array([candidate.loss for candidate in everyone]),
        distance=state.distance,
    )


def load(folder: Path, spec: Spec, seed: int, strategy: str) -> Evolution:
    """Read the state of an unfinished run; refuse one that belongs to something else."""
    path = folder / NAME
    if not path.exists():
        raise FolderError(f"{folder}: nothing to resume: no {NAME} there, the run may have ended")
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            about: dict[str, Any] = json.loads(str(file["about"]))
            parts = [file[name] for name in ("payload", "cells", "residual", "loss")]
            distance = file["distance"]
    except (OSError, EOFError, ValueError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        raise FolderError(f"{path}: damaged, or not a checkpoint; {_ANEW}") from error
    wanted = _identity(spec, seed, strategy)
    if other := [name for name, value in wanted.items() if about.get(name) != value]:
        raise FolderError(f"{path}: {_mismatch(other, about, wanted)}")
    everyone = [
        Candidate(payload, cells, residual, Loss((float(loss),)))
        for payload, cells, residual, loss in zip(*parts, strict=True)
    ]
    log = tools.Logbook()
    for row in about["log"]:
        log.record(**row)
    return Evolution(
        everyone[:-1],
        everyone[-1],
        distance,
        about["generation"],
        about["stalled"],
        about["idle"],
        log,
    )


def _identity(spec: Spec, seed: int, strategy: str) -> dict[str, Any]:
    return {
        "version": __version__,
        "spec": hashlib.sha256(spec.document.source).hexdigest(),
        "seed": seed,
        "strategy": strategy,
    }


def _mismatch(other: list[str], made: dict[str, Any], wanted: dict[str, Any]) -> str:
    """Say what a checkpoint was made with, and how to go on with it where that is possible."""
    if "spec" in other:
        return f"made from another spec, or the spec has changed since; {_ANEW}"
    texts = {name: shown(str(made.get(name))) for name in other}
    differences = ", ".join(f"{name} {texts[name]}, not {wanted[name]}" for name in other)
    if "version" in other:
        return f"made with {differences}; {_ANEW}"
    return f"made with {differences}; add {' '.join(f'--{name} {texts[name]}' for name in other)}"
