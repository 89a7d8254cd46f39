"""The codebook: what the variables are, and what the data are for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
        f"{spec.schema.records:,} records, {len(spec.schema.variables)} variables. "
        f"{done} of {figures} published figures reproduced exactly as printed.",
    ]
    if spec.source:
        lines += ["", f"Source of the figures: {_plain(spec.source)}"]
    lines += ["", "## Variables"]
    for variable in spec.schema.variables:
        lines += ["", f"### {variable.name}", "", _plain(variable.label), ""]
        column = result.data[variable.name]
        if variable.labels is None:
            low, high = variable.values[0], variable.values[-1]
            lines += [
                f"Whole number from {low} to {high}; mean {column.mean():.2f}, "
                f"standard deviation {column.std():.2f}, median {column.median():g}."
            ]
            continue
        counts = column.value_counts()
        lines += ["| code | label | records | share |", "|---|---|---:|---:|"]
        for value, label in zip(variable.values.tolist(), variable.labels, strict=True):
            count = int(counts.get(value, 0))
            share = count / spec.schema.records
            lines.append(f"| {_plain(str(value))} | {_plain(label)} | {count:,} | {share:.2%} |")
    lines += ["", "## Published figures", "", "| output | kind | figures | exact |"]
    lines += ["|---|---|---:|---:|"]
    for position, part in result.verification.groupby("output"):
        output = spec.outputs[int(str(position))]
        title = _plain(output.title) or f"outputs[{position}]"
        lines.append(f"| {title} | {output.kind} | {len(part)} | {int(part['exact'].sum())} |")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Keep a stranger's text inside its Markdown cell."""
    joined = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in joined)
