"""Finds out which figure is which in a pasted table, by the labels in its stub and header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evosynth.counting import TOTAL, Key
from evosynth.errors import Fault, shown, suggest
from evosynth.pasted import Pasted, Row, match
from evosynth.schema import MISSING, Schema, Variable

VALID = "valid"
Options: TypeAlias = dict[str, Sequence[str]]
"""What may stand in a table, with its labels."""

_TOTALS = (
    "all",
    "sum",
    "overall",
    "totals",
    "row total",
    "column total",
    "grand total",
    "everyone",
)
_WORDS: Options = {
    TOTAL: _TOTALS,
    MISSING: ("system missing", "not stated", "total missing"),
    VALID: ("valid total", "total valid"),
}
_NONE = frozenset({"", "-", "--", "–", "—", "―", "…", "...", "."})
_NUMBERED = re.compile(r"\(?\d+[.)]?\s+")

STATISTICS: Options = {
    "n": ("obs", "observations", "count", "no.", "number", "valid n", "frequency"),
    "mean": ("average", "m", "x̄"),
    "sd": (
        "std",
        "std dev",
        "std. dev.",
        "std.dev",
        "st. dev.",
        "standard deviation",
        "s.d.",
        "stdev",
    ),
    "variance": ("var",),
    "standard_error": ("se", "std. error", "std. err.", "standard error", "s.e.", "sem"),
    "median": ("med", "mdn", "p50", "q2", "50%", "50th percentile"),
    "iqr": ("interquartile range",),
    "min": ("minimum", "min.", "smallest"),
    "max": ("maximum", "max.", "largest"),
    "sum": ("total",),
    "skewness": ("skew",),
    "kurtosis": ("kurt",),
    "quantile 25": ("p25", "q1", "25%", "1st qu.", "lower quartile", "25th percentile"),
    "quantile 75": ("p75", "q3", "75%", "3rd qu.", "upper quartile", "75th percentile"),
    "quantile 5": ("p5", "5%", "5th percentile"),
    "quantile 10": ("p10", "10%", "10th percentile"),
    "quantile 90": ("p90", "90%", "90th percentile"),
    "quantile 95": ("p95", "95%", "95th percentile"),
    "quantile 99": ("p99", "99%", "99th percentile"),
    "quantile 1": ("p1", "1%", "1st percentile"),
}


def values_of(variable: Variable, *extra: str) -> Options:
    """Values of a variable by code and label, and words that may stand beside them."""
    labels = variable.labels or ("",) * variable.size
    found: Options = {text: (label,) for text, label in zip(variable.texts, labels, strict=True)}
    for word in extra:
        found.setdefault(word, _WORDS[word])
    return found


def _fault(line: int, message: str) -> Fault:
    return Fault((line,), message)


def unread(table: Pasted) -> list[Fault]:
    """Lines that could not be read at all."""
    return [_fault(item.line, item.message) for item in table.faults]


def _unknown(label: str, variable: Variable) -> str:
    known = [*variable.texts, *(variable.labels or ())]
    return f"{shown(label)!r} is neither a value of {variable.name!r} nor a total{suggest(label, known)}"


def read_cells(
    table: Pasted, rows: Sequence[str], column: str, schema: Schema, shows: Sequence[str]
) -> tuple[list[tuple[Key, str, str, int]], list[Fault]]:
    """Read a cross-tabulation: value of each row variable and of the column variable, form, text."""
    faults = unread(table)
    found: list[tuple[Key, str, str, int]] = []
    names = [*rows, column]
    long = [match(label, {name: (schema[name].label,) for name in names}) for label in table.corner]
    if len(names) > len(rows) and sorted(filter(None, long)) == sorted(names):
        return _read_long(table, [str(name) for name in long if name], names, schema, shows)
    variable = schema[column]
    heads, forms = _columns(table, variable, shows, faults)
    for row in table.rows:
        key = _stub(row, [schema[name] for name in rows], faults)
        if key is None:
            continue
        if len(row.cells) > len(heads):
            message = f"{len(row.cells)} cells, but {len(heads)} columns are known"
            faults.append(_fault(row.line, message))
            continue
        for head, form_of, cell in zip(heads, forms, row.cells, strict=False):
            if head is None or not cell:
                continue
            if len(cell) > len(form_of):
                message = (
                    f"{' '.join(cell)!r} holds {len(cell)} numbers; say under shows what they are"
                )
                faults.append(_fault(row.line, message))
                continue
            for form, text in zip(form_of, cell, strict=False):
                found.append(((*key, head), form, text, row.line))
    return found, faults


def _columns(
    table: Pasted, variable: Variable, shows: Sequence[str], faults: list[Fault]
) -> tuple[list[str | None], list[Sequence[str]]]:
    """Value of the column variable, and the forms, that stand in each column."""
    widest = max((len(row.cells) for row in table.rows), default=0)
    options = values_of(variable, TOTAL)
    values = list(variable.texts[: variable.valid])
    several = len(shows) > 1 and all(len(c) <= 1 for row in table.rows for c in row.cells)
    labels = table.header
    if several and table.spanners:
        labels = table.spanners[-1]
    if not labels:
        heads: list[str | None] = [*values, TOTAL][: max(widest, len(values))]
        if widest not in {len(values), len(values) + 1} and not several:
            faults.append(
                _fault(
                    0, f"{widest} columns without a header, but {variable.name!r} has {len(values)}"
                )
            )
        if several:
            heads = [head for head in heads for _ in shows]
    else:
        heads = []
        for label in labels:
            head = match(label, options)
            heads.append(head)
            if head is None:
                faults.append(_fault(0, _unknown(label, variable)))
    if several:
        return heads, [(shows[i % len(shows)],) for i in range(len(heads))]
    return heads, [tuple(shows)] * len(heads)


def _stub(row: Row, variables: Sequence[Variable], faults: list[Fault]) -> Key | None:
    """Value of each row variable; headings above that name a variable are passed over."""
    parts = [part for part in row.stub if part]
    if len(parts) < len(variables) and parts and match(parts[0], {TOTAL: _TOTALS}) == TOTAL:
        return (TOTAL,) * len(variables)
    if len(parts) > len(variables):
        parts = parts[-len(variables) :]
    if len(parts) < len(variables):
        message = f"{' '.join(parts)!r} does not name a value of each row variable"
        faults.append(_fault(row.line, message))
        return None
    key = []
    for part, variable in zip(parts, variables, strict=True):
        value = match(part, values_of(variable, TOTAL))
        if value is None:
            faults.append(_fault(row.line, _unknown(part, variable)))
            return None
        key.append(value)
    return tuple(key)


def _read_long(
    table: Pasted, order: Sequence[str], names: Sequence[str], schema: Schema, shows: Sequence[str]
) -> tuple[list[tuple[Key, str, str, int]], list[Fault]]:
    """One line per cell: the value of every variable, then one column per form."""
    faults = unread(table)
    found: list[tuple[Key, str, str, int]] = []
    for row in table.rows:
        key = _stub(row, [schema[name] for name in order], faults)
        if key is None:
            continue
        values = dict(zip(order, key, strict=True))
        texts = [text for cell in row.cells for text in cell]
        if len(texts) != len(shows):
            message = f"{len(texts)} numbers, but shows lists {len(shows)}"
            faults.append(_fault(row.line, message))
            continue
        for form, text in zip(shows, texts, strict=True):
            found.append((tuple(values[name] for name in names), form, text, row.line))
    return found, faults


def read_list(
    table: Pasted, variable: Variable, shows: Sequence[str]
) -> tuple[list[tuple[str, str, str, int]], list[Fault]]:
    """Read a table of one variable: value, form, text."""
    faults = unread(table)
    found = []
    options = values_of(variable, MISSING, VALID, TOTAL)
    for row in table.rows:
        label = row.stub[-1] if row.stub else ""
        value = match(label, options)
        if value is None:
            faults.append(_fault(row.line, _unknown(label, variable)))
            continue
        texts = [text for cell in row.cells for text in cell]
        if len(texts) > len(shows):
            message = f"{len(texts)} numbers; say under shows what they are, such as [counts, percentages]"
            faults.append(_fault(row.line, message))
            continue
        found += [(value, form, text, row.line) for form, text in zip(shows, texts, strict=False)]
    return found, faults


@dataclass(frozen=True)
class Statistic:
    """One statistic of a pasted summary."""

    variable: str
    group: tuple[tuple[str, str], ...]
    statistic: str
    argument: str
    text: str
    line: int


def read_summary(
    table: Pasted,
    of: Sequence[str],
    by: Sequence[str],
    each: Sequence[str],
    shows: Sequence[str],
    schema: Schema,
) -> tuple[list[Statistic], list[Fault]]:
    """Read a table of statistics, whose header names statistics, or groups if ``shows`` is given."""
    faults = unread(table)
    found: list[Statistic] = []
    heads: list[tuple[str, Sequence[str]]] = []
    for label in table.header:
        if shows:
            group = _group_of([label], (), by, each, schema)
            if group is None:
                faults.append(_fault(0, f"{shown(label)!r} is not a group"))
            heads.append((label, shows))
        else:
            names = _statistics(label)
            if not names:
                message = f"{shown(label)!r} is not a statistic{suggest(label, STATISTICS)}"
                faults.append(_fault(0, message))
            heads.append(("", names))
    if not table.header:
        faults.append(
            _fault(0, "the table needs a header that names the statistics, such as n mean sd")
        )
    if faults:
        return found, faults
    for row in table.rows:
        for (label, names), cell in zip(heads, row.cells, strict=False):
            parts = [part for part in (*row.stub, label) if part]
            place = _group_of(parts, of, by, each, schema)
            if place is None:
                faults.append(
                    _fault(
                        row.line,
                        f"{shown(' '.join(parts))!r} names no quantity and group of this output",
                    )
                )
                break
            if len(cell) > len(names):
                message = f"{' '.join(cell)!r} holds more numbers than its header names"
                faults.append(_fault(row.line, message))
                break
            for name, text in zip(names, cell, strict=False):
                if text in _NONE:
                    continue
                statistic, _, argument = name.partition(" ")
                found.append(Statistic(*place, statistic, argument, text, row.line))
    return found, faults


def _statistics(label: str) -> list[str]:
    """Statistics that the header of a column names: ``Mean (SD)`` names two."""
    whole = match(label, STATISTICS)
    if whole is not None:
        return [whole]
    parts = [part for part in re.split(r"[(\[±,;/)\]]+", label) if part.strip()]
    named = [match(part, STATISTICS) for part in parts]
    return [] if None in named else [name for name in named if name is not None]


def _group_of(
    parts: Sequence[str],
    of: Sequence[str],
    by: Sequence[str],
    each: Sequence[str],
    schema: Schema,
) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Quantity and group that the labels of a line name."""
    quantity = of[0] if len(of) == 1 else ""
    group: dict[str, str] = {}
    heading = ""
    for part in parts:
        name = match(part, {n: (schema[n].label,) for n in of})
        if name is not None and (len(of) == 1 or not quantity):
            quantity = name
            continue
        name = match(part, {n: (schema[n].label,) for n in (*by, *each)})
        if name is not None:
            heading = name
            continue
        if match(part, {TOTAL: _TOTALS}) is not None:
            continue
        options = [heading] if heading else [n for n in (*by, *each) if n not in group]
        fitting = [n for n in options if match(part, values_of(schema[n])) is not None]
        if not fitting or (len(fitting) > 1 and not by):
            split = _split(part, (*by, *each), schema)
            if split is None:
                return None
            fitting, part = [split[0]], split[1]
        value = match(part, values_of(schema[fitting[0]]))
        if value is None:
            return None
        group[fitting[0]] = value
    if len(of) > 0 and not quantity:
        return None
    ordered = tuple((n, group[n]) for n in (*by, *each) if n in group)
    return quantity, ordered


