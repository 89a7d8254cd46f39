"""Two levels: persons in households.

Households are searched first, as records of their own: their variables, the figures about them, and
how many persons must live in which. Each person then has a *slot*, a place in a household; slots of
households that are alike are alike. What belongs to the household follows from the slot, so that it
is the same for all members, and the slots are a table that every candidate meets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from evosynth import expression
from evosynth.bonds import Bonds, Compiled, Derived
from evosynth.classes import Classes
from evosynth.errors import Fault, Path, SizeError, have, many, suggest
from evosynth.grid import Grid
from evosynth.kernels.expression import OPERATIONS
from evosynth.moments import GroupMoments
from evosynth.objective import CellTable, Figure, Plan, Text
from evosynth.printed import Within
from evosynth.problem import Problem
from evosynth.routes import links
from evosynth.rules import Bound, RuleSpec
from evosynth.sampling import redrawn
from evosynth.schema import Codes, FloatArray, IntArray, Schema, Variable
from evosynth.settle import narrow
from evosynth.variables import VariableSpec, numbered

SLOT = "slot"
_TRIED = 20
"""Records of which none is found before a place counts as impossible."""
_STREAM = 4
"""Marks the random numbers of who lives where."""


class HouseholdsSpec(BaseModel):
    """Households that persons live in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    count: int = Field(ge=1, description="number of households")
    size: Text = Field(description="the household variable that tells how many members there are")
    identifier: Text = Field("HID", description="name of the number of the household")
    person: Text = Field("PNO", description="name of the number of the person in the household")


@dataclass(frozen=True)
class Households:
    """The households of a spec."""

    schema: Schema
    """Of the household variables; its records are households."""
    size: str
    identifier: str
    person: str


def faults(given: HouseholdsSpec, variables: dict[str, VariableSpec]) -> list[Fault]:
    """Say what is wrong with the households of a spec."""
    found: list[Fault] = []
    own = [name for name, v in variables.items() if v.unit == "household"]
    if given.size not in own or variables[given.size].integer is None:
        path: Path = ("households", "size")
        hint = suggest(given.size, own)
        message = f"{given.size!r} is no integer variable with unit: household{hint}"
        found.append(Fault(path, message))
    for key in ("identifier", "person"):
        name = getattr(given, key)
        if name in variables:
            message = f"{name!r} is a variable already; choose another name"
            found.append(Fault(("households", key), message))
    for name, variable in variables.items():
        if variable.counts is not None and name not in own:
            message = "only a variable with unit: household can count members"
            found.append(Fault(("variables", name, "counts"), message))
    counting = [name for name in own if variables[name].counts is not None]
    for name in counting[1:]:
        message = f"only one variable can count members, and {counting[0]!r} does"
        found.append(Fault(("variables", name, "counts"), message))
    return found


def persons(given: HouseholdsSpec, schema: Schema) -> Schema:
    """Add to all variables the number of the household and that of the person in it."""
    most = int(schema[given.size].values[: schema[given.size].valid].max())
    values = np.arange(1, max(most, 2) + 1)
    share = np.full(len(values), 1 / len(values))
    number = Variable(given.person, "Number of the person in the household", values, None, share)
    number = replace(number, shaped=True)
    key = numbered(given.identifier, "Number of the household", "", 1, given.count)
    return replace(schema, variables=(key, number, *schema.variables))


def first_uncounted(given: HouseholdsSpec, bound: Bound, variables: dict[str, VariableSpec]) -> int:
    """Count the first members of a household who, by the rules, cannot be those that it counts."""
    schema = bound.schema
    name = next((n for n, v in variables.items() if v.counts is not None), None)
    if schema.bonds is None or name is None:
        return 0
    person = schema.index[given.person]
    rows = np.zeros((_TRIED, len(schema.variables)), dtype=schema.dtype)
    for column, levels in ((given.size, schema[given.size].valid), (name, schema[name].valid)):
        rows[:, schema.index[column]] = levels - 1
    kept = frozenset({person, schema.index[given.size], schema.index[name]})
    same = RuleSpec(rule=str(variables[name].counts))
    node = expression.resolve(expression.parse(same.rule, True), schema)
    rules = [r for r in bound.rules if name not in r.node.names and r.violated is None]
    own = Bonds(
        tuple(one for one in schema.bonds.derived if one.column not in kept),
        tuple(Compiled.of(n, schema) for n in (node, *(rule.node for rule in rules))),
        tuple(link for rule in rules for link in links(rule.node, schema)),
    )
    margins = [variable.proportions for variable in schema.variables]
    for number in range(schema.variables[person].size):
        rows[:, person] = number
        tried = rows.copy()
        try:
            redrawn(schema, own, margins, tried, np.random.default_rng(number), kept)
        except SizeError:
            if not own.complete(tried).any():  # one who may be is enough
                continue
        return number
    return 0


