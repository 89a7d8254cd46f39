"""Writes results: aggregates only, small counts withheld, undefined left undefined."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.errors import FolderError
from evosynth.risk.measures import Share
from evosynth.risk.protocol import MEAN, interval
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
SUPPRESSED = "suppressed"

_ATTRIBUTION = ("Dorig", "Dsyn", "iS", "DiS", "DiSCO", "DiSDiO")
_CAPS = ("baseCAPd", "CAPd", "CAPs", "DCAP", "DCAP over matched")
_TCAPS = ("TCAP over all", "TCAP over matched", "TCAP over disclosive")
_SIDES = {
    "original": ("UiO", "UiOiS", "repU", "Dorig", "iS", "DiS", "DiSCO", "DiSDiO"),
    "synthetic": ("UiS", "perceived", "Dsyn"),
}
_WORST = 20


def rows(found: Assessment) -> Iterator[dict[str, Any]]:
    """Give every figure in a row of its own."""
    rng = np.random.default_rng(found.settings.seed)
    keys = " ".join(found.keys)
    empty = {"low": math.nan, "high": math.nan, "count": math.nan, "of": math.nan}

    def row(target: str, name: str, value: float, **more: float) -> dict[str, Any]:
        about = {"comparison": "original -> synthetic", "keys": keys, "target": target}
        return {**about, "measure": name, "value": value, **empty, **more}

    for name, share in {**found.identity, **found.near}.items():
        yield row("", name, share.value, count=share.count, of=share.of)
    for line in found.anonymity:
        for side in ("original", "synthetic"):
            share = Share(line[side], found.records[side])
            told = f"{side} records in groups of fewer than {line['k']}"
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
            yield {**about, "measure": name, "value": line["raw"], **ends, **counts}
            told = f"{name}, calibrated"
            yield {**about, "measure": told, "value": line["calibrated"], **empty}


def hidden(threshold: int, *counts: float | None) -> bool:
    """Whether one of several counts is too small to be shown."""
    return any(count is not None and 0 < count < threshold for count in counts)


def summary(found: Assessment) -> dict[str, Any]:
    """Everything that is written, as plain values."""
    most, settings = found.threshold, found.settings

    def of(share: Share) -> float | str | None:
        return SUPPRESSED if hidden(most, share.count, share.of) else _plain(share.value)

    def count(value: float) -> int | str:
        return f"below {most}" if hidden(most, value) else int(value)

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
            "per_cent": of(share),
            "records": count(share.count),
        }
        for name, share in {**found.identity, **found.near}.items()
    ]
    told["k_anonymity"] = [
        {
            "k": row["k"],
            "original_records_in_smaller_groups": count(row["original"]),
            "synthetic_records_in_smaller_groups": count(row["synthetic"]),
        }
        for row in found.anonymity
    ]
    told["attribution"], told["correct_attribution"], told["TCAP"] = [], [], []
    for target, one in found.attributions.items():
        shares, small = one.shares, hidden(most, one.shares["DiSCO"].count)
        largest = one.rates["largest denominator"]
        told["attribution"].append(
            {
                "target": target,
                **{name: of(shares[name]) for name in _ATTRIBUTION},
                "largest denominator": SUPPRESSED if hidden(most, largest) else _plain(largest),
                "mean denominator": SUPPRESSED
                if small or hidden(most, largest)
                else _plain(one.rates["mean denominator"]),
            }
        )
        told["correct_attribution"].append(
            {"target": target, **{name: _plain(one.rates[name]) for name in _CAPS}}
        )
        told["TCAP"].append(_tcaps(found, target, rng))
    told["one_way_checks"] = [_counted(row, most) for row in found.one_way]
    told["two_way_checks"] = [_counted(row, most) for row in found.two_way]
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


def _tcaps(found: Assessment, target: str, rng: np.random.Generator) -> dict[str, Any]:
    one, row = found.attributions[target], {"target": target}
    for name in _TCAPS:
        share = one.shares[name]
        small = hidden(found.threshold, share.count, share.of)
        row[name] = SUPPRESSED if small else _plain(share.value)
        scaled = f"{name}, calibrated"
        row[scaled] = SUPPRESSED if small else _plain(one.rates[scaled])
    low, high = interval(share, found.records["original"], found.settings, rng)
    for end, value in (("low", low), ("high", high)):
        row[f"{name}, {end}"] = SUPPRESSED if small else _plain(value)
    row["baseline"] = _plain(one.rates["baseCAPd"])
    return row


def _protocol_row(row: Mapping[str, Any], found: Assessment) -> dict[str, Any]:
    """Withhold what rests on small counts; a mean would tell the one part that is withheld."""
    small = hidden(found.threshold, row["correct"], row["disclosive"])
    figures = ("raw", "low", "high", "calibrated", "correct", "disclosive")
    if row["target"] == MEAN:
        small = _hides_part(found, row["comparison"])
        row = {k: "" if v is None else v for k, v in row.items()}
    return {k: SUPPRESSED if small and k in figures else _plain(v) for k, v in row.items()}


def _hides_part(found: Assessment, comparison: str) -> bool:
    lines = found.protocol.rows if found.protocol is not None else []
    return any(
        hidden(found.threshold, row["correct"], row["disclosive"])
        for row in lines
        if row["comparison"] == comparison and row["target"] in found.keys
    )


def _small(found: Assessment) -> set[str]:
    """Targets of which the protocol rests on small counts."""
    lines = found.protocol.rows if found.protocol is not None else []
    return {
        row["target"] for row in lines if hidden(found.threshold, row["correct"], row["disclosive"])
    }


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


def _counted(row: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Withhold small counts of a check, and the shares that tell them."""
    small = hidden(most, *(v for k, v in row.items() if isinstance(v, int) and k != "cells"))
    return {
        k: SUPPRESSED if small and isinstance(v, int | float) else _plain(v) for k, v in row.items()
    }


