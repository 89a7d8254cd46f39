"""What is withheld where counts are small: they, what tells them, and differences of others.

The records that one measure counts are often among those of another (all records with disclosive
keys have keys that occur). Where both were shown, their difference would be a count as well. So
what is left of the nearest larger count that is shown may not be small either.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

from evosynth.risk.protocol import MEAN

if TYPE_CHECKING:
    from evosynth.risk.assessment import Assessment

SUPPRESSED = "suppressed"
_BARELY = 1e-6
"""What rounding leaves of expected counts."""

_Parts: TypeAlias = dict[tuple[str, str, str], tuple[int, list[int]]]
"""By key, its level and a level of the target: a count, and the checks that tell it."""
_AMONG = {
    "UiO": ("original",),
    "UiS": ("synthetic",),
    "UiOiS": ("UiO",),
    "repU": ("UiOiS", "UiS"),
    "within p % in at least one": ("repU",),
    "within p % in all": ("within p % in at least one",),
    "iS": ("original",),
    "DiS": ("iS",),
    "DiSCO": ("DiS",),
    "Dorig": ("original",),
    "DiSDiO": ("DiSCO", "Dorig"),
    "Dsyn": ("synthetic",),
}
"""By measure, whose records those that it counts are among; larger ones come first."""
_HOLDS = {
    "iS": ("UiOiS", "repU"),
    "DiS": ("repU",),
    "Dorig": ("UiO", "UiOiS", "repU"),
    "Dsyn": ("UiS",),
}
"""By measure of a target, others whose records are among those that it counts."""
_CROSSED = {"iS": (("iS", "UiO"), "UiOiS"), "DiSDiO": (("DiSCO", "Dorig"), "DiSDiO")}
"""By measure, two of the original and those who belong to both: with all records they tell how many
belong to neither."""
_GUESSED = {
    "CAPd": ("original", "Dorig"),
    "CAPs": ("synthetic", "Dsyn"),
    "DCAP": ("original", "DiSCO"),
}
"""By average of probabilities, whose records it is of, and those whose probability is 1: where
there are hardly any others, it tells their number."""
_RESTS_ON = {
    "perceived": ("repU",),
    "TCAP over all": ("DiSCO",),
    "TCAP over matched": ("DiSCO", "iS"),
    "TCAP over disclosive": ("DiSCO", "DiS"),
    "DCAP over matched": ("iS", "DCAP"),  # of which it is the ratio
    "largest denominator": ("DiSCO",),
    "mean denominator": ("DiSCO",),
}
"""By measure, the counts that it tells together with others that are shown."""
_SAME = {"original -> synthetic": "TCAP over disclosive", "original -> original": "Dorig"}
"""By comparison of the protocol, the measure of its outcome that has the same counts."""


def hidden(threshold: int, *counts: float | None) -> bool:
    """Whether one of several counts is too small to be shown."""
    return any(count is not None and _BARELY < count < threshold - _BARELY for count in counts)


def withheld(
    threshold: int, counts: Mapping[str, float], rates: Mapping[str, float] | None = None
) -> frozenset[str]:
    """Tell which measures of one assessment, target or key subset are withheld.

    Parameters
    ----------
    counts
        By measure, the records that it counts; ``original`` and ``synthetic`` are all records.
    rates
        Measures that count no records, in per cent; denominators among them.
    """
    rates = rates or {}
    out: set[str] = set()
    for name in _AMONG:
        if name not in counts:
            continue
        above = _shown(_AMONG[name], out, counts) if counts[name] else []
        rest = [counts[larger] - counts[name] for larger in above]
        if counts[name]:
            below = [one for one in _HOLDS.get(name, ()) if one in counts and one not in out]
            rest += [abs(counts[name] - counts[one]) for one in below if counts[one]]
        rest += _neither(name, out, counts)
        if hidden(threshold, counts[name], *rest):
            out.add(name)
    for name, (side, sure) in _GUESSED.items():
        expected = rates.get(name, math.nan) * counts[side] / 100
        known = abs(expected - counts.get(sure, math.nan)) < 1
        if hidden(threshold, expected) or (sure in out and known):
            out.add(name)
    out |= {name for name, parts in _RESTS_ON.items() if out & set(parts)}
    largest = rates.get("largest denominator", math.nan)
    if hidden(threshold, largest, counts.get("DiSCO", math.nan) - largest):
        out |= {"largest denominator", "mean denominator"}
    out |= {f"{name}, calibrated" for name in out}
    if rare(threshold, rates.get("baseCAPd", math.nan), counts["original"]):
        out |= {"baseCAPd", *(name for name in rates if name.endswith(", calibrated"))}
    return frozenset(out)


def smaller(side: str, k: int) -> str:
    """Name the count of records in groups of fewer than k."""
    return f"{side} records in groups of fewer than {k}"


def withheld_groups(
    threshold: int,
    anonymity: Sequence[Mapping[str, int]],
    records: Mapping[str, int],
    out: Iterable[str],
) -> frozenset[str]:
    """Tell which counts of k-anonymity are withheld, by their names; ``out`` are uniques that are.

    Groups of fewer than two are the uniques, so that what holds for these holds for those.
    """
    found = set()
    for side, uniques in (("original", "UiO"), ("synthetic", "UiS")):
        shown = 0
        for row in anonymity:
            rest = (row[side] - shown, records[side] - row[side]) if row[side] else ()
            if (uniques in out) if row["k"] == 2 else hidden(threshold, row[side], *rest):
                found.add(smaller(side, row["k"]))
            else:
                shown = row[side]
    return frozenset(found)


def by_target(found: Assessment) -> dict[str, frozenset[str]]:
    """Tell what is withheld, by target; uniques and groups under no name."""
    most, people = found.threshold, found.records
    shares = {**found.identity, **found.near}
    uniques = {**people, **{name: share.count for name, share in shares.items()}}
    known = withheld(most, uniques)
    out = {"": known | withheld_groups(most, found.anonymity, people, known)}
    for target, one in found.attributions.items():
        counts = {name: share.count for name, share in one.shares.items()}
        out[target] = withheld(most, {**uniques, **counts}, one.rates)
    return out


def of_protocol(found: Assessment, row: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether a row of the protocol is withheld, and whether its baseline is.

    A mean would tell the one part that is withheld.
    """
    if found.protocol is None:
        return False, False
    if row["target"] == MEAN:
        parts = [
            of_protocol(found, one)
            for one in found.protocol.rows
            if one["comparison"] == row["comparison"] and one["target"] in found.keys
        ]
        return any(small for small, _ in parts), any(bare for _, bare in parts)
    most, correct, told = found.threshold, row["correct"], row["disclosive"]
    people = found.records[row["comparison"].partition(" -> ")[0]]
    small = hidden(most, correct, told, told - correct, people - told if told else 0)
    if row["target"] in found.attributions:  # among whose measures are the same figures
        small = small or _SAME.get(row["comparison"], "") in by_target(found)[row["target"]]
    return small, rare(most, row["baseline"], found.records["original"])


