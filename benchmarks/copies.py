"""Copies for an exam: how long many exact datasets of Experiment 2 take."""

from __future__ import annotations

import resource
import subprocess
import tempfile
import time
from pathlib import Path

import pandas as pd
from report import COMMAND, SPECS, parser, table, write

TARGET = 30


def _cpu() -> float:
    """Seconds of processor time of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Run the command with one worker and with two."""
    options = parser(__doc__)
    options.add_argument("--copies", type=int, default=30)
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for workers in (1, 2):
            taken = []
            before = _cpu()
            for number in range(given.rounds):
                out = Path(folder) / f"{workers}-{number}"
                begun = time.perf_counter()
                run = [COMMAND, "run", str(SPECS[1]), "--quiet", "-o", str(out)]
                run += ["--copies", str(given.copies), "--workers", str(workers)]
                subprocess.run(run, check=True)
                taken.append(time.perf_counter() - begun)
            checked = pd.read_csv(out / "verification.csv").groupby("copy")["exact"].all()
            shared = pd.read_csv(out / "overlap.csv")["share"]
            rows.append(
                {
                    "workers": workers,
                    "copies": given.copies,
                    "exact": int(checked.sum()),
                    "median s": f"{sorted(taken)[len(taken) // 2]:.1f}",
                    "min": f"{min(taken):.1f}",
                    "max": f"{max(taken):.1f}",
                    "CPU s each": f"{(_cpu() - before) / given.rounds:.1f}",
                    "records in common, mean": f"{shared.mean():.1%}",
                    "most": f"{shared.max():.1%}",
                }
            )
    write(
        given,
        "Copies",
        f"Wall time of the command with `--copies {given.copies}`, "
        "imports, files and verification of every copy among it; south-yorkshire-cars-2. "
        "CPU time tells what a busy machine hides. "
        f"Target: 30 copies within {TARGET} s on two cores.",
        table(rows),
    )


if __name__ == "__main__":
    main()
