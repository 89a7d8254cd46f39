"""Sizes of groups that agree with published tables: which of many possible ones go together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from evosynth.grid import Grid
from evosynth.margins import parents
from evosynth.problem import FlatShare, Problem
from evosynth.schema import FloatArray, IntArray

_ENUMERATED = 24
"""Sizes of a group that are tried together with those of two others."""
_MATCHES = 2
"""Times that the groups are halved and matched."""
_MATCHED = 20_000
"""Combinations drawn for each half."""
_TOLD = 6
"""Cells of coarser tables by which combinations are told apart."""


@dataclass(frozen=True)
class Effects:
    """What each possible size adds to the bounds of cells of coarser tables."""

    low: FloatArray
    high: FloatArray
    """Admissible counts of those cells."""
    base: FloatArray
    """Sums of the bounds of cells that no size bounds, shape (2, cells)."""
    adds: list[FloatArray]
    """For each size, shape (options, 2, cells)."""
    parts: list[tuple[int, int, IntArray]]
    """Tables, where the coarser cells begin, and the coarser cell of each of their cells."""

    @classmethod
    def of(
        cls,
        problem: Problem,
        table: int,
        cells: list[int],
        options: list[list[int]],
        bounds: list[tuple[IntArray, IntArray]],
        shares: dict[int, list[FlatShare]],
    ) -> Effects | None:
        """Collect them; ``None`` if no coarser table says anything."""
        first = int(problem.first_cell[table])
        tables = {table}
        for cell in cells:
            for share in shares[first + cell]:
                tables |= {problem.table(int(flat)) for flat in share.cells}
        parts: list[tuple[int, int, IntArray]] = []
        low, high, base = [], [], []
        start = 0
        for fine in sorted(tables):
            for coarse, grid in [*enumerate(problem.grids), (-1, Grid((), ()))]:
                part = None if coarse in {fine, table} else parents(problem.grids[fine], grid)
                if part is None or grid.size >= problem.grids[fine].size:
                    continue
                parts.append((fine, start, part))
                whole = np.array([problem.schema.records])
                ends = bounds[coarse] if coarse >= 0 else (whole, whole)
                low.append(ends[0])
                high.append(ends[1])
                base.append([np.bincount(part, b, grid.size) for b in bounds[fine]])
                start += grid.size
        if not parts:
            return None
        effects = cls(
            np.concatenate(low).astype(np.float64),
            np.concatenate(high).astype(np.float64),
            np.hstack(base),
            [np.zeros((len(found), 2, start)) for found in options],
            parts,
        )
        for i, cell in enumerate(cells):
            for at, size in enumerate(options[i]):
                found = [(table, cell, size, size)]
                for share in shares[first + cell]:
                    lows, highs = share.bounds(size)
                    for flat, least, most in zip(share.cells.tolist(), lows, highs, strict=True):
                        home = problem.table(flat)
                        found.append((home, flat - int(problem.first_cell[home]), least, most))
                for fine, begin, part in parts:
                    for home, own, least, most in found:
                        if home == fine:
                            before = bounds[fine][0][own], bounds[fine][1][own]
                            to = begin + int(part[own])
                            effects.adds[i][at, 0, to] += max(least, before[0]) - before[0]
                            effects.adds[i][at, 1, to] += min(most, before[1]) - before[1]
        return effects

    def _wrong(self, sums: FloatArray) -> FloatArray:
        over = np.maximum(sums[..., 0, :] - self.high, 0) + np.maximum(
            self.low - sums[..., 1, :], 0
        )
        return np.asarray(over.sum(axis=-1))

    def contradiction(self, bounds: list[tuple[IntArray, IntArray]]) -> float:
        """Count the records by which the bounds of the tables contradict the coarser ones."""
        sums = np.zeros((2, len(self.low)))
        for fine, begin, part in self.parts:
            for end in range(2):
                found = np.bincount(part, bounds[fine][end])
                sums[end, begin : begin + len(found)] = found
        return float(self._wrong(sums))

    def wrong(self, chosen: list[int]) -> float:
        """Count the records by which the chosen sizes contradict the tables."""
        total = self.base + sum(adds[at] for adds, at in zip(self.adds, chosen, strict=True))
        return float(self._wrong(total))

    def match(
        self, chosen: list[int], least: float, movable: list[int], rng: np.random.Generator
    ) -> tuple[list[int], float]:
        """Match combinations of one half of the sizes with those of the other."""
        goal = (self.low + self.high) / 2
        fixed = [i for i in range(len(self.adds)) if i not in movable]
        for _ in range(_MATCHES):
            order = rng.permutation(movable)
            halves = [order[: len(order) // 2], order[len(order) // 2 :]]
            rest = self.base.mean(axis=0) + sum(self.adds[i][chosen[i]].mean(axis=0) for i in fixed)
            picks, sums = [], []
            for half in halves:
                pick = np.stack([rng.integers(len(self.adds[i]), size=_MATCHED) for i in half])
                picks.append(pick)
                sums.append(
                    sum(self.adds[i].mean(axis=1)[at] for i, at in zip(half, pick, strict=True))
                )
            told = np.unique(np.round(sums[1], 6), axis=1, return_index=True)[1]
            told = told[np.ptp(sums[1][:, told], axis=0) > 0][:_TOLD]
            tree = cKDTree(sums[1][:, told])
            distance, nearest = tree.query((goal - rest - sums[0])[:, told], eps=1.0)
            for row in np.argsort(distance)[:200]:
                found = list(chosen)
                for half, pick, at in zip(halves, picks, (row, nearest[row]), strict=True):
                    for i, choice in zip(half, pick[:, at], strict=True):
                        found[int(i)] = int(choice)
                wrong = self.wrong(found)
                if wrong < least:
                    chosen, least = found, wrong
            if least == 0:
                break
        return chosen, least

    def improve(
        self, chosen: list[int], least: float, some: IntArray, rng: np.random.Generator
    ) -> tuple[list[int], float]:
        """Choose some sizes anew: any of the best combinations."""
        rest = self.base + sum(
            adds[at]
            for i, (adds, at) in enumerate(zip(self.adds, chosen, strict=True))
            if i not in some
        )
        sums = rest
        drawn = []
        for i in some:
            size = len(self.adds[i])
            drawn.append(np.append(rng.permutation(size)[:_ENUMERATED], chosen[i]))
            sums = sums[..., None, :, :] + self.adds[i][drawn[-1]]
        wrong = self._wrong(sums)
        ties = np.flatnonzero(wrong.ravel() == wrong.min())
        at = int(ties[int(rng.integers(len(ties)))])
        if wrong.flat[at] > least:
            return chosen, least
        found = list(chosen)
        for i, own, choice in zip(some, drawn, np.unravel_index(at, wrong.shape), strict=True):
            found[int(i)] = int(own[choice])
        return found, float(wrong.flat[at])
