"""The founding protocol: the risk of people in the data beside that of people outside it.

Elliot, Little & Allmendinger (2024), Tables 10 and 11: each comparison asks what a second data set
tells of the people of a first one, as TCAP over disclosive keys; the outcome is the target first,
then every other variable in turn, given all the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evosynth.risk import intervals
from evosynth.risk.coding import Column
from evosynth.risk.exclusions import Exclusions
from evosynth.risk.keys import paste
from evosynth.risk.measures import Share, attribution, calibrated

MEASURE = "TCAP over disclosive"
MEAN = "mean of the others"
PAIRS = (
    ("original", "synthetic"),
    ("holdout", "synthetic"),
    ("original", "general"),
    ("original", "original"),
)


@dataclass(frozen=True)
class Settings:
    """How shares are taken and how sure they are."""

    tau: float = 1.0
    classes: tuple[int, int] = (1, 0)
    exclusions: Exclusions = Exclusions()
    level: float = 0.95
    bootstrap: int = 0
    """Rounds; 0 for exact intervals."""
    seed: int = 1


@dataclass(frozen=True)
class Protocol:
    """What the protocol found."""

    rows: list[dict[str, Any]]
    """One per target and comparison."""
    differences: list[dict[str, Any]]
    """People in the data less people outside it, one per target; none without a holdout."""
    verdict: str


def run(
    columns: Mapping[str, Column],
    target: str,
    keys: Sequence[str],
    settings: Settings,
) -> Protocol:
    """Go through the outcome, then every other variable as target with all others as keys."""
    frames = set(columns[target].codes)
    pairs = [pair for pair in PAIRS if frames >= set(pair)]
    rng = np.random.default_rng(settings.seed)
    everything = [target, *keys]
    rows: list[dict[str, Any]] = []
    shares: dict[str, dict[tuple[str, str], Share]] = {}
    for name in everything:
        theirs = [other for other in everything if other != name]
        shares[name] = {}
        for pair in pairs:
            pasted = paste(columns, theirs, pair)
            how = settings.exclusions, settings.tau, settings.classes
            found = attribution(columns, pasted, name, *how)
            share = found.shares[MEASURE]
            shares[name][pair] = share
            # People outside are measured against guessing for people inside, as in the paper.
            base = (
                rows[-1]["baseline"] if shares[name].keys() != {pair} else found.rates["baseCAPd"]
            )
            low, high = interval(share, len(columns[name].codes[pair[0]]), settings, rng)
            rows.append(
                {
                    "comparison": " -> ".join(pair),
                    "target": name,
                    "raw": share.value,
                    "low": low,
                    "high": high,
                    "calibrated": calibrated(share.value, base),
                    "baseline": base,
                    "correct": int(share.count),
                    "disclosive": int(share.of),
                }
            )
    if len(keys) > 1:
        rows += _means(rows, keys, pairs)
    differences = _differences(shares, target, settings) if "holdout" in frames else []
    return Protocol(rows, differences, verdict(target, differences, settings.level))


def interval(
    share: Share, among: int, settings: Settings, rng: np.random.Generator
) -> tuple[float, float]:
    """Give the interval of a share of people, as the settings ask."""
    if settings.bootstrap:
        return intervals.bootstrap(share, among, settings.bootstrap, rng, settings.level)
    return intervals.exact(share, settings.level)


def outside(inside: Share, other: Share, level: float) -> dict[str, float]:
    """Put people outside the data beside people in it, who are at risk under the same keys."""
    low, high = intervals.difference(inside, other, level)
    return {
        "outside": other.value,
        "outside, correct": other.count,
        "outside, disclosive": other.of,
        "difference": inside.value - other.value,
        "difference, low": low,
        "difference, high": high,
    }


def _means(
    rows: list[dict[str, Any]], keys: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Average over the other variables, as in the last column of Table 11."""
    found = []
    for pair in pairs:
        name = " -> ".join(pair)
        mine = [row for row in rows if row["comparison"] == name and row["target"] in keys]
        mean = {
            k: float(np.mean([row[k] for row in mine])) for k in ("raw", "calibrated", "baseline")
        }
        empty = {"low": None, "high": None, "correct": None, "disclosive": None}
        found.append({"comparison": name, "target": MEAN, **mean, **empty})
    order = ["comparison", "target", "raw", "low", "high", "calibrated", "baseline"]
    return [{k: row[k] for k in [*order, "correct", "disclosive"]} for row in found]


def _differences(
    shares: Mapping[str, Mapping[tuple[str, str], Share]], target: str, settings: Settings
) -> list[dict[str, Any]]:
    """Compare people inside and outside; of the others, all intervals hold at once (Bonferroni)."""
    rows = []
    for name, found in shares.items():
        inside, outside = found["original", "synthetic"], found["holdout", "synthetic"]
        tests = 1 if name == target else max(1, len(shares) - 1)
        level = 1 - (1 - settings.level) / tests
        low, high = intervals.difference(inside, outside, level)
        known = bool(inside.of and outside.of)
        rows.append(
            {
                "target": name,
                "inside": inside.value,
                "outside": outside.value,
                "difference": inside.value - outside.value,
                "low": low,
                "high": high,
                "distinguishable": (low > 0 or high < 0) if known else None,
                "level": 100 * level,
            }
        )
    return rows


def verdict(target: str, differences: Sequence[Mapping[str, Any]], level: float) -> str:
    """Say in plain words whether people in the data are at more risk than people outside it."""
    if not differences:
        return (
            "Without a holdout nothing can be said of people outside the data; "
            "give one with --holdout."
        )
    first, others = differences[0], differences[1:]
    return " ".join([_outcome(target, first, level), *_rest(others, level)])


def _outcome(target: str, row: Mapping[str, Any], level: float) -> str:
    if row["distinguishable"] is None:
        return (
            f"Whether the risk for people in the data differs from that for people outside it is "
            f"undefined for {target}: the synthetic data are disclosive for none of them."
        )
    told = (
        f"what the synthetic data seem to disclose of {target} is right for {row['inside']:.1f} % "
        f"of the people in the data and {row['outside']:.1f} % of people outside it "
        f"(difference {row['difference']:+.1f} points, {100 * level:g} % interval "
        f"{row['low']:+.1f} to {row['high']:+.1f})"
    )
    if not row["distinguishable"]:
        start = "The risk for people in the data cannot be told from the risk for people outside it"
        return f"{start}: {told}."
    more = "higher" if row["difference"] > 0 else "lower"
    return f"The risk for people in the data is {more} than for people outside it: {told}."


def _rest(rows: Sequence[Mapping[str, Any]], level: float) -> list[str]:
    if not rows:
        return []
    known = [row for row in rows if row["distinguishable"] is not None]
    higher = [r["target"] for r in known if r["distinguishable"] and r["difference"] > 0]
    lower = [r["target"] for r in known if r["distinguishable"] and r["difference"] < 0]
    unknown = [row["target"] for row in rows if row["distinguishable"] is None]
    joint = f"(jointly at {100 * level:g} %)"
    found = []
    if known and not higher and not lower:
        found.append(f"Nor can it for any of the {len(known)} other targets {joint}.")
    if higher:
        found.append(f"It is higher for these other targets {joint}: {', '.join(higher)}.")
    if lower:
        found.append(f"It is lower for these other targets {joint}: {', '.join(lower)}.")
    if unknown:
        found.append(f"It is undefined for {', '.join(unknown)}.")
    return found
