"""How the cells of a table are written in a spec: nested, pasted, or in a file beside it."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from pathlib import PurePath
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema

from evosynth.classes import separate
from evosynth.condition import Condition
from evosynth.errors import Fault, Path, many, shown
from evosynth.objective import Output
from evosynth.pasted import Pasted, parse, parse_csv
from evosynth.printed import Printed, Published, Within
from evosynth.schema import Schema

MAX_FILE_BYTES = 16 * 2**20
TOTAL = "total"
SUPPRESSED = frozenset({"suppressed", "*", "c", "x", ".."})
STRUCTURAL = "structural"
_DASHES = frozenset({"", "-", "--", "\u2212", "–", "—", "―", "…", "...", "."})

T = TypeVar("T")
Key: TypeAlias = tuple[str, ...]
"""One value of each variable of a table, or `TOTAL`."""


class Written(NamedTuple):
    """One cell of a table as it is written in a spec or a file."""

    key: Key
    form: str
    text: str
    path: Path


class Entry(NamedTuple):
    """One published number of a table."""

    key: Key
    form: str
    published: Published
    path: Path


Read: TypeAlias = tuple[list[T], list[Fault]]
"""What was read, and what is wrong with it."""


def per_schema(read: Callable[[Any, Schema], T]) -> Callable[[Any, Schema], T]:
    """Let a method keep what it found for the schema that it was last asked about."""
    name = f"_kept{read.__name__}"

    @functools.wraps(read)
    def ask(self: Any, schema: Schema) -> T:
        kept: tuple[Schema, T] | None = self.__dict__.get(name)
        if kept is None or kept[0] is not schema:
            kept = self.__dict__[name] = schema, read(self, schema)
        return kept[1]

    return ask


def _nest(value: Any) -> Any:
    if not isinstance(value, Mapping | list):
        raise ValueError("cells are a mapping by value, or a list in the order of the values")
    return value


Cells: TypeAlias = Annotated[
    Any, BeforeValidator(_nest), WithJsonSchema({"type": ["object", "array"]})
]
"""Printed numbers, nested by the values of each variable in turn."""


def as_list(value: Any) -> Any:
    """Let one name stand for a list of one."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError("expected a name, or a list of names")
    return value


Names: TypeAlias = Annotated[
    tuple[str, ...],
    BeforeValidator(as_list),
    WithJsonSchema({"type": ["string", "array"], "items": {"type": "string"}}),
]
"""One name, or a list of names."""


