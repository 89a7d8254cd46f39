"""Quantile regression: planes through records, held by the signs of residuals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from models import TERMS, by_term, encode, recomputed, round_trip, truth, write
from outputs import faults
from outputs import write as write_text
from scipy.optimize import linprog

from evosynth.corners import lay
from evosynth.design import Design
from evosynth.likelihood import Lookup
from evosynth.schema import FloatArray
from evosynth.spec import load
from evosynth.synthesis import synthesize

MODEL = {"kind": "quantile", "formula": "PAY ~ AGE + SEX + AREA", "coefficients": by_term("0.00")}


def _design(data: pd.DataFrame) -> FloatArray:
    columns = [data["SEX"] == 2, data["AREA"] == "s", data["AREA"] == "w"]
    return np.column_stack([np.ones(len(data)), data["AGE"], *columns]).astype(float)


def _least(x: FloatArray, y: FloatArray, quantile: float) -> tuple[FloatArray, float]:
    """Coefficients and loss of a quantile regression by linear programming (the dual)."""
    goal = (1 - quantile) * x.sum(axis=0)
    found = linprog(-y, A_eq=x.T, b_eq=goal, bounds=(0, 1), method="highs")
    assert found.success
    coefficients = -found.eqlin.marginals
    return coefficients, _loss(x, y, coefficients, quantile)


def _loss(x: FloatArray, y: FloatArray, coefficients: FloatArray, quantile: float) -> float:
    gap = y - x @ coefficients
    return float(gap @ (quantile - (gap < 0)))


@pytest.mark.parametrize("quantile", ["0.5", "0.25", "0.9"])
def test_statsmodels_agrees_with_a_linear_programme(tmp_path, quantile):
    data = truth(3, 151)
    found = recomputed(tmp_path, MODEL | {"quantile": quantile}, data)
    x, y = _design(data), data["PAY"].to_numpy()
    _, least = _least(x, y, float(quantile))
    told = np.array([found[term] for term in TERMS])
    assert _loss(x, y, told, float(quantile)) == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("quantile", ["0.5", "0.2"])
def test_corners_hold_the_plane_where_loads_are_small(tmp_path, quantile):
    spec, data = write(tmp_path, MODEL | {"quantile": quantile}, truth(1, 200))
    (block,) = spec.plans[0].smooth
    made = synthesize(spec, seed=1)
    rng = np.random.default_rng(0)
    held = loose = 0
    for _ in range(120):
        frame = made.data.copy()
        frame["AREA"] = frame["AREA"].astype(str)
        moved = rng.choice(len(frame), rng.integers(0, 9), replace=False)
        frame.loc[moved, "PAY"] = rng.integers(1, 600, len(moved)) / 10
        on_plane = np.abs(frame["PAY"] - _design(frame) @ block.corners.coefficients) < 1e-9
        codes = encode(frame, spec.schema)
        corner = (codes[:, None, :] == block.corners.codes).all(axis=2)
        frame.loc[on_plane & ~corner.any(axis=1), "PAY"] += 0.1
        codes = encode(frame, spec.schema)
        load = block.refit(codes, np.ones(len(codes)))
        x, y = _design(frame), frame["PAY"].to_numpy()
        coefficients, least = _least(x, y, float(quantile))
        own = _loss(x, y, block.corners.coefficients, float(quantile))
        if (np.abs(load) < 1).all():
            np.testing.assert_allclose(coefficients, block.corners.coefficients, atol=1e-6)
            held += 1
        if (np.abs(load) > 1.05).any():
            assert own > least + 1e-9
            loose += 1
    assert held > 10 and loose > 10


def test_influence_adds_up_to_the_loads(tmp_path):
    spec, data = write(tmp_path, MODEL, truth(1, 200))
    (block,) = spec.plans[0].smooth
    codes = encode(synthesize(spec, seed=1).data.astype({"AREA": str}), spec.schema)
    expansion = block.expand(codes, np.ones(len(codes)))
    there = expansion.offset + expansion.influence(codes).sum(axis=0)
    # Corners may hold more records than they are asked to.
    assert (np.abs(block.refit(codes, np.ones(len(codes)))) <= np.abs(there) + 1e-9).all()
    assert (np.abs(there) < 3).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("change", [{}, {"quantile": "0.25"}, {"where": "AGE >= 30"}])
def test_round_trip(tmp_path, seed, change):
    assert round_trip(tmp_path, MODEL | change, seed, 301) == []


def test_round_trip_with_logs_powers_and_some_terms(tmp_path):
    model = {
        "kind": "quantile",
        "formula": "log(PAY) ~ AGE + I(AGE^2) + SEX*HOURS",
        "coefficients": by_term("0.0000", ["AGE", "SEX[2]", "SEX[2]:HOURS"]),
        "observations": "0",
    }
    assert round_trip(tmp_path, model, 2, 501) == []


def test_a_plane_is_laid_wherever_there_is_one():
    rng = np.random.default_rng(4)
    for _ in range(20):
        width = int(rng.integers(1, 6))
        x = np.column_stack([np.ones(60), rng.integers(0, 12, (60, width - 1))])
        corners = rng.choice(60, width, replace=False)
        if abs(np.linalg.det(x[corners])) < 1:
            continue
        levels = np.arange(-200.0, 200.0)
        y = rng.integers(-40, 40, width)
        plane = np.linalg.solve(x[corners], y)
        points = np.zeros((60, width + 1), dtype=np.int64)
        points[:, :width] = np.arange(60)[:, None]
        design = Design(
            np.arange(width + 1), np.arange(width), 60 * np.arange(width), x.T.ravel().copy()
        )
        target = plane.round(2)
        half = np.full(width, 0.005)
        found = lay(points, design, Lookup(width, levels), np.arange(400), target, half)
        assert found.distance < 1
        assert np.abs(found.coefficients - target).max() < 0.005
        there = design.rows(found.codes) @ found.coefficients
        np.testing.assert_allclose(there, levels[found.codes[:, width]], atol=1e-7)


def test_fine_coefficients_are_met_where_few_of_many_records_lie_on_their_plane(tmp_path):
    text = """\
