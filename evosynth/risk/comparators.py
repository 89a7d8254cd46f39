"""General synthesisers that see the original: what the risk of other data is compared with.

Each draws records from a model of the original: trees, margins, or moments by group. The same
seed gives the same records. Columns keep their names, order and types, and missing values are
modelled; no value lies outside what was observed or has more decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.errors import DataError, EvosynthError
from evosynth.risk.coding import MOST_CODES
from evosynth.risk.fleishman import intermediate, nearest_correlation, polynomial, symmetric_root
from evosynth.risk.methods import METHODS, Method
from evosynth.risk.tables import combine, is_quantity
from evosynth.risk.trees import Column, draw_donors
from evosynth.schema import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

Derived = Mapping[str, Callable[["pd.DataFrame"], "pd.Series[Any]"]]

LEAST_RECORDS = 10
"""Smaller groups are drawn with the moments of everyone: their own would tell who is in them."""
_MOST_DECIMALS = 10


def synthesise(
    method: Method,
    original: pd.DataFrame,
    n: int | None = None,
    seed: int = 0,
    *,
    by: Sequence[str] = (),
    categories: Collection[str] = (),
    derived: Derived | None = None,
) -> pd.DataFrame:
    """Draw synthetic records from a model of the original.

    Parameters
    ----------
    method
        ``cart``: one tree per variable. ``margins``: each variable by itself. ``normal`` and
        ``nonnormal``: quantities by their moments within groups.
    n
        Number of records, those of the original if nothing is said.
    by
        Variables whose groups ``normal`` and ``nonnormal`` model apart.
    categories
        Numeric variables that are codes rather than quantities.
    derived
        Variables that follow from others: computed from the drawn records in this order, and
        modelled by none.
    """
    if method not in METHODS:
        raise EvosynthError(f"{method!r} is no comparator ({', '.join(METHODS)})")
    made = {} if derived is None else dict(derived)
    _check(original, n, [*by, *categories, *made])
    if set(by) & set(made):
        raise DataError("groups cannot be derived")
    base = original.drop(columns=list(made))
    if method == "margins":
        drawn = margins(base, n, seed)
    elif method == "cart":
        drawn = cart(base, n, seed, categories=set(categories) - set(made))
    else:
        model = normal if method == "normal" else nonnormal
        drawn = model(base, n, seed, by=by, categories=set(categories) - set(made))
    for name, compute in made.items():
        drawn[name] = compute(drawn).astype(original[name].dtype)
    return drawn[list(original.columns)]


def margins(original: pd.DataFrame, n: int | None = None, seed: int = 0) -> pd.DataFrame:
    """Draw each variable from its own distribution, as if none knew of another."""
    size = _check(original, n)
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, len(original), size) for _ in original.columns]
    return _lent(original, dict(zip(original.columns, rows, strict=True)))


def cart(
    original: pd.DataFrame,
    n: int | None = None,
    seed: int = 0,
    *,
    order: Sequence[str] | None = None,
    categories: Collection[str] = (),
    least: int = 5,
) -> pd.DataFrame:
    """Draw one variable after the other from the leaves of trees on the variables before it.

    The first variable is drawn from its distribution. Each other one gets a tree, fitted to the
    original; a synthetic record falls into a leaf and takes the value of one of the original
    records there. A quantity with missing values has a tree for being missing, too.

    Parameters
    ----------
    order
        In which the variables are drawn; that of the columns if nothing is said.
    categories
        Numeric variables that are codes rather than quantities.
    least
        Fewest original records in a leaf.
    """
    size = _check(original, n, categories)
    names = list(original.columns) if order is None else list(order)
    if len(names) != len(original.columns) or set(names) != set(original.columns):
        raise DataError("the order must name each variable of the original once")
    columns = [_column(original[name], name in categories) for name in names]
    donors = draw_donors(columns, size, np.random.default_rng(seed), least)
    return _lent(original, dict(zip(names, donors, strict=True)))


def normal(
    original: pd.DataFrame,
    n: int | None = None,
    seed: int = 0,
    *,
    by: Sequence[str] = (),
    categories: Collection[str] = (),
) -> pd.DataFrame:
    """Draw quantities from a multivariate normal distribution in each group.

    Groups have their share of the records. Quantities have means and covariances as in their
    group, and are missing together as there; other variables are drawn from their distribution
    in the group. Values are rounded to the observed decimals and held in the observed range; a
    quantity with no more than 20 different values takes the nearest of them.
    """
    return _by_group(original, n, seed, by, categories, shaped=False)


def nonnormal(
    original: pd.DataFrame,
    n: int | None = None,
    seed: int = 0,
    *,
    by: Sequence[str] = (),
    categories: Collection[str] = (),
) -> pd.DataFrame:
    """Draw quantities with the skewness and kurtosis that they have in each group, too.

    As :func:`normal`, with polynomials of normal quantities (Fleishman 1978), correlated as in
    the group (Vale and Maurelli 1983).
    """
    return _by_group(original, n, seed, by, categories, shaped=True)


def _by_group(
    original: pd.DataFrame,
    n: int | None,
    seed: int,
    by: Sequence[str],
    categories: Collection[str],
    *,
    shaped: bool,
) -> pd.DataFrame:
    import pandas as pd

    size = _check(original, n, [*by, *categories])
    rng = np.random.default_rng(seed)
    quantities = [
        name
        for name in original.columns
        if name not in by and name not in categories and is_quantity(original[name])
    ]
    values = np.column_stack(
        [np.zeros((len(original), 0)), *(_numbers(original[name]) for name in quantities)]
    )
    groups = _groups(original, by)
    sizes = _shared_out(np.bincount(groups), size)
    donors: dict[Any, list[IntArray]] = {name: [] for name in original.columns}
    drawn = [np.zeros((0, len(quantities)))]
    for group, wanted in enumerate(sizes):
        rows = np.flatnonzero(groups == group)
        base = rows if len(rows) >= LEAST_RECORDS else np.arange(len(original))
        model = values[base]
        found = _draw(model, int(wanted), rng, shaped)
        found[np.isnan(model)[rng.integers(0, len(model), wanted)]] = np.nan
        drawn.append(found)
        for name in original.columns:
            # A group is the same for all of its records: any of them lends it.
            lent = rows[:1].repeat(wanted) if name in by else rng.choice(base, wanted)
            donors[name].append(lent)
    shuffled = rng.permutation(size)
    frame = _lent(original, {name: np.concatenate(d)[shuffled] for name, d in donors.items()})
    made = np.concatenate(drawn)[shuffled]
    for position, name in enumerate(quantities):
        fitting = _fitted(made[:, position], values[:, position])
        frame[name] = pd.Series(fitting, index=frame.index).astype(original[name].dtype)
    return frame


def _draw(values: FloatArray, n: int, rng: np.random.Generator, shaped: bool) -> FloatArray:
    """Draw records with the moments of these; a quantity that nobody has is never known."""
    k = values.shape[1]
    noise = rng.standard_normal((n, k))
    known = ~np.isnan(values)
    counts = np.maximum(known.sum(axis=0), 1)
    means = np.where(known, values, 0).sum(axis=0) / counts
    apart = np.where(known, values - means, 0)
    deviations = np.sqrt((apart**2).sum(axis=0) / np.maximum(counts - 1, 1))
    varied = deviations > 1e-12 * (1 + np.abs(means))
    correlations = _correlations(apart, known, varied)
    if not shaped:
        plain: FloatArray = means + (noise @ symmetric_root(correlations)) * deviations
        return plain
    spread = np.where(varied, np.sqrt((apart**2).sum(axis=0) / counts), 1)
    standard = apart / spread
    curves = [
        polynomial(skewness, kurtosis) if used else np.array([1.0, 0.0, 0.0])
        for skewness, kurtosis, used in zip(
            (standard**3).sum(axis=0) / counts,
            (standard**4).sum(axis=0) / counts - 3,
            varied,
            strict=True,
        )
    ]
    between = np.eye(k)
    for i in range(k):
        for j in range(i):
            between[i, j] = between[j, i] = intermediate(
                curves[i], curves[j], float(correlations[i, j])
            )
    z = noise @ symmetric_root(nearest_correlation(between))
    b, c, d = np.array(curves).reshape(k, 3).T
    found: FloatArray = means + (-c + b * z + c * z**2 + d * z**3) * deviations
    return found


def _correlations(apart: FloatArray, known: Any, varied: Any) -> FloatArray:
    """Correlate each two quantities over the records that have both."""
    both = known.astype(np.float64)
    squares = (apart**2).T @ both
    products = apart.T @ apart
    scale = np.sqrt(squares * squares.T)
    usable = np.outer(varied, varied) & (scale > 0)
    found = np.divide(products, scale, out=np.zeros_like(products), where=usable)
    np.fill_diagonal(found, 1)
    return nearest_correlation(np.clip(found, -1, 1))


def _fitted(drawn: FloatArray, observed: FloatArray) -> FloatArray:
    """Round to the observed decimals and stay in the observed range; few values are codes."""
    known = observed[~np.isnan(observed)]
    if not len(known):
        return drawn
    few = np.unique(known)
    if len(few) <= MOST_CODES:
        # The nearest value that somebody has: there is no one and a half cars, nor a sex of 3.
        nearest = few[np.searchsorted((few[:-1] + few[1:]) / 2, drawn)]
        return np.where(np.isnan(drawn), np.nan, nearest)
    for decimals in range(_MOST_DECIMALS + 1):
        if np.array_equal(np.round(known, decimals), known):
            drawn = np.round(drawn, decimals)
            break
    return np.clip(drawn, known.min(), known.max())


def _shared_out(counts: IntArray, n: int) -> IntArray:
    """Share ``n`` records out by size: whole parts first, then the largest remainders."""
    exact = counts * n / counts.sum()
    sizes: IntArray = np.floor(exact + 1e-9).astype(np.int64)
    sizes[np.argsort(sizes - exact, kind="stable")[: n - sizes.sum()]] += 1
    return sizes


def _groups(original: pd.DataFrame, by: Sequence[str]) -> IntArray:
    if not by:
        return np.zeros(len(original), dtype=np.int64)
    return combine([_column(original[name], True).codes for name in by])


def _column(column: pd.Series[Any], category: bool) -> Column:
    """Code a variable: quantities, dates among them, by size, and categories in any order."""
    import pandas as pd

    moments = pd.api.types.is_datetime64_any_dtype(column)
    if category or not (is_quantity(column) or moments):
        return Column(pd.factorize(column, use_na_sentinel=False)[0].astype(np.int64))
    if moments:
        days = (column - column.min()) / pd.Timedelta(days=1)
        values = days.to_numpy(np.float64)
    else:
        values = _numbers(column)
    known = ~np.isnan(values)
    codes = np.full(len(values), -1, dtype=np.int64)
    codes[known] = np.unique(values[known], return_inverse=True)[1]
    return Column(codes, values)


def _numbers(column: pd.Series[Any]) -> FloatArray:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isinf(values).any():
        raise DataError(f"{column.name}: infinite values cannot be modelled")
    return values


def _lent(original: pd.DataFrame, donors: Mapping[Any, IntArray]) -> pd.DataFrame:
    """Fill each column with values of the original records that lend them."""
    import pandas as pd

    frame = pd.DataFrame(
        {name: original[name].take(donors[name]).array for name in original.columns}
    )
    frame.attrs = dict(original.attrs)
    return frame


def _check(original: pd.DataFrame, n: int | None, names: Collection[str] = ()) -> int:
    """Refuse what cannot be modelled; tell the number of records to draw."""
    if not len(original):
        raise DataError("the original has no records to model")
    if n is not None and n < 1:
        raise DataError(f"{n} records cannot be drawn")
    lacking = [name for name in names if name not in original.columns]
    if lacking:
        raise DataError(f"the original lacks: {', '.join(map(str, lacking))}")
    return len(original) if n is None else n
