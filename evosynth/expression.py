"""The closed grammar of rules and derived variables, ``if AGE < 16 then WORK == 2``, never Python.

An expression is a number or a condition. Numbers: names, ``+ - * / ^``, ``min``, ``max``, ``abs``,
``round``, ``floor``, ``log``, ``exp``, ``sqrt``, ``if … then … else …``. Conditions: comparisons,
``in (1, 2)``, ``is missing``, ``and``, ``or``, ``not``, ``if … then …``. What a missing value
leaves open is unknown, as in R: neither true nor false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np

from evosynth.errors import shown, suggest
from evosynth.schema import MISSING, FloatArray, Schema, Variable, day

MAX_LENGTH = 2_000
MAX_NODES = 200
MAX_NESTING = 20
FUNCTIONS = {"min": 2, "max": 2, "abs": 1, "round": 1, "floor": 1, "log": 1, "exp": 1, "sqrt": 1}
"""Number of arguments; ``min`` and ``max`` take more, too."""
_SAME = {"=": "==", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">=", "−": "-", "×": "*", "**": "^"}
_WORDS = {"and", "or", "not", "in", "is", "if", "then", "else", MISSING}
_TOKEN = re.compile(
    r"\s*(?:(?P<date>\d{4}-\d\d-\d\d(?![\w.]))|(?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?![\w.]))|(?P<name>[^\W\d]\w*)"
    r"|'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\""
    r"|(?P<mark>\*\*|==|!=|<>|<=|>=|[=<>≠≤≥+\-−*×/^(),]))"
)
_COMPARED = {"==", "!=", "<", "<=", ">", ">="}
_CLOSE = 1e-9
"""Relative difference of numbers that count as equal: 0.1 + 0.2 is 0.3."""


@dataclass(frozen=True)
class Node:
    """An operation on other nodes, or a leaf."""

    kind: str
    """``number``, ``text``, ``name``, ``in``, ``is missing``, or an operation's sign or word;
    ``is code`` is an ``in`` with codes of missing values, and never unknown."""
    parts: tuple[Node, ...] = ()
    text: str = ""
    """A number, text or name as written."""

    @property
    def condition(self) -> bool:
        """Whether it is true or false rather than a number."""
        if self.kind == "if":
            return len(self.parts) == 2
        return self.kind in _COMPARED | {"in", "is code", "is missing", "and", "or", "not"}

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, once, in order of appearance."""
        found = [self.text] if self.kind == "name" else []
        for part in self.parts:
            found += part.names
        return tuple(dict.fromkeys(found))


_ZERO = Node("number", text="0")


