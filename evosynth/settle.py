"""Settles counts that published shares rest on but that are not published themselves.

Percentages of a row, or the median of a group, bound counts only once the size of the row or group
is known. Sizes that nothing fixes are chosen here, by integer programming: near what is expected,
so that every share can be printed as published, so that all tables agree, and so that figures that
follow from counts alone, such as chi-square, can be met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import permutations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evosynth.margins import parents, tighten
from evosynth.objective import Smooth
from evosynth.problem import FlatShare, Problem
from evosynth.programme import Collected, Programme, Pull, Rows
from evosynth.schema import Codes, FloatArray, IntArray

_ATTEMPTS = 12
"""Times that all sizes are chosen anew, near other goals."""
_STEPS = 6
"""Times that figures such as chi-square are expanded anew on the way to them."""
_NOISE = 0.5
"""Standard deviation of the goals around what is expected, in those of counts."""
_INSIDE = 0.95
"""How far expanded figures may be off, in half-widths."""
_APPROACHES = 40
"""Steps, in fractions of records, on the way there."""
_WIDER = 0.2
"""How much farther from what is expected each further attempt begins, on the log scale."""
_RADII = np.inf, 0.3
"""How far sizes may go at a step, as a share of them, in one attempt and the next."""
_INWARD = 3e-6
"""Moves an end that does not print as published itself: more than the solver's tolerance."""
_LARGEST = 3000
"""Cells of a table without shares that is taken into the programme."""

_UNPRINTED = 1e6
"""What a share that does not print counts for beside such figures."""

DEBUG=False
TableBounds = list[tuple[IntArray, IntArray]]


