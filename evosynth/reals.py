"""Newton steps in real numbers: where quantities of any fineness would meet every figure.

Rounding is left for later, so that steps converge as Newton's do. Figures at real values are those
at the nearest levels and how they bend from there. What the last step left of a figure that its
slopes did not foresee is how far they can be trusted: figures that follow from each other disagree
about the way as long as they are far off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evosynth.fences import cell_ends
from evosynth.newton import Slopes, around
from evosynth.problem import Problem
from evosynth.schema import Codes, FloatArray, IntArray

_PLACES = 160
_LONGEST = 0.5
"""Root mean square of a step, in what is usual for each value."""
_TRUST = 0.2
"""Part of a figure's distance that a step may leave, at most."""
_FINEST = 0.1
"""Distance in half-widths below which figures are near enough."""
_ACTIVE = 8
_HALVINGS = 7
_FAILURES = 2
_HOPELESS = 0.98
"""Part of the squared distance that a whole step should not leave."""
_MET = 0.95
_TINY = 1e-12


@dataclass(frozen=True)
class Place:
    """Quantities as real numbers, and the figures there."""

    problem: Problem
    columns: IntArray
    codes: Codes
    """The nearest levels."""
    values: FloatArray
    """Real levels, shape (variables, records)."""
    slopes: Slopes
    """At the nearest levels."""
    effects: FloatArray
    """Effect of each real value, as `Slopes.effects`."""
    residual: FloatArray
    """Distance of each figure, in half-widths."""
    shy: bool
    """Whether values move the less the nearer they are to an end of their range."""

    @classmethod
    def at(
        cls, problem: Problem, columns: IntArray, codes: Codes, values: FloatArray, shy: bool
    ) -> Place:
        """Find the figures and their slopes."""
        whole = codes.copy()
        whole[:, columns] = np.rint(values.T).astype(codes.dtype)
        slopes = around(problem, columns, whole)
        aside = (values - whole[:, columns].T).ravel()
        if shy:
            room = np.minimum(aside - slopes.low, slopes.high - aside) + 1.0
            slopes = replace(slopes, scale=np.clip(room, 1.0, slopes.scale))
        effects = slopes.effects + aside[:, None] * slopes.bends
        residual = _beside(slopes, aside)
        return cls(problem, columns, whole, values, slopes, effects, residual, shy)

    @classmethod
    def of(cls, problem: Problem, columns: IntArray, codes: Codes, shy: bool = False) -> Place:
        """Begin where a dataset is."""
        return cls.at(problem, columns, codes, codes[:, columns].T.astype(np.float64), shy)

    def put(self, variable: int, levels: Codes) -> Place:
        """Put whole values of one variable in place of its real ones."""
        values = self.values.copy()
        values[variable] = levels
        return Place.at(self.problem, self.columns, self.codes, values, self.shy)

    def moved(self, step: FloatArray) -> Place:
        """Go somewhere else."""
        values = self.values + step.reshape(self.values.shape)
        return Place.at(self.problem, self.columns, self.codes, values, self.shy)

    @property
    def aside(self) -> FloatArray:
        """From the nearest levels to the real ones, variable by variable."""
        return np.asarray((self.values - self.codes[:, self.columns].T).ravel())

    def beside(self, aside: FloatArray) -> FloatArray:
        """Figures so far from the nearest levels."""
        return _beside(self.slopes, aside)

    @property
    def worst(self) -> float:
        """Largest distance of a figure."""
        return float(np.abs(self.residual).max(initial=0.0))


def _beside(slopes: Slopes, aside: FloatArray) -> FloatArray:
    return np.asarray(
        slopes.residual + aside @ slopes.effects + (aside**2 / 2) @ slopes.bends, dtype=np.float64
    )


