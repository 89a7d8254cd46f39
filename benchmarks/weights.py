"""Calibration of a million records to 50 totals, against other packages on the same problem.

`ipfn` and `samplics` are compared with where they are installed.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from report import parser, table, write

import evosynth

LEVELS = 5
Totals = dict[str, dict[int, float]]


def problem(records: int, variables: int) -> tuple[pd.DataFrame, Totals]:
    """Draw records of equal shares, and totals that are not."""
    rng = np.random.default_rng(1)
    names = [f"v{number}" for number in range(variables)]
    frame = pd.DataFrame({n: rng.integers(0, LEVELS, records).astype(np.int8) for n in names})
    totals = {}
    for name in names:
        share = rng.dirichlet(np.full(LEVELS, 30.0))
        totals[name] = dict(enumerate((60.0 * records * share).tolist()))
    return frame, totals


def ours(frame: pd.DataFrame, totals: Totals) -> Any:
    """Calibrate by Newton's method on the dual."""
    return evosynth.calibrate(frame, totals, method="raking").weights


def ipfn(frame: pd.DataFrame, totals: Totals) -> Any:
    """Rake with ipfn's data frames."""
    from ipfn.ipfn import ipfn as fitting

    weighted = frame.assign(total=60.0)
    sums = [pd.Series(own).rename_axis(name) for name, own in totals.items()]
    names = [[name] for name in totals]
    how = {"weight_col": "total", "convergence_rate": 1e-8, "max_iteration": 200}
    return fitting(weighted, sums, names, **how).iteration()["total"].to_numpy()


def samplics(frame: pd.DataFrame, totals: Totals) -> Any:
    """Rake with samplics."""
    from samplics.weighting import SampleWeight

    columns = {name: frame[name].to_numpy() for name in totals}
    how = {"tol": 1e-8, "ctrl_tol": 1e-8, "max_iter": 200}
    return SampleWeight().rake(np.full(len(frame), 60.0), columns, totals, **how)


def worst(frame: pd.DataFrame, totals: Totals, weights: Any) -> float:
    """Largest relative error of a total."""
    found = 0.0
    for name, own in totals.items():
        sums = np.bincount(frame[name], weights, LEVELS)
        found = max(found, float(np.abs(sums / np.array(list(own.values())) - 1).max()))
    return found


def main() -> None:
    """Time each in turn, several times over."""
    options = parser(__doc__)
    options.add_argument("--records", type=int, default=1_000_000)
    options.add_argument("--variables", type=int, default=10)
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    frame, totals = problem(given.records, given.variables)
    ways: dict[str, Callable[[pd.DataFrame, Totals], Any]] = {"evosynth": ours}
    others: dict[str, Callable[[pd.DataFrame, Totals], Any]] = {"ipfn": ipfn, "samplics": samplics}
    ways |= {name: way for name, way in others.items() if importlib.util.find_spec(name)}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    error: dict[str, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(given.rounds):
            for name, way in ways.items():
                begun = time.perf_counter()
                weights = way(frame, totals)
                seconds[name].append(time.perf_counter() - begun)
                error[name] = worst(frame, totals, weights)
    base = median(seconds["evosynth"])
    rows: list[dict[str, object]] = [
        {
            "package": name,
            "median, s": f"{median(seconds[name]):.2f}",
            "evosynth takes": f"{base / median(seconds[name]):.2f}",
            "largest relative error": f"{error[name]:.0e}",
        }
        for name in ways
    ]
    left_out = [name for name in others if name not in ways]
    note = f" Not installed, so not compared: {', '.join(left_out)}." if left_out else ""
    write(
        given,
        "Weights",
        f"Raking of {given.records:,} records to {LEVELS * given.variables} totals: "
        f"{given.variables} variables of {LEVELS} values, drawn at random. Coding of the values, "
        f"checks and diagnostics are part of the time. Median of {given.rounds} rounds in turn."
        + note,
        table(rows),
    )


if __name__ == "__main__":
    main()