def parse(text: str, condition: bool) -> Node:
    """Parse a condition or a number; raise ``ValueError`` that shows the offending text."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"more than {MAX_LENGTH:,} characters")
    parser = _Parser(text)
    found = parser.whole()
    if found.condition != condition:
        wanted = "a condition such as A <= B" if condition else "a number such as A + B"
        raise ValueError(f"expected {wanted}, not {parser.shown()}")
    return found


class _Parser:
    """Precedence climbing over tokens."""

    _BINARY = {"or": 1, "and": 2, "+": 5, "-": 5, "*": 6, "/": 6} | dict.fromkeys(_COMPARED, 4)
    _NOT, _COMPARE, _MINUS, _POWER = 3, 4, 7, 8

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        self.next = self.nodes = self.depth = 0
        position, end = 0, len(text.rstrip())
        while position < end:
            found = _TOKEN.match(text, position)
            if not found:
                raise ValueError(f"{shown(text[position:].strip()[:20])!r} is not part of a rule")
            kind = str(found.lastgroup)
            value = found.group(kind)
            if kind == "mark":
                value = _SAME.get(value, value)
            elif kind in {"date", "single", "double"}:
                kind = "text"
            elif value in _WORDS:
                kind = "word"
            self.tokens.append((kind, value))
            position = found.end()

    def shown(self) -> str:
        return repr(shown(self.text.strip()))

    def whole(self) -> Node:
        found = self._expression(0)
        if self.next < len(self.tokens):
            value = self.tokens[self.next][1]
            if value in _COMPARED:
                raise ValueError(
                    f"compare two numbers at a time in {self.shown()}: A < B and B < C"
                )
            raise ValueError(f"{shown(value)!r} is not expected there in {self.shown()}")
        return found

    def _expression(self, least: int) -> Node:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise ValueError(f"nested deeper than {MAX_NESTING} levels")
        left = self._operand()
        while True:
            kind, value = self._peek()
            if value in {"in", "is"} and kind == "word" and least <= self._COMPARE:
                left = self._membership(left)
            elif value == "not" and self._peek(1) == ("word", "in") and least <= self._COMPARE:
                self.next += 1
                left = self._node("not", self._membership(left))
            elif value == "^" and kind == "mark" and least <= self._POWER:
                self.next += 1
                left = self._number("^", left, self._expression(self._MINUS))
            elif kind in {"word", "mark"} and self._BINARY.get(value, -1) >= max(least, 0):
                strength = self._BINARY[value]
                if value in _COMPARED and left.condition:
                    break
                self.next += 1
                right = self._expression(strength + 1)
                build = self._truth if value in {"and", "or"} else self._number
                left = build(value, left, right)
            else:
                break
        self.depth -= 1
        return left

    def _operand(self) -> Node:
        kind, value = self._peek()
        self.next += 1
        if kind == "number" or kind == "text":
            return self._node(kind, text=value)
        if kind == "name":
            if value in FUNCTIONS and self._peek() == ("mark", "("):
                return self._call(value)
            return self._node("name", text=value)
        if value == "(":
            found = self._expression(0)
            self._expect(")")
            return found
        if value == "-" and kind == "mark":
            return self._number("negative", self._expression(self._MINUS))
        if value == "not" and kind == "word":
            return self._truth("not", self._expression(self._NOT))
        if value == "if" and kind == "word":
            return self._if()
        if (kind, value) == ("word", MISSING):
            raise ValueError(f"ask for missing values by 'A is missing' in {self.shown()}")
        self.next -= 1
        found_text = "the end" if kind == "end" else repr(shown(value))
        raise ValueError(
            f"expected a name, a number or '(' but found {found_text} in {self.shown()}"
        )

    def _if(self) -> Node:
        test = self._expression(0)
        if not test.condition:
            raise ValueError(f"'if' needs a condition such as A < B in {self.shown()}")
        self._expect("then")
        then = self._expression(0)
        if self._peek() == ("word", "else"):
            self.next += 1
            other = self._expression(0)
            if then.condition and other.condition:
                ways = (test, then), (self._node("not", test), other)
                return self._node("and", *(self._node("if", *way) for way in ways))
            return self._number("if", test, then, other, first=1)
        if not then.condition:
            raise ValueError(f"'then' needs a condition such as A < B in {self.shown()}")
        return self._node("if", test, then)

    def _call(self, name: str) -> Node:
        self._expect("(")
        parts = [self._expression(0)]
        while self._peek() == ("mark", ","):
            self.next += 1
            parts.append(self._expression(0))
        self._expect(")")
        wanted = FUNCTIONS[name]
        if len(parts) < wanted or (wanted == 1 and len(parts) > 1):
            raise ValueError(
                f"{name}() takes {wanted} number{'s' * (wanted > 1)} in {self.shown()}"
            )
        return (
            reduce(lambda a, b: self._number(name, a, b), parts[1:], parts[0])
            if (wanted == 2)
            else self._number(name, parts[0])
        )

    def _membership(self, left: Node) -> Node:
        if left.kind != "name":
            raise ValueError(f"'in' and 'is missing' follow a variable's name in {self.shown()}")
        word = self.tokens[self.next][1]
        self.next += 1
        if word == "is":
            negated = self._peek() == ("word", "not")
            self.next += negated
            self._expect(MISSING)
            found = self._node("is missing", left)
            return self._node("not", found) if negated else found
        self._expect("(")
        values = [self._constant()]
        while self._peek() == ("mark", ","):
            self.next += 1
            values.append(self._constant())
        self._expect(")")
        return self._node("in", left, *values)

    def _constant(self) -> Node:
        negative = self._peek() == ("mark", "-")
        self.next += negative
        kind, value = self._peek()
        if (kind, value) == ("word", MISSING):
            raise ValueError(f"ask for missing values by 'A is missing' in {self.shown()}")
        if kind not in {"number", "text", "name"} or (negative and kind != "number"):
            raise ValueError(f"expected a value in 'in (…)' in {self.shown()}")
        self.next += 1
        return self._node("text" if kind == "name" else kind, text="-" * negative + value)

    def _truth(self, kind: str, *parts: Node) -> Node:
        for part in parts:
            if not part.condition:
                raise ValueError(f"{kind!r} joins conditions such as A < B in {self.shown()}")
        return self._node(kind, *parts)

    def _number(self, kind: str, *parts: Node, first: int = 0) -> Node:
        for part in parts[first:]:
            if part.condition:
                raise ValueError(f"a condition stands where a number should, in {self.shown()}")
        return self._node(kind, *parts)

    def _node(self, kind: str, *parts: Node, text: str = "") -> Node:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise ValueError(f"more than {MAX_NODES} parts in one expression")
        return Node(kind, parts, text)

    def _peek(self, ahead: int = 0) -> tuple[str, str]:
        at = self.next + ahead
        return self.tokens[at] if at < len(self.tokens) else ("end", "")

    def _expect(self, value: str) -> None:
        if self._peek()[1] != value:
            found = shown(self._peek()[1]) or "the end"
            raise ValueError(f"expected {value!r} but found {found!r} in {self.shown()}")
        self.next += 1


def resolve(node: Node, schema: Schema) -> Node:
    """Take bare names beside a comparison for codes where no variable is called so."""
    if node.kind in {"==", "!="}:
        pair = list(node.parts)
        for here, there in ((0, 1), (1, 0)):
            one, other = pair[here], pair[there]
            if (
                one.kind == "name"
                and one.text not in schema.index
                and other.kind == "name"
                and other.text in schema.index
                and _meant(one.text, schema[other.text])
            ):
                pair[here] = Node("text", text=one.text)
        node = Node(node.kind, tuple(pair), node.text)
    if node.kind in _COMPARED - {"==", "!="}:
        node = _ranked(node, schema)
    if node.kind in _COMPARED and any(_dated(part, schema) for part in node.parts):
        node = Node(node.kind, tuple(_in_days(part) for part in node.parts))
    if picked(node) is not None:
        return _coded(node, schema)
    return Node(node.kind, tuple(resolve(part, schema) for part in node.parts), node.text)


def _meant(text: str, variable: Variable) -> bool:
    """Whether a bare word beside a variable is one of its codes, or was meant to be."""
    labels = [label.casefold() for label in variable.labels or ()]
    texts = variable.categorical and variable.values.dtype == object
    return text in variable.levels or text.casefold() in labels or texts


def _coded(node: Node, schema: Schema) -> Node:
    """Where a code of missing values is asked for, what other codes stand for is no matter."""
    constant = picked(node)
    assert constant is not None
    name, values = constant
    variable = schema[name] if name in schema.index else None
    if variable is None or variable.blank:
        return node
    if not any(member(variable, value)[variable.valid :].any() for value in values):
        return node
    texts = (Node("text", text=value) for value in values)
    found = Node("is code", (Node("name", text=name), *texts))
    return Node("not", (found,)) if node.kind == "!=" else found


def _ranked(node: Node, schema: Schema) -> Node:
    """Replace a text code beside an ordered variable by its place in the order."""
    pair = list(node.parts)
    for here, there in ((0, 1), (1, 0)):
        name = pair[there].text if pair[there].kind == "name" else ""
        variable = schema[name] if name in schema.index else None
        if variable is None or not variable.ordered or variable.values.dtype != object:
            continue
        place = variable.levels.get(pair[here].text, variable.size)
        if pair[here].kind in {"text", "name"} and place < variable.valid:
            pair[here] = Node("number", text=str(place))
    for here, there in ((0, 1), (1, 0)):
        one, other = pair[here], pair[there]
        known = other.kind == "name" and other.text in schema.index
        if one.kind == "name" and one.text not in schema.index and known:
            if _meant(one.text, schema[other.text]):
                pair[here] = Node("text", text=one.text)
    return Node(node.kind, tuple(pair), node.text)


def _dated(node: Node, schema: Schema) -> bool:
    return any(name in schema.index and schema[name].date for name in node.names)


def _in_days(node: Node) -> Node:
    """Turn a day into a number of days."""
    days = day(node.text) if node.kind == "text" else None
    return node if days is None else Node("+", (Node("number", text=str(days)), _ZERO))


def faults(node: Node, schema: Schema) -> Iterator[str]:
    """Say what is wrong with a resolved expression on a schema."""
    for name in node.names:
        if name not in schema.index:
            yield f"unknown variable {name!r}{suggest(name, schema.index)}"
        elif schema[name].identifier is not None:
            yield f"{name!r} tells records apart; no rule can be about it"
    yield from dict.fromkeys(_faults(node, schema))


def _faults(node: Node, schema: Schema) -> Iterator[str]:
    constant = picked(node)
    if constant is not None:
        name, values = constant
        if name in schema.index:
            variable = schema[name]
            for value in values:
                if variable.blank and value == MISSING:
                    yield f"ask for missing values by: {name} is missing"
                elif not member(variable, value).any():
                    yield f"{name!r} has no value {shown(value)!r}{variable.hint(value)}"
        return
    if node.kind == "is missing":
        name = node.parts[0].text
        if name in schema.index and not schema[name].missing:
            yield f"{name!r} is never missing; give it `missing:` codes, or leave this out"
        return
    if node.kind == "text":
        yield f"{shown(node.text)!r} is a text: compare it with a variable by ==, != or in"
    if node.kind == "name" and node.text in schema.index:
        variable = schema[node.text]
        if variable.values.dtype == object and not variable.ordered:
            yield (
                f"the codes of {node.text!r} are texts: compare them by ==, != or in, or say "
                "ordered: true"
            )
    if node.kind in _COMPARED:
        wrong = _order_fault(node, schema)
        if wrong:
            yield wrong
            return
    dated = node.kind in _COMPARED and any(_dated(part, schema) for part in node.parts)
    for part in node.parts:
        if part.kind == "text" and dated:
            yield f"{shown(part.text)!r} is no day such as 2019-01-31"
        else:
            yield from _faults(part, schema)


def _order_fault(node: Node, schema: Schema) -> str:
    """Say what is wrong with a comparison of a variable with a value that has no place in it."""
    for one, other in (node.parts, node.parts[::-1]):
        value = other.text if other.kind == "text" else _literal(other)
        if one.kind != "name" or one.text not in schema.index or value is None:
            continue
        variable = schema[one.text]
        text = variable.values.dtype == object
        if variable.date or (text and not variable.ordered):
            continue
        if not variable.blank and member(variable, value)[variable.valid :].any():
            remedy = "ask for it by ==, != or in"
            return (
                f"{value} stands for a missing value of {one.text!r}, which has no size; {remedy}"
            )
        if other.kind == "text":
            return f"{one.text!r} has no value {shown(value)!r}{variable.hint(value)}"
    return ""


def picked(node: Node) -> tuple[str, tuple[str, ...]] | None:
    """Return the variable and values of a comparison that picks some of them, if it is one."""
    if node.kind in {"in", "is code"}:
        return node.parts[0].text, tuple(part.text for part in node.parts[1:])
    if node.kind not in {"==", "!="}:
        return None
    for one, other in (node.parts, node.parts[::-1]):
        text = _literal(other)
        if one.kind == "name" and text is not None:
            return one.text, (text,)
    return None


def _literal(node: Node) -> str | None:
    if node.kind in {"number", "text"}:
        return node.text
    if node.kind == "negative" and node.parts[0].kind == "number":
        return f"-{node.parts[0].text}"
    return None


def member(variable: Variable, value: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell which levels of a variable, missing ones included, a written value stands for."""
    found = np.array([text == value for text in variable.texts], dtype=np.bool_)
    if not found.any():
        try:
            number = float(value)
        except ValueError:
            return found
        if variable.values.dtype != object:
            found = np.isclose(variable.values.astype(np.float64), number, rtol=_CLOSE, atol=0)
            found[len(found) - variable.blank :] = False
    return found


