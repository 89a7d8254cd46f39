"""What the report tells beyond the other files of a folder, gathered while a run writes it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evosynth.analysis import Fitting
from evosynth.notice import called
from evosynth.proof import units
from evosynth.report.associations import associations
from evosynth.report.layout import Json, equation, references, tables, term
from evosynth.report.pictures import bars

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.codebook import Described
    from evosynth.objective import Output
    from evosynth.spec import Spec

NAME = "report.json"
MOST_FIGURES = 1_500
"""Figures of one output that are laid out; of more only the misses are listed."""
_MOST_IN_ALL = 6_000
_EXAMPLES = 10
_LONGEST_SPEC = 200_000


def gather(
    spec: Spec, data: pd.DataFrame, described: Sequence[Described], command: Sequence[str]
) -> Json:
    """Describe outputs, variables and records; ``command``: what makes the same data again."""
    frames = units(spec, data)
    outputs, left = [], _MOST_IN_ALL
    for position, figures in enumerate(spec.figures):
        fits = len(figures) <= min(MOST_FIGURES, left)
        left -= len(figures) if fits else 0
        outputs.append(_output(spec, position, fits, frames))
    text = spec.document.source.decode("utf-8", "replace")
    cut = len(text) > _LONGEST_SPEC
    return {
        "title": spec.title,
        "source": spec.source,
        "records": len(data),
        "command": shlex.join(command),
        "outputs": outputs,
        "variables": [bars(found) for found in described],
        "associations": associations(data, spec.schema),
        "examples": _examples(spec, data),
        "files": sorted({str(f) for o in spec.outputs if (f := getattr(o, "file", None))}),
        "spec": text[:_LONGEST_SPEC],
        "spec_cut": cut,
    }


def _output(spec: Spec, position: int, fits: bool, frames: dict[str, Any]) -> Json:
    output, figures = spec.outputs[position], spec.figures[position]
    schema = spec.schema_of(output)
    analysis = output.analysis(schema)
    counted = "Households" if output.unit == "household" else "Records"
    about: Json = {
        "title": called(spec, position),
        "kind": output.kind,
        "unit": output.unit,
        "where": output.where or "",
        "formula": str(getattr(output, "formula", "") or ""),
        "figures": len(figures),
        "weight": getattr(analysis, "weight", None) or "",
        "tables": tables(analysis, figures, schema, counted) if fits else None,
    }
    if isinstance(analysis, Fitting):
        about["references"] = references(analysis, schema)
        about["forest"] = _forest(output, analysis, frames, spec)
    return about


def _forest(output: Output, analysis: Fitting, frames: dict[str, Any], spec: Spec) -> Json | None:
    """Estimates of the data with their intervals, beside the figures that tell them in print."""
    schema = spec.schema_of(output)
    frame, counts = frames[output.unit]
    found = output.intervals(frame, counts, schema)
    form = "ratio" if found and found[0].ratio else "coefficient"
    printed = {(item.form, item.parameter): i for i, item in enumerate(analysis.items)}
    rows = []
    for interval in found:
        of, text = analysis.terms[interval.parameter]
        ends = [interval.value, interval.low, interval.high]
        if text == "Intercept" or not math.isfinite(interval.value):
            continue  # it has a scale of its own
        rows.append(
            {
                "equation": equation(of, analysis, schema) if of else "",
                "label": term(text, analysis, schema),
                "estimate": [end if math.isfinite(end) else None for end in ends],
                "published": [printed.get((f, interval.parameter)) for f in (form, "low", "high")],
            }
        )
    if not rows:
        return None
    return {"ratio": form == "ratio", "level": analysis.level, "rows": rows}


def _examples(spec: Spec, data: pd.DataFrame) -> Json:
    """Tell the first records, each value as the file has it, with its label."""
    rows = []
    shown = [v.name for v in spec.schema.shown if v.name in data.columns]
    extra = [name for name in data.columns if name not in shown]
    for record in data[[*extra, *shown]].head(_EXAMPLES).to_dict("records"):
        row = []
        for name, found in record.items():
            text = "" if found is None or found != found else str(found)
            text = text if text not in {"<NA>", "NaT"} else ""
            label = ""
            if str(name) in spec.schema.index:
                variable = spec.schema[str(name)]
                if variable.date:
                    text = text[:10]
                elif variable.decimals and text:
                    text = f"{found:.{variable.decimals}f}"
                if variable.labels is not None and text in variable.levels:
                    label = variable.labels[variable.levels[text]]
            row.append([text, label])
        rows.append(row)
    return {"columns": [str(name) for name in [*extra, *shown]], "rows": rows}
