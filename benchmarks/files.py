"""Files of many records: time and memory of writing each format, and of reading it back."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from report import SPECS, parser, table, write

import evosynth
from evosynth import formats
from evosynth.formats.dataset import Dataset


def one(name: str, records: int, folder: Path, read: bool) -> None:
    """Write a format, or read it back, in a process of its own; print seconds and memory."""
    spec = evosynth.load(SPECS[1])
    schema = spec.schema
    path = folder / formats.file_name(formats.named(name))
    if read:
        base = _peak()
        begun = time.perf_counter()
        found = evosynth.read_data(path, schema)
        assert len(found) == records
    else:
        rng = np.random.default_rng(1)
        codes = np.empty((records, len(schema.variables)), dtype=schema.dtype)
        for column, variable in enumerate(schema.variables):
            codes[:, column] = rng.integers(0, variable.size, records, dtype=schema.dtype)
        frame = schema.frame(codes)
        del codes
        dataset = Dataset.of(frame, spec)
        base = _peak()
        begun = time.perf_counter()
        formats.write(formats.named(name), dataset, path)
    print(time.perf_counter() - begun, _peak() - base, path.stat().st_size)


def _peak() -> float:
    """Largest memory of this process so far, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Write and read every format in turn."""
    options = parser(__doc__)
    options.add_argument("--records", type=int, default=5_000_000)
    options.add_argument("--formats", default=",".join(formats.NAMES))
    options.add_argument("--one", nargs=3, metavar=("FORMAT", "DIR", "DO"))
    given = options.parse_args()
    if given.one:
        one(given.one[0], given.records, Path(given.one[1]), given.one[2] == "read")
        return
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in given.formats.split(","):
            row: dict[str, object] = {"format": name}
            for what in ("write", "read"):
                command = [sys.executable, __file__, "--records", str(given.records)]
                command += ["--one", name, folder, what]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                seconds, memory, size = map(float, done.stdout.split())
                row["MB"] = f"{size / 1e6:,.0f}"
                row[f"{what}, s"] = f"{seconds:.1f}"
                row[f"{what}, MiB more"] = f"{memory:,.0f}"
            rows.append(row)
    write(
        given,
        "Files",
        f"{given.records:,} random records of the variables of south-yorkshire-cars-2, each format "
        "written and read back by `read_data` in processes of their own; memory is the rise of "
        "the peak above the data themselves.",
        table(rows),
    )


if __name__ == "__main__":
    main()
