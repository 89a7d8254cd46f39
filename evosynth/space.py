"""Two ways to hold a candidate dataset: counts of record types, or coded records.

Types are all combinations of values; when they are few, a candidate is how often each occurs, and
nothing costs more for a million records than for a thousand. Otherwise a candidate is its records.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosynth.errors import SizeError
from evosynth.kernels.cells import count_cells, sum_rows
from evosynth.kernels.moves import draw_changes
from evosynth.problem import CellArray, JointExpansion, Problem
from evosynth.schema import Codes, FloatArray, IntArray

MAX_TYPES = 1_000_000
FEW_TYPES = 65_536
MAX_BYTES = 500_000_000
"""Memory that one candidate held as records may take while it is measured."""
_FIGURE_BYTES = 24
_POOL_FACTOR = 4
_POOL_LEAST = 20_000
_POOL_MOST = 400_000

Payload = NDArray[Any]
"""What a candidate consists of: counts by type (int32), or coded records."""


@dataclass(frozen=True)
class Compass:
    """The smooth figures in statistical units: an unremarkable sample is about 1 off in each.

    In these units the landscape is well conditioned; in print units it is not.
    """

    expansion: JointExpansion
    whiten: FloatArray

    @classmethod
    def at(cls, problem: Problem, codes: Codes, weights: FloatArray) -> Compass:
        """Orient at a distribution over ``codes`` whose weights sum to the number of records."""
        expansion = problem.expand(codes, weights)
        influence = expansion.influence(codes)
        spread = (influence * weights[:, None]).T @ influence
        values, vectors = np.linalg.eigh(spread)
        kept = values > 1e-10 * values.max(initial=0.0)
        return cls(expansion, vectors[:, kept] / np.sqrt(values[kept]))

    @property
    def offset(self) -> FloatArray:
        """Whitened residual of the empty dataset."""
        return np.asarray(self.expansion.offset @ self.whiten)

    def influence(self, codes: Codes) -> FloatArray:
        """Whitened effect of each record."""
        return np.asarray(self.expansion.influence(codes) @ self.whiten)


@dataclass(frozen=True)
class Moves:
    """Proposed micro-mutations; see `evosynth.kernels.moves` for the meaning of the arrays."""

    slot_from: IntArray
    slot_to: IntArray
    row_from: IntArray
    row_to: IntArray
    codes: Codes
    """Records that ``row_*`` refer to."""
    cells: CellArray

    def __len__(self) -> int:
        """Count the moves."""
        return len(self.slot_from)

    def effects(self, influence: FloatArray) -> FloatArray:
        """Effect of each move, given the influence of each of `codes`."""
        second = self.slot_from[:, 1] >= 0
        total = influence[self.row_to[:, 0]] - influence[self.row_from[:, 0]]
        total[second] += influence[self.row_to[second, 1]] - influence[self.row_from[second, 1]]
        return np.asarray(total)

    def subset(self, chosen: NDArray[Any]) -> Moves:
        """Only the chosen moves."""
        return Moves(
            self.slot_from[chosen],
            self.slot_to[chosen],
            self.row_from[chosen],
            self.row_to[chosen],
            self.codes,
            self.cells,
        )


class Space(ABC):
    """How candidates are held, drawn, changed and compared."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        sizes = problem.schema.sizes
        self.free = np.flatnonzero(sizes > 1) if (sizes > 1).any() else np.arange(1)
        quantities = [i for i, v in enumerate(problem.schema.variables) if not v.categorical]
        self.stepped = np.array([i for i in quantities if sizes[i] > 2], dtype=np.int64)

    @property
    @abstractmethod
    def bytes(self) -> int:
        """Memory that a candidate takes."""

    @abstractmethod
    def pool(self, margins: list[FloatArray], rng: np.random.Generator) -> tuple[Codes, FloatArray]:
        """Rows to draw candidates from, weighted so that variables are independent."""

    @abstractmethod
    def from_pool(self, codes: Codes, counts: IntArray) -> Payload:
        """Build a candidate that holds each row of the pool so many times."""

    @abstractmethod
    def rows(self, payload: Payload) -> tuple[Codes, IntArray]:
        """Distinct rows and how often each occurs."""

    @abstractmethod
    def stock(self, payload: Payload) -> NDArray[np.int32]:
        """Count the records that can still be moved, by slot."""

    @abstractmethod
    def propose(
        self, payload: Payload, size: int, rng: np.random.Generator, rare: bool = False
    ) -> Moves:
        """Draw about ``size`` moves at random; ``rare``: more of records with rare values."""

    @abstractmethod
    def apply(self, payload: Payload, moves: Moves, times: IntArray) -> Payload:
        """Return the candidate after making each move so many times (negative: backwards)."""

    @abstractmethod
    def cross(self, a: Payload, b: Payload, rng: np.random.Generator) -> Payload:
        """Return ``a`` with a block of records from ``b``."""

    @abstractmethod
    def common(self, a: Payload, b: Payload) -> float:
        """Share of records that two candidates have in common."""

    def alike(self, payloads: list[Payload]) -> float:
        """Share of records that the first has in common with the others, on average."""
        shares = [self.common(payloads[0], other) for other in payloads[1:]]
        return float(np.mean(shares)) if shares else 1.0

    def totals(
        self, payload: Payload, compass: Compass, pool: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Cell counts and whitened residual of a candidate, from scratch.

        ``pool`` is the whitened influence of the rows of the pool.
        """
        codes, counts = self.rows(payload)
        cells = count_cells(self.problem.cells(codes), counts, len(self.problem.low))
        return cells, compass.offset + sum_rows(compass.influence(codes), counts)

    def guide(self, moves: Moves, compass: Compass, pool: FloatArray) -> FloatArray:
        """Whitened influence of the rows that moves refer to."""
        return compass.influence(moves.codes)

    def _rows(
        self, codes: Codes, size: int, rng: np.random.Generator, rare: bool
    ) -> tuple[IntArray, IntArray]:
        """Draw pairs of rows: all alike, or so that every value of a variable is as likely."""
        if not rare:
            first, second = rng.integers(0, len(codes), (2, size))
            return first, second
        weight = np.zeros(len(codes))
        for column in self.free:
            levels = codes[:, column]
            found = np.bincount(levels)
            weight += (1.0 / (np.count_nonzero(found) * np.maximum(found, 1)))[levels]
        running = np.cumsum(weight)
        first, second = np.searchsorted(running, rng.random((2, size)) * running[-1])
        return np.minimum(first, len(codes) - 1), np.minimum(second, len(codes) - 1)

    def _draw(
        self, codes: Codes, first: IntArray, second: IntArray, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray, IntArray, NDArray[np.bool_], NDArray[np.bool_]]:
        """Draw the variable, the old and the new level of each move; say which are swaps."""
        uniform = rng.random((len(first), 3))
        sizes = self.problem.schema.sizes
        return draw_changes(codes, first, second, self.free, self.stepped, sizes, uniform)


class Types(Space):
    """Candidates are counts of every possible record type."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        schema = problem.schema
        self.strides = np.append(np.cumprod(schema.sizes[:0:-1])[::-1], 1)
        position = np.arange(int(np.prod(schema.sizes)))
        levels = [
            (position // stride % size).astype(schema.dtype)
            for stride, size in zip(self.strides, schema.sizes, strict=True)
        ]
        self.codes: Codes = np.stack(levels, axis=1)
        self.cells = problem.cells(self.codes)

    @property
    def bytes(self) -> int:
        """One count per type."""
        return 4 * len(self.codes)

    def pool(self, margins: list[FloatArray], rng: np.random.Generator) -> tuple[Codes, FloatArray]:
        """All types, by their probability."""
        weights = np.ones(len(self.codes))
        for column, share in enumerate(margins):
            weights *= share[self.codes[:, column]]
        return self.codes, weights

    def totals(
        self, payload: Payload, compass: Compass, pool: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Look everything up: the pool is the list of all types."""
        cells = count_cells(self.cells, payload, len(self.problem.low))
        return cells, compass.offset + sum_rows(pool, payload)

    def guide(self, moves: Moves, compass: Compass, pool: FloatArray) -> FloatArray:
        """Look it up."""
        return pool

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
        self, payload: Payload, size: int, rng: np.random.Generator, rare: bool = False
    ) -> Moves:
        """Pick types that occur, however often they do."""
        held = np.flatnonzero(payload)
        first, second = (held[rows] for rows in self._rows(self.codes[held], size, rng, rare))
        variable, old, new, swap, kept = self._draw(self.codes, first, second, rng)
        shift = (new - old) * self.strides[variable]
        source = np.column_stack([first, np.where(swap, second, -1)])[kept]
        target = np.column_stack([first + shift, np.where(swap, second - shift, -1)])[kept]
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
        size = len(a)
        start = int(rng.integers(size))
        block = (start + np.arange(int(rng.integers(1, size // 2 + 2)))) % size
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


class Records(Space):
    """Candidates are coded records, one row each."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        schema = problem.schema
        if schema.records * (len(schema.variables) + _FIGURE_BYTES * problem.size) > MAX_BYTES:
            raise SizeError(
                f"{schema.records:,} records of {len(schema.variables)} variables are too many to "
                "search one by one; declare fewer records, or variables with fewer values (up to "
                f"{MAX_TYPES:,} combinations, not more than records)"
            )

    @property
    def bytes(self) -> int:
        """One level per value."""
        schema = self.problem.schema
        return schema.records * len(schema.variables) * schema.dtype.itemsize

    def pool(self, margins: list[FloatArray], rng: np.random.Generator) -> tuple[Codes, FloatArray]:
        """Draw rows, several times as many as records."""
        schema = self.problem.schema
        size = min(max(_POOL_LEAST, _POOL_FACTOR * schema.records), _POOL_MOST)
        columns = [rng.choice(len(share), size, p=share).astype(schema.dtype) for share in margins]
        return np.stack(columns, axis=1), np.ones(size)

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
        self, payload: Payload, size: int, rng: np.random.Generator, rare: bool = False
    ) -> Moves:
        """Pick records."""
        first, second = self._rows(payload, size, rng, rare)
        variable, old, new, swap, kept = self._draw(payload, first, second, rng)
        first, second, variable = first[kept], second[kept], variable[kept]
        old, new, swap = old[kept], new[kept], swap[kept]
        n_moves = len(first)
        position = np.arange(n_moves)
        partner = np.flatnonzero(swap)
        taken = [payload[first], payload[second[partner]]]
        put = [taken[0].copy(), taken[1].copy()]
        put[0][position, variable] = new
        put[1][np.arange(len(partner)), variable[partner]] = old[partner]
        codes = np.concatenate([*taken, *put])
        row_from = np.stack([position, np.full(n_moves, -1)], axis=1)
        row_from[partner, 1] = n_moves + np.arange(len(partner))
        row_to = np.where(row_from >= 0, row_from + n_moves + len(partner), -1)
        slot_from = np.stack([first, np.where(swap, second, -1)], axis=1)
        slot_to = np.full((n_moves, 2), -1)
        return Moves(slot_from, slot_to, row_from, row_to, codes, self.problem.cells(codes))

    def apply(self, payload: Payload, moves: Moves, times: IntArray) -> Payload:
        """Overwrite the records that moved."""
        changed = payload.copy()
        for k in range(2):
            there = (times > 0) & (moves.slot_from[:, k] >= 0)
            changed[moves.slot_from[there, k]] = moves.codes[moves.row_to[there, k]]
        return changed

    def cross(self, a: Payload, b: Payload, rng: np.random.Generator) -> Payload:
        """Take a block of records from ``b``."""
        size = len(a)
        start = int(rng.integers(size))
        block = (start + np.arange(int(rng.integers(1, size // 2 + 2)))) % size
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


def choose_space(problem: Problem) -> Space:
    """Types when there are few, or no more than records; records otherwise."""
    n_types = float(np.prod(problem.schema.sizes, dtype=np.float64))
    if n_types <= FEW_TYPES or n_types <= min(MAX_TYPES, problem.schema.records):
        return Types(problem)
    return Records(problem)
