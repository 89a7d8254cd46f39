"""Tables of the original beside those of synthetic data: group disclosure and utility."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from evosynth.errors import DataError
from evosynth.risk.coding import encode
from evosynth.schema import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

COMMON = 0.9
"""A value that so large a share of the original has is known without any table."""
SMALL = 10
"""The largest original count of a small cell."""
GOOD, BAD = 3.0, 10.0
"""S_pMSE below which a table is good, and above which it is bad."""


@dataclass(frozen=True)
class GroupDisclosure:
    """Cells that hold everyone who shares their key values, and how many of them are true."""

    risk: float
    """Common disclosive cells / synthetic ones, 0 to 1; NaN where the synthetic data have none."""
    common: int
    synthetic: int
    original: int


@dataclass(frozen=True)
class TableUtility:
    """How far a synthetic table is from the original; NaN where a measure is undefined."""

    cells: int
    """Cells that hold a record of either table."""
    df: int
    vw: float
    """The Voas-Williamson statistic."""
    s_pmse: float
    """VW over its degrees of freedom: expected to be 1 under a correct synthesis."""
    pmse: float
    """Mean squared error of the propensity to be synthetic, in the saturated model."""
    mabsdd: float
    """Sum of absolute differences in densities, not halved: 0 to 2."""
    hellinger: float
    """Distance of the two distributions, 0 to 1."""


@dataclass(frozen=True)
class Deviates:
    """Shares of cells that differ by more than users would bear."""

    u: float
    """Mean of both shares, higher is worse; NaN without small or without big cells."""
    small: float
    """Share of small cells that are off by more than ``s`` records."""
    big: float
    """Share of the other cells whose relative error exceeds ``b``."""
    n_small: int
    n_big: int


def compare_tables(original: ArrayLike, synthetic: ArrayLike) -> TableUtility:
    """Compare two tables of counts, cell by cell; the totals may differ.

    Parameters
    ----------
    original, synthetic
        Counts of the same cells in the same order, in any shape. Cells that are empty in both
        are no evidence and left out.
    """
    d, s = _counts(original, synthetic)
    used = d + s > 0
    d, s = d[used], s[used]
    cells, total = len(d), float(d.sum() + s.sum())
    nan = float("nan")
    if not d.sum() or not s.sum():
        return TableUtility(cells, max(cells - 1, 0), nan, nan, nan, nan, nan)
    c = float(s.sum()) / total
    difference = s - d * (c / (1 - c))
    vw = float((difference**2 / (c * (s + d))).sum())
    roots = np.sqrt(s / s.sum()) - np.sqrt(d / d.sum())
    return TableUtility(
        cells=cells,
        df=cells - 1,
        vw=vw,
        s_pmse=vw / (cells - 1) if cells > 1 else nan,
        pmse=vw * c * (1 - c) ** 2 / total,
        mabsdd=float(np.abs(difference).sum() / s.sum()),
        hellinger=float(np.sqrt((roots**2).sum() / 2)),
    )


def deviates(
    original: ArrayLike, synthetic: ArrayLike, s: float = 3, b: float = 0.3, limit: int = SMALL
) -> Deviates:
    """Average the frequencies of deviating cells, small and big: u(s, b).

    Counts are compared as they stand, so tables of different totals deviate for that alone.

    Parameters
    ----------
    original, synthetic
        Counts of the same cells in the same order, in any shape.
    s
        Records by which a small cell may differ.
    b
        Relative error that a big cell may have.
    limit
        Largest original count of a small cell.
    """
    d, n = _counts(original, synthetic)
    small = d <= limit
    apart = np.abs(n - d)
    n_small, n_big = int(small.sum()), int((~small).sum())
    nan = float("nan")
    far = float((apart[small] > s).mean()) if n_small else nan
    # Not divided, so that a relative error of exactly b is no deviation.
    off = float((apart[~small] > b * d[~small]).mean()) if n_big else nan
    return Deviates((far + off) / 2, far, off, n_small, n_big)


def disclosed_cells(
    original_keys: IntArray,
    original_target: IntArray,
    synthetic_keys: IntArray,
    synthetic_target: IntArray,
    common: float = COMMON,
) -> GroupDisclosure:
    """Find the cells of coded data that hold everyone who shares their key.

    Parameters
    ----------
    original_keys, synthetic_keys
        Number of each record's combination of key values, the same on both sides.
    original_target, synthetic_target
        Number of each record's value of the target, from 0, the same on both sides.
    common
        Target values that at least this share of the original has are not counted: everyone
        would guess them.
    """
    size = 1 + max(_largest(original_target), _largest(synthetic_target))
    counts = np.bincount(original_target, minlength=size)
    # A hair less, since a share of exactly nine tenths is common; nobody has no common value.
    plain = (counts >= (common - 1e-9) * len(original_target)) & (counts > 0)
    one = _disclosive(original_keys, original_target, plain)
    two = _disclosive(synthetic_keys, synthetic_target, plain)
    return _overlap(len(np.intersect1d(one, two, assume_unique=True)), len(two), len(one))


def group_disclosure(
    original: pd.DataFrame,
    synthetic: pd.DataFrame,
    keys: Sequence[str],
    target: str,
    common: float = COMMON,
    *,
    margins: bool = False,
) -> GroupDisclosure:
    """Ask how often a group disclosure in a synthetic table is one in the original, too.

    A cell of keys by target is disclosive when everyone with these key values has this value of
    the target. Missing values are a level, of keys and target alike.

    Parameters
    ----------
    keys, target
        Variables of the table. Quantities must have been binned: each value is a level.
    common
        Target values that at least this share of the original has are not counted.
    margins
        Whether the cells of each table by a part of the keys count as well.
    """
    if not keys:
        raise DataError("group disclosure needs at least one key")
    _known(original, synthetic, [*keys, target])
    coded = {name: align(original[name], synthetic[name]) for name in [*keys, target]}
    n = len(original)
    total = [0, 0, 0]
    for some in _parts(keys) if margins else [tuple(keys)]:
        cells = combine([coded[name] for name in some])
        found = disclosed_cells(cells[:n], coded[target][:n], cells[n:], coded[target][n:], common)
        total = [total[0] + found.common, total[1] + found.synthetic, total[2] + found.original]
    return _overlap(*total)


def cross_tabulate(
    original: pd.DataFrame,
    synthetic: pd.DataFrame,
    variables: Sequence[str],
    groups: int | None = None,
    categories: Collection[str] = (),
) -> tuple[IntArray, IntArray]:
    """Count both frames by the same cells: those that hold a record of either.

    Parameters
    ----------
    groups
        Quantities are cut at this many quantiles of both frames together; kept as they are if
        nothing is said. Missing values are a level.
    categories
        Numeric variables that are codes, and never cut.
    """
    _known(original, synthetic, variables)
    return _count(
        [
            align(original[name], synthetic[name], None if name in categories else groups)
            for name in variables
        ],
        len(original),
    )


def compare_all_tables(
    original: pd.DataFrame,
    synthetic: pd.DataFrame,
    variables: Sequence[str] | None = None,
    ways: int = 2,
    groups: int | None = 5,
    categories: Collection[str] = (),
    s: float = 3,
    b: float = 0.3,
) -> pd.DataFrame:
    """Compare every table of one to so many variables.

    Returns
    -------
    One row per table: ``variables`` (joined by ``:``), ``ways``, the measures of
    :class:`TableUtility`, and ``u``. See :func:`cross_tabulate` for ``groups``, ``categories``.
    """
    import pandas as pd

    names = _shared(original, synthetic) if variables is None else list(variables)
    _known(original, synthetic, names)
    coded = {
        name: align(original[name], synthetic[name], None if name in categories else groups)
        for name in names
    }
    rows: list[dict[str, Any]] = []
    for chosen in (part for way in range(1, ways + 1) for part in combinations(names, way)):
        d, n = _count([coded[name] for name in chosen], len(original))
        about = {"variables": ":".join(chosen), "ways": len(chosen)}
        rows.append({**about, **asdict(compare_tables(d, n)), "u": deviates(d, n, s, b).u})
    columns = ["variables", "ways", *TableUtility.__dataclass_fields__, "u"]
    return pd.DataFrame(rows, columns=columns)


def align(
    original: pd.Series[Any], synthetic: pd.Series[Any], groups: int | None = None
) -> IntArray:
    """Give the levels of a variable the same numbers in both frames, the original first.

    Levels that only one frame has get numbers as well; missing values are a level. Numbers and
    their texts are the same level.
    """
    import pandas as pd

    if groups is not None and is_quantity(original) and is_quantity(synthetic):
        both = pd.concat([original, synthetic], ignore_index=True)
        return _grouped(both.to_numpy(dtype=np.float64, na_value=np.nan), groups)
    frames = {"original": original.to_frame("it"), "synthetic": synthetic.to_frame("it")}
    codes = encode(frames, ["it"], categorical=["all"])["it"].codes
    return np.concatenate([codes["original"], codes["synthetic"]]).astype(np.int64)


def combine(columns: Sequence[IntArray]) -> IntArray:
    """Give numbers to the combinations of several coded variables, from 0 without gaps."""
    found = columns[0]
    for codes in columns[1:]:
        # Numbered anew after each variable, so that no product of sizes overflows.
        found = np.unique(found * (_largest(codes) + 1) + codes, return_inverse=True)[1]
    return np.unique(found, return_inverse=True)[1].reshape(-1).astype(np.int64)


def is_quantity(column: pd.Series[Any]) -> bool:
    """Whether a column holds numbers that are no truth values."""
    import pandas as pd

    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _grouped(values: FloatArray, groups: int) -> IntArray:
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(len(values), dtype=np.int64)
    breaks = np.unique(np.quantile(values[known], np.linspace(0, 1, groups + 1)))
    found = np.searchsorted(breaks[1:-1], values, side="right").astype(np.int64)
    return np.where(known, found, len(breaks))


def _count(coded: Sequence[IntArray], n_original: int) -> tuple[IntArray, IntArray]:
    cells = combine(coded)
    size = _largest(cells) + 1
    original = np.bincount(cells[:n_original], minlength=size)
    synthetic = np.bincount(cells[n_original:], minlength=size)
    return original.astype(np.int64), synthetic.astype(np.int64)


def _disclosive(keys: IntArray, target: IntArray, common: Any) -> IntArray:
    """Numbers of the cells whose key has one value of the target only, and no common one."""
    size = len(common)
    cells = np.unique(keys * size + target)
    _, first, values = np.unique(cells // size, return_index=True, return_counts=True)
    alone: IntArray = cells[first[values == 1]]
    found: IntArray = alone[~common[alone % size]]
    return found


def _overlap(common: int, synthetic: int, original: int) -> GroupDisclosure:
    risk = common / synthetic if synthetic else float("nan")
    return GroupDisclosure(risk, common, synthetic, original)


def _parts(keys: Sequence[str]) -> list[tuple[str, ...]]:
    return [part for size in range(1, len(keys) + 1) for part in combinations(keys, size)]


def _counts(original: ArrayLike, synthetic: ArrayLike) -> tuple[FloatArray, FloatArray]:
    d, s = np.asarray(original, dtype=np.float64), np.asarray(synthetic, dtype=np.float64)
    if d.shape != s.shape:
        raise DataError(f"tables of different shape: original {d.shape}, synthetic {s.shape}")
    if not (np.isfinite(d).all() and np.isfinite(s).all() and (d >= 0).all() and (s >= 0).all()):
        raise DataError("a table holds counts: numbers of at least 0, none of them missing")
    return d.ravel(), s.ravel()


def _largest(codes: IntArray) -> int:
    return int(codes.max(initial=-1))


def _shared(original: pd.DataFrame, synthetic: pd.DataFrame) -> list[str]:
    return [str(name) for name in original.columns if name in synthetic.columns]


def _known(original: pd.DataFrame, synthetic: pd.DataFrame, names: Sequence[str]) -> None:
    for where, frame in (("original", original), ("synthetic data", synthetic)):
        lacking = [name for name in names if name not in frame.columns]
        if lacking:
            raise DataError(f"the {where} lack: {', '.join(lacking)}")
