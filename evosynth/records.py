"""Candidates as coded records."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evosynth.errors import SizeError, many
from evosynth.problem import Problem
from evosynth.record_types import MAX_TYPES
from evosynth.schema import Codes, FloatArray, IntArray
from evosynth.space import Moves, Payload, Space

MAX_BYTES = 500_000_000
"""Memory that one candidate held as records may take while it is measured."""
_FIGURE_BYTES = 24
_POOL_FACTOR, _POOL_AGAIN, _POOL_MANY = 4, 2, 5_000
"""Rows for each of so many records, and for each of more."""
_POOL_LEAST = 6_000
_POOL_MOST = 400_000
_POOL_NUMBERS = 20_000_000


class Records(Space):
    """Candidates are coded records, one row each."""

    drawn = True

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        schema = problem.schema
        if schema.records * (len(schema.variables) + _FIGURE_BYTES * problem.size) > MAX_BYTES:
            raise SizeError(
                f"{many(schema.records, 'record')} of "
                f"{many(len(schema.variables), 'variable')} are too many to "
                "search one by one; declare fewer records, or variables with fewer values (up to "
                f"{MAX_TYPES:,} combinations, not more than records)"
            )

    @property
    def bytes(self) -> int:
        """One level per value."""
        schema = self.problem.schema
        return schema.records * len(schema.variables) * schema.dtype.itemsize

    def pool(
        self, margins: list[FloatArray], sample: Callable[[int], Codes]
    ) -> tuple[Codes, FloatArray]:
        """Draw rows, several times as many as records."""
        schema = self.problem.schema
        most = min(_POOL_MOST, max(_POOL_LEAST, _POOL_NUMBERS // (self.problem.size + 1)))
        size = min(max(_POOL_LEAST, _POOL_FACTOR * min(schema.records, _POOL_MANY)), most)
        size = max(size, min(most, _POOL_AGAIN * schema.records))
        return sample(size), np.ones(size)

    def from_pool(self, codes: Codes, counts: IntArray) -> Payload:
        """Repeat the rows of the pool."""
        return np.repeat(codes, counts, axis=0)

    def rows(self, payload: Payload) -> tuple[Codes, IntArray]:
        """Every record once."""
        return payload, np.ones(len(payload), dtype=np.int64)

    def stock(self, payload: Payload) -> NDArray[np.int32]:
        """One of each record."""
        return np.ones(len(payload), dtype=np.int32)

    def propose(
        self,
        payload: Payload,
        size: int,
        rng: np.random.Generator,
        rare: bool = False,
        column: int | None = None,
        among: IntArray | None = None,
    ) -> Moves:
        """Pick records."""
        first, second = self._rows(payload, size, rng, rare, among)
        variable, old, new, swap, kept = self._draw(payload, first, second, rng, column)
        first, second, variable = first[kept], second[kept], variable[kept]
        old, new, swap = old[kept], new[kept], swap[kept]
        n_moves = len(first)
        position = np.arange(n_moves)
        partner = np.flatnonzero(swap)
        taken = [payload[first], payload[second[partner]]]
        put = [taken[0].copy(), taken[1].copy()]
        put[0][position, variable] = new
        put[1][np.arange(len(partner)), variable[partner]] = old[partner]
        allowed = self._completed(put, payload, first, second, variable, partner, rng)
        codes = np.concatenate([*taken, *put])
        row_from = np.stack([position, np.full(n_moves, -1)], axis=1)
        row_from[partner, 1] = n_moves + np.arange(len(partner))
        row_to = np.where(row_from >= 0, row_from + n_moves + len(partner), -1)
        slot_from = np.stack([first, np.where(swap, second, -1)], axis=1)
        slot_to = np.full((n_moves, 2), -1)
        moves = Moves(slot_from, slot_to, row_from, row_to, codes, self.problem.cells(codes))
        return moves if allowed is None else moves.subset(allowed)

    def _completed(
        self,
        put: list[Codes],
        payload: Payload,
        first: IntArray,
        second: IntArray,
        variable: IntArray,
        partner: IntArray,
        rng: np.random.Generator,
    ) -> NDArray[np.bool_] | None:
        """Complete the records that moves make, in place; tell which moves may be.

        Where rules forbid a change, what they tie to the variable changes with it.
        """
        one, two = (self.problem.schema.complete(rows) for rows in put)
        if one is None or two is None:
            return None
        one[partner] &= two
        refused = np.flatnonzero(~one)
        masks = self._together(variable[refused], rng)
        a, b = payload[first[refused]], payload[second[refused]]
        put[0][refused] = np.where(masks, b, a)
        of_pair = np.full(len(one), -1)
        of_pair[partner] = np.arange(len(partner))
        pair = of_pair[refused]
        paired = pair >= 0
        put[1][pair[paired]] = np.where(masks, a, b)[paired]
        again = self._allowed(put[0], refused) & ((a != b) & masks).any(axis=1)
        again[paired] &= self._allowed(put[1], pair[paired])
        one[refused] = again
        return one

    def _allowed(self, codes: Codes, rows: IntArray) -> NDArray[np.bool_]:
        """Complete some rows in place; tell which may be."""
        some = codes[rows]
        allowed = self.problem.schema.complete(some)
        codes[rows] = some
        return np.ones(len(rows), dtype=np.bool_) if allowed is None else allowed

    def apply(self, payload: Payload, moves: Moves, times: IntArray) -> Payload:
        """Overwrite the records that moved."""
        changed = payload.copy()
        for k in range(2):
            there = (times > 0) & (moves.slot_from[:, k] >= 0)
            changed[moves.slot_from[there, k]] = moves.codes[moves.row_to[there, k]]
        return changed

    def cross(self, a: Payload, b: Payload, rng: np.random.Generator) -> Payload:
        """Take a block of records from ``b``."""
        block = self._block(len(a), rng)
        child = a.copy()
        child[block] = b[block]
        return child

    @cached_property
    def _multipliers(self) -> NDArray[np.uint64]:
        odd = np.random.default_rng(0).integers(0, 2**63, len(self.problem.schema.sizes))
        return odd.astype(np.uint64) * np.uint64(2) + np.uint64(1)

    def common(self, a: Payload, b: Payload) -> float:
        """Match equal records, whatever their order."""
        keys_a, count_a = np.unique(a.astype(np.uint64) @ self._multipliers, return_counts=True)
        keys_b, count_b = np.unique(b.astype(np.uint64) @ self._multipliers, return_counts=True)
        _, at_a, at_b = np.intersect1d(keys_a, keys_b, assume_unique=True, return_indices=True)
        return float(np.minimum(count_a[at_a], count_b[at_b]).sum() / max(1, len(a)))
