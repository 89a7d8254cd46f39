"""Micro-mutations a second: propose, accept and apply, by the default strategy.

Run under ``taskset -c 0`` to measure one core: numpy's BLAS takes every core that it sees.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from report import SPECS, parser, table, write

import evosynth
from evosynth.exact import Exact
from evosynth.problem import Problem
from evosynth.record_types import Types
from evosynth.records import Records
from evosynth.space import Moves, Payload, Space
from evosynth.start import prepare


class Tally:
    """Counts the moves that pass through a space's ``apply``."""

    def __init__(self, space: Space) -> None:
        self.proposed = self.accepted = 0
        self._apply = space.apply
        space.apply = self.apply  # type: ignore[method-assign]

    def apply(self, payload: Payload, moves: Moves, times: np.ndarray) -> Payload:
        """Count, then apply."""
        self.proposed += len(moves)
        self.accepted += int(times.sum())
        return self._apply(payload, moves, times)


def measure(file: Path, kind: type[Types] | type[Records], calls: int) -> dict[str, object]:
    """Mutate one candidate again and again, from the start on."""
    spec = evosynth.load(file)
    space = kind(Problem.of(spec.plans, spec.schema))
    source = prepare(space, spec.start, True, np.random.default_rng(0))
    strategy = Exact(space.problem, space, source, dense=False, stop=lambda: False)
    rng = np.random.default_rng(1)
    strategy.mutate(strategy.draw(rng), rng, 1, 0)
    tally = Tally(space)
    child = strategy.draw(rng)
    begun = time.perf_counter()
    child = strategy.mutate(child, rng, 1, 0)
    first = tally.accepted / tally.proposed
    for _ in range(calls - 1):
        child = strategy.mutate(child, rng, 1, 0)
    seconds = time.perf_counter() - begun
    return {
        "spec": file.stem,
        "candidates held as": kind.__name__.lower(),
        "micro-mutations": f"{tally.proposed:,}",
        "million a second": f"{tally.proposed / seconds / 1e6:.2f}",
        "accepted": f"{tally.accepted / tally.proposed:.1%}",
        "in the first call": f"{first:.1%}",
    }


def main() -> None:
    """Measure both specs in both spaces."""
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--calls", type=int, default=500, help="of mutate")
    given = options.parse_args()
    rows = [measure(file, kind, given.calls) for file in SPECS for kind in (Types, Records)]
    write(
        given,
        "Micro-mutations a second",
        f"{given.calls} calls of `mutate` on one candidate at temperature 0; a micro-mutation "
        "is a replaced or stepped value, or a swap, that would change something. The time is all "
        "that `mutate` takes: drawing, judging and applying.",
        table(rows),
    )


if __name__ == "__main__":
    main()
