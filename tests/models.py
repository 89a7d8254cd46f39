"""Random data in which models can be fitted, and specs that print what was found in them."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from evosynth import kinds
from evosynth.schema import Schema
from evosynth.spec import Spec, load
from evosynth.synthesis import synthesize

VARIABLES: dict[str, Any] = {
    "AGE": {"integer": ["20", "60"]},
    "SEX": {"categories": {"1": "Male", "2": "Female"}},
    "AREA": {"categories": {"n": "North", "s": "South", "w": "West"}},
    "HOURS": {"integer": ["1", "8"]},
    "YES": {"categories": {"0": "No", "1": "Yes"}},
    "VISITS": {"integer": ["0", "25"]},
    "CHOICE": {"categories": {"a": "First", "b": "Second", "c": "Third"}},
    "GRADE": {"categories": {"1": "Low", "2": "Middle", "3": "High", "4": "Top"}},
    "PAY": {"number": {"min": "0.1", "max": "60.0", "decimals": "1"}},
}
TERMS = ["Intercept", "AGE", "SEX[2]", "AREA[s]", "AREA[w]"]


def truth(seed: int, records: int) -> pd.DataFrame:
    """Draw data in which every outcome depends on age, sex and area."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(20, 61, records), rng.integers(1, 3, records)
    area, hours = rng.choice(list("nsw"), records), rng.integers(1, 9, records)
    effects = rng.normal(0, 1, 3)
    line = 0.02 * (age - 40) + 0.4 * effects[0] * (sex == 2)
    line = line + 0.4 * effects[1] * (area == "s") + 0.4 * effects[2] * (area == "w")
    noise = rng.logistic(size=(records, 3))
    mean = np.exp(-0.8 + 0.5 * line) * hours / 2
    visits = rng.poisson(mean * rng.gamma(2.5, 1 / 2.5, records))
    choice = np.argmax([noise[:, 0] * 0, 0.6 * line - 0.3 + noise[:, 1], noise[:, 2]], axis=0)
    return pd.DataFrame(
        {
            "AGE": age,
            "SEX": sex,
            "AREA": area,
            "HOURS": hours,
            "YES": (line + noise[:, 0] > 0.2).astype(int),
            "VISITS": visits.clip(0, 25),
            "CHOICE": np.array(list("abc"))[choice],
            "GRADE": 1 + (line[:, None] + noise[:, :1] > np.array([-1.0, 0.5, 2.0])).sum(axis=1),
            "PAY": (25 + 4 * line + 3 * rng.normal(size=records)).clip(0.1, 60).round(1),
        }
    )


def paths(output: Any, schema: Schema) -> list[tuple[str | int, ...]]:
    """Where each figure stands in an output."""
    return [item.path for item in output._read(schema)[0]]


def printed(raw: dict[str, Any], data: pd.DataFrame, schema: Schema) -> dict[str, Any]:
    """Fill the figures of data into an output, to the decimals that stand in it."""
    output = kinds.find(raw["kind"]).model_validate(raw)
    values = output.recompute(data, np.ones(len(data)), schema)
    filled = copy.deepcopy(raw)
    for path, value in zip(paths(output, schema), values, strict=True):
        *above, last = path
        node: Any = filled
        for part in above:
            node = node[part]
        decimals = len(node[last].partition(".")[2])
        node[last] = f"{value:.{decimals}f}"
    return filled


def used(raw: dict[str, Any]) -> dict[str, Any]:
    """Keep the variables that an output names, and one of many values: records are searched."""
    text = " ".join(str(raw.get(key, "")) for key in ("formula", "where", "exposure", "weights"))
    return {name: spec for name, spec in VARIABLES.items() if name in text or name == "PAY"}


