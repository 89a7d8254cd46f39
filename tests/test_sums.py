"""Figures that follow from sums: what a record is said to change is what a refit finds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cases import small
from scipy import stats

from evosynth.moments import Sample
from evosynth.problem import Problem
from evosynth.spec import load
from evosynth.sums import residual

RNG = np.random.default_rng(17)
N = 120
DATA = pd.DataFrame(
    {
        "G": RNG.choice(list("abc"), N),
        "S": RNG.integers(1, 3, N),
        "X": np.where(RNG.random(N) < 0.1, np.nan, RNG.binomial(40, 0.3, N)),
        "Z": np.round(RNG.gamma(3, 2, N).clip(0, 30), 1),
    }
)
DATA["Y"] = (DATA["X"].fillna(9) / 2 + RNG.normal(0, 2, N)).round().clip(-5, 30).astype(int)
VARIABLES = """\
records: 120
variables:
  G: {categories: {a: A, b: B, c: C}}
  S: {categories: {1: one, 2: two}}
  X: {integer: [0, 40], missing: true}
  Z: {number: {min: 0, max: 30, decimals: 1}}
  Y: {integer: [-5, 30]}
outputs:
"""


def by_group(name, variable, statistic):
    cells = DATA.groupby(name)[variable].agg(statistic)
    return "{" + ", ".join(f'{value}: "{found:.4f}"' for value, found in cells.items()) + "}"


def cross(rows, columns):
    return pd.crosstab(DATA[rows], DATA[columns]).to_numpy()


MOMENTS = {
    "mean": "mean",
    "sd": "std",
    "variance": "var",
    "standard_error": "sem",
    "sum": "sum",
    "skewness": "skew",
    "kurtosis": pd.Series.kurt,
}
PEARSON = DATA[["X", "Z", "Y"]].corr()
WELCH = stats.ttest_ind(DATA.Y[DATA.S == 1], DATA.Y[DATA.S == 2], equal_var=False)
STUDENT = stats.ttest_ind(DATA.Z[DATA.S == 1], DATA.Z[DATA.S == 2])
F = stats.f_oneway(*(part["Z"] for _, part in DATA.groupby("G")))
CHI = stats.chi2_contingency(cross("G", "S"), correction=False)
(P, Q), (R, T) = cross("G", "S")[:2]
OUTPUTS = {
    **{
        f"{name} by group": f"{{kind: summary, of: Z, by: G, {name}: {by_group('G', 'Z', how)}}}"
        for name, how in MOMENTS.items()
    },
    **{
        f"{name} with missing values": (
            f"{{kind: summary, of: X, by: S, {name}: {by_group('S', 'X', how)}}}"
        )
        for name, how in MOMENTS.items()
    },
    "mean and sd overall and where": (
        "{kind: summary, of: Y, where: 'S == 2 and G != a', "
        f'mean: "{DATA.Y[(DATA.S == 2) & (DATA.G != "a")].mean():.4f}", '
        f'sd: "{DATA.Y[(DATA.S == 2) & (DATA.G != "a")].std():.4f}"}}'
    ),
    "pearson": (
        "{kind: correlation, of: [X, Z, Y], pearson: "
        f"{{Z: {{X: {PEARSON.X.Z:.4f}}}, Y: {{X: {PEARSON.X.Y:.4f}, Z: {PEARSON.Z.Y:.4f}}}}}}}"
    ),
    "covariance": (
        f"{{kind: correlation, of: [X, Y], covariances: {{Y: {{X: {DATA.X.cov(DATA.Y):.4f}}}}}}}"
    ),
    "welch": (
        "{kind: t_test, of: Y, by: S, equal_variances: false, "
        f"t: {WELCH.statistic:.4f}, df: {WELCH.df:.4f}}}"
    ),
    "student": f"{{kind: t_test, of: Z, by: S, t: {STUDENT.statistic:.4f}}}",
    "anova": f"{{kind: anova, of: Z, by: G, f: {F.statistic:.4f}}}",
    "chi-square": f"{{kind: chi_square, rows: G, columns: S, statistic: {CHI.statistic:.4f}}}",
    "odds ratio": (
        "{kind: odds_ratio, rows: G, columns: S, where: 'G in (a, b)', "
        f"odds_ratio: {P * T / Q / R:.4f}, risk_ratio: {P / (P + Q) / (R / (R + T)):.4f}}}"
    ),
}


@pytest.fixture(params=OUTPUTS)
def spec(request, tmp_path):
    return small(tmp_path, f"{VARIABLES}  - {OUTPUTS[request.param]}\n")


def coded(spec):
    columns = []
    for variable in spec.schema.variables:
        place = {value: level for level, value in enumerate(variable.values.tolist())}
        missing = DATA[variable.name].isna()
        known = DATA[variable.name].where(~missing, variable.values[0])
        columns.append(np.where(missing, variable.size - 1, known.map(place)))
    return np.array(columns).T.astype(spec.schema.dtype)


def test_data_survive_coding(spec):
    pd.testing.assert_frame_equal(
        spec.schema.frame(coded(spec)), DATA, check_dtype=False, check_column_type=False
    )


def test_a_refit_finds_what_an_analyst_computes(spec):
    problem = Problem.of(spec.plans, spec.schema)
    values = spec.outputs[0].recompute(DATA, np.ones(N), spec.schema)
    off = problem.measure(coded(spec), np.ones(N, dtype=np.int64))
    assert len(off) == len(values) > 0
    for figure, value, distance in zip(spec.figures[0], values, off, strict=True):
        assert figure.printed.prints(value)
        assert abs(distance) <= 1
        low, high = figure.printed.interval
        assert value == pytest.approx((low + high) / 2 + distance * (high - low) / 2, abs=1e-9)


def test_the_influence_of_records_is_the_derivative_of_the_refit(spec):
    codes, rng = coded(spec), np.random.default_rng(3)
    counts = rng.integers(1, 4, N) * 1.0
    for block in spec.plans[0].smooth:
        expansion = block.expand(codes, counts)
        influence = expansion.influence(codes)
        there = block.refit(codes, counts)
        np.testing.assert_allclose(expansion.offset + counts @ influence, there, rtol=1e-8)
        for _ in range(3):
            way = rng.normal(size=N)
            step = 1e-4
            ahead, behind = (block.refit(codes, counts + s * way) for s in (step, -step))
            slope = (ahead - behind) / (2 * step)
            size = np.abs(influence * way[:, None]).sum(axis=0)
            assert (size > 0).all()
            np.testing.assert_allclose(way @ influence, slope, atol=1e-5 * size.max(), rtol=1e-5)


def test_the_influence_of_a_record_is_about_its_effect(spec):
    codes, counts = coded(spec), np.full(N, 50.0)
    for block in spec.plans[0].smooth:
        influence = block.expand(codes, counts).influence(codes)
        before = block.refit(codes, counts)
        for record in range(0, N, 17):
            more = counts.copy()
            more[record] += 1
            change = block.refit(codes, more) - before
            typical = np.abs(influence).max(axis=0)
            np.testing.assert_allclose(influence[record], change, atol=0.02 * typical.max())


def test_moments_are_those_of_pandas():
    for about in (0.0, 7.5):
        powers = (DATA["Z"].to_numpy() - about)[:, None] ** np.arange(5)
        sample = Sample(powers.sum(axis=0)[None], about)
        found = {
            "sum": sample.total,
            "mean": sample.mean,
            "std": sample.sd,
            "var": sample.variance,
            "sem": sample.standard_error,
            "skew": sample.skewness,
            "kurt": sample.kurtosis,
        }
        for name, value in found.items():
            assert value[0] == pytest.approx(getattr(DATA["Z"], name)()), name


def test_only_the_ends_of_a_wide_interval_matter():
    low, high, unit = np.zeros(5), np.full(5, 10.0), np.full(5, 0.5)
    off, slope = residual(np.array([5.0, 0.75, 0.25, -0.5, 11.0]), low, high, unit)
    np.testing.assert_allclose(off, [0, 0, -0.5, -2, 3])
    np.testing.assert_allclose(slope, [0, 0, 2, 2, 2])


@pytest.mark.parametrize("bound", ["<6", "<=6.1", ">6", ">=5.9"])
@pytest.mark.parametrize("statistic", ["mean", "sd"])
def test_a_bound_is_kept_at_no_distance_and_missed_at_some(bound, statistic, tmp_path):
    text = f"""\
