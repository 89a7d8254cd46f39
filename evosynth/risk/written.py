"""Writes results: aggregates only, small counts withheld, undefined left undefined."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Collection, Hashable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.errors import FolderError
from evosynth.risk.measures import Share
from evosynth.risk.protocol import MEAN, interval
from evosynth.risk.withheld import (
    SUPPRESSED,
    by_target,
    hidden,
    of_checks,
    of_protocol,
    smaller,
    withheld,
)
from evosynth.risk.words import MEANING

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.risk.assessment import Assessment

JSON, CSV, SUBSETS = "risk.json", "risk.csv", "risk-subsets.csv"
PICTURES = tuple(
    f"{name}.{kind}"
    for name in ("risk-disclosure", "risk-tcap", "risk-utility")
    for kind in ("png", "svg")
)
FILES = (JSON, CSV, SUBSETS, *PICTURES)
_ATTRIBUTION = ("Dorig", "Dsyn", "iS", "DiS", "DiSCO", "DiSDiO")
_DENOMINATORS = ("largest denominator", "mean denominator")
_CAPS = ("baseCAPd", "CAPd", "CAPs", "DCAP", "DCAP over matched")
_TCAPS = ("TCAP over all", "TCAP over matched", "TCAP over disclosive")
_SIDES = {
    "original": ("UiO", "UiOiS", "repU", "Dorig", "iS", "DiS", "DiSCO", "DiSDiO"),
    "synthetic": ("UiS", "Dsyn"),
}
_WORST = 20


def rows(found: Assessment) -> Iterator[dict[str, Any]]:
    """Give every figure in a row of its own."""
    for row, _ in _rows(found):
        yield row


def _rows(found: Assessment) -> Iterator[tuple[dict[str, Any], bool]]:
    """Give every figure in a row of its own, and whether it is withheld."""
    rng = np.random.default_rng(found.settings.seed)
    keys = " ".join(found.keys)
    empty = {"low": math.nan, "high": math.nan, "count": math.nan, "of": math.nan}
    out = by_target(found)

    def row(target: str, name: str, value: float, **more: float) -> tuple[dict[str, Any], bool]:
        about = {"comparison": "original -> synthetic", "keys": keys, "target": target}
        return {**about, "measure": name, "value": value, **empty, **more}, name in out[target]

    for name, share in {**found.identity, **found.near}.items():
        yield row("", name, share.value, count=share.count, of=share.of)
    for line in found.anonymity:
        for side in ("original", "synthetic"):
            share = Share(line[side], found.records[side])
            told = smaller(side, line["k"])
            yield row("", told, share.value, count=share.count, of=share.of)
    for target, one in found.attributions.items():
        for name, share in one.shares.items():
            among = found.records["synthetic" if name == "Dsyn" else "original"]
            low, high = interval(share, among, found.settings, rng)
            counts = {"count": share.count, "of": share.of}
            yield row(target, name, share.value, low=low, high=high, **counts)
        for name, value in one.rates.items():
            yield row(target, name, value)
    if found.protocol is not None:
        for line in found.protocol.rows:
            about = {
                "comparison": line["comparison"],
                "keys": "all others",
                "target": line["target"],
            }
            counts = {"count": _number(line["correct"]), "of": _number(line["disclosive"])}
            ends = {"low": _number(line["low"]), "high": _number(line["high"])}
            name = "TCAP over disclosive"
            small, bare = of_protocol(found, line)
            yield {**about, "measure": name, "value": line["raw"], **ends, **counts}, small
            told = f"{name}, calibrated"
            scaled = {**about, "measure": told, "value": line["calibrated"], **empty}
            yield scaled, small or bare


def summary(found: Assessment) -> dict[str, Any]:
    """Everything that is written, as plain values."""
    most, settings = found.threshold, found.settings

    small = by_target(found)

    def of(target: str, name: str, value: float) -> float | str | None:
        return SUPPRESSED if name in small[target] else _plain(value)

    def count(name: str, value: float) -> int | str:
        if name not in small[""]:
            return int(value)
        return f"below {most}" if hidden(most, value) else SUPPRESSED

    out = settings.exclusions
    rng = np.random.default_rng(settings.seed)
    told: dict[str, Any] = {
        "verdict": _verdict(found),
        "keys": ", ".join(found.keys),
        **{f"{side}_records": n for side, n in found.records.items()},
        "excluded": "; ".join(_excluded(out)) or "nothing",
        "believed_from_a_share_of": settings.tau,
        "counts_withheld_below": most or "none",
    }
    if settings.classes != (1, 0):
        low, high = settings.classes
        told["records_of_the_same_keys"] = f"{low} to {high}" if high else f"{low} or more"
    told["identity"] = [
        {
            "measure": name,
            "meaning": MEANING[name].replace(
                "p %", f"{found.p:g} %" if found.p is not None else ""
            ),
            "per_cent": of("", name, share.value),
            "records": count(name, share.count),
        }
        for name, share in {**found.identity, **found.near}.items()
    ]
    told["k_anonymity"] = [
        {
            "k": row["k"],
            **{
                f"{side}_records_in_smaller_groups": count(smaller(side, row["k"]), row[side])
                for side in ("original", "synthetic")
            },
        }
        for row in found.anonymity
    ]
    told["attribution"], told["correct_attribution"], told["TCAP"] = [], [], []
    for target, one in found.attributions.items():
        values = {name: of(target, name, value) for name, value in one.values.items()}
        told["attribution"].append(
            {"target": target, **{name: values[name] for name in (*_ATTRIBUTION, *_DENOMINATORS)}}
        )
        told["correct_attribution"].append(
            {"target": target, **{name: values[name] for name in _CAPS}}
        )
        told["TCAP"].append(_tcaps(found, target, values, rng))
    one_way, two_way = of_checks(found, small)
    told["one_way_checks"] = [*map(_counted, found.one_way, one_way)]
    told["two_way_checks"] = [*map(_counted, found.two_way, two_way)]
    if found.protocol is not None:
        told["protocol"] = [_protocol_row(row, found) for row in found.protocol.rows]
        small_targets = _small(found)
        told["people_inside_and_outside"] = [
            {
                k: SUPPRESSED if row["target"] in small_targets and k in _FIGURES else _plain(v)
                for k, v in row.items()
            }
            for row in found.protocol.differences
        ]
    if found.subsets is not None:
        told["riskiest_key_subsets"] = _worst(found, found.subsets)
    if found.compared is not None:
        told.update(found.compared.summary())
    told["definitions"] = [
        {"measure": name, "per_cent_of": text}
        for name, text in MEANING.items()
        if "p %" not in text
    ]
    return told


_FIGURES = {"inside", "outside", "difference", "low", "high"}
_INSIDE_AND_OUTSIDE = ("original -> synthetic", "holdout -> synthetic")


def _tcaps(
    found: Assessment, target: str, values: Mapping[str, Any], rng: np.random.Generator
) -> dict[str, Any]:
    row: dict[str, Any] = {"target": target}
    for name in _TCAPS:
        scaled = f"{name}, calibrated"
        row |= {name: values[name], scaled: values[scaled]}
    share = found.attributions[target].shares[name]
    low, high = interval(share, found.records["original"], found.settings, rng)
    for end, value in (("low", low), ("high", high)):
        row[f"{name}, {end}"] = SUPPRESSED if values[name] == SUPPRESSED else _plain(value)
    row["baseline"] = values["baseCAPd"]
    return row


def _protocol_row(row: Mapping[str, Any], found: Assessment) -> dict[str, Any]:
    """Withhold what rests on small counts."""
    small, bare = of_protocol(found, row)
    figures = {"raw", "low", "high", "calibrated", "correct", "disclosive"} if small else set()
    figures |= {"calibrated", "baseline"} if bare else set()
    if row["target"] == MEAN:
        row = {k: "" if v is None else v for k, v in row.items()}
    return {k: SUPPRESSED if k in figures else _plain(v) for k, v in row.items()}


def _small(found: Assessment) -> set[str]:
    """Targets of which the comparison of people inside and outside rests on small counts."""
    lines = found.protocol.rows if found.protocol is not None else []
    compared = [row for row in lines if row["comparison"] in _INSIDE_AND_OUTSIDE]
    return {row["target"] for row in compared if of_protocol(found, row)[0]}


def _verdict(found: Assessment) -> str:
    """Return the verdict, or that its figures are withheld."""
    if found.protocol is None or not found.protocol.differences:
        return found.verdict
    row = found.protocol.differences[0]
    if row["target"] not in _small(found):
        return found.verdict
    return (
        f"Figures of people inside and outside the data rest on fewer than {found.threshold} "
        f"records for {row['target']} and are withheld."
    )


def _excluded(out: Any) -> list[str]:
    found = [f"{name}={level}" for name, level in out.levels]
    found += [f"{key}={a}&{name}={b}" for key, a, name, b in out.pairs]
    found += ["missing targets"] * out.missing_targets + ["missing keys"] * out.missing_keys
    return found + ([f"cells of more than {out.largest}"] if out.largest else [])


def _counted(row: Mapping[str, Any], small: bool) -> dict[str, Any]:
    """Withhold the counts of a check, and the shares that tell them."""
    return {
        k: SUPPRESSED if small and isinstance(v, int | float) else _plain(v) for k, v in row.items()
    }


def _worst(found: Assessment, table: pd.DataFrame) -> list[dict[str, Any]]:
    """Key subsets by what they disclose correctly."""
    order = table["DiSCO"].sort_values(ascending=False, kind="stable").index[:_WORST]
    names = ["keys", "target", "repU", "DiSCO", *_TCAPS, "baseCAPd"]
    names += [name for name in ("outside", "difference", "difference, low") if name in table]
    told = visible(found, table).loc[order, names].to_dict("records")
    return [{str(k): _plain(v) for k, v in row.items()} for row in told]


def visible(found: Assessment, table: pd.DataFrame) -> pd.DataFrame:
    """Return key subsets without shares that tell a small count."""
    shown = table.astype(object).where(table.notna(), None)
    if not found.threshold:
        return shown
    names = list(table.columns[2:])
    sides = {name: side for side, measures in _SIDES.items() for name in measures}
    marks = np.zeros((len(table), len(names)), dtype=np.bool_)
    for place, row in enumerate(table[names].to_dict("records")):
        counts = {k: round(row[k] * found.records[side] / 100) for k, side in sides.items()}
        rates = {str(name): float(value) for name, value in row.items()}
        out = withheld(found.threshold, {**found.records, **counts}, rates)
        if "outside" in row:
            out |= _withheld_outside(found, row, out)
        marks[place] = [name in out for name in names]
    shown[names] = shown[names].mask(marks, SUPPRESSED)
    return shown


def _withheld_outside(
    found: Assessment, row: Mapping[Hashable, Any], out: Collection[str]
) -> set[str]:
    """Tell which figures of people outside are withheld from a row of key subsets."""
    correct, told = row["outside, correct"], row["outside, disclosive"]
    rest = found.records["holdout"] - told if told else 0
    small = hidden(found.threshold, correct, told, told - correct, rest)
    differences = {name for name in map(str, row) if name.startswith("difference")}
    theirs = {name for name in map(str, row) if name.startswith("outside")}
    if small:
        return theirs | differences
    return differences if "TCAP over disclosive" in out else set()


def fill(found: Assessment, folder: Path, pictures: bool = False) -> None:
    """Write the files of an assessment into a folder that is there."""
    told = summary(found)
    if pictures:
        from evosynth.risk.pictures import save as save_picture

        drawn = [save_picture(figure, folder / name) for name, figure in found.pictures().items()]
        told["pictures"] = [file.name for files in drawn for file in files]
    text = json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / JSON).write_text(text + "\n", encoding="utf-8", newline="\n")
    table = found.tidy.astype(object)
    small = np.array([withheld_ for _, withheld_ in _rows(found)])
    table = table.where(found.tidy.notna(), "undefined")
    table.loc[found.tidy["count"].isna(), ["count", "of"]] = ""
    table.loc[found.tidy["low"].isna() & found.tidy["value"].notna(), ["low", "high"]] = ""
    cells = table[["value", "low", "high", "count", "of"]]
    table[cells.columns] = cells.mask((cells != "") & small[:, None], SUPPRESSED)
    table.to_csv(folder / CSV, index=False, lineterminator="\n")
    if found.subsets is not None:
        shown = visible(found, found.subsets)
        shown = shown.where(shown.notna(), "undefined")
        shown.to_csv(folder / SUBSETS, index=False, lineterminator="\n")


def save(found: Assessment, folder: Path, force: bool, pictures: bool = False) -> Path:
    """Write aside first, then move into place."""
    from evosynth.place import move
    from evosynth.write import ready

    ready(folder, force)
    staging = None
    try:
        where = folder if folder.exists() else folder.parent
        where.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".evosynth.", dir=where))
        fill(found, staging, pictures)
        written = {file.name for file in staging.iterdir()}
        move(staging, folder, remove=[name for name in (SUBSETS, *PICTURES) if name not in written])
    except OSError as error:
        raise FolderError(f"{folder}: cannot be written: {error.strerror or error}") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
    return folder


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; what is not a number is nothing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