def write(folder: Path, raw: dict[str, Any], data: pd.DataFrame) -> tuple[Spec, pd.DataFrame]:
    """Write the spec of one model with the figures of data in it; return the data it knows of."""
    variables = used(raw)
    kept = data[list(variables)]
    path = folder / "spec.yaml"
    tree: dict[str, Any] = {"records": str(len(data)), "variables": variables}
    free = {"kind": "frequencies", "of": next(iter(variables)), "counts": {"total": len(data)}}
    path.write_text(yaml.safe_dump(tree | {"outputs": [free]}, sort_keys=False))
    schema = load(path).schema
    filled = printed(raw, kept, schema)
    path.write_text(yaml.safe_dump(tree | {"outputs": [filled]}, sort_keys=False))
    return load(path), kept


def encode(data: pd.DataFrame, schema: Schema) -> Any:
    """Code records."""
    columns = [
        [
            variable.levels[f"{value:.{variable.decimals}f}" if variable.decimals else str(value)]
            for value in data[variable.name].tolist()
        ]
        for variable in schema.variables
    ]
    return np.array(columns).T.astype(schema.dtype)


def round_trip(folder: Path, raw: dict[str, Any], seed: int, records: int = 400) -> list[str]:
    """Print the figures of random data, make data from them alone; return figures missed."""
    spec, _ = write(folder, raw, truth(seed, records))
    table = synthesize(spec, seed=1, time=30).verification
    assert len(table)
    return [
        f"{row.figure} {row.published} {row.reproduced}"
        for row in table.itertuples()
        if not row.exact
    ]


def checked(folder: Path, raw: dict[str, Any], records: int = 400) -> None:
    """Check that search and statsmodels agree, and influence with what adding records does."""
    spec, data = write(folder, raw, truth(5, records))
    (block,) = spec.plans[0].smooth
    codes, counts = encode(data, spec.schema), np.ones(records)
    off = block.refit(codes, counts)
    assert np.abs(off).max() <= 1 + 1e-4
    expansion = block.expand(codes, counts)
    there = expansion.offset + expansion.influence(codes).sum(axis=0)
    # At published coefficients an expansion is off by the square of what rounding takes away.
    np.testing.assert_allclose(there, off, atol=1e-6 if block.target is None else 0.01)
    assert influence_error(spec, data) < 2e-3
    output = spec.outputs[0]
    grouped = data.groupby(list(data.columns), sort=False).size()
    rows = grouped.index.to_frame(index=False).astype(data.dtypes.to_dict())
    np.testing.assert_allclose(
        output.recompute(rows, grouped.to_numpy(float), spec.schema),
        output.recompute(data, counts, spec.schema),
        rtol=1e-6,
    )


def recomputed(folder: Path, raw: dict[str, Any], data: pd.DataFrame) -> dict[str, float]:
    """Figures of data by label."""
    spec, kept = write(folder, raw, data)
    values = spec.outputs[0].recompute(kept, np.ones(len(kept)), spec.schema)
    return {f.label: v for f, v in zip(spec.figures[0], values.tolist(), strict=True)}


def by_term(text: str, terms: list[str] | None = None) -> dict[str, str]:
    """Write the same text for each term."""
    return dict.fromkeys(TERMS if terms is None else terms, text)


def influence_error(spec: Spec, data: pd.DataFrame, rows: int = 25) -> float:
    """Largest difference between the influence of records and what adding a bit of them does.

    Relative to the largest influence on the figure.
    """
    (block,) = spec.plans[0].smooth
    codes = encode(data, spec.schema)
    counts = np.ones(len(codes))
    expansion = block.expand(codes, counts)
    told = expansion.influence(codes)
    step, worst = 1e-3, 0.0
    size = np.abs(told).max(axis=0)
    for i in range(rows):
        ends = []
        for sign in (1, -1):
            moved = counts.copy()
            moved[i] += sign * step
            ends.append(block.refit(codes, moved))
        change = (ends[0] - ends[1]) / (2 * step)
        gap = np.where(
            size > 0, np.abs(change - told[i]) / np.maximum(size, 1e-300), np.abs(change)
        )
        worst = max(worst, float(gap.max()))
    return worst
