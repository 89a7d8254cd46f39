"""The founding experiments with many seeds: figures exact, seconds, records in common."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from report import SPECS, parser, table, write

import evosynth
from evosynth.exact import Exact
from evosynth.problem import Problem

CORES = os.cpu_count() or 1


def figures_exact(result: evosynth.Result) -> tuple[int, int]:
    """Save, and compare the printed texts in the verification that was written beside the data."""
    with tempfile.TemporaryDirectory() as folder:
        saved = result.save(Path(folder) / "out")
        found = pd.read_csv(saved / "verification.csv", dtype=str)
    return int((found["published"] == found["reproduced"]).sum()), len(found)


def counts_by_type(result: evosynth.Result) -> np.ndarray:
    """How often each possible record occurs."""
    sizes = tuple(result.spec.schema.sizes)
    types = np.ravel_multi_index(tuple(result.codes.T.astype(np.int64)), sizes)
    return np.bincount(types, weights=result.counts, minlength=int(np.prod(sizes)))


def samples(spec: evosynth.Spec, number: int) -> list[np.ndarray]:
    """Independent random samples of the distribution that the search starts from."""
    source = Exact.of(Problem.of(spec.plans, spec.schema), spec.start, 0).source
    shares = source.weights / source.weights.sum()
    return list(np.random.default_rng(0).multinomial(spec.schema.records, shares, number))


def in_common(data: list[np.ndarray], pairs: int) -> str:
    """Share of identical records in two datasets, as multisets, on average over random pairs."""
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(pairs):
        a, b = (data[i] for i in rng.choice(len(data), 2, replace=False))
        shares.append(np.minimum(a, b).sum() / a.sum())
    return f"{np.mean(shares):.1%}"


def measure(file: Path, seeds: int, pairs: int) -> dict[str, object]:
    """Run one spec with many seeds."""
    spec = evosynth.load(file)
    evosynth.synthesize(spec, 0, workers=CORES)
    seconds, data, missed, full = [], [], 0, 0
    for seed in range(1, seeds + 1):
        result = evosynth.synthesize(spec, seed, workers=CORES)
        seconds.append(result.seconds["search"])
        data.append(counts_by_type(result))
        done, figures = figures_exact(result)
        full += done == figures
        missed += figures - done
    return {
        "spec": file.stem,
        "figures": figures,
        "seeds": seeds,
        "seeds fully exact": full,
        "figures missed in all": missed,
        "search s, median": f"{np.median(seconds):.3f}",
        "90th percentile": f"{np.quantile(seconds, 0.9):.3f}",
        "max": f"{max(seconds):.3f}",
        "records in common": in_common(data, pairs),
        "random samples": in_common(samples(spec, seeds), pairs),
    }


def main() -> None:
    """Measure both specs."""
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=50)
    options.add_argument("--pairs", type=int, default=40)
    given = options.parse_args()
    rows = [measure(file, given.seeds, given.pairs) for file in SPECS]
    write(
        given,
        "The founding experiments",
        "Every figure as recomputed from the written `data.csv` and printed in the written "
        "`verification.csv`. Seconds are those of the search in a warm process, a worker per core. "
        "Records in common: share of identical records between the data of two seeds, as "
        f"multisets, mean over {given.pairs} random pairs; beside it, the same for independent "
        "random samples of the distribution that the search starts from.",
        table(rows),
    )


if __name__ == "__main__":
    main()