def evaluate(
    node: Node, columns: Mapping[str, FloatArray], coded: Mapping[str, object]
) -> FloatArray:
    """Evaluate an expression on columns of data: numbers, nan for missing; 1, 0 or nan for truth.

    ``coded`` holds the same columns with codes of missing values as they stand in the data.
    """
    parts = node.parts
    match node.kind:
        case "number":
            return np.asarray(float(node.text))
        case "name":
            return columns[node.text]
        case "in" | "is code" | "==" | "!=" if picked(node) is not None:
            return _picks(node, columns, coded)
        case "is missing":
            return np.isnan(columns[parts[0].text]).astype(np.float64)
    found = [evaluate(part, columns, coded) for part in parts]
    return operate(node.kind, found)


def _picks(
    node: Node, columns: Mapping[str, FloatArray], coded: Mapping[str, object]
) -> FloatArray:
    named = picked(node)
    assert named is not None
    name, values = named
    column = np.asarray(coded[name], dtype=object)
    hit = np.zeros(len(column), dtype=np.bool_)
    for value in values:
        try:
            number = float(value)
        except ValueError:
            number = np.nan
        hit |= np.array([_equal(one, value, number) for one in column.tolist()], dtype=np.bool_)
    unknown = np.isnan(columns[name]) & (node.kind != "is code")
    truth = np.where(hit, 1.0, np.where(unknown, np.nan, 0.0))
    return 1 - truth if node.kind == "!=" else truth


