"""What a user waits for: the whole command, beside the import of the packages it stands on."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from report import COMMAND, SPECS, parser, table, write

TARGET_FIRST = 30


def seconds(command: list[str], environment: dict[str, str] | None = None) -> float:
    """Wall time of a command that must succeed."""
    begun = time.perf_counter()
    subprocess.run(
        command,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - begun


def main() -> None:
    """Take turns, so that a busy moment hits all alike."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = [COMMAND, "run", str(SPECS[1]), "--quiet", "--force", "-o", str(Path(folder) / "out")]
        commands = {
            "`evosynth run south-yorkshire-cars-2.yaml`": run,
            "`evosynth --help`": [COMMAND, "--help"],
            "`import pandas, statsmodels.api`": _imports("pandas, statsmodels.api"),
            "`import pandas, statsmodels`": _imports("pandas, statsmodels"),
        }
        for command in commands.values():
            seconds(command)
        turns = [
            {name: seconds(command) for name, command in commands.items()}
            for _ in range(given.rounds)
        ]
        cache = str(Path(folder) / "numba")
        first = seconds(run, {"NUMBA_CACHE_DIR": cache})
        second = seconds(run, {"NUMBA_CACHE_DIR": cache})
    times = {name: [turn[name] for turn in turns] for name in commands}
    *_, with_api, bare = (statistics.median(taken) for taken in times.values())
    rows: list[dict[str, object]] = [
        {
            "command": name,
            "median s": f"{statistics.median(taken):.2f}",
            "min": f"{min(taken):.2f}",
            "max": f"{max(taken):.2f}",
            "÷ pandas, statsmodels.api": f"{statistics.median(taken) / with_api:.2f}",
            "÷ pandas, statsmodels": f"{statistics.median(taken) / bare:.2f}",
        }
        for name, taken in times.items()
    ]
    write(
        given,
        "The whole command",
        f"Wall time of fresh processes, {given.rounds} rounds in turn after one that warms the "
        "caches.",
        table(rows),
        f"First run after installation (no compiled kernels yet): {first:.1f} s; target: at most "
        f"{TARGET_FIRST} s. The run after it: {second:.1f} s.",
    )


def _imports(names: str) -> list[str]:
    return [sys.executable, "-c", f"import {names}"]


if __name__ == "__main__":
    main()
