"""Writes outputs of small specs in text, and looks at what becomes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evosynth.errors import SpecError
from evosynth.spec import Spec, load
from evosynth.synthesis import synthesize

HEAD = """\
records: {records}
variables:
{variables}
outputs:
"""


def indent(text: str, by: int) -> str:
    return "".join(" " * by + line if line.strip() else line for line in text.splitlines(True))


def write(folder: Path, variables: str, output: str, records: int) -> Path:
    """Write a spec of one output; its ``kind`` stands in the line after ``outputs:``."""
    head = HEAD.format(records=records, variables=indent(variables.rstrip("\n"), 2))
    path = folder / "spec.yaml"
    first, rest = f"- {output.rstrip()}\n".split("\n", 1)
    path.write_text(f"{head}  {first}\n{indent(rest, 4)}", encoding="utf-8")
    return path


def figures(spec: Spec) -> dict[str, str]:
    """Published text of each figure of the first output, by label."""
    found = {figure.label: figure.printed.text for figure in spec.figures[0]}
    assert len(found) == len(spec.figures[0])
    return found


def recomputed(spec: Spec, data: pd.DataFrame) -> list[float]:
    """Figures of the first output from data, one record per row; grouped ones must agree."""
    output = spec.outputs[0]
    found = output.recompute(data, np.ones(len(data)), spec.schema)
    sizes = data.groupby(list(data.columns), dropna=False, sort=False).size()
    rows, counts = sizes.index.to_frame(index=False), sizes.to_numpy(float)
    rows = rows.astype(data.dtypes.to_dict())
    np.testing.assert_allclose(output.recompute(rows, counts, spec.schema), found)
    return found.tolist()


def faults(path: Path) -> list[str]:
    """Every fault of a spec without the name of the file: ``line place: message``."""
    with pytest.raises(SpecError) as caught:
        load(path)
    return [line.removeprefix(f"{path}:") for line in caught.value.lines()]


def all_exact(path: Path) -> bool:
    """Whether data made from a spec reprint all of its figures."""
    spec = load(path)
    synthesize(spec, seed=0, generations=0)  # compiles, so that the limit is one of searching
    table = synthesize(spec, seed=1, time=20).verification
    return bool(len(table)) and bool(table["exact"].all())
