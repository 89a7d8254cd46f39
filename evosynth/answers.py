"""The answer sheet of a trainer: the published outputs with their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evosynth.codebook import plain
from evosynth.notice import NOTICE, called

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.spec import Spec


def answers(spec: Spec, copies: Sequence[tuple[str, int, bool]], overlap: pd.DataFrame) -> str:
    """Write the answer sheet; ``copies``: name, seed and whether it is exact."""
    done = sum(exact for *_, exact in copies)
    lines = [
        f"# Answers: {plain(spec.title) or 'synthetic teaching data'}",
        "",
        f"**For the trainer alone.** {NOTICE}",
        "",
        f"{done} of {len(copies)} copies reprint every figure below, digit for digit. Hand out a "
        "folder `copy-…` to each student; `analysis.*`, put beside its data, prints these answers.",
    ]
    if len(overlap):
        share = overlap["share"]
        lines += [
            "",
            f"Two copies have {share.mean():.1%} of their records in common on average, "
            f"{share.max():.1%} at most (`overlap.csv`). Records of few variables are often alike.",
        ]
    lines += ["", "| copy | seed | exact |", "|---|---:|---|"]
    lines += [f"| {name} | {seed} | {'yes' if exact else 'NO'} |" for name, seed, exact in copies]
    for position, figures in enumerate(spec.figures):
        output = spec.outputs[position]
        kind = output.kind.replace("_", " ")
        lines += ["", f"## {position + 1}. {plain(called(spec, position))}", "", f"Kind: {kind}"]
        formula = getattr(output, "formula", None)
        if formula:
            lines += ["", f"Formula: {plain(str(formula))}"]
        if output.where is not None:
            lines += ["", f"Where: {plain(output.where)}"]
        lines += ["", "| figure | published |", "|---|---:|"]
        lines += [f"| {plain(f.label)} | {plain(f.printed.text)} |" for f in figures]
    return "\n".join(lines) + "\n"