title: Fine coefficients of a coarse outcome
records: 500
variables:
  GROUP: {categories: {1: A, 2: B, 3: C, 4: D}}
  AGE: {integer: [0, 100]}
  DOSE: {number: {min: 0.00, max: 100.00, decimals: 2}}
  SCORE: {integer: [0, 100]}
outputs:
  - kind: quantile
    formula: SCORE ~ GROUP + AGE + DOSE
    coefficients: {Intercept: 59.4657, "GROUP[2]": 0.4960, "GROUP[3]": -2.5058, "GROUP[4]": 6.1104,
      AGE: -0.1061, DOSE: 0.1689}
"""
    file = tmp_path / "spec.yaml"
    file.write_text(text, encoding="utf-8")
    assert synthesize(load(file), 1, generations=20).verification["exact"].all()


VARIABLES = "Y: {integer: [0, 9]}\nX: {integer: [0, 9]}\nZ: {categories: {a: A, b: B}}"


@pytest.mark.parametrize(
    "text, fault",
    {
        "formula: Y ~ X\ncoefficients: {X: 1.0}\nquantile: 1.5": "should be less than 1",
        "formula: Y ~ X\nstandard_errors: {X: 1.0}": "unknown key",
        "formula: Y ~ X\ncoefficients: {X: 1.0}\nrobust: HC1": "unknown key",
        "formula: Z ~ X\ncoefficients: {X: 1.0}": "holds categories that are not numbers",
        "formula: Y ~ X": "no figure is given; there are coefficients, observations",
        "formula: Y ~ X\ncoefficients: {Z: 1.0}": "the formula has no such term",
        "formula: Y ~ Z\nwhere: Z == a\nobservations: 9": "some terms follow from the others",
    }.items(),
)
def test_faults(tmp_path, text, fault):
    (found,) = faults(write_text(tmp_path, VARIABLES, f"kind: quantile\n{text}", 50))
    assert fault in found
