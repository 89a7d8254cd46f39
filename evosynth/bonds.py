"""What ties the values of a record to each other: derived variables, and rules that always hold.

Both are compiled once. Wherever the search makes records it completes them here: derived values are
filled in, and records that break a rule, or whose derived values do not exist, are never made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosynth.expression import Node, member, picked
from evosynth.kernels.expression import OPERATIONS, run_programme
from evosynth.schema import Codes, FloatArray, IntArray, Schema, Variable

_NUMBER = {name: number for number, name in enumerate(OPERATIONS)}
_TURNED = {">": "<", ">=": "<="}
_CLOSE = 1e-9


@dataclass(frozen=True)
class Compiled:
    """An expression on coded records."""

    ops: IntArray
    columns: IntArray
    starts: IntArray
    numbers: FloatArray
    depth: int
    used: tuple[int, ...]
    """Columns that it depends on."""

    @classmethod
    def of(cls, node: Node, schema: Schema) -> Compiled:
        """Compile a resolved expression."""
        compiler = _Compiler(schema)
        compiler.add(node)
        return compiler.done()

    def __call__(self, codes: Codes) -> FloatArray:
        """Evaluate it for each record."""
        return run_programme(codes, self.ops, self.columns, self.starts, self.numbers, self.depth)


class _Compiler:
    """Writes a programme for the machine of `evosynth.kernels.expression`."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.steps: list[tuple[int, int, int]] = []
        self.tables: list[FloatArray] = []
        self.size = self.depth = self.deepest = 0

    def add(self, node: Node) -> None:
        named = picked(node)
        if named is not None:
            name, values = named
            variable = self.schema[name]
            hit = np.any([member(variable, value) for value in values], axis=0)
            unknown = np.isnan(numeric(variable)) & (node.kind != "is code")
            truth = np.where(hit, 1.0, np.where(unknown, np.nan, 0.0))
            self._look(name, 1 - truth if node.kind == "!=" else truth)
        elif node.kind == "is missing":
            variable = self.schema[node.parts[0].text]
            self._look(variable.name, (np.arange(variable.size) >= variable.valid).astype(float))
        elif node.kind == "name":
            self._look(node.text, numeric(self.schema[node.text]))
        elif node.kind == "number":
            self._step("number", 0, self._table(np.array([float(node.text)])), 1)
        elif node.kind == "if" and len(node.parts) == 2:
            self.add(node.parts[0])
            self._step("not", 0, 0, 0)
            self.add(node.parts[1])
            self._step("or", 0, 0, -1)
        else:
            kind, parts = _TURNED.get(node.kind, node.kind), node.parts
            for part in parts[::-1] if node.kind in _TURNED else parts:
                self.add(part)
            self._step(kind, 0, 0, 1 - len(parts))

    def _look(self, name: str, table: FloatArray) -> None:
        self._step("look", self.schema.index[name], self._table(table), 1)

    def _table(self, table: FloatArray) -> int:
        self.tables.append(table)
        self.size += len(table)
        return self.size - len(table)

    def _step(self, kind: str, column: int, start: int, growth: int) -> None:
        self.steps.append((_NUMBER[kind], column, start))
        self.depth += growth
        self.deepest = max(self.deepest, self.depth)

    def done(self) -> Compiled:
        ops, columns, starts = np.array(self.steps, dtype=np.int64).T.copy()
        used = tuple(sorted({int(c) for c in columns[ops == _NUMBER["look"]]}))
        numbers = np.concatenate(self.tables).astype(np.float64)
        return Compiled(ops, columns, starts, numbers, self.deepest + 1, used)


def numeric(variable: Variable) -> FloatArray:
    """Each level as a number, codes of categories among them; nan if missing or a text."""
    found = np.full(variable.size, np.nan)
    if variable.values.dtype == object:
        found[: variable.valid] = np.arange(variable.valid)  # told from missing, no more
    else:
        found[: variable.valid] = variable.values[: variable.valid].astype(np.float64)
    return found


