"""Why totals cannot be reached: which of them contradict each other, or the bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.optimize import linprog

from evosynth.errors import many
from evosynth.schema import FloatArray
from evosynth.weights.coding import Coded
from evosynth.weights.matrix import Matrix
from evosynth.weights.newton import TOLERANCE, Solution, independent
from evosynth.weights.totals import Margin

_SAME = 1e-9
"""Relative difference up to which sums are the same."""
_MOST_ROWS = 200_000
_LISTED = 6


def sums(margins: Sequence[Margin]) -> Iterator[str]:
    """Margins of records that do not sum to the same population."""
    counted = [margin for margin in margins if margin.quantity is None]
    if counted and not counted[0].sum:
        yield f"the totals of {counted[0].label} sum to 0; there is nobody that records stand for"
    for margin in counted[1:]:
        first = counted[0]
        if abs(margin.sum - first.sum) > _SAME * max(abs(first.sum), 1e-300):
            yield (
                f"the totals of {first.label} sum to {first.sum:.12g}, those of {margin.label} to "
                f"{margin.sum:.12g}; make them agree, or give the population to scale them to"
            )


def dependence(
    gram: FloatArray, totals: FloatArray, labels: Sequence[str], units: FloatArray
) -> Iterator[str]:
    """Totals that follow from others, given the records, but are not what these say.

    ``units``: what each total was divided by.
    """
    kept = independent(gram)
    there = np.diag(gram) > 0
    others = np.flatnonzero(~kept & there)
    if not len(others):
        return
    inside = gram[np.ix_(kept, kept)]
    unit = np.sqrt(np.diag(inside))
    scaled = inside / unit / unit[:, None]
    right = gram[np.ix_(kept, others)] / unit[:, None]
    combined = linalg.solve(scaled, right, assume_a="pos") / unit[:, None]
    implied = totals[kept] @ combined
    size = np.abs(totals[kept]) @ np.abs(combined)
    for column, follows, scale, parts in zip(others, implied, size, combined.T, strict=True):
        if abs(follows - totals[column]) > 1e-8 * max(scale, 1e-300):
            names = [labels[int(k)] for k in np.flatnonzero(kept)[np.abs(parts) > 1e-6]]
            listed = ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "")
            given, follows = totals[column] * units[column], follows * units[column]
            yield (
                f"the total of {labels[int(column)]} is {given:.12g}, but in these "
                f"records it follows from {listed} to be {follows:.12g}"
            )


def zeros(
    totals: FloatArray, held: FloatArray, labels: Sequence[str], counts: int, method: str
) -> Iterator[str]:
    """Categories that must weigh nothing although they have records."""
    for k in range(counts):
        if totals[k] == 0 and held[k] > 0:
            yield (
                f"the total of {labels[k]} is 0, but {held[k]:,.0f} records have that, and "
                f"{method} makes no weight 0; leave these records out"
            )


def vanishing(coded: Coded, nothing: NDArray[np.bool_], method: str) -> str:
    """Say which records would come to weigh nothing, where only that reaches the totals."""
    first = int(np.argmax(nothing))
    cells = [
        margin.called([*margin.cells][codes[first]])
        for margin, codes in zip(coded.counts, coded.codes, strict=False)
    ]
    such = f", the first with {' and '.join(dict.fromkeys(cells))}" if cells else ""
    return (
        f"{method} reaches the totals only where {many(int(nothing.sum()), 'record')} would "
        f"weigh nothing"
        f"{such}; it makes no weight 0. Merge small categories, leave these records out, or take "
        "truncated linear"
    )


def explain(
    matrix: Matrix,
    totals: FloatArray,
    weights: FloatArray,
    low: FloatArray,
    high: FloatArray,
    labels: Sequence[str],
    solution: Solution,
    scale: FloatArray,
    units: FloatArray,
) -> list[str]:
    """Say why no weights were found; ``units``: what each total was divided by.

    The nearest that any weights come to the totals is a linear programme over the different kinds
    of records.
    """
    reasons = []
    bounded = bool(np.isfinite(high).all() or (low > 0).all())
    within = " within the bounds" if bounded else ""
    distinct = _MOST_ROWS
    if len(weights) <= 5 * _MOST_ROWS:
        rows, which = matrix.rows()
        distinct = len(rows)
    if distinct < _MOST_ROWS:
        least = np.bincount(which, np.broadcast_to(low * weights, len(weights)), distinct)
        with np.errstate(invalid="ignore"):
            most = np.bincount(which, np.broadcast_to(high * weights, len(weights)), distinct)
        ends = least.astype(np.float64), most.astype(np.float64)
        gaps, prices = _nearest(rows / scale, totals / scale, *ends)
        if gaps is not None and np.abs(gaps).max(initial=0.0) > 1e-7:
            reasons.append(f"no weights{within} reach all totals at once. At best:")
            for k in np.argsort(-np.abs(gaps), kind="stable")[:_LISTED]:
                if abs(gaps[k]) > 1e-7:
                    reasons.append(_missed(labels[k], totals[k], gaps[k] * scale[k], units[k]))
            conflict = [labels[int(k)] for k in np.flatnonzero(np.abs(prices) > 1e-7)]
            if len(conflict) < len(labels):
                listed = "; ".join(conflict[:12]) + ("; …" if len(conflict) > 12 else "")
                reasons.append(f"These totals stand against each other: {listed}.")
            remedy = "Merge small categories, leave a margin out" + (
                ", or widen the bounds." if bounded else "."
            )
            return [*reasons, remedy]
        if gaps is not None:
            reasons.append(
                f"some weights{within} would reach the totals, but only with weights of 0 (or at "
                "the bounds), which this method does not come to. Merge small categories, "
                "or take another method."
            )
    worst = np.argsort(-np.abs(solution.error), kind="stable")
    reasons.append(f"After {solution.steps} steps these totals are farthest off:")
    for k in worst[:_LISTED]:
        if abs(solution.error[k]) > TOLERANCE:
            reasons.append(_missed(labels[k], totals[k], solution.error[k] * scale[k], units[k]))
    return reasons


def _missed(label: str, total: float, short: float, unit: float) -> str:
    return f"  {label}: {(total - short) * unit:,.6g} instead of {total * unit:,.6g}"


def _nearest(
    rows: FloatArray, totals: FloatArray, least: FloatArray, most: FloatArray
) -> tuple[FloatArray | None, FloatArray]:
    """Return what totals are missed by at least, and what each weighs in that."""
    width = len(totals)
    slack = sparse.eye_array(width)
    system = sparse.hstack([sparse.csr_array(rows.T), slack, -slack])
    cost = np.concatenate([np.zeros(len(rows)), np.ones(2 * width)])
    ends = np.concatenate([np.stack([least, most], axis=1), [[0.0, np.inf]] * (2 * width)])
    found = linprog(cost, A_eq=system, b_eq=totals, bounds=ends, method="highs")
    if found.status != 0:
        return None, np.zeros(width)
    over, under = np.split(found.x[len(rows) :], 2)
    return over - under, np.asarray(found.eqlin.marginals)
