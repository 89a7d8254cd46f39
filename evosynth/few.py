"""The default strategy where records are few: every variable is annealed by itself."""

from __future__ import annotations

import numpy as np

from evosynth.approach import PRINTS, outside
from evosynth.column import anneal
from evosynth.combine import combine
from evosynth.evolve import Candidate
from evosynth.exact import Exact
from evosynth.fences import snapped
from evosynth.kernels.cells import violation
from evosynth.newton import newton
from evosynth.polish import polish
from evosynth.problem import Problem
from evosynth.ranks import FEW_RECORDS, GroupQuantile
from evosynth.space import Payload
from evosynth.steer import kicked, steer
from evosynth.steps import walk

_POPULATION = 4
_VERY_FEW = 100
_WRONG = 60.0
"""What a record in a wrong cell costs, in roots of half-widths."""
_HOT, _WARM, _COLD = 20.0, 1.0, 0.5
"""Temperatures, in roots of half-widths."""
_FIRST, _LATER = 400_000, 200_000
"""Proposals for each variable of a new candidate, and of a child."""
_WARMED, _SLOW = 5.0, 4_000_000
"""Temperature, and proposals, where records of every kind are settled."""
_FRESH = 0.3
"""Share of the mutations there that start anew."""
_WALKED = 20
"""Rounds of stepping values."""
_WHOLE = 0.25
"""Share of the mutations that are of all variables at once."""
_ROUNDS = 2
_TURNED = 0.5
"""Share of the mutations of quantities that are Newton steps."""
_STEERED = 0.4
"""Share of figures that may be missed after Newton steps for these to be the way."""


def few_records(problem: Problem) -> bool:
    """Whether records are so few that no smooth path leads to the published figures."""
    ranked = any(isinstance(block, GroupQuantile) for block in problem.smooth)
    few = problem.schema.records <= (FEW_RECORDS if ranked else _VERY_FEW)
    free = problem.schema.bonds is None
    quantities = any(not v.categorical for v in problem.schema.variables)
    return few and free and problem.curved and quantities


class Few(Exact):
    """Operators for a few hundred records at most; distances are in printed digits throughout."""

    by_record = True

    @property
    def population(self) -> int:
        """Few candidates, as each takes long."""
        return _POPULATION

    def draw(self, rng: np.random.Generator) -> Candidate:
        """Draw a candidate, set its tables right, and steer it; or anneal variable by variable."""
        whole = None if self.whole is None else self.whole.draw(rng, self.stop)
        if whole is not None:
            return self.candidate(self.annealed(self.repaired(whole, rng), rng))
        payload, steered = self.repaired(self.source.draw(rng), rng), None
        if self.steers:
            found = steer(self.problem, self.space.stepped, payload, rng, self.stop)
            steered = self.candidate(found)
            if self.rank(steered, self.appraise(steered))[0] < _STEERED * self.problem.size:
                return steered
        for column in rng.permutation(self.space.stepped):
            heats = _HOT, _WARM
            payload = anneal(self.problem, payload, int(column), heats, _FIRST, rng, self.stop)
        annealed = self.candidate(self.combined(payload, rng))
        if steered is not None and self.evaluate(steered) < self.evaluate(annealed):
            return steered
        return annealed

    def redraw(self, rng: np.random.Generator) -> Candidate:
        """Draw a candidate where others were not exact at once."""
        return self.draw(rng) if self.whole is not None else super().redraw(rng)

    def annealed(self, payload: Payload, rng: np.random.Generator) -> Payload:
        """Anneal quantities slowly, and step them, where records of every kind are settled."""
        columns = self.space.stepped
        for column in rng.permutation(columns):
            heats = _WARMED, _COLD
            payload = anneal(self.problem, payload, int(column), heats, _SLOW, rng, self.stop)
        return walk(self.problem, columns, payload, rng, _WALKED, self.stop)

    def candidate(self, payload: Payload) -> Candidate:
        """Count the cells and estimate the figures anew."""
        cells = super().candidate(payload).cells
        measured = self.problem.measure(*self.space.rows(payload))
        return Candidate(payload, cells, np.nan_to_num(measured, posinf=1e6, neginf=-1e6))

    def mate(self, first: Candidate, second: Candidate, rng: np.random.Generator) -> Candidate:
        """Copy the first parent: blocks of others would spoil it."""
        return Candidate(first.payload, first.cells.copy(), first.residual.copy())

    def mutate(
        self, child: Candidate, rng: np.random.Generator, generation: int, stalled: int
    ) -> Candidate:
        """Anneal one variable, or make bursts of micro-mutations of all."""
        if self.whole is not None and not self.stop():
            fresh = rng.random() < _FRESH
            return self.draw(rng) if fresh else self.candidate(self.annealed(child.payload, rng))
        if not len(self.space.stepped) or rng.random() < _WHOLE:
            return super().mutate(child, rng, generation, stalled)
        if self.steers and rng.random() < _TURNED:
            columns = self.space.stepped
            payload = snapped(
                self.problem, columns, kicked(self.problem, columns, child.payload, rng)
            )
            return self.candidate(newton(self.problem, columns, payload, rng, self.stop))
        column = int(rng.choice(self.space.stepped))
        heats = min(2.0 + stalled, _HOT), _COLD
        payload = anneal(self.problem, child.payload, column, heats, _LATER, rng, self.stop)
        return self.candidate(self.combined(payload, rng))

    def combined(self, payload: Payload, rng: np.random.Generator) -> Payload:
        """Combine shifts in small groups, where there are any."""
        columns = self.space.stepped
        return combine(self.problem, columns, payload, rng, self.stop)

    def evaluate(self, candidate: Candidate) -> tuple[float]:
        """Add the records in the wrong cell and the distances from the printed digits."""
        wrong = violation(candidate.cells, self.problem.low, self.problem.high)
        return (_WRONG * wrong + outside(candidate.residual, PRINTS),)

    def finish(self, population: list[Candidate], rng: np.random.Generator) -> Candidate:
        """Polish the best, if its tables are exact."""
        best = population[0]
        loss = self.evaluate(best)[0]
        if loss == 0.0 or violation(best.cells, self.problem.low, self.problem.high):
            return best
        found = self.candidate(polish(self.space, best.payload, rng, _ROUNDS, self.stop))
        return found if self.evaluate(found)[0] < loss else best
