"""What every output kind that counts records has in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from evosynth.errors import Fault, Path
from evosynth.printed import Printed
from evosynth.schema import FloatArray, IntArray, Schema

if TYPE_CHECKING:
    import pandas as pd

MAX_CELLS = 5_000_000


def _nest(value: Any) -> Any:
    if not isinstance(value, Mapping | list):
        raise ValueError("cells are a mapping by value, or a list in the order of the values")
    return value


Cells: TypeAlias = Annotated[
    Any, BeforeValidator(_nest), WithJsonSchema({"type": ["object", "array"]})
]
"""Printed numbers, nested by the values of each variable in turn."""

Key: TypeAlias = tuple[str, ...]
Form: TypeAlias = Literal["counts", "proportions"]


def flatten(
    tree: Any, names: Sequence[str], schema: Schema, path: Path
) -> tuple[dict[Key, Printed], list[Fault], dict[Key, Path]]:
    """Unfold nested cells into one printed number, and its place, per combination of values."""
    cells: dict[Key, Printed] = {}
    places: dict[Key, Path] = {}
    faults: list[Fault] = []

    def visit(node: Any, key: Key, where: Path) -> None:
        if len(key) == len(names):
            if node is None:
                faults.append(Fault(where, "nothing is given here"))
            elif not isinstance(node, str):
                faults.append(Fault(where, "expected a single text or number"))
            else:
                try:
                    cells[key] = Printed.parse(node)
                    places[key] = where
                except ValueError as error:
                    faults.append(Fault(where, str(error)))
            return
        variable = schema[names[len(key)]]
        if isinstance(node, list):
            if len(node) != variable.size:
                listed = f" ({', '.join(variable.levels)})" if variable.size <= 12 else ""
                expected = f"{variable.size:,} values{listed}"
                faults.append(
                    Fault(where, f"{len(node)} cells, but {variable.name!r} has {expected}")
                )
                return
            for position, (value, below) in enumerate(zip(variable.levels, node, strict=True)):
                visit(below, (*key, value), (*where, position))
        elif isinstance(node, Mapping):
            for value, below in node.items():
                if value in variable.levels:
                    visit(below, (*key, value), (*where, value))
                else:
                    hint = variable.hint(str(value))
                    faults.append(
                        Fault((*where, value), f"{variable.name!r} has no value {value!r}{hint}")
                    )
            for value in variable.levels:
                if value not in node:
                    faults.append(
                        Fault(
                            where,
                            f"no cells for {variable.name}={value}; a table lists every value",
                        )
                    )
        else:
            faults.append(Fault(where, f"expected one number for each value of {variable.name!r}"))

    visit(tree, (), path)
    ordered = sorted(
        cells, key=lambda k: [schema[n].levels[v] for n, v in zip(names, k, strict=True)]
    )
    return {key: cells[key] for key in ordered}, faults, places


def share_faults(
    cells: Iterable[tuple[Path, Printed]], form: Form, complete: bool, records: int
) -> Iterator[Fault]:
    """Find counts that are not whole, shares that no count has, and totals that are off."""
    numbers = dict(cells)
    sound = True
    for path, printed in numbers.items():
        low, high = count_interval(printed, form, records)
        if form == "counts" and (printed.decimals or printed.text.startswith("-")):
            yield Fault(
                path, f"{printed} is not a number of records; counts are whole and not negative"
            )
        elif form == "counts" and printed.value > records:
            yield Fault(path, f"{printed} is more than all {records} records")
        elif form == "proportions" and not 0 <= printed.value <= 1:
            yield Fault(path, f"{printed} is not a proportion; it must lie between 0 and 1")
        elif low > high:
            yield Fault(
                path, f"no number of records out of {records} has a share that prints as {printed}"
            )
        else:
            continue
        sound = False
    if not sound or not numbers:
        return
    total = sum(printed.value for printed in numbers.values())
    where: Path = (form,)
    if form == "counts":
        if (complete and total != records) or total > records:
            off = f"{abs(total - records):.0f} {'too many' if total > records else 'missing'}"
            yield Fault(where, f"the cells sum to {total:.0f}, but records is {records} ({off})")
        return
    ends = [count_interval(printed, form, records) for printed in numbers.values()]
    low, high = sum(end[0] for end in ends), sum(end[1] for end in ends)
    if low > records or (complete and high < records):
        slack = sum(printed.half_width for printed in numbers.values())
        rounding = f"which is not 1 within their rounding (±{slack:.2g})"
        if abs(total - 1) <= slack + 1e-9:
            makes = f"{low} records at least" if low > records else f"{high} records at most"
            rounding = f"which makes {makes}, but records is {records}"
        yield Fault(where, f"the proportions sum to {total:.6g}, {rounding}")


def count_interval(printed: Printed, form: Form, records: int) -> tuple[int, int]:
    """Find the counts that print as a figure, itself a count or a share of all records."""
    if form == "counts":
        return int(printed.value), int(printed.value)
    return printed.counts(records)


def bounds(
    names: Sequence[str], cells: Mapping[Key, Printed], form: Form, schema: Schema
) -> tuple[IntArray, IntArray, IntArray]:
    """Intervals of a whole table, and the flat cell of each figure in order."""
    shape = [schema[name].size for name in names]
    low = np.zeros(shape, dtype=np.int64)
    high = np.full(shape, schema.records, dtype=np.int64)
    order = np.empty(len(cells), dtype=np.int64)
    for position, (key, printed) in enumerate(cells.items()):
        cell = tuple(schema[n].levels[v] for n, v in zip(names, key, strict=True))
        low[cell], high[cell] = count_interval(printed, form, schema.records)
        order[position] = np.ravel_multi_index(cell, shape)
    return low, high, order


def count_records(
    frame: pd.DataFrame,
    counts: FloatArray,
    names: Sequence[str],
    keys: Sequence[Key],
    form: Form,
    schema: Schema,
) -> FloatArray:
    """Count the records in each cell with pandas, as an analyst would."""
    weighted = frame[list(names)].assign(**{"records ": counts})
    table = weighted.groupby(list(names), observed=True)["records "].sum()
    total = float(counts.sum())
    found = []
    for key in keys:
        values = [schema[n].value(v) for n, v in zip(names, key, strict=True)]
        cell = float(table.get(values[0] if len(names) == 1 else tuple(values), 0.0))
        found.append(cell if form == "counts" else cell / total)
    return np.array(found)
