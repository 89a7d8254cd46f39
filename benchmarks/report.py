"""What the benchmarks share: options, where things are, and how results are written down."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
SPECS = [HERE.parent / "specs" / f"south-yorkshire-cars-{number}.yaml" for number in (1, 2)]
COMMAND = str(Path(sys.executable).with_name("evosynth"))
"""The installed command, beside the Python that runs the benchmark."""

_PACKAGES = ("evosynth", "numpy", "numba", "pandas", "statsmodels", "deap")


def parser(description: str | None) -> argparse.ArgumentParser:
    """Options that every benchmark has."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument(
        "--results", type=Path, default=HERE / "results", metavar="DIR", help="where to write"
    )
    return options


def table(rows: list[dict[str, object]]) -> str:
    """Markdown table of rows that have the same keys; the first column is left-aligned."""
    names = list(rows[0])
    lines = [names, [":--", *["--:"] * (len(names) - 1)]]
    lines += [[str(row[name]) for name in names] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(options: argparse.Namespace, title: str, *parts: str, done: bool = True) -> None:
    """Print the results with machine, versions and date, and write them under the script's name.

    ``done``: whether these are all; until then they are written, and marked, but not printed.
    """
    script = Path(sys.argv[0])
    command = " ".join(["python", f"benchmarks/{script.name}", *sys.argv[1:]])
    state = [] if done else ["Unfinished: what was measured so far."]
    text = "\n\n".join([f"# {title}", *state, *parts, _machine(), f"`{command}`"]) + "\n"
    if done:
        print(text)
    options.results.mkdir(parents=True, exist_ok=True)
    (options.results / f"{script.stem}.md").write_text(text, encoding="utf-8")


def _machine() -> str:
    about = _read("/proc/cpuinfo").get("model name", platform.processor())
    memory = int(_read("/proc/meminfo").get("MemTotal", "0 kB").split()[0]) / 2**20
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    now = datetime.datetime.now(datetime.UTC)
    cores = f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} cores"
    return (
        f"{now:%Y-%m-%d}, commit {_commit()}; {cores}, {about}, "
        f"{memory:.1f} GiB, {platform.system()}; Python {platform.python_version()}, {versions}."
    )


def _read(path: str) -> dict[str, str]:
    """First value of each key of a file under /proc; nothing on other systems."""
    found: dict[str, str] = {}
    if Path(path).exists():
        for line in Path(path).read_text().splitlines():
            name, _, value = line.partition(":")
            found.setdefault(name.strip(), value.strip())
    return found


def _commit() -> str:
    """Commit of the source, marked if it has been changed since."""
    git = ["git", "-C", str(HERE), "describe", "--always", "--dirty"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
