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


def late(
    schema: Schema, published: Associations, guessed: Associations, never: Collection[int]
) -> dict[int, Partners]:
    """Find variables, but not ``never``, that must be drawn after one that they rise with.

    That is after derived ones, and after those of which some values are missing.
    """
    derived = schema.derived
    found: dict[int, Partners] = {}
    for one, two, _ in _both((*schema.associations, *guessed)):
        if two in derived and one not in derived | set(never):
            found[one] = {}
    for one, two, _ in _both(schema.associations):
        if schema.variables[two].missing and one not in derived | set(never):
            found[one] = {}
    # What is published of two variables is worth more than what is assumed of them.
    for one, two, r in _both((*guessed, *schema.associations, *published)):
        if one in found:
            found[one][two] = r
    return found


def _both(associations: Associations) -> list[tuple[int, int, float]]:
    """List each pair both ways round."""
    return [*associations, *((two, one, r) for one, two, r in associations)]


def draw(
    schema: Schema,
    codes: Codes,
    margins: Sequence[FloatArray],
    waiting: dict[int, Partners],
    rng: np.random.Generator,
) -> None:
    """Draw variables given those that they rise with, in place."""
    bonds = schema.bonds
    left = dict(waiting)
    while left:
        needed = {
            c: frozenset().union(*(bonds.sources(p) for p in partners if p in schema.derived))
            if bonds is not None
            else frozenset()
            for c, partners in left.items()
        }
        column = next((c for c in left if not needed[c] & (left.keys() - {c})), next(iter(left)))
        partners = {p: r for p, r in left.pop(column).items() if p not in left}
        schema.complete(codes)
        codes[:, column] = _given(schema, column, codes, partners, margins[column], rng)


def _given(
    schema: Schema,
    column: int,
    codes: Codes,
    partners: Partners,
    margin: FloatArray,
    rng: np.random.Generator,
) -> IntArray:
    """Draw levels of a margin that rise with the values of others, where these have any."""
    known, wanted = [], []
    for partner, r in partners.items():
        levels = codes[:, partner]
        there = levels < schema.variables[partner].valid
        score = np.zeros(len(codes))
        if there.any():
            score[there] = scores(np.bincount(levels[there]).astype(np.float64))[levels[there]]
            score[there] -= score[there].mean()
        if score.std() > 0:
            known.append(score / score.std())
            wanted.append(r)
    normal = rng.standard_normal(len(codes))
    if known:
        own, goal = np.array(known), np.array(wanted)
        between = own @ own.T / len(codes)
        slopes = np.linalg.solve(between + 1e-6 * np.eye(len(own)), goal)
        explained = float(slopes @ between @ slopes)
        slopes *= min(1.0, (_MOST / max(explained, 1e-300)) ** 0.5)
        normal = slopes @ own + (1 - min(explained, _MOST)) ** 0.5 * normal
    valid = schema.variables[column].valid
    edges = np.cumsum(margin[:valid])
    found = np.searchsorted(edges, ndtr(normal) * edges[-1], side="right")
    found = np.minimum(found, valid - 1)
    share = margin[valid:]
    gone = rng.random(len(codes)) * margin.sum() < share.sum()
    if gone.any():
        found[gone] = valid + rng.choice(len(share), int(gone.sum()), p=share / share.sum())
    return np.asarray(found)
