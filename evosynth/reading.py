"""Finds out which figure is which in a pasted table, by the labels in its stub and header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from evosynth.errors import Fault, Path, are, many, shown, suggest
from evosynth.pasted import Pasted, Row, match
from evosynth.schema import MISSING, Schema, Variable
from evosynth.written import TOTAL, Key, Read, Written

VALID = "valid"
Options: TypeAlias = dict[str, Sequence[str]]
"""What may stand in a table, with its labels."""

_WORDS: Options = {
    TOTAL: (
        *("all", "sum", "overall", "totals", "everyone"),
        *("row total", "column total", "grand total"),
    ),
    MISSING: ("system", "system missing", "not stated", "total missing"),
    VALID: ("valid total", "total valid"),
}
_TOTAL: Options = {TOTAL: _WORDS[TOTAL]}
_PASSED_OVER = "cumulative"
_FORMS: Options = {
    "counts": ("n", "count", "freq", "freq.", "frequency", "number", "no.", "records"),
    "proportions": ("proportion", "prop.", "share"),
    "percentages": ("%", "percent", "per cent", "percentage", "pct", "% of total"),
    "valid_percentages": ("valid percent", "valid %", "valid percentage"),
    "row_percentages": ("row %", "row percent", "row percentage", "% of row"),
    "column_percentages": ("column %", "col %", "column percent", "column percentage"),
    "row_proportions": ("row proportion",),
    "column_proportions": ("column proportion",),
    _PASSED_OVER: ("cum", "cum %", "cum. %", "cumulative percent", "cumulative %", "cum. percent"),
}
_NONE = frozenset({"", "-", "--", "\u2212", "–", "—", "―", "…", "...", "."})
_ENDS = {"iqr": ("quantile 25", "quantile 75"), "range": ("min", "max")}
"""Statistics that may be printed as two numbers."""
_SIZE = re.compile(r"\s*[(\[]\s*n\s*=\s*[\d,]+\s*[)\]]", re.I)
_CELLS = re.compile(
    r"(?:^|[\s,;:(\[]+)(?:n|no\.?|number|counts?|freq(?:uency|\.)?)\s*[,/]?\s*[(\[]?\s*"
    r"(?P<before>row|column|col\.?|valid)?\s*(?:%|per ?cent)\s*"
    r"(?P<behind>of (?:row|column|total))?\s*[)\]]*\s*$",
    re.I,
)
"""What cells hold, behind the label of a column: Male, n (%)."""
_OF = {"row": "row_percentages", "col": "column_percentages", "tot": "percentages"}
_NUMBERED = re.compile(r"\(?\d+[.)]?\s+")

STATISTICS: Options = {
    "n": ("obs", "observations", "count", "no.", "number", "valid n", "frequency"),
    "mean": ("average", "m", "x̄"),
    "sd": (
        *("std", "std dev", "std. dev.", "std.dev", "st. dev.", "s.d.", "stdev"),
        "standard deviation",
    ),
    "variance": ("var",),
    "standard_error": ("se", "std. error", "std. err.", "standard error", "s.e.", "sem"),
    "median": ("med", "mdn", "p50", "q2", "50%", "50th percentile"),
    "iqr": ("interquartile range",),
    "range": (),
    "min": ("minimum", "min.", "smallest"),
    "max": ("maximum", "max.", "largest"),
    "sum": ("total",),
    "skewness": ("skew",),
    "kurtosis": ("kurt",),
    "quantile 25": ("p25", "q1", "25%", "1st qu.", "lower quartile", "25th percentile"),
    "quantile 75": ("p75", "q3", "75%", "3rd qu.", "upper quartile", "75th percentile"),
    "quantile 1": ("p1", "1%", "1st percentile"),
    **{f"quantile {q}": (f"p{q}", f"{q}%", f"{q}th percentile") for q in (5, 10, 90, 95, 99)},
}


class Labels:
    """Values of a variable by code and label, and words that may stand beside them."""

    def __init__(self, variable: Variable, *words: str, missing: bool = False) -> None:
        self.variable = variable
        size = variable.size if missing else variable.valid
        labels = variable.labels or ("",) * variable.size
        pairs = zip(variable.texts[:size], labels[:size], strict=True)
        self.options: Options = {text: (label,) for text, label in pairs}
        for word in words:
            self.options[word] = (*self.options.get(word, ()), *_WORDS[word])
        named: dict[str, set[str]] = {}
        for code, names in self.options.items():
            for name in names:
                named.setdefault(name.casefold(), set()).add(code)
        once = {name: codes.pop() for name, codes in named.items() if name and len(codes) == 1}
        self._found: dict[str, str | None] = {**once, **{code: code for code in self.options}}

    def find(self, label: str) -> str | None:
        """Find the value that a label means."""
        for text in (label, label.casefold()):
            if text in self._found:
                return self._found[text]
        self._found[label] = match(_SIZE.sub("", _CELLS.sub("", label)), self.options)
        return self._found[label]

    def unknown(self, label: str) -> str:
        """Say that a label means none of the values."""
        variable = self.variable
        if match(label, Labels(variable, missing=True).options) is not None:
            return f"{shown(label)!r} is a missing value, which is not counted here; remove it"
        known = [*variable.texts, *(variable.labels or ())]
        hint = suggest(label, known)
        return f"{shown(label)!r} is neither a value of {variable.name!r} nor a total{hint}"


def _unread(table: Pasted, where: str) -> list[Fault]:
    """Report the lines that could not be read at all."""
    return [Fault((where, item.line), item.message) for item in table.faults]


def _named(label: str, names: Iterable[str], schema: Schema) -> str | None:
    """Find the variable that a label means."""
    return match(label, {name: (schema[name].label,) for name in names})


def label_columns(table: Pasted, names: Sequence[str], schema: Schema) -> int | None:
    """Count the columns that hold values of variables, by the header; ``None`` if all is well."""
    labels = (*table.corner, *table.header)
    count = 0
    for label in labels:
        if _named(label, names, schema) is None and count:
            break
        count += 1
    return count if len(table.corner) < count < len(labels) and count > 1 else None


def read_cells(
    table: Pasted,
    where: str,
    rows: Sequence[str],
    column: str,
    schema: Schema,
    shows: Sequence[str],
) -> Read[Written]:
    """Read a cross-tabulation; ``shows``: what its cells are, unless its labels tell."""
    faults = _unread(table, where)
    found: list[Written] = []
    if not table.rows:
        return found, faults
    named = [_named(label, [*rows, column], schema) for label in table.corner]
    order = [name for name in named if name is not None]
    if sorted(order) == sorted([*rows, column]):
        return _read_long(table, where, order, [*rows, column], schema, shows)
    stubs = [Labels(schema[name], TOTAL) for name in rows]
    columns = _columns(table, where, Labels(schema[column], TOTAL), shows, faults)
    for row in table.rows:
        path = (where, row.line)
        form, parts = _row_form(row, rows, column, schema)
        key = _key(parts, stubs, path, faults)
        if key is None:
            continue
        if len(row.cells) > len(columns):
            message = (
                f"{many(len(row.cells), 'cell')}, but {many(len(columns), 'column')} "
                f"{are(len(columns))} known"
            )
            faults.append(Fault(path, message))
            continue
        for (value, forms), cell in zip(columns, row.cells, strict=False):
            if value is None:
                continue
            forms = (form,) if form else forms
            if len(cell) > len(forms):
                texts = shown(" ".join(cell))
                message = (
                    f"{texts!r} holds {many(len(cell), 'number')}; say under shows what they are"
                )
                faults.append(Fault(path, message))
                continue
            for one, text in zip(forms, cell, strict=False):
                found.append(Written((*key, value), one, text, path))
    return found, faults


def _columns(
    table: Pasted, where: str, labels: Labels, shows: Sequence[str], faults: list[Fault]
) -> list[tuple[str | None, tuple[str, ...]]]:
    """Value of the column variable, and the forms, that stand in each column."""
    plain = tuple(shows) or _headed(table, where, faults)
    single = len(plain) > 1 and all(len(cell) < 2 for row in table.rows for cell in row.cells)
    each = len(plain) if single else 1
    if not table.header:
        values = labels.variable.texts[: labels.variable.valid]
        size = max((len(row.cells) for row in table.rows), default=0)
        if size not in {each * len(values), each * (len(values) + 1)}:
            name = labels.variable.name
            message = (
                f"{many(size, 'column')} without a header, but {name!r} has "
                f"{many(len(values), 'value')}"
            )
            faults.append(Fault((where, 0), message))
        forms = [(form,) for form in plain] if single else [plain]
        return [(value, form) for value in (*values, TOTAL) for form in forms]
    above = table.spanners[-1] if table.spanners else table.header
    over = [labels.find(label) for label in above]
    if above is not table.header and None not in over:
        kinds = [match(label, _FORMS) for label in table.header]
        if None not in kinds and not shows:
            _ask_of_what(table.header, where, faults)
            return [(v, (str(kind),)) for v, kind in zip(over, kinds, strict=True)]
        return [(v, (plain[i % each],) if single else plain) for i, v in enumerate(over)]
    found: list[tuple[str | None, tuple[str, ...]]] = []
    if not shows:
        _ask_of_what([h for h in table.header if labels.find(h) is None], where, faults)
    for label in table.header:
        value = labels.find(label)
        kind = match(label, _FORMS) if value is None else None
        if kind and found:  # Male % Female %
            found[-1] = (found[-1][0], found[-1][1][:1])
            found.append((found[-1][0], (plain[1] if single else kind,)))
            continue
        if value is None:
            faults.append(Fault((where, label), labels.unknown(label)))
        found.append((value, plain))
    return found


def _headed(table: Pasted, where: str, faults: list[Fault]) -> tuple[str, ...]:
    """Find what the cells of a cross-tabulation hold, as is written above them."""
    for label in chain(table.corner, *table.spanners, table.header):
        found = _CELLS.search(label)
        if found is None:
            continue
        of = (found["before"] or (found["behind"] or "")[3:]).casefold()[:3]
        if of not in _OF:
            message = f"{shown(label)!r}: per cent of a row, a column or all? List what cells hold"
            remedy = "under shows, such as [counts, row_percentages]"
            faults.append(Fault((where, label), f"{message} {remedy}"))
        return "counts", _OF.get(of, "percentages")
    return ("counts",)


def _ask_of_what(labels: Iterable[str], where: str, faults: list[Fault]) -> None:
    """Report a per cent sign above cells: it may mean of a row, of a column or of all."""
    for label in labels:
        if match(label, {"%": ("percent", "per cent", "percentage", "pct")}):
            forms = "row_percentages, column_percentages or percentages"
            message = f"{label!r} may be of a row, a column or all; list {forms} under shows"
            faults.append(Fault((where, label), message))
            return


def _row_form(
    row: Row, rows: Sequence[str], column: str, schema: Schema
) -> tuple[str, tuple[str, ...]]:
    """Form that the last label of a row names, as SPSS prints it, and the other labels."""
    if len(row.stub) < 2:
        return "", row.stub
    *others, last = row.stub
    within = re.fullmatch(r"% within (.+)", last.strip())
    if within:
        name = _named(within[1], [*rows, column], schema)
        form = "" if name is None else "column_percentages" if name == column else "row_percentages"
    else:
        form = match(last, _FORMS) or ""
    known = schema[rows[-1]]
    if not form or match(last, Labels(known, TOTAL).options) is not None:
        return "", row.stub
    return form, tuple(others)


def _key(
    stub: Sequence[str], variables: Sequence[Labels], path: Path, faults: list[Fault]
) -> Key | None:
    """Value of each row variable; headings above that name a variable are passed over."""
    parts = [part for part in stub if part]
    if len(parts) < len(variables):
        if parts and match(parts[0], _TOTAL) == TOTAL:
            return (TOTAL,) * len(variables)
        message = f"{shown(' '.join(parts))!r} does not name a value of each row variable"
        faults.append(Fault(path, message))
        return None
    key = []
    for part, labels in zip(parts[-len(variables) :], variables, strict=True):
        value = labels.find(part)
        if value is None:
            faults.append(Fault(path, labels.unknown(part)))
            return None
        key.append(value)
    return tuple(key)


def _read_long(
    table: Pasted,
    where: str,
    order: Sequence[str],
    names: Sequence[str],
    schema: Schema,
    shows: Sequence[str],
) -> Read[Written]:
    """One line per cell: the value of every variable, then one column per form."""
    faults = _unread(table, where)
    found: list[Written] = []
    stubs = [Labels(schema[name], TOTAL) for name in order]
    at = [list(order).index(name) for name in names]
    forms = _list_forms(table, shows)
    for row in table.rows:
        key = _key(row.stub, stubs, (where, row.line), faults)
        if key is not None:
            cell = tuple(key[i] for i in at)
            found += _listed(cell, row.cells, forms, (where, row.line), faults)
    return found, faults


def _list_forms(table: Pasted, shows: Sequence[str]) -> Sequence[str]:
    """Find what the columns of a list are: as its header says, unless the spec does."""
    kinds: list[str | None] = []
    for position, label in enumerate(table.header):
        if found := _CELLS.search(label):
            kind = "valid_percentages" if found["before"] == "valid" else "percentages"
            kinds += ["counts", kind]
            continue
        above = [line[position] for line in table.spanners]
        kinds.append(match(" ".join([*above, label]), _FORMS) or match(label, _FORMS))
    if not shows and kinds and None not in kinds:
        return [str(kind) for kind in kinds]
    return shows or ("counts",)


def _listed(
    key: Key, cells: Sequence[Sequence[str]], forms: Sequence[str], path: Path, faults: list[Fault]
) -> list[Written]:
    """Read one line of a list; a cell may hold several numbers, or none."""
    columns = cells if len(cells) == len(forms) else [[text] for cell in cells for text in cell]
    if len(columns) > len(forms) or any(len(column) > 1 for column in columns):
        size = sum(map(len, cells))
        message = (
            f"{many(size, 'number')}; say under shows what they are, such as [counts, percentages]"
        )
        faults.append(Fault(path, message))
        return []
    pairs = zip(forms, columns, strict=False)
    return [
        Written(key, form, text, path)
        for form, column in pairs
        for text in column
        if form != _PASSED_OVER
    ]


def read_list(table: Pasted, where: str, variable: Variable, shows: Sequence[str]) -> Read[Written]:
    """Read a table of one variable."""
    faults = _unread(table, where)
    found: list[Written] = []
    labels = Labels(variable, MISSING, VALID, TOTAL, missing=True)
    if table.header and [row.stub for row in table.rows] == [
        ()
    ]:  # R prints one-way tables on their side
        (row,) = table.rows
        for label, cell in zip(table.header, row.cells, strict=True):
            value = labels.find(label)
            if value is None:
                faults.append(Fault((where, label), labels.unknown(label)))
            else:
                forms = shows or ("counts",)
                found += _listed((value,), [cell], forms, (where, row.line), faults)
        return found, faults
    if table.corner and labels.find(table.corner[-1]) and any(map(str.isdecimal, table.header)):
        message = "a value stands in the first line, which should be a header, such as n or %"
        faults.append(Fault((where, table.header[0]), message))
    forms = _list_forms(table, shows)
    for row in table.rows:
        label = row.stub[-1] if row.stub else ""
        value = labels.find(label)
        block = match(row.stub[0], {VALID: (), MISSING: ()}) if len(row.stub) > 1 else None
        if block and value in {TOTAL, MISSING}:
            value = block  # the total of the valid or of the missing values, as SPSS prints them
        if value is None or (value == MISSING and not variable.missing):
            faults.append(Fault((where, row.line), labels.unknown(label)))
            continue
        found += _listed((value,), row.cells, forms, (where, row.line), faults)
    return found, faults


@dataclass(frozen=True)
class Statistic:
    """One statistic of a pasted summary."""

    variable: str
    group: tuple[tuple[str, str], ...]
    name: str
    """Such as ``mean`` or ``quantile 25``."""
    text: str
    path: Path


def read_summary(
    table: Pasted,
    where: str,
    of: Sequence[str],
    by: Sequence[str],
    each: Sequence[str],
    shows: Sequence[str],
    schema: Schema,
) -> Read[Statistic]:
    """Read a table of statistics, which the header or the stub names, unless ``shows`` does."""
    faults = _unread(table, where)
    found: list[Statistic] = []
    heads = [_statistics(label) for label in table.header]
    stubs = [_statistics(row.stub[-1]) if row.stub else [] for row in table.rows]
    if not table.rows:
        return found, faults
    sideways = not shows and not all(heads) and all(stubs)
    if not table.header:
        message = "the table needs a header that names the statistics, such as n mean sd"
        faults.append(Fault((where, 0), message))
    elif not shows and not sideways:
        for label, head in zip(table.header, heads, strict=True):
            if not head:
                message = f"{shown(label)!r} is not a statistic{suggest(label, STATISTICS)}"
                faults.append(Fault((where, label), message))
    if faults:
        return found, faults
    groups = {name: Labels(schema[name]) for name in (*by, *each)}
    for row, stub in zip(table.rows, stubs, strict=True):
        path = (where, row.line)
        left = row.stub[:-1] if sideways else row.stub
        for label, head, cell in zip(table.header, heads, row.cells, strict=True):
            names: Sequence[str] = shows or (stub if sideways else head)
            if names and names[-1] in _ENDS and len(cell) == len(names) + 1:
                names = [*names[:-1], *_ENDS[names[-1]]]
            parts = [part for part in (*left, label if shows or sideways else "") if part]
            place = _group_of(parts, of, groups, bool(by), schema)
            if place is None:
                what = shown(" ".join(parts))
                message = f"{what!r} names no quantity and group of this output"
                faults.append(Fault(path, message))
                break
            if len(cell) > len(names):
                message = f"{shown(' '.join(cell))!r} holds more numbers than its header names"
                faults.append(Fault(path, message))
                break
            for name, text in zip(names, cell, strict=False):
                if name == "range":
                    faults.append(Fault(path, f"{shown(text)!r} is not a range, such as 1-99"))
                elif text not in _NONE:
                    found.append(Statistic(*place, name, text, path))
    return found, faults


def _statistics(label: str) -> list[str]:
    """Statistics that the header of a column names: ``Mean (SD)`` names two."""
    whole = match(label, STATISTICS)
    if whole is not None:
        return [whole]
    parts = [part for part in re.split(r"[(\[±,;/)\]–-]+| to ", label) if part.strip()]
    named = [match(part, STATISTICS) for part in parts]
    return [] if None in named else [name for name in named if name is not None]


def _group_of(
    parts: Sequence[str],
    of: Sequence[str],
    groups: Mapping[str, Labels],
    crossed: bool,
    schema: Schema,
) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Quantity and group that the labels of a line name."""
    quantity = of[0] if len(of) == 1 else ""
    group: dict[str, str] = {}
    heading = ""
    for part in parts:
        name = _named(part, of, schema)
        if name is not None:
            quantity = name
            continue
        name = _named(part, groups, schema)
        if name is not None:
            heading = name
            continue
        if match(part, _TOTAL) is not None:
            continue
        names = [heading] if heading else [n for n in groups if n not in group]
        fitting = [(n, v) for n in names if (v := groups[n].find(part)) is not None]
        if not fitting or (len(fitting) > 1 and not crossed):
            fitting = _split(part, groups, schema)
        if not fitting:
            return None
        group[fitting[0][0]] = fitting[0][1]
    ordered = tuple((n, group[n]) for n in groups if n in group)
    return (quantity, ordered) if quantity else None


