"""The cells of one published table: its variables, grouped, inside a subpopulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosynth import condition as conditions
from evosynth.condition import Condition
from evosynth.grid import Grid
from evosynth.schema import IntArray, Schema, Variable

OUTSIDE = -1
"""Group of levels that a table does not count."""


def all_levels(variable: Variable) -> IntArray:
    """Every valid value is a group of its own; missing ones are not counted."""
    groups = np.arange(variable.size)
    groups[variable.valid :] = OUTSIDE
    return groups


def any_level(variable: Variable) -> IntArray:
    """All valid values are one group; missing ones are not counted."""
    return np.minimum(all_levels(variable), 0)


@dataclass(frozen=True)
class Classes:
    """A grid, and where the cells of a published table are in it."""

    grid: Grid
    names: tuple[str, ...]
    """The variables of the table; further ones of the grid are those of the subpopulation."""
    counted: tuple[int, ...]
    """Number of groups of each variable of the table."""

    def cell(self, groups: Sequence[int]) -> int:
        """Flat cell of a combination of groups."""
        return sum(g * stride for g, stride in zip(groups, self.grid.strides, strict=False))

    def inside(self) -> IntArray:
        """Flat cells of all combinations of groups, in order."""
        cells = np.zeros(1, dtype=np.int64)
        for size, stride in zip(self.counted, self.grid.strides, strict=False):
            cells = (cells[:, None] + np.arange(size) * stride).ravel()
        return cells


def classify(
    schema: Schema, groups: Mapping[str, IntArray], where: Condition | None = None
) -> Classes:
    """Lay out a table: ``groups`` tells the group of each level of each variable."""
    admitted = separate(where, schema) if where is not None else {}
    columns, maps, counted = [], [], []
    for name in [*groups, *(name for name in admitted if name not in groups)]:
        variable = schema[name]
        found = groups[name].copy() if name in groups else np.zeros(variable.size, dtype=np.int64)
        n_groups = int(found.max()) + 1
        if name in admitted:
            found[~admitted[name]] = OUTSIDE
        found[found == OUTSIDE] = n_groups
        columns.append(schema.index[name])
        maps.append(found)
        if name in groups:
            counted.append(n_groups)
    return Classes(Grid(tuple(columns), tuple(maps)), tuple(groups), tuple(counted))


def separate(where: Condition, schema: Schema) -> dict[str, NDArray[np.bool_]]:
    """Levels of each variable that a condition admits, if it tells them apart one by one."""
    grid, truth = conditions.truth(where, schema)
    admitted = {}
    product = np.ones(grid.shape, dtype=np.bool_)
    for axis, (column, group) in enumerate(zip(grid.columns, grid.groups, strict=True)):
        others = tuple(i for i in range(truth.ndim) if i != axis)
        some = np.asarray(truth.any(axis=others))
        shape = [-1 if i == axis else 1 for i in range(truth.ndim)]
        product &= some.reshape(shape)
        admitted[schema.variables[column].name] = some[group]
    if not np.array_equal(product, truth):
        raise ValueError(
            "a subpopulation joins conditions on different variables by `and`; "
            "`or` may stand between conditions on the same variable"
        )
    return admitted
