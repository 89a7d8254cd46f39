"""The evolutionary loop: (μ + λ), elitist, driven by a DEAP toolbox.

A strategy registers its operators: ``draw``, ``redraw`` (once others were drawn), ``select``,
``mate``, ``mutate``, ``evaluate`` and ``survive`` as usual, ``finish`` for what is made of a
generation in the end, ``appraise`` for its distance from print, ``rank`` to tell which candidate
is the one to hand over (the smaller the better), ``alike`` for the share of records that
candidates have in common.
Every random draw comes from a generator seeded with (seed, generation, number of the child), so
the number of workers changes nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from deap import base, tools
from numpy.typing import NDArray

from evosynth.approach import PRINTS
from evosynth.schema import FloatArray, IntArray
from evosynth.space import Payload

_STREAM = 1
"""Marks the random numbers of the loop; a last part other than 0 keeps streams apart."""


EVERY_FIGURE = "every figure is exact"
"""Why a search stops that has nothing left to do."""
NO_PROGRESS = "no further progress"
"""Why a search stops that gets nowhere."""
TIME_LIMIT, GENERATION_LIMIT = "time limit", "generation limit"
INTERRUPTED = "interrupted"
"""Why a search stops that was told to."""
_FIRST = 1, 3
"""Candidates drawn before others: these are often exact at once, or once polished."""
_PATIENCE = 60
"""Generations without a better candidate to hand over after which a search ends."""


START, EVOLUTION, POLISH = "start", "evolution", "polish"
"""The phases of a search: drawing candidates, breeding them, landing in the printed digits."""


class Loss(base.Fitness):  # type: ignore[misc]
    """One number, the smaller the better."""

    weights = (-1.0,)


@dataclass(eq=False)
class Candidate:
    """A dataset that carries its sums."""

    payload: Payload
    cells: IntArray
    """Counts of every cell of every table."""
    residual: FloatArray
    """Distance of the smooth figures, in the units of the strategy."""
    fitness: Loss = field(default_factory=Loss)

    @property
    def loss(self) -> float:
        """The fitness as a number."""
        return float(self.fitness.values[0])

    def same(self, other: Candidate) -> bool:
        """Whether two candidates are the same data."""
        return self.loss == other.loss and np.array_equal(self.payload, other.payload)


@dataclass(frozen=True)
class Limits:
    """When to stop, and how many threads to use."""

    generations: int
    seconds: float | None = None
    workers: int = 1


@dataclass
class Evolution:
    """A population on its way; everything that a resumed run needs to go on as if uninterrupted."""

    population: list[Candidate]
    """Best first."""
    best: Candidate
    """The one to hand over: the first in rank that was ever seen."""
    distance: FloatArray
    """Of each figure of the best from its target, in half-widths."""
    generation: int = 0
    stalled: int = 0
    """Generations since the population last improved."""
    idle: int = 0
    """Generations since the best last improved."""
    log: tools.Logbook = field(default_factory=tools.Logbook)

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Which figures of the best print as published."""
        return np.abs(self.distance) < PRINTS


Watch = Callable[[Evolution], bool]
"""Called after every generation, and while the first is drawn; returns whether to stop."""


def evolve(
    toolbox: base.Toolbox,
    seed: int,
    size: int,
    limits: Limits,
    watch: Watch,
    state: Evolution | None = None,
    spent: dict[str, float] | None = None,
) -> tuple[Evolution, str]:
    """Evolve until every figure is exact, a limit is reached, or the watcher says stop.

    Returns the last state and the reason for stopping; seconds of each phase are added to
    ``spent``.
    """
    begun = time.monotonic()
    phases = _Phases({} if spent is None else spent)

    def generator(generation: int, child: int) -> np.random.Generator:
        return np.random.default_rng((seed, generation, child, _STREAM))

    with ThreadPoolExecutor(limits.workers) as pool:
        spread = pool.map if limits.workers > 1 else map
        if state is None:
            drawn: list[Candidate] = []
            by, stop = START, False
            steps = [0, *(step for step in _FIRST if step < size), size]
            for part in map(range, steps, steps[1:]):
                tasks = [(toolbox.redraw if i else toolbox.draw, i) for i in part]
                with phases(START):
                    drawn += spread(
                        lambda task: _judged(toolbox, task[0](generator(0, task[1]))), tasks
                    )
                    population = toolbox.survive(drawn, size)
                if state is None:
                    state = Evolution(population, population[0], toolbox.appraise(population[0]))
                state.population = population
                # A first generation may last: from here on there is something to show and to keep.
                stop = watch(state)
                with phases(POLISH):
                    by = _finish(toolbox, state, generator(0, size + len(drawn))) or by
                late = limits.seconds is not None and time.monotonic() - begun >= limits.seconds
                if state.exact.all() or late or stop:
                    break
            assert state is not None
            _record(toolbox, state, by)
        else:
            stop = False
            if state.idle >= _PATIENCE:
                state.idle = 0  # it ended for want of progress, and is asked to try on
        last = state.generation + limits.generations
        while True:
            stop = stop or watch(state)
            if state.exact.all():
                return state, EVERY_FIGURE
            if stop:
                return state, INTERRUPTED
            if state.generation >= last:
                return state, GENERATION_LIMIT
            if toolbox.patient and state.idle >= _PATIENCE:
                return state, NO_PROGRESS
            if limits.seconds is not None and time.monotonic() - begun >= limits.seconds:
                return state, TIME_LIMIT
            state.generation += 1
            now, stalled = state.generation, state.stalled

            def breed(task: tuple[int, tuple[Candidate, Candidate]]) -> Candidate:
                index, (first, second) = task
                rng = generator(now, index)  # noqa: B023  (used up within this generation)
                child = toolbox.mate(first, second, rng)
                return _judged(toolbox, toolbox.mutate(child, rng, now, stalled))  # noqa: B023

            with phases(EVOLUTION):
                parents = toolbox.select(state.population, size, generator(now, size + 1))
                children = list(spread(breed, enumerate(parents)))
                before = state.population[0].loss
                state.population = toolbox.survive(state.population + children, size)
                state.stalled = 0 if state.population[0].loss < before else stalled + 1
            with phases(POLISH):
                by = _finish(toolbox, state, generator(now, size))
            _record(toolbox, state, by)


