"""Small datasets: Newton steps from several places, and the best of where they lead."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evosynth.fences import snapped
from evosynth.newton import away, newton
from evosynth.problem import Problem
from evosynth.ranks import GroupQuantile
from evosynth.rounding import MOST_RECORDS, settle
from evosynth.schema import Codes, IntArray

_MOST_RECORDS = 1500
_MOST_SLOPES = 2_000_000
"""Values times figures up to which slopes are tabulated."""
_RANKED = 1 / 3
"""Share of figures that are quantiles of small groups from which single records decide too much."""
_STARTS = 5
_SMOOTH = 0.1
"""The same, from which no real values are sought."""
_FINE = 20.0
"""Levels that the finest variable must spread over to make up for what rounding others does."""
_SETTLED = 8
"""Starts of which real values are sought that meet all figures."""
_PROBED = 12
"""Newton steps by which starts are compared."""
_LOADING = 1.5
_KICKS = 0.1, 0.3, 1.0
"""Shares of records whose values are exchanged."""
_NEAR = 0.3
"""Distance for each figure below which the rest is left to polishing."""


def steerable(problem: Problem, columns: IntArray) -> bool:
    """Whether there are quantities to steer by, few enough records, and mostly smooth figures."""
    size = problem.schema.records * len(columns) * problem.size
    smooth = _ranked(problem) <= _RANKED * problem.size
    few = problem.schema.records <= _MOST_RECORDS and 0 < size <= _MOST_SLOPES
    return problem.curved and smooth and few


def _ranked(problem: Problem) -> int:
    return sum(block.size for block in problem.smooth if isinstance(block, GroupQuantile))


def steer(
    problem: Problem,
    columns: IntArray,
    codes: Codes,
    rng: np.random.Generator,
    stop: Callable[[], bool] = lambda: False,
    starts: int = _STARTS,
) -> Codes:
    """Round real values that meet all figures, or take Newton steps from the best start."""
    ones = np.ones(len(codes), dtype=np.int64)
    near = _NEAR * np.sqrt(problem.size)

    def loss(found: Codes) -> float:
        return away(problem.measure(found, ones))

    settled, left = codes, np.inf
    fine = codes[:, columns].std(axis=0).max() >= _FINE and len(codes) <= MOST_RECORDS
    if fine and _ranked(problem) <= _SMOOTH * problem.size:
        probe = newton(problem, columns, snapped(problem, columns, codes), rng, stop, _PROBED)
        if loss(probe) > 0.0:
            settled, left = settle(
                problem,
                columns,
                lambda start: shuffled(problem, columns, codes, rng) if start else codes,
                _SETTLED,
                rng,
                stop,
            )
    if left <= near or stop():
        return settled
    probes = []
    for start in range(starts):
        begin = codes if start == 0 else shuffled(problem, columns, codes, rng)
        probe = newton(problem, columns, snapped(problem, columns, begin), rng, stop, _PROBED)
        probes.append((loss(probe), start, probe))
        if probes[-1][0] <= near or stop():
            break
    least, _, best = min([*probes, (left, starts, settled)])
    for _, _, probe in sorted(probes):
        found = newton(problem, columns, probe, rng, stop)
        reached = loss(found)
        if reached < least:
            least, best = reached, found
        if least <= near or stop():
            break
    return best


def shuffled(problem: Problem, columns: IntArray, codes: Codes, rng: np.random.Generator) -> Codes:
    """Exchange values between records of the same cells so that they go together by chance.

    Every quantity follows one factor, drawn anew, to a degree and with a sign that are drawn:
    steps never turn a correlation that stands on the wrong side.
    """
    found = codes.copy()
    factor = rng.normal(size=len(codes))
    cells = problem.cells(codes)
    for column in columns.tolist():
        tables = [i for i, grid in enumerate(problem.grids) if column in grid.columns]
        _, group = np.unique(cells[:, tables], axis=0, return_inverse=True)
        group = group.ravel()
        score = rng.normal(0.0, _LOADING) * factor + rng.normal(size=len(codes))
        by_value = np.lexsort((codes[:, column], group))
        by_score = np.lexsort((score, group))
        found[by_score, column] = codes[by_value, column]
    return found


def kicked(problem: Problem, columns: IntArray, codes: Codes, rng: np.random.Generator) -> Codes:
    """Exchange the values of one quantity between some records of the same cells."""
    found = codes.copy()
    column = int(rng.choice(columns))
    tables = [i for i, grid in enumerate(problem.grids) if column in grid.columns]
    some = np.flatnonzero(rng.random(len(codes)) < rng.choice(_KICKS))
    cells = problem.cells(codes)[some][:, tables]
    _, group = np.unique(cells, axis=0, return_inverse=True)
    one = np.lexsort((rng.random(len(some)), group.ravel()))
    two = np.lexsort((rng.random(len(some)), group.ravel()))
    found[some[one], column] = codes[some[two], column]
    return found
