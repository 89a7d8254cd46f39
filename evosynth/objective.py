"""What an output kind must know, and the few forms of statistic that the search understands.

An output lowers itself to **cell tables** (counts that must lie in integer intervals) and
**smooth statistics** (figures that are smooth functions of sums over records). The search knows
nothing else.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Protocol, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from evosynth.errors import Fault, Path
from evosynth.printed import Printed
from evosynth.schema import Codes, FloatArray, IntArray, Schema

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Figure:
    """One published number."""

    label: str
    printed: Printed


@dataclass(frozen=True)
class CellTable:
    """Counts of records by the levels of some variables, each within an interval."""

    columns: tuple[int, ...]
    """The variables, by column of the schema."""
    low: IntArray
    """Smallest admissible count of each cell, shape (levels of each variable …)."""
    high: IntArray
    """Largest admissible count of each cell, same shape."""
    figures: IntArray
    """Flat index of the cell that each figure is about."""


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


class Smooth(Protocol):
    """Figures that are smooth functions of sums over records."""

    @property
    def size(self) -> int:
        """Number of figures."""

    @property
    def half_width(self) -> FloatArray:
        """Half a unit of the last printed digit of each."""

    @property
    def outcome(self) -> int | None:
        """Column of the variable that `log_density` explains, if it explains any."""

    def log_density(self, codes: Codes) -> FloatArray:
        """Log probability of each record's outcome given its other variables, as published."""

    def expand(self, codes: Codes, counts: FloatArray) -> Expansion:
        """Expand the figures around the dataset that holds ``codes[i]`` ``counts[i]`` times."""

    def refit(self, codes: Codes, counts: FloatArray) -> FloatArray:
        """Distance of the figures as estimated anew from a dataset, in half-widths."""


@dataclass(frozen=True)
class Plan:
    """An output in the terms of the search; its figures follow in this order."""

    tables: tuple[CellTable, ...] = ()
    smooth: tuple[Smooth, ...] = ()


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

    kind: str
    title: Text = Field("", description="what the published table is called")
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        1.0, description="weight of this output's mean squared error in `strategy: classic`"
    )

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


def centres(figures: tuple[Figure, ...]) -> tuple[FloatArray, FloatArray]:
    """Middle and half-length of the interval of values that print as each figure."""
    ends = np.array([figure.printed.interval for figure in figures]).reshape(-1, 2)
    return ends.mean(axis=1), (ends[:, 1] - ends[:, 0]) / 2
