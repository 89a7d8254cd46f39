"""Settles counts that published shares rest on but that are not published themselves.

Percentages of a row, or the median of a group, bound counts only once the size of the row or group
is known. Sizes that nothing fixes are chosen here, by integer programming: near what is expected,
so that every share can be printed as published, so that all tables agree, and so that figures that
follow from counts alone, such as chi-square, can be met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evosynth.leeway import Leeway
from evosynth.margins import parents, plain, tighten
from evosynth.matching import Row, match
from evosynth.objective import Smooth
from evosynth.problem import FlatShare, Problem
from evosynth.programme import Programme, Pull, Rows
from evosynth.schema import Codes, FloatArray, IntArray

_ATTEMPTS = 12
"""Times that all sizes are chosen anew, near other goals."""
_STEPS = 6
"""Times that figures such as chi-square are expanded anew on the way to them."""
_NOISE = 0.5
"""Standard deviation of the goals around what is expected, in those of counts."""
_FAR = 30.0
"""Half-widths off from which fractions of records are tried first."""
_INSIDE = 0.95
"""How far expanded figures may be off, in half-widths."""
_APPROACHES = 40
"""Steps, in fractions of records, on the way there."""
_FARTHER = 0.5
"""How far from what is expected further attempts at them begin, on the log scale."""
_WAYS = (np.inf, False), (0.3, False), (np.inf, True), (0.3, True)
"""How far sizes may go at a step, as a share of them, and whether an attempt at such figures begins
at fractions of records that meet them: each suits other tables."""
_INWARD = 3e-6
"""Moves an end that does not print as published itself: more than the solver's tolerance."""
_LARGEST = 3000
"""Cells of a table without shares that is taken into the programme."""

_UNPRINTED = 1e6
"""What a share that does not print counts for beside such figures."""

TableBounds = list[tuple[IntArray, IntArray]]


def settle(
    problem: Problem,
    expected: FloatArray,
    rng: np.random.Generator,
    stop: Callable[[], bool] = lambda: False,
    leeway: Leeway | None = None,
) -> None:
    """Choose the open sizes that `narrow` leaves, and set the bounds that follow from them.

    ``expected`` is roughly the count of every cell; ``stop`` is asked now and then whether to be
    content with what there is; ``leeway`` is what smooth figures ask of counts.
    """
    bounds = _bounds(problem)
    low, high = (np.concatenate([b[end] for b in bounds]) for end in range(2))
    for found in _choices(problem, low, high, expected, rng, stop, leeway):
        for cell, size in found.items():
            table = problem.table(cell)
            for end in bounds[table]:
                end[cell - int(problem.first_cell[table])] = size
    _follow(problem, bounds)
    _set(problem, bounds)


def narrow(problem: Problem) -> bool:
    """Set the bounds that follow from sizes that are known; tell whether others are open."""
    bounds = _bounds(problem)
    tighten(problem.grids, bounds, problem.schema.records)
    _follow(problem, bounds)
    _set(problem, bounds)
    return any(problem.low[share.of] < problem.high[share.of] for share in problem.shares)


def _bounds(problem: Problem) -> TableBounds:
    slices = [problem.slice(table) for table in range(len(problem.grids))]
    return [(problem.low[here].copy(), problem.high[here].copy()) for here in slices]


def _set(problem: Problem, bounds: TableBounds) -> None:
    """Take over what does not contradict itself."""
    for table, (least, most) in enumerate(bounds):
        here = problem.slice(table)
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
    ends = np.array(share.bounds(size))
    if (ends[0] > ends[1]).any():  # contradictory: as near as whole numbers come
        ends[0] = np.floor(share.low * size + share.extra[:, 0]).clip(0, size)
        ends[1] = np.ceil(share.high * size + share.extra[:, 1]).clip(0, size)
    for cell, least, most in zip(share.cells.tolist(), *ends.tolist(), strict=True):
        table = problem.table(cell)
        at = cell - int(problem.first_cell[table])
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
            if block.counted is None:
                continue
            grid = plain(block.counted)
            finer = {t: parents(known, grid) for t, known in enumerate(problem.grids)}
            fit = [t for t, part in finer.items() if part is not None]
            if not fit:
                continue
            table = min(fit, key=lambda t: problem.grids[t].size)
            here = problem.slice(table)
            at = finer[table], np.arange(here.start, here.stop)
            sums = sparse.csr_matrix((np.ones(len(at[1])), at), shape=(grid.size, len(problem.low)))
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

    def rows(self, counts: FloatArray, shift: float) -> Rows:
        """Conditions under which the figures are met, or missed by a shift, near some counts."""
        expansion = self.block.expand(self.codes, self.sums @ counts)
        matrix = sparse.csr_matrix(expansion.influence(self.codes).T) @ self.sums
        moving = np.flatnonzero(np.diff(matrix.indptr))  # others cannot be helped
        offset = expansion.offset[moving] - shift
        return Rows(matrix[moving], -_INSIDE - offset, _INSIDE - offset)