def _split(part: str, groups: Mapping[str, Labels], schema: Schema) -> list[tuple[str, str]]:
    """Read ``SEX 1`` or ``Sex: Male`` as a variable and its value."""
    words = part.replace("=", " ").replace(":", " ").split()
    for cut in range(1, len(words)):
        name = _named(" ".join(words[:cut]), groups, schema)
        value = groups[name].find(" ".join(words[cut:])) if name is not None else None
        if name is not None and value is not None:
            return [(name, value)]
    return []


@dataclass(frozen=True)
class Pair:
    """One cell of a pasted correlation matrix."""

    one: str
    two: str
    text: str
    p: str
    """P-value or stars; may be empty."""
    path: Path


def _matrix_part(label: str) -> str:
    """Say what SPSS prints in a line of a correlation matrix."""
    known = {"figure": r".*(correlation|covariance).*", "p": r"(sig|p\b).*", "n": r"n"}
    plain = label.strip().casefold()
    return next((part for part, pattern in known.items() if re.fullmatch(pattern, plain)), "")


def read_matrix(table: Pasted, where: str, of: Sequence[str], schema: Schema) -> Read[Pair]:
    """Read a correlation matrix, or a triangle of it; a second text in a cell is its p-value."""
    faults = _unread(table, where)
    found: list[Pair] = []
    options: Mapping[str, Sequence[str]] = {name: (schema[name].label,) for name in of}

    def named(label: str) -> str | None:
        return match(label, options) or match(_NUMBERED.sub("", label, count=1), options)

    names, parts = [], []
    for row in table.rows:
        last = row.stub[-1] if row.stub else ""
        name = named(last)
        part = "figure"
        if name is None and len(row.stub) > 1:  # SPSS prints figures, p-values and n in turn
            name, part = named(row.stub[-2]), _matrix_part(last)
        if name is None or not part:
            label = shown(" ".join(row.stub))
            message = f"{label!r} is not listed under of{suggest(label, of)}"
            faults.append(Fault((where, row.line), message))
        names.append(name)
        parts.append(part)
    labels = [*filter(named, table.corner), *table.header]
    heads = [named(label) for label in labels]
    for label, head in zip(labels, heads, strict=True):
        if head is None and any(map(str.isalpha, label)):
            message = f"{shown(label)!r} is not listed under of{suggest(label, of)}"
            faults.append(Fault((where, label), message))
    if faults:
        return found, faults
    if None in heads or not heads:  # numbered columns follow the order of the rows
        heads = [*(name for name in of if name not in names), *dict.fromkeys(names)]
    for row, name, part in zip(table.rows, names, parts, strict=True):
        for other, cell in zip(heads, row.cells, strict=False):
            if name is None or other is None or not cell or cell[0] in _NONE or part == "n":
                continue
            if part == "p":
                found.append(Pair(name, other, "", cell[0], (where, row.line)))
                continue
            if len(cell) > 2:
                message = f"{shown(' '.join(cell))!r} holds more than a figure and its p-value"
                faults.append(Fault((where, row.line), message))
                continue
            p = cell[1] if len(cell) > 1 else ""
            found.append(Pair(name, other, cell[0], p, (where, row.line)))
    return found, faults
