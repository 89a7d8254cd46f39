"""Pastes key variables into one number per record, and sorts the records of two frames by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosynth.kernels import attribution as kernel
from evosynth.risk.coding import Codes, Column

_LARGEST = 2**62


@dataclass(frozen=True)
class Keys:
    """The keys of one data frame, the people, beside those of another that an intruder holds."""

    names: tuple[str, ...]
    sides: tuple[str, str]
    levels: Mapping[str, Codes]
    """By key variable: its level in each distinct combination."""
    start_d: NDArray[np.int64]
    order_d: NDArray[np.int32]
    start_s: NDArray[np.int64]
    order_s: NDArray[np.int32]

    @property
    def d(self) -> NDArray[np.int64]:
        """How many people have each combination."""
        return np.diff(self.start_d)

    @property
    def s(self) -> NDArray[np.int64]:
        """How many records of the intruder's data have each combination."""
        return np.diff(self.start_s)


def paste(columns: Mapping[str, Column], names: Sequence[str], sides: tuple[str, str]) -> Keys:
    """Give numbers to the combinations of key values that occur on either side."""
    people, held = sides
    pasted = np.zeros(sum(len(columns[names[0]].codes[side]) for side in sides), dtype=np.int64)
    size = 1
    for name in names:
        column = columns[name]
        if size * column.size >= _LARGEST:
            numbers, distinct = kernel.number_values(pasted)
            pasted = numbers.astype(np.int64)
            size = len(distinct)
        codes = np.concatenate([column.codes[people], column.codes[held]])
        pasted = pasted * np.int64(column.size) + codes
        size *= column.size
    ids, distinct = kernel.number_values(pasted)
    n_people, n_keys = len(columns[names[0]].codes[people]), len(distinct)
    first = np.empty(n_keys, dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
    start_d, order_d = kernel.sort_by_key(ids[:n_people], n_keys)
    start_s, order_s = kernel.sort_by_key(ids[n_people:], n_keys)
    levels = {}
    for name in names:
        codes_d, codes_s = (columns[name].codes[side] for side in sides)
        mine = first < n_people
        level = np.empty(n_keys, dtype=np.int32)
        level[mine] = codes_d[first[mine]]
        level[~mine] = codes_s[first[~mine] - n_people]
        levels[name] = level
    return Keys(tuple(names), sides, levels, start_d, order_d, start_s, order_s)
