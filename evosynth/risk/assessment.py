"""One call for all measures: codes the data, goes through targets and key subsets, adds checks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evosynth.errors import RiskError, shown, suggest
from evosynth.risk import checks, exclusions, measures, protocol
from evosynth.risk.coding import Bins, Column, apart, encode
from evosynth.risk.keys import Keys, paste
from evosynth.risk.measures import Attribution, Share
from evosynth.risk.methods import METHODS, Method
from evosynth.risk.protocol import Protocol, Settings
from evosynth.risk.reading import frame_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from evosynth.risk.compared import Compared

PEOPLE = ("original", "synthetic")


@dataclass(frozen=True)
class Assessment:
    """Every measure of one synthetic data set.

    Attributes
    ----------
    keys, targets
        Variables that an intruder knows, and wants to know.
    records
        By data set.
    identity
        Shares of unique records, by measure.
    anonymity
        Records whose keys fewer than k records share.
    attributions
        By target.
    one_way, two_way
        Disclosures that need no synthetic data.
    near
        Replicated uniques within p per cent; empty where no p was given.
    subsets
        Measures of every key subset and target, where asked for.
    protocol
        The founding protocol, where asked for or a holdout was given.
    """

    keys: tuple[str, ...]
    targets: tuple[str, ...]
    records: Mapping[str, int]
    settings: Settings
    identity: Mapping[str, Share]
    anonymity: Sequence[Mapping[str, int]]
    attributions: Mapping[str, Attribution]
    one_way: Sequence[Mapping[str, Any]]
    two_way: Sequence[Mapping[str, Any]]
    near: Mapping[str, Share] = field(default_factory=dict)
    p: float | None = None
    subsets: pd.DataFrame | None = None
    protocol: Protocol | None = None
    threshold: int = 0
    """Counts from 1 to below this are not written."""
    compared: Compared | None = None
    """Utility, group disclosure of tables and places on a risk-utility map, where asked for."""

    @property
    def verdict(self) -> str:
        """Whether people in the data are at more risk than people outside it, in plain words."""
        if self.protocol is None:
            return protocol.verdict("", [], self.settings.level)
        return self.protocol.verdict

    @cached_property
    def table(self) -> pd.DataFrame:
        """Attribution measures in per cent: one row per target, one column per measure."""
        import pandas as pd

        rows = [{"target": name, **found.values} for name, found in self.attributions.items()]
        return pd.DataFrame(rows).set_index("target")

    @cached_property
    def tidy(self) -> pd.DataFrame:
        """Every figure in a row of its own, with counts and intervals."""
        import pandas as pd

        from evosynth.risk.written import rows

        return pd.DataFrame(rows(self))

    def summary(self) -> dict[str, Any]:
        """Return what ``risk.json`` says."""
        from evosynth.risk.written import summary

        return summary(self)

    def pictures(self) -> dict[str, Figure]:
        """Draw bars of disclosure, TCAP beside baselines and the risk-utility map, as there are."""
        from evosynth.risk.pictures import drawn

        return drawn(self.summary(), None if self.compared is None else self.compared.points)

    def save(
        self, folder: str | os.PathLike[str], *, force: bool = False, pictures: bool = False
    ) -> Path:
        """Write ``risk.json`` and ``risk.csv``, with key subsets and pictures where asked for."""
        from evosynth.risk.written import save

        return save(self, Path(folder), force, pictures)


def assess(
    synthetic: pd.DataFrame | str | os.PathLike[str],
    original: pd.DataFrame | str | os.PathLike[str],
    *,
    keys: Sequence[str],
    target: str | None = None,
    targets: Sequence[str] | str = (),
    holdout: pd.DataFrame | str | os.PathLike[str] | None = None,
    general: pd.DataFrame | str | os.PathLike[str] | None = None,
    bins: Mapping[str, Bins] | None = None,
    categorical: Sequence[str] | str = (),
    exclude: Sequence[str] | str = (),
    largest: int = 0,
    tau: float = 1.0,
    classes: tuple[int, int] = (1, 0),
    p: float | None = None,
    confidential: Sequence[str] = (),
    subsets: int | None = None,
    founding: bool | None = None,
    level: float = 0.95,
    bootstrap: int = 0,
    seed: int = 1,
    threshold: int = 0,
    utility: bool = False,
    models: Sequence[str] = (),
) -> Assessment:
    """Measure what synthetic data disclose of the people in the original.

    Parameters
    ----------
    synthetic, original
        Data frames, or files in any of our formats.
    keys
        Variables that an intruder knows of a person.
    target, targets
        Variables that the intruder wants to know; ``"all"`` for every variable that is no key.
        ``target`` is the outcome of the founding protocol, the first one if not given.
    holdout
        People of the same population who are not in the original.
    general
        Another synthetic version of the original to compare with, or how to make one: ``"cart"``,
        ``"margins"``, ``"normal"``, ``"nonnormal"`` (by the groups of the outcome).
    bins
        Numeric variables by a number of groups of equal size, or by cut points.
    categorical
        Numeric variables of which each number is a level; ``"all"`` for all of them.
    exclude
        What does not count as a disclosure: ``"TARGET=level"``, ``"KEY=level&TARGET=level"``,
        ``"missing-targets"``, ``"missing-keys"``.
    largest
        Largest cell of keys and target that counts; 0 for no limit.
    tau
        Share of one target level within the same keys from which an intruder believes it.
    classes
        Smallest and largest number of records of the same keys that an intruder acts on; 0: any.
    p, confidential
        Replicated uniques with a confidential number within p per cent are counted; the numeric
        targets if none are named.
    subsets
        Measure every subset of the keys of this size, too.
    founding
        Whether to run the founding protocol; where there is a holdout if not given.
    level, bootstrap, seed
        Confidence level; rounds of the bootstrap, 0 for exact intervals; seed of its draws and of
        a general version that is made.
    threshold
        Counts from 1 to below this are not written to files.
    utility, models
        Whether to measure utility and group disclosure of tables, too; formulas of regressions
        to compare, such as ``"CARS ~ AGE + TENURE"``.
    """
    method = general if isinstance(general, str) and general in METHODS else None
    given = {"original": original, "synthetic": synthetic, "holdout": holdout}
    if method is None:
        given["general"] = general
    frames = {label: frame_of(data) for label, data in given.items() if data is not None}
    keys, wanted = _names(frames["original"], keys, target, targets)
    _sound(keys, wanted, tau, classes, p, subsets, level, bootstrap, threshold)
    outcome = target or wanted[0]
    declared = [categorical] if isinstance(categorical, str) else list(categorical)
    _declared(frames, declared, p, confidential)
    if method is not None:
        told = [*keys, *wanted, *named_in(models, frames["original"])]
        base = frames["original"][list(dict.fromkeys(told))]
        frames["general"] = _made(method, base, outcome, declared, bins or {}, seed)
    columns = encode(frames, [*keys, *wanted], bins, declared)
    if faults := apart(columns, bins or {}):
        raise RiskError("\n".join(faults))
    out = exclusions.read([exclude] if isinstance(exclude, str) else exclude, columns, largest)
    settings = Settings(tau, (classes[0], classes[1]), out, level, bootstrap, seed)
    pasted = paste(columns, keys, PEOPLE)
    found = {name: measure(columns, pasted, name, settings) for name in wanted}
    run = founding if founding is not None else holdout is not None
    return Assessment(
        tuple(keys),
        tuple(wanted),
        {label: len(frame) for label, frame in frames.items()},
        settings,
        measures.identity(pasted),
        measures.anonymity(pasted),
        found,
        [row for one in found.values() for row in checks.one_way(columns, one)],
        [row for one in found.values() for row in checks.two_way(columns, pasted, one)],
        {} if p is None else _near(frames, pasted, p, confidential or wanted, bool(confidential)),
        p,
        None if subsets is None else subset_table(columns, keys, wanted, subsets, settings),
        protocol.run(columns, outcome, keys, settings) if run else None,
        threshold,
        _compared(
            frames,
            columns,
            (keys, wanted, outcome),
            settings,
            binned=bins or {},
            categorical=declared,
            models=models,
            threshold=threshold,
        )
        if utility or models
        else None,
    )


def measure(
    columns: Mapping[str, Column], keys: Keys, target: str, settings: Settings
) -> Attribution:
    """Measure one target under the settings."""
    return measures.attribution(
        columns, keys, target, settings.exclusions, settings.tau, settings.classes
    )


def subset_table(
    columns: Mapping[str, Column],
    keys: Sequence[str],
    targets: Sequence[str],
    size: int,
    settings: Settings,
) -> pd.DataFrame:
    """Measure every target under every subset of the keys of one size.

    With a holdout, TCAP over disclosive keys is measured for people outside the data as well.
    """
    import pandas as pd

    rows = []
    outside = "holdout" in columns[keys[0]].codes
    for chosen in combinations(keys, size):
        pasted = paste(columns, chosen, PEOPLE)
        known = measures.identity(pasted)
        identity = {name: share.value for name, share in known.items()}
        others = paste(columns, chosen, ("holdout", "synthetic")) if outside else None
        for target in targets:
            found = measure(columns, pasted, target, settings)
            row = {"keys": " ".join(chosen), "target": target, **identity, **found.values}
            if others is not None:
                theirs = measure(columns, others, target, settings).shares[protocol.MEASURE]
                row |= protocol.outside(found.shares[protocol.MEASURE], theirs, settings.level)
            rows.append(row)
    return pd.DataFrame(rows)


def named_in(models: Sequence[str], original: pd.DataFrame) -> list[str]:
    """List the variables of formulas that the original has; faults are told later."""
    from evosynth.formula import parse

    found: list[str] = []
    for text in models:
        with suppress(ValueError):
            found += [name for name in parse(text).variables if name in original.columns]
    return found


def _made(
    method: Method,
    original: pd.DataFrame,
    outcome: str,
    declared: Sequence[str],
    bins: Mapping[str, Bins],
    seed: int,
) -> pd.DataFrame:
    """Draw a general synthetic version, by the groups of an outcome that has few values."""
    from evosynth.risk.comparators import synthesise

    groups = [] if outcome in bins else [outcome]
    names = list(original.columns)
    codes = [n for n in names if n not in bins and (n in declared or "all" in declared)]
    return synthesise(method, original, seed=seed, by=groups, categories=codes)


def _compared(
    frames: Mapping[str, pd.DataFrame],
    columns: Mapping[str, Column],
    names: tuple[Sequence[str], Sequence[str], str],
    settings: Settings,
    **how: Any,
) -> Compared:
    from evosynth.risk.compared import compare

    return compare(frames, columns, *names, settings, **how)


def _names(
    original: pd.DataFrame, keys: Sequence[str], target: str | None, targets: Sequence[str] | str
) -> tuple[list[str], list[str]]:
    """List keys and targets, each once; the outcome first."""
    known = [str(name) for name in original.columns]
    every = targets == "all" or list(targets) == ["all"]
    named = [] if every else [targets] if isinstance(targets, str) else list(targets)
    keys = list(dict.fromkeys([keys] if isinstance(keys, str) else keys))
    wanted = [target, *named] if target is not None else named
    if every:
        wanted += [name for name in known if name not in keys]
    wanted = list(dict.fromkeys(wanted))
    problems = [
        f"{shown(name)!r} is a key and a target; choose one" for name in wanted if name in keys
    ]
    problems += [
        f"the original data have no column {shown(name)!r}{suggest(name, known)}"
        for name in [*keys, *wanted]
        if name not in known
    ]
    if not keys:
        problems.append("keys: name at least one variable that an intruder may know")
    if not wanted:
        problems.append(
            "targets: name at least one variable that an intruder wants to know, or all"
        )
    if problems:
        raise RiskError("\n".join(problems))
    return keys, wanted


def _sound(
    keys: Sequence[str],
    targets: Sequence[str],
    tau: float,
    classes: tuple[int, int],
    p: float | None,
    subsets: int | None,
    level: float,
    bootstrap: int,
    threshold: int,
) -> None:
    """Raise `RiskError` with everything that is wrong with the settings."""
    problems = [
        f"{name}: expected a whole number, not {shown(repr(value))}"
        for name, value in (
            ("threshold", threshold),
            ("bootstrap", bootstrap),
            ("subsets", subsets),
        )
        if not isinstance(value, int | np.integer | None)
    ]
    problems += [
        f"{name}: expected a number, not {shown(repr(value))}"
        for name, value in (("tau", tau), ("level", level), ("p", p))
        if not isinstance(value, int | float | np.number | None)
    ]
    if not isinstance(classes, Sequence) or not all(
        isinstance(k, int | np.integer) for k in classes
    ):
        problems.append(f"classes: expected two whole numbers, not {shown(repr(classes))}")
    if problems:
        raise RiskError("\n".join(problems))
    if not 0.5 < tau <= 1:
        problems.append(
            "tau: must be above 0.5 and at most 1, so that one level at most reaches it"
        )
    if len(classes) != 2 or classes[0] < 1 or (classes[1] != 0 and classes[1] < classes[0]):
        problems.append("classes: give the smallest (1 or more) and the largest size, or 0 for any")
    if p is not None and not p >= 0:
        problems.append("p: must be per cent, 0 or more")
    if subsets is not None and not 1 <= subsets <= len(keys):
        problems.append(f"subsets: there are {len(keys)} keys; choose a size from 1 to {len(keys)}")
    if not 0 < level < 1:
        problems.append("level: must be between 0 and 1, such as 0.95")
    if bootstrap < 0:
        problems.append("bootstrap: must be a number of rounds, 0 for exact intervals")
    if threshold < 0:
        problems.append("threshold: must be 0 or more")
    if problems:
        raise RiskError("\n".join(problems))


def _declared(
    frames: Mapping[str, pd.DataFrame],
    categorical: Sequence[str],
    p: float | None,
    confidential: Sequence[str],
) -> None:
    """Raise `RiskError` with names that nothing would come of."""
    known = list(dict.fromkeys(str(name) for frame in frames.values() for name in frame.columns))
    problems = [
        f"categorical: the data have no column {shown(name)!r}{suggest(name, known)}"
        for name in categorical
        if name not in known and name != "all"
    ]
    if confidential and p is None:
        problems.append("confidential: of use only with p, the per cent within which values count")
    if problems:
        raise RiskError("\n".join(problems))


def _near(
    frames: Mapping[str, pd.DataFrame], keys: Keys, p: float, names: Sequence[str], asked: bool
) -> dict[str, Share]:
    """Compare confidential numbers of replicated uniques."""
    import pandas as pd

    values: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    for name in names:
        pair = []
        for side in PEOPLE:
            if name not in frames[side].columns:
                raise RiskError(f"confidential: the {side} data have no column {shown(name)!r}")
            column = frames[side][name]
            if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
                pair.append(column.to_numpy(dtype=float, na_value=np.nan))
        if len(pair) == 2:
            values[name] = pair[0], pair[1]
        elif asked:
            raise RiskError(f"confidential: {name!r} holds no numbers; the p % rule is of numbers")
    if not values:
        raise RiskError("p: no target is a number; name numeric variables with --confidential")
    return measures.near(keys, values, p)
