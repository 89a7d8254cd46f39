"""Random truths of every kind: printed, thrown away, and synthesized from their figures alone."""

from __future__ import annotations

import argparse
import tempfile
import traceback
from pathlib import Path

import pandas as pd
from missed import fractions, listing, seconds, written
from report import parser, table, write
from truths import KINDS, Kind, draw
from truths_models import MODELS

import evosynth
from evosynth.proof import verify

WORKERS = 2
EVERY: dict[str, Kind] = KINDS | MODELS


def trip(
    name: str, kind: Kind, number: int, time: float, keep: Path | None = None
) -> tuple[pd.DataFrame | None, float, str]:
    """Go from one truth to its spec to data; return the verification, seconds and a problem."""
    truth = draw(name, kind, number)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}-{number}.yaml"
        file.write_text(truth.text, encoding="utf-8")
        found, taken, problem = None, 0.0, ""
        try:
            spec = evosynth.load(file)
            own = verify(spec, truth.frame)
            strange = own[~own["exact"]]
            if len(strange):
                first = strange.iloc[0]
                problem = (
                    f"{len(strange)} figures of the truth are recomputed otherwise: "
                    f"{first['figure']} is {first['published']}, not {first['reproduced']}"
                )
            del truth
            result = evosynth.synthesize(spec, number, workers=WORKERS, time=time)
            taken = result.seconds["search"]
            found = written(result)
        except evosynth.EvosynthError as error:
            problem = f"refused: {error}".replace(f"{folder}/", "")
        except Exception as error:
            traceback.print_exc()
            problem = f"failed: {type(error).__name__}: {error}"
        if keep is not None and (found is None or problem or not found["exact"].all()):
            keep.mkdir(parents=True, exist_ok=True)
            (keep / file.name).write_bytes(file.read_bytes())
    return found, taken, problem


def figures(name: str, kind: Kind, number: int) -> int:
    """Count the figures of a truth that came to nothing; 0 if its spec cannot be loaded."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spec.yaml"
        file.write_text(draw(name, kind, number).text, encoding="utf-8")
        try:
            return sum(map(len, evosynth.load(file).figures))
        except evosynth.EvosynthError:
            return 0


def measure(
    name: str, kind: Kind, truths: int, time: float, keep: Path | None = None
) -> tuple[dict[str, object], list[str]]:
    """Make round trips with truths of one kind; return a row, and what to say of misses."""
    times, done, said, problems, failed = [], [], [], [], 0
    for number in range(1, truths + 1):
        found, taken, problem = trip(name, kind, number, time, keep)
        if problem:
            problems.append(f"- truth {number}: {problem}")
        if found is None:
            failed += 1
            done.append(pd.DataFrame({"exact": [False] * max(1, figures(name, kind, number))}))
        else:
            times.append(taken)
            done.append(found)
            if not found["exact"].all():
                said += [f"### {name}, truth {number}", table(_without(listing([found])))]
        print(
            name,
            number,
            f"{taken:.2f} s,",
            (~done[-1]["exact"]).sum(),
            "missed",
            problem,
            flush=True,
        )
    row: dict[str, object] = {"kind": name, "refused or failed": failed}
    row |= fractions(done) | seconds(times)
    if problems:
        said = [f"### {name}", "\n".join(problems), *said]
    return row, said


def _said(text: str | None) -> str:
    """Describe what a function prints in a sentence of its own."""
    said = (text or "").removeprefix("Print ")
    return said[:1].upper() + said[1:]


def _without(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Drop what says nothing of a single run."""
    names = {"half-units off, median": "half-units off", "e.g.": "reproduced"}
    return [
        {names.get(k, k): v for k, v in row.items() if k not in ("missed in", "why")}
        for row in rows
    ]


def main() -> None:
    """Measure every kind."""
    options = parser(__doc__)
    options.add_argument("--truths", type=int, default=20, help="of each kind")
    options.add_argument("--time", type=float, default=30, metavar="S", help="limit of each run")
    options.add_argument("--kinds", metavar="A,B", help=f"only these of {', '.join(EVERY)}")
    options.add_argument("--keep", type=Path, metavar="DIR", help="keep specs that were missed")
    given = options.parse_args()
    names = given.kinds.split(",") if given.kinds else list(EVERY)
    if unknown := set(names) - set(EVERY):
        options.error(f"unknown kinds: {', '.join(sorted(unknown))}")
    trip(names[0], EVERY[names[0]], 0, given.time)  # compiles
    rows: list[dict[str, object]] = []
    parts: list[str] = []
    for name in names:
        row, said = measure(name, EVERY[name], given.truths, given.time, given.keep)
        rows.append(row)
        parts += said
        # After every kind, so that an interruption loses no more than one.
        report(given, names[: len(rows)], rows, parts, done=len(rows) == len(names))


def report(
    given: argparse.Namespace,
    names: list[str],
    rows: list[dict[str, object]],
    parts: list[str],
    *,
    done: bool,
) -> None:
    """Write down what was measured of some kinds."""
    about = "\n".join(f"- `{name}`: {_said(EVERY[name].make.__doc__)}" for name in names)
    write(
        given,
        "Round trips",
        f"Random data of every kind ({given.truths} truths) were printed as a paper would, with "
        "pandas, scipy and statsmodels, and thrown away; evosynth had the spec alone, "
        f"{WORKERS} workers and at most {given.time:g} s of search a run. Figures are recomputed "
        "from the written `data.csv`; seconds are those of the search, without truths that were "
        "refused or failed; all figures of those count as missed.",
        table(rows),
        about,
        "## Figures missed",
        *(parts or ["None."]),
        done=done,
    )


if __name__ == "__main__":
    main()