def converge(
    place: Place,
    free: NDArray[np.bool_],
    within: float = 0.5,
    most: int = _PLACES,
    stop: Callable[[], bool] = lambda: False,
) -> Place:
    """Move the values of variables that are free until all figures are met, or no nearer.

    A step is good if the next one, by the same slopes, would be shorter: that counts figures
    by what it takes to move them, whatever digits they are printed to.
    """
    records = len(place.codes)
    chosen = np.repeat(free, records)
    slack = np.maximum(_FINEST, _TRUST * np.abs(place.residual))
    part, failures, seen = 1.0, 0, 0
    while place.worst >= _MET and failures <= _FAILURES and seen < most and not stop():
        slopes, aside = place.slopes, place.aside
        effects, scale = place.effects[chosen], slopes.scale[chosen]
        low = np.minimum((slopes.low - aside)[chosen], 0.0)
        high = np.maximum((slopes.high - aside)[chosen], 0.0)
        step = shortest(effects, place.residual, low, high, scale, within, slack)
        size = _size(step, scale)
        ahead = place.residual + step @ effects
        if _gap(ahead, within) > _HOPELESS * _gap(place.residual, within):
            break  # figures that follow from each other, none of which another step would mend
        part = min(1.0, 2 * part, _LONGEST / max(size, _TINY))
        good, found = False, place
        for _ in range(_HALVINGS):
            whole = np.zeros(len(chosen))
            whole[chosen] = part * step
            found = place.moved(whole)
            seen += 1
            ends = low - part * step, high - part * step
            again = shortest(effects, found.residual, *ends, scale, within, slack)
            good = _size(again, scale) < max((1 - part / 4) * size, 1e-6)
            if good:
                break
            part /= 2
        if not good:
            failures += 1
            slack, part = 3 * slack, 1.0
            continue
        wrong = np.abs(found.residual - place.residual - part * (step @ effects))
        most_slack = np.maximum(_FINEST, _TRUST * np.abs(found.residual))
        slack = np.clip(np.maximum(wrong, slack / 5), _FINEST, most_slack)
        place, failures = found, 0
    return place


def _gap(residual: FloatArray, within: float) -> float:
    beyond = np.maximum(np.abs(residual) - within, 0.0)
    return float(beyond @ beyond)


def _size(step: FloatArray, scale: FloatArray) -> float:
    return float(np.sqrt(((step / scale) ** 2).mean())) if len(step) else 0.0


def shortest(
    effects: FloatArray,
    residual: FloatArray,
    low: FloatArray,
    high: FloatArray,
    scale: FloatArray,
    within: float,
    slack: FloatArray,
) -> FloatArray:
    """Find the smallest change of values that takes figures into their digits, within ranges.

    A value that would leave its range is given the less freedom, until it just reaches its end.
    """
    full = scale**2
    freedom, move = full, np.zeros(len(full))
    aim = np.clip(residual, -within, within)
    for _ in range(_ACTIVE):
        matrix = effects.T @ (effects * freedom[:, None]) + np.diag(slack**2)
        force = effects @ np.linalg.solve(matrix, aim - residual)
        move = np.clip(freedom * force, low, high)
        aim = np.clip(residual + move @ effects, -within, within)
        room = np.where(force > 0, high, -low)
        freedom = np.minimum(full, room / np.maximum(np.abs(force), _TINY))
    return move


def released(problem: Problem, columns: IntArray, codes: Codes, rng: np.random.Generator) -> Codes:
    """Let records leave values that tables hold them at, such as the smallest, if others stay.

    They take the value of another record that is not held.
    """
    found = codes.copy()
    for column in columns.tolist():
        first, last = cell_ends(problem, column)
        valid = problem.schema.variables[column].valid
        levels = found[:, column].astype(np.int64)
        held = (levels < valid) & (first[levels] == last[levels])
        others = levels[(levels < valid) & ~held]
        if not len(others):
            continue
        counts = np.bincount(problem.cells(found).ravel(), minlength=len(problem.low))
        for record in rng.permutation(np.flatnonzero(held)).tolist():
            moved = found[record : record + 1].copy()
            moved[0, column] = rng.choice(others)
            old, new = problem.cells(found[record : record + 1])[0], problem.cells(moved)[0]
            old, new = old[old != new], new[old != new]
            if (counts[old] > problem.low[old]).all() and (counts[new] < problem.high[new]).all():
                counts[old] -= 1
                counts[new] += 1
                found[record] = moved[0]
    return found
