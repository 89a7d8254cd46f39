"""Draws records from what is published of each variable: its margin, or a model of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from evosynth import hints, routes
from evosynth.bonds import Bonds
from evosynth.covariates import likely_moments
from evosynth.errors import SizeError
from evosynth.fences import cell_ends
from evosynth.fitted import Model
from evosynth.grid import Grid
from evosynth.hints import Associations, scores
from evosynth.margins import project
from evosynth.moments import bell
from evosynth.objective import Smooth
from evosynth.problem import Problem
from evosynth.schema import Codes, FloatArray, IntArray, Schema

_FILLED = 5
"""Records put into a cell that must hold some but was never drawn."""
_MOST_FILLED = 200
"""Cells that are looked after in this way."""
_MOST_DENSITIES = 5_000_000
"""Probabilities that may be worked out to draw a variable from a model."""
_MANY_DENSITIES, _FEWEST_RUNS = 1_000_000, 60
"""Probabilities from which neighbouring levels are drawn together, and runs of them at least."""
_NEAR, _MANY_LEVELS = 2, 20
"""Steps by which records like others differ from them in quantities of so many values."""
_REDRAWN = 1000
"""Times that records that break rules are changed."""
_GIVEN = 300
"""Times that a place which nobody fits is tried with another record."""
_FORGIVEN = 0.2
"""Share of changes that are kept although they break more rules."""
_WIDER = 1.1
"""What spreads are multiplied by that were seen in few records."""
_DEEPEST = 600.0
"""Smallest log density that is told from nothing."""


@dataclass(frozen=True)
class Placement:
    """How covariates are distributed, as far as that is published or can be told."""

    margins: list[FloatArray]
    columns: list[int]
    """Quantities of whose shape nothing is published."""
    guessed: Associations = ()


def likely(problem: Problem, start: str, calibrated: bool) -> Placement:
    """Take margins as published, and quantities where models place them."""
    n_columns = len(problem.schema.variables)
    margins = [univariate(problem, column, start) for column in range(n_columns)]
    columns = shapeless(problem, margins) if calibrated and problem.curved else []
    inform(problem, margins, columns)
    return Placement(margins, columns)


def univariate(problem: Problem, column: int, start: str = "univariate") -> FloatArray:
    """Shares of a variable's levels: published, or assumed, or equal."""
    variable = problem.schema.variables[column]
    if start == "uniform":
        return np.full(variable.size, 1 / variable.size)
    records = problem.schema.records
    share = variable.proportions.copy()
    for table, grid in enumerate(problem.grids):
        if column not in grid.columns:
            continue
        groups = grid.groups[grid.columns.index(column)]
        here = problem.slice(table)
        found = project(
            grid, problem.low[here], problem.high[here], Grid((column,), (groups,)), records
        )
        assert found is not None
        total = np.bincount(groups, share) * records
        goal = np.clip(total, *found)
        share *= (goal / np.maximum(total, 1e-300))[groups]
    return share / share.sum() if share.sum() > 0 else variable.proportions


def shapeless(problem: Problem, margins: list[FloatArray]) -> list[int]:
    """Quantities of whose shape nothing is published, by column."""
    drawn, found = _models(problem), []
    for column, variable in enumerate(problem.schema.variables):
        known = variable.shaped or column in drawn or column in problem.schema.derived
        if variable.categorical or known or variable.valid <= 2:
            continue
        share, assumed = margins[column][: variable.valid], variable.proportions[: variable.valid]
        if np.allclose(share / share.sum(), assumed / assumed.sum(), rtol=1e-9, atol=0):
            found.append(column)
    return found


def inform(problem: Problem, margins: list[FloatArray], columns: list[int]) -> None:
    """Put quantities where models that they are part of place them."""
    told: dict[int, list[tuple[float, float]]] = {}
    for block in problem.smooth:
        if isinstance(block, Model):
            for column, mean, sd in likely_moments(block, problem.schema, margins):
                told.setdefault(column, []).append((mean, sd))
    for column in filter(told.__contains__, columns):
        mean, sd = np.median(told[column], axis=0)
        place(problem, margins, column, float(mean), float(sd))


def refine(
    problem: Problem,
    margins: list[FloatArray],
    columns: list[int],
    codes: Codes,
    weights: FloatArray,
) -> None:
    """Put quantities where calibrated weights have them."""
    for column in columns:
        variable = problem.schema.variables[column]
        values = variable.quantities[codes[:, column]]
        there = np.isfinite(values) & (weights > 0)
        mean = float(np.average(values[there], weights=weights[there]))
        square = float(np.average((values[there] - mean) ** 2, weights=weights[there]))
        least = float(variable.quantities[1] - variable.quantities[0])
        place(problem, margins, column, mean, max(_WIDER * square**0.5, least))