@dataclass
class _Conditions:
    """The ties of tables with each other, and the shares."""

    rows: Rows
    of_share: list[tuple[FlatShare, IntArray]]
    """Rows of each share, shape (2, cells): of the lower and of the upper ends."""

    @classmethod
    def of(cls, problem: Problem) -> _Conditions:
        """Write them down."""
        width, parts = len(problem.low), list(_ties(problem))
        end = sum(len(rows.low) for rows in parts)
        of_share = []
        for share in problem.shares:
            k = len(share.cells)
            at = np.tile(np.arange(k), 2), np.append(share.cells, np.full(k, share.of))
            endless = np.full(k, np.inf)
            for shares, low, high in [
                (share.low, share.extra[:, 0], endless),
                (share.high, -endless, share.extra[:, 1]),
            ]:
                matrix = sparse.csr_matrix((np.append(np.ones(k), -shares), at), (k, width))
                parts.append(Rows(matrix, low, high))
            of_share.append((share, end + np.arange(2 * k).reshape(2, k)))
            end += 2 * k
            if share.complete:
                signs = np.append(np.ones(k), -1.0)
                both = np.zeros(k + 1, np.int64), np.append(share.cells, share.of)
                matrix = sparse.csr_matrix((signs, both), (1, width))
                parts.append(Rows(matrix, np.zeros(1), np.zeros(1)))
                end += 1
        return cls(Rows.joined(parts), of_share)

    def unprinted(self, counts: FloatArray, shares: list[int]) -> IntArray:
        """Rows of ends beyond which a share does not print as published."""
        found = [np.empty(0, np.int64)]
        for share, rows in (self.of_share[at] for at in shares):
            low, high = share.bounds(int(counts[share.of]))
            found += [rows[0, counts[share.cells] < low], rows[1, counts[share.cells] > high]]
        return np.concatenate(found)


def _ties(problem: Problem) -> Iterator[Rows]:
    """Cells of tables that make up cells of coarser ones, or all records."""
    width, records = len(problem.low), float(problem.schema.records)
    reached = {problem.table(int(c)) for s in problem.shares for c in (s.of, *s.cells)}
    tables = [t for t, g in enumerate(problem.grids) if t in reached or g.size <= _LARGEST]
    coarser: dict[int, dict[int, IntArray]] = {table: {} for table in tables}
    for fine, coarse in permutations(tables, 2):
        if problem.grids[coarse].size < problem.grids[fine].size:
            part = parents(problem.grids[fine], problem.grids[coarse])
            if part is not None:
                coarser[fine][coarse] = part
    for fine, found in coarser.items():
        cells = np.arange(problem.slice(fine).start, problem.slice(fine).stop)
        if not found:
            matrix = sparse.csr_matrix((np.ones(len(cells)), (0 * cells, cells)), (1, width))
            yield Rows(matrix, np.array([records]), np.array([records]))
        beyond = {far for near in found for far in coarser[near]}
        for coarse in [c for c in found if c not in beyond]:
            own = np.arange(problem.grids[coarse].size)
            signs = np.append(np.ones(len(cells)), -np.ones(len(own)))
            at = np.append(found[coarse], own), np.append(cells, own + problem.first_cell[coarse])
            matrix = sparse.csr_matrix((signs, at), (len(own), width))
            yield Rows(matrix, np.zeros(len(own)), np.zeros(len(own)))


def _choices(
    problem: Problem,
    low: IntArray,
    high: IntArray,
    expected: FloatArray,
    rng: np.random.Generator,
    stop: Callable[[], bool],
    leeway: Leeway | None,
) -> Iterator[dict[int, int]]:
    """Choose sizes, and cells that judges count; tables that are not tied go separately."""
    conditions = _Conditions.of(problem)
    judges: list[_Judge | Leeway] = [*_Judge.all_of(problem)]
    if leeway is not None:
        judges.append(leeway)
    of = np.unique([share.of for share in problem.shares])
    least, most = low.astype(np.float64), high.astype(np.float64)
    least[of] = np.minimum(np.maximum(least[of], 1), most[of])  # a share of nothing is no number
    is_open = least < most
    whole = [sparse.csr_matrix(abs(judge.sums).sum(axis=0)) for judge in judges]
    ties = sparse.vstack([conditions.rows.matrix, *whole], "csr")[:, is_open]
    graph = sparse.bmat([[None, ties.T], [ties, None]])
    label = np.full(len(low), -1)
    label[is_open] = connected_components(graph, directed=False)[1][: int(is_open.sum())]
    for number in np.unique(label[of][is_open[of]]):
        columns = np.flatnonzero(label == number)
        own = [judge for judge in judges if judge.sums[:, columns].nnz]
        goal = np.clip(expected, least, most)
        yield _Part(problem, conditions, own, columns, least, most, goal).choose(rng, stop)