records: 40
variables: {{X: {{integer: [0, 40]}}}}
outputs:
  - {{kind: summary, of: X, {statistic}: "{bound}"}}
"""
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    spec = load(path, anyway=True)
    problem, seen = Problem.of(spec.plans, spec.schema), set()
    for low, high in [(0, 1), (0, 9), (0, 13), (3, 9), (5, 8), (0, 40), (38, 41)]:
        codes = np.random.default_rng(high).integers(low, high, (40, 1)).astype(np.uint8)
        values = spec.outputs[0].recompute(spec.schema.frame(codes), np.ones(40), spec.schema)
        (off,) = problem.measure(codes, np.ones(40, dtype=np.int64))
        inside = spec.figures[0][0].printed.prints(values[0])
        assert (abs(off) < 1) == inside
        assert np.isfinite(problem.expand(codes, np.ones(40)).influence(codes)).all()
        seen.add(inside)
    assert seen == {True, False}


def test_an_empty_group_counts_as_far_off(tmp_path):
    spec = small(tmp_path, f"{VARIABLES}  - {OUTPUTS['mean by group']}\n")
    (block,) = spec.plans[0].smooth
    codes = coded(spec)[DATA["G"] != "b"]
    counts = np.ones(len(codes))
    assert np.isnan(block.refit(codes, counts)).tolist() == [False, True, False]
    assert np.isfinite(block.expand(codes, counts).influence(codes)).all()
    problem = Problem.of(spec.plans, spec.schema)
    assert np.isinf(problem.measure(codes, counts.astype(np.int64))).tolist() == [
        False,
        True,
        False,
    ]
