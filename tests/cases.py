"""Small specs and problems that several test files use."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evosynth.exact import Exact
from evosynth.problem import Problem
from evosynth.record_types import Types
from evosynth.records import Records
from evosynth.space import Space
from evosynth.spec import Spec, load
from evosynth.start import Source, prepare

SPECS = Path(__file__).parent.parent / "specs"
FOUNDING = [SPECS / "south-yorkshire-cars-1.yaml", SPECS / "south-yorkshire-cars-2.yaml"]

SMALL = """\
title: A small survey
records: 400
variables:
  AREA: {label: Area, categories: {n: North, s: South, w: West}}
  AGE: {label: Age, integer: [18, 40]}
  SEX: {label: Sex, categories: {1: Male, 2: Female}}
  WORK: {label: In work, categories: {0: "No", 1: "Yes"}}
outputs:
  - kind: crosstab
    rows: AREA
    columns: WORK
    counts: {n: [50, 70], s: [60, 90], w: [55, 75]}
  - kind: frequencies
    of: SEX
    proportions: {1: 0.490, 2: 0.510}
  - kind: logit
    formula: WORK ~ AGE + SEX
    coefficients: {Intercept: -1.02, AGE: 0.051, "SEX[2]": -0.13}
"""


def small(folder: Path, text: str = SMALL, anyway: bool = False) -> Spec:
    """Load a spec from text."""
    path = folder / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path, anyway=anyway)


def problem_of(spec: Spec) -> Problem:
    return Problem.of(spec.plans, spec.schema)


def spaces(problem: Problem) -> list[Space]:
    return [Types(problem), Records(problem)]


def source_of(space: Space, start: str = "calibrated", seed: int = 0) -> Source:
    return prepare(space, start, True, np.random.default_rng(seed))


def strategy_of(space: Space, start: str = "calibrated") -> Exact:
    """The default strategy on a space of one's own choice."""
    return Exact(space.problem, space, source_of(space, start), False, lambda: False)


def random_codes(problem: Problem, rng: np.random.Generator, size: int | None = None):
    schema = problem.schema
    columns = [rng.integers(0, n, size or schema.records) for n in schema.sizes]
    return np.stack(columns, axis=1).astype(schema.dtype)
