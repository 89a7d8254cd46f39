"""Rules and derived variables as a spec gives them: read, checked, and made into bonds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from evosynth import expression
from evosynth.bonds import Bonds, Compiled, Derived, in_order
from evosynth.errors import Fault, Path, shown
from evosynth.expression import Node
from evosynth.grid import Grid
from evosynth.objective import CellTable, Plan, Text
from evosynth.printed import Printed, Share, no_share
from evosynth.routes import by_level, links
from evosynth.schema import FloatArray, Schema, Variable

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.variables import VariableSpec

Flags = np.ndarray[Any, np.dtype[np.bool_]]

MAX_RULES = 200


def _rule(value: Any) -> Any:
    return {"rule": value} if isinstance(value, str) else value


class RuleSpec(BaseModel):
    """A condition that every record keeps, or all but a share of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: Text = Field(description="such as: if AGE < 16 then MARITAL == 1")
    violated: Share | None = Field(None, description="share of the records that break it")


RuleItem = Annotated[
    RuleSpec,
    BeforeValidator(_rule),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]}),
]


@dataclass(frozen=True)
class Rule:
    """A rule of a spec."""

    text: str
    node: Node
    path: Path
    violated: Printed | None = None
    """Share of the records that are to break it, if not none."""


@dataclass(frozen=True)
class Bound:
    """A schema with its bonds, the rules as written, and what soft rules ask of the search."""

    schema: Schema
    rules: tuple[Rule, ...] = ()
    formulas: tuple[tuple[str, Node, bool], ...] = ()
    """Derived variables: name, formula, and whether it gives levels of categories."""
    plans: tuple[Plan, ...] = ()

    def within(self, schema: Schema) -> Bound:
        """Keep what is about the variables of a schema, such as that of households."""
        known = set(schema.index)
        rules = tuple(rule for rule in self.rules if known.issuperset(rule.node.names))
        formulas = tuple(one for one in self.formulas if known.issuperset((one[0], *one[1].names)))
        return replace(self, schema=schema, rules=rules, formulas=formulas)

    def __bool__(self) -> bool:
        """Tell whether anything ties values to each other."""
        return bool(self.rules or self.formulas)


def names_of(rule: RuleSpec) -> tuple[str, ...]:
    """Names that a rule mentions; none if it cannot be read."""
    try:
        return expression.parse(rule.rule, True).names
    except ValueError:
        return ()


def bind(
    schema: Schema,
    variables: dict[str, VariableSpec],
    given: list[RuleSpec],
    faults: list[Fault],
    fixed: frozenset[str] = frozenset(),
) -> Bound:
    """Read derived variables and rules; add what is wrong with them to ``faults``.

    ``fixed``: variables that no rule is solved for.
    """
    before = len(faults)
    formulas = {
        name: _formula(schema, name, spec, faults)
        for name, spec in variables.items()
        if spec.derived is not None and name in schema.index
    }
    rules = [_read(schema, position, rule, faults) for position, rule in enumerate(given)]
    if len(faults) > before or not (formulas or rules):
        return Bound(schema)
    kept = tuple(rule for rule in rules if rule is not None)
    known = {name: node for name, node in formulas.items() if node is not None}
    soft = [rule for rule in kept if rule.violated is not None]
    schema = replace(
        schema, variables=schema.variables + tuple(_marker(n) for n in range(len(soft)))
    )
    first = len(schema.variables) - len(soft)
    derived: dict[int, Derived] = {}
    hard: list[Compiled] = []
    for name, node in known.items():
        levels = isinstance(variables[name].derived, dict)
        column = schema.index[name]
        derived[column] = Derived.of(column, Compiled.of(node, schema), schema, levels, False)
    for number, rule in enumerate(soft):
        column = first + number
        formula = Compiled.of(Node("not", (rule.node,)), schema)
        derived[column] = Derived.of(column, formula, schema, True, False)
    for rule in kept:
        if rule.violated is not None:
            continue
        one = _solved(rule.node, schema, derived, fixed)
        if one is None:
            hard.append(Compiled.of(rule.node, schema))
        else:
            derived[one.column] = one
            faults += _shape_faults(schema.variables[one.column].name, variables, rule)
    order = in_order([(column, one.formula.used) for column, one in derived.items()])
    if order is None:
        names = ", ".join(repr(schema.variables[c].name) for c in derived)
        path: Path = ("variables", next(iter(known)), "derived") if known else ("rules",)
        faults.append(Fault(path, f"derived variables go in circles: {names}"))
        return Bound(schema)
    always = [rule.node for rule in kept if rule.violated is None]
    linked = tuple(link for node in always for link in links(node, schema))
    bonds = Bonds(tuple(derived[column] for column in order), tuple(hard), linked)
    schema = replace(schema, bonds=bonds)
    for name in known:
        faults += _unknown_faults(schema, name, known[name], bonds)
    plans = tuple(_share(schema, first + i, rule) for i, rule in enumerate(soft))
    triples = tuple((n, node, isinstance(variables[n].derived, dict)) for n, node in known.items())
    return Bound(schema, kept, triples, plans)


