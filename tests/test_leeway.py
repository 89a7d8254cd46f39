"""Combinations of figures that only counts can move, and sizes chosen to suit them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from cases import problem_of, small
from scipy import sparse

from evosynth.kernels.cells import count_weights
from evosynth.leeway import Leeway
from evosynth.settle import settle
from evosynth.synthesis import synthesize

RECORDS = 1500


def truth():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"C": rng.choice(3, RECORDS, p=[0.2, 0.5, 0.3]), "AGE": rng.integers(20, 60, RECORDS)}
    )
    chance = 1 / (1 + np.exp(-(-2 + 0.03 * frame["AGE"] + 0.5 * frame["C"])))
    frame["S"] = (rng.random(RECORDS) < chance).astype(int)
    return frame


@pytest.fixture(scope="module")
def text():
    """Row percentages of classes of unknown size, the mean age, and a logit of both."""
    frame = truth()
    shares = 100 * pd.crosstab(frame["C"], frame["S"], normalize="index").to_numpy()
    x = pd.get_dummies(frame["C"], prefix="C", drop_first=True).astype(float)
    x.insert(0, "AGE", frame["AGE"])
    fit = sm.Logit(frame["S"], sm.add_constant(x)).fit(disp=0)
    names = ["Intercept", "AGE", '"C[1]"', '"C[2]"']
    terms = ", ".join(f"{n}: {b:.4f}" for n, b in zip(names, fit.params, strict=True))
    rows = ", ".join(f"{c}: [{row[0]:.1f}, {row[1]:.1f}]" for c, row in enumerate(shares))
    return f"""\
records: {RECORDS}
variables:
  C: {{categories: {{0: low, 1: middle, 2: high}}}}
  AGE: {{integer: [20, 59]}}
  S: {{categories: {{0: "no", 1: "yes"}}}}
outputs:
  - {{kind: crosstab, rows: C, columns: S, row_percentages: {{{rows}}}}}
  - {{kind: summary, of: AGE, mean: {frame["AGE"].mean():.2f}, sd: {frame["AGE"].std():.2f}}}
  - {{kind: logit, formula: S ~ AGE + C, coefficients: {{{terms}}}}}
"""


def leeway_of(text, folder):
    """What figures ask of counts near the truth."""
    problem = problem_of(small(folder, text))
    codes = truth()[["C", "AGE", "S"]].to_numpy() - [0, 20, 0]
    codes = codes.astype(problem.schema.dtype)
    cells, weights = problem.cells(codes), np.ones(RECORDS)
    return problem, codes, cells, Leeway.of(problem, codes, cells, weights)


def test_some_figures_hardly_move_unless_counts_do(text, tmp_path):
    problem, codes, cells, leeway = leeway_of(text, tmp_path)
    assert leeway is not None
    counts = count_weights(cells, np.ones(RECORDS), len(problem.low))
    assert leeway.off(counts) == 0.0
    rows = leeway.rows(counts, 0.0)
    assert ((rows.matrix @ counts >= rows.low) & (rows.matrix @ counts <= rows.high)).all()
    # A few more smokers of every class, and as many fewer others: too many for the logit.
    smokers = codes[:, 2] == 1
    tilt = np.where(smokers, 1.03, 1 - 0.03 * smokers.sum() / (~smokers).sum())
    more = count_weights(cells, tilt, len(problem.low))
    assert leeway.off(more) > 1.0
    assert not ((rows.matrix @ more >= rows.low) & (rows.matrix @ more <= rows.high)).all()


def test_without_shares_there_is_none(text, tmp_path):
    counts = pd.crosstab(truth()["C"], truth()["S"]).to_numpy()
    rows = ", ".join(f"{c}: [{row[0]}, {row[1]}]" for c, row in enumerate(counts))
    start = text.index("row_percentages: {")
    end = text.index("}", start) + 1
    assert leeway_of(text[:start] + f"counts: {{{rows}}}" + text[end:], tmp_path)[-1] is None


def test_sizes_are_chosen_to_suit_them(text, tmp_path):
    found = []
    for given in (True, False):
        problem, _, cells, _ = leeway_of(text, tmp_path)
        expected = count_weights(cells, np.ones(RECORDS), len(problem.low))
        size = problem.shares[0].of
        matrix = sparse.csr_matrix(([1.0], ([0], [size])), (1, len(expected)))
        leeway = Leeway(matrix, np.array([-(expected[size] + 60)]), np.array([8.0]))
        settle(problem, expected, np.random.default_rng(1), leeway=leeway if given else None)
        assert problem.low[size] == problem.high[size]
        found.append(problem.low[size] - expected[size])
    assert abs(found[0] - 60) <= 8
    assert abs(found[1]) < 52


@pytest.mark.parametrize("seed", [1, 2])
def test_sizes_leave_a_logit_and_a_mean_room(text, tmp_path, seed):
    result = synthesize(small(tmp_path, text), seed, time=60)
    assert result.verification["exact"].all()
