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
from evosynth.ranks import GroupQuantile
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
    yield from _gaps(bound, bonds)
    yield from _beside_hard(bound, bonds)
    for output, plan in enumerate(plans):
        for table in plan.certain():
            for message in _in_table(table, bound, bonds):
                yield Fault(("outputs", output), message, clash=True)
        for message in dict.fromkeys(_in_shares(plan, bound, bonds)):
            yield Fault(("outputs", output), message, clash=True)
        for block in plan.smooth:
            if isinstance(block, GroupMoments):
                for message in _in_means(block, bound, bonds):
                    yield Fault(("outputs", output), message, clash=True)
            elif isinstance(block, GroupQuantile) and len(block.parts) == 1:
                for message in _in_quantile(block, bound, bonds):
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
    known = set(bound.schema.index)  # those of households, where these are looked at alone
    hard = [r for r in bound.rules if r.violated is None and set(r.node.names) <= known]
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


def _gaps(bound: Bound, bonds: Bonds) -> Iterator[Fault]:
    """Formulas that give no value where the one variable that they rest on has one."""
    schema = bound.schema
    for name, _, levels in bound.formulas:
        if name not in schema.index:
            continue
        column = schema.index[name]
        sources = bonds.sources(column)
        if len(sources) != 1:
            continue
        (source,) = sources
        rows = listed(schema, sources)
        if rows is None:
            continue
        own = bonds.only(sources)
        one = next(d for d in own.derived if d.column == column)
        rest = replace(own, derived=tuple(d for d in own.derived if d.column != column))
        uses = [rule for rule in rest.rules if column not in rule.used]
        rest = Bonds(tuple(d for d in rest.derived if column not in d.formula.used), tuple(uses))
        gaps = rows[rest.complete(rows) & ~one.fill(rows), source]
        variable = schema.variables[source]
        gaps = gaps[gaps < variable.valid]  # missing ones are told with the formula
        if len(gaps) == 0:
            continue
        more = f" and {len(gaps) - 1} other values" if len(gaps) > 1 else ""
        where = f"{variable.name!r} is {variable.texts[int(gaps[0])]}{more}"
        remedy = "end with a condition `else`" if levels else f"widen the range of {name!r}"
        message = f"there is no value where {where}; {remedy}, or forbid it by a rule"
        yield Fault(("variables", name, "derived"), message)


def _beside_hard(bound: Bound, bonds: Bonds) -> Iterator[Fault]:
    """Rules to be broken now and then that the others let no record break, or keep."""
    for rule in bound.rules:
        if rule.violated is None or not set(rule.node.names) <= set(bound.schema.index):
            continue
        columns = frozenset(bound.schema.index[name] for name in rule.node.names)
        tied = bonds.tied(columns)
        rows = listed(bound.schema, tied)
        if rows is None:
            continue
        rows = rows[bonds.only(tied).complete(rows)]
        broken = ~_holds(bound, rule.text, rows)
        low, high = rule.violated.interval
        if low > 0 and not broken.any():
            message = f"{rule.violated} of the records are to break it, but no record that keeps"
        elif high < 1 and broken.all():
            message = f"all but {rule.violated} are to keep it, but no record that keeps"
        else:
            continue
        verb = "does" if not broken.any() else "can"
        yield Fault((*rule.path, "violated"), f"{message} the other rules {verb}")


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


def _in_shares(plan: Plan, bound: Bound, bonds: Bonds) -> Iterator[str]:
    """Shares of a group, such as half below a median, that the records that may be cannot have."""
    for share in plan.shares:
        chosen = any(number in plan.chosen for number, _ in share.cells)  # ranks of a quantile
        if not share.complete and not chosen:
            continue
        there = []
        for number, cell in share.cells:
            grid = plan.tables[number].grid
            found = _possible(frozenset(grid.columns), bound, bonds)
            there.append(found is None or bool((grid.cells(found[0]) == cell).any()))
        most = sum(high for high, some in zip(share.high, there, strict=True) if some)
        # Where a quantile may lie between two values, cells on both sides of it are enough.
        if most >= 1 - 1e-9 or (chosen and sum(there) > 1):
            continue
        number, cell = share.cells[there.index(False)]
        rule = _culprit(plan.tables[number], cell, bound, bonds)
        where = _where(plan.tables[number], cell, bound.schema)
        yield f"{where} must have records for this, but {rule}"


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


def _in_quantile(block: GroupQuantile, bound: Bound, bonds: Bonds) -> Iterator[str]:
    """Quantiles of a small group beyond all values that its records may have."""
    grid = block.classes.grid
    found = _possible(frozenset({block.column, *grid.columns}), bound, bonds)
    if found is None:
        return
    allowed, _ = found
    variable = bound.schema.variables[block.column]
    own = variable.quantities[allowed[grid.cells(allowed) == 0, block.column]]
    own = own[np.isfinite(own)]
    least, most = block.published.interval
    gap = max(float(own.min()) - most, least - float(own.max())) if len(own) else 0.0
    if gap > 1e-9:
        name = f"the {100 * block.parts[0][0]:g} % quantile of {variable.name}"
        yield (
            f"{name} is {block.published} in one group, but rules leave values from {own.min():g} "
            f"to {own.max():g} alone (off by {gap:g})"
        )
