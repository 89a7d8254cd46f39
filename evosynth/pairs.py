"""Pearson and Spearman correlations of pairs of quantities, as sums over records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evosynth import tails
from evosynth.errors import Path
from evosynth.objective import Figure, Smooth
from evosynth.printed import Published
from evosynth.schema import Codes, FloatArray, IntArray, Schema
from evosynth.significance import p_box
from evosynth.sums import Sums, SumsExpansion, Totals

FORMS = ("pearson", "spearman", "covariances", "p_values")


@dataclass(frozen=True)
class Item:
    """One published figure of a pair of quantities."""

    one: str
    two: str
    form: str
    """One of `FORMS`; a p-value is that of the Pearson or of the Spearman correlation."""
    published: Published
    path: Path

    @property
    def label(self) -> str:
        """Name the figure."""
        what = {"pearson": "r", "spearman": "rho", "covariances": "covariance", "p_values": "p"}
        return f"{what[self.form]} of {self.one} and {self.two}"


def _r_of(p: float, n: float) -> float:
    """Size of the correlation that has a given two-sided p-value among n records."""
    t = tails.student(p / 2, max(n - 2, 1e-9))
    return 1.0 if np.isinf(t) else t / float(np.sqrt(max(n - 2, 0) + t * t))


class _Pair(Sums):
    """Pearson correlation, covariance and p-value of one pair."""

    def __init__(
        self, classes: Any, one: str, two: str, items: Sequence[Item], schema: Schema
    ) -> None:
        super().__init__(classes, [Figure(i.label, i.published) for i in items])
        self.forms = [item.form for item in items]
        # A p-value goes with a correlation of the published sign.
        known = [i.published.value for i in items if i.form in {"pearson", "spearman"}]
        self.sign = int(np.sign(known[0])) if known else 0
        self.first, self.second = schema.index[one], schema.index[two]
        self.x, self.y = (_centred(schema[name]) for name in (one, two))

    def scores(self, codes: Codes) -> tuple[FloatArray, FloatArray]:
        """Numbers that are correlated."""
        return self.x[codes[:, self.first]], self.y[codes[:, self.second]]

    def features(self, codes: Codes) -> FloatArray:
        """Give what sums of squares and products are made of."""
        x, y = self.scores(codes)
        return np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1)

    def evaluate(self, totals: Totals) -> Totals:
        """Correlation, covariance, or the size of the correlation for a p-value."""
        n, x, y, xx, yy, xy = totals[0]
        product, one, two = xy - x * y / n, xx - x * x / n, yy - y * y / n
        r = product / np.sqrt(one * two)
        size = r * (self.sign or (1 if np.real(r) >= 0 else -1))
        values = {"covariances": product / (n - 1), "p_values": size}
        return np.array([values.get(form, r) for form in self.forms])

    def box(self, totals: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P-values are bounds on the size of the correlation."""
        keys = ["p" if form == "p_values" else form for form in self.forms]
        return p_box(self.low, self.high, keys, lambda p: _r_of(p, float(totals[0, 0])))


def _centred(variable: Any) -> FloatArray:
    values = variable.quantities
    return np.asarray(values - np.nanmean(values))


class _Ranked(_Pair):
    """Spearman correlation of one pair: the correlation of mid-ranks, which are found anew."""

    def __init__(
        self, classes: Any, one: str, two: str, items: Sequence[Item], schema: Schema
    ) -> None:
        super().__init__(classes, one, two, items, schema)
        self.x, self.y = np.zeros(len(self.x)), np.zeros(len(self.y))

    def at(self, codes: Codes, counts: FloatArray) -> _Ranked:
        """Return the same with the ranks of a dataset."""
        found = object.__new__(_Ranked)
        found.__dict__.update(self.__dict__)
        kept = (self.group_of(codes) >= 0) * counts
        a, b = codes[:, self.first], codes[:, self.second]
        found.x, found.y = _ranks(a, kept, len(self.x)), _ranks(b, kept, len(self.y))
        x, y = found.x[a] * kept, found.y[b] * kept
        found.shift_x = np.stack([2 * _shifts(a, x, len(self.x)), _shifts(a, y, len(self.x))])
        found.shift_y = np.stack([2 * _shifts(b, y, len(self.y)), _shifts(b, x, len(self.y))])
        return found

    shift_x: FloatArray
    """What a record of each level adds to the sums of squares and of products of others."""
    shift_y: FloatArray

    def expand(self, codes: Codes, counts: FloatArray) -> Any:
        """Expand at the ranks of the dataset."""
        here = self.at(codes, counts)
        inner = Sums.expand(here, codes, counts)
        return _RankedExpansion(here, inner, inner.offset)

    def refit(self, codes: Codes, counts: FloatArray) -> FloatArray:
        """Rank and correlate anew."""
        return Sums.refit(self.at(codes, counts), codes, counts)


