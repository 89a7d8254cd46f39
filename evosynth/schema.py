"""Variables and how their values are coded: level 0, 1, 2 … of each variable."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evosynth.errors import suggest

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.bonds import Bonds

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Codes = NDArray[np.unsignedinteger[Any]]
"""Coded records, shape (records, variables), in the smallest integer type that holds them."""

MISSING = "missing"
"""What a spec calls the missing value that stands as a blank in a data file."""


def day(text: object) -> int | None:
    """Read a day as the number of days since 1970."""
    if not isinstance(text, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        return None
    try:
        return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days
    except ValueError:
        return None


@dataclass(frozen=True)
class Variable:
    """A variable: its values in order, their labels, and what is known of their shares."""

    name: str
    label: str
    values: NDArray[Any]
    """Valid values, then codes of missing values; a blank, if there is one, comes last."""
    labels: tuple[str, ...] | None
    """One label per value; ``None`` for a quantity."""
    proportions: FloatArray
    """Assumed shares, used to start from and to draw replacements; sums to 1."""
    missing: int = 0
    """How many of the values stand for missing ones."""
    blank: bool = False
    """Whether the last value is a blank in data files."""
    decimals: int = 0
    """Of the values of a quantity."""
    missing_labels: tuple[str, ...] = ()
    """One label per code of a missing value, of a quantity as well."""
    shaped: bool = False
    """Whether the spec says how it is distributed."""
    counted_missing: bool = False
    """Whether the spec says how often its values are missing."""
    ordered: bool = False
    """Whether categories have an order, that in which they are listed."""
    date: bool = False
    """Whether values are days since 1970, and dates in the data."""
    identifier: tuple[str, int] | None = None
    """Text before the number of a record, and digits of that, if the values tell records apart."""
    hidden: bool = False
    """Whether it serves the search alone and is not part of the data."""

    @property
    def categorical(self) -> bool:
        """Whether the values are codes rather than quantities."""
        return self.labels is not None

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The values as a spec writes them."""
        if self.date:
            dates = self.values[: self.valid].astype("datetime64[D]").astype(str).tolist()
            return (*dates, MISSING) if self.blank else tuple(dates)
        texts = [
            format(value, f".{self.decimals}f") if self.decimals else str(value)
            for value in self.values[: self.valid].tolist()
        ]
        if self.blank:
            return (*texts, MISSING)
        gone = self.values[self.valid :].tolist()  # codes are whole numbers, or texts
        return (*texts, *(format(code, ".0f") if self.decimals else str(code) for code in gone))

    @cached_property
    def levels(self) -> dict[str, int]:
        """The level of each value, by the value's text."""
        return {text: level for level, text in enumerate(self.texts)}

    @property
    def labelled(self) -> Iterator[tuple[str, str]]:
        """The values that have labels and stand in data files, by their texts."""
        if self.identifier is not None:
            return
        end = self.size - self.blank
        if self.labels is not None:
            yield from zip(self.texts[:end], self.labels[:end], strict=True)
        elif not self.blank:
            yield from zip(self.texts[self.valid :], self.missing_labels, strict=True)

    def hint(self, wrong: str) -> str:
        """Return what to say after a value that this variable does not have."""
        folded = wrong.casefold().strip()
        labels = [label.casefold().strip() for label in self.labels or ()]
        if labels.count(folded) == 1:
            return f"; write its code, {self.texts[labels.index(folded)]}"
        if self.categorical or self.size <= 12:
            return suggest(wrong, self.levels)
        return f" (its values are {self.texts[0]} to {self.texts[self.valid - 1]})"

    @property
    def size(self) -> int:
        """How many values there are, missing ones among them."""
        return len(self.values)

    @property
    def valid(self) -> int:
        """How many values there are that do not stand for missing ones."""
        return len(self.values) - self.missing

    @cached_property
    def quantities(self) -> FloatArray:
        """Each value as a number; not a number where it is missing."""
        found = np.full(self.size, np.nan)
        found[: self.valid] = self.values[: self.valid].astype(np.float64)
        return found

    def decode(self, levels: NDArray[Any]) -> Any:
        """Values of coded records, as a column of a data frame."""
        import pandas as pd

        column = self.values[levels]
        if self.date:
            days = column.astype("datetime64[D]").astype("datetime64[s]")
            days[levels >= self.valid] = np.datetime64("NaT")
            return days
        if not self.blank or column.dtype.kind not in "iu":
            return column
        return pd.arrays.IntegerArray(column, levels == self.size - 1)


@dataclass(frozen=True)
class Schema:
    """The variables of a dataset and its number of records."""

    records: int
    variables: tuple[Variable, ...]
    associations: tuple[tuple[int, int, float], ...] = ()
    """Pairs of columns with a correlation that is assumed where no figure tells."""
    fixed: int | None = None
    """Column whose values every candidate has in the same order."""
    weight: str | None = None
    """Variable that weighted outputs weight records by, if there are such."""
    bonds: Bonds | None = None
    """What ties values of a record to each other, if anything does."""

    @cached_property
    def derived(self) -> frozenset[int]:
        """Columns that are worked out from others."""
        return frozenset() if self.bonds is None else self.bonds.columns

    @cached_property
    def shown(self) -> tuple[Variable, ...]:
        """The variables that are part of the data."""
        return tuple(variable for variable in self.variables if not variable.hidden)

    def complete(self, codes: Codes) -> NDArray[np.bool_] | None:
        """Fill in derived variables, in place; tell which records may be, ``None`` if all."""
        return None if self.bonds is None else self.bonds.complete(codes)

    @cached_property
    def index(self) -> dict[str, int]:
        """Column of each variable, by name."""
        return {variable.name: column for column, variable in enumerate(self.variables)}

    def __getitem__(self, name: str) -> Variable:
        """Return the variable of that name."""
        return self.variables[self.index[name]]

    @cached_property
    def sizes(self) -> IntArray:
        """Number of levels of each variable."""
        return np.array([variable.size for variable in self.variables], dtype=np.int64)

    @cached_property
    def dtype(self) -> np.dtype[np.unsignedinteger[Any]]:
        """The smallest unsigned integer type that holds every level."""
        return np.min_scalar_type(int(self.sizes.max()) - 1)

    def frame(self, codes: Codes, order: NDArray[np.int32] | None = None) -> pd.DataFrame:
        """Decode records into a data frame of values, row ``order[i]`` of ``codes`` as record i."""
        import pandas as pd

        columns = {}
        for column, variable in enumerate(self.variables):
            if variable.hidden:
                continue
            if variable.identifier is not None:
                columns[variable.name] = _numbered(variable.identifier, order, len(codes))
                continue
            levels = codes[:, column] if order is None else codes[:, column][order]
            columns[variable.name] = variable.decode(levels)
        return pd.DataFrame(columns, copy=False)


def _numbered(how: tuple[str, int], order: NDArray[np.int32] | None, size: int) -> Any:
    """Give records numbers from 1, in the order in which they stand."""
    n_records = size if order is None else len(order)
    numbers = np.arange(1, n_records + 1)
    prefix, digits = how
    if not prefix and digits <= len(str(n_records)):
        return numbers
    return np.char.add(prefix, np.char.zfill(numbers.astype(str), digits)).astype(object)
