"""Records in the cells of margins, and everything that does not fit between data and totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.errors import are, have, many, shown, suggest
from evosynth.schema import FloatArray, IntArray
from evosynth.weights.totals import MAX_CELLS, MISSING, Margin, text_of

if TYPE_CHECKING:
    import pandas as pd

LABELS = "value labels"
"""Attribute of a data frame: by variable, values by their labels."""
_LISTED = 5
_NARROW = 1000
"""Span of whole numbers that are codes as they are."""


@dataclass(frozen=True)
class Column:
    """A variable of the data, its values as texts."""

    codes: IntArray
    texts: tuple[str, ...]
    numbers: bool = False
    """Whether all values are numbers or true and false."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Values by their labels, where a file has these."""

    def find(self, text: str) -> int:
        """Find a value by its text, as any number that is the same, or by its label; -1 if none."""
        blank = () if text else (MISSING,)
        same = _same(text) if self.numbers else ()
        for known in (text, *blank, *same, self.labels.get(text)):
            if known in self._places:
                return self._places[known]
        return -1

    @cached_property
    def _places(self) -> dict[str | None, int]:
        return {text: place for place, text in enumerate(self.texts)}


@dataclass(frozen=True)
class Coded:
    """Margins, and where each record is in them."""

    margins: tuple[Margin, ...]
    """Those of records first, then those of quantities."""
    codes: tuple[IntArray, ...]
    """Cell of each record in each margin."""
    quantities: FloatArray
    """Shape (records, totals of quantities)."""

    @property
    def counts(self) -> list[Margin]:
        """Margins of records."""
        return [margin for margin in self.margins if margin.quantity is None]

    @property
    def totals(self) -> FloatArray:
        """All totals in order."""
        return np.array([value for m in self.margins for value in m.cells.values()])

    @property
    def labels(self) -> list[str]:
        """Name of each total."""
        return [m.called(cell) for m in self.margins for cell in m.cells]


def _same(text: str) -> list[str]:
    """Other texts of the same number: 1.0 and true are 1."""
    truth = {"true": ["True", "1"], "false": ["False", "0"], "1": ["True"], "0": ["False"]}
    with suppress(ValueError):
        number = text_of(float(text))
        return [number, *truth.get(number, [])]
    return truth.get(text.casefold(), [])


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """Call variables by texts, as totals do."""
    if all(isinstance(name, str) for name in frame.columns):
        return frame
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def column_of(frame: pd.DataFrame, name: str) -> Column:
    """Code the values of a variable."""
    import pandas as pd

    column = frame[name]
    labels = frame.attrs.get(LABELS, {}).get(name, {})
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu" and len(column):
        numbers = column.to_numpy()
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < _NARROW:
            wide = numbers if numbers.dtype.kind == "u" else numbers.astype(np.int64)
            texts = tuple(str(value) for value in range(low, high + 1))
            return Column((wide - wide.min()).astype(np.int64), texts, True, labels)
    codes, values = pd.factorize(column)
    codes = codes.astype(np.int64, copy=False)
    texts = tuple(text_of(value) for value in values)
    plain = all(isinstance(value, Real | np.bool_) for value in values)
    if (codes < 0).any():
        codes = np.where(codes < 0, len(texts), codes)
        texts = (*texts, MISSING)
    different = tuple(dict.fromkeys(texts))
    if len(different) < len(texts):
        place = {text: code for code, text in enumerate(different)}
        codes = np.array([place[text] for text in texts])[codes]
    return Column(codes, different, plain, labels)


