"""How time and memory grow with the number of records: experiment 2 from 4 thousand to 4 million.

This process stays small: a child's peak memory starts from that of its parent.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml
from report import COMMAND, SPECS, parser, table, write

TARGET_SECONDS, TARGET_GIB = 60, 2


def scale(source: Path, times: int, target: Path) -> None:
    """Write a spec of so many times the records: counts grow, coefficients and shares stay."""
    spec = yaml.load(source.read_text(encoding="utf-8"), yaml.BaseLoader)
    spec["records"] = str(int(spec["records"]) * times)
    for output in spec["outputs"]:
        if "counts" in output:
            output["counts"] = {
                value: [str(int(count) * times) for count in row]
                for value, row in output["counts"].items()
            }
    target.write_text(yaml.safe_dump(spec, sort_keys=False, allow_unicode=True), encoding="utf-8")


def run(spec: Path, folder: Path) -> dict[str, Any]:
    """Run the command in a process of its own and read what it used."""
    begun = time.perf_counter()
    process = subprocess.Popen([COMMAND, "run", str(spec), "-o", str(folder), "--quiet"])
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{spec}: the command ended with status {process.returncode}")
    about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "rss": usage.ru_maxrss, **about}


def row(found: dict[str, Any], bytes_each: int) -> dict[str, object]:
    """One line of the table; `ru_maxrss` is in KiB on Linux."""
    frame = found["records"] * bytes_each / 2**20
    peak = found["rss"] / 2**10
    return {
        "records": f"{found['records']:,}",
        "figures exact": f"{found['exact']} of {found['figures']}",
        "generations": found["generations"],
        "wall s": f"{found['wall']:.1f}",
        **{f"{part} s": f"{found['seconds'][part]:.2f}" for part in ("search", "write", "verify")},
        "CPU s": f"{found['cpu']:.1f}",
        "peak MiB": f"{peak:,.0f}",
        "output frame MiB": f"{frame:,.1f}",
        "besides it MiB": f"{peak - frame:,.0f}",
    }


def main() -> None:
    """Run every size once, after a run that warms the caches."""
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--times", type=int, nargs="+", default=[1, 10, 100, 1000])
    given = options.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(SPECS[1], folder / "warm")
        for times in given.times:
            spec = folder / f"{times}.yaml"
            scale(SPECS[1], times, spec)
            found.append(run(spec, folder / str(times)))
    import evosynth  # only now, so that the children did not start from its memory

    variables = evosynth.load(SPECS[1]).schema.variables
    bytes_each = sum(variable.values.dtype.itemsize for variable in variables)
    largest = found[-1]
    besides = (largest["rss"] * 2**10 - largest["records"] * bytes_each) / 2**30
    write(
        given,
        "Growth with the number of records",
        "Experiment 2 with records and counts multiplied, shares and coefficients unchanged: the "
        "whole command `evosynth run` in a fresh process, all cores, caches warm. Output frame: "
        "records × the bytes of a record in memory.",
        table([row(item, bytes_each) for item in found]),
        f"Target: at most {TARGET_SECONDS} s and {TARGET_GIB} GiB besides the output frame for "
        f"4 million records. Found for {largest['records']:,}: {largest['wall']:.1f} s and "
        f"{besides:.2f} GiB.",
    )


if __name__ == "__main__":
    main()