def _equal(one: object, value: str, number: float) -> bool:
    if isinstance(one, str):
        return one == value
    try:
        return abs(float(one) - number) <= _CLOSE * max(1.0, abs(number))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def operate(kind: str, found: list[FloatArray]) -> FloatArray:
    """Apply one operation to arrays that broadcast."""
    with np.errstate(all="ignore"):
        match kind:
            case "negative":
                return -found[0]
            case "+":
                return found[0] + found[1]
            case "-":
                return found[0] - found[1]
            case "*":
                return found[0] * found[1]
            case "/":
                return np.where(found[1] == 0, np.nan, found[0] / found[1])
            case "^":
                return np.power(found[0], found[1])
            case "min" | "max":
                return (np.minimum if kind == "min" else np.maximum)(found[0], found[1])
            case "round":
                return np.floor(found[0] + 0.5)
            case "abs" | "floor" | "exp":
                return {"abs": np.abs, "floor": np.floor, "exp": np.exp}[kind](found[0])
            case "log" | "sqrt":
                there = found[0] > 0 if kind == "log" else found[0] >= 0
                function = np.log if kind == "log" else np.sqrt
                return np.where(there, function(np.where(there, found[0], 1.0)), np.nan)
            case "not":
                return 1 - found[0]
            case "and":
                return _three(found[0], found[1], 0.0)
            case "or":
                return _three(found[0], found[1], 1.0)
            case "if" if len(found) == 2:
                return _three(1 - found[0], found[1], 1.0)
            case "if":
                return np.where(
                    np.isnan(found[0]), np.nan, np.where(found[0] == 1, found[1], found[2])
                )
    return _compare(kind, *found)


def _three(one: FloatArray, two: FloatArray, decisive: float) -> FloatArray:
    """Join truths of which one value decides whatever the other is."""
    decided = (one == decisive) | (two == decisive)
    open_ = np.isnan(one) | np.isnan(two)
    return np.where(decided, decisive, np.where(open_, np.nan, 1 - decisive))


def _compare(kind: str, one: FloatArray, two: FloatArray) -> FloatArray:
    close = np.abs(one - two) <= _CLOSE * np.maximum(1.0, np.maximum(np.abs(one), np.abs(two)))
    truth = {
        "==": close,
        "!=": ~close,
        "<": (one < two) & ~close,
        "<=": (one < two) | close,
        ">": (one > two) & ~close,
        ">=": (one > two) | close,
    }[kind]
    return np.where(np.isnan(one) | np.isnan(two), np.nan, truth.astype(np.float64))
