"""The columns of a model's design matrix: their names, and how the search looks them up."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from evosynth.formula import Factor, Formula
from evosynth.kernels.design import fill_design
from evosynth.schema import Codes, FloatArray, IntArray, Schema

INTERCEPT = "Intercept"
MAX_COLUMNS = 1_000
_INTERCEPTS = {"intercept", "(intercept)", "constant", "const", "_cons", "cons"}


@dataclass(frozen=True)
class Part:
    """One factor of a column: a quantity, or the indicator of one level of a category."""

    factor: Factor
    level: int | None
    name: str

    def table(self, schema: Schema) -> FloatArray:
        """Its value at each level of its variable; 1 where that is missing."""
        variable = schema[self.factor.variable]
        if self.level is not None:
            return np.asarray(np.arange(variable.size) == self.level, dtype=np.float64)
        values = np.where(np.isnan(variable.quantities), 1.0, variable.quantities)
        if self.factor.log:
            return np.asarray(np.log(values))
        return np.asarray(values**self.factor.power)


@dataclass(frozen=True)
class Column:
    """A product of parts; the empty product is the intercept."""

    parts: tuple[Part, ...]

    @property
    def name(self) -> str:
        """As a spec writes it: ``AREAP[48]``, ``AGE:SEX[2]``, ``Intercept``."""
        return ":".join(part.name for part in self.parts) or INTERCEPT


def columns(formula: Formula, schema: Schema, reference: Mapping[str, str]) -> tuple[Column, ...]:
    """Columns of a formula: treatment coding, the reference level left out."""
    found = [Column(())]
    for term in formula.terms:
        choices = [_parts(factor, schema, reference) for factor in term]
        found += [Column(parts) for parts in product(*choices)]
    return tuple(found)


def count_columns(formula: Formula, schema: Schema) -> int:
    """Count the columns of a formula without making them."""
    sizes = {v.name: v.valid - 1 if v.categorical else 1 for v in schema.variables}
    return 1 + sum(math.prod(sizes[f.variable] for f in term) for term in formula.terms)


def _parts(factor: Factor, schema: Schema, reference: Mapping[str, str]) -> list[Part]:
    variable = schema[factor.variable]
    if not variable.categorical:
        return [Part(factor, None, str(factor))]
    left_out = reference_level(factor.variable, schema, reference)
    return [
        Part(factor, level, f"{variable.name}[{value}]")
        for level, value in enumerate(variable.texts[: variable.valid])
        if level != left_out
    ]


def reference_level(name: str, schema: Schema, reference: Mapping[str, str]) -> int:
    """Level of the reference category: the one named, or the first."""
    return schema[name].levels[reference[name]] if name in reference else 0


def canonical(name: str) -> str:
    """One spelling per column: intercepts have many names, and factors any order."""
    plain = "".join(name.split())
    if plain.casefold() in _INTERCEPTS:
        return INTERCEPT
    return ":".join(sorted(plain.split(":")))


@dataclass(frozen=True)
class Design:
    """A design matrix as lookups by level, so that compiled code can fill any of its rows."""

    column_start: IntArray
    factor_variable: IntArray
    factor_start: IntArray
    lookup: FloatArray

    @classmethod
    def of(cls, found: tuple[Column, ...], schema: Schema) -> Design:
        """Lower columns to flat arrays."""
        starts, variables, offsets = [0], [], []
        tables: list[FloatArray] = []
        known: dict[Part, int] = {}
        end = 0
        for column in found:
            for part in column.parts:
                if part not in known:
                    table = part.table(schema)
                    known[part] = end
                    tables.append(table)
                    end += len(table)
                variables.append(schema.index[part.factor.variable])
                offsets.append(known[part])
            starts.append(len(variables))
        return cls(
            np.array(starts, dtype=np.int64),
            np.array(variables, dtype=np.int64),
            np.array(offsets, dtype=np.int64),
            np.concatenate([*tables, np.empty(0)]),
        )

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.column_start) - 1

    def rows(self, codes: Codes) -> FloatArray:
        """Rows of the design matrix for coded records."""
        return fill_design(
            codes, self.column_start, self.factor_variable, self.factor_start, self.lookup
        )


def column_moments(found: tuple[Column, ...], schema: Schema) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of each column if variables were as assumed and independent."""
    mean, square = np.ones(len(found)), np.ones(len(found))
    for k, column in enumerate(found):
        for part in column.parts:
            variable = schema[part.factor.variable]
            share = variable.proportions[: variable.valid]
            share = share / share.sum()
            table = part.table(schema)[: variable.valid]
            mean[k] *= share @ table
            square[k] *= share @ table**2
    return mean, np.maximum(square - mean**2, 0.0)


def inverse(information: FloatArray) -> FloatArray:
    """Invert an information matrix, scaled to a unit diagonal first.

    Columns such as age and its square differ by orders of magnitude; unscaled, the digits that
    figures are printed to would drown. Directions without information come out as 0.
    """
    scale = 1 / np.sqrt(np.maximum(np.diag(information), 1e-300))
    scaled = information * np.outer(scale, scale)
    return np.asarray(np.linalg.pinv(scaled, rcond=1e-13, hermitian=True) * np.outer(scale, scale))


def formula_faults(formula: Formula, schema: Schema) -> Iterator[str]:
    """Terms that the variables do not admit."""
    for factor in dict.fromkeys(f for term in formula.terms for f in term):
        variable = schema[factor.variable]
        if variable.categorical and (factor.log or factor.power != 1):
            yield f"{factor} needs a quantity, but {variable.name!r} holds categories"
        elif factor.log and float(np.nanmin(variable.quantities)) <= 0:
            least = variable.texts[0]
            yield f"{factor} needs values above 0, but {variable.name!r} starts at {least}"
