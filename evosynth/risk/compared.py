"""Risk and utility together: every data set beside the original, and its place on a map."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.risk.coding import Column
from evosynth.risk.keys import paste
from evosynth.risk.measures import attribution, identity
from evosynth.risk.protocol import Settings
from evosynth.risk.tables import combine, disclosed_cells, is_quantity
from evosynth.risk.utility import Utility, map_points, utility
from evosynth.risk.withheld import SUPPRESSED, hidden, withheld

if TYPE_CHECKING:
    import pandas as pd

ORIGINAL = "original"


@dataclass(frozen=True)
class Compared:
    """What each data set beside the original is good for, and what its tables disclose."""

    utilities: Mapping[str, Utility]
    """By data set: ``synthetic``, ``holdout``, ``general``."""
    groups: Sequence[Mapping[str, Any]]
    """Group disclosure of keys by target, one row per data set and target; risk in per cent."""
    points: pd.DataFrame
    """Places on a risk-utility map, with DiSCO of the outcome in per cent as the risk."""

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON; nothing where undefined."""
        return {
            "utility": [
                {"data": label, **one.to_dict()["summary"]} for label, one in self.utilities.items()
            ],
            "regressions": [
                {"data": label, **row}
                for label, one in self.utilities.items()
                for row in one.to_dict()["regressions"]
            ],
            "group_disclosure": [
                {k: None if isinstance(v, float) and np.isnan(v) else v for k, v in row.items()}
                for row in self.groups
            ],
            "risk_utility_map": [
                {k: None if isinstance(v, float) and np.isnan(v) else v for k, v in row.items()}
                for row in self.points.to_dict("records")
            ],
        }


def compare(
    frames: Mapping[str, pd.DataFrame],
    columns: Mapping[str, Column],
    keys: Sequence[str],
    targets: Sequence[str],
    outcome: str,
    settings: Settings | None = None,
    *,
    binned: Collection[str] = (),
    categorical: Collection[str] = (),
    models: Sequence[str] = (),
    measure: str = "hellinger",
    threshold: int = 0,
) -> Compared:
    """Measure risk and utility of every data set that stands beside the original.

    Parameters
    ----------
    frames, columns
        Data sets by name, ``original`` among them, and their coded variables (``encode``).
    keys, targets, outcome
        What an intruder knows and wants to know, and the target whose DiSCO is the risk of a map.
    binned
        Numeric variables that were grouped for the keys. In tables of utility they are cut at
        quantiles; of all others each number is a level.
    categorical
        Numeric variables that are codes, ``all`` for all of them; others are correlated.
    models
        Formulas of regressions to compare.
    measure
        Of utility, for the map.
    threshold
        Counts from 1 to below this, and what tells them, are withheld.
    """
    how = settings or Settings()
    names = [*keys, *targets]
    numbers = [n for n in names if n not in binned and is_quantity(frames[ORIGINAL][n])]
    codes = numbers if "all" in categorical else list(categorical)
    others = [label for label in frames if label != ORIGINAL]
    utilities = {
        label: utility(
            frames[ORIGINAL],
            frames[label],
            variables=names,
            categories=codes,
            levels=numbers,
            models=models,
        )
        for label in others
    }
    groups, risks, small = [], {}, []
    for label in others:
        pair = (ORIGINAL, label)
        n = len(frames[ORIGINAL])
        key = combine([_stacked(columns[name], pair) for name in keys])
        for target in targets:
            codes_of = _stacked(columns[target], pair)
            found = disclosed_cells(key[:n], codes_of[:n], key[n:], codes_of[n:])
            row = {**asdict(found), "risk": 100 * found.risk}
            if hidden(threshold, found.common, found.synthetic, found.original):
                row = dict.fromkeys(row, SUPPRESSED)
            groups.append({"data": label, "target": target, **row})
        pasted = paste(columns, list(keys), pair)
        told = attribution(columns, pasted, outcome, how.exclusions, how.tau, how.classes)
        risks[label] = told.shares["DiSCO"].value
        shares = {**identity(pasted), **told.shares}
        counts = {k: v.count for k, v in shares.items()} | {"original": n}
        if "DiSCO" in withheld(threshold, {**counts, "synthetic": len(frames[label])}):
            small.append(label)
    points = map_points(risks, utilities, measure).astype({"risk": object})
    points.loc[points["label"].isin(small), "risk"] = SUPPRESSED
    return Compared(utilities, groups, points)


def _stacked(column: Column, pair: tuple[str, str]) -> Any:
    return np.concatenate([column.codes[side] for side in pair]).astype(np.int64)
