"""Measures of identity and attribute disclosure (Raab, Nowok & Dibben 2024), all in per cent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evosynth.kernels import attribution as kernel
from evosynth.risk.coding import Column
from evosynth.risk.exclusions import Exclusions
from evosynth.risk.keys import Keys

UNDEFINED = math.nan
K = (2, 3, 5, 10)
"""Sizes below which k-anonymity counts records."""


@dataclass(frozen=True)
class Share:
    """A percentage, with the records that it counts and those that it is of."""

    count: float
    of: float

    @property
    def value(self) -> float:
        """Per cent; not a number where there is nothing to take a share of."""
        return 100 * self.count / self.of if self.of else UNDEFINED


@dataclass(frozen=True)
class Attribution:
    """What an intruder who knows the keys learns of one target."""

    target: str
    keys: tuple[str, ...]
    people: str
    held: str
    shares: Mapping[str, Share]
    """Measures that count records, by name."""
    rates: Mapping[str, float]
    """Measures that average probabilities, and denominators."""
    cells: Cells = field(repr=False)

    @property
    def values(self) -> dict[str, float]:
        """Every measure by name."""
        return {**{k: v.value for k, v in self.shares.items()}, **self.rates}


@dataclass(frozen=True)
class Cells:
    """The cells of keys by target that are not empty on both sides."""

    key: NDArray[np.int64]
    level: NDArray[np.int32]
    d: NDArray[np.int32]
    s: NDArray[np.int32]
    disclosive: NDArray[np.int64]
    """Original records that are attributed correctly and not excluded."""


def identity(keys: Keys) -> dict[str, Share]:
    """Uniques on the keys, before any exclusion."""
    d, s = keys.d, keys.s
    n_d, n_s = len(keys.order_d), len(keys.order_s)
    unique = d == 1
    return {
        "UiO": Share(int(unique.sum()), n_d),
        "UiS": Share(int((s == 1).sum()), n_s),
        "UiOiS": Share(int((unique & (s > 0)).sum()), n_d),
        "repU": Share(int((unique & (s == 1)).sum()), n_d),
        "perceived": Share(int((unique & (s == 1)).sum()), n_s),
    }


def anonymity(keys: Keys) -> list[dict[str, int]]:
    """Count records whose keys fewer than k records share."""
    d, s = keys.d, keys.s
    return [{"k": k, "original": int(d[d < k].sum()), "synthetic": int(s[s < k].sum())} for k in K]


def near(
    keys: Keys, values: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]], p: float
) -> dict[str, Share]:
    """Replicated uniques with a confidential value within p per cent of the true one.

    ``values``: by confidential variable, numbers of the people and of the synthetic records.
    """
    both = np.flatnonzero((keys.d == 1) & (keys.s == 1))
    person, record = keys.order_d[keys.start_d[both]], keys.order_s[keys.start_s[both]]
    close = np.array(
        [
            np.abs(held[record] - true[person]) <= p / 100 * np.abs(true[person])
            for true, held in values.values()
        ]
    ).reshape(len(values), len(both))
    n = len(keys.order_d)
    return {
        "within p % in at least one": Share(int(close.any(axis=0).sum()), n),
        "within p % in all": Share(int(close.all(axis=0).sum()) if len(values) else 0, n),
    }


def attribution(
    columns: Mapping[str, Column],
    keys: Keys,
    target: str,
    exclusions: Exclusions | None = None,
    tau: float = 1.0,
    classes: tuple[int, int] = (1, 0),
) -> Attribution:
    """Measure what the keys tell of a target.

    Parameters
    ----------
    columns, keys
        From `encode` and `paste`.
    target
        Variable that the intruder wants to know.
    exclusions
        Cells that do not count.
    tau
        Share of one target level among records of the same keys from which it is believed.
    classes
        Smallest and largest number of records with the same keys that are acted on; 0: no limit.
    """
    column, out = columns[target], exclusions or Exclusions()
    people, held = keys.sides
    mine = column.codes[people]
    begin, level, d, s = kernel.tabulate(
        keys.start_d,
        keys.order_d,
        mine,
        keys.start_s,
        keys.order_s,
        column.codes[held],
        column.size,
    )
    key = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    excluded = out.flags(columns, keys, column, key, level)
    disclosive = np.empty(len(d), dtype=np.int64)
    sums = kernel.sum_cells(begin, d, s, excluded, out.largest, tau, *classes, disclosive)
    n_d, n_s = len(keys.order_d), len(keys.order_s)
    base = 100 * float(((np.bincount(mine, minlength=column.size) / n_d) ** 2).sum())
    found = {
        "Dorig": Share(int(sums[kernel.DORIG]), n_d),
        "Dsyn": Share(int(sums[kernel.DSYN]), n_s),
        "iS": Share(int(sums[kernel.IS]), n_d),
        "DiS": Share(int(sums[kernel.DIS]), n_d),
        "DiSCO": Share(int(sums[kernel.DISCO]), n_d),
        "DiSDiO": Share(int(sums[kernel.DISDIO]), n_d),
        "TCAP over all": Share(int(sums[kernel.DISCO]), n_d),
        "TCAP over matched": Share(int(sums[kernel.DISCO]), int(sums[kernel.IS])),
        "TCAP over disclosive": Share(int(sums[kernel.DISCO]), int(sums[kernel.DIS])),
    }
    matched = sums[kernel.IS]
    rates = {
        "baseCAPd": base,
        "CAPd": 100 * sums[kernel.CAPD] / n_d,
        "CAPs": 100 * sums[kernel.CAPS] / n_s,
        "DCAP": 100 * sums[kernel.DCAP] / n_d,
        "DCAP over matched": 100 * sums[kernel.DCAP] / matched if matched else UNDEFINED,
        **{
            f"{name}, calibrated": calibrated(found[name].value, base)
            for name in ("TCAP over all", "TCAP over matched", "TCAP over disclosive")
        },
        "largest denominator": sums[kernel.LARGEST] if sums[kernel.CELLS] else UNDEFINED,
        "mean denominator": sums[kernel.DISCO] / sums[kernel.CELLS]
        if sums[kernel.CELLS]
        else UNDEFINED,
    }
    cells = Cells(key, level, d, s, disclosive)
    plain = {name: float(value) for name, value in rates.items()}
    return Attribution(target, keys.names, people, held, found, plain, cells)


def calibrated(value: float, base: float) -> float:
    """Scale per cent so that guessing from the distribution of the target is 0."""
    return 100 * (value - base) / (100 - base) if base < 100 else UNDEFINED
