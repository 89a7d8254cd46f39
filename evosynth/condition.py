"""The closed grammar of subpopulations: ``AGE >= 50 and SEX == 2``, never Python.

A record with a missing value in any variable that a condition mentions is outside it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evosynth.errors import shown
from evosynth.grid import Grid
from evosynth.schema import MISSING, IntArray, Schema, Variable, day

if TYPE_CHECKING:
    import pandas as pd

MAX_LENGTH = 10_000
MAX_COMPARISONS = 50
MAX_NESTING = 20
MAX_CELLS = 1_000_000

BoolArray = NDArray[np.bool_]

_KEYWORDS = {"and", "or", "not", "in"}
_SAME = {"=": "==", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}
_BARE = r"\d{4}-\d\d-\d\d(?!\w)|[-+\u2212]?\w+(?:\.\w+)*|[-+\u2212]?\.\d+"
_TOKEN = re.compile(
    rf"\s*(?:(?P<word>{_BARE})|'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\""
    r"|(?P<operator>==|!=|<>|<=|>=|[=<>≠≤≥])|(?P<mark>[(),]))"
)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)", re.ASCII)
_LONGEST_NUMBER = 40


@dataclass(frozen=True)
class Comparison:
    """A variable compared with one value, or with several (``in``)."""

    variable: str
    operator: str
    """One of ``== != < <= > >= in``."""
    values: tuple[str, ...]

    def __str__(self) -> str:
        """Write it as in a spec."""
        values = ", ".join(map(_written, self.values))
        return (
            f"{self.variable} {self.operator} {f'({values})' if self.operator == 'in' else values}"
        )

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every comparison, in order of appearance."""
        return (self,)

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable mentioned, once, in order of appearance."""
        return (self.variable,)


class _Joined:
    """What conditions made of other conditions have in common."""

    parts: tuple[Condition, ...]

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every comparison, in order of appearance."""
        return tuple(found for part in self.parts for found in part.comparisons)

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable mentioned, once, in order of appearance."""
        return tuple(dict.fromkeys(found.variable for found in self.comparisons))

    def _inside(self) -> list[str]:
        return [str(p) if isinstance(p, Comparison) else f"({p})" for p in self.parts]


@dataclass(frozen=True)
class Not(_Joined):
    """Those for whom its one part does not hold."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        """Write it as in a spec."""
        return f"not ({self.parts[0]})"


@dataclass(frozen=True)
class And(_Joined):
    """Those for whom every part holds."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        """Write it as in a spec."""
        return " and ".join(self._inside())


@dataclass(frozen=True)
class Or(_Joined):
    """Those for whom some part holds."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        """Write it as in a spec."""
        return " or ".join(self._inside())


Condition = Comparison | Not | And | Or


def _written(value: str) -> str:
    if re.fullmatch(_BARE, value) and value not in _KEYWORDS:
        return value
    return f'"{value}"' if "'" in value else f"'{value}'"


def parse(text: str) -> Condition:
    """Parse a condition; raise ``ValueError`` that shows the offending text."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a condition of more than {MAX_LENGTH:,} characters")
    return _Parser(text).condition()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        self.next = 0
        self.count = 0
        self.depth = 0
        position, end = 0, len(text.rstrip())
        while position < end:
            found = _TOKEN.match(text, position)
            if not found:
                raise ValueError(
                    f"{shown(text[position:].strip()[:20])!r} is not part of a condition; it may "
                    "hold names, codes, ==, !=, <, <=, >, >=, in (1, 2), and, or, not, parentheses"
                )
            self.tokens.append(self._token(found))
            position = found.end()

    @staticmethod
    def _token(found: re.Match[str]) -> tuple[str, str]:
        kind = str(found.lastgroup)
        value = found.group(kind)
        if kind == "word":
            value = value.replace("\u2212", "-")
            return ("keyword" if value in _KEYWORDS else "word"), value
        if kind == "operator":
            return kind, _SAME.get(value, value)
        return ("mark", value) if kind == "mark" else ("text", value)

    def condition(self) -> Condition:
        found = self._or()
        kind, value = self._peek()
        if kind == "end":
            return found
        if value in {"AND", "OR", "NOT", "IN"}:
            raise ValueError(f"write {value.lower()!r} in small letters in {self._shown()}")
        if value == ",":
            raise ValueError(
                f"a comma stands outside 'in (…)' in {self._shown()}; "
                "write numbers without thousands separators"
            )
        raise self._wrong("'and', 'or' or the end")

    def _or(self) -> Condition:
        parts = [self._and()]
        while self._take("keyword", "or"):
            parts.append(self._and())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _and(self) -> Condition:
        parts = [self._part()]
        while self._take("keyword", "and"):
            parts.append(self._part())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _part(self) -> Condition:
        self.depth += 1
        if self.depth > MAX_NESTING + 1:
            raise ValueError(f"conditions nested deeper than {MAX_NESTING} levels")
        found: Condition
        if self._take("keyword", "not"):
            found = Not((self._part(),))
        elif self._take("mark", "("):
            found = self._or()
            self._expect("mark", ")")
        else:
            found = self._comparison()
        self.depth -= 1
        return found

    def _comparison(self) -> Condition:
        self.count += 1
        if self.count > MAX_COMPARISONS:
            raise ValueError(f"more than {MAX_COMPARISONS} comparisons in one condition")
        kind, name = self._peek()
        if kind != "word" or not name.isidentifier():
            first = self.tokens[self.next + 1 : self.next + 2]
            turned = kind in {"word", "text"} and first and first[0][0] == "operator"
            hint = "; write the variable first, as in AGE >= 50" if turned else ""
            raise self._wrong("a variable's name", hint)
        self.next += 1
        if self._take("keyword", "not"):
            self._expect("keyword", "in")
            return Not((Comparison(name, "in", self._values()),))
        if self._take("keyword", "in"):
            return Comparison(name, "in", self._values())
        kind, operator = self._peek()
        if kind != "operator":
            raise self._wrong(f"==, !=, <, <=, >, >= or in after {shown(name)!r}")
        self.next += 1
        return Comparison(name, operator, (self._value(),))

    def _values(self) -> tuple[str, ...]:
        self._expect("mark", "(")
        values = [self._value()]
        while self._take("mark", ","):
            values.append(self._value())
        self._expect("mark", ")")
        return tuple(values)

    def _value(self) -> str:
        kind, value = self._peek()
        if kind not in {"word", "text"}:
            raise self._wrong("a value")
        self.next += 1
        return value

    def _peek(self) -> tuple[str, str]:
        return self.tokens[self.next] if self.next < len(self.tokens) else ("end", "")

    def _take(self, kind: str, value: str) -> bool:
        if self._peek() == (kind, value):
            self.next += 1
            return True
        return False

    def _expect(self, kind: str, value: str) -> None:
        if not self._take(kind, value):
            raise self._wrong(repr(value))

    def _wrong(self, expected: str, hint: str = "") -> ValueError:
        kind, value = self._peek()
        found = "the end" if kind == "end" else repr(shown(value))
        return ValueError(f"expected {expected} but found {found} in {self._shown()}{hint}")

    def _shown(self) -> str:
        return repr(shown(self.text.strip()))


