"""Rules and formulas that are sums of variables, against the published means of these.

What holds in every record holds on average: of `A + B == T` the means add up, and where `A <= B`
the mean of A is not above that of B.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evosynth.errors import Fault, shown
from evosynth.expression import Node
from evosynth.moments import GroupMoments
from evosynth.objective import Plan
from evosynth.printed import Published
from evosynth.rules import Bound
from evosynth.schema import Schema

_COMPARED = {"==", "<", "<=", ">", ">="}
_CLOSE = 1e-9

Linear = dict[str, float]
"""Coefficient of each variable; that of the constant under an empty name."""


@dataclass(frozen=True)
class _Tie:
    """A sum of variables that is 0, or not above 0, in every record, but for rounding."""

    terms: Linear
    equal: bool
    text: str
    slack: float = 0.0


@dataclass(frozen=True)
class _Mean:
    output: int
    label: str
    printed: Published


def find(bound: Bound, plans: Sequence[Plan]) -> Iterator[Fault]:
    """Find published means that rules and formulas do not leave to each other."""
    ties = [*_of_rules(bound), *_of_formulas(bound)]
    if not ties:
        return
    for means in _published(bound.schema, plans):
        for tie in ties:
            names = [name for name in tie.terms if name]
            if all(name in means for name in names):
                yield from _off(tie, {name: means[name] for name in names})


def linear(node: Node) -> Linear | None:
    """Write a number as a sum of variables, if it is one."""
    if node.kind == "number":
        return {"": float(node.text)}
    if node.kind == "name":
        return {node.text: 1.0}
    parts = [linear(part) for part in node.parts]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len(known) not in (1, 2):
        return None
    if node.kind == "negative":
        return _plus({}, known[0], -1.0)
    if node.kind in {"+", "-"} and len(known) == 2:
        return _plus(known[0], known[1], -1.0 if node.kind == "-" else 1.0)
    if node.kind in {"*", "/"} and len(known) == 2:
        one, two = known
        if node.kind == "*" and set(one) == {""}:
            one, two = two, one
        if set(two) != {""} or (node.kind == "/" and two[""] == 0):
            return None
        return _plus({}, one, two[""] if node.kind == "*" else 1 / two[""])
    return None


def _plus(one: Linear, two: Linear, times: float) -> Linear:
    return {
        name: one.get(name, 0.0) + times * two.get(name, 0.0)
        for name in dict.fromkeys([*one, *two])
    }


def _of_rules(bound: Bound) -> Iterator[_Tie]:
    for rule in bound.rules:
        for node in _joined(rule.node) if rule.violated is None else ():
            if node.kind not in _COMPARED:
                continue
            left, right = (linear(part) for part in node.parts)
            if left is None or right is None:
                continue
            if node.kind in (">", ">="):
                left, right = right, left
            text = f"rules[{rule.path[1]}] ({shown(rule.text)})"
            yield from _tie(_plus(left, right, -1.0), bound.schema, node.kind == "==", text)


def _joined(node: Node) -> list[Node]:
    """Conditions that all hold."""
    return [n for part in node.parts for n in _joined(part)] if node.kind == "and" else [node]


def _of_formulas(bound: Bound) -> Iterator[_Tie]:
    for name, node, levels in bound.formulas:
        terms = None if levels else linear(node)
        if terms is None or not {name, *node.names} <= set(bound.schema.index):
            continue
        decimals = bound.schema[name].decimals
        steps = [
            times * 10.0 ** (decimals - (bound.schema[other].decimals if other else 0))
            for other, times in terms.items()
        ]
        rounds = any(abs(step - round(step)) > _CLOSE for step in steps)
        slack = 0.5 * 10.0**-decimals if rounds else 0.0
        text = f"what {name!r} is derived from"
        yield from _tie(_plus(terms, {name: 1.0}, -1.0), bound.schema, True, text, slack)


def _tie(
    terms: Linear, schema: Schema, equal: bool, text: str, slack: float = 0.0
) -> Iterator[_Tie]:
    """Keep what ties two variables or more, none of which is ever missing."""
    own = {name: times for name, times in terms.items() if times or not name}
    names = [name for name in own if name]
    known = [name for name in names if name in schema.index]
    complete = known == names and all(schema[n].size == schema[n].valid for n in names)
    if len(names) > 1 and complete:
        yield _Tie(own, equal, text, slack)


def _published(schema: Schema, plans: Sequence[Plan]) -> list[dict[str, _Mean]]:
    """Means of each group of records, by variable."""
    found: dict[object, dict[str, _Mean]] = {}
    for output, plan in enumerate(plans):
        for block in plan.smooth:
            if not isinstance(block, GroupMoments):
                continue
            grid = block.classes.grid
            # A variable that tells no records apart, such as the quantity itself, says nothing.
            apart = [
                (column, groups.tobytes())
                for column, groups in zip(grid.columns, grid.groups, strict=True)
                if groups.max() > 0
            ]
            for row in block.rows.get("mean", ()):
                figure = block.figures[row]
                whole = not apart or (block.member[row].all() and _everyone(block))
                key = () if whole else (tuple(apart), block.member[row].tobytes())
                name = schema.variables[block.column].name
                mean = _Mean(output, figure.label, figure.printed)
                found.setdefault(key, {}).setdefault(name, mean)
    return list(found.values())


def _everyone(block: GroupMoments) -> bool:
    """Whether the groups of a block hold all records."""
    return block.n_groups == block.classes.grid.size


def _off(tie: _Tie, means: dict[str, _Mean]) -> Iterator[Fault]:
    """Compare the mean that is published last with what the others leave."""
    last = max(means, key=lambda name: (means[name].output, list(means).index(name)))
    low = high = tie.terms.get("", 0.0)
    for name, mean in means.items():
        if name != last:
            ends = sorted(tie.terms[name] * end for end in mean.printed.interval)
            low, high = low + ends[0], high + ends[1]
    times = tie.terms[last]
    least, most = sorted((-(low - tie.slack) / times, -(high + tie.slack) / times))
    if not tie.equal:
        least, most = (float("-inf"), most) if times > 0 else (least, float("inf"))
    own = means[last]
    below, above = own.printed.interval
    gap = max(least - above, below - most)
    if gap <= _CLOSE * max(1.0, abs(own.printed.value)):
        return
    room = f"from {least:g} to {most:g}"
    if not tie.equal:
        room = f"at most {most:g}" if times > 0 else f"at least {least:g}"
    others = " and ".join(f"{mean.label} {mean.printed}" for n, mean in means.items() if n != last)
    message = f"{own.label} is {own.printed}, but {tie.text} and {others} leave {room}"
    yield Fault(("outputs", own.output), f"{message} (off by {gap:g})", clash=True)
