"""``evosynth risk``: every measure of a data file, on the screen and in a folder."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evosynth.errors import RiskError, shown
from evosynth.risk.assessment import Assessment, assess
from evosynth.risk.coding import Bins
from evosynth.risk.withheld import SUPPRESSED
from evosynth.risk.words import SHOWN

_MOST = 12


def run(options: argparse.Namespace, say: Callable[[str], None]) -> int:
    """Read data, measure, write the folder, and say what came of it."""
    if options.pictures and not options.output:
        raise RiskError("--pictures are written to a folder; add -o DIR")
    if options.output:
        from evosynth.write import ready

        ready(Path(options.output), options.force)
    found = assess(
        options.data,
        options.original,
        keys=listed(options.keys),
        target=options.target,
        targets=listed(options.targets or ""),
        holdout=options.holdout,
        general=options.general,
        bins=bins(options.bins),
        categorical=listed(options.categorical),
        exclude=options.exclude,
        largest=options.largest,
        tau=options.tau,
        classes=tuple(options.classes),
        p=options.p,
        confidential=listed(options.confidential),
        subsets=options.subsets,
        founding=options.protocol,
        level=options.level,
        bootstrap=options.bootstrap,
        seed=options.seed,
        threshold=options.threshold,
        utility=options.utility,
        models=options.model,
    )
    if options.output:
        found.save(options.output, force=options.force, pictures=options.pictures)
    if options.json:
        say(json.dumps(found.summary(), indent=2, ensure_ascii=False, allow_nan=False))
        return 0
    for line in told(found):
        say(line)
    if options.output:
        names = ", ".join(sorted(file.name for file in Path(options.output).iterdir()))
        say(f"Written to {options.output}: {names}")
    return 0


def listed(text: str) -> list[str]:
    """Split names at commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def bins(texts: Iterable[str]) -> dict[str, Bins]:
    """Read ``X=10`` and ``X=20,40,60``."""
    found: dict[str, Bins] = {}
    for text in texts:
        name, equal, value = text.rpartition("=")
        try:
            parts = [float(part) for part in value.split(",")]
        except ValueError:
            parts = []
        if not name or not equal or not parts:
            told = "write X=10 for ten groups, or X=20,40,60 for cut points"
            raise RiskError(f"bins: {shown(text)!r} is not understood; {told}")
        found[name] = int(parts[0]) if len(parts) == 1 and parts[0] == int(parts[0]) else parts
    return found


def told(found: Assessment) -> list[str]:
    """Say what was measured: identity, attribution by target, checks, and the verdict."""
    about = found.summary()
    people = f"{found.records['original']:,} original, {found.records['synthetic']:,} synthetic"
    lines = [f"Disclosure risk, per cent of {people} records; keys {', '.join(found.keys)}", ""]
    rows = [[row["measure"], _text(row["per_cent"]), row["meaning"]] for row in about["identity"]]
    lines += _columns([["identity", "%", ""], *rows]) + [""]
    by = {row["target"]: dict(row) for row in about["attribution"]}
    for part in ("correct_attribution", "TCAP"):
        for row in about[part]:
            by[row["target"]] |= row
    head = ["target", *(word for word in SHOWN.values())]
    table = [[name, *(_text(row[key]) for key in SHOWN)] for name, row in by.items()]
    lines += _columns([head, *table])
    for key, words in (
        ("one_way_checks", "{target}: level {level} is {percent_of_disclosive} % of disclosures"),
        ("two_way_checks", "{target}: {key}={key_level} alone tells {level} ({percent_of_key} %)"),
    ):
        checks = about[key]
        for row in checks[:_MOST]:
            shown_row = {k: _text(v) if isinstance(v, float) else v for k, v in row.items()}
            text = words.format(**shown_row).replace(f"{SUPPRESSED} %", SUPPRESSED)
            lines.append(f"Check {text}")
        if len(checks) > _MOST:
            lines.append(f"… and {len(checks) - _MOST} more; risk.json has all")
    if found.protocol is not None:
        names = ("target", "comparison", "raw", "low", "high", "calibrated", "baseline")
        rows = [[_text(row[name]) for name in names] for row in about["protocol"]]
        lines += ["", "TCAP over disclosive keys, the founding protocol:"]
        lines += _columns([list(names), *rows])
    if found.compared is not None:
        lines += ["", "Utility, beside the original:"]
        lines += _columns(_turned(about["utility"]))
        lines += ["", "Group disclosure: cells that are disclosive in both, of those in the data:"]
        cells = ("data", "target", "risk", "common", "synthetic", "original")
        rows = [[_text(row[name]) for name in cells] for row in about["group_disclosure"]]
        lines += _columns([["data", "target", "%", *cells[3:]], *rows])
    return [*lines, "", about["verdict"]]


def _turned(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Lay measures out as lines, and data sets as columns."""
    names = [name for name in rows[0] if name != "data"]
    head = ["measure", *(row["data"] for row in rows)]
    return [head, *([name, *(_small(row[name]) for row in rows)] for name in names)]


def _small(value: Any) -> str:
    return _text(value) if value is None else f"{value:.4f}"


def _text(value: Any) -> str:
    if value is None:
        return "undefined"
    return f"{value:.2f}" if isinstance(value, float) else shown(str(value))


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay rows out; the first column to the left, figures to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    last = len(widths) - 1
    found = []
    for row in rows:
        cells = [
            text.ljust(width) if i == 0 or (i == last and not rows[0][i]) else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        found.append("  ".join(cells).rstrip())
    return found