def faults(condition: Condition, schema: Schema) -> Iterator[str]:
    """Say what is wrong with a condition on known variables; unknown ones are passed over."""
    known = [c for c in condition.comparisons if c.variable in schema.index]
    wrong = [message for c in known for message in _comparison_faults(c, schema[c.variable])]
    yield from dict.fromkeys(wrong)
    if wrong or len(known) < len(condition.comparisons):
        return
    try:
        grid, inside = truth(condition, schema)
    except ValueError as error:
        yield str(error)
        return
    if not inside.any():
        yield f"{shown(str(condition))!r} holds for nobody"
    elif inside.all():
        yield f"{shown(str(condition))!r} holds for everybody; leave it out"


def _comparison_faults(comparison: Comparison, variable: Variable) -> Iterator[str]:
    name, operator = comparison.variable, comparison.operator
    exact = operator in {"==", "!=", "in"}
    if variable.categorical and not exact:
        yield f"{name!r} has categories: compare it with ==, != or in, not with {operator}"
        return
    for value in comparison.values:
        if variable.categorical:
            if value not in _codes(variable):
                yield f"{name!r} has no value {shown(value)!r}{_hint(value, variable)}"
        elif value == MISSING:
            yield f"{name!r} has no value {value!r}{_hint(value, variable)}"
        elif variable.date and day(value) is None:
            yield f"{name!r} is a date: {shown(value)!r} is not a day such as '2019-01-31'"
        elif not variable.date and not _is_number(value):
            yield f"{name!r} is a quantity: {shown(value)!r} is not a number such as 50 or 1.25"
        elif exact and not _told(Comparison(name, "==", (value,)), variable).any():
            yield f"{name!r} has no value {shown(value)!r}{_hint(value, variable)}"
        elif not exact and not _told(comparison, variable).any():
            yield f"{shown(str(comparison))!r} holds for nobody{_range(variable)}"


def _hint(value: str, variable: Variable) -> str:
    """Say what may have been meant by a value that a variable does not have."""
    if value == MISSING or value in variable.texts[variable.valid :]:
        return "; records with a missing value are outside every condition"
    return variable.hint(value) if variable.categorical else _range(variable)


def _range(variable: Variable) -> str:
    valid = _codes(variable)
    return f" (its values are {valid[0]} to {valid[-1]})" if valid else ""


def _number(text: str, variable: Variable) -> float:
    """Read a number, or a day as a number of days."""
    days = day(text) if variable.date else None
    return float(text) if days is None else float(days)


def _is_number(text: str) -> bool:
    return len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text) is not None


def _codes(variable: Variable) -> tuple[str, ...]:
    return variable.texts[: variable.valid]


