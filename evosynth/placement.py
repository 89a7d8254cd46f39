"""Where quantities lie, and how covariates go together, so that models have their figures.

Of covariates little is published beside the models that they are part of. What that leaves open,
the means and spreads of quantities and the associations of covariates, is found like parameters:
records are drawn by them, always with the same random numbers, and least squares brings figures of
models nearer. Calibration does the rest, but cannot start from just anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from evosynth.calibration import distances
from evosynth.fitted import Model
from evosynth.landing import NEAR, reach
from evosynth.problem import Problem
from evosynth.sampling import Placement, likely, place, sample
from evosynth.schema import FloatArray
from evosynth.start import Source, prepare

_ROWS = 1500
"""Records that are drawn to judge a placement."""
_PLACES = 6
"""Times that covariates are placed anew."""
_ARRIVED = 10.0
"""Distance, in half-widths, that a new placement is good enough with."""
_STEPS, _TRIALS = 8, 3
"""Steps of least squares, and how often a step that does not help is shortened."""
_MOST_PAIRS = 6
"""Associations that are looked for."""
_DIFFERENCE = 0.1
"""Change of a parameter by which its effect is seen."""
_DAMPING, _HARDER, _SOFTER = 0.1, 6.0, 4.0
"""Part of the curvature added to it at first, and what steps that do not help, or do, change it by.
"""
_LONGEST = 1.0
"""Largest change of a parameter in one step."""
_BETTER = 0.98
"""What a step should change the sum of squares by."""
_LARGE = 5.0
"""Distance, as samples vary, from which more of it counts less and less."""
_PRIOR = (1.5, 0.7, 0.4)
"""Likely sizes of what means, spreads (by logarithm), associations (by Fisher's z) change by."""
_ASIDE = 0.3
"""Association, by Fisher's z, at which a search starts: at none, standard errors are least."""
_FARTHEST = 1.3
"""Largest association."""


def nearest(
    source: Source, rng: np.random.Generator, stop: Callable[[], bool]
) -> tuple[Source, bool]:
    """Place covariates anew until figures can be met, and say whether they can.

    Otherwise the start is returned that ends nearest.
    """
    least = reach(source, rng, stop)
    if least < NEAR:
        return source, True
    search = Search(source.space.problem)
    for _ in range(_PLACES if len(search.prior) else 0):
        if least < _ARRIVED or stop():
            break
        found = prepare(source.space, "calibrated", True, rng, stop, search.find(rng))
        far = reach(found, rng, stop)
        if far < least:
            source, least = found, far
    return source, least < NEAR


class Search:
    """Least squares over the placement of covariates."""

    def __init__(self, problem: Problem) -> None:
        start = likely(problem, "calibrated", True)
        self.problem, self.margins, self.columns = problem, start.margins, start.columns
        self.pairs = _pairs(problem)
        moments = [_moments(problem, start.margins, column) for column in start.columns]
        self.mean, self.sd = np.array(moments).reshape(-1, 2).T
        n = len(start.columns)
        self.prior = np.repeat(_PRIOR, [n, n, len(self.pairs)])
        self.seed = 0

    def find(self, rng: np.random.Generator) -> Placement:
        """Search from associations of random signs."""
        self.seed = int(rng.integers(2**31))
        at = np.zeros(len(self.prior))
        at[2 * len(self.columns) :] = _ASIDE * rng.choice([-1, 1], len(self.pairs))
        return self.placement(self.descend(at))

    def placement(self, at: FloatArray) -> Placement:
        """Means, in standard deviations from where they were, spreads, and associations."""
        n = len(self.columns)
        margins = [share.copy() for share in self.margins]
        for k, column in enumerate(self.columns):
            values = self.problem.schema.variables[column].quantities
            values = values[: self.problem.schema.variables[column].valid]
            low, high, step = values[0], values[-1], values[1] - values[0]
            sd = float(np.clip(self.sd[k] * np.exp(at[n + k]), step, (high - low) / 2))
            mean = float(np.clip(self.mean[k] + self.sd[k] * at[k], low + sd / 4, high - sd / 4))
            place(self.problem, margins, column, mean, sd)
        r = np.tanh(np.clip(at[2 * n :], -_FARTHEST, _FARTHEST))
        guessed = tuple((a, b, float(v)) for (a, b), v in zip(self.pairs, r, strict=True))
        return Placement(margins, self.columns, guessed)

    def residual(self, at: FloatArray) -> FloatArray:
        """Distances from figures, and from what is likely."""
        there = self.placement(at)
        rng = np.random.default_rng(self.seed)
        codes = sample(self.problem, there.margins, _ROWS, True, rng, guessed=there.guessed)
        weights = np.full(_ROWS, self.problem.schema.records / _ROWS)
        found = distances(self.problem, codes, self.problem.cells(codes), weights)
        return np.append(_LARGE * np.arcsinh(found / _LARGE), at / self.prior)

    def descend(self, at: FloatArray) -> FloatArray:
        """Take damped steps of least squares."""
        off, damping = self.residual(at), _DAMPING
        for _ in range(_STEPS):
            change = np.array(
                [self.residual(at + by) - off for by in _DIFFERENCE * np.eye(len(at))]
            )
            change /= _DIFFERENCE
            gram, slope = change @ change.T, change @ off
            for _ in range(_TRIALS):
                ridge = damping * np.diag(np.diag(gram))
                moved = at - np.clip(np.linalg.solve(gram + ridge, slope), -_LONGEST, _LONGEST)
                there = self.residual(moved)
                if there @ there < off @ off:
                    break
                damping *= _HARDER
            else:
                break
            done = there @ there > _BETTER * (off @ off)
            at, off, damping = moved, there, damping / _SOFTER
            if done:
                break
        return at


def _pairs(problem: Problem) -> list[tuple[int, int]]:
    """Covariates of one model of which no table or figure tells how they go together."""
    outcomes = {block.outcome for block in problem.smooth}
    known = {frozenset((a, b)) for a, b, _ in problem.schema.associations}
    known |= {frozenset((a, b)) for block in problem.smooth for a, b, _ in block.associations}
    for grid in problem.grids:
        told = [
            column
            for column, groups in zip(grid.columns, grid.groups, strict=True)
            if len(np.unique(groups[: problem.schema.variables[column].valid])) > 1
        ]
        known |= {frozenset(pair) for pair in combinations(told, 2)}
    found: dict[tuple[int, int], None] = {}
    for block in problem.smooth:
        if isinstance(block, Model):
            terms = {int(column) for column in block.likelihood.design.factor_variable}
            given = sorted(terms - outcomes - set(problem.schema.derived))
            for pair in combinations(given, 2):
                if frozenset(pair) not in known:
                    found[pair] = None
    return list(found)[:_MOST_PAIRS]


def _moments(problem: Problem, margins: list[FloatArray], column: int) -> tuple[float, float]:
    """Mean and standard deviation of a quantity by its margin."""
    variable = problem.schema.variables[column]
    values, share = variable.quantities[: variable.valid], margins[column][: variable.valid]
    mean = float(np.average(values, weights=share))
    return mean, float(np.sqrt(np.average((values - mean) ** 2, weights=share)))
