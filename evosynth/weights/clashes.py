"""Weighted figures that no weights give: a linear programme over the cells of weighted tables.

What is unknown is the sum of the weights in each cell, and of the weights times each quantity,
which lies between its smallest and its largest value. Counts, shares, sums and means are linear.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from evosynth.errors import Fault, Path
from evosynth.objective import Plan
from evosynth.schema import IntArray, Schema
from evosynth.weighted import WeightedCells, WeightedMoments

_MOST_CELLS = 4096
_LISTED = 8
_CLEAR = 0.01
"""Half-units by which figures have to be missed."""


@dataclass
class _Rows:
    """Figures between bounds, as sums over unknowns; what each is missed by counts in units."""

    rows: list[Any] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    unit: list[float] = field(default_factory=list)
    told: list[tuple[Path, str]] = field(default_factory=list)

    def add(self, row: Any, low: float, high: float, unit: float, told: tuple[Path, str]) -> None:
        self.rows.append(sparse.csr_array(np.atleast_2d(row)))
        self.low.append(low)
        self.high.append(high)
        self.unit.append(unit)
        self.told.append(told)


def find(plans: Sequence[Plan], places: Sequence[Path], schema: Schema) -> Iterator[Fault]:
    """Tell weighted figures that cannot all hold; ``places``: where their outputs are written."""
    blocks = [
        (block, place)
        for plan, place in zip(plans, places, strict=True)
        for block in plan.smooth
        if isinstance(block, WeightedCells | WeightedMoments)
    ]
    if not blocks or schema.weight is None:
        return
    cells = _cells([block for block, _ in blocks], schema)
    if cells is None:
        return
    found = _system(blocks, cells, schema)
    missed = _solve(found, len(next(iter(cells.values()))))
    if missed is None:
        return
    told = [found.told[k] for k in missed]
    own = [path for path, _ in told if path[:1] == ("outputs",)]
    listed = "; ".join(_named(path, text) for path, text in told[:_LISTED])
    more = "; …" if len(told) > _LISTED else ""
    yield Fault(
        (own or [path for path, _ in told])[-1],
        f"no weights give all of these weighted figures: {listed}{more}; correct one of them",
        clash=True,
    )


def _named(path: Path, text: str) -> str:
    return f"{Fault(path, '').place}: {text}"


def _cells(
    blocks: Sequence[WeightedCells | WeightedMoments], schema: Schema
) -> dict[int, IntArray] | None:
    """List cells of all tables joined, by column one level that stands for those alike."""
    maps: dict[int, list[IntArray]] = {}
    for block in blocks:
        grid = block.classes.grid
        for column, groups in zip(grid.columns, grid.groups, strict=True):
            maps.setdefault(column, []).append(groups)
    kinds = {
        column: np.unique(np.stack(groups), axis=1, return_index=True)[1]
        for column, groups in maps.items()
    }
    if math.prod(len(levels) for levels in kinds.values()) > _MOST_CELLS:
        return None
    lists = np.meshgrid(*kinds.values(), indexing="ij")
    return {column: levels.ravel() for column, levels in zip(kinds, lists, strict=True)}


def _system(
    blocks: Sequence[tuple[WeightedCells | WeightedMoments, Path]],
    cells: dict[int, IntArray],
    schema: Schema,
) -> _Rows:
    """Write all figures as bounds of sums over cells: of weights first, then of quantities."""
    many = len(next(iter(cells.values())))
    weights = schema[str(schema.weight)].values
    least, most = (float(end) * schema.records for end in (weights.min(), weights.max()))
    quantities = list(dict.fromkeys(b.column for b, _ in blocks if isinstance(b, WeightedMoments)))
    width = many * (1 + len(quantities))
    found = _Rows()
    everything = np.zeros(width)
    everything[:many] = 1.0
    span = f"{schema.records:,} weights from {weights.min():.10g} to {weights.max():.10g}"
    found.add(everything, least, most, 1e-4 * most, (("weights", "range"), span))
    for number, column in enumerate(quantities, start=1):
        _between(found, cells, column, many, number, width, schema)
    usual = math.sqrt(least * most)
    for block, place in blocks:
        grid = block.classes.grid
        flat = sum(
            groups[cells[column]] * stride
            for column, groups, stride in zip(grid.columns, grid.groups, grid.strides, strict=True)
        )
        group = block.groups[flat]
        for k, figure in enumerate(block.figures):
            told = place, f"{figure.label} {figure.printed.text}"
            if isinstance(block, WeightedCells):
                _cell(found, block, k, group, width, usual, told)
            else:
                start = many * (1 + quantities.index(block.column))
                _moment(found, block, k, group, start, width, told)
    return found


def _between(
    found: _Rows,
    cells: dict[int, IntArray],
    column: int,
    many: int,
    number: int,
    width: int,
    schema: Schema,
) -> None:
    """Keep the weighted sum of a quantity in each cell between its smallest and largest value."""
    variable = schema.variables[column]
    values = variable.quantities[: variable.valid]
    for end, sign in ((float(values.min()), 1.0), (float(values.max()), -1.0)):
        row = sparse.hstack(
            [
                -sign * end * sparse.eye_array(many),
                *(sign * (k == number) * sparse.eye_array(many) for k in range(1, width // many)),
            ]
        )
        found.rows.append(sparse.csr_array(row))
        found.low += [0.0] * many
        found.high += [np.inf] * many
        found.unit += [math.nan] * many
        found.told += [((), "")] * many


def _cell(
    found: _Rows,
    block: WeightedCells,
    k: int,
    group: IntArray,
    width: int,
    usual: float,
    told: tuple[Path, str],
) -> None:
    """Bound a sum of weights, or a share of another."""
    parts, whole = (np.where(group < 0, 0.0, of[k][group]) for of in (block.parts, block.wholes))
    scale, half = float(block.scales[k]), float(block.half_widths[k])
    row = np.zeros((1, width))
    if not block.wholes[k].any():
        row[0, : len(parts)] = scale * parts
        found.add(row, float(block.low[k]), float(block.high[k]), half, told)
        return
    for end, low, high in ((block.low[k], 0.0, np.inf), (block.high[k], -np.inf, 0.0)):
        if np.isfinite(end):
            row = np.zeros((1, width))
            row[0, : len(parts)] = parts - end / scale * whole
            found.add(row, low, high, half / scale * usual, told)


def _moment(
    found: _Rows,
    block: WeightedMoments,
    k: int,
    group: IntArray,
    start: int,
    width: int,
    told: tuple[Path, str],
) -> None:
    """Bound a weighted sum of a quantity, or its mean."""
    name = next(name for name, rows in block.rows.items() if k in rows)
    own, half = np.where(group < 0, 0.0, block.member[k][group]), float(block.half_widths[k])
    if name == "total":
        row = np.zeros((1, width))
        row[0, start : start + len(own)] = own
        found.add(row, float(block.low[k]), float(block.high[k]), half, told)
    elif name == "mean":
        for end, low, high in ((block.low[k], 0.0, np.inf), (block.high[k], -np.inf, 0.0)):
            if np.isfinite(end):
                row = np.zeros((1, width))
                row[0, start : start + len(own)] = own
                row[0, : len(own)] = -end * own
                found.add(row, low, high, max(half, 1e-9), told)


def _solve(found: _Rows, cells: int) -> list[int] | None:
    """Return the figures that stand against each other, or nothing where all can hold."""
    rows = sparse.vstack(found.rows).tocsr()
    low, high = np.array(found.low), np.array(found.high)
    unit = np.array(found.unit)
    soft = np.flatnonzero(np.isfinite(unit))
    slack = sparse.csr_array(
        (np.ones(len(soft)), (soft, np.arange(len(soft)))), shape=(rows.shape[0], len(soft))
    )
    above = sparse.hstack([rows, -slack, sparse.csr_array(slack.shape)])
    below = sparse.hstack([-rows, sparse.csr_array(slack.shape), -slack])
    upper, lower = np.isfinite(high), np.isfinite(low)
    system = sparse.vstack([above.tocsr()[upper], below.tocsr()[lower]])
    limits = np.concatenate([high[upper], -low[lower]])
    cost = np.concatenate([np.zeros(rows.shape[1]), np.tile(1 / unit[soft], 2)])
    ends = np.tile([0.0, np.inf], (len(cost), 1))
    ends[cells : rows.shape[1], 0] = -np.inf  # quantities may be negative
    done = linprog(cost, A_ub=system, b_ub=limits, bounds=ends, method="highs")
    if done.status != 0 or done.fun < _CLEAR:
        return None
    price = np.zeros(rows.shape[0])
    upto = int(upper.sum())
    price[upper] += np.abs(done.ineqlin.marginals[:upto])
    price[lower] += np.abs(done.ineqlin.marginals[upto:])
    price[~np.isfinite(unit)] = 0.0
    size = price * np.where(np.isfinite(unit), unit, 0.0)
    told: dict[tuple[Path, str], int] = {}
    for k in np.flatnonzero(size > 1e-9 * size.max(initial=0.0)).tolist():
        told.setdefault(found.told[k], k)
    return list(told.values()) or None
