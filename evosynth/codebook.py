"""The codebook: what the variables are, and what the data are for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evosynth.errors import are, many
from evosynth.notice import FORBIDDEN, NOTICE, called
from evosynth.schema import MISSING, FloatArray, IntArray, Schema, Variable

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.spec import Spec

_BINS = 24


@dataclass(frozen=True)
class Described:
    """What a codebook says of one variable."""

    variable: Variable
    counts: IntArray
    """Records of each category, or within each bin of a quantity, missing ones left out there."""
    edges: FloatArray
    """Ends of the bins of a quantity; none of a variable of categories."""
    missing: int
    """Records without a valid value."""
    summary: str
    gone: IntArray
    """Records of each code of missing values of a quantity."""

    @property
    def records(self) -> int:
        """Records in all."""
        return int(self.counts.sum()) + (0 if self.variable.categorical else self.missing)


def describe(data: pd.DataFrame, schema: Schema) -> list[Described]:
    """Count the values of every variable."""
    return [_describe(data[variable.name], variable) for variable in schema.shown]


def _describe(column: pd.Series[Any], variable: Variable) -> Described:
    none = np.empty(0, np.int64)
    if variable.identifier is not None:
        summary = f"Tells records apart: {column.iloc[0]}, {column.iloc[-1]} and so on."
        return Described(variable, none, np.empty(0), 0, summary, none)
    if variable.date:
        return _describe_dates(column, variable)
    if variable.labels is not None:
        found = column.value_counts()
        counts = [int(found.get(value, 0)) for value in variable.values]
        if variable.blank:
            counts[-1] = int(column.isna().sum())
        known = np.array(counts)
        missing = int(known[variable.valid :].sum())
        return Described(variable, known, np.empty(0), missing, "", none)
    known = column[column.isin(variable.values[: variable.valid])].to_numpy(dtype=float)
    low, high = variable.texts[0], variable.texts[variable.valid - 1]
    what = "Number" if variable.decimals else "Whole number"
    summary = f"{what} from {low} to {high}."
    missing = len(column) - len(known)
    if len(known):
        digits = max(2, variable.decimals + 1)
        sd = f"{known.std(ddof=1):.{digits}f}" if len(known) > 1 else "none"
        quartiles = np.quantile(known, [0.25, 0.5, 0.75])
        middle = ", ".join(f"{value:g}" for value in quartiles)
        summary = (
            f"{what} from {low} to {high}; mean {known.mean():.{digits}f}, standard deviation "
            f"{sd}, quartiles {middle}, smallest {known.min():g}, largest {known.max():g}."
        )
    if variable.missing:
        summary += f" {many(missing, 'value')} {are(missing)} missing."
    first, last = variable.quantities[0], variable.quantities[variable.valid - 1]
    unit = 10.0**-variable.decimals
    bins = min(_BINS, variable.valid)
    width = np.ceil((last - first + unit) / unit / bins) * unit  # whole values in every bin
    edges = first - unit / 2 + width * np.arange(bins + 1)
    edges = edges[: int(np.searchsorted(edges, last)) + 1]
    own = variable.values[variable.valid : variable.size - variable.blank].tolist()
    gone = np.array([int((column == code).sum()) for code in own], dtype=np.int64)
    return Described(variable, np.histogram(known, edges)[0], edges, missing, summary, gone)


def _describe_dates(column: pd.Series[Any], variable: Variable) -> Described:
    days = column.dropna().to_numpy().astype("datetime64[D]").astype(np.int64)
    missing = len(column) - len(days)
    summary = f"Date from {variable.texts[0]} to {variable.texts[variable.valid - 1]}."
    if variable.missing:
        summary += f" {many(missing, 'value')} {are(missing)} missing."
    first, last = variable.quantities[0], variable.quantities[variable.valid - 1]
    edges = np.linspace(first - 0.5, last + 0.5, min(_BINS, variable.valid) + 1)
    none = np.empty(0, np.int64)
    return Described(variable, np.histogram(days, edges)[0], edges, missing, summary, none)


def codes(described: Described) -> Iterator[tuple[str, str, int, bool]]:
    """Code, label, number of records and whether it stands for a missing value."""
    variable = described.variable
    if variable.identifier is not None:
        return
    if variable.labels is None:
        for (code, label), count in zip(variable.labelled, described.gone.tolist(), strict=True):
            yield code, label, count, True
        return
    for level, (code, label) in enumerate(zip(variable.texts, variable.labels, strict=True)):
        if variable.blank and level == variable.size - 1:
            code, label = "(blank)", "No value" if label == MISSING else label
        yield code, label, int(described.counts[level]), level >= variable.valid


def codebook(
    spec: Spec,
    data: pd.DataFrame,
    verification: pd.DataFrame,
    notes: Sequence[str] = (),
    rules: pd.DataFrame | None = None,
) -> str:
    """Describe a dataset in Markdown; ``notes`` say what files cannot hold."""
    lines = [
        f"# {plain(spec.title) or 'Synthetic teaching data'}",
        "",
        f"**{NOTICE}**",
        "",
        f"**{FORBIDDEN}**",
        "",
        overview(spec, verification, len(data)),
    ]
    if spec.source:
        lines += ["", f"Source of the figures: {plain(spec.source)}"]
    lines += ["", "## Variables"]
    for described in describe(data, spec.schema):
        variable = described.variable
        lines += ["", f"### {plain(variable.name)}", "", plain(variable.label), ""]
        if described.summary:
            lines += [described.summary]
        rows = list(codes(described))
        if not rows:
            continue
        lines += [""] if described.summary else []
        lines += ["| code | label | records | share |", "|---|---|---:|---:|"]
        for code, label, count, missing in rows:
            share = count / max(1, described.records)
            label = f"{plain(label)} (missing)" if missing else plain(label)
            lines.append(f"| {plain(code)} | {label} | {count:,} | {share:.2%} |")
    lines += ["", "## Published figures", "", "| output | kind | figures | exact |"]
    lines += ["|---|---|---:|---:|"]
    for title, kind, figures, exact in reproduced(spec, verification):
        lines.append(f"| {plain(title)} | {kind} | {figures} | {exact} |")
    if notes:
        lines += ["", "## What the files cannot hold", ""]
        lines += [f"- {plain(note)}" for note in notes]
    if rules is not None and len(rules):
        lines += ["", "## Rules", ""]
        lines += ["| rule | records that break it | of all | by chance |", "|---|---:|---:|---:|"]
        lines += [
            f"| {plain(row['rule'])} | {row['violated']:,} | {row['share']:.2%} "
            f"| {row['by_chance']:.1%} |"
            for row in rules.to_dict("records")
        ]
    if spec.clashes:
        lines += ["", "## Contradictions", ""]
        lines += ["These published figures contradict each other; some had to give.", ""]
        lines += [f"- {plain(clash)}" for clash in contradictions(spec)]
    return "\n".join(lines) + "\n"


def overview(spec: Spec, verification: pd.DataFrame, records: int) -> str:
    """Say how much there is, and how much of it is as published."""
    done, figures = int(verification["exact"].sum()), len(verification)
    return (
        f"{many(records, 'record')}, {many(len(spec.schema.shown), 'variable')}. "
        f"{done} of {many(figures, 'published figure')} reproduced exactly as printed."
    )


def reproduced(spec: Spec, verification: pd.DataFrame) -> Iterator[tuple[str, str, int, int]]:
    """Name of each output, its kind, its figures and how many of them are exact."""
    for group, part in verification.groupby("output"):
        position = int(str(group))
        kind = spec.outputs[position].kind
        yield called(spec, position), kind, len(part), int(part["exact"].sum())


def contradictions(spec: Spec) -> list[str]:
    """Contradictions that were borne, by line of the spec."""
    return [f"line {clash.removeprefix(f'{spec.document.file}:')}" for clash in spec.clashes]


def plain(text: str) -> str:
    """Keep a stranger's text inside its Markdown cell."""
    joined = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#&" else c for c in joined)