@dataclass
class _Part:
    """Tables that are tied with each other."""

    problem: Problem
    conditions: _Conditions
    judges: list[_Judge | Leeway]
    columns: IntArray
    """The open cells."""
    low: FloatArray
    high: FloatArray
    goal: FloatArray
    """What is expected; what is known of cells that are not open."""

    def __post_init__(self) -> None:
        """Cut the conditions out."""
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
            rows.some(self.touched).on(self.columns, self.goal),
        )

    def choose(self, rng: np.random.Generator, stop: Callable[[], bool]) -> dict[int, int]:
        """Find counts of the sizes, and of cells whose figures are met with them."""
        best, least = self._search(rng, stop)
        if best is None:
            nearest = self.programme.nearest(self._pull(self.goal))
            best = self.goal if nearest is None else self._counts(nearest)
        chosen = self.columns[self.sizes]
        if least == 0:
            chosen = np.unique(np.concatenate([chosen, *(j.sums.indices for j in self.judges)]))
        return {int(cell): round(best[cell]) for cell in chosen}

    def _search(
        self, rng: np.random.Generator, stop: Callable[[], bool]
    ) -> tuple[FloatArray | None, float]:
        """Find counts that meet the conditions, near what the judges ask, and say how near."""
        best, least, seen = None, np.inf, set[float]()
        sizes = self.columns[self.sizes]
        for attempt in range(_ATTEMPTS):
            radius, fractions = _WAYS[attempt % len(_WAYS)]
            goal, point, shift = self.goal.copy(), None, 0.0
            goal[sizes] += _NOISE * self.spread * rng.normal(size=len(sizes))
            if self.judges and attempt:
                goal[sizes] *= np.exp(_FARTHER * rng.normal(size=len(sizes)))
            if self.judges and fractions:
                point = goal = self._approach(goal)
            for _ in range(_STEPS):
                if best is None and attempt and not self.judges:  # any sizes will do
                    found = self._matched(goal)
                    if found is None:
                        found = self.programme.anywhere(rng.normal(size=len(self.columns)))
                elif point is None:
                    found, possible = self.programme.solve(self._pull(goal))
                    if not possible:
                        return best, least
                else:
                    near = self._near(self.programme, point, radius)
                    found = near.approach(self._pull(goal), self._judged(point, shift))
                if found is None:
                    break
                counts = self._counts(found)
                off = self._off(counts)
                if off < least:
                    best, least = counts, off
                if off == 0 or stop():
                    return best, least
                # Where expansion leads back to, aim beside the figures.
                shift = off * rng.normal() if off in seen else 0.0
                seen.add(off)
                if self.judges:
                    goal = point = self._approach(counts) if off > _FAR else counts
            if stop():
                break
        return best, least

    def _matched(self, goal: FloatArray) -> FloatArray | None:
        """Match rows that are made up of their cells, near fractions that meet the conditions."""
        shares = [self.problem.shares[at] for at in self.shares]
        own = [s for s in shares if s.complete and np.isin([s.of, *s.cells], self.columns).all()]
        programme = replace(self.programme, whole=np.zeros(len(self.columns), np.int64))
        expected, _ = programme.solve(self._pull(goal))
        if expected is None:
            return None
        return match(self.programme, [self._row(share) for share in own], expected)

    def _row(self, share: FlatShare) -> Row:
        size, *cells = np.searchsorted(self.columns, [share.of, *share.cells]).tolist()
        return Row(size, np.array(cells), share.bounds)

    def _approach(self, goal: FloatArray) -> FloatArray:
        """Go from some counts to fractional ones that meet the judges, if possible."""
        programme = replace(self.programme, whole=np.zeros(len(self.columns), np.int64))
        found, _ = programme.solve(self._pull(goal))
        if found is None:
            return goal
        point, radius = self._counts(found), 0.5
        off = sum(judge.off(point, _INSIDE) for judge in self.judges)
        for _ in range(_APPROACHES):
            if off == 0:
                break
            near = self._near(programme, point, radius)
            found = near.approach(self._pull(point), self._judged(point))
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

    def _judged(self, point: FloatArray, shift: float = 0.0) -> Rows:
        """Conditions of all judges on the open cells, expanded at a point."""
        rows = Rows.joined([judge.rows(point, shift) for judge in self.judges])
        return rows.on(self.columns, self.goal)

    def _off(self, counts: FloatArray) -> float:
        """How far counts are from printing all that they decide."""
        wrong = self.conditions.unprinted(counts, self.shares)
        at = np.searchsorted(self.touched, wrong)
        self.programme.rows.low[at] += _INWARD
        self.programme.rows.high[at] -= _INWARD
        return _UNPRINTED * len(wrong) + sum(judge.off(counts) for judge in self.judges)
