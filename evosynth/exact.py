"""The default strategy: calibrated start, compiled bursts of micro-mutations, lattice polish."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from deap import base

from evosynth.approach import PRINTS, disjoint, effects_of, neutral
from evosynth.dense import place
from evosynth.evolve import Candidate, keep_best, toolbox_of
from evosynth.fitted import Model
from evosynth.kernels.cells import count_cells, violation
from evosynth.kernels.moves import accept_moves
from evosynth.landing import Landing, suits
from evosynth.newton import newton
from evosynth.parts import FEW_RECORDS
from evosynth.placement import nearest
from evosynth.polish import polish
from evosynth.problem import Problem
from evosynth.record_types import Types, few_types
from evosynth.records import Records
from evosynth.schema import FloatArray
from evosynth.space import Compass, Payload, Space
from evosynth.staged import Staged
from evosynth.start import Source, prepare
from evosynth.steer import steer, steerable
from evosynth.steps import walk
from evosynth.whole import Whole

POPULATION = 24
_LEAST_POPULATION = 4
_CURVED_POPULATION = 8
_CURVED_WEIGHT = 8.0
_SLOW_POPULATION = 2
_DENSE_TABLES = 6
_DENSE_CELLS = 150
"""Tables, and exactly published cells of them, from which records are placed."""
_MOST_BYTES = 2**30
"""Memory for the candidates of one generation and their children."""
GENERATIONS = 300

_STREAM = 2
"""Marks the random numbers of the start."""
_BURST = 4096
"""Micro-mutations proposed at a time."""
_BURSTS = 16
_CURVED_BURSTS = 6
_REPAIR, _REPAIRS = 512, 400
"""Moves proposed at a time, and times, to set tables right."""
_REPAIR_HEAT = 0.2
"""Temperature, in records, of every eighth burst that sets tables right."""
_HELPS = 0.5
"""Records by which a move must set tables right at no temperature."""
_WORTHWHILE = 0.02
"""Share of accepted micro-mutations that makes another burst worthwhile."""
_HEAT = 0.02
_CROSSED = 0.3
_APART = 20
"""Moves that are tried for each repeated record."""
_NOTHING = 1e-9
"""Half-widths below which a move does nothing to a figure."""
_SIMPLE = 20
"""Figures up to which moves alone are tried first."""
_LANDED = 0.5
"""Share of children that are drawn anew where landing is possible."""
_WALKED = 20
"""Rounds of stepping values."""
_MISSED = 0.3
"""Share of figures that may be missed after these for them to be the way."""
_ROUNDS = 6
_POLISHED = 4
_CURVED_NEAR = 0.5
_NEAR = 1e-3
"""Squared statistical distance per figure below which polishing is worth trying."""


def _overlapping(problem: Problem) -> bool:
    """Whether many exact tables share variables, so that moves that keep all are rare."""
    tables = exact = 0
    for table in problem.binding:
        here = problem.slice(int(table))
        fixed = int((problem.low[here] == problem.high[here]).sum())
        if len(problem.grids[table].columns) > 1 and 2 * fixed > problem.grids[table].size:
            tables += 1
            exact += fixed
    return tables >= _DENSE_TABLES and exact >= _DENSE_CELLS


@dataclass
class Exact:
    """The operators of the default strategy."""

    problem: Problem
    space: Space
    source: Source
    dense: bool
    """Whether tables overlap so much that records are placed variable by variable."""
    stop: Callable[[], bool]
    """Asked now and then whether to stop."""
    landing: Landing | None = None
    """Where curved figures can be met by real weights."""
    whole: Whole | None = None
    """Where, besides, steps of single values make up for rounding them."""
    staged: Staged | None = None
    """Where covariates are a problem of their own, and the outcome comes last."""
    by_record: ClassVar[bool] = False
    """Whether candidates are records even where types are few."""

    @classmethod
    def of(
        cls, problem: Problem, start: str, seed: int, stop: Callable[[], bool] = lambda: False
    ) -> Self:
        """Choose how to hold candidates and prepare what they are drawn from."""
        free = problem.schema.bonds is None
        dense = start == "calibrated" and free and _overlapping(problem)
        few = few_types(problem) and not dense and not cls.by_record
        space: Space = Types(problem) if few else Records(problem)
        fitted = not dense or bool(problem.size or problem.shares)
        rng = np.random.default_rng((seed, _STREAM))
        if start == "calibrated" and space.drawn and not dense:
            staged = Staged.of(problem, rng, stop)
            if staged is not None:
                source = Source.around(space, staged.sample(rng))
                return cls(problem, space, source, dense, stop, staged=staged)
        source = prepare(space, start, fitted, rng, stop)
        held = dense or cls.by_record or problem.schema.fixed is not None
        landing = None
        if not held and suits(source):
            source, near = nearest(source, rng, stop)
            landing = Landing.of(source) if near else None
        coarse = cls.by_record and problem.schema.records < FEW_RECORDS
        tied = (held and not coarse) or problem.schema.bonds is not None
        whole = None if tied else Whole.of(source, rng, stop)
        return cls(problem, space, source, dense, stop, landing, whole)

    @property
    def weight(self) -> float:
        """What a record in a wrong cell costs: more where single records move figures far."""
        return _CURVED_WEIGHT if self.problem.curved else 1.0

    @property
    def population(self) -> int:
        """Number of candidates: as usual, or few where each takes long or much memory."""
        if self.dense or self.staged is not None:
            return _SLOW_POPULATION
        fit = min(
            _MOST_BYTES // (2 * self.space.bytes),
            _CURVED_POPULATION if self.problem.curved else POPULATION,
        )
        return max(_LEAST_POPULATION, min(POPULATION, fit))

    @property
    def lands(self) -> bool:
        """Whether to land at once: where several figures of models hang on each other."""
        models = any(isinstance(b, Model) and not b.traits.linear for b in self.problem.smooth)
        return models and self.problem.size > _SIMPLE

    @property
    def steers(self) -> bool:
        """Whether values are few enough to take Newton steps in all of them."""
        return self.space.drawn and steerable(self.problem, self.space.steered)

    def toolbox(self) -> base.Toolbox:
        """Register the operators with DEAP."""
        return toolbox_of(self, keep_best)

    def draw(self, rng: np.random.Generator) -> Candidate:
        """Draw a candidate from the start distribution, or place its records table by table."""
        if not self.dense:
            if not self.problem.curved or self.stop():
                return self.candidate(self.source.draw(rng))
            walked = self.walked(rng) or self.from_stages(rng)
            if walked is not None:
                return walked
            landed = self.landed(rng) if self.lands else None
            if landed is not None:
                return landed
            payload = self.told_apart(self.repaired(self.source.draw(rng), rng), rng)
            return self.mutate(self.candidate(payload), rng, 0, 0)
        problem = self.problem
        slices = [problem.slice(int(table)) for table in problem.binding]
        return self.candidate(
            place(
                problem.schema.sizes,
                problem.schema.records,
                [problem.grids[table] for table in problem.binding],
                [problem.low[here] for here in slices],
                [problem.high[here] for here in slices],
                rng,
                stop=self.stop,
            ).astype(problem.schema.dtype)
        )

    def redraw(self, rng: np.random.Generator) -> Candidate:
        """Draw a candidate where others were not exact at once."""
        walked = None if self.stop() else self.walked(rng) or self.from_stages(rng)
        if walked is not None:
            return walked
        # Landing repeats few records many times, which shows; where rules tie values, and no
        # model is published, candidates as drawn are mostly polished as well.
        tied = self.problem.schema.bonds is not None
        landed = None if self.lands or tied or self.stop() else self.landed(rng)
        if landed is not None:
            return landed
        if not self.steers or tied or self.stop():
            return self.draw(rng)
        payload = self.repaired(self.source.draw(rng), rng)
        return self.candidate(steer(self.problem, self.space.steered, payload, rng, self.stop))

    def landed(self, rng: np.random.Generator) -> Candidate | None:
        """Round real weights that meet the figures, if there are any and some way does."""
        found = None if self.landing is None else self.landing.draw(rng, self.stop)
        if found is None:
            return None
        return self.candidate(self.space.from_pool(self.source.codes, found[0]))

    def walked(self, rng: np.random.Generator) -> Candidate | None:
        """Round real weights, and step values until figures are met; ``None`` if most are not."""
        drawn = None if self.whole is None else self.whole.draw(rng, self.stop)
        if drawn is None:
            return None
        payload = self.repaired(drawn, rng)
        columns = self.space.stepped
        payload = walk(self.problem, columns, payload, rng, _WALKED, self.stop)
        found = self.candidate(payload)
        missed = self.rank(found, self.appraise(found))[0]
        return found if missed <= _MISSED * self.problem.size else None

    def from_stages(self, rng: np.random.Generator) -> Candidate | None:
        """Draw covariates, then the outcome, where these are apart."""
        drawn = None if self.staged is None else self.staged.draw(rng, self.stop)
        return None if drawn is None else self.candidate(drawn)

    def repaired(self, payload: Payload, rng: np.random.Generator) -> Payload:
        """Move records out of crowded cells of tables, whatever becomes of other figures."""
        problem = self.problem
        for turn in range(_REPAIRS):
            codes, counts = self.space.rows(payload)
            cells = problem.cells(codes)
            held = count_cells(cells, counts, len(problem.low))
            crowded = np.flatnonzero(held > problem.high)
            if violation(held, problem.low, problem.high) == 0:
                break
            among, column = None, None
            if len(crowded):
                cell = int(rng.choice(crowded))
                table = problem.table(cell)
                among = np.flatnonzero(cells[:, table] == cell)
                column = int(rng.choice(self.space.deciding(problem.grids[table].columns)))
            moves = self.space.propose(payload, _REPAIR, rng, column=column, among=among)
            made = accept_moves(
                self.space.stock(payload).copy(),
                moves.slot_from,
                moves.slot_to,
                moves.row_from,
                moves.row_to,
                moves.cells,
                held,
                problem.low,
                problem.high,
                np.zeros((len(moves.codes), 0)),
                np.zeros(0),
                _REPAIR_HEAT * (turn % 8 == 7) * rng.exponential(size=len(moves)) - _HELPS,
                1.0,
            )
            payload = self.space.apply(payload, moves, made.astype(np.int64))
        return payload

    def told_apart(self, payload: Payload, rng: np.random.Generator) -> Payload:
        """Change repeated records in what no published figure hangs on."""
        if not self.space.drawn:
            return payload
        first = np.unique(payload, axis=0, return_index=True)[1]
        again = np.setdiff1d(np.arange(len(payload)), first)
        if not len(again):
            return payload
        moves = self.space.propose(payload, _APART * len(again), rng, among=again)
        moves = neutral(self.space, payload, moves)
        if not len(moves):
            return payload
        effects = effects_of(self.space, payload, moves)[1]
        idle = np.flatnonzero((np.abs(effects) < _NOTHING).all(axis=1))
        kept, _ = disjoint(self.space, payload, moves, idle)
        return self.space.apply(payload, moves.subset(kept), np.ones(len(kept), np.int64))

    def candidate(self, payload: Payload) -> Candidate:
        """Sum up a dataset."""
        compass, pool = self.source.compass, self.source.influence
        if not self.problem.curved:
            return Candidate(payload, *self.space.totals(payload, compass, pool))
        codes, counts = self.space.rows(payload)
        cells = count_cells(self.problem.cells(codes), counts, len(self.problem.low))
        return Candidate(payload, cells, compass.distance(self.problem.measure(codes, counts)))

    def mate(self, first: Candidate, second: Candidate, rng: np.random.Generator) -> Candidate:
        """Exchange a block of records, or copy the first parent."""
        if rng.random() < _CROSSED:
            return self.candidate(self.space.cross(first.payload, second.payload, rng))
        return Candidate(first.payload, first.cells.copy(), first.residual.copy())

    def mutate(
        self, child: Candidate, rng: np.random.Generator, generation: int, stalled: int
    ) -> Candidate:
        """Make bursts of micro-mutations while many are accepted.

        They grow larger and hotter the longer the population does not improve.
        """
        if generation and self.landing is not None and rng.random() < _LANDED:
            landed = self.landed(rng)
            if landed is not None:
                return landed
        few = max(512, 8 * self.problem.schema.records) if self.problem.curved else _BURST
        size = min(_BURST, few) << min(stalled, 2)
        heat = _HEAT * min(stalled, 10)
        compass = self.source.compass
        for _ in range(_CURVED_BURSTS if self.problem.curved else _BURSTS):
            if self.problem.curved:
                codes, counts = self.space.rows(child.payload)
                now = counts.astype(np.float64)
                compass, child.residual = Compass.here(self.problem, codes, now)
            moves = self.space.propose(child.payload, size, rng)
            made = accept_moves(
                self.space.stock(child.payload).copy(),
                moves.slot_from,
                moves.slot_to,
                moves.row_from,
                moves.row_to,
                moves.cells,
                child.cells,
                self.problem.low,
                self.problem.high,
                self.space.guide(moves, compass, self.source.influence),
                child.residual,
                heat * rng.exponential(size=len(moves)),
                self.weight,
            )
            child.payload = self.space.apply(child.payload, moves, made.astype(np.int64))
            if made.sum() < _WORTHWHILE * size or (self.problem.curved and self.stop()):
                break
        if generation and self.steers and not self.stop():
            columns = self.space.steered
            child.payload = newton(self.problem, columns, child.payload, rng, self.stop)
        return self.candidate(child.payload) if self.problem.curved else child

    def evaluate(self, candidate: Candidate) -> tuple[float]:
        """Add the records in the wrong cell and the squared statistical distance."""
        wrong = violation(candidate.cells, self.problem.low, self.problem.high)
        return (self.weight * wrong + float(candidate.residual @ candidate.residual),)

    def finish(self, population: list[Candidate], rng: np.random.Generator) -> Candidate:
        """Polish the best few whose tables are exact and whose figures are near."""
        best, rank = population[0], self.rank(population[0], self.appraise(population[0]))
        for standing, candidate in enumerate(population[:_POLISHED]):
            wrong = violation(candidate.cells, self.problem.low, self.problem.high)
            distance = float(candidate.residual @ candidate.residual)
            if not self.problem.size or self.stop():
                break
            near = distance <= (_CURVED_NEAR if self.problem.curved else _NEAR) * self.problem.size
            # Curved figures are polished from afar, too, but then only in the best candidate.
            if wrong or not (near or (self.problem.curved and standing == 0)):
                continue
            payload = candidate.payload
            if self.whole is not None:
                columns = self.space.stepped
                payload = walk(self.problem, columns, payload, rng, _WALKED, self.stop)
            found = self.candidate(polish(self.space, payload, rng, _ROUNDS, self.stop))
            reached = self.rank(found, self.appraise(found))
            if reached < rank:
                best, rank = found, reached
            if rank[0] == 0:
                break
        return best

    def appraise(self, candidate: Candidate) -> FloatArray:
        """Distance of every figure from its target in half-widths: counts first, then the rest."""
        residual = self.problem.measure(*self.space.rows(candidate.payload))
        return self.problem.distance(candidate.cells, residual)

    def rank(self, candidate: Candidate, distance: FloatArray) -> tuple[int, float]:
        """Fewer misses first, then the smaller worst distance."""
        size = np.abs(distance)
        return int((size >= PRINTS).sum()), float(size.max(initial=0.0))

    def alike(self, population: list[Candidate]) -> float:
        """Share of records that the leader has in common with a few others, on average."""
        return self.space.alike([candidate.payload for candidate in population[:6]])
