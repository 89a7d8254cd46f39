"""From a spec to a dataset: runs a strategy and holds what came of it."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from evosynth import checkpoint, classic, exact, few
from evosynth.evolve import EVERY_FIGURE, START, Evolution, Limits, evolve
from evosynth.households import Slots, fitted, linked
from evosynth.interrupt import Interrupt, interruptible
from evosynth.messy import Messy
from evosynth.objective import Figure, Plan
from evosynth.problem import Problem
from evosynth.schema import Codes, IntArray
from evosynth.sources import on_sources
from evosynth.spec import Spec, Strategy

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.report.plots import Plot
    from evosynth.risk.assessment import Assessment
    from evosynth.weights.diagnostics import Calibration

_DWELLINGS = 0.3
"""Share of the time that the search for households may take."""
_STREAM = 3
"""Marks the random numbers of the order of records."""


@dataclass(frozen=True)
class Progress:
    """Where a search stands."""

    generation: int
    exact: int
    figures: int
    worst: str
    """The figure that is farthest off; empty when all are exact."""
    distance: float | None
    """How far it is off, in half-units of its last printed digit; ``None`` if not estimable."""
    seconds: float


@dataclass
class Result:
    """A synthetic dataset and how it was made."""

    spec: Spec
    seed: int
    strategy: Strategy
    codes: Codes = field(repr=False)
    counts: IntArray = field(repr=False)
    generations: int
    reason: str
    """Why the search stopped."""
    seconds: dict[str, float]
    log: list[dict[str, Any]] = field(repr=False)
    state: Evolution = field(repr=False)
    messy: Messy | None = field(default=None, repr=False)
    """Data with the problems that the spec asks for, once they are saved."""
    slots: Slots | None = field(default=None, repr=False)
    """Where persons live, if they live in households."""
    phases: dict[str, float] = field(default_factory=dict, repr=False)
    """Seconds that each phase of the search took."""
    risk: Assessment | None = field(default=None, repr=False)
    """Disclosure risk, where the original was at hand."""

    @cached_property
    def data(self) -> pd.DataFrame:
        """The records, in an order that says nothing, or household by household."""
        if self.weights is None or self.weights.name in self._records:
            return self._records
        return self._records.assign(**{self.weights.name: self.weights.weights})

    @cached_property
    def weights(self) -> Calibration | None:
        """The weights of the records and what they do, if the spec asks for weights."""
        from evosynth.weights.column import weigh

        return None if self.spec.weighting is None else weigh(self._records, self.spec.weighting)

    @cached_property
    def filed(self) -> Spec:
        """The spec with the variables of data files, a weight added afterwards among them."""
        from evosynth.weights.column import variable

        if self.weights is None or self.weights.name in self.spec.schema.index:
            return self.spec
        return replace(self.spec, schema=self.spec.with_weight(variable(self.weights)))

    @cached_property
    def _records(self) -> pd.DataFrame:
        rows = np.repeat(np.arange(len(self.codes), dtype=np.int32), self.counts)
        if self.slots is not None and self.spec.households is not None:
            order, household = self.slots.settle(self.codes[rows], self.seed)
            found = self.slots.schema.frame(self.codes, rows[order])
            found[self.spec.households.identifier] = household + 1
            return found
        np.random.default_rng((self.seed, _STREAM)).shuffle(rows)
        return self.spec.schema.frame(self.codes, rows)

    @cached_property
    def verification(self) -> pd.DataFrame:
        """Every published figure beside its value recomputed with pandas and statsmodels.

        After `save`, the values are those recomputed from the written file.
        """
        from evosynth.proof import verify

        return verify(self.spec, self.data)

    @cached_property
    def rules(self) -> pd.DataFrame:
        """How many records break each rule or derived variable, beside what chance would."""
        from evosynth.proof import group
        from evosynth.rules import compliance

        return compliance(self.spec.bound, *group(self.data, self.spec.schema))

    @property
    def exact(self) -> bool:
        """Whether every figure prints as published, and every rule is kept."""
        return bool(
            self.verification["exact"].all() and (not self.spec.bound or self.rules["kept"].all())
        )

    @property
    def stopped(self) -> str:
        """Why the search stopped, in the light of the verification."""
        if self.reason == EVERY_FIGURE and not self.exact:
            if self.spec.clashes:
                return "the figures that are left contradict others"
            return "it took every figure for exact, but recomputed from the data some are not"
        return self.reason

    @property
    def plot(self) -> Plot:
        """Pictures for slides, such as ``result.plot.forest()``; they need matplotlib."""
        from evosynth.report.plots import Plot

        return Plot(self)

    def _repr_html_(self) -> str:
        """Show the short form of the report in notebooks."""
        from evosynth.report.short import short

        return short(self)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        force: bool = False,
        formats: Sequence[str] | None = None,
    ) -> Path:
        """Write the output folder, and verify what was written.

        Parameters
        ----------
        folder
            Created if it is not there; must be empty unless ``force``.
        force
            Replace the files of an earlier run; other files there are left alone.
        formats
            Files to write besides CSV and Parquet, such as ``["stata", "spss", "excel"]``; those
            of the spec if not given.
        """
        from evosynth.formats import named
        from evosynth.write import save

        asked = self.spec.formats if formats is None else [named(name) for name in formats]
        return save(self, Path(folder), force, asked)


def synthesize(
    spec: Spec,
    seed: int = 1,
    *,
    strategy: Strategy | None = None,
    workers: int = 1,
    time: float | None = None,
    generations: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> Result:
    """Evolve a dataset that reprints the published figures of a spec.

    Parameters
    ----------
    spec
        From `evosynth.load`.
    seed
        The same spec, version and seed give the same data, for any number of workers.
    strategy
        ``"exact"`` or ``"classic"``; the spec's own if not given.
    workers
        Threads.
    time, generations
        Limits, of this call; the best dataset so far is returned when one is reached, or on Ctrl-C
        after the first generation.
    progress
        Called after every generation, and while the first is drawn.
    resume
        Folder of an unfinished run of the same spec, seed and strategy, to go on from.
    """
    begun = clock.perf_counter()
    strategy = strategy or spec.strategy
    state = checkpoint.load(Path(resume), spec, seed, strategy) if resume is not None else None
    # Workers are threads already, and a sum must not depend on how many cores there are.
    with threadpool_limits(1, "blas"), interruptible(Interrupt()) as interrupt:

        def stop(share: float = 1.0) -> bool:
            late = time is not None and clock.perf_counter() - begun > share * time
            return late or interrupt.pressed

        plans, slots = spec.plans, None
        asked: tuple[Plan, ...] = spec.bound.plans
        schema = spec.schema
        if spec.households is not None:
            dwellings = _dwellings(spec, seed, workers, lambda: stop(_DWELLINGS))
            slots = Slots.of(spec.households, dwellings, spec.schema)
            schema = slots.schema
            plans = tuple(
                on_sources(output.lower(schema), schema) if output.unit == "person" else Plan()
                for output in spec.outputs
            )
            asked = (*asked, slots.plan)
        problem = Problem.of((*plans, *asked), schema)
        labels = _labels(spec, plans, sum(len(plan.counted) for plan in asked))

        def watch(now: Evolution) -> bool:
            interrupt.found = True
            if progress is not None:
                progress(_progress(now, labels, clock.perf_counter() - begun))
            return interrupt.pressed

        chosen: classic.Classic | exact.Exact
        if strategy == "classic":
            weights = tuple(output.weight for output in spec.outputs)
            chosen = classic.Classic.of(problem, plans, weights, stop)
            size, most = classic.POPULATION, classic.GENERATIONS
        else:
            kind = few.Few if few.few_records(problem) else exact.Exact
            chosen = kind.of(problem, spec.start, seed, stop)
            size, most = chosen.population, exact.GENERATIONS
        left = None if time is None else time - (clock.perf_counter() - begun)
        limits = Limits(most if generations is None else generations, left, workers)
        phases = {START: clock.perf_counter() - begun}
        state, reason = evolve(chosen.toolbox(), seed, size, limits, watch, state, phases)
    codes, counts = chosen.space.rows(state.best.payload)
    seconds = {"search": clock.perf_counter() - begun}
    log = [dict(row) for row in state.log]
    return Result(
        spec,
        seed,
        strategy,
        codes,
        counts,
        state.generation,
        reason,
        seconds,
        log,
        state,
        slots=slots,
        phases=phases,
    )


def _dwellings(spec: Spec, seed: int, workers: int, stop: Callable[[], bool]) -> Codes:
    """Search for the households that persons live in."""
    assert spec.households is not None
    of_person = [o.unit == "person" for o in spec.outputs]
    about = [plan for plan, person in zip(spec.plans, of_person, strict=True) if person]
    plans = [plan for plan, person in zip(spec.plans, of_person, strict=True) if not person]
    plans.append(linked(spec.households, about, spec.schema))
    problem = Problem.of(tuple(plans), spec.households.schema)
    chosen = exact.Exact.of(problem, "calibrated", seed, stop)
    limits = Limits(exact.GENERATIONS, None, workers)
    state, _ = evolve(chosen.toolbox(), seed, chosen.population, limits, lambda _: stop())
    codes, counts = chosen.space.rows(state.best.payload)
    found = np.repeat(codes, counts, axis=0)
    return fitted(spec.households, found, spec.schema.records, seed)


def _labels(spec: Spec, plans: tuple[Plan, ...], hidden: int) -> list[str | None]:
    """Names of all figures in the order of the problem: counts first, then the rest.

    ``hidden``: what besides figures must be met, counted after the others; it has no name.
    """
    counts: list[str | None] = []
    rest: list[str | None] = []
    figures: tuple[Figure, ...]
    for position, (plan, figures) in enumerate(zip(plans, spec.figures, strict=True)):
        names = [f"outputs[{position}] {figure.label}" for figure in figures]
        split = len(plan.counted)
        counts += names[:split]
        size = sum(block.size for block in plan.smooth)
        # A block may watch more than what is published.
        rest += (names[split:] + [f"outputs[{position}]"] * size)[:size]
    return counts + [None] * hidden + rest


def _progress(state: Evolution, labels: list[str | None], seconds: float) -> Progress:
    size = np.abs(state.distance)
    named = np.array([label is not None for label in labels], dtype=np.bool_)
    done = int(state.exact[named].sum())
    worst = "" if state.exact.all() else labels[int(size.argmax())] or "the rules"
    farthest = float(size.max(initial=0.0))
    distance = farthest if np.isfinite(farthest) else None
    return Progress(state.generation, done, int(named.sum()), worst, distance, seconds)
