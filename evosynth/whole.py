"""Datasets of whole records near real weights that meet every figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosynth.fitted import Model
from evosynth.parts import FEW_RECORDS, parted, parts, sampled
from evosynth.problem import Problem
from evosynth.ranks import GroupQuantile
from evosynth.relaxed import Relaxed, sharpen
from evosynth.space import Payload
from evosynth.start import Source, rounded

_STEPS = 60
_SHAPE = 8.0
"""Of the noise on weights: the smaller, the more."""
_NEAR = 30.0
"""Distance, in half-widths, that real weights may leave for steps of values to make up for."""
_SEVERAL = 2
"""Outputs of smooth figures from which it is tried: rounding weights lands a single one sooner."""
_SEVERAL_MODELS = 2
"""Models from which it is tried where records are few: too few values can step then for what single
ones do, but none but whole numbers of records of each part meet several models."""
_MANY = 2000
"""Rows that are free."""
_MOST_SLOPES = 6_000_000
"""Values times figures up to which slopes are tabulated."""
_RANKED = 1 / 3
"""Share of figures that are quantiles of small groups from which single records decide too much."""


@dataclass(frozen=True)
class Whole:
    """Real weights whose figures are near their digits, from which whole records are drawn."""

    source: Source
    relaxed: Relaxed
    groups: NDArray[Any]
    """Rows in the same cells of all tables, and with the same categories, share a number."""

    @classmethod
    def of(cls, source: Source, rng: np.random.Generator, stop: Callable[[], bool]) -> Whole | None:
        """Sharpen a start distribution; ``None`` where that, or to step values, leads nowhere."""
        space, problem = source.space, source.space.problem
        size = problem.schema.records * len(space.stepped) * problem.size
        ranked = sum(block.size for block in problem.smooth if isinstance(block, GroupQuantile))
        if (
            not (problem.curved and source.calibrated and space.drawn)
            or (problem.schema.records < FEW_RECORDS and not _several_models(problem))
            or len(problem.smooth) < _SEVERAL
            or not 0 < size <= _MOST_SLOPES
            or ranked > _RANKED * problem.size
        ):
            return None
        part = parts(problem, source.codes)
        free = np.flatnonzero(source.weights > 0)
        shape = problem, source.codes, source.cells, source.weights
        relaxed = Relaxed(*shape, free, part, np.empty(0))
        if problem.schema.records < FEW_RECORDS:
            relaxed = sampled(relaxed, _MANY, rng)
        sharp = _sharpened(relaxed, stop)
        if sharp is None:
            return None
        joint = source.groups + (int(source.groups.max()) + 1) * part
        return cls(source, sharp, np.unique(joint, return_inverse=True)[1])

    def draw(self, rng: np.random.Generator, stop: Callable[[], bool]) -> Payload | None:
        """Fix how many records there are of each part, and round the weights within."""
        weights = self.relaxed.weights * rng.gamma(_SHAPE, 1 / _SHAPE, len(self.relaxed.weights))
        weights *= self.relaxed.problem.schema.records / weights.sum()
        relaxed = _sharpened(replace(self.relaxed, weights=weights), stop) or self.relaxed
        try:
            relaxed = parted(relaxed, rng, stop)
        except np.linalg.LinAlgError:
            return None
        shuffled = rng.permutation(len(weights))
        order = shuffled[np.argsort(self.groups[shuffled], kind="stable")]
        records = relaxed.problem.schema.records
        counts = rounded(np.maximum(relaxed.weights, 0.0), order, records, rng)
        return self.source.space.from_pool(self.source.codes, counts)


def _several_models(problem: Problem) -> bool:
    """Whether there are several models other than of least squares."""
    models = [b for b in problem.smooth if isinstance(b, Model) and not b.traits.linear]
    return len(models) >= _SEVERAL_MODELS


def _sharpened(relaxed: Relaxed, stop: Callable[[], bool]) -> Relaxed | None:
    try:
        found, _, off = sharpen(relaxed, _STEPS, stop)
    except np.linalg.LinAlgError:
        return None
    return found if np.abs(off).max(initial=0.0) < _NEAR else None
