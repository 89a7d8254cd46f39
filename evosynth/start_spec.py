"""A spec to start from: commented, complete, and filled in from a codebook where there is one."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evosynth.errors import DataError, shown, suggest

COLUMNS = ("variable", "label", "code", "value label", "count")
_MOST_ROWS = 100_000
_MOST_FAULTS = 50
_MISSING = re.compile(
    r"\bmissing\b|\brefus|don.?t know|no answer|unknown|"
    r"not (answered|asked|applicable|known|stated)",
    re.I,
)
_BLANK = frozenset({"", ".", "(blank)", "blank", "missing", "sysmis", "<na>"})
"""Codes by which codebooks tell of values that stand as blanks in the data."""

EXAMPLE = """\
# A spec: the variables of the data, and the published figures that they must reprint.
# Check it with   evosynth check SPEC.yaml   and make the data with   evosynth run SPEC.yaml -o out

title: Access to cars                  # what the data are about
source: "Who published the figures, where and when"
records: 400                           # how many records the published study had

variables:
  # Categories: code: label. Codes are what stands in the data.
  SEX:   {label: Sex, categories: {1: Male, 2: Female}}
  # Codes that stand for missing values are listed apart; `missing: true` makes blanks.
  CARS:  {label: Access to a car, categories: {0: "No", 1: "Yes"}, missing: {-9: Refused}}
  # Quantities: whole numbers from … to …, or numbers on a grid.
  AGE:   {label: Age in years, integer: [18, 90]}
  HEIGHT: {label: Height in metres, number: {min: 1.40, max: 2.10, decimals: 2}}

# Type numbers exactly as they are printed: 0.50 has two decimals and must be reprinted with two.
outputs:
  - kind: frequencies                  # counts, proportions, percentages or valid_percentages
    title: Table 1. Sex                # as the publication calls it; may be left out
    of: SEX
    counts: {1: 187, 2: 213}

  - kind: crosstab
    title: Table 2. Access to a car by sex
    rows: SEX
    columns: CARS
    counts: {1: [62, 118], 2: [101, 109]}

  - kind: summary                      # n, mean, sd, median, quantiles, min, max …
    of: AGE
    mean: 47.31
    sd: 15.20

  # - kind: logit                      # ols, wls, probit, poisson, negative_binomial, multinomial …
  #   formula: CARS ~ AGE + SEX
  #   reference: {SEX: 1}
  #   where: AGE >= 21                 # a subpopulation
  #   coefficients: {Intercept: 0.5120, AGE: 0.0065, "SEX[2]": -0.5710}

  # Any table may be pasted as it is printed:
  # - kind: crosstab
  #   rows: SEX
  #   columns: CARS
  #   table: |
  #               No    Yes
  #     Male      62    118
  #     Female   101    109

