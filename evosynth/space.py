"""Two ways to hold a candidate dataset: counts of record types, or coded records.

Types (`evosynth.record_types`) are all combinations of values; when they are few, a candidate is
how often each occurs, and nothing costs more for a million records than for a thousand. Otherwise
a candidate is its records (`evosynth.records`). The search sees only what both have in common.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosynth.kernels.cells import count_cells, sum_rows
from evosynth.kernels.design import sum_products
from evosynth.kernels.moves import draw_changes
from evosynth.problem import CellArray, JointExpansion, Problem
from evosynth.schema import Codes, FloatArray, IntArray

ROOM = 0.7
"""Part of a printed digit, from its middle, that the search aims into."""
_FAR = 1e6
FINEST = 0.3
"""Spread of figures, in half-widths, below which distances are not told apart further."""

TRUST = 0.2
"""Part of a figure's distance that its expansion may be wrong by."""

Payload = NDArray[Any]
"""What a candidate consists of: counts by type (int32), or coded records."""


@dataclass(frozen=True)
class Compass:
    """The smooth figures in statistical units: an unremarkable sample is about 1 off in each.

    In these units the landscape is well conditioned; in print units it is not.
    """

    expansion: JointExpansion
    whiten: FloatArray
    aim: FloatArray
    """Where to land each figure, in half-widths from the middle of its printed digit."""

    @classmethod
    def at(cls, problem: Problem, codes: Codes, weights: FloatArray) -> Compass:
        """Orient at a distribution over ``codes`` whose weights sum to the number of records.

        Figures that rest on each other may not all lie in the middle of their digits, so the aim
        is wherever in them the distribution lies.
        """
        expansion = problem.expand(codes, weights)
        influence = expansion.influence(codes)
        aim = np.clip(expansion.offset + weights @ influence, -ROOM, ROOM)
        spread = _spread(influence, weights)
        # Figures that follow from each other, R² and F, leave directions in which nothing moves
        # but rounding is seen: unchecked, they would drown all others.
        values, vectors = np.linalg.eigh(spread)
        whiten = vectors / np.sqrt(np.maximum(values, 0.0) + FINEST**2)
        whiten[problem.decided] = 0.0
        return cls(expansion, whiten, aim)

    @classmethod
    def here(cls, problem: Problem, codes: Codes, counts: FloatArray) -> tuple[Compass, FloatArray]:
        """Orient at a dataset on its way, with an aim as near to it as may be; and its residual.

        The farther a figure is off, the less its expansion can be trusted: what no sample varies
        much by, given other figures, matters only once these are near.
        """
        expansion = problem.expand(codes, counts)
        influence = expansion.influence(codes)
        residual = expansion.offset + sum_rows(influence, counts)
        aim = np.clip(residual, -ROOM, ROOM)
        doubt = np.maximum(FINEST, TRUST * np.abs(residual))
        values, vectors = np.linalg.eigh(_spread(influence, counts) + np.diag(doubt**2))
        whiten = vectors / np.sqrt(np.maximum(values, FINEST**2))
        whiten[problem.decided] = 0.0
        compass = cls(expansion, whiten, aim)
        return compass, np.asarray((residual - aim) @ compass.whiten)

    def distance(self, residual: FloatArray) -> FloatArray:
        """Whitened distance of figures from the part of their digits that is aimed into."""
        known = np.where(np.isfinite(residual), residual, _FAR)
        return np.asarray((known - np.clip(known, -ROOM, ROOM)) @ self.whiten)

    @property
    def offset(self) -> FloatArray:
        """Whitened residual of the empty dataset."""
        return np.asarray((self.expansion.offset - self.aim) @ self.whiten)

    def influence(self, codes: Codes) -> FloatArray:
        """Whitened effect of each record."""
        return np.asarray(self.expansion.influence(codes) @ self.whiten)


def _spread(influence: FloatArray, weights: FloatArray) -> FloatArray:
    """Variance of the figures of as many records drawn at random.

    About the mean: a log-likelihood is far from 0 in every record, but their number is fixed.
    """
    mean = weights @ influence / weights.sum()
    return np.asarray(sum_products(influence - mean, weights))


