"""The report: time to gather and build it besides the imports, beside the search, and its size."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from report import HERE, parser, table, write

import evosynth
from evosynth.codebook import describe
from evosynth.report import facts
from evosynth.report.folder import read
from evosynth.report.page import make, page


def one(name: str, rounds: int, limit: float) -> dict[str, object]:
    """Time the steps of one spec's report; the first, untimed, has the imports."""
    spec = evosynth.load(HERE.parent / "specs" / f"{name}.yaml", anyway=True)
    begun = time.perf_counter()
    result = evosynth.synthesize(spec, time=limit)
    search = time.perf_counter() - begun
    with tempfile.TemporaryDirectory() as place:
        folder = result.save(Path(place) / "out")
        gathered, built = [], []
        for _ in range(rounds):
            begun = time.perf_counter()
            found = describe(result.data, spec.schema)
            facts.gather(spec, result.data, found, ["evosynth"])
            gathered.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            make(folder)
            built.append(time.perf_counter() - begun)
        size = len(page(read(folder)).encode())
    gather, build = statistics.median(gathered), statistics.median(built)
    return {
        "spec": name,
        "figures": len(result.verification),
        "gather, s": f"{gather:.3f}",
        "build, s": f"{build:.3f}",
        "both over search": f"{(gather + build) / search:.2f}",
        "kB": f"{size / 1000:.0f}",
    }


def main() -> None:
    """Time each spec in turn."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--time", type=float, default=10.0, help="limit of each search, s")
    options.add_argument(
        "--specs",
        default="south-yorkshire-cars-1,south-yorkshire-cars-2,ashe-census,household-survey,"
        "marriage-survey-two-way-tables,copenhagen-housing",
    )
    given = options.parse_args()
    rows = [one(name, given.rounds, given.time) for name in given.specs.split(",")]
    write(
        given,
        "The report",
        "Median of several rounds, imports done: `gather` is what a run computes for the report "
        "(distributions, associations, intervals of models), `build` reads the files of the folder "
        "and writes the page, as `evosynth report` does. Wanted: 2 s and 3,000 kB at most.",
        table(rows),
    )


if __name__ == "__main__":
    main()
