"""What an output kind tells of its analysis, so that scripts in any language can repeat it.

A kind describes itself by one of a few forms; the scripts know these forms and no kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from evosynth.design import Column
    from evosynth.model_items import Item

VALID, MISSING = "valid", "missing"
"""Instead of a value: all that are, or that are not, valid."""

Group: TypeAlias = tuple[tuple[str, str], ...]
"""Values of some variables, as a spec writes them."""


@dataclass(frozen=True)
class Cell:
    """A count, or what share it is of another count."""

    group: Group
    whole: Group | None = None
    scale: float = 1.0


@dataclass(frozen=True)
class Counting:
    """Counts and shares of records."""

    names: tuple[str, ...]
    complete: bool
    """Whether records that miss one of the variables are left out."""
    cells: tuple[Cell, ...]
    weight: str | None = None
    """Variable that records are weighted by."""


@dataclass(frozen=True)
class Statistic:
    """One statistic of a quantity in a group."""

    of: str
    group: Group
    name: str
    argument: float


@dataclass(frozen=True)
class Describing:
    """Statistics of quantities."""

    by: tuple[str, ...]
    """Variables that must be valid, whatever the group."""
    statistics: tuple[Statistic, ...]
    weight: str | None = None
    """Variable that records are weighted by."""


@dataclass(frozen=True)
class Pair:
    """A correlation, covariance or p-value."""

    one: str
    two: str
    form: str
    """One of ``pearson``, ``spearman``, ``covariance``, ``pearson p`` and ``spearman p``."""


@dataclass(frozen=True)
class Correlating:
    """Correlations of pairs."""

    pairs: tuple[Pair, ...]
    listwise: tuple[str, ...]
    """Variables that must all be valid; only the pair's own if there are none."""


@dataclass(frozen=True)
class Testing:
    """A test of one variable by another."""

    test: str
    """One of ``chi_square``, ``t_test``, ``anova`` and ``odds_ratio``."""
    one: str
    """The quantity, or the rows."""
    two: str
    """The groups, or the columns."""
    keys: tuple[str, ...]
    """Which figures are published."""
    option: bool = False
    """Yates' correction; Welch's test; a p-value that is the risk ratio's."""
    values: tuple[tuple[str, str], tuple[str, str]] | None = None
    """Values that are compared, of rows and columns; of a t test the groups twice."""
    level: float = 0.95


@dataclass(frozen=True)
class Fitting:
    """A model."""

    family: str
    formula: str
    outcome: str
    log: bool
    outcomes: tuple[str, ...]
    """Values of the outcome: that of the event alone, or all of them, the base first."""
    names: tuple[str, ...]
    """Variables that must be valid."""
    columns: tuple[Column, ...]
    items: tuple[Item, ...]
    parameters: int
    null: int
    """Parameters without covariates."""
    extra: str | None = None
    """Variable of weights or exposure."""
    robust: str | None = None
    quantile: float = 0.5
    level: float = 95.0
    ratios: bool = False
    ratio_errors: bool = False
    weight: str | None = None
    """Variable that records are weighted by; standard errors are then those of a survey."""
    terms: tuple[tuple[str, str], ...] = ()
    """Equation, if there are several, and name of each parameter."""


Analysis: TypeAlias = Counting | Describing | Correlating | Testing | Fitting