def encode(frame: pd.DataFrame, margins: Sequence[Margin]) -> tuple[Coded, list[str]]:
    """Put every record into a cell of every margin; say what does not fit."""
    ordered = sorted(margins, key=lambda margin: margin.quantity is not None)
    known: dict[str, Column] = {}
    faults: list[str] = []
    columns = [str(name) for name in frame.columns]
    for margin in ordered:
        for name in (*margin.names, *([margin.quantity] if margin.quantity else [])):
            if name not in columns:
                message = f"{margin.label}: the data have no variable {shown(name)!r}"
                faults.append(f"{message}{suggest(name, columns)}")
            elif columns.count(name) > 1:
                faults.append(f"{margin.label}: the data have several variables {shown(name)!r}")
            elif name in margin.names and name not in known:
                known[name] = column_of(frame, name)
        if len(margin.cells) > MAX_CELLS:
            faults.append(f"{margin.label}: more than {MAX_CELLS:,} totals")
    if faults:
        return Coded((), (), np.empty((0, 0))), list(dict.fromkeys(faults))
    codes, quantities = [], []
    for margin in ordered:
        cells, wrong = _cells(margin, known, len(frame))
        faults += wrong
        codes.append(cells)
        if margin.quantity is not None:
            values, wrong = _quantity(frame, margin)
            faults += wrong
            for position in range(len(margin.cells)):
                quantities.append(np.where(cells == position, values, 0.0))
    matrix = np.stack(quantities, axis=1) if quantities else np.empty((len(frame), 0))
    return Coded(tuple(ordered), tuple(codes), matrix), faults


def _quantity(frame: pd.DataFrame, margin: Margin) -> tuple[FloatArray, list[str]]:
    import pandas as pd

    if frame[margin.quantity].dtype.kind in "mMc":
        return np.zeros(len(frame)), [f"{margin.label}: that variable holds no numbers"]
    values = pd.to_numeric(frame[margin.quantity], errors="coerce").to_numpy(dtype=float)
    wrong = int((~np.isfinite(values)).sum())
    if wrong:
        message = (
            f"{many(wrong, 'record')} {have(wrong)} no number there; a total needs "
            f"one in every record"
        )
        return values, [f"{margin.label}: {message}"]
    return values, []


def _cells(margin: Margin, known: dict[str, Column], n: int) -> tuple[IntArray, list[str]]:
    """Cell of each record, and what is wrong."""
    shape = [len(known[name].texts) for name in margin.names]
    table = np.full(shape, -1, dtype=np.int64)
    joint: Any = known[margin.names[0]].codes if margin.names else np.zeros(n, dtype=np.int64)
    for name, size in list(zip(margin.names, shape, strict=True))[1:]:
        joint = joint * size + known[name].codes
    faults = []
    for number, cell in enumerate(margin.cells):
        at = tuple(known[m].find(value) for m, value in zip(margin.names, cell, strict=True))
        if min(at, default=0) >= 0:
            if table[at] >= 0:
                same = margin.called([*margin.cells][int(table[at])])
                faults.append(f"{margin.label}: {margin.called(cell)} is the same as {same}")
            table[at] = number
    flat = table.ravel()
    sizes = np.bincount(joint, minlength=len(flat))
    outside = np.flatnonzero((sizes > 0) & (flat < 0))
    for number in outside[:_LISTED].tolist():
        where = np.unravel_index(number, shape)
        values = [known[m].texts[int(i)] for m, i in zip(margin.names, where, strict=True)]
        message = f"no total for {margin.called(tuple(values))}"
        remedy = "add one, or leave these records out"
        faults.append(
            f"{margin.label}: {message}, which {many(sizes[number], 'record')} "
            f"{have(sizes[number])}; {remedy}"
        )
    if len(outside) > _LISTED:
        faults.append(
            f"{margin.label}: … and no total for {many(len(outside) - _LISTED, 'other value')}"
        )
    held = np.zeros(len(margin.cells), dtype=np.int64)
    held[flat[flat >= 0]] = sizes[flat >= 0]
    cells = list(margin.cells.items())
    empty = [number for number in np.flatnonzero(held == 0).tolist() if cells[number][1] != 0]
    for number in empty[:_LISTED]:
        cell, total = cells[number]
        message = f"the total of {margin.called(cell)} is {total:g}, but no record has that"
        faults.append(f"{margin.label}: {message}; merge it with another category")
    if len(empty) > _LISTED:
        faults.append(
            f"{margin.label}: … and {many(len(empty) - _LISTED, 'other category')} "
            f"{are(len(empty) - _LISTED)} empty"
        )
    return np.asarray(flat[joint]), faults