def _jointly_derived(problem: Problem) -> set[int]:
    """Columns that together with others decide a cell of some table."""
    bonds = problem.schema.bonds
    found: set[int] = set()
    for column in {c for grid in problem.grids for c in grid.columns} if bonds else ():
        assert bonds is not None
        sources = bonds.sources(column)
        found |= sources if len(sources) > 1 else set()
    return found


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

    drawn = False
    """Whether the rows of the pool were drawn from the published models, not enumerated."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        sizes = problem.schema.sizes
        derived = problem.schema.derived
        held = derived | {problem.schema.fixed}
        own = np.array([i for i in range(len(sizes)) if i not in held], dtype=np.int64)
        self.free = own[sizes[own] > 1] if (sizes[own] > 1).any() else own[:1]
        quantities = [i for i in own if not problem.schema.variables[i].categorical]
        self.stepped = np.array([i for i in quantities if sizes[i] > 2], dtype=np.int64)
        joint = _jointly_derived(problem)
        self.steered = np.array([i for i in self.stepped if i not in joint], dtype=np.int64)
        """Quantities whose steps leave a record in its cells of tables as long as `fences` say."""
        self.valid = np.array([v.valid for v in problem.schema.variables], dtype=np.int64)

    def deciding(self, columns: tuple[int, ...]) -> list[int]:
        """Return the columns that may be changed to change some columns; any if there are none."""
        bonds = self.problem.schema.bonds
        found = set(columns)
        if bonds is not None:
            found = set().union(*(bonds.sources(column) for column in columns))
        return sorted(found & set(self.free.tolist())) or self.free.tolist()

    @cached_property
    def _ties(self) -> list[NDArray[np.bool_]]:
        """For each column, sets of columns with which it may have to change: one set a row."""
        bonds, n_columns = self.problem.schema.bonds, len(self.problem.schema.sizes)
        found = []
        for column in range(n_columns):
            sets = []
            if bonds is not None and column in self.free:
                sets = [part for part in bonds.parts() if column in part]
                sets.append(bonds.tied(frozenset({column})))
            columns = [sorted(part & set(self.free.tolist())) for part in sets]
            columns = [part for part in columns if len(part) > 1]
            masks = np.zeros((len(columns), n_columns), dtype=np.bool_)
            for mask, part in zip(masks, columns, strict=True):
                mask[part] = True
            found.append(masks)
        return found

    def _together(self, variable: IntArray, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Columns that moves change whose variable no rule lets change by itself: a row each.

        What a rule ties to it comes along from the same other record, which keeps the rule.
        """
        masks = np.zeros((len(variable), len(self.problem.schema.sizes)), dtype=np.bool_)
        for column in np.unique(variable).tolist():
            sets, here = self._ties[column], np.flatnonzero(variable == column)
            if len(sets):
                masks[here] = sets[rng.integers(0, len(sets), len(here))]
        return masks

    @property
    @abstractmethod
    def bytes(self) -> int:
        """Memory that a candidate takes."""

    @abstractmethod
    def pool(
        self, margins: list[FloatArray], sample: Callable[[int], Codes]
    ) -> tuple[Codes, FloatArray]:
        """Rows to draw candidates from, and their weights: all, or a sample of so many."""

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
        self,
        payload: Payload,
        size: int,
        rng: np.random.Generator,
        rare: bool = False,
        column: int | None = None,
        among: IntArray | None = None,
    ) -> Moves:
        """Draw about ``size`` moves at random.

        ``rare``: more of records with rare values; ``column``: of that variable alone;
        ``among``: of these of its `rows`, each by itself or with any other.
        """

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

    @staticmethod
    def _block(size: int, rng: np.random.Generator) -> IntArray:
        """Draw a run of up to half of all positions, which may go round the end."""
        start = int(rng.integers(size))
        return (start + np.arange(int(rng.integers(1, size // 2 + 2)))) % size

    def _rows(
        self,
        codes: Codes,
        size: int,
        rng: np.random.Generator,
        rare: bool,
        among: IntArray | None,
    ) -> tuple[IntArray, IntArray]:
        """Draw pairs of rows: all alike, or so that every value of a variable is as likely."""
        if not rare:
            first, second = rng.integers(0, len(codes), (2, size))
            return first if among is None else rng.choice(among, size), second
        weight = np.zeros(len(codes))
        for column in self.free:
            levels = codes[:, column]
            found = np.bincount(levels)
            weight += (1.0 / (np.count_nonzero(found) * np.maximum(found, 1)))[levels]
        running = np.cumsum(weight)
        first, second = np.searchsorted(running, rng.random((2, size)) * running[-1])
        return np.minimum(first, len(codes) - 1), np.minimum(second, len(codes) - 1)

    def _draw(
        self,
        codes: Codes,
        first: IntArray,
        second: IntArray,
        rng: np.random.Generator,
        column: int | None,
    ) -> tuple[IntArray, IntArray, IntArray, NDArray[np.bool_], NDArray[np.bool_]]:
        """Draw the variable, the old and the new level of each move; say which are swaps."""
        uniform = rng.random((len(first), 3))
        sizes = self.problem.schema.sizes
        free, stepped = self.free, self.stepped
        if column is not None:
            free, stepped = np.array([column]), stepped[stepped == column]
        return draw_changes(codes, first, second, free, stepped, sizes, self.valid, uniform)