class Rounding(BaseModel):
    """Counts were rounded to multiples of a base."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: Annotated[int, Field(ge=2, le=10_000)]
    random: bool = False

    def interval(self, value: int) -> tuple[int, int]:
        """Find the counts that may have been rounded to a value."""
        reach = self.base - 1 if self.random else self.base // 2
        return max(0, value - reach), value + reach


def _rounding(value: Any) -> Any:
    return {"base": value} if isinstance(value, str) else value


def _interval(value: Any) -> Any:
    texts = value if isinstance(value, list) else []
    if len(texts) != 2 or not all(isinstance(t, str) and t.isdecimal() for t in texts):
        raise ValueError("expected two whole numbers, [smallest, largest]")
    if int(texts[0]) > int(texts[1]):
        raise ValueError(f"{texts[0]} is larger than {texts[1]}; write [smallest, largest]")
    return value


@dataclass(frozen=True)
class TableFile:
    """A table in a file beside the spec."""

    name: str
    text: str


def _table_file(value: Any, info: ValidationInfo) -> Any:
    """Read a file that lies in the same folder as the spec."""
    if isinstance(value, TableFile):
        return value
    name = str(value)
    folder = (info.context or {}).get("folder")
    if folder is None:
        raise ValueError("a table can be read only from beside a spec file")
    return TableFile(name, read_beside(name, folder))


def read_beside(name: str, folder: FilePath) -> str:
    """Read the text of a file in a folder; raise ``ValueError`` with what is wrong."""
    if not name or PurePath(name).name != name or "\\" in name or name.startswith("."):
        raise ValueError(f"{shown(name)!r} must be the plain name of a file beside the spec")
    path = folder / name
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ValueError(f"{shown(name)}: larger than {MAX_FILE_BYTES // 2**20} MiB")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"{shown(name)}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{shown(name)}: not UTF-8 text; save the file as UTF-8") from error


class Tabled(Output):
    """An output whose figures may be pasted as text, or stand in a file beside the spec."""

    table: str | None = Field(None, description="the table as text, as copied from print")
    file: (
        Annotated[TableFile, BeforeValidator(_table_file), WithJsonSchema({"type": "string"})]
        | None
    ) = Field(None, description="name of a CSV file beside the spec that holds the table")

    @abstractmethod
    def _faults(self, schema: Schema) -> Iterator[Fault]:
        """Find everything wrong with the figures."""

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Everything wrong with this output; what is wrong in a file names its line there."""
        if self.table is not None and self.file is not None:
            yield Fault(("file",), "give either table or file, not both")
            return
        for fault in self._faults(schema):
            if self.file is not None and fault.path[:1] == ("file",) and len(fault.path) > 1:
                message = f"{self.file.name}, line {int(fault.path[1]) + 1}: {fault.message}"
                fault = replace(fault, path=("file",), message=message)
            yield fault

    def read_table(
        self,
        read: Callable[[Pasted, str], Read[T]],
        stubs: Callable[[Pasted], int | None] = lambda table: None,
    ) -> Read[T]:
        """Read the table; ``stubs`` tells how many columns are labels, if a first look errs.

        ``read`` is told whether it reads `table` or `file`; it may put a label of the header in
        place of the line in the path of a fault.
        """
        if self.file is not None:
            key, text, parser = "file", self.file.text, parse_csv
        elif self.table is not None:
            key, text, parser = "table", self.table, parse
        else:
            return [], []
        table = parser(text)
        count = stubs(table)
        if count is not None:
            table = parser(text, count)
        found, faults = read(table, key)
        return found, [_at_label(fault, text, table) for fault in faults]


def _at_label(fault: Fault, text: str, table: Pasted) -> Fault:
    """Put the line of a label of the header in its place."""
    label = fault.path[-1]
    if isinstance(label, int):
        return fault
    above = text.splitlines()[: table.rows[0].line if table.rows else None]
    lines = [number for number, line in enumerate(above) if label in line]
    return replace(fault, path=(*fault.path[:-1], lines[-1] if lines else 0))


class Counted(Tabled):
    """What may be said of counts that were suppressed or rounded before publication."""

    suppressed: Annotated[tuple[int, int], BeforeValidator(_interval)] = Field(
        (1, 9), description="smallest and largest count that `suppressed` stands for"
    )
    rounded: Annotated[Rounding, BeforeValidator(_rounding)] | None = Field(
        None,
        description="base to which counts were rounded, or {base: 5, random: true}",
        json_schema_extra=lambda schema: schema["anyOf"].append({"type": "integer", "minimum": 2}),  # type: ignore[union-attr]
    )

    def count(self, text: str) -> Published:
        """Read a count; raise ``ValueError`` with a remedy."""
        plain = text.strip()
        _refuse_dash(plain)
        if plain.casefold() in SUPPRESSED:
            return Within(plain, *self.suppressed)
        if plain.casefold() == STRUCTURAL:
            return Within(plain, 0, 0)
        bound = Within.parse(plain)
        if bound is not None:
            return Within(
                bound.text, max(0, bound.low), bound.high, 0, bound.open_low, bound.open_high
            )
        printed = Printed.parse(plain)
        if printed.decimals or printed.text.startswith("-"):
            raise ValueError(
                f"{printed} is not a number of records; counts are whole and not negative"
            )
        if self.rounded is None:
            return printed
        value = int(printed.value)
        if value % self.rounded.base:
            raise ValueError(f"{printed} is not a multiple of {self.rounded.base}")
        return Within(printed.text, *self.rounded.interval(value))

    def share(self, text: str, scale: float) -> Published:
        """Read a share of records, a proportion or a percentage; raise ``ValueError``."""
        plain = text.strip().removesuffix("%").rstrip() if scale == 100 else text.strip()
        _refuse_dash(plain)
        if plain.casefold() in SUPPRESSED:
            return Within(plain, 0, scale)
        if plain.casefold() == STRUCTURAL:
            return Within(plain, 0, 0)
        found = Within.parse(plain) or Printed.parse(plain)
        if isinstance(found, Printed) and not 0 <= found.value <= scale:
            what = "a percentage" if scale == 100 else "a proportion"
            raise ValueError(f"{found} is not {what}; it must lie between 0 and {scale:g}")
        return found

    def publish(self, texts: Iterable[Written], forms: Sequence[str]) -> Read[Entry]:
        """Read counts and shares; equal cells count once, and cells given twice must be equal."""
        found: dict[tuple[Key, str], Entry] = {}
        faults = []
        known: dict[tuple[str, str], Published] = {}
        for key, form, text, path in texts:
            if form not in forms:
                message = f"{form.replace('_', ' ')} cannot stand here; say what it is under shows"
                faults.append(Fault(path, message))
                continue
            read = known.get((form, text))
            try:
                if read is None:
                    read = known[form, text] = self._publish(form, text)
            except ValueError as error:
                faults.append(Fault(path, str(error)))
                continue
            before = found.setdefault((key, form), Entry(key, form, read, path))
            if before.published is not read and before.published != read:
                cell = shown(", ".join(key))
                message = f"{cell} is {read} here, but {before.published} before; keep one of them"
                faults.append(Fault(path, message))
        return list(found.values()), faults

    def _publish(self, form: str, text: str) -> Published:
        if self.weighted and form == "counts":
            return Within.parse(text.strip()) or Printed.parse(text.strip())
        return self.count(text) if form == "counts" else self.share(text, scale_of(form))