def _worst(found: Assessment, table: pd.DataFrame) -> list[dict[str, Any]]:
    """Key subsets by what they disclose correctly."""
    order = table["DiSCO"].sort_values(ascending=False, kind="stable").index[:_WORST]
    names = ["keys", "target", "repU", "DiSCO", *_TCAPS, "baseCAPd"]
    told = visible(found, table).loc[order, names].to_dict("records")
    return [{str(k): _plain(v) for k, v in row.items()} for row in told]


def visible(found: Assessment, table: pd.DataFrame) -> pd.DataFrame:
    """Return key subsets without shares that tell a small count."""
    shown = table.astype(object).where(table.notna(), None)
    counts = {
        name: (table[name] * found.records[side] / 100).round()
        for side, names in _SIDES.items()
        for name in names
    }
    small = {k: (0 < counts[k]) & (counts[k] < found.threshold) for k in counts}
    for name in table.columns[2:]:
        if name in small:
            shown[name] = shown[name].mask(small[name], SUPPRESSED)
        elif name not in _CAPS:  # what is left rests on these counts
            rests = small["DiSCO"] | small["DiS"] | small["iS"]
            if "denominator" in name:
                largest = table["largest denominator"]
                rests = rests | (largest.notna() & (largest < found.threshold))
            shown[name] = shown[name].mask(rests, SUPPRESSED)
    return shown


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
    small = [
        hidden(found.threshold, *(None if math.isnan(x) else x for x in (row["count"], row["of"])))
        for _, row in found.tidy[["count", "of"]].iterrows()
    ]
    table = table.where(found.tidy.notna(), "undefined")
    table.loc[found.tidy["count"].isna(), ["count", "of"]] = ""
    table.loc[found.tidy["low"].isna() & found.tidy["value"].notna(), ["low", "high"]] = ""
    table.loc[small, ["value", "low", "high", "count", "of"]] = SUPPRESSED
    for place in np.flatnonzero(_derived(found)).tolist():
        table.loc[place, "value"] = SUPPRESSED
    table.to_csv(folder / CSV, index=False, lineterminator="\n")
    if found.subsets is not None:
        shown = visible(found, found.subsets)
        shown = shown.where(shown.notna(), "undefined")
        shown.to_csv(folder / SUBSETS, index=False, lineterminator="\n")


def _derived(found: Assessment) -> list[bool]:
    """Which rows of the tidy table tell a small count without naming it."""
    plain = {
        (row["comparison"], row["target"], row["measure"]): hidden(
            found.threshold, *(None if math.isnan(x) else x for x in (row["count"], row["of"]))
        )
        for row in found.tidy.to_dict("records")
    }
    out = []
    for row in found.tidy.to_dict("records"):
        base = row["measure"].removesuffix(", calibrated")
        mine = (row["comparison"], row["target"])
        if row["target"] == MEAN:
            out.append(_hides_part(found, row["comparison"]))
        elif row["measure"] in ("largest denominator", "mean denominator"):
            largest = found.attributions[row["target"]].rates["largest denominator"]
            out.append(hidden(found.threshold, largest) or plain.get((*mine, "DiSCO"), False))
        else:
            out.append(base != row["measure"] and plain.get((*mine, base), False))
    return out


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
