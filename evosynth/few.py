"""The default strategy where records are few: every variable is annealed by itself."""

from __future__ import annotations

import numpy as np

from evosynth.column import anneal
from evosynth.evolve import Candidate
from evosynth.exact import Exact
from evosynth.kernels.cells import violation
from evosynth.kernels.moves import accept_moves
from evosynth.polish import PRINTS, outside, polish
from evosynth.problem import Problem
from evosynth.ranks import FEW_RECORDS, GroupQuantile
from evosynth.space import Payload

_POPULATION = 4
_VERY_FEW = 100
_WRONG = 60.0
"""What a record in a wrong cell costs, in roots of half-widths."""
_REPAIRS = 60
_REPAIR_HEAT = 0.2
"""Temperature, in records, of every other burst that sets tables right."""
_BURST = 4096
_BEGIN = np.geomspace(20.0, 1.0, 11)
_COLD = 0.5
"""Temperatures, in roots of half-widths."""
_STEPS = 6
_WHOLE = 0.25
"""Share of the mutations that are of all variables at once."""
_ROUNDS = 2


def few_records(problem: Problem) -> bool:
    """Whether records are so few that no smooth path leads to the published figures."""
    ranked = any(isinstance(block, GroupQuantile) for block in problem.smooth)
    return problem.curved and problem.schema.records <= (FEW_RECORDS if ranked else _VERY_FEW)


class Few(Exact):
    """Operators for a few hundred records at most; distances are in printed digits throughout."""

    by_record = True

    @property
    def population(self) -> int:
        """Few candidates, as each takes long."""
        return _POPULATION

    def draw(self, rng: np.random.Generator) -> Candidate:
        """Draw a candidate, set its tables right, and anneal one variable after the other."""
        payload = self._repaired(self.source.draw(rng), rng)
        for column in rng.permutation(self.space.stepped):
            payload = anneal(self.problem, payload, int(column), _BEGIN, rng)
        return self.candidate(payload)

    def _repaired(self, payload: Payload, rng: np.random.Generator) -> Payload:
        """Make moves that bring tables into order, whatever becomes of other figures."""
        problem = self.problem
        cells = self.candidate(payload).cells
        for turn in range(_REPAIRS):
            if violation(cells, problem.low, problem.high) == 0:
                break
            moves = self.space.propose(payload, _BURST, rng)
            made = accept_moves(
                self.space.stock(payload).copy(),
                moves.slot_from,
                moves.slot_to,
                moves.row_from,
                moves.row_to,
                moves.cells,
                cells,
                problem.low,
                problem.high,
                np.zeros((len(moves.codes), 0)),
                np.zeros(0),
                _REPAIR_HEAT * (turn % 2) * rng.exponential(size=len(moves)),
                1.0,
            )
            payload = self.space.apply(payload, moves, made.astype(np.int64))
        return payload

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
        if len(self.space.stepped) == 0 or rng.random() < _WHOLE:
            return super().mutate(child, rng, generation, stalled)
        column = int(rng.choice(self.space.stepped))
        hot = min(2.0 + stalled, _BEGIN[0])
        heats = np.geomspace(hot, _COLD, _STEPS)
        return self.candidate(anneal(self.problem, child.payload, column, heats, rng))

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
