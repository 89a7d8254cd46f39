"""What a rule makes of a variable: who is under 16 has no job, and not the other way round.

What is assumed of a variable where nothing is published says nothing of records whose value a rule
decides. So values that rules ask for are given to the variable after `then`, and that before it
stays as it is; unless it is the one after `then` of which something is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evosynth.bonds import Bonds, Compiled, Link, Route
from evosynth.expression import Node
from evosynth.schema import Codes, FloatArray, Schema, Variable

Flags = NDArray[np.bool_]


def links(node: Node, schema: Schema) -> Iterator[Link]:
    """Tell what a rule makes of single variables, if anything."""
    if node.kind == "and":
        for part in node.parts:
            yield from links(part, schema)
    elif node.kind == "if" and node.parts[1].kind == "and":
        for part in node.parts[1].parts:
            yield from links(Node("if", (node.parts[0], part)), schema)
    elif node.kind == "if" and len(node.parts) == 2:
        first, second = (Compiled.of(part, schema) for part in node.parts)
        if len(second.used) == 1 and second.used[0] not in first.used:
            back = None
            if len(first.used) == 1:
                not_second = Compiled.of(Node("not", (node.parts[1],)), schema)
                back = Route(first.used[0], not_second, by_level(first, schema) != 1.0)
            yield Link(Route(second.used[0], first, by_level(second, schema) != 0.0), back)


def by_level(condition: Compiled, schema: Schema) -> FloatArray:
    """Truth of a condition on one variable for each of its levels."""
    column = condition.used[0]
    size = schema.variables[column].size
    rows = np.zeros((size, len(schema.variables)), dtype=schema.dtype)
    rows[:, column] = np.arange(size)
    return condition(rows)


def routes(schema: Schema, bonds: Bonds, published: frozenset[int]) -> list[list[Route]]:
    """Work out what rules make of variables, one variable after the other that decides it."""
    derived = bonds.columns

    def known(route: Route) -> bool:
        variable = schema.variables[route.column]
        return route.column in published or _told(variable, route.allowed)

    by: dict[int, list[Route]] = {}
    for link in bonds.links:
        route, back = link.ahead, link.back
        turn = back is not None and back.column not in derived
        if turn and back is not None and known(route) and not known(back):
            route = back
        if route.column not in derived:
            by.setdefault(route.column, []).append(route)
    needed = {
        column: frozenset().union(*(bonds.sources(c) for route in own for c in route.when.used))
        for column, own in by.items()
    }
    found: list[list[Route]] = []
    while by:
        column = next((c for c in by if not needed[c] & (by.keys() - {c})), next(iter(by)))
        found.append(by.pop(column))
    return found


def _told(variable: Variable, allowed: Flags) -> bool:
    """Whether a spec says how often the values that a rule allows are."""
    valid = allowed[: variable.valid]
    return variable.counted_missing if valid.all() or not valid.any() else variable.shaped


def follow(
    schema: Schema,
    bonds: Bonds,
    codes: Codes,
    margins: Sequence[FloatArray],
    published: frozenset[int],
    rng: np.random.Generator,
    kept: frozenset[int] = frozenset(),
) -> None:
    """Give variables, in place, but not ``kept``, values that rules allow given others."""
    if not bonds.links:
        return
    for own in routes(schema, bonds, published):
        column = own[0].column
        if column in kept:
            continue
        bonds.complete(codes)
        for rows, share in _allowed(own, codes, margins[column]):
            left = rows[share[codes[rows, column]] == 0]
            codes[left, column] = rng.choice(len(share), len(left), p=share)


def mass(
    schema: Schema, codes: Codes, margins: Sequence[FloatArray], published: frozenset[int]
) -> FloatArray:
    """Share of the margins that rules leave to what follows, for each of the records."""
    bonds = schema.bonds
    found = np.ones(len(codes))
    if bonds is None or not bonds.links:
        return found
    for own in routes(schema, bonds, published):
        margin = margins[own[0].column]
        for rows, share in _allowed(own, codes, margin):
            kept = margin[share > 0].sum()
            found[rows] *= kept if kept > 0 else 1.0
    return found


def _allowed(
    own: list[Route], codes: Codes, margin: FloatArray
) -> Iterator[tuple[NDArray[np.intp], FloatArray]]:
    """Find records to which the same rules apply, and what these leave of a margin."""
    applies = np.column_stack([route.when(codes) == 1.0 for route in own])
    kinds, kind = np.unique(applies, axis=0, return_inverse=True)
    for number, which in enumerate(kinds):
        if not which.any():
            continue
        allowed = np.all([r.allowed for r, one in zip(own, which, strict=True) if one], axis=0)
        share = margin * allowed
        if share.sum() <= 0:
            share = allowed.astype(np.float64)
        if share.sum() > 0:
            yield np.flatnonzero(kind.ravel() == number), share / share.sum()