def settle(
    problem: Problem,
    expected: FloatArray,
    rng: np.random.Generator,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Choose the open sizes, and set the bounds that follow from them.

    ``expected`` is roughly the count of every cell; ``stop`` is asked now and then whether to be
    content with what there is.
    """
    slices = [problem.slice(table) for table in range(len(problem.grids))]
    bounds = [(problem.low[here].copy(), problem.high[here].copy()) for here in slices]
    tighten(problem.grids, bounds, problem.schema.records)
    if problem.shares:
        _follow(problem, bounds)
        low, high = (np.concatenate([b[end] for b in bounds]) for end in range(2))
        for found in _choices(problem, low, high, expected, rng, stop):
            for cell, size in found.items():
                table = problem.table(cell)
                for end in bounds[table]:
                    end[cell - int(problem.first_cell[table])] = size
        _follow(problem, bounds)
    for here, (least, most) in zip(slices, bounds, strict=True):
        sound = least <= most
        problem.low[here] = np.where(sound, least, problem.low[here])
        problem.high[here] = np.where(sound, most, problem.high[here])
    problem.__dict__.pop("binding", None)


def _follow(problem: Problem, bounds: TableBounds) -> None:
    """Narrow the cells of shares whose size is known, and what follows from them."""
    for share in problem.shares:
        table = problem.table(share.of)
        least, most = (int(end[share.of - problem.first_cell[table]]) for end in bounds[table])
        if least == most:
            _bound(problem, share, least, bounds)
    tighten(problem.grids, bounds, problem.schema.records)


def _bound(problem: Problem, share: FlatShare, size: int, bounds: TableBounds) -> None:
    """Narrow the cells of a share of a known size."""
    for cell, least, most in zip(share.cells.tolist(), *share.bounds(size), strict=True):
        table = problem.table(cell)
        at = cell - int(problem.first_cell[table])
        if least > most:  # contradictory: as near as whole numbers come
            least, most = most, least
        bounds[table][0][at] = max(bounds[table][0][at], least)
        bounds[table][1][at] = min(bounds[table][1][at], most)


@dataclass(frozen=True)
class _Judge:
    """Figures that follow from the counts of one table alone, such as chi-square."""

    block: Smooth
    codes: Codes
    """A record of each cell that the figures count."""
    sums: sparse.csr_matrix
    """Adds cells of tables up to those cells."""

    @classmethod
    def all_of(cls, problem: Problem) -> list[_Judge]:
        """Those whose cells are cells of tables, or sums of them."""
        found = []
        for block in problem.smooth:
            grid = block.counted
            if grid is None:
                continue
            finer = {t: parents(known, grid) for t, known in enumerate(problem.grids)}
            fit = [t for t, part in finer.items() if part is not None]
            if not fit:
                continue
            table = min(fit, key=lambda t: problem.grids[t].size)
            here = problem.slice(table)
            at = finer[table], np.arange(here.start, here.stop)
            sums = sparse.csr_matrix(
                (np.ones(len(at[1])), at), shape=(grid.size, len(problem.low))
            )
            codes = np.zeros((grid.size, len(problem.schema.variables)), np.int64)
            levels = np.unravel_index(np.arange(grid.size), grid.shape)
            for column, group, level in zip(grid.columns, grid.groups, levels, strict=True):
                first = np.array([int(np.argmax(group == g)) for g in range(group.max() + 1)])
                codes[:, column] = first[level]
            found.append(cls(block, codes.astype(problem.schema.dtype), sums))
        return found

    def off(self, counts: FloatArray, room: float = 1.0) -> float:
        """How far figures are off beyond some room, in half-widths; 1 prints as published."""
        found = np.abs(self.block.refit(self.codes, self.sums @ counts))
        return float(np.maximum(np.nan_to_num(found, nan=1e6) - room, 0.0).sum())

    def rows(self, counts: FloatArray) -> Rows:
        """Conditions under which the figures are met, near some counts."""
        expansion = self.block.expand(self.codes, self.sums @ counts)
        matrix = sparse.csr_matrix(expansion.influence(self.codes).T) @ self.sums
        moving = np.flatnonzero(np.diff(matrix.indptr))  # others cannot be helped
        offset = expansion.offset[moving]
        return Rows(matrix[moving], -_INSIDE - offset, _INSIDE - offset)


@dataclass
class _Conditions:
    """The ties of tables with each other, then the shares."""

    rows: Rows
    of_share: list[tuple[FlatShare, IntArray]]
    """Rows of each share: of the lower end of its first cell, of the upper end of it, and so on."""

    @classmethod
    def of(cls, problem: Problem) -> _Conditions:
        """Write them down."""
        records = problem.schema.records
        written = Collected()
        reached = {problem.table(int(c)) for s in problem.shares for c in (s.of, *s.cells)}
        tables = [t for t, g in enumerate(problem.grids) if t in reached or g.size <= _LARGEST]
        coarser: dict[int, dict[int, IntArray]] = {table: {} for table in tables}
        for fine, coarse in permutations(tables, 2):
            if problem.grids[coarse].size < problem.grids[fine].size:
                part = parents(problem.grids[fine], problem.grids[coarse])
                if part is not None:
                    coarser[fine][coarse] = part
        for fine in tables:
            own = np.arange(problem.slice(fine).start, problem.slice(fine).stop)
            if not coarser[fine]:
                written.add(own, np.ones(len(own)), records, records)
            beyond = {far for near in coarser[fine] for far in coarser[near]}
            for coarse in [c for c in coarser[fine] if c not in beyond]:
                part, first = coarser[fine][coarse], int(problem.first_cell[coarse])
                for cell in range(problem.grids[coarse].size):
                    members = own[part == cell]
                    signs = np.append(np.ones(len(members)), -1.0)
                    written.add(np.append(members, first + cell), signs, 0.0, 0.0)
        of_share = []
        for share in problem.shares:
            numbers = []
            for cell, low, high, (more, most) in zip(
                share.cells, share.low, share.high, share.extra, strict=True
            ):
                pair = np.array([cell, share.of])
                numbers.append(written.add(pair, np.array([1.0, -low]), more, np.inf))
                numbers.append(written.add(pair, np.array([1.0, -high]), -np.inf, most))
            if share.complete:
                signs = np.append(np.ones(len(share.cells)), -1.0)
                written.add(np.append(share.cells, share.of), signs, 0.0, 0.0)
            of_share.append((share, np.array(numbers)))
        return cls(written.joined(len(problem.low)), of_share)

    def unprinted(self, counts: FloatArray, shares: list[int]) -> IntArray:
        """Rows of ends at which a share does not print as published."""
        found: list[IntArray] = []
        for share, rows in (self.of_share[at] for at in shares):
            least, most = share.bounds(int(counts[share.of]))
            low, high = counts[share.cells] < least, counts[share.cells] > most
            found.append(rows[np.stack([low, high], axis=1).ravel()])
        return np.concatenate([np.empty(0, np.int64), *found])


def _choices(
    problem: Problem,
    low: IntArray,
    high: IntArray,
    expected: FloatArray,
    rng: np.random.Generator,
    stop: Callable[[], bool],
) -> Iterator[dict[int, int]]:
    """Counts of sizes, and of cells that judges count; tables that are not tied go separately."""
    conditions = _Conditions.of(problem)
    judges = _Judge.all_of(problem)
    of = np.unique([share.of for share in problem.shares])
    low, high = low.astype(np.float64), high.astype(np.float64)
    low[of] = np.minimum(np.maximum(low[of], 1), high[of])  # a share of nothing is no number
    is_open = low < high
    ties = sparse.vstack([conditions.rows.matrix, *(_all_at_once(j.sums) for j in judges)], "csr")
    member = (ties[:, is_open] != 0).astype(np.int64)
    label = np.full(len(low), -1)
    label[is_open] = connected_components(member.T @ member, directed=False)[1]
    for part in np.unique(label[of][is_open[of]]):
        columns = np.flatnonzero(label == part)
        own = [judge for judge in judges if judge.sums[:, columns].nnz]
        yield _Part(problem, conditions, own, columns, low, high, expected).choose(rng, stop)


def _all_at_once(sums: sparse.csr_matrix) -> sparse.csr_matrix:
    return sparse.csr_matrix(sums.sum(axis=0))


@dataclass
class _Part:
    """Tables that are tied with each other."""

    problem: Problem
    conditions: _Conditions
    judges: list[_Judge]
    columns: IntArray
    """The open cells."""
    low: FloatArray
    high: FloatArray
    expected: FloatArray

    def __post_init__(self) -> None:
        """Cut the conditions out."""
        self.goal = np.clip(self.expected, self.low, self.high)
        rows = self.conditions.rows
        self.touched = np.flatnonzero(np.diff(rows.matrix[:, self.columns].indptr))
        whole = np.zeros(len(self.low), np.int64)
        is_size = np.zeros(len(self.low), dtype=np.bool_)
        for share in self.problem.shares:
            whole[share.of] = whole[share.cells] = 1
            is_size[share.of] = True
        self.sizes = np.flatnonzero(is_size[self.columns])
        self.spread = np.sqrt(np.maximum(self.goal, 1.0))[self.columns[self.sizes]]
        self.shares = [
            at
            for at, (_, numbers) in enumerate(self.conditions.of_share)
            if np.isin(numbers, self.touched).any()
        ]
        self.programme = Programme(
            self.low[self.columns],
            self.high[self.columns],
            whole[self.columns],
            rows.part(self.touched, self.columns, self.goal),
        )

    def choose(self, rng: np.random.Generator, stop: Callable[[], bool]) -> dict[int, int]:
        """Counts of the sizes, and of cells whose figures are met with them."""
        best, least = self._search(rng, stop)
        if best is None:
            best = self.goal.copy()
            nearest = self.programme.nearest(self._pull(self.goal))
            if nearest is not None:
                best[self.columns] = nearest
        chosen = self.columns[self.sizes]
        if least == 0:
            chosen = np.unique(np.concatenate([chosen, *(j.sums.indices for j in self.judges)]))
        return {int(cell): int(round(best[cell])) for cell in chosen}

    def _search(
        self, rng: np.random.Generator, stop: Callable[[], bool]
    ) -> tuple[FloatArray | None, float]:
        """Counts that meet the conditions and come nearest to the judges, and how near."""
        best, least = None, np.inf
        sizes = self.columns[self.sizes]
        for attempt in range(_ATTEMPTS):
            goal = self.goal.copy()
            goal[sizes] += _NOISE * self.spread * rng.normal(size=len(sizes))
            goal[sizes] *= np.exp(_WIDER * attempt * rng.normal(size=len(sizes)))
            point = self._approach(goal) if attempt and self.judges else None
            goal = goal if point is None else point
            seen: set[float] = set()
            for _ in range(_STEPS):
                counts, possible = self._solve(goal, point, _RADII[attempt % len(_RADII)])
                if counts is None:
                    if not possible:
                        return best, least
                    break
                off = self._off(counts)
                if DEBUG: print('     ',attempt,off,point is not None)
                if off < least:
                    best, least = counts, off
                if off == 0:
                    return best, least
                if stop():
                    break
                if off in seen:
                    break
                seen.add(off)
                point = goal = counts
            if stop():
                break
        return best, least

    def _approach(self, goal: FloatArray) -> FloatArray:
        """Go from some counts to fractional ones that meet the judges, if possible."""
        whole = replace(self.programme, whole=np.zeros(len(self.columns), np.int64))
        found, _ = whole.solve(self._pull(goal))
        if found is None:
            return goal
        point, radius = self._counts(found), 0.5
        off = sum(judge.off(point, _INSIDE) for judge in self.judges)
        for _ in range(_APPROACHES):
            if off == 0 or radius < 1e-3:
                break
            rows = [self._judged(judge, point) for judge in self.judges]
            soft = reduce(Rows.and_, rows)
            found, _ = self._near(whole, point, radius).solve(self._pull(point), soft)
            if found is None:
                break
            trial = self._counts(found)
            reached = sum(judge.off(trial, _INSIDE) for judge in self.judges)
            if reached < off:
                point, off, radius = trial, reached, min(2 * radius, 0.5)
            else:
                radius /= 2
        return point

    def _near(self, programme: Programme, point: FloatArray, radius: float) -> Programme:
        """Keep sizes near those of a point, where expanded figures can be trusted."""
        low, high = programme.low.copy(), programme.high.copy()
        here = point[self.columns[self.sizes]]
        room = radius * here + 1
        low[self.sizes] = np.maximum(low[self.sizes], here - room)
        high[self.sizes] = np.minimum(high[self.sizes], here + room)
        return replace(programme, low=low, high=high)

    def _pull(self, goal: FloatArray) -> Pull:
        return Pull(self.sizes, goal[self.columns[self.sizes]], 1 / self.spread)

    def _counts(self, found: FloatArray) -> FloatArray:
        counts = self.goal.copy()
        counts[self.columns] = found
        return counts

    def _judged(self, judge: _Judge, point: FloatArray) -> Rows:
        """Conditions of a judge on the open cells."""
        rows = judge.rows(point)
        return rows.part(np.arange(len(rows.low)), self.columns, self.goal)

    def _solve(
        self, goal: FloatArray, point: FloatArray | None, radius: float
    ) -> tuple[FloatArray | None, bool]:
        """Counts near a goal, and whether there may be any; judges are expanded at a point."""
        import time
        t=time.time()
        if point is None or not self.judges:
            found, possible = self.programme.solve(self._pull(goal))
        else:
            soft = reduce(Rows.and_, [self._judged(j, point) for j in self.judges])
            near = self._near(self.programme, point, radius)
            found, _ = near.solve(self._pull(goal), soft, 0.05)
            possible = True
        if DEBUG: print('       solve',found is not None,f'{time.time()-t:.2f}')
        return None if found is None else self._counts(found), possible

    def _off(self, counts: FloatArray) -> float:
        """How far counts are from printing all that they decide."""
        wrong = self.conditions.unprinted(counts, self.shares)
        at = np.searchsorted(self.touched, wrong)
        self.programme.rows.low[at] += _INWARD
        self.programme.rows.high[at] -= _INWARD
        return _UNPRINTED * len(wrong) + sum(judge.off(counts) for judge in self.judges)