def place(problem: Problem, margins: list[FloatArray], column: int, mean: float, sd: float) -> None:
    """Give a quantity a margin of that mean and standard deviation, roughly."""
    variable = problem.schema.variables[column]
    total = margins[column][: variable.valid].sum()
    shape = np.exp(bell(variable.quantities[: variable.valid], mean, sd))
    margins[column][: variable.valid] = total * shape / shape.sum()


def sample(
    problem: Problem,
    margins: list[FloatArray],
    size: int,
    informed: bool,
    rng: np.random.Generator,
    like: Codes | None = None,
    guessed: Associations = (),
) -> Codes:
    """Draw records: each variable by its margin, or by what is published of it given others.

    ``like``: rows of which each stands for the variables of as many records that no model draws;
    ``guessed``: associations of variables of which none is published.
    """
    schema = problem.schema
    codes = np.zeros((size, len(margins)), dtype=schema.dtype)
    if informed:
        uniform = _correlated(problem, size, rng, guessed)
    else:
        uniform = rng.random((size, len(margins)))
    models = _models(problem) if informed else {}
    waiting: dict[int, hints.Partners] = {}
    if informed and like is None:
        published = [pair for block in problem.smooth for pair in block.associations]
        waiting = hints.late(schema, published, guessed, models)
    for column in _order(len(margins), models):
        if column in schema.derived or column in waiting:
            continue
        if column in models:
            valid = schema.variables[column].valid
            shape = column, valid, margins[column], uniform[:, column]
            drawn = _draw_given(models[column], codes, *shape)
            if drawn is not None:
                codes[:, column] = drawn
                continue
        if like is not None:
            seen = like[:, column].astype(np.int64)
            codes[:, column] = _near(problem, column, seen, margins[column], rng)
            continue
        edges = np.cumsum(margins[column])
        levels = np.searchsorted(edges, uniform[:, column] * edges[-1], side="right")
        codes[:, column] = np.minimum(levels, len(edges) - 1)
    if waiting:
        hints.draw(schema, codes, margins, waiting, rng)
    told = problem.told
    if schema.bonds is not None:
        routes.follow(schema, schema.bonds, codes, margins, told, rng)
    _fill_cells(problem, codes, rng)
    if schema.bonds is not None:
        codes = redrawn(schema, schema.bonds, margins, codes, rng, told=told)
    return codes


def seat(problem: Problem, codes: Codes, rng: np.random.Generator) -> Codes:
    """Put records where every value of the fixed column is as often as it must be, in its order.

    Records of values that are too frequent get others; what no longer fits these is redrawn.
    """
    schema = problem.schema
    fixed, bonds = schema.fixed, schema.bonds
    if fixed is None or bonds is None:
        return codes
    # Not the bounds of the table: figures that contradict it may have narrowed these.
    wanted = np.rint(schema.variables[fixed].proportions * schema.records).astype(np.int64)
    shuffled = codes[rng.permutation(len(codes))]
    values = shuffled[:, fixed].astype(np.int64)
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(values), dtype=np.int64)
    first = np.searchsorted(values[order], values[order])
    rank[order] = np.arange(len(values)) - first
    surplus = np.flatnonzero(rank >= wanted[values])
    short = np.maximum(wanted - np.bincount(values, minlength=len(wanted)), 0)
    shuffled[surplus, fixed] = rng.permutation(np.repeat(np.arange(len(wanted)), short))
    allowed = bonds.complete(shuffled)
    for _ in range(_GIVEN):
        left = np.flatnonzero(~allowed)
        if len(left) == 0:
            break
        # Records that may be are likely to fit elsewhere as a whole.
        rows = codes[rng.integers(0, len(codes), len(left))]
        rows[:, fixed] = shuffled[left, fixed]
        allowed[left] = bonds.complete(rows)
        shuffled[left] = rows
    margins = [univariate(problem, column) for column in range(len(schema.variables))]
    seated = redrawn(schema, bonds, margins, shuffled, rng, frozenset({fixed}), problem.told)
    return np.asarray(seated[np.argsort(seated[:, fixed], kind="stable")])


