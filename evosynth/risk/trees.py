"""Sequential trees on coded columns: which original record lends each synthetic one a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evosynth.errors import EvosynthError
from evosynth.schema import FloatArray, IntArray


@dataclass(frozen=True)
class Column:
    """A variable of the original as trees see it."""

    codes: IntArray
    """Number of each record's level, in order of size for a quantity, whose -1 is missing."""
    values: FloatArray | None = None
    """The numbers of a quantity; nothing for categories, whose missing values are a level."""


def draw_donors(
    columns: Sequence[Column], n: int, rng: np.random.Generator, least: int
) -> list[IntArray]:
    """Draw one variable after the other, each from the leaves of a tree on those before it.

    Returns
    -------
    For each variable, the original record that each of the ``n`` new ones has its value from.
    """
    donors: list[IntArray] = []
    for position, column in enumerate(columns):
        everyone = np.arange(len(column.codes))
        if not position:
            donors.append(rng.integers(0, len(everyone), n))
            continue
        grow = _Grower(columns[:position], donors.copy(), rng, least)
        if column.values is None:
            donors.append(grow(column.codes, everyone, np.arange(n)))
            continue
        missing = column.codes < 0
        found = everyone[:1].repeat(n) if missing.all() else np.zeros(n, dtype=np.int64)
        known = np.arange(n)
        if missing.any() and not missing.all():
            found = grow(missing.astype(np.int64), everyone, known)
            known = np.flatnonzero(~missing[found])
        if len(known) and not missing.all():
            found[known] = grow(column.values[~missing], everyone[~missing], known)
        donors.append(found)
    return donors


@dataclass(frozen=True)
class _Grower:
    """Fits a tree to some original records and drops some new ones down it."""

    before: Sequence[Column]
    donors: Sequence[IntArray]
    rng: np.random.Generator
    least: int

    def __call__(
        self, outcome: FloatArray | IntArray, rows: IntArray, wanted: IntArray
    ) -> IntArray:
        """Pick a donor among ``rows`` (whose outcomes are given) for each ``wanted`` new record."""
        old, new = [], []
        for column, donor in zip(self.before, self.donors, strict=True):
            seen, drawn = column.codes[rows], column.codes[donor[wanted]]
            if column.values is None:
                places = _places(int(column.codes.max()) + 1, seen, outcome)
                seen, drawn = places[seen], places[drawn]
            old.append(seen)
            new.append(drawn)
        tree = _tree(outcome, self.least, int(self.rng.integers(2**31)))
        grown = np.column_stack(old).astype(np.float32)
        tree.fit(grown, outcome)
        at, fallen = tree.apply(grown), tree.apply(np.column_stack(new).astype(np.float32))
        by_leaf = np.argsort(at, kind="stable")
        starts = np.searchsorted(at[by_leaf], fallen, side="left")
        ends = np.searchsorted(at[by_leaf], fallen, side="right")
        found: IntArray = rows[by_leaf[self.rng.integers(starts, ends)]]
        return found


def _tree(outcome: FloatArray | IntArray, least: int, seed: int) -> Any:
    try:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    except ImportError as error:
        raise EvosynthError(
            "the CART comparator needs scikit-learn: pip install 'evosynth[risk]'"
        ) from error
    kind = DecisionTreeClassifier if outcome.dtype.kind == "i" else DecisionTreeRegressor
    return kind(min_samples_leaf=least, random_state=seed)


def _places(size: int, levels: IntArray, outcome: FloatArray | IntArray) -> IntArray:
    """Order the levels of a category by the outcome, so that a threshold can part them.

    By its mean, which finds the best split of a quantity or of two classes (Fisher 1958); of
    several classes by the first principal component of their shares (Coppersmith et al. 1999).
    """
    counts = np.bincount(levels, minlength=size)
    seen = np.flatnonzero(counts)
    if outcome.dtype.kind != "i":
        score = np.bincount(levels, outcome, minlength=size)[seen] / counts[seen]
    else:
        classes = int(outcome.max()) + 1
        cells = np.bincount(levels * classes + outcome, minlength=size * classes)
        shares = cells.reshape(size, classes)[seen] / counts[seen, None]
        weights = counts[seen] / counts.sum()
        apart = shares - weights @ shares
        _, _, axes = np.linalg.svd(np.sqrt(weights)[:, None] * apart, full_matrices=False)
        first = axes[0]
        score = apart @ (first * np.sign(first[np.argmax(np.abs(first))]))
    places = np.zeros(size, dtype=np.int64)
    places[seen[np.argsort(score, kind="stable")]] = np.arange(len(seen))
    return places