def _shape_faults(name: str, variables: dict[str, VariableSpec], rule: Rule) -> Iterator[Fault]:
    """Tell a hint on a variable that a rule works out: nothing would keep it."""
    for key in ("shape", "zeros"):
        if name in variables and getattr(variables[name], key) is not None:
            message = (
                f"{name!r} follows from the rule {shown(rule.text)}; leave this out, and shape "
                "the variables that it is made of"
            )
            yield Fault(("variables", name, key), message)


def _formula(schema: Schema, name: str, spec: VariableSpec, faults: list[Fault]) -> Node | None:
    """Read the formula of a derived variable; categories by conditions become one formula."""
    path: Path = ("variables", name, "derived")
    variable = schema[name]
    if isinstance(spec.derived, str):
        return _checked(schema, spec.derived, False, path, faults)
    assert spec.derived is not None
    before = len(faults)
    if not variable.categorical:
        message = "conditions by code are for categories; write a formula such as A + B"
        faults.append(Fault(path, message))
        return None
    found: Node | None = None
    items = list(spec.derived.items())
    for place, (code, text) in reversed(list(enumerate(items))):
        if code not in variable.levels:
            message = f"{name!r} has no value {code!r}{variable.hint(code)}"
            faults.append(Fault((*path, code), message))
            continue
        level = Node("number", text=str(variable.levels[code]))
        if text.strip() == "else":
            if place != len(items) - 1:
                faults.append(Fault((*path, code), "'else' comes last"))
            found = level
            continue
        test = _checked(schema, text, True, (*path, code), faults)
        other = found or Node("/", (Node("number", text="0"), Node("number", text="0")))
        found = None if test is None else Node("if", (test, level, other))
    return found if len(faults) == before else None


def _read(schema: Schema, position: int, rule: RuleSpec, faults: list[Fault]) -> Rule | None:
    path: Path = ("rules", position)
    node = _checked(schema, rule.rule, True, path, faults)
    if rule.violated is not None and not 0 <= rule.violated.value < 1:
        faults.append(Fault((*path, "violated"), no_share(rule.violated, "up to 1")))
    return None if node is None else Rule(rule.rule.strip(), node, path, rule.violated)


def _checked(
    schema: Schema, text: str, condition: bool, path: Path, faults: list[Fault]
) -> Node | None:
    """Parse an expression and say what is wrong with it."""
    try:
        node = expression.resolve(expression.parse(text, condition), schema)
    except ValueError as error:
        faults.append(Fault(path, str(error)))
        return None
    wrong = list(expression.faults(node, schema)) or list(_never(node, schema))
    faults += [Fault(path, message) for message in wrong]
    return None if wrong else node


def _never(node: Node, schema: Schema, within: bool = False) -> Iterator[str]:
    """Find comparisons after `if` that hold for no value of the one variable in them."""
    if within and node.kind in {"<", "<=", ">", ">=", "=="} and len(node.names) == 1:
        variable = schema[node.names[0]]
        if (
            expression.picked(node) is None
            and not (by_level(Compiled.of(node, schema), schema) == 1.0).any()
        ):
            low, high = variable.texts[0], variable.texts[variable.valid - 1]
            ends = f"its values are {low} to {high}"
            if variable.missing and not variable.blank:
                ends += ", and codes of missing values are asked for by ==, != or in"
            yield f"a condition after 'if' never holds for {variable.name!r}; {ends}"
        return
    for place, part in enumerate(node.parts):
        yield from _never(part, schema, within or (node.kind == "if" and place == 0))


def _solved(
    node: Node, schema: Schema, derived: dict[int, Derived], fixed: frozenset[str]
) -> Derived | None:
    """Make an equality into a formula of a quantity that it gives, if there is one."""
    if node.kind != "==" or expression.picked(node) is not None:
        return None
    for one, other in (node.parts[::-1], node.parts):
        if one.kind != "name" or one.text in other.names or one.text in fixed:
            continue
        column = schema.index[one.text]
        formula = Compiled.of(other, schema)
        uses = [(c, own.formula.used) for c, own in derived.items()]
        if column not in derived and in_order([*uses, (column, formula.used)]) is not None:
            return Derived.of(column, formula, schema, False, True)
    return None


def _marker(number: int) -> Variable:
    """Build a hidden variable that tells whether a rule is broken."""
    values = np.array([0, 1], dtype=np.uint8)
    share = np.array([0.5, 0.5])
    return Variable(f"rule {number}", "", values, ("kept", "broken"), share, hidden=True)


def _share(schema: Schema, column: int, rule: Rule) -> Plan:
    """Ask for a share of records that break a rule."""
    assert rule.violated is not None
    low, high = (np.array(end) * schema.records for end in rule.violated.interval)
    fewest, most = max(0, int(np.ceil(low))), min(schema.records, int(np.floor(high)))
    if fewest > most:
        fewest = most = round(rule.violated.value * schema.records)
    n = schema.records
    grid = Grid((column,), (np.arange(2),))
    table = CellTable(grid, np.array([n - most, fewest]), np.array([n - fewest, most]))
    return Plan((table,), counted=(((0, 1),),))


