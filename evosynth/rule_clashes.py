"""Rules that contradict each other, or published cells and means, found before any search.

The records that variables tied by rules may have together are listed, if they are not too many:
what is not among them cannot be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evosynth.bonds import Bonds, Compiled
from evosynth.contradictions import where
from evosynth.errors import Fault, shown
from evosynth.moments import GroupMoments
from evosynth.objective import CellTable, Plan
from evosynth.rules import Bound
from evosynth.schema import Codes, FloatArray, Schema

MAX_TYPES = 2_000_000
"""Combinations of values that are listed."""
_MOST = 20
"""Clashes that are listed for one table."""


def find(bound: Bound, plans: Sequence[Plan]) -> Iterator[Fault]:
    """Rules that cannot be kept: by themselves, together, or beside what is published."""
    yield from _rates(bound, plans)
    bonds = bound.schema.bonds
    if bonds is None:
        return
    faults = list(_among_rules(bound, bonds))
    yield from faults
    if faults:
        return
    for output, plan in enumerate(plans):
        for table in plan.certain():
            for message in _in_table(table, bound, bonds):
                yield Fault(("outputs", output), message, clash=True)
        for block in plan.smooth:
            if isinstance(block, GroupMoments):
                for message in _in_means(block, bound, bonds):
                    yield Fault(("outputs", output), message, clash=True)


def _rates(bound: Bound, plans: Sequence[Plan]) -> Iterator[Fault]:
    """Rules to be broken by another share of the records than a published table has."""
    schema = bound.schema
    soft = [rule for rule in bound.rules if rule.violated is not None]
    for rule in soft:
        used = {schema.index.get(name, -1) for name in rule.node.names}
        for output, plan in enumerate(plans):
            for table in plan.certain():
                columns = frozenset(table.grid.columns)
                rows = listed(schema, columns) if used <= columns - schema.derived else None
                if rows is None or rule.violated is None:
                    continue
                broken = ~_holds(bound, rule.text, rows)
                cells = table.grid.cells(rows)
                some, all_of = np.zeros((2, table.grid.size), dtype=np.bool_)
                some[cells[broken]] = True
                all_of[cells] = True
                all_of[cells[~broken]] = False
                least, most = int(table.low[all_of].sum()), int(table.high[some].sum())
                low, high = (end * schema.records for end in rule.violated.interval)
                gap = max(least - high, low - most)
                if gap > 1e-9:
                    count = f"{least}" if least == most else f"{least} to {most}"
                    message = (
                        f"{rule.violated} of {schema.records} records are to break it, but "
                        f"outputs[{output}] has {count} that do (off by {gap:g})"
                    )
                    yield Fault((*rule.path, "violated"), message, clash=True)


def listed(schema: Schema, columns: frozenset[int]) -> Codes | None:
    """Every combination of values of some columns; others are at their first value."""
    own = sorted(columns)
    sizes = schema.sizes[own]
    if np.prod(sizes, dtype=np.float64) > MAX_TYPES:
        return None
    rows = np.zeros((int(np.prod(sizes)), len(schema.variables)), dtype=schema.dtype)
    every = np.indices(tuple(sizes.tolist())).reshape(len(own), -1)
    for column, levels in zip(own, every, strict=True):
        rows[:, column] = levels
    return rows


def _among_rules(bound: Bound, bonds: Bonds) -> Iterator[Fault]:
    """Rules that no record keeps, alone or together with those before it."""
    schema = bound.schema
    seen: set[frozenset[int]] = set()
    for part in bonds.parts():
        columns = bonds.tied(part)
        if columns in seen:
            continue
        seen.add(columns)
        rows = listed(schema, columns)
        if rows is None or bonds.only(columns).complete(rows).any():
            continue
        yield _first_impossible(bound, columns, rows)


def _first_impossible(bound: Bound, columns: frozenset[int], rows: Codes) -> Fault:
    """Name the first rule that cannot be kept beside those before it."""
    bonds = bound.schema.bonds
    assert bonds is not None
    own = bonds.only(columns)
    allowed = replace(own, rules=()).complete(rows)
    names = [bound.schema.variables[one.column].name for one in own.derived]
    hard = [rule for rule in bound.rules if rule.violated is None]
    before: list[str] = [f"{name!r} as derived" for name in names]
    if not allowed.any():
        message = f"no record has a value of {names[-1]!r}: widen its range"
        given = [rule for rule in hard if names[-1] in rule.node.names]
        return Fault(given[0].path if given else ("variables", names[-1]), message)
    for rule in hard:
        if not {bound.schema.index[n] for n in rule.node.names} & _with_derived(bonds, columns):
            continue
        truth = _holds(bound, rule.text, rows)
        if not (allowed & truth).any():
            others = " and ".join(shown(text) for text in before[-3:])
            beside = f" together with {others}" if truth.any() else ""
            return Fault(rule.path, f"no record can keep this rule{beside}")
        allowed &= truth
        before.append(f"'{rule.text}'")
    return Fault(("rules",), "no record can keep all rules together")


def _with_derived(bonds: Bonds, columns: frozenset[int]) -> frozenset[int]:
    return columns | {one.column for one in bonds.derived if bonds.sources(one.column) <= columns}


def _holds(bound: Bound, text: str, rows: Codes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    rule = next(rule for rule in bound.rules if rule.text == text)
    return np.asarray(Compiled.of(rule.node, bound.schema)(rows) != 0.0)


def _possible(columns: frozenset[int], bound: Bound, bonds: Bonds) -> tuple[Codes, Codes] | None:
    """List the records that may be, by the columns that some hang together with; and all."""
    tied = bonds.tied(columns)
    if not any(part & tied for part in bonds.parts()):
        return None
    rows = listed(bound.schema, tied)
    if rows is None:
        return None
    return rows[bonds.only(tied).complete(rows)], rows


def _in_table(table: CellTable, bound: Bound, bonds: Bonds) -> Iterator[str]:
    """Cells with records that no record may be in."""
    needed = np.flatnonzero(table.low > 0)
    if len(needed) == 0:
        return
    found = _possible(frozenset(table.grid.columns), bound, bonds)
    if found is None:
        return
    allowed, _ = found
    there = np.zeros(table.grid.size, dtype=np.bool_)
    there[table.grid.cells(allowed)] = True
    for cell in [cell for cell in needed.tolist() if not there[cell]][:_MOST]:
        where = _where(table, cell, bound.schema)
        count = int(table.low[cell])
        rule = _culprit(table, cell, bound, bonds)
        yield f"{where} has {count} record{'s' * (count > 1)}, but {rule} (off by {count})"


def _culprit(table: CellTable, cell: int, bound: Bound, bonds: Bonds) -> str:
    """Name the one rule that forbids a cell, if one alone does."""
    rows = listed(bound.schema, bonds.tied(frozenset(table.grid.columns)))
    assert rows is not None
    replace(bonds, rules=()).complete(rows)
    inside = rows[table.grid.cells(rows) == cell]
    for rule in bound.rules:
        if rule.violated is None and len(inside) and not _holds(bound, rule.text, inside).any():
            return f"rules[{rule.path[1]}] ({shown(rule.text)}) forbids it"
    return "the rules and derived variables forbid it"


def _where(table: CellTable, cell: int, schema: Schema) -> str:
    return where(table.grid, cell, schema) or "the total"


def _in_means(block: GroupMoments, bound: Bound, bonds: Bonds) -> Iterator[str]:
    """Means beyond all values that records of their group may have."""
    schema = bound.schema
    used = {block.column, *block.classes.grid.columns}
    found = _possible(frozenset(used), bound, bonds)
    if found is None:
        return
    allowed, _ = found
    values: FloatArray = schema.variables[block.column].quantities[allowed[:, block.column]]
    group = block.group_of(allowed)
    for row in block.rows.get("mean", np.empty(0, np.int64)).tolist():
        label, printed = block.figures[row].label, block.figures[row].printed
        own = values[np.isin(group, np.flatnonzero(block.member[row])) & np.isfinite(values)]
        if len(own) == 0:
            yield f"{label} is {printed}, but rules leave no such record"
            continue
        least, most = printed.interval
        gap = max(float(own.min()) - most, least - float(own.max()))
        if gap > 1e-9:
            yield (
                f"{label} is {printed}, but rules leave values from {own.min():g} to "
                f"{own.max():g} alone (off by {gap:g})"
            )
