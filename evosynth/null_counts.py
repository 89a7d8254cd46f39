"""Counts of an outcome that the fit of a model without covariates all but decides.

Log-likelihoods printed to three digits, and what compares them, tell how likely the outcomes are
without covariates. That hangs on their counts alone, and few whole numbers near what is expected
have it: real weights that do have it are rounded to some that do not.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from evosynth.fitted import Model
from evosynth.kernels.cells import count_weights
from evosynth.problem import CellArray, Problem
from evosynth.schema import FloatArray, IntArray

_WINDOW = 4.0
"""Standard deviations from what is expected that counts are looked for in."""
_MOST = 2_000_000
"""Counts that are looked at."""
_WIDE = 0.5
"""Length of an interval from which it decides nothing: about what one record changes."""
_RELUCTANCE = 1.0
"""What the end of an interval costs beside a standard deviation, squared."""


def decide(problem: Problem, cells: CellArray, weights: FloatArray) -> bool:
    """Fix counts of outcomes where few are right, near what is expected; tell whether any were."""
    expected = count_weights(cells, weights, len(problem.low))
    decided = False
    for block in problem.smooth:
        table = None if not isinstance(block, Model) else _table(problem, block)
        if table is None or not isinstance(block, Model):
            continue
        here = problem.slice(table)
        interval = null_interval(block)
        open_ = problem.low[here] < problem.high[here]
        if interval is None or not open_.any():
            continue
        ends = problem.low[here], problem.high[here]
        found = nearest(expected[here], *ends, interval)
        if found is not None:
            problem.low[here] = problem.high[here] = found
            problem.__dict__.pop("binding", None)
            decided = True
    return decided


def _table(problem: Problem, block: Model) -> int | None:
    """Table of the counts of an outcome by level, where the model is one of all records."""
    if block.null is None or block.likelihood.offset is not None or block.traits.survey:
        return None
    if block.traits.linear or block.likelihood.classes.grid.size > 1:
        return None
    variable = problem.schema.variables[block.outcome]
    for table, grid in enumerate(problem.grids):
        alone = grid.columns == (block.outcome,) and grid.size == variable.size
        if alone and variable.categorical and not variable.missing:
            return table
    return None


def null_interval(block: Model) -> tuple[float, float] | None:
    """Smallest and largest log-likelihood without covariates that its figures admit."""
    ends = {item.form: item.published.interval for item in block.items}
    found = [ends["null_log_likelihood"]] if "null_log_likelihood" in ends else []
    if "null_deviance" in ends and not block.saturated.any():
        low, high = ends["null_deviance"]
        found.append((-high / 2, -low / 2))
    if "log_likelihood" in ends:
        low, high = ends["log_likelihood"]
        if "lr_chi_square" in ends:
            least, most = ends["lr_chi_square"]
            found.append((low - most / 2, high - least / 2))
        if "pseudo_r_squared" in ends and ends["pseudo_r_squared"][1] < 1:
            least, most = ends["pseudo_r_squared"]
            found.append((low / (1 - most), high / (1 - least)))
    if not found:
        return None
    low, high = max(low for low, _ in found), min(high for _, high in found)
    return (low, high) if np.isfinite(high - low) and low < high else None


def nearest(
    expected: FloatArray, low: IntArray, high: IntArray, interval: tuple[float, float]
) -> IntArray | None:
    """Find the counts with a log-likelihood in the interval that are nearest to what is expected.

    ``None`` where none are right, or so many that nothing is decided.
    """
    n, levels = round(float(expected.sum())), len(expected)
    if levels < 2 or (expected <= 0).any() or interval[1] - interval[0] > _WIDE:
        return None
    room = (_MOST ** (1 / (levels - 1)) - 1) / 2
    reach = np.minimum(np.ceil(_WINDOW * np.sqrt(expected)), np.floor(room))
    middle = np.rint(expected)
    # All levels but the last are tried; the last has what is left.
    tried = [
        np.arange(max(m - r, 1, a), min(m + r, b) + 1)
        for m, r, a, b in zip(middle, reach, low, high, strict=True)
    ][:-1]
    counts = np.stack([part.ravel() for part in np.meshgrid(*tried, indexing="ij")])
    counts = np.vstack([counts, n - counts.sum(axis=0)])
    counts = counts[:, (counts[-1] >= max(1, low[-1])) & (counts[-1] <= high[-1])]
    found = xlogy(counts, counts).sum(axis=0) - n * np.log(n)
    inside = (found >= interval[0]) & (found <= interval[1])
    if not inside.any():
        return None
    counts, found = counts[:, inside], found[inside]
    aside = (2 * found - sum(interval)) / (interval[1] - interval[0])
    off = ((counts - expected[:, None]) ** 2 / expected[:, None]).sum(axis=0)
    return counts[:, np.argmin(off + _RELUCTANCE * aside**2)].astype(np.int64)
