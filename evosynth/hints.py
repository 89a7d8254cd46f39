"""Associations that are assumed with what follows from others: drawn after it, given its values."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from evosynth.schema import Codes, FloatArray, IntArray, Schema

Associations = Sequence[tuple[int, int, float]]
"""Pairs of variables, by column, and the correlation of each."""
Partners = dict[int, float]
"""Variables that one is assumed to rise with, by column, and the correlations."""

_MOST = 0.95
"""Share of the variance of a variable that others may explain together."""


def scores(share: FloatArray) -> FloatArray:
    """Work out normal scores of levels in their order."""
    middle = np.cumsum(share) - share / 2
    return np.asarray(ndtri(np.clip(middle / share.sum(), 1e-6, 1 - 1e-6)))


def late(schema: Schema, associations: Associations, never: Collection[int]) -> dict[int, Partners]:
    """Variables, but not ``never``, that must be drawn after a derived one that they rise with."""
    derived = schema.derived
    pairs = [*associations, *((two, one, r) for one, two, r in associations)]
    found: dict[int, Partners] = {
        one: {} for one, two, _ in pairs if two in derived and one not in derived | set(never)
    }
    for one, two, r in pairs:
        if one in found:
            found[one][two] = r
    return found


def draw(
    schema: Schema,
    codes: Codes,
    margins: Sequence[FloatArray],
    waiting: dict[int, Partners],
    rng: np.random.Generator,
) -> None:
    """Draw variables given those that they rise with, in place."""
    bonds = schema.bonds
    if bonds is None:
        return
    left = dict(waiting)
    while left:
        needed = {
            c: frozenset().union(*(bonds.sources(p) for p in partners if p in schema.derived))
            for c, partners in left.items()
        }
        column = next((c for c in left if not needed[c] & (left.keys() - {c})), next(iter(left)))
        partners = {p: r for p, r in left.pop(column).items() if p not in left}
        bonds.complete(codes)
        codes[:, column] = _given(codes, partners, margins[column], rng)


def _given(
    codes: Codes, partners: Partners, margin: FloatArray, rng: np.random.Generator
) -> IntArray:
    """Levels of a margin that rise with the values of others."""
    known, wanted = [], []
    for partner, r in partners.items():
        score = scores(np.bincount(codes[:, partner]).astype(np.float64))[codes[:, partner]]
        if score.std() > 0:
            known.append((score - score.mean()) / score.std())
            wanted.append(r)
    normal = rng.standard_normal(len(codes))
    if known:
        own, goal = np.array(known), np.array(wanted)
        between = own @ own.T / len(codes)
        slopes = np.linalg.solve(between + 1e-6 * np.eye(len(own)), goal)
        explained = float(slopes @ between @ slopes)
        slopes *= min(1.0, (_MOST / max(explained, 1e-300)) ** 0.5)
        normal = slopes @ own + (1 - min(explained, _MOST)) ** 0.5 * normal
    edges = np.cumsum(margin)
    levels = np.searchsorted(edges, ndtr(normal) * edges[-1], side="right")
    return np.asarray(np.minimum(levels, len(edges) - 1))
