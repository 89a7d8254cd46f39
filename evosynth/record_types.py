"""Candidates as counts of every possible record type."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evosynth.kernels.cells import count_cells, sum_rows
from evosynth.problem import Problem
from evosynth.routes import mass
from evosynth.schema import Codes, FloatArray, IntArray
from evosynth.space import Compass, Moves, Payload, Space

MAX_TYPES = 1_000_000
FEW_TYPES = 65_536


def few_types(problem: Problem) -> bool:
    """Whether types are few, or no more than records."""
    if problem.schema.fixed is not None:
        return False
    n_types = float(np.prod(_own_sizes(problem), dtype=np.float64))
    return n_types <= FEW_TYPES or n_types <= min(MAX_TYPES, problem.schema.records)


def _own_sizes(problem: Problem) -> IntArray:
    """Levels of each variable; 1 for those that follow from others."""
    sizes = problem.schema.sizes.copy()
    sizes[list(problem.schema.derived)] = 1
    return sizes


class Types(Space):
    """Candidates are counts of every possible record type."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        schema = problem.schema
        sizes = _own_sizes(problem)
        self.strides = np.append(np.cumprod(sizes[:0:-1])[::-1], 1)
        number = np.arange(int(np.prod(sizes)))
        levels = [
            (number // stride % size).astype(schema.dtype)
            for stride, size in zip(self.strides, sizes, strict=True)
        ]
        self.codes: Codes = np.stack(levels, axis=1)
        allowed = schema.complete(self.codes)
        self.number: IntArray | None = None
        """Number of each type among all combinations, if some of these may not be."""
        if allowed is not None and not allowed.all():
            self.number = np.flatnonzero(allowed)
            self.position = np.where(allowed, np.cumsum(allowed) - 1, -1)
            self.codes = self.codes[allowed]
        self.cells = problem.cells(self.codes)

    @property
    def bytes(self) -> int:
        """One count per type."""
        return 4 * len(self.codes)

    def pool(
        self, margins: list[FloatArray], sample: Callable[[int], Codes]
    ) -> tuple[Codes, FloatArray]:
        """All types, by their probability."""
        weights, told = np.ones(len(self.codes)), self.problem.told
        for column, share in enumerate(margins):
            if column in self.problem.schema.derived:
                continue
            weights *= share[self.codes[:, column]]
        return self.codes, weights / mass(self.problem.schema, self.codes, margins, told)

    def totals(
        self, payload: Payload, compass: Compass, pool: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Look everything up: the pool is the list of all types."""
        cells = count_cells(self.cells, payload, len(self.problem.low))
        return cells, compass.offset + sum_rows(pool, payload)

    def guide(self, moves: Moves, compass: Compass, pool: FloatArray) -> FloatArray:
        """Look it up, or work it out where figures were expanded anew."""
        if not self.problem.curved:
            return pool
        used = np.unique([moves.row_from, moves.row_to])
        used = used[used >= 0]
        found = np.zeros((len(self.codes), compass.whiten.shape[1]))
        found[used] = compass.influence(self.codes[used])
        return found

    def from_pool(self, codes: Codes, counts: IntArray) -> Payload:
        """Count the types."""
        return counts.astype(np.int32)

    def rows(self, payload: Payload) -> tuple[Codes, IntArray]:
        """Types that occur."""
        held = np.flatnonzero(payload)
        return self.codes[held], payload[held].astype(np.int64)

    def stock(self, payload: Payload) -> NDArray[np.int32]:
        """Return the counts themselves."""
        return payload

    def propose(
        self,
        payload: Payload,
        size: int,
        rng: np.random.Generator,
        rare: bool = False,
        column: int | None = None,
        among: IntArray | None = None,
    ) -> Moves:
        """Pick types that occur, however often they do."""
        held = np.flatnonzero(payload)
        first, second = (
            held[rows] for rows in self._rows(self.codes[held], size, rng, rare, among)
        )
        variable, old, new, swap, kept = self._draw(self.codes, first, second, rng, column)
        shift = (new - old) * self.strides[variable]
        if self.number is None:
            one, two = first + shift, second - shift
        else:
            one = self.position[self.number[first] + shift]
            # Where the second type does not change, its number may leave the range.
            two = self.position[np.where(swap, self.number[second] - shift, 0)]
            refused = np.flatnonzero((one < 0) | ((two < 0) & swap))
            if len(refused):
                # What rules tie to the variable changes with it.
                a, b = first[refused], second[refused]
                apart = self.codes[b].astype(np.int64) - self.codes[a]
                shift = np.where(self._together(variable[refused], rng), apart, 0) @ self.strides
                one[refused] = self.position[self.number[a] + shift]
                two[refused] = self.position[self.number[b] - shift]
                kept[refused] = shift != 0
            kept &= (one >= 0) & ((two >= 0) | ~swap)
        source = np.column_stack([first, np.where(swap, second, -1)])[kept]
        target = np.column_stack([one, np.where(swap, two, -1)])[kept]
        return Moves(source, target, source, target, self.codes, self.cells)

    def apply(self, payload: Payload, moves: Moves, times: IntArray) -> Payload:
        """Shift counts between types."""
        changed = payload.copy()
        for k in range(2):
            there = moves.slot_from[:, k] >= 0
            np.add.at(changed, moves.slot_from[there, k], -times[there].astype(np.int32))
            np.add.at(changed, moves.slot_to[there, k], times[there].astype(np.int32))
        return changed

    def cross(self, a: Payload, b: Payload, rng: np.random.Generator) -> Payload:
        """Take a block of types from ``b``; inside it, give back what would change the total."""
        block = self._block(len(a), rng)
        child = a.copy()
        child[block] = b[block]
        surplus = int(child[block].sum() - a[block].sum())
        gap = (child[block] - a[block]) * (1 if surplus > 0 else -1)
        units = np.repeat(block, np.maximum(gap, 0))
        back = rng.choice(units, abs(surplus), replace=False)
        np.add.at(child, back, -1 if surplus > 0 else 1)
        return child

    def common(self, a: Payload, b: Payload) -> float:
        """Share of the smaller counts."""
        return float(np.minimum(a, b).sum() / max(1, a.sum()))
