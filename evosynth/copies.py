"""Many datasets from one spec: each exact, no two the same, whatever the number of workers."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from evosynth.answers import answers
from evosynth.errors import FolderError
from evosynth.formats import Format
from evosynth.messy import Messy
from evosynth.place import STAGING, move
from evosynth.schema import IntArray
from evosynth.spec import Spec, Strategy, load

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.report.live import Live

MOST = 999
_ATTEMPTS = 5
"""Seeds that are tried for a copy until it is exact and unlike all others."""
_STREAM = 11
"""Marks the seeds of copies."""


@dataclass(frozen=True)
class Order:
    """How to make one copy, and where to write it."""

    number: int
    seed: int
    folder: Path
    strategy: Strategy | None
    time: float | None
    generations: int | None
    formats: tuple[Format, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Copy:
    """One copy, as far as the others must know it."""

    number: int
    seed: int
    verification: pd.DataFrame = field(repr=False)
    records: IntArray = field(repr=False)
    """The records as numbers, sorted; the same record is the same number in every copy."""

    messy: Messy | None = field(default=None, repr=False)

    @property
    def exact(self) -> bool:
        """Whether every figure prints as published."""
        return bool(self.verification["exact"].all())


def seed_of(seed: int, number: int, attempt: int = 0) -> int:
    """Return the seed of a copy; ``run --seed`` with it makes the same data."""
    sequence = np.random.SeedSequence((seed, _STREAM, number, attempt))
    return int(sequence.generate_state(1)[0])


def make_copies(
    spec: Spec,
    folder: str | os.PathLike[str],
    copies: int,
    seed: int = 1,
    *,
    workers: int = 1,
    strategy: Strategy | None = None,
    time: float | None = None,
    generations: int | None = None,
    formats: Sequence[Format] | None = None,
    force: bool = False,
    progress: Callable[[Copy], None] | None = None,
    live: Live | None = None,
) -> list[Copy]:
    """Write a folder of copies: ``copy-01``, ``copy-02`` … for students, the rest for the trainer.

    Parameters
    ----------
    spec
        From `evosynth.load`; its file must still be there.
    folder
        Created if it is not there; must be empty unless ``force``.
    copies
        How many.
    seed
        The same spec, version and seed give the same copies, for any number of workers.
    workers
        Processes.
    strategy, time, generations
        As in `synthesize`, for each copy.
    formats
        Files besides CSV and Parquet; those of the spec if not given.
    force
        Replace the files of an earlier run.
    progress
        Called after every copy.
    live
        The page of this very run, which may stand in the folder until the copies do.
    """
    from evosynth import formats as known
    from evosynth.write import ready

    place = Path(folder)
    ready(place, force)
    asked = spec.formats if formats is None else tuple(formats)
    notes = tuple(known.notes(asked, spec.filed))
    staging = None
    try:
        where = place if place.exists() else place.parent
        where.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=STAGING, dir=where))

        def order(number: int, attempt: int) -> Order:
            return Order(
                number,
                seed_of(seed, number, attempt),
                staging / _name(number, copies),
                strategy,
                time,
                generations,
                known.wanted(asked),
                notes,
            )

        made = _make(spec, copies, order, workers, progress)
        _trainer(staging, spec, made, seed, known.wanted(asked))
        gone = [f.name for f in place.glob("copy-*")] if place.exists() else []
        if live is not None:
            live.give_way()
        move(staging, place, remove=gone)
    except OSError as error:
        raise FolderError(f"{place}: cannot be written: {error.strerror or error}") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
    return made


def _name(number: int, copies: int) -> str:
    return f"copy-{number:0{max(2, len(str(copies)))}}"


def _make(
    spec: Spec,
    copies: int,
    order: Callable[[int, int], Order],
    workers: int,
    progress: Callable[[Copy], None] | None,
) -> list[Copy]:
    """Make copies in rounds: those that miss figures or equal another are made anew."""
    made: dict[int, Copy] = {}
    wanted = list(range(1, copies + 1))
    with _crew(spec, min(workers, copies)) as work:
        for attempt in range(1 if spec.clashes else _ATTEMPTS):
            for copy in work([order(number, attempt) for number in wanted]):
                made[copy.number] = copy
                if progress is not None and copy.exact:
                    progress(copy)
            wanted = _again(made)
            if not wanted:
                break
    return [made[number] for number in sorted(made)]


def _again(made: dict[int, Copy]) -> list[int]:
    """List copies that miss a figure, or are the same as one before."""
    seen: set[bytes] = set()
    found = []
    for number in sorted(made):
        content = made[number].records.tobytes()
        if not made[number].exact or content in seen:
            found.append(number)
        seen.add(content)
    return found


_SPEC: list[Spec] = []
"""The spec of a worker process."""


def _begin(file: str, anyway: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    _SPEC.append(load(file, anyway=anyway))


def _work(order: Order) -> Copy:
    return _one(_SPEC[-1], order)


@contextmanager
def _crew(spec: Spec, workers: int) -> Iterator[Callable[[list[Order]], Iterator[Copy]]]:
    """Offer a way to fill orders, here or in other processes, in the order that they are given."""
    if workers <= 1:
        yield lambda orders: (_one(spec, order) for order in orders)
        return
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(spec.document.file, bool(spec.clashes)),
    )
    try:
        yield lambda orders: pool.map(_work, orders)
    except BrokenProcessPool as error:
        remedy = "there may be too little memory for so many; try --workers 1"
        raise FolderError(f"a worker process ended before its time; {remedy}") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _one(spec: Spec, order: Order) -> Copy:
    """Make, write and verify one copy."""
    from evosynth.synthesis import synthesize
    from evosynth.write import fill_copy

    # One thread each: processes share the cores, and sums must not depend on how many there are.
    with threadpool_limits(1, "blas"):
        result = synthesize(
            spec,
            order.seed,
            strategy=order.strategy,
            time=order.time,
            generations=order.generations,
        )
        shutil.rmtree(order.folder, ignore_errors=True)
        order.folder.mkdir()
        fill_copy(order.folder, result, order.formats, order.notes)
    return Copy(order.number, order.seed, result.verification, _numbers(result, spec), result.messy)


def _numbers(result: Any, spec: Spec) -> IntArray:
    """Each record as a number: equal records have equal ones, different ones almost surely not."""
    rng = np.random.default_rng(0)
    total = np.zeros(len(result.codes), dtype=np.uint64)
    for column, variable in enumerate(spec.schema.variables):
        if variable.hidden or variable.identifier is not None:
            continue
        marks = rng.integers(0, 2**64, variable.size, dtype=np.uint64)
        total += marks[result.codes[:, column]]  # wraps around, as a sum modulo 2**64 does
    return np.sort(np.repeat(total.astype(np.int64), result.counts))


def overlap(made: Sequence[Copy]) -> pd.DataFrame:
    """Count the records that each two copies have in common."""
    import pandas as pd

    counted = [np.unique(copy.records, return_counts=True) for copy in made]
    rows = []
    for i, j in combinations(range(len(made)), 2):
        _, one, two = np.intersect1d(
            counted[i][0], counted[j][0], assume_unique=True, return_indices=True
        )
        common = int(np.minimum(counted[i][1][one], counted[j][1][two]).sum())
        rows.append(
            {
                "copy": made[i].number,
                "other": made[j].number,
                "records_in_common": common,
                "share": round(common / len(made[i].records), 4),
            }
        )
    return pd.DataFrame(rows, columns=["copy", "other", "records_in_common", "share"])


def _trainer(
    staging: Path, spec: Spec, made: list[Copy], seed: int, wanted: Sequence[Format]
) -> None:
    """Write what is for the trainer alone."""
    import pandas as pd

    from evosynth.scripts import scripts
    from evosynth.write import options, readable, write_json, write_report, write_text

    shared = overlap(made)
    shared.to_csv(staging / "overlap.csv", index=False)
    pd.concat([copy.verification.assign(copy=copy.number) for copy in made]).to_csv(
        staging / "verification.csv", index=False
    )
    for file, part in (("key.csv", "key"), ("verification-messy.csv", "verification")):
        if spec.teaching is not None:
            parts = [getattr(copy.messy, part).assign(copy=copy.number) for copy in made]
            pd.concat(parts).to_csv(staging / file, index=False)
    named = [(_name(copy.number, len(made)), copy.seed, copy.exact) for copy in made]
    write_text(staging / "answers.md", answers(spec, named, shared))
    for file, text in scripts(spec, wanted).items():
        write_text(staging / file, text)
    about = [
        {
            "copy": name,
            "seed": copy.seed,
            "figures": len(copy.verification),
            "exact": int(copy.verification["exact"].sum()),
        }
        for (name, _, _), copy in zip(named, made, strict=True)
    ]
    write_json(staging / "run.json", spec, {"seed": seed, "copies": about})
    words = ["evosynth", "run", readable(Path(spec.document.file).name), "-o", "out"]
    words += ["--seed", str(seed), "--copies", str(len(made)), *options(spec, wanted)]
    shown = pd.read_parquet(staging / named[0][0] / "data.parquet")
    dates = {v.name: pd.to_datetime(shown[v.name]) for v in spec.schema.shown if v.date}
    write_report(staging, spec, shown.assign(**dates), words)
