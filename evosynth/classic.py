"""The founding algorithm, for comparison and for teaching (Elliot, Little and Allmendinger 2024).

Twenty-four candidates drawn uniformly; binary tournaments; no crossover; every value replaced with
a small probability, which falls as generations pass, by a draw from its variable's univariate
distribution; the best of parents and children survive; the loss is the weighted sum over outputs
of the mean squared error of their figures. Where the paper is silent this follows its published
code: tables count as proportions, and a coefficient that is not estimable has a squared error of 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from deap import base, tools

from evosynth.evolve import Candidate, toolbox_of
from evosynth.fences import keep_bonds
from evosynth.kernels.cells import count_cells
from evosynth.objective import Plan
from evosynth.problem import Problem
from evosynth.records import Records
from evosynth.sampling import sample, univariate
from evosynth.schema import FloatArray
from evosynth.settle import settle
from evosynth.space import Payload

POPULATION = 24
GENERATIONS = 2000

_RATES = (0.01, 0.005, 0.001, 0.0005, 0.0001, 0.00005, 0.00001, 0.000005)
"""Mutation rate, stage by stage."""
_STAGE = 250
"""Generations in a stage."""
_EXPECTED = 20_000
"""Records drawn to see how many are to be expected in each cell."""
_NOT_ESTIMABLE = 1.0
"""Squared error of a coefficient that a candidate does not identify, as in the paper's code."""


@dataclass
class Classic:
    """The operators of the founding algorithm, on compiled statistics."""

    problem: Problem
    space: Records
    plans: tuple[Plan, ...]
    weights: tuple[float, ...]
    margins: list[FloatArray]
    """Univariate distribution of each variable: published, or assumed in the spec."""

    @classmethod
    def of(
        cls,
        problem: Problem,
        plans: tuple[Plan, ...],
        weights: tuple[float, ...],
        stop: Callable[[], bool] = lambda: False,
    ) -> Classic:
        """Candidates are held as records, as in the paper."""
        columns = range(len(problem.schema.variables))
        margins = [univariate(problem, column) for column in columns]
        if problem.shares:
            rng = np.random.default_rng(0)
            drawn = [rng.choice(len(share), _EXPECTED, p=share) for share in margins]
            cells = problem.cells(np.stack(drawn, axis=1).astype(problem.schema.dtype))
            found = np.bincount(cells.ravel(), minlength=len(problem.low))
            expected = found.astype(np.float64) * (problem.schema.records / _EXPECTED)
            settle(problem, expected, rng, stop)
        return cls(problem, Records(problem), plans, weights, margins)

    def toolbox(self) -> base.Toolbox:
        """Register the operators with DEAP."""
        return toolbox_of(self, tools.selBest, patient=False)

    def draw(self, rng: np.random.Generator) -> Candidate:
        """Draw every value uniformly."""
        schema = self.problem.schema
        if schema.bonds is not None:
            uniform = [np.full(size, 1 / size) for size in schema.sizes]
            return self.candidate(sample(self.problem, uniform, schema.records, False, rng))
        columns = [rng.integers(0, size, schema.records) for size in schema.sizes]
        return self.candidate(np.stack(columns, axis=1).astype(schema.dtype))

    def candidate(self, payload: Payload) -> Candidate:
        """Count the tables and refit the models."""
        counts = np.ones(len(payload), dtype=np.int64)
        cells = count_cells(self.problem.cells(payload), counts, len(self.problem.low))
        return Candidate(payload, cells, self.problem.measure(payload, counts))

    def mate(self, first: Candidate, second: Candidate, rng: np.random.Generator) -> Candidate:
        """There is no crossover: the child is the first parent."""
        return first

    def mutate(
        self, child: Candidate, rng: np.random.Generator, generation: int, stalled: int
    ) -> Candidate:
        """Replace each value with a probability that depends on the generation alone."""
        rate = _RATES[min((generation - 1) // _STAGE, len(_RATES) - 1)]
        payload = child.payload.copy()
        hit = rng.random(payload.shape) < rate
        for column, share in enumerate(self.margins):
            rows = np.flatnonzero(hit[:, column])
            payload[rows, column] = rng.choice(len(share), len(rows), p=share)
        keep_bonds(self.problem, payload, child.payload)
        return self.candidate(payload)

    def evaluate(self, candidate: Candidate) -> tuple[float]:
        """Weighted sum over outputs of the mean squared error of their figures."""
        total = 0.0
        first_count = first_figure = 0
        problem = self.problem
        off = candidate.cells - (problem.low + problem.high) / 2
        for plan, weight in zip(self.plans, self.weights, strict=True):
            last_count = first_count + len(plan.counted)
            cells = problem.figure_cell[
                problem.figure_start[first_count] : problem.figure_start[last_count]
            ]
            errors = [off[cells] / problem.schema.records]
            first_count = last_count
            for block in plan.smooth:
                residual = candidate.residual[first_figure : first_figure + block.size]
                errors.append(residual * block.half_width)
                first_figure += block.size
            squared = np.concatenate(errors) ** 2
            if len(squared):
                known = np.where(np.isinf(squared), _NOT_ESTIMABLE, squared)
                total += weight * float(known.mean())
        return (total,)

    def finish(self, population: list[Candidate], rng: np.random.Generator) -> Candidate:
        """Hand over the leader as it is."""
        return population[0]

    def appraise(self, candidate: Candidate) -> FloatArray:
        """Distance of every figure from its target in half-widths: counts first, then the rest."""
        return self.problem.distance(candidate.cells, candidate.residual)

    def rank(self, candidate: Candidate, distance: FloatArray) -> float:
        """Order by loss."""
        return candidate.loss

    def alike(self, population: list[Candidate]) -> float:
        """Share of records that the leader has in common with a few others, on average."""
        return self.space.alike([candidate.payload for candidate in population[:6]])