def redrawn(
    schema: Schema,
    bonds: Bonds,
    margins: list[FloatArray],
    codes: Codes,
    rng: np.random.Generator,
    kept: frozenset[int] = frozenset(),
    told: frozenset[int] = frozenset(),
) -> Codes:
    """Change values, but not of ``kept``, of records that break a rule until all may be.

    One value of a rule that is broken is redrawn at a time, with what follows from it, and kept if
    no more rules are broken. ``told``: columns of which figures are published.
    """
    parts = [np.array(sorted(columns - kept), dtype=np.int64) for columns in bonds.parts()]
    allowed = bonds.complete(codes)
    for turn in range(_REDRAWN):
        left = np.flatnonzero(~allowed)
        if len(left) == 0:
            return codes
        rows = codes[left]
        broken = np.column_stack(bonds.broken(rows))
        # One of the broken bonds, at random, and one of the values that it ties.
        bond = np.argmax(broken * rng.random(broken.shape), axis=1)
        changed = rows.copy()
        for number in np.unique(bond).tolist():
            here = np.flatnonzero(bond == number)
            if len(parts[number]) == 0:
                continue
            columns = rng.choice(parts[number], len(here))
            for column in np.unique(columns).tolist():
                some, share = here[columns == column], margins[column]
                even = np.where(share > 0, 1 / np.count_nonzero(share), 0.0)
                share = even if turn % 2 else share
                changed[some, column] = rng.choice(len(share), len(some), p=share)
        routes.follow(schema, bonds, changed, margins, told, rng, kept)
        sound = bonds.complete(changed)
        more = np.column_stack(bonds.broken(changed)).sum(axis=1) > broken.sum(axis=1)
        back = more & (rng.random(len(left)) > _FORGIVEN)
        changed[back] = rows[back]
        codes[left], allowed[left] = changed, sound & ~back
    if kept:
        raise SizeError("no record that keeps all rules was found for every place in a household")
    good, left = np.flatnonzero(allowed), np.flatnonzero(~allowed)
    if len(good) == 0:
        raise SizeError("no record that keeps all rules was found; loosen the rules")
    codes[left] = codes[rng.choice(good, len(left))]
    return codes


def _near(
    problem: Problem, column: int, levels: IntArray, margin: FloatArray, rng: np.random.Generator
) -> IntArray:
    """Values near those of other records, so that these are not told by them.

    Where the spec says how the variable is distributed, frequent values, such as zeros and round
    numbers, are left for others only as often as these are left for them.
    """
    variable = problem.schema.variables[column]
    if variable.categorical or variable.valid < _MANY_LEVELS:
        return levels
    first, last = cell_ends(problem, column)
    near = levels + rng.integers(-_NEAR, _NEAR + 1, len(levels))
    near = np.where(levels < variable.valid, np.clip(near, first[levels], last[levels]), levels)
    if variable.shaped:
        near = np.where(rng.random(len(near)) * margin[levels] < margin[near], near, levels)
    return near


def _fill_cells(problem: Problem, codes: Codes, rng: np.random.Generator) -> None:
    """Put a few records into every cell that must hold some but was never drawn."""
    held = np.bincount(problem.cells(codes).ravel(), minlength=len(problem.low))
    for cell in np.flatnonzero((problem.low > 0) & (held == 0))[:_MOST_FILLED]:
        table = problem.table(int(cell))
        grid = problem.grids[table]
        at = np.unravel_index(int(cell) - int(problem.first_cell[table]), grid.shape)
        rows = rng.choice(len(codes), _FILLED, replace=False)
        for column, groups, group in zip(grid.columns, grid.groups, at, strict=True):
            codes[rows, column] = rng.choice(np.flatnonzero(groups == group), _FILLED)


def _models(problem: Problem) -> dict[int, Smooth]:
    """For each explained variable, the published model of it that is given most.

    Of models that are given as much, the one of most parameters: a negative binomial tells how
    widely counts are spread, a Poisson model of the same counts does not.
    """
    found: dict[int, Smooth] = {}
    for block in problem.smooth:
        if block.outcome is not None:
            known = found.get(block.outcome)
            if known is None or len(block.given) > len(known.given) or _finer(block, known):
                found[block.outcome] = block
    return found


def _finer(block: Smooth, known: Smooth) -> bool:
    """Tell whether a model has more parameters than one that is given as much."""
    both = isinstance(block, Model) and isinstance(known, Model)
    return both and len(block.given) == len(known.given) and _size(block) > _size(known)


def _size(block: Smooth) -> int:
    return block.likelihood.size if isinstance(block, Model) else 0


def _order(n_columns: int, models: dict[int, Smooth]) -> list[int]:
    """Draw variables after those that they are explained by, as far as possible."""
    order = [column for column in range(n_columns) if column not in models]
    left = [column for column in range(n_columns) if column in models]
    while left:
        ready = [c for c in left if all(g in order for g in models[c].given)] or left[:1]
        order += ready[:1]
        left.remove(ready[0])
    return order


