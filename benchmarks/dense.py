"""All two-way and three-way tables of many variables at once: exactness and seconds."""

from __future__ import annotations

import math
import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np
from report import parser, table, write

import evosynth

LIMIT = 20
"""Seconds after which a search is ended."""
SEVEN = (4, 6, 8, 9, 7, 10, 5)
TWENTY = (2, 3, 4, 5, 2, 3, 4, 6, 2, 3, 5, 4, 2, 3, 4, 7, 2, 3, 4, 5)

CASES = [
    # kind of data, variables' sizes, variables per table, records, seeds
    ("latent classes", SEVEN, 2, 1_000, 10),
    ("chain", SEVEN, 2, 1_000, 10),
    ("latent classes", SEVEN, 2, 10_000, 3),
    ("latent classes", SEVEN, 2, 100_000, 2),
    ("latent classes", SEVEN, 2, 1_000_000, 2),
    ("strict chain", SEVEN, 2, 1_000, 3),
    ("latent classes", SEVEN, 2, 200, 1),
    ("latent classes", SEVEN, 2, 100, 1),
    ("latent classes", TWENTY, 2, 1_000, 1),
    ("latent classes", SEVEN, 3, 1_000, 1),
]


def draw(ends: np.ndarray, given: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a level for each record, by cumulative shares given something else."""
    return np.asarray((rng.random(len(given))[:, None] > ends[given][:, :-1]).sum(axis=1))


def truth(kind: str, sizes: tuple[int, ...], records: int, seed: int) -> np.ndarray:
    """Draw records of latent classes, or of variables that each depend on the one before."""
    rng = np.random.default_rng(seed)
    classes = 5
    given = rng.integers(classes, size=records)
    columns = []
    for size in sizes:
        spread = {"latent classes": 1.0, "chain": 2.0, "strict chain": 0.7}[kind]
        ends = np.cumsum(rng.dirichlet(np.full(size, spread), classes), axis=1)
        columns.append(draw(ends, given, rng))
        if kind != "latent classes":
            given, classes = columns[-1], size
    return np.stack(columns, axis=1)


def spec(data: np.ndarray, sizes: tuple[int, ...], ways: int) -> str:
    """Publish all tables of data."""
    lines = [f"records: {len(data)}", "variables:"]
    for column, size in enumerate(sizes):
        codes = ", ".join(f'{level}: "{level}"' for level in range(size))
        lines.append(f"  V{column}: {{categories: {{{codes}}}}}")
    lines.append("outputs:")
    for columns in combinations(range(len(sizes)), ways):
        shape = [sizes[column] for column in columns]
        cells = np.ravel_multi_index(data[:, columns].T, shape)
        counts = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
        rows = ", ".join(f"V{column}" for column in columns[:-1])
        lines.append(f"  - {{kind: crosstab, rows: [{rows}], columns: V{columns[-1]},")
        lines.append(f"     counts: {counts.tolist()}}}")
    return "\n".join(lines)


def measure(
    kind: str, sizes: tuple[int, ...], ways: int, records: int, seeds: int
) -> dict[str, object]:
    """Synthesize from all tables of data that are known, and verify."""
    seconds, full, right, cells = [], 0, 0, 0
    for seed in range(1, seeds + 1):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "tables.yaml"
            file.write_text(spec(truth(kind, sizes, records, seed), sizes, ways))
            loaded = evosynth.load(file)
        result = evosynth.synthesize(loaded, seed=seed, workers=2, time=LIMIT)
        seconds.append(result.seconds["search"])
        same = result.verification["exact"]
        full += bool(same.all())
        right += int(same.sum())
        cells += len(same)
    n_tables = math.comb(len(sizes), ways)
    return {
        "data": kind,
        "variables": len(sizes),
        "tables": f"{n_tables} {ways}-way",
        "cells": cells // seeds,
        "records": f"{records:,}",
        "fully exact": f"{full} of {seeds}",
        "cells exact": f"{right / cells:.2%}",
        "s, median": f"{np.median(seconds):.2f}",
        "max": f"{max(seconds):.2f}",
    }


def main() -> None:
    """Measure all cases."""
    options = parser(__doc__)
    options.add_argument("--cases", type=int, default=len(CASES), help="only the first so many")
    given = options.parse_args()
    for records in (200, 20_000):
        measure("latent classes", (3, 4, 5), 2, records, 1)
    rows = [measure(*case) for case in CASES[: given.cases]]
    write(
        given,
        "Dense tables",
        "Every cell of all tables of random data must be met at once. Latent classes: 5 classes, "
        "the shares of levels in each drawn from a Dirichlet distribution (1). Chain: each "
        "variable depends on the one before, Dirichlet (2); strict chain: Dirichlet (0.7), "
        "nearly determined. Seconds of the search in a warm process, two workers, ended at "
        f"{LIMIT} s if need be.",
        table(rows),
    )


if __name__ == "__main__":
    main()