def _refuse_dash(text: str) -> None:
    if text in _DASHES:
        raise ValueError(
            f"{text!r} may mean none or not shown; write 0, structural or suppressed, "
            "or leave the cell empty"
        )


def scale_of(form: str) -> float:
    """Return what the shares of a whole add up to."""
    return 100.0 if form.endswith("percentages") else 1.0


def unfold(
    tree: Any,
    names: Sequence[str],
    schema: Schema,
    form: str,
    where: Condition | None,
    partial: bool = False,
) -> Read[Written]:
    """Unfold nested cells into the text of each, by the values of the variables.

    A mapping may hold the key ``total`` besides values; a list may be one longer than there are
    values, its last entry being the total. Values that the subpopulation excludes, and any if
    ``partial``, may be left out of a mapping.
    """
    cells: list[Written] = []
    faults: list[Fault] = []
    admitted = {} if where is None else separate(where, schema)

    def visit(node: Any, key: Key, path: Path) -> None:
        if len(key) == len(names):
            if node is None:
                message = "nothing is given here; a cell that is not shown is `suppressed`"
                faults.append(Fault(path, message))
            elif not isinstance(node, str):
                faults.append(Fault(path, "expected a single text or number"))
            else:
                cells.append(Written(key, form, node, path))
            return
        variable = schema[names[len(key)]]
        values = variable.texts[: variable.valid]
        if isinstance(node, list):
            named = [*values, TOTAL][: max(len(node), len(values))]
            if len(node) != len(named):
                listed = f" ({', '.join(values)})" if len(values) <= 12 else ""
                expected = f"{many(len(values), 'value')}{listed}"
                number = many(len(node), "cell")
                message = f"{number}, but {variable.name!r} has {expected}"
                faults.append(Fault(path, message))
                return
            for position, (value, below) in enumerate(zip(named, node, strict=True)):
                visit(below, (*key, value), (*path, position))
        elif isinstance(node, Mapping):
            for value, below in node.items():
                if variable.levels.get(value, variable.valid) < variable.valid or value == TOTAL:
                    visit(below, (*key, value), (*path, value))
                else:
                    hint = variable.hint(str(value))
                    message = f"{variable.name!r} has no value {shown(str(value))!r}{hint}"
                    faults.append(Fault((*path, value), message))
            if partial or set(node) == {TOTAL}:
                return
            needed = admitted.get(variable.name, np.ones(variable.size, dtype=bool))
            for level, value in enumerate(values):
                if value not in node and needed[level]:
                    message = f"no cells for {variable.name}={value}; a table lists every value"
                    faults.append(Fault(path, message))
        else:
            faults.append(Fault(path, f"expected one number for each value of {variable.name!r}"))

    visit(tree, (), (form,))
    return cells, faults