def _unknown_faults(schema: Schema, name: str, node: Node, bonds: Bonds) -> list[Fault]:
    """Find a derived variable that may be missing but has no missing value."""
    variable = schema[name]
    sources = [schema.variables[c] for c in sorted(bonds.sources(schema.index[name]))]
    blank = [source.name for source in sources if source.missing]
    if variable.missing or not blank or {"is missing", "is code"} & _kinds(node):
        return []
    message = (
        f"{name!r} cannot be worked out where {blank[0]!r} is missing; add `missing: true` to it"
    )
    return [Fault(("variables", name, "derived"), message)]


def _kinds(node: Node) -> set[str]:
    return {node.kind}.union(*(_kinds(part) for part in node.parts))


def columns_of(frame: pd.DataFrame, schema: Schema) -> dict[str, FloatArray]:
    """Numbers of every column of a data file, nan where missing."""
    import pandas as pd

    found = {}
    for variable in schema.shown:
        if variable.identifier is not None:
            continue
        column = frame[variable.name]
        gone = column.isna().to_numpy(dtype=bool, copy=True)
        end = -1 if variable.blank else None
        gone |= column.isin(variable.values[variable.valid : end].tolist()).to_numpy(dtype=bool)
        if variable.values.dtype == object:
            places = {code: place for place, code in enumerate(variable.values.tolist())}
            numbers = column.map(places).to_numpy(dtype=float, na_value=np.nan)
        else:
            numbers = pd.to_numeric(column.astype(object)).to_numpy(dtype=float, na_value=np.nan)
        found[variable.name] = np.where(gone, np.nan, numbers)
    return found


def compliance(bound: Bound, frame: pd.DataFrame, counts: FloatArray) -> pd.DataFrame:
    """Tell how many records of a data file break each rule, and how many would by chance.

    By chance: were every variable as it is but unrelated to the others.

    Returns
    -------
    One row per rule and derived variable: ``rule``, ``violated`` (records), ``share`` (of all),
    ``allowed`` (as the spec says), ``kept`` (whether the share is as allowed), ``by_chance``.
    """
    import pandas as pd

    columns = columns_of(frame, bound.schema)
    coded = {name: frame[name].to_numpy(dtype=object) for name in columns}
    rng = np.random.default_rng(0)
    mixed = {name: rng.choice(len(frame), len(frame), p=counts / counts.sum()) for name in columns}
    apart = {name: column[mixed[name]] for name, column in columns.items()}
    apart_coded = {name: column[mixed[name]] for name, column in coded.items()}
    rows: list[dict[str, object]] = []

    def add(name: str, broken: Flags, chance: Flags, allowed: Printed | None) -> None:
        violated = float(counts @ broken)
        share = violated / float(counts.sum())
        kept = violated == 0 if allowed is None else _as_allowed(violated, allowed, counts.sum())
        rows.append(
            {
                "rule": name,
                "violated": round(violated),
                "share": share,
                "allowed": "0" if allowed is None else allowed.text,
                "kept": kept,
                "by_chance": float(chance.mean()),
            }
        )

    for rule in bound.rules:
        found = [
            np.broadcast_to(expression.evaluate(rule.node, *data) == 0.0, len(counts))
            for data in ((columns, coded), (apart, apart_coded))
        ]
        add(rule.text, found[0], found[1], rule.violated)
    for name, node, levels in bound.formulas:
        variable = bound.schema[name]
        wrong = _differs(variable, node, levels, columns, coded)
        chance = _differs(variable, node, levels, apart, apart_coded)
        add(f"{name} as derived", wrong, chance, None)
    return pd.DataFrame(rows)


def _as_allowed(violated: float, allowed: Printed, records: float) -> bool:
    """Whether a rule is broken as often as it should be, as near as whole records come."""
    low, high = allowed.interval
    return abs(violated - allowed.value * records) <= max(1.0, (high - low) / 2 * records)


def _differs(
    variable: Variable,
    node: Node,
    levels: bool,
    columns: dict[str, FloatArray],
    coded: dict[str, Any],
) -> Flags:
    """Tell where a derived column is not what its formula gives."""
    value = np.broadcast_to(expression.evaluate(node, columns, coded), len(coded[variable.name]))
    here = columns[variable.name]
    if levels:
        codes = np.array(variable.texts[: variable.valid], dtype=object)
        there = np.isfinite(value)
        wanted = np.full(len(value), "", dtype=object)
        wanted[there] = codes[value[there].astype(int)]
        found = np.array([str(one) for one in coded[variable.name]], dtype=object)
        return np.asarray(
            np.where(there & np.isfinite(here), wanted != found, there != np.isfinite(here))
        )
    off = np.abs(value - here) > 0.5 * 10.0**-variable.decimals + 1e-9
    return np.asarray(
        np.where(
            np.isfinite(value) & np.isfinite(here), off, np.isfinite(value) != np.isfinite(here)
        )
    )