def implied_rules(
    given: HouseholdsSpec, variables: dict[str, VariableSpec], uncounted: int = 0
) -> tuple[list[RuleSpec], list[RuleSpec]]:
    """Rules of households and of persons that follow from their sizes and what they count."""
    person, size = given.person, given.size
    own: list[RuleSpec] = []
    mine = [RuleSpec(rule=f"{person} <= {size}")]
    for name, variable in variables.items():
        if variable.counts is None:
            continue
        own.append(RuleSpec(rule=f"{name} <= {size} - {uncounted}"))
        # The last of them are those that are counted.
        mine.append(RuleSpec(rule=f"if {person} > {size} - {name} then ({variable.counts})"))
        mine.append(RuleSpec(rule=f"if {person} <= {size} - {name} then not ({variable.counts})"))
    return own, mine


def linked(households: Households, plans: Sequence[Plan], schema: Schema) -> Plan:
    """Tell what figures about persons ask of households: how many persons live in which.

    ``schema`` is that of the persons, ``plans`` are about them.
    """
    problem = Problem.of(tuple(plans), schema)
    narrow(problem)
    own = households.schema
    names = set(own.index)
    size = own[households.size]
    blocks = [_total(households, np.zeros(size.size, np.int64), schema.records, schema.records)]
    for table, grid in enumerate(problem.grids):
        columns = [schema.variables[c].name for c in grid.columns]
        if not set(columns) <= names:
            continue
        here = problem.slice(table)
        low, high = problem.low[here], problem.high[here]
        moved = Grid(tuple(own.index[name] for name in columns), grid.groups)
        bound = np.flatnonzero((low > 0) | (high < schema.records))
        if len(bound):
            blocks.append(_persons_in(households, moved, low, high, bound))
    return Plan(smooth=tuple(blocks))


def clashes(households: Households, plans: Sequence[Plan], records: int) -> list[Fault]:
    """Find published sizes of households that do not come to the number of persons."""
    problem = Problem.of(tuple(plans), households.schema)
    narrow(problem)
    column = households.schema.index[households.size]
    sizes = households.schema[households.size].quantities
    count = households.schema.records
    low, high = np.zeros(len(sizes)), np.full(len(sizes), float(count))
    for table, grid in enumerate(problem.grids):
        if grid.columns == (column,) and grid.size == len(sizes):
            here = problem.slice(table)
            low = np.maximum(low, problem.low[here][grid.groups[0]])
            high = np.minimum(high, problem.high[here][grid.groups[0]])
    ends = []
    for order in (np.argsort(sizes), np.argsort(-sizes)):
        left, total = count - low.sum(), float(low @ sizes)
        for level in order:
            more = min(left, high[level] - low[level])
            total, left = total + more * sizes[level], left - more
        ends.append(total)
    gap = max(ends[0] - records, records - ends[1])
    if gap <= 0:
        return []
    reach = f"{ends[0]:.0f}" if ends[0] == ends[1] else f"{ends[0]:.0f} to {ends[1]:.0f}"
    message = (
        f"{many(count, 'household')} of these sizes {have(count)} {many(reach, 'member')}, "
        f"but records is {records} "
        f"(off by {gap:.0f})"
    )
    return [Fault(("households",), message, clash=True)]


def fitted(households: Households, codes: Codes, records: int, seed: int) -> Codes:
    """Make households larger or smaller, at random, until all persons have a place."""
    schema = households.schema
    column = schema.index[households.size]
    sizes = schema[households.size].quantities
    codes, rng = codes.copy(), np.random.default_rng((seed, _STREAM, 1))
    gap = records - int(sizes[codes[:, column]].sum())
    while gap:
        before = codes.copy()
        step = 1 if gap > 0 else -1
        some = rng.permutation(len(codes))
        end = len(sizes) - 1 if step > 0 else 0
        some = some[codes[some, column] != end][: abs(gap)]
        codes[some, column] = codes[some, column].astype(np.int64) + step
        allowed = schema.complete(codes)
        if allowed is not None:
            codes[~allowed] = before[~allowed]
        now = records - int(sizes[codes[:, column]].sum())
        if now == gap:
            raise SizeError(
                f"{many(len(codes), 'household')} {have(len(codes))} no place for "
                f"{many(records, 'person')}"
            )
        gap = now
    return codes


