"""Problems planted for teaching: a second file, and a key that says exactly what is wrong in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from evosynth.errors import Fault, many, suggest
from evosynth.printed import per_cent
from evosynth.schema import Schema, Variable

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.spec import Spec

_STREAM = 17
"""Marks the random numbers of planted problems."""
KEY = ("problem", "record", "original_record", "column", "old", "new")
_LOOK_ALIKE = {"0": "O", "1": "l", "5": "S", "8": "B", "o": "0", "i": "1", "e": "3"}

Share = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(per_cent)]
"""A share of the records if it is below 1, else a number of records."""


class Teaching(BaseModel):
    """Problems to plant in a second file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    missing: dict[str, Share] = Field(
        default_factory=dict, description="variable: share or number of values to leave out"
    )
    outliers: dict[str, Share] = Field(
        default_factory=dict, description="quantity: share or number of values far out of range"
    )
    typos: dict[str, Share] = Field(
        default_factory=dict, description="variable: share or number of values to misspell"
    )
    duplicates: Share | None = Field(
        None, description="share or number of records that stand there twice"
    )


@dataclass(frozen=True)
class Messy:
    """Data with planted problems, as texts, and what was planted."""

    data: pd.DataFrame
    key: pd.DataFrame
    """One row per problem: what it is, the record in the messy file and in the clean one (counted
    from 1), the column, and the texts before and after."""
    verification: pd.DataFrame
    """What every published figure becomes."""


def faults(teaching: Teaching, schema: Schema) -> Iterator[Fault]:
    """Problems that cannot be planted."""
    for problem in ("missing", "outliers", "typos"):
        for name, share in getattr(teaching, problem).items():
            where = ("teaching", problem, name)
            if name not in schema.index:
                yield Fault(where, f"unknown variable {name!r}{suggest(name, schema.index)}")
            elif schema[name].identifier is not None:
                yield Fault(where, f"{name!r} tells records apart; plant problems elsewhere")
            elif problem == "outliers" and schema[name].date:
                yield Fault(where, f"{name!r} holds dates; use typos")
            elif problem == "outliers" and schema[name].categorical:
                yield Fault(where, f"{name!r} holds categories; use typos")
            else:
                yield from _share_faults(where, share, schema.records)
    if teaching.duplicates is not None:
        yield from _share_faults(("teaching", "duplicates"), teaching.duplicates, schema.records)


def _share_faults(where: tuple[str, ...], share: float, records: int) -> Iterator[Fault]:
    if share >= 1 and share != int(share):
        yield Fault(where, f"{share:g} is neither a share below 1 nor a number of records")
    elif share > records:
        yield Fault(where, f"{share:g} is more than all {many(records, 'record')}")


def plant(data: pd.DataFrame, spec: Spec, seed: int) -> Messy:
    """Plant the problems of a spec in its data."""
    import pandas as pd

    from evosynth.proof import plain as in_days
    from evosynth.proof import verify

    teaching = spec.teaching
    assert teaching is not None
    rng = np.random.default_rng((seed, _STREAM))
    schema, size = spec.schema, len(data)
    texts = _texts(data)
    found: list[tuple[str, int, str, str, str]] = []
    plain = in_days(data, schema)
    for variable in schema.shown:
        known = plain[variable.name].isin(variable.values[: variable.valid])
        valid = np.flatnonzero(known.to_numpy(dtype=bool))
        free = iter(rng.permutation(valid).tolist())
        for problem in ("missing", "outliers", "typos"):
            share = getattr(teaching, problem).get(variable.name)
            for _ in range(_number(share, size)):
                record = next(free, None)
                if record is None:
                    break
                old = str(texts[variable.name].iat[record])
                new = _spoilt(problem, old, variable, rng)
                texts.iat[record, list(texts.columns).index(variable.name)] = new
                found.append((problem, record, variable.name, old, new))
    order = np.arange(size)
    twice = rng.choice(size, _number(teaching.duplicates, size), replace=False)
    # Always behind the original, so that dropping duplicates gives the clean order back.
    order = np.insert(order, rng.integers(twice + 1, size + 1), twice)
    first = np.unique(order, return_index=True)[1]
    again = {int(order[place]): int(place) for place in np.setdiff1d(np.arange(len(order)), first)}
    for record in again:
        found.append(("duplicate", record, "", "", f"the same as record {first[record] + 1}"))
    rows: list[tuple[Any, ...]] = [
        (problem, at + 1, order[at] + 1, column, old, new)
        for problem, record, column, old, new in found
        for at in _places(problem, int(first[record]), again.get(record))
    ]
    rows.sort(key=lambda row: (row[1], row[3]))
    key = pd.DataFrame(rows, columns=list(KEY))
    messy = texts.iloc[order].reset_index(drop=True)
    return Messy(messy, key, verify(spec, _read(messy, schema)))


