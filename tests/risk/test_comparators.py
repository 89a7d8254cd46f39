"""Comparators: what they keep of the original, against quadrature, moments and one another."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.stats import kurtosis, skew

from evosynth.errors import DataError, EvosynthError
from evosynth.risk import comparators
from evosynth.risk.comparators import cart, margins, nonnormal, normal, synthesise
from evosynth.risk.fleishman import intermediate, least_kurtosis, nearest_correlation, polynomial

METHODS = ["cart", "margins", "normal", "nonnormal"]
NODES, WEIGHTS = hermegauss(40)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def mixed(n=600):
    """A frame of every type, with missing values."""
    rng = np.random.default_rng(8)
    size = rng.gamma(2.0, 3.0, n)
    frame = pd.DataFrame(
        {
            "region": rng.choice(["north", "south", "east"], n, p=[0.5, 0.3, 0.2]),
            "age": rng.integers(18, 90, n),
            "income": np.round(size * 10, 1),
            "count": pd.array(rng.poisson(size), dtype="Int64"),
            "grade": pd.Categorical(rng.choice(list("abc"), n), list("cbad"), ordered=True),
            "yes": rng.random(n) < 0.3,
            "code": rng.choice([1, 2, 7], n),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        }
    )
    frame.loc[rng.random(n) < 0.2, "income"] = np.nan
    frame.loc[frame["age"] > 70, "income"] = np.nan
    frame.loc[rng.random(n) < 0.1, "count"] = pd.NA
    frame.loc[rng.random(n) < 0.1, "region"] = None
    frame.loc[rng.random(n) < 0.1, "grade"] = None
    return frame


def drawn(method, original, n=None, seed=0, **how):
    if method == "cart":
        pytest.importorskip("sklearn")
    return synthesise(method, original, n, seed, **how)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [None, 250, 1000])
def test_types_ranges_decimals_and_levels_are_kept(method, n):
    original = mixed()
    found = drawn(method, original, n, by=["region"], categories=["code"])
    assert len(found) == (600 if n is None else n)
    assert found.dtypes.equals(original.dtypes) and list(found) == list(original)
    assert found.index.equals(pd.RangeIndex(len(found)))
    for name in ["age", "income", "count", "day"]:
        assert found[name].min() >= original[name].min()
        assert found[name].max() <= original[name].max()
    income = found["income"].dropna()
    assert np.array_equal(np.round(income, 1), income)
    for name in ["region", "grade", "yes", "code"]:
        assert set(found[name].dropna()) <= set(original[name].dropna())
    for name in original:
        gap = original[name].isna().mean() - found[name].isna().mean()
        assert abs(gap) < 0.08 and found[name].isna().any() == original[name].isna().any()


@pytest.mark.parametrize("method", METHODS)
def test_the_seed_decides(method):
    original = mixed()
    one, again, other = (drawn(method, original, seed=s, by=["region"]) for s in (5, 5, 6))
    pd.testing.assert_frame_equal(one, again)
    assert not one.equals(other)


def test_trees_keep_associations_that_margins_lose():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(2)
    kind = rng.choice(list("pqrst"), 3000)
    # Neither p-t in order nor one group against the rest: a tree must order the levels itself.
    level = pd.Series(kind).map({"p": 5, "q": 0, "r": 5, "s": 0, "t": 10}).to_numpy()
    original = pd.DataFrame(
        {
            "kind": kind,
            "y": level + rng.normal(0, 0.5, 3000),
            "class": np.where(kind == "q", "u", np.where(kind == "s", "v", "w")),
        }
    )
    kept, lost = cart(original, seed=1), margins(original, seed=1)
    means = original.groupby("kind")["y"].mean()
    assert np.abs(kept.groupby("kind")["y"].mean() - means).max() < 0.2
    assert np.abs(lost.groupby("kind")["y"].mean() - means).max() > 2
    assert (pd.crosstab(kept["kind"], kept["class"]) > 0).sum().sum() == 5
    assert (pd.crosstab(lost["kind"], lost["class"]) > 0).sum().sum() == 15
    assert abs(lost["y"].mean() - original["y"].mean()) < 0.3


@pytest.mark.parametrize("outcome", ["quantity", "two classes", "three classes"])
def test_levels_are_ordered_by_the_outcome_before_they_are_parted(outcome):
    """With leaves this large, levels that alternate are parted by their outcome or not at all."""
    pytest.importorskip("sklearn")
    levels = np.repeat(np.arange(30), 10)
    turn = levels % 10
    classes = np.where(turn < 2, "u", np.where(turn < 5, "v", "w"))
    if outcome != "three classes":
        classes = np.where(levels % 2, "u", "w")
    y = np.where(classes == "u", 1.0, 9.0) if outcome == "quantity" else classes
    original = pd.DataFrame({"level": [f"{one:02}" for one in levels], "y": y})
    found = cart(original, 3000, seed=1, least=60)
    assert (pd.crosstab(found["level"], found["y"]) > 0).sum(axis=1).eq(1).all()


def test_trees_keep_why_values_are_missing():
    pytest.importorskip("sklearn")
    found = cart(mixed(2000), seed=3)
    old = found["age"] > 70
    assert found.loc[old, "income"].isna().all() and found.loc[~old, "income"].notna().any()


def test_trees_never_mix_fewer_records_than_a_leaf_holds():
    """With leaves of everyone, a tree is the margin; with one record per leaf, a copy."""
    pytest.importorskip("sklearn")
    original = pd.DataFrame({"x": np.arange(200.0), "y": np.arange(200.0) ** 2})
    copied = cart(original, seed=1, least=1)
    assert np.array_equal(copied["y"], copied["x"] ** 2)
    apart = cart(original, 5000, seed=1, least=200)
    assert abs(np.corrcoef(apart["x"], apart["y"])[0, 1]) < 0.05
    order = cart(original, seed=1, order=["y", "x"], least=1)
    assert list(order) == ["x", "y"] and np.array_equal(order["y"], order["x"] ** 2)


def test_a_column_that_is_missing_throughout_stays_so():
    original = pd.DataFrame({"a": ["x", "y"] * 20, "b": [np.nan] * 40, "c": np.arange(40)})
    for method in METHODS:
        found = drawn(method, original)
        assert found["b"].isna().all() and found["c"].notna().all()


@pytest.mark.parametrize("model", [normal, nonnormal])
def test_moments_by_group_are_those_of_the_original(model):
    rng = np.random.default_rng(3)
    group = rng.choice(["young", "old"], 5000, p=[0.3, 0.7])
    old = group == "old"
    x = rng.normal(0, 1, 5000) + 3 * old
    y = np.where(old, -0.7, 0.7) * x + rng.normal(0, 1, 5000)
    original = pd.DataFrame({"x": x.round(3), "y": y.round(3), "group": group})
    found = model(original, 200_000, seed=4, by=["group"])
    shares = original["group"].value_counts(normalize=True)
    assert np.abs(found["group"].value_counts(normalize=True) - shares).max() < 1e-5
    for name, one in original.groupby("group"):
        two = found[found["group"] == name]
        assert two[["x", "y"]].mean().to_numpy() == pytest.approx(
            one[["x", "y"]].mean().to_numpy(), abs=0.02
        )
        assert two[["x", "y"]].cov().to_numpy() == pytest.approx(
            one[["x", "y"]].cov().to_numpy(), abs=0.03
        )


def test_nonnormal_draws_have_the_shape_that_normal_ones_lack():
    rng = np.random.default_rng(1)
    original = pd.DataFrame({"x": rng.gamma(3, 1, 4000), "z": rng.normal(0, 1, 4000)})
    original["y"] = original["x"] + 0.5 * rng.gamma(3, 1, 4000)
    plain, shaped = normal(original, 100_000, 1), nonnormal(original, 100_000, 1)
    wanted = skew(original["x"])
    assert wanted > 1 and abs(skew(plain["x"])) < 0.3
    assert skew(shaped["x"]) == pytest.approx(wanted, abs=0.15)
    assert kurtosis(shaped["x"]) == pytest.approx(kurtosis(original["x"]), abs=0.5)
    assert np.abs(shaped.corr() - original.corr()).to_numpy().max() < 0.03


@pytest.mark.parametrize("model", [normal, nonnormal])
def test_few_values_are_the_only_ones(model):
    rng = np.random.default_rng(0)
    original = pd.DataFrame({"age": rng.choice([17.5, 22, 27, 42], 300), "x": rng.normal(size=300)})
    original.loc[:30, "age"] = np.nan
    found = model(original, 2000, seed=1)
    assert set(found["age"].dropna()) == {17.5, 22, 27, 42}
    assert 0.05 < found["age"].isna().mean() < 0.2 and found["x"].nunique() > 300


def test_small_groups_are_drawn_with_the_moments_of_everyone():
    rng = np.random.default_rng(0)
    original = pd.DataFrame({"g": ["a"] * 500 + ["b"], "x": rng.normal(0, 1, 501)})
    original["who"] = [f"name {i}" for i in range(501)]
    original.loc[500, "x"] = 40.0
    found = normal(original, 50_100, seed=2, by=["g"])
    alone = found[found["g"] == "b"]
    assert len(alone) == 100 and alone["x"].mean() < 10 and alone["who"].nunique() > 50


@pytest.mark.parametrize(
    ("skewness", "excess"),
    [(0, 0), (0.5, 1), (1, 2), (-1, 3), (2, 7), (0, -1), (1.75, 3.75), (0, 20)],
)
def test_polynomials_have_the_wanted_moments_by_quadrature(skewness, excess):
    b, c, d = polynomial(skewness, excess)
    y = -c + b * NODES + c * NODES**2 + d * NODES**3
    moments = [float(WEIGHTS @ y**power) for power in (1, 2, 3, 4)]
    assert moments == pytest.approx([0, 1, skewness, excess + 3], abs=1e-7)


@pytest.mark.parametrize("skewness", [0, 0.5, 1, 2, 5, -3])
def test_a_kurtosis_out_of_reach_is_raised_to_the_nearest(skewness):
    b, c, d = polynomial(skewness, -2)
    y = -c + b * NODES + c * NODES**2 + d * NODES**3
    assert [float(WEIGHTS @ y**p) for p in (1, 2, 3)] == pytest.approx([0, 1, skewness], abs=1e-6)
    reached = float(WEIGHTS @ y**4) - 3
    assert reached >= max(least_kurtosis(skewness), -2) - 0.01
    assert reached <= least_kurtosis(skewness) + 0.3 * (1 + skewness**2)


def test_published_fleishman_coefficients():
    """Skewness 1.75, kurtosis 3.75, as Fleishman (1978) tabulates them."""
    found = polynomial(1.75, 3.75)
    assert np.abs(found) == pytest.approx([0.92966, 0.39949, 0.03647], abs=2e-4)


@pytest.mark.parametrize("wanted", [-0.5, 0.0, 0.3, 0.7, 0.9])
def test_intermediate_correlations_by_quadrature(wanted):
    one, two = polynomial(1, 2), polynomial(0.5, 1)
    r = intermediate(one, two, wanted)
    x, z = np.meshgrid(NODES, NODES)
    weights = np.outer(WEIGHTS, WEIGHTS)
    other = r * x + np.sqrt(1 - r**2) * z
    first = -one[1] + one[0] * x + one[1] * x**2 + one[2] * x**3
    second = -two[1] + two[0] * other + two[1] * other**2 + two[2] * other**3
    assert float((weights * first * second).sum()) == pytest.approx(wanted, abs=1e-8)
    assert intermediate(one, polynomial(-1, 2), 1.0) == 1.0  # out of reach: the nearest


def test_what_is_no_correlation_matrix_is_made_one():
    broken = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    found = nearest_correlation(broken)
    assert np.linalg.eigvalsh(found).min() > -1e-12 and np.diag(found) == pytest.approx(1)
    good = np.array([[1, 0.5], [0.5, 1]])
    assert nearest_correlation(good) == pytest.approx(good)


@pytest.mark.parametrize("method", METHODS)
def test_derived_variables_hold_in_every_record(method):
    rng = np.random.default_rng(1)
    original = pd.DataFrame({"v": rng.integers(20, 80, 300), "m": rng.integers(20, 80, 300)})
    original["total"] = original["v"] + original["m"]
    found = drawn(
        method, original[["total", "v", "m"]], derived={"total": lambda f: f["v"] + f["m"]}
    )
    assert list(found) == ["total", "v", "m"]
    assert (found["total"] == found["v"] + found["m"]).all()
    assert found["total"].dtype == original["total"].dtype


def test_group_sizes_are_shared_out_exactly():
    shared = comparators._shared_out(np.array([1, 1, 1, 7]), 11)
    assert shared.sum() == 11 and shared.tolist() == [1, 1, 1, 8]
    assert comparators._shared_out(np.array([30, 70]), 100).tolist() == [30, 70]


def test_what_cannot_be_modelled_says_why():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.inf]})
    for call, kind, words in (
        (lambda: synthesise("gan", frame), EvosynthError, "'gan' is no comparator"),
        (lambda: margins(frame[:0]), DataError, "no records"),
        (lambda: margins(frame, 0), DataError, "0 records cannot be drawn"),
        (lambda: normal(frame, by=["c"]), DataError, "the original lacks: c"),
        (lambda: normal(frame), DataError, "b: infinite values"),
        (lambda: cart(frame, order=["a"]), DataError, "each variable of the original once"),
        (
            lambda: synthesise("normal", frame, by=["a"], derived={"a": lambda f: f["b"]}),
            DataError,
            "groups cannot be derived",
        ),
    ):
        with pytest.raises(kind, match=words):
            call()


def test_without_scikit_learn_the_way_out_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(EvosynthError, match=r"pip install 'evosynth\[risk\]'"):
        cart(pd.DataFrame({"a": [1, 2], "b": [1, 2]}))
