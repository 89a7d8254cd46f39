"""The starter scripts of every spec, run in Python and R: figures that they print as published."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from report import HERE, parser, table, write

import evosynth
from evosynth.objective import Figure
from evosynth.printed import Printed

_WIDE = 87
"""Characters of a line that shows a figure: what it is, as published, and of these data."""
_NUMBER = re.compile(r"-?[\d.]+")


def printed(command: list[str], folder: Path, figures: list[Figure]) -> str:
    """Run a script; count the figures that it prints as published."""
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8", "PYTHONWARNINGS": "ignore"},
    )
    if done.returncode:
        return f"failed: {done.stderr.strip().splitlines()[-1]}"
    rows = [row.split() for row in done.stdout.splitlines() if len(row.rstrip()) >= _WIDE]
    shown = [row[-1] for row in rows if _NUMBER.fullmatch(row[-1])]
    if len(shown) != len(figures):
        return f"{len(shown):,} shown"
    return f"{sum(map(_agrees, shown, figures)):,}"


def _agrees(shown: str, figure: Figure) -> bool:
    """Whether the digits are those of print or, where print has only bounds, within them."""
    if isinstance(figure.printed, Printed):
        return shown == figure.printed.text
    half = 0.5001 * 10.0 ** -len(shown.partition(".")[2])
    return figure.printed.low - half <= float(shown) <= figure.printed.high + half


def one(name: str, seed: int, limit: float) -> dict[str, object]:
    """Make the data of a spec and run its scripts."""
    spec = evosynth.load(HERE.parent / "specs" / f"{name}.yaml")
    result = evosynth.synthesize(spec, seed, workers=2, time=limit)
    figures = [figure for output in spec.figures for figure in output]
    with tempfile.TemporaryDirectory() as place:
        folder = result.save(Path(place) / "out")
        row: dict[str, object] = {
            "spec": name,
            "figures": f"{len(figures):,}",
            "in the written file": f"{int(result.verification['exact'].sum()):,}",
            "`analysis.py`": printed([sys.executable, "analysis.py"], folder, figures),
            "`analysis.R`": "no R here",
        }
        if shutil.which("Rscript"):
            row["`analysis.R`"] = printed(["Rscript", "analysis.R"], folder, figures)
    print(*row.values(), flush=True)
    return row


def main() -> None:
    """Run the scripts of each spec in turn."""
    options = parser(__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--time", type=float, default=30, metavar="S", help="limit of each search")
    options.add_argument("--specs", metavar="A,B", help="only these")
    given = options.parse_args()
    every = sorted(file.stem for file in (HERE.parent / "specs").glob("*.yaml"))
    names = given.specs.split(",") if given.specs else every
    rows: list[dict[str, object]] = []
    for name in names:
        rows.append(one(name, given.seed, given.time))
        write(given, "Starter scripts", *_parts(rows), done=len(rows) == len(names))


def _parts(rows: list[dict[str, object]]) -> list[str]:
    about = (
        "Figures that print as published (or lie within the bounds that print gives): recomputed "
        "from the written `data.csv` by `evosynth`, and as the scripts beside it print them, with "
        "pandas, scipy and statsmodels, and with R's own functions, `MASS`, `nnet` and `quantreg`."
    )
    return [about, table(rows)]


if __name__ == "__main__":
    main()
