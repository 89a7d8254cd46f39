"""What an output kind must know, and the few forms of statistic that the search understands.

An output lowers itself to **cell tables** (counts that must lie in integer intervals) and
**smooth statistics** (figures that are smooth functions of sums over records). The search knows
nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, field_validator

from evosynth import condition
from evosynth.analysis import Analysis
from evosynth.condition import Condition
from evosynth.errors import Fault, Path
from evosynth.grid import Grid
from evosynth.printed import Published
from evosynth.schema import Codes, FloatArray, IntArray, Schema

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Figure:
    """One published number."""

    label: str
    printed: Published


@dataclass(frozen=True)
class Interval:
    """An estimate from data, as large as it is printed, with its confidence interval."""

    parameter: int
    value: float
    low: float
    """Not a number where software does not agree on it."""
    high: float
    ratio: bool
    """Whether these are exponentiated coefficients."""


@dataclass(frozen=True)
class CellTable:
    """Counts of records by cells of a grid, each within an interval."""

    grid: Grid
    low: IntArray
    """Smallest admissible count of each cell, flat."""
    high: IntArray
    """Largest admissible count of each cell, flat."""

    @classmethod
    def free(cls, grid: Grid, records: int) -> CellTable:
        """Leave every count open."""
        return cls(grid, np.zeros(grid.size, np.int64), np.full(grid.size, records, np.int64))


Place: TypeAlias = tuple[int, int]
"""A table, by its position in a plan, and a cell of it."""

Bounds: TypeAlias = Callable[[int], tuple[list[int], list[int]]]


@dataclass(frozen=True)
class Share:
    """Cells whose bounds follow from the count of another cell: percentages, ranks of quantiles."""

    of: Place
    cells: tuple[Place, ...]
    low: tuple[float, ...]
    """Smallest share of each cell, roughly."""
    high: tuple[float, ...]
    """Largest share of each cell, roughly."""
    bounds: Bounds
    """Exact bounds of each cell for a count of the other; low > high where it cannot be."""
    extra: tuple[tuple[float, float], ...]
    """Records that go with those shares: whole counts from ``low × size + extra[0]`` to
    ``high × size + extra[1]`` are within the exact bounds, but perhaps at the very ends."""
    complete: bool = False
    """Whether the cells make up the other one."""


class Expansion(Protocol):
    """Figures as sums over records, near one dataset, in half-widths from their targets.

    The residual of a dataset is ``offset + sum of influence(record)``: 0 is on target, and
    anything within (-1, 1) prints as published.
    """

    @property
    def offset(self) -> FloatArray:
        """Residual of the empty dataset."""

    def influence(self, codes: Codes) -> FloatArray:
        """Effect of having each record, shape (records, figures)."""


class Smooth(ABC):
    """Figures that are smooth functions of sums over records."""

    outcome: int | None = None
    """Column of the variable that `log_density` explains, if it explains any."""
    given: tuple[int, ...] = ()
    """Columns of the variables that it is explained by."""
    associations: tuple[tuple[int, int, float], ...] = ()
    """Pairs of columns with their published correlation."""
    counted: Grid | None = None
    """The cells whose counts alone decide the figures, if there are such."""
    curved: bool = False
    """Whether an expansion holds only near the dataset that it was made at."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of figures."""

    @property
    @abstractmethod
    def half_width(self) -> FloatArray:
        """Half a unit of the last printed digit of each."""

    def log_density(self, codes: Codes) -> FloatArray:
        """Log probability of each record's outcome given its other variables, as published."""
        return np.zeros(len(codes))

    @abstractmethod
    def expand(self, codes: Codes, counts: FloatArray) -> Expansion:
        """Expand the figures around the dataset that holds ``codes[i]`` ``counts[i]`` times."""

    @abstractmethod
    def refit(self, codes: Codes, counts: FloatArray) -> FloatArray:
        """Distance of the figures as estimated anew from a dataset, in half-widths."""


@dataclass(frozen=True)
class Plan:
    """An output in the terms of the search.

    Its figures follow in this order: first those decided by counts, then the smooth ones.
    """

    tables: tuple[CellTable, ...] = ()
    shares: tuple[Share, ...] = ()
    counted: tuple[tuple[Place, ...], ...] = ()
    """The cells that decide each figure that is a matter of counts."""
    smooth: tuple[Smooth, ...] = ()
    chosen: frozenset[int] = frozenset()
    """Tables whose bounds are one way of several to have the figures."""
    implied: tuple[CellTable, ...] = ()
    """What such figures say of counts whatever way is chosen; the search has no need of it."""

    def certain(self) -> Iterator[CellTable]:
        """Tables whose bounds any data with the published figures must keep."""
        yield from (table for i, table in enumerate(self.tables) if i not in self.chosen)
        yield from self.implied


Text: TypeAlias = Annotated[str, WithJsonSchema({"type": ["string", "number", "boolean"]})]
"""A text; editors that read YAML may take it for a number."""


@dataclass(frozen=True)
class Mention:
    """A variable, or one value of it, that an output names at some place within it."""

    path: Path
    variable: str
    value: str | None = None


class Output(BaseModel):
    """One published table or model: the base of every output kind.

    A kind is a subclass in a module of `objectives` named after its ``kind``; its fields are
    what a spec may say. `faults` is asked once all that it `mentions` is known; the other
    methods may rely on its finding none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    weightable: ClassVar[bool] = False
    """Whether the figures have a weighted form."""

    kind: str
    title: Text = Field("", description="what the published table is called")
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        1.0, description="weight of this output's mean squared error in `strategy: classic`"
    )

    unit: Literal["person", "household"] = Field(
        "person", description="what is counted, where persons live in households"
    )
    weighted: bool | None = Field(
        None, description="whether its figures are weighted by the weights of the spec"
    )
    where: str | None = Field(
        None, description="the records that are counted, such as AGE >= 50 and SEX == 2"
    )

    @field_validator("where")
    @classmethod
    def _where_parses(cls, text: str | None) -> str | None:
        if text is not None:
            condition.parse(text)
        return text

    @cached_property
    def condition(self) -> Condition | None:
        """The subpopulation, if the output is about one."""
        return None if self.where is None else condition.parse(self.where)

    @abstractmethod
    def mentions(self) -> Iterator[Mention]:
        """Name every variable that is used, and values of it where they are known beforehand."""

    @abstractmethod
    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Everything wrong with this output, by path within it."""

    @abstractmethod
    def figures(self, schema: Schema) -> tuple[Figure, ...]:
        """Return the published numbers."""

    @abstractmethod
    def lower(self, schema: Schema) -> Plan:
        """Return the same figures in the terms of the search."""

    def analysis(self, schema: Schema) -> Analysis | None:
        """Describe how the figures are computed, in their order, for scripts beside the data."""
        return None

    def intervals(
        self, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> tuple[Interval, ...]:
        """Estimates of a model's parameters with their confidence intervals, for a picture."""
        return ()

    @abstractmethod
    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Compute every figure from data as an analyst would, with pandas and statsmodels.

        Parameters
        ----------
        frame
            Values of each variable, as read from a file; identical records may be grouped.
        counts
            How many records each row stands for.
        schema
            The variables.
        """