# Files besides CSV and Parquet:
# formats: [stata, spss, excel]
"""


@dataclass
class _Entry:
    name: str
    label: str
    codes: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    values: int | None = None
    """Records that have a value, of a quantity."""
    blank: int | None = None
    """Records with a blank; -1 if there are some, but nobody says how many."""
    blank_label: str = ""

    @property
    def valid(self) -> dict[str, str]:
        """Codes of values that are not missing, and their labels."""
        return {code: text for code, text in self.codes.items() if code not in self.missing}

    @property
    def total(self) -> int:
        """Records that are counted."""
        return sum(self.counts.values()) + (self.values or 0) + max(self.blank or 0, 0)

    @property
    def counted(self) -> bool:
        """Whether there are counts."""
        return bool(self.counts) or self.values is not None or (self.blank or 0) > 0


def from_codebook(path: str | os.PathLike[str]) -> str:
    """Write a spec whose variables and frequencies are those of a codebook in CSV.

    Its columns are variable, label, code, value label and count; a variable or label that is left
    empty is that of the line before, and a variable without codes is a quantity. A line without a
    code counts blanks, or the values of a quantity.
    """
    file = Path(path)
    entries = _read(file)
    records = _records(entries)
    lines = [
        f"# Made from {shown(file.name)}. Add the published tables and models under outputs.",
        'title: ""',
        'source: ""',
        f"records: {records}" + ("" if any(e.counted for e in entries) else "   # TODO: how many?"),
        "variables:",
        *(_variable(entry) for entry in entries),
        "outputs:",
        *_outputs(entries, records),
    ]
    return "\n".join(lines) + "\n"


def _read(file: Path) -> list[_Entry]:
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{file}: not UTF-8 text; save the file as CSV UTF-8") from error
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}") from error
    first = text.partition("\n")[0]
    mark = max(",;\t", key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    try:
        header = [_plain(name) for name in next(rows, [])]
        at = _columns(header, file)
        entries = _entries(rows, at, file)
    except csv.Error as error:
        raise DataError(f"{file}:{rows.line_num} is not CSV: {error}") from error
    if not entries:
        raise DataError(f"{file}: there is no variable")
    return list(entries.values())


def _columns(header: list[str], file: Path) -> dict[str, int]:
    """Find where each column stands."""
    known = {_plain(name): name for name in COLUMNS}
    for name in header:
        if name and name not in known:
            hint = suggest(name, COLUMNS) or f"; the columns are {', '.join(COLUMNS)}"
            raise DataError(f"{file}:1 unknown column {shown(name)!r}{hint}")
    at = {known[name]: place for place, name in enumerate(header) if name}
    if "variable" not in at:
        raise DataError(f"{file}:1 no column 'variable'; the columns are {', '.join(COLUMNS)}")
    return at


def _entries(rows: Any, at: dict[str, int], file: Path) -> dict[str, _Entry]:
    """Read the lines, and tell all that is wrong with them at once."""
    entries: dict[str, _Entry] = {}
    faults: list[str] = []
    name, number = "", rows.line_num + 1
    for row in rows:
        if number > _MOST_ROWS:
            raise DataError(f"{file}: more than {_MOST_ROWS:,} lines")
        cells = {key: " ".join(row[i].split()) if i < len(row) else "" for key, i in at.items()}
        if any(cells.values()):
            name = cells["variable"] or name
            try:
                _add(entries, name, cells, f"{file}:{number}")
            except DataError as error:
                faults.append(str(error))
        number = rows.line_num + 1  # of the next row: a cell may have several lines
    for entry in entries.values():
        try:
            _settle(entry, file)
        except DataError as error:
            faults.append(str(error))
    if faults:
        more = [f"… and {len(faults) - _MOST_FAULTS} more"] if len(faults) > _MOST_FAULTS else []
        raise DataError("\n".join([*faults[:_MOST_FAULTS], *more]))
    return entries


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").casefold().split())


def _add(entries: dict[str, _Entry], name: str, cells: dict[str, str], place: str) -> None:
    if not name.isidentifier():
        remedy = "a name starts with a letter and holds letters, digits and _"
        raise DataError(f"{place} variable {shown(name)!r}: {remedy}")
    entry = entries.setdefault(name, _Entry(name, ""))
    entry.label = entry.label or cells.get("label", "")
    code, label = cells.get("code", ""), cells.get("value label", "")
    count = _count(cells.get("count", ""), place)
    if code.casefold() in _BLANK:
        if code or label or count is not None:
            _add_blank(entry, label, count, bool(code), place)
        return
    if code.casefold() in {"total", "valid", "sum"} and label.casefold() in {"", code.casefold()}:
        raise DataError(f"{place} {name}: {shown(code)!r} is no code; leave the line out")
    if code in entry.codes:
        raise DataError(f"{place} {name} has the code {shown(code)!r} twice; leave one out")
    entry.codes[code] = label or code
    if count is not None:
        entry.counts[code] = count
    if _MISSING.search(entry.codes[code]):
        entry.missing.add(code)


def _count(text: str, place: str) -> int | None:
    """Read a whole number as spreadsheets write it: 1,234 or 1 234 or 1234.0."""
    plain = re.sub(r"\.0+$", "", re.sub(r"(?<=\d)[ ,](?=\d{3}\b)", "", text))
    if not plain:
        return None
    if not plain.isascii() or not plain.isdigit():
        remedy = "write it in digits alone, or leave it out"
        raise DataError(f"{place} count {shown(text)!r} is not a whole number; {remedy}")
    return int(plain)


def _add_blank(entry: _Entry, label: str, count: int | None, named: bool, place: str) -> None:
    """Take a line without a code: of blanks, or of all values of a quantity."""
    gone = named or bool(_MISSING.search(label)) or bool(entry.valid)
    if not gone and label:
        raise DataError(f"{place} a value label needs a code; fill the column 'code'")
    if (entry.blank if gone else entry.values) is not None:
        raise DataError(f"{place} {entry.name} has two lines without a code; leave one out")
    if gone:
        entry.blank, entry.blank_label = -1 if count is None else count, label
    else:
        entry.values = count


def _settle(entry: _Entry, file: Path) -> None:
    """Let what stood before the first code of a variable be blanks of it, and check these."""
    if entry.valid and entry.values is not None:
        if entry.blank is not None:
            raise DataError(f"{file}: {entry.name} has two lines without a code; leave one out")
        entry.blank, entry.values = entry.values, None
    odd = [code for code in entry.missing if not _whole(code)]
    if len(odd) == 1 and entry.missing == set(odd) and all(map(_whole, entry.valid)):
        # NA among numbers is no text: it is how programs write a blank.
        (code,) = odd
        if entry.blank is None:
            entry.blank, entry.blank_label = entry.counts.pop(code, -1), entry.codes.pop(code)
            entry.missing.clear()
    if entry.blank is not None and entry.missing:
        remedy = "give the blanks a code of their own"
        raise DataError(f"{file}: {entry.name} has blanks beside codes of missing values; {remedy}")


def _records(entries: list[_Entry]) -> int:
    """Most records that any variable counts."""
    return max([entry.total for entry in entries] + [0]) or 1000


def _quoted(text: str) -> str:
    """Write a text that YAML reads back as it is."""
    body = "".join(
        f"\\{c}" if c in '"\\' else c if c.isprintable() else f"\\U{ord(c):08X}" for c in text
    )
    return f'"{body}"'


def _whole(text: str) -> bool:
    return re.fullmatch(r"-?\d{1,9}", text) is not None


def _code(text: str) -> str:
    return text if _whole(text) else _quoted(text)


def _variable(entry: _Entry) -> str:
    label = _quoted(entry.label or entry.name)
    valid = entry.valid
    if not valid:
        todo = "   # TODO: smallest and largest value"
        return f"  {entry.name}: {{label: {label}, integer: [0, 100]{_missing(entry)}}}{todo}"
    codes = ", ".join(f"{_code(c)}: {_quoted(text)}" for c, text in valid.items())
    return f"  {entry.name}: {{label: {label}, categories: {{{codes}}}{_missing(entry)}}}"


def _missing(entry: _Entry) -> str:
    if entry.blank is not None:
        label = entry.blank_label
        return f", missing: {{missing: {_quoted(label)}}}" if label else ", missing: true"
    codes = ", ".join(
        f"{_code(c)}: {_quoted(entry.codes[c])}" for c in entry.codes if c in entry.missing
    )
    return f", missing: {{{codes}}}" if codes else ""


def _outputs(entries: list[_Entry], records: int) -> Iterator[str]:
    counted = [entry for entry in entries if entry.counted]
    if not counted:
        yield "  # TODO: nothing is published yet; this only says how many records there are"
        yield "  - kind: frequencies"
        yield f"    of: {entries[0].name}"
        yield f"    counts: {{total: {records}}}"
    for entry in counted:
        counts = {_code(code): count for code, count in entry.counts.items()}
        if entry.values is not None:
            counts["valid"] = entry.values
        if (entry.blank or 0) > 0:
            counts["missing"] = entry.blank or 0
        pairs = ", ".join(f"{code}: {count}" for code, count in counts.items())
        total, told = entry.total, bool(entry.valid) or entry.values is not None
        less = f"   # TODO: they sum to {total}, not {records}" if total != records and told else ""
        yield "  - kind: frequencies"
        yield f"    of: {entry.name}"
        yield f"    counts: {{{pairs}}}{less}"