def _told(comparison: Comparison, variable: Variable) -> BoolArray:
    """Levels for which a comparison holds; never a missing one."""
    held = np.zeros(variable.size, dtype=bool)
    if variable.categorical:
        inside = np.array([code in comparison.values for code in _codes(variable)], dtype=bool)
        held[: len(inside)] = ~inside if comparison.operator == "!=" else inside
        return held
    values = variable.quantities[: variable.valid]
    numbers = [_number(value, variable) for value in comparison.values]
    same = [np.abs(values - number) <= 4 * np.spacing(abs(number)) for number in numbers]
    equal = reduce(np.logical_or, same)
    below = values < numbers[0]
    held[: len(values)] = {
        "==": equal,
        "in": equal,
        "!=": ~equal,
        "<": below & ~equal,
        "<=": below | equal,
        ">": ~below & ~equal,
        ">=": ~below | equal,
    }[comparison.operator]
    return held


def holds(condition: Condition, told: Mapping[Comparison, BoolArray]) -> BoolArray:
    """Where a condition holds, given where each of its comparisons does (arrays broadcast)."""
    if isinstance(condition, Comparison):
        return told[condition]
    parts = [holds(part, told) for part in condition.parts]
    if isinstance(condition, Not):
        return ~parts[0]
    return reduce(np.logical_and if isinstance(condition, And) else np.logical_or, parts)


def truth(condition: Condition, schema: Schema) -> tuple[Grid, BoolArray]:
    """Cells by what the condition tells apart, and whether it holds in each of them.

    Levels of a variable that no comparison tells apart share a group, and so do its missing ones.
    """
    names = condition.variables
    told = {c: _told(c, schema[c.variable]) for c in condition.comparisons}
    groups, valid = [], []
    for name in names:
        real = np.arange(schema[name].size) < schema[name].valid
        own = [levels for c, levels in told.items() if c.variable == name]
        groups.append(_alike([real, *own]))
        valid.append(real)
    grid = Grid(tuple(schema.index[name] for name in names), tuple(groups))
    if math.prod(grid.shape) > MAX_CELLS:
        raise ValueError(
            f"the condition tells more than {MAX_CELLS:,} cells apart; compare fewer variables"
        )

    def along(axis: int, levels: BoolArray) -> BoolArray:
        """Truth per group of one variable, ready to broadcast over the grid."""
        spread = np.zeros(grid.shape[axis], dtype=bool)
        spread[grid.groups[axis]] = levels
        return spread.reshape([-1 if a == axis else 1 for a in range(len(names))])

    spread = {c: along(names.index(c.variable), levels) for c, levels in told.items()}
    inside = holds(condition, spread)
    for axis, real in enumerate(valid):
        inside = inside & along(axis, real)
    return grid, np.broadcast_to(inside, grid.shape).copy()


def _alike(rows: list[BoolArray]) -> IntArray:
    """Return the number of each distinct column of some rows, by appearance."""
    group = np.zeros(len(rows[0]), dtype=np.int64)
    for row in rows:
        _, first, group = np.unique(2 * group + row, return_index=True, return_inverse=True)
        group = np.argsort(np.argsort(first))[group]
    return group


def mask(condition: Condition, frame: pd.DataFrame, schema: Schema) -> BoolArray:
    """Return for which records a condition holds, found with pandas alone."""
    inside = _mask(condition, frame, schema)
    for name in condition.variables:
        inside &= ~_is_missing(frame[name], schema[name])
    return np.asarray(inside, dtype=bool)


def _is_missing(column: pd.Series[Any], variable: Variable) -> pd.Series[bool]:
    end = -1 if variable.blank else None
    return column.isna() | column.isin(variable.values[variable.valid : end].tolist())


def _mask(condition: Condition, frame: pd.DataFrame, schema: Schema) -> pd.Series[bool]:
    if isinstance(condition, Not):
        return ~_mask(condition.parts[0], frame, schema)
    if isinstance(condition, And | Or):
        parts = [_mask(part, frame, schema) for part in condition.parts]
        found = parts[0]
        for part in parts[1:]:
            found = found & part if isinstance(condition, And) else found | part
        return found
    return _compared(frame[condition.variable], condition, schema[condition.variable])


def _compared(
    column: pd.Series[Any], comparison: Comparison, variable: Variable
) -> pd.Series[bool]:
    """Compare a column of a data frame; what a missing value gives is of no account."""
    import pandas as pd

    if variable.categorical:
        valid = variable.values[: variable.valid].tolist()
        wanted = [value for value in valid if str(value) in comparison.values]
        inside = column.isin(wanted).astype(bool)
        return ~inside if comparison.operator == "!=" else inside
    number = pd.to_numeric(column.astype(object), errors="coerce").astype("float64")
    bounds = [_number(value, variable) for value in comparison.values]
    close = [pd.Series(np.isclose(number, b, rtol=4e-16, atol=0), number.index) for b in bounds]
    match comparison.operator:
        case "<":
            return (number < bounds[0]) & ~close[0]
        case "<=":
            return (number < bounds[0]) | close[0]
        case ">":
            return (number > bounds[0]) & ~close[0]
        case ">=":
            return (number > bounds[0]) | close[0]
        case "!=":
            return ~close[0]
        case _:
            return pd.concat(close, axis=1).any(axis=1)