@dataclass(frozen=True)
class _RankedExpansion:
    """Effect of a record by its own ranks, and by how it shifts the ranks of others."""

    pair: _Ranked
    inner: SumsExpansion
    offset: FloatArray

    def influence(self, codes: Codes) -> FloatArray:
        own = self.inner.influence(codes)
        inside = self.pair.group_of(codes) >= 0
        # The ranks of other records move by a half or by one, and their sums with them.
        square_x, product_x = self.pair.shift_x[:, codes[:, self.pair.first]] * inside
        square_y, product_y = self.pair.shift_y[:, codes[:, self.pair.second]] * inside
        moved = np.stack([square_x, square_y, product_x + product_y], axis=1)
        return np.asarray(own + moved @ self.inner.change[0, 3:6])


def _ranks(levels: Any, counts: FloatArray, size: int) -> FloatArray:
    """Mid-rank of each level, less the middle rank."""
    found = np.bincount(levels, counts, size)
    return np.asarray(np.cumsum(found) - found / 2 - found.sum() / 2)


def _shifts(levels: Any, other: FloatArray, size: int) -> FloatArray:
    """Find what a record of each level adds to the products of others through their ranks."""
    found = np.bincount(levels, other, size)
    above = found.sum() - np.cumsum(found)
    return np.asarray(above + found / 2)


class PairFigures(Smooth):
    """The figures of one pair in the order of the spec, from values and from ranks."""

    curved = True

    def __init__(
        self,
        classes: Any,
        one: str,
        two: str,
        items: Sequence[Item],
        plain: Sequence[Item],
        ranked: Sequence[Item],
        schema: Schema,
    ) -> None:
        self.parts: list[_Pair] = []
        order: list[int] = []
        if plain:
            self.parts.append(_Pair(classes, one, two, plain, schema))
            order += [items.index(item) for item in plain]
        if ranked:
            self.parts.append(_Ranked(classes, one, two, ranked, schema))
            order += [items.index(item) for item in ranked]
        self.order: IntArray = np.argsort(order)
        found = [i.published.value for i in items if i.form in {"pearson", "spearman"}]
        if found and one != two:
            self.associations = ((schema.index[one], schema.index[two], found[0]),)

    @property
    def size(self) -> int:
        """Number of figures."""
        return len(self.order)

    @property
    def half_width(self) -> FloatArray:
        """Half a unit of the last printed digit of each."""
        return np.concatenate([part.half_width for part in self.parts])[self.order]

    def expand(self, codes: Codes, counts: FloatArray) -> _BothExpansion:
        """Expand each part."""
        return _BothExpansion([part.expand(codes, counts) for part in self.parts], self.order)

    def refit(self, codes: Codes, counts: FloatArray) -> FloatArray:
        """Correlate anew."""
        return np.concatenate([p.refit(codes, counts) for p in self.parts])[self.order]


@dataclass(frozen=True)
class _BothExpansion:
    parts: list[Any]
    order: IntArray

    @property
    def offset(self) -> FloatArray:
        return np.concatenate([part.offset for part in self.parts])[self.order]

    def influence(self, codes: Codes) -> FloatArray:
        return np.hstack([part.influence(codes) for part in self.parts])[:, self.order]