def _split(part: str, names: Iterable[str], schema: Schema) -> tuple[str, str] | None:
    """Read ``SEX 1`` or ``Sex: Male`` as a variable and its value."""
    words = part.replace("=", " ").replace(":", " ").split()
    for cut in range(1, len(words)):
        name = match(" ".join(words[:cut]), {n: (schema[n].label,) for n in names})
        if name is not None:
            rest = " ".join(words[cut:])
            if match(rest, values_of(schema[name])) is not None:
                return name, rest
    return None


def read_matrix(
    table: Pasted, of: Sequence[str], schema: Schema
) -> tuple[list[tuple[str, str, str, int, str]], list[Fault]]:
    """Read a correlation matrix, or its lower triangle: two quantities, text, line, stars."""
    faults = unread(table)
    options: Mapping[str, Sequence[str]] = {name: (schema[name].label,) for name in of}
    found = []

    def named(label: str) -> str | None:
        return match(label, options) or match(_NUMBERED.sub("", label, count=1), options)

    names = []
    for row in table.rows:
        name = named(row.stub[-1]) if row.stub else None
        if name is None:
            label = shown(" ".join(row.stub))
            faults.append(_fault(row.line, f"{label!r} is not listed under of{suggest(label, of)}"))
        names.append(name)
    heads = [named(label) for label in table.header]
    if not heads or None in heads:
        heads = list(names)  # numbered columns follow the order of the rows
    for row, name in zip(table.rows, names, strict=True):
        for other, cell in zip(heads, row.cells, strict=False):
            if name is None or other is None or not cell or cell[0] in _NONE:
                continue
            stars = cell[1] if len(cell) > 1 else ""
            if stars and set(stars) != {"*"}:
                faults.append(_fault(row.line, f"{stars!r} beside {cell[0]} is not read here"))
                continue
            found.append((name, other, cell[0], row.line, stars))
    return found, faults