def _judged(toolbox: base.Toolbox, candidate: Candidate) -> Candidate:
    candidate.fitness.values = toolbox.evaluate(candidate)
    return candidate


class _Phases:
    """Adds up the time of each phase."""

    def __init__(self, spent: dict[str, float]) -> None:
        self.spent = spent

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        begun = time.monotonic()
        try:
            yield
        finally:
            self.spent[name] = self.spent.get(name, 0.0) + time.monotonic() - begun


def _finish(toolbox: base.Toolbox, state: Evolution, rng: np.random.Generator) -> str:
    """Polish, and keep the outcome if it is the first in rank so far.

    What was polished before is taken up again every other time. Returns the phase that the new
    best comes from; nothing if there is no new one.
    """
    again = [state.best] if state.generation and state.idle % 2 == 0 else []
    contender = _judged(toolbox, toolbox.finish([*again, *state.population], rng))
    distance = toolbox.appraise(contender)
    state.idle += 1
    if toolbox.rank(contender, distance) < toolbox.rank(state.best, state.distance):
        state.best, state.distance, state.idle = contender, distance, 0
        if any(contender is candidate for candidate in state.population):
            return EVOLUTION if state.generation else START
        return POLISH
    return ""


def _record(toolbox: base.Toolbox, state: Evolution, by: str) -> None:
    """Log the generation; ``by``: the phase that its new best comes from."""
    worst = float(np.abs(state.distance).max(initial=0.0))
    state.log.record(
        generation=state.generation,
        best=state.population[0].loss,
        mean=float(np.mean([candidate.loss for candidate in state.population])),
        exact=int(state.exact.sum()),
        worst=worst if math.isfinite(worst) else None,
        alike=float(toolbox.alike(state.population)),
        by=by,
    )


def toolbox_of(
    strategy: object, survive: Callable[..., list[Candidate]], patient: bool = True
) -> base.Toolbox:
    """Register a strategy's operators with DEAP; ``patient``: end it when it gets nowhere."""
    toolbox = base.Toolbox()
    toolbox.patient = patient
    toolbox.register("select", tournament)
    toolbox.register("survive", survive)
    toolbox.register("redraw", getattr(strategy, "redraw", getattr(strategy, "draw", None)))
    for name in ("draw", "mate", "mutate", "evaluate", "finish", "appraise", "rank", "alike"):
        toolbox.register(name, getattr(strategy, name))
    return toolbox


def keep_best(candidates: list[Candidate], size: int) -> list[Candidate]:
    """Keep the best, equal ones once: DEAP's elitist selection on what is distinct."""
    distinct: list[Candidate] = []
    for candidate in tools.selBest(candidates, len(candidates)):
        if not any(candidate.same(other) for other in distinct):
            distinct.append(candidate)
        if len(distinct) == size:
            return distinct
    return distinct


def tournament(
    population: list[Candidate], size: int, rng: np.random.Generator
) -> list[tuple[Candidate, Candidate]]:
    """Draw pairs of different parents, each the better of two; both orders of a pair have a child.

    The population is sorted, so the better one is the one that stands first.
    """
    pairs: list[tuple[Candidate, Candidate]] = []
    if len(population) < 3:
        return [(population[0], population[-1])] * size
    while len(pairs) < size:
        first, second = (int(rng.choice(len(population), 2, replace=False).min()) for _ in "ab")
        if first != second:
            a, b = population[first], population[second]
            pairs += [(a, b), (b, a)]
    return pairs[:size]