@dataclass(frozen=True)
class Derived:
    """A variable that is worked out from others."""

    column: int
    formula: Compiled
    levels: bool
    """Whether the formula gives the level itself, not a value."""
    exactly: bool
    """Whether the formula must give a value of the variable, rather than be rounded to one."""
    values: FloatArray
    """Valid values, ascending."""
    order: IntArray
    """Level of each of them."""
    decimals: int
    missing: int
    """Level of what cannot be worked out; -1 if there is none."""

    @classmethod
    def of(
        cls, column: int, formula: Compiled, schema: Schema, levels: bool, exactly: bool
    ) -> Derived:
        """Prepare one."""
        variable = schema.variables[column]
        values = np.arange(variable.valid) if levels else numeric(variable)[: variable.valid]
        order = np.argsort(values, kind="stable")
        decimals = 0 if levels else variable.decimals
        missing = variable.valid if variable.missing else -1
        return cls(
            column, formula, levels, exactly, values[order].astype(float), order, decimals, missing
        )

    def fill(self, codes: Codes) -> NDArray[np.bool_]:
        """Set the variable in each record, in place; tell in which it exists."""
        value = self.formula(codes)
        known = np.isfinite(value)
        value = np.where(known, value, self.values[0])
        if not self.exactly:
            unit = 10.0**self.decimals
            value = np.floor(value * unit * (1 + 1e-15 * np.sign(value)) + 0.5 + 1e-9) / unit
        at = np.clip(np.searchsorted(self.values, value), 0, len(self.values) - 1)
        lower = np.maximum(at - 1, 0)
        nearer = np.abs(self.values[lower] - value) < np.abs(self.values[at] - value)
        at = np.where(nearer, lower, at)
        close = np.abs(self.values[at] - value) <= _CLOSE * np.maximum(1.0, np.abs(value))
        found = self.order[at]
        if self.missing >= 0:
            codes[:, self.column] = np.where(known, found, self.missing)
            return np.asarray(close | ~known)
        codes[:, self.column] = found
        return np.asarray(close & known)


@dataclass(frozen=True)
class Route:
    """Values that a rule leaves to a variable."""

    column: int
    when: Compiled
    """Condition on other variables under which it does."""
    allowed: NDArray[np.bool_]
    """Of each level."""


@dataclass(frozen=True)
class Link:
    """What a rule makes of the variable after `then`, or of that before it."""

    ahead: Route
    back: Route | None


@dataclass(frozen=True)
class Bonds:
    """Derived variables in an order in which they can be worked out, and rules."""

    derived: tuple[Derived, ...]
    rules: tuple[Compiled, ...]
    links: tuple[Link, ...] = ()

    @property
    def columns(self) -> frozenset[int]:
        """Columns of the derived variables."""
        return frozenset(one.column for one in self.derived)

    def complete(self, codes: Codes) -> NDArray[np.bool_]:
        """Fill in derived variables, in place; tell which records may be."""
        allowed = np.ones(len(codes), dtype=np.bool_)
        for one in self.derived:
            allowed &= one.fill(codes)
        for rule in self.rules:
            allowed &= rule(codes) != 0.0
        return allowed

    def sources(self, column: int) -> frozenset[int]:
        """Columns, not derived, that a column is worked out from; itself if from none."""
        by = {one.column: one.formula.used for one in self.derived}
        found: set[int] = set()
        left = [column]
        while left:
            here = left.pop()
            if here in by:
                left += by[here]
            else:
                found.add(here)
        return frozenset(found)

    def only(self, columns: frozenset[int]) -> Bonds:
        """Keep the bonds that tie none but these columns, and those worked out from them."""
        derived = [one for one in self.derived if self.sources(one.column) <= columns]
        rules = [
            rule for rule, part in zip(self.rules, self._parts(), strict=True) if part <= columns
        ]
        return Bonds(tuple(derived), tuple(rules))

    def _parts(self) -> list[frozenset[int]]:
        """Columns, not derived, that each rule ties."""
        return [frozenset().union(*(self.sources(c) for c in rule.used)) for rule in self.rules]

    def tied(self, columns: frozenset[int]) -> frozenset[int]:
        """Columns, not derived, that some columns hang together with, themselves included."""
        found = frozenset().union(*(self.sources(column) for column in columns))
        while True:
            more = found.union(*(part for part in self.parts() if part & found))
            if more == found:
                return found
            found = more

    def broken(self, codes: Codes) -> list[NDArray[np.bool_]]:
        """Tell for each bond which records it forbids; derived variables first."""
        return [
            *(~one.fill(codes.copy()) for one in self.derived),
            *(rule(codes) == 0.0 for rule in self.rules),
        ]

    def parts(self) -> list[frozenset[int]]:
        """For each bond, in the order of `broken`, the columns that may be changed to keep it."""
        return [*(self.sources(one.column) for one in self.derived), *self._parts()]


def in_order(uses: Sequence[tuple[int, tuple[int, ...]]]) -> list[int] | None:
    """Order derived variables so that each follows those it uses; ``None`` if that is a circle."""
    left = dict(uses)
    done: list[int] = []
    while left:
        ready = [c for c, used in left.items() if not any(u in left for u in used)]
        if not ready:
            return None
        done += ready
        for column in ready:
            del left[column]
    return done