def _correlated(
    problem: Problem, size: int, rng: np.random.Generator, guessed: Associations
) -> FloatArray:
    """Uniform numbers, associated between variables as published correlations say."""
    n_columns = len(problem.schema.variables)
    total, times = np.zeros((2, n_columns, n_columns))
    for block in problem.smooth:
        for one, two, r in block.associations:
            total[[one, two], [two, one]] += r
            times[[one, two], [two, one]] += 1
    for one, two, r in (*problem.schema.associations, *guessed):
        if times[one, two] == 0 and not {one, two} & problem.schema.derived:
            total[[one, two], [two, one]] = r
            times[[one, two], [two, one]] = 1
    matrix = np.where(times > 0, total / np.maximum(times, 1), 0.0)
    np.fill_diagonal(matrix, 1.0)
    values, vectors = np.linalg.eigh(matrix)
    # The symmetric root: a small change of the correlations changes each record little.
    root = (vectors * np.sqrt(np.maximum(values, 1e-6))) @ vectors.T
    root /= np.sqrt((root**2).sum(axis=1))[:, None]
    return np.asarray(ndtr(rng.standard_normal((size, n_columns)) @ root.T))


def _draw_given(
    model: Smooth,
    codes: Codes,
    column: int,
    valid: int,
    margin: FloatArray,
    uniform: FloatArray,
) -> IntArray | None:
    """Draw a variable from a published model of it; ``None`` if that would take too long."""
    parts, which = np.unique(codes[:, list(model.given)], axis=0, return_inverse=True)
    which = which.ravel()
    start = np.arange(len(margin))
    if len(parts) * len(start) > _MANY_DENSITIES:
        start = _spaced(margin, valid, max(_FEWEST_RUNS, _MANY_DENSITIES // (4 * len(parts))))
    if len(parts) * len(start) > _MOST_DENSITIES:
        return None
    n_runs = len(start)
    width = np.diff(start, append=len(margin))
    middle = start + width // 2
    rows = np.zeros((len(parts) * n_runs, codes.shape[1]), dtype=codes.dtype)
    rows[:, list(model.given)] = np.repeat(parts, n_runs, axis=0)
    rows[:, column] = np.tile(middle, len(parts))
    density = model.log_density(rows).reshape(len(parts), n_runs) + np.log(width)
    density = np.where(np.add.reduceat(margin, start) > 0, density, -np.inf)
    top = np.maximum(density.max(axis=1, keepdims=True), -1e300)
    edges = np.cumsum(np.exp(density - top), axis=1)
    shares = edges / np.where(edges[:, -1:] > 0, edges[:, -1:], 1.0)
    # Shares run from 0 to 1 in each part, and part by part: one search for all rows.
    goal, least = uniform + which, which * n_runs
    ends = (shares + np.arange(len(parts))[:, None]).ravel()
    at = np.clip(np.searchsorted(ends, goal, side="right"), least, least + n_runs - 1)
    first = np.where(at > least, ends[at - 1], which)
    along = np.clip((goal - first) / np.maximum(ends[at] - first, 1e-300), 0.0, 1 - 1e-12)
    drawn = start[at - least] + np.floor(along * width[at - least]).astype(np.int64)
    return np.asarray(np.minimum(drawn, len(margin) - 1), dtype=np.int64)


def _spaced(margin: FloatArray, valid: int, most: int) -> IntArray:
    """First levels of about so many runs of levels: all possible or none, all missing or none."""
    edge = np.arange(len(margin)) % -(-len(margin) // most) == 0
    edge[valid:] = True
    edge[1:] |= np.diff(margin > 0)
    return np.flatnonzero(edge)


def density(
    problem: Problem,
    codes: Codes,
    weights: FloatArray,
    margins: list[FloatArray],
    guessed: Associations = (),
) -> FloatArray:
    """Replace the margin of each explained variable by the published model of it.

    Where a correlation is assumed of two variables, tilt their margins by as much.
    """
    log_ratio = np.zeros(len(codes))
    derived = problem.schema.derived
    for one, two, r in (*problem.schema.associations, *guessed):
        a, b = (
            scores(_seen(levels, weights) if column in derived else margins[column])[levels]
            for column, levels in ((one, codes[:, one]), (two, codes[:, two]))
        )
        log_ratio += (2 * r * a * b - r**2 * (a**2 + b**2)) / (2 * (1 - r**2))
    for outcome, block in _models(problem).items():
        share = margins[outcome][codes[:, outcome]]
        there = share > 0
        log_ratio[there] += block.log_density(codes[there]) - np.log(share[there])
    return np.asarray(np.exp(np.clip(log_ratio - log_ratio.max(), -_DEEPEST, 0.0)))


def _seen(levels: Codes, weights: FloatArray) -> FloatArray:
    return np.asarray(np.bincount(levels, weights), dtype=np.float64)
