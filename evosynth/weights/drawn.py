"""Weights that the search draws with the data, because published outputs are weighted.

A weight is then a variable like any other, on a grid of few values; totals are weighted outputs to
be met exactly, so that no calibration is left to do afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from evosynth.errors import Fault, Path
from evosynth.schema import Schema, Variable
from evosynth.variables import MAX_LEVELS, VariableSpec, build
from evosynth.weights.spec import WeightsSpec
from evosynth.weights.totals import Margin

_USUAL = (0.4, 2.5)
"""Smallest and largest weight, in mean weights, where a spec does not say."""
_FINENESS = 40
"""Steps of the grid, at least, that a mean weight is."""
_WHERE: Path = ("weights",)


def weight_variable(
    spec: WeightsSpec, margins: Sequence[Margin], records: int, faults: list[Fault]
) -> Variable | None:
    """Build the weight on its grid."""
    if spec.range is not None:
        texts = [printed.text for printed in spec.range]
        decimals = max(printed.decimals for printed in spec.range)
        if not spec.range[0].value > 0:
            faults.append(Fault((*_WHERE, "range"), "weights must be above 0"))
            return None
    else:
        counted = [margin.sum for margin in margins if margin.quantity is None]
        if not counted:
            message = "say how large weights are: range: [0.50, 2.00], or give totals"
            faults.append(Fault(_WHERE, message))
            return None
        mean = counted[0] / records
        decimals = max(0, math.ceil(math.log10(_FINENESS / mean)))
        texts = [f"{end * mean:.{decimals}f}" for end in _USUAL]
    number = {"min": texts[0], "max": texts[1], "decimals": decimals}
    about = {"label": spec.label, "number": number, "shape": "lognormal"}
    if spec.range is None and (_USUAL[1] - _USUAL[0]) * mean * 10**decimals > MAX_LEVELS:
        message = (
            f"weights of {mean:,.0f} on average have too many values; give totals in thousands"
        )
        faults.append(Fault((*_WHERE, "totals"), message))
        return None
    own: list[Fault] = []
    found = build(spec.name, VariableSpec.model_validate(about), own, records)
    faults += [Fault((*_WHERE, "range"), fault.message) for fault in own]
    return found


def total_outputs(
    margins: Sequence[Margin], weight: Variable, schema: Schema, faults: list[Fault]
) -> Iterator[tuple[dict[str, Any], Path]]:
    """Write totals as weighted outputs, to as many decimals as sums of weights have."""
    for margin in margins:
        finer = 0 if margin.quantity is None else schema[margin.quantity].decimals
        decimals = weight.decimals + finer
        texts = {cell: f"{total:.{decimals}f}" for cell, total in margin.cells.items()}
        for cell, total in margin.cells.items():
            if abs(float(texts[cell]) - total) > 1e-9 * max(1.0, abs(total)):
                step = f"{10.0**-decimals:g}"
                message = (
                    f"the total of {margin.called(cell)}, {total:.10g}, is no multiple of {step}, "
                    "as sums of weights are; round it, or give range: with more decimals"
                )
                faults.append(Fault(margin.path, message))
                return
        raw: dict[str, Any] = {"title": f"Totals of {margin.label}", "weighted": "true"}
        if margin.quantity is not None:
            nested: Any = _nested(texts) if margin.names else texts[()]
            raw |= {"kind": "summary", "of": margin.quantity, "sum": nested}
            raw |= {"by": list(margin.names)} if margin.names else {}
        elif len(margin.names) > 1:
            *rows, columns = margin.names
            raw |= {"kind": "crosstab", "rows": rows, "columns": columns, "counts": _nested(texts)}
        elif margin.names:
            counts = {cell[0]: text for cell, text in texts.items()}
            raw |= {"kind": "frequencies", "of": margin.names[0], "counts": counts}
        else:
            raw |= {"kind": "frequencies", "of": schema.shown[0].name}
            raw["counts"] = {"total": texts[()]}
        yield raw, margin.path


def _nested(texts: dict[tuple[str, ...], str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for cell, text in texts.items():
        node = found
        for value in cell[:-1]:
            node = node.setdefault(value, {})
        node[cell[-1]] = text
    return found
