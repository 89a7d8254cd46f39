"""Cells that records fall into: some variables, the values of each put into groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evosynth.schema import Codes, IntArray, Schema


@dataclass(frozen=True, eq=False)
class Grid:
    """A cross-classification of records by groups of levels of some variables."""

    columns: tuple[int, ...]
    """The variables, by column of the schema."""
    groups: tuple[IntArray, ...]
    """For each variable, the group (0, 1 …) that each of its levels belongs to."""

    @classmethod
    def of(cls, columns: Iterable[int], schema: Schema) -> Grid:
        """Cells by every level of some variables."""
        columns = tuple(columns)
        return cls(columns, tuple(np.arange(schema.variables[c].size) for c in columns))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of groups of each variable."""
        return tuple(int(group.max()) + 1 for group in self.groups)

    @cached_property
    def size(self) -> int:
        """Number of cells."""
        return int(np.prod(self.shape, dtype=np.int64))

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """How many cells apart neighbours in each variable are."""
        return tuple(
            int(np.prod(self.shape[i + 1 :], dtype=np.int64)) for i in range(len(self.shape))
        )

    @cached_property
    def key(self) -> tuple[tuple[int, ...], tuple[bytes, ...]]:
        """What makes two grids the same."""
        return self.columns, tuple(group.astype(np.int64).tobytes() for group in self.groups)

    def cells(self, codes: Codes) -> IntArray:
        """Flat cell of each record."""
        total = np.zeros(len(codes), dtype=np.int64)
        for column, group, stride in zip(self.columns, self.groups, self.strides, strict=True):
            total += (group * stride)[codes[:, column]]
        return total
