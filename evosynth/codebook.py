"""The codebook: what the variables are, and what the data are for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evosynth.spec import Spec
    from evosynth.synthesis import Result

NOTICE = (
    "These data are synthetic: no record describes a person. They were made from published figures "
    "alone, to reproduce those figures; anything else in them is arbitrary. Use them to teach and "
    "to practise, not to draw conclusions."
)


def codebook(result: Result) -> str:
    """Describe a dataset in Markdown."""
    spec = result.spec
    done, figures = int(result.verification["exact"].sum()), len(result.verification)
    lines = [
        f"# {_plain(spec.title) or 'Synthetic teaching data'}",
        "",
        f"**{NOTICE}**",
        "",
        f"{spec.schema.records:,} records, {len(spec.schema.shown)} variables. "
        f"{done} of {figures} published figures reproduced exactly as printed.",
    ]
    if spec.source:
        lines += ["", f"Source of the figures: {_plain(spec.source)}"]
    lines += ["", "## Variables"]
    for variable in spec.schema.shown:
        lines += ["", f"### {variable.name}", "", _plain(variable.label), ""]
        column = result.data[variable.name]
        if variable.identifier is not None:
            lines += [f"Tells records apart: {_plain(str(column.iloc[0]))} and so on."]
            continue
        if variable.date:
            ends = [f"{day:%Y-%m-%d}" for day in (column.min(), column.max())]
            lines += [f"Date from {ends[0]} to {ends[1]}; {column.isna().sum():,} are missing."]
            continue
        if variable.labels is None:
            low, high = variable.texts[0], variable.texts[variable.valid - 1]
            known = column[column.isin(variable.values[: variable.valid])].astype(float)
            what = "Number" if variable.decimals else "Whole number"
            lines += [
                f"{what} from {low} to {high}; mean {known.mean():.2f}, "
                f"standard deviation {known.std():.2f}, median {known.median():g}."
            ]
            if variable.missing:
                lines[-1] += f" {len(column) - len(known):,} values are missing."
            continue
        counts = column.value_counts()
        lines += ["| code | label | records | share |", "|---|---|---:|---:|"]
        for level, (text, label) in enumerate(zip(variable.texts, variable.labels, strict=True)):
            blank = variable.blank and level == variable.size - 1
            count = int(column.isna().sum() if blank else counts.get(variable.values[level], 0))
            share = count / spec.schema.records
            lines.append(f"| {_plain(text)} | {_plain(label)} | {count:,} | {share:.2%} |")
    lines += ["", "## Published figures", "", "| output | kind | figures | exact |"]
    lines += ["|---|---|---:|---:|"]
    for position, part in result.verification.groupby("output"):
        output = spec.outputs[int(str(position))]
        title = _plain(output.title) or f"outputs[{position}]"
        lines.append(f"| {title} | {output.kind} | {len(part)} | {int(part['exact'].sum())} |")
    if spec.bound:
        lines += ["", "## Rules", ""]
        lines += ["| rule | records that break it | of all | by chance |", "|---|---:|---:|---:|"]
        lines += [
            f"| {_plain(row['rule'])} | {row['violated']:,} | {row['share']:.2%} "
            f"| {row['by_chance']:.1%} |"
            for row in result.rules.to_dict("records")
        ]
    if spec.clashes:
        lines += ["", "## Contradictions", ""]
        lines += ["These published figures contradict each other; some had to give.", ""]
        lines += [f"- {_plain(clash)}" for clash in contradictions(spec)]
    return "\n".join(lines) + "\n"


def contradictions(spec: Spec) -> list[str]:
    """Contradictions that were borne, by line of the spec."""
    return [f"line {clash.removeprefix(f'{spec.document.file}:')}" for clash in spec.clashes]


def _plain(text: str) -> str:
    """Keep a stranger's text inside its Markdown cell."""
    joined = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in joined)