def write(messy: Messy, schema: Schema, path: Path) -> None:
    """Write the second file; every line without a problem is that of the CSV file of the data."""
    columns = []
    for variable in schema.shown:
        texts = messy.data[variable.name].tolist()
        quoted = variable.values.dtype == object
        columns.append([_quoted(text) if quoted and text else text for text in texts])
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(_quoted(variable.name) for variable in schema.shown) + "\n")
        file.writelines(",".join(row) + "\n" for row in zip(*columns, strict=True))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _places(problem: str, first: int, again: int | None) -> list[int]:
    """Where a problem stands: that of a record that stands there twice stands there twice."""
    if again is None:
        return [first]
    return [again] if problem == "duplicate" else [first, again]


def _number(share: float | None, records: int) -> int:
    if share is None:
        return 0
    return min(records, max(1, round(share * records)) if share < 1 else int(share))


def _texts(data: pd.DataFrame) -> pd.DataFrame:
    """Values as the CSV file has them, blanks as empty texts."""
    import pandas as pd

    from evosynth.formats.arrow import as_text

    return pd.DataFrame({name: as_text(data[name]) for name in data})


def _spoilt(problem: str, old: str, variable: Variable, rng: np.random.Generator) -> str:
    """Return what becomes of a value."""
    if problem == "missing":
        return ""
    return _outlier(old, variable, rng) if problem == "outliers" else _typo(old, variable, rng)


def _outlier(old: str, variable: Variable, rng: np.random.Generator) -> str:
    """Slip the point by one or two places, or put far too much where that is not enough."""
    import pandas as pd

    from evosynth.formats.arrow import as_text

    values = variable.quantities[: variable.valid]
    low, high, value = float(values.min()), float(values.max()), float(old)
    reach = max(high - low, 1.0)
    choices = [v for v in (value * 10, value * 100) if v > high + reach or v < low - reach]
    chosen = float(rng.choice(choices)) if choices else high + reach * float(rng.integers(3, 10))
    chosen = round(chosen, variable.decimals)
    while chosen in variable.values.astype(float):  # a code of missing values is no outlier
        chosen += reach
    return str(as_text(pd.Series([chosen if variable.decimals else int(chosen)])).iat[0])


def _typo(old: str, variable: Variable, rng: np.random.Generator) -> str:
    """Misspell a value so that it is none of the others."""
    known = set(variable.texts)
    at = int(rng.integers(len(old))) if old else 0
    choices = [
        old[:at] + old[at : at + 1] + old[at:],  # a key pressed twice
        old[:at] + old[at + 1 :],  # a key left out
        old[:at] + old[at + 1 : at + 2] + old[at : at + 1] + old[at + 2 :],  # two swapped
        "".join(_LOOK_ALIKE.get(c, c) if i == at else c for i, c in enumerate(old)),
        old.swapcase(),
        f" {old}",
    ]
    kept = [c for c in dict.fromkeys(choices) if c and c != old and not _same(c, known, variable)]
    return str(rng.choice(kept)) if kept else f"{old}?"


def _same(text: str, known: set[str], variable: Variable) -> bool:
    """Whether a text would be read as a value of the variable."""
    if text in known:
        return True
    if variable.values.dtype == object:
        return False
    try:
        return bool(np.isin(float(text), variable.values.astype(float)))
    except ValueError:
        return False


def _read(messy: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Read messy data as a hasty analyst would: what is no number or no code is left out."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for variable in schema.shown:
        texts = messy[variable.name]
        codes = set(variable.texts[: variable.size - variable.blank])
        if variable.identifier is not None:
            columns[variable.name] = texts
            continue
        if variable.date:
            columns[variable.name] = pd.to_datetime(texts.where(texts.isin(codes)))
            continue
        if variable.values.dtype == object:
            columns[variable.name] = texts.where(texts.isin(codes), None)
            continue
        numbers = pd.to_numeric(texts, errors="coerce")
        if variable.categorical:
            values = variable.values[: variable.size - variable.blank]
            columns[variable.name] = numbers.where(numbers.isin(values)).astype("Int64")
        else:
            columns[variable.name] = numbers.astype("float64")
    return pd.DataFrame(columns)