def _total(households: Households, groups: IntArray, low: int, high: int) -> GroupMoments:
    grid = Grid((households.schema.index[households.size],), (groups,))
    ends = np.array([low]), np.array([high])
    return _persons_in(households, grid, *ends, np.array([0]))


def _persons_in(
    households: Households, grid: Grid, low: IntArray, high: IntArray, cells: IntArray
) -> GroupMoments:
    """Persons, that is sums of household sizes, by cells of households."""
    names = tuple(households.schema.variables[c].name for c in grid.columns)
    classes = Classes(grid, names, grid.shape)
    figures = [
        Figure("persons", Within("", float(low[c]) - 0.4, float(high[c]) + 0.4)) for c in cells
    ]
    members = [[int(cell)] for cell in cells]
    moments = ["total"] * len(cells)
    return GroupMoments(classes, households.size, moments, members, households.schema, figures)


@dataclass(frozen=True)
class Slots:
    """Places in households, those alike numbered alike."""

    schema: Schema
    """Of the persons, with a hidden variable that tells the slot."""
    plan: Plan
    """Every slot is taken."""
    household: IntArray
    """Of each place, in the order of its slot."""
    slot: IntArray
    """Of each place, ascending."""

    @classmethod
    def of(cls, households: Households, codes: Codes, schema: Schema) -> Slots:
        """Give places in coded households numbers, and make what belongs to these follow."""
        own = households.schema
        size = own[households.size].values[codes[:, own.index[households.size]]].astype(np.int64)
        household = np.repeat(np.arange(len(codes)), size)
        first = np.cumsum(size) - size
        person = np.arange(len(household)) - np.repeat(first, size)
        places = np.column_stack([codes[household].astype(np.int64), person])
        kinds, slot = np.unique(places, axis=0, return_inverse=True)
        slot = slot.ravel()
        share = np.bincount(slot) / len(slot)
        labels = tuple(str(n) for n in range(len(kinds)))
        hidden = Variable(SLOT, "", np.arange(len(kinds)), labels, share, hidden=True)
        wide = replace(schema, variables=(*schema.variables, hidden))
        place = len(schema.variables)
        columns = [schema.index[variable.name] for variable in own.variables]
        columns.append(schema.index[households.person])
        follow = [_looked_up(column, place, kinds[:, k], wide) for k, column in enumerate(columns)]
        bonds = schema.bonds or Bonds((), ())
        kept = tuple(one for one in bonds.derived if one.column not in columns)
        wide = replace(wide, bonds=Bonds((*follow, *kept), bonds.rules, bonds.links), fixed=place)
        counts = np.bincount(slot)
        grid = Grid((place,), (np.arange(len(kinds)),))
        every = tuple((0, slot) for slot in range(len(kinds)))
        plan = Plan((CellTable(grid, counts, counts),), counted=(every,))
        order = np.argsort(slot, kind="stable")
        return cls(wide, plan, household[order], slot[order])

    def settle(self, codes: Codes, seed: int) -> tuple[IntArray, IntArray]:
        """Let each person live in a household, at random; return their order and households.

        Households come in random order, their members one after the other.
        """
        rng = np.random.default_rng((seed, _STREAM))
        mine = codes[:, len(self.schema.variables) - 1].astype(np.int64)
        shuffled = rng.permutation(len(mine))
        order = shuffled[np.argsort(mine[shuffled], kind="stable")]
        # Where slots are not all taken, as after an early stop, the next of them is.
        number = rng.permutation(int(self.household.max()) + 1)[self.household]
        by_household = np.lexsort((self.slot, number))
        return order[by_household], number[by_household]


def _looked_up(column: int, place: int, levels: IntArray, schema: Schema) -> Derived:
    """Let a variable follow from the slot."""
    formula = Compiled(
        np.array([OPERATIONS.index("look")]),
        np.array([place]),
        np.array([0]),
        levels.astype(np.float64),
        2,
        (place,),
    )
    every = np.arange(schema.variables[column].size)
    values: FloatArray = every.astype(np.float64)
    return Derived(column, formula, True, True, values, every, 0, -1)