def of_checks(
    found: Assessment, out: Mapping[str, Collection[str]]
) -> tuple[list[bool], list[bool]]:
    """Tell which one-way and which two-way checks are withheld.

    Rows are withheld for small counts of their own, for differences of any two, and one after the
    other until what is left of a whole by all rows that are shown is not small either.
    """
    rows = [*found.one_way, *found.two_way]
    least = [_least(row, found.records["original"]) for row in rows]
    small = [
        hidden(found.threshold, *differences) or "DiSCO" in out[row["target"]]
        for row, differences in zip(rows, least, strict=True)
    ]
    wholes = [*_wholes(found, small)]
    changed = bool(found.threshold)
    while changed:
        changed = False
        for whole, parts in wholes:
            shown = {k: part for k, part in parts.items() if not all(small[i] for i in part[1])}
            if shown and hidden(found.threshold, whole - sum(c for c, _ in shown.values())):
                _, places = min(shown.values(), key=lambda part: part[0])
                for place in places:
                    small[place] = changed = True
    return small[: len(found.one_way)], small[len(found.one_way) :]


def _least(row: Mapping[str, Any], everybody: int) -> list[float]:
    """List the counts of a row, and differences of any two of them."""
    counts = [v for k, v in row.items() if isinstance(v, int) and k != "cells"]
    return [*counts, *(abs(a - b) for a, b in combinations([*counts, everybody], 2))]


def _wholes(found: Assessment, small: Sequence[bool]) -> Iterator[tuple[float, _Parts]]:
    """Give counts that are known, with those of two-way checks that are parts of them."""
    first = len(found.one_way)
    rows = list(enumerate(found.two_way, start=first))

    def parts(same: Mapping[str, Any], count: str) -> _Parts:
        told: _Parts = {}
        for place, row in rows:
            if all(row[name] == value for name, value in same.items()):
                which = row["key"], row["key_level"], row["level"] * (count == "disclosive")
                told.setdefault(which, (row[count], []))[1].append(place)
        return told

    keys = list(dict.fromkeys(row["key"] for _, row in rows))
    for key in keys:
        yield found.records["original"], parts({"key": key}, "key_records")
    for target, one in found.attributions.items():
        yield one.shares["DiSCO"].count, parts({"target": target}, "disclosive")
    for place, line in enumerate(found.one_way):
        if small[place]:
            continue
        same = {"target": line["target"], "level": line["level"]}
        yield line["disclosive_of_level"], parts(same, "disclosive")
        for key in keys:
            yield line["level_records"], parts({**same, "key": key}, "key_and_level_records")


def rare(threshold: int, baseline: float, records: float) -> bool:
    """Whether guessing is so good that it tells how few people do not have the usual value.

    ``baseline`` is in per cent. Of two values, one of ``few`` people, it is the sum of both
    squared shares; of more values the formula finds fewer people yet.
    """
    if not baseline >= 50:
        return False
    few = records * (1 - math.sqrt(max(0.0, baseline / 50 - 1))) / 2
    return hidden(threshold, few)


def _neither(name: str, out: set[str], counts: Mapping[str, float]) -> list[float]:
    """How many of the original belong to neither of two measures, where that is told."""
    two, both = _CROSSED.get(name, ((), ""))
    if not two or not all(one in counts and one not in out for one in (*two, both)):
        return []
    return [counts["original"] - sum(counts[one] for one in two) + counts[both]]


def _shown(names: Iterable[str], out: set[str], counts: Mapping[str, float]) -> list[str]:
    """List the nearest larger counts that are shown."""
    found: list[str] = []
    for name in names:
        if name in counts and name not in out:
            found.append(name)
        else:
            found += _shown(_AMONG.get(name, ()), out, counts)
    return found
