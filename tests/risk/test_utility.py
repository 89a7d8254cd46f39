"""Utility: overlaps and distances worked by hand, and against scipy, statsmodels and pandas."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.spatial import distance as scipy_distance
from scipy.stats import chi2, ks_2samp

from evosynth.errors import DataError, EvosynthError
from evosynth.risk.comparators import margins, normal
from evosynth.risk.utility import (
    MEASURES,
    compare_correlations,
    compare_distributions,
    compare_regressions,
    interval_overlap,
    mahalanobis,
    map_points,
    utility,
)


@pytest.fixture(scope="module")
def halves():
    data = sm.datasets.fair.load_pandas().data
    data["affair"] = np.where(data["affairs"] > 0, "yes", "no")
    data = data.drop(columns="affairs").sample(frac=1, random_state=1).reset_index(drop=True)
    return data[:3000], data[3000:].reset_index(drop=True)


def test_overlaps_worked_by_hand():
    z = 1.959963984540054
    # The same; half of each; a quarter within the whole; apart; touching.
    original = [5.0, 0.0, 0.0, 0.0, 0.0]
    errors = [2.0, 1 / z, 4 / z, 1 / z, 1 / z]
    synthetic = [5.0, 1.0, 0.0, 3.0, 2.0]
    others = [2.0, 1 / z, 1 / z, 1 / z, 1 / z]
    found = interval_overlap(original, errors, synthetic, others)
    assert found == pytest.approx([1, 0.5, (0.25 + 1) / 2, 0, 0], abs=1e-12)


def test_overlaps_that_are_undefined():
    found = interval_overlap([1, 1, np.nan, 1], [0, 1, 1, 1], [1, 1, 1, 1], [1, 0, 1, np.inf])
    assert np.isnan(found).all()
    assert interval_overlap(0, 1, 1.5, 1, 0.5) == 0 and interval_overlap(0, 1, 1.5, 1, 0.9) > 0


def test_distances_are_those_of_scipy():
    rng = np.random.default_rng(5)
    root = rng.normal(size=(4, 4)) * [1, 100, 1e-4, 1]
    v, a, b = root.T @ root, rng.normal(size=4), rng.normal(size=4)
    found = mahalanobis(a, v, b)
    assert found.squared == pytest.approx(scipy_distance.mahalanobis(a, b, np.linalg.inv(v)) ** 2)
    assert (found.df, found.critical) == (4, pytest.approx(chi2.ppf(0.95, 4)))
    near = mahalanobis([1.0, 2.0], np.diag([4.0, 1.0]), [3.0, 3.0])
    assert near.squared == pytest.approx(2.0) and near.exceeds is False
    assert mahalanobis([1.0], [[1.0]], [3.0]).exceeds is True


def test_distances_that_are_undefined():
    for found in (
        mahalanobis([1.0, 2.0], np.ones((2, 2)), [1.0, 2.0]),
        mahalanobis([1.0], [[0.0]], [2.0]),
        mahalanobis([1.0], [[1.0]], [np.nan]),
        mahalanobis([], np.zeros((0, 0)), []),
    ):
        assert math.isnan(found.squared) and found.exceeds is None


def test_least_squares_is_that_of_statsmodels(halves):
    original, synthetic = halves
    found = compare_regressions(
        original, synthetic, "yrs_married ~ age + I(age^2) + occupation", ["occupation"]
    )
    rows = found.coefficients.set_index("term")
    for side, frame in (("original", original), ("synthetic", synthetic)):
        dummies = pd.get_dummies(frame["occupation"], dtype=float).iloc[:, 1:]
        x = np.column_stack([np.ones(len(frame)), frame["age"], frame["age"] ** 2, dummies])
        fit = sm.OLS(frame["yrs_married"].to_numpy(), x).fit()
        assert rows[side].to_numpy() == pytest.approx(fit.params)
        assert rows[f"{side}_se"].to_numpy() == pytest.approx(fit.bse)
        if side == "original":
            inverse, first = np.linalg.inv(fit.cov_params()), fit.params
    squared = (fit.params - first) @ inverse @ (fit.params - first)
    assert found.distance.squared == pytest.approx(squared, rel=1e-5)
    assert found.model == "ols" and list(rows.index[:3]) == ["Intercept", "age", "I(age^2)"]
    assert found.overlap == pytest.approx(rows["overlap"].mean())


def test_a_logit_is_that_of_statsmodels(halves):
    original, synthetic = halves
    found = compare_regressions(original, synthetic, "affair ~ rate_marriage*religious + log(age)")
    assert found.model == "logit"
    rows = found.coefficients.set_index("term")
    x = sm.add_constant(
        pd.DataFrame(
            {
                "rate_marriage": synthetic["rate_marriage"],
                "religious": synthetic["religious"],
                "log(age)": np.log(synthetic["age"]),
                "rate_marriage:religious": synthetic["rate_marriage"] * synthetic["religious"],
            }
        )
    ).rename(columns={"const": "Intercept"})
    fit = sm.Logit((synthetic["affair"] == "yes").astype(float), x).fit(disp=0)
    assert rows["synthetic"].to_dict() == pytest.approx(fit.params.to_dict(), rel=1e-6)
    assert rows["synthetic_se"].to_dict() == pytest.approx(fit.bse.to_dict(), rel=1e-6)


def test_two_samples_of_one_population_are_seldom_far_apart():
    """The distance of a copy is 0; a second sample's is about twice a chi-squared."""
    rng = np.random.default_rng(6)

    def sample():
        x = rng.normal(size=400)
        return pd.DataFrame({"x": x, "y": 1 + 2 * x + rng.normal(size=400)})

    distances = [
        compare_regressions(sample(), sample(), "y ~ x").distance.squared for _ in range(200)
    ]
    assert np.mean(distances) == pytest.approx(4, rel=0.25)
    one = sample()
    copy = compare_regressions(one, one, "y ~ x")
    assert copy.distance.squared == 0 and copy.overlap == pytest.approx(1)


def test_terms_that_a_frame_cannot_estimate_are_undefined():
    rng = np.random.default_rng(0)
    original = pd.DataFrame({"y": rng.normal(size=60), "g": list("abc") * 20})
    synthetic = pd.DataFrame({"y": rng.normal(size=60), "g": list("abd") * 20})
    found = compare_regressions(original, synthetic, "y ~ g")
    rows = found.coefficients.set_index("term")
    assert list(rows.index) == ["Intercept", "g[b]", "g[c]", "g[d]"]
    assert rows["overlap"].isna().tolist() == [False, False, True, True]
    assert math.isnan(found.distance.squared) and found.distance.exceeds is None
    assert rows.loc["g[b]", "synthetic"] == pytest.approx(
        synthetic.groupby("g")["y"].mean()["b"] - synthetic.groupby("g")["y"].mean()["a"]
    )


def test_codes_are_the_same_level_as_their_texts():
    rng = np.random.default_rng(0)
    original = pd.DataFrame({"y": rng.integers(0, 2, 90), "g": [1, 2, 3] * 30})
    found = compare_regressions(original, original.astype({"y": str, "g": str}), "y ~ g", ["g"])
    rows = found.coefficients
    assert found.model == "logit" and rows["term"].tolist() == ["Intercept", "g[2]", "g[3]"]
    assert rows["overlap"].to_numpy() == pytest.approx(1)


@pytest.mark.parametrize("separated", ["perfect", "quasi", "constant"])
def test_a_logit_without_a_maximum_is_undefined(separated):
    x = np.arange(40.0)
    y = np.where(x > 19.5, "yes", "no")
    good = pd.DataFrame({"x": x, "y": np.where(x % 3 == 0, "yes", "no"), "g": list("ab") * 20})
    bad = pd.DataFrame({"x": x, "y": y, "g": np.where(x > 10, "a", "b")})
    if separated == "constant":
        bad["y"] = "no"
    formula = "y ~ g" if separated == "quasi" else "y ~ x"
    found = compare_regressions(good, bad, formula)
    assert found.coefficients["synthetic"].isna().all() and math.isnan(found.overlap)
    assert found.coefficients["original"].notna().all()


def test_missing_values_are_left_out_of_regressions():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"y": rng.normal(size=80), "g": list("ab") * 40, "x": rng.normal(size=80)})
    holes = frame.copy()
    holes.loc[:9, "y"], holes.loc[10:19, "g"], holes.loc[20:29, "x"] = np.nan, None, np.nan
    found = compare_regressions(holes, frame[30:], "y ~ g + x").coefficients
    assert found["original"].to_numpy() == pytest.approx(found["synthetic"].to_numpy())


def test_distributions_are_tested_as_scipy_does(halves):
    original, synthetic = halves
    synthetic = synthetic.assign(age=synthetic["age"] + 3)
    synthetic.loc[:5, "educ"] = np.nan
    names = ["age", "educ", "affair", "children"]
    found = compare_distributions(original, synthetic, names, ["children"]).set_index("variable")
    assert list(found.index) == ["age", "educ"]
    own = ks_2samp(original["educ"], synthetic["educ"].dropna(), method="asymp")
    assert found.loc["educ", "p"] == pytest.approx(own.pvalue)
    assert found.loc["educ", "statistic"] == pytest.approx(own.statistic)
    assert found["passes"].tolist() == [False, True]


def test_correlations_are_those_of_pandas():
    rng = np.random.default_rng(0)
    original = pd.DataFrame(rng.normal(size=(50, 3)), columns=list("abc"))
    synthetic = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc")).assign(c=1.0)
    original.loc[:4, "a"] = np.nan
    found = compare_correlations(original, synthetic, list("abc"))
    assert found["one"].tolist() == ["a", "a", "b"] and found["two"].tolist() == ["b", "c", "c"]
    pair = original.dropna()
    assert found.loc[0, "original"] == pytest.approx(np.corrcoef(pair["a"], pair["b"])[0, 1])
    both = found.loc[0, "synthetic"] - found.loc[0, "original"]
    assert found.loc[0, "difference"] == pytest.approx(both)
    assert found["difference"].isna().tolist() == [False, True, True]


def test_everything_at_once_tells_good_data_from_bad(halves):
    original, holdout = halves
    formula = "affair ~ age + yrs_married + religious"
    model = ["yrs_married ~ age + religious + children"]
    good = utility(original, holdout[:3000], models=[formula, *model])
    bad = utility(original, margins(original, seed=2), models=[formula, *model])
    assert set(good.summary()) == set(MEASURES)
    for name, (_, better) in MEASURES.items():
        one, two = good.summary()[name], bad.summary()[name]
        if name == "ks_share":
            assert one == two == 1  # margins keep the margins
        else:
            assert (one > two) == (better == "higher"), name
    assert bad.summary()["mahalanobis_exceeded"] == 1
    assert len(good.distances()) == 2 and len(good.coefficients()) == 8
    plain = json.loads(json.dumps(good.to_dict(), allow_nan=False))
    assert plain["summary"]["hellinger"] == good.summary()["hellinger"]
    assert plain["tables"][0]["variables"] == "rate_marriage"


def test_what_nothing_defines_is_undefined():
    frame = pd.DataFrame({"g": list("ab") * 3})
    found = utility(frame, frame)
    summary = found.summary()
    assert summary["hellinger"] == 0 and summary["s_pmse"] == 0
    for name in ["u", "ks_share", "correlation_difference", "interval_overlap"]:
        assert math.isnan(summary[name])
    assert found.to_dict()["summary"]["ks_share"] is None
    empty = utility(pd.DataFrame({"x": [1.0, 2.0]}), pd.DataFrame({"x": [np.nan, np.nan]}))
    assert empty.distributions["passes"].isna().all()


def test_points_of_a_map(halves):
    original, holdout = halves
    names = ["age", "educ"]
    utilities = {
        "holdout": utility(original, holdout, variables=names),
        "normal": utility(original, normal(original, seed=1), variables=names),
    }
    found = map_points({"normal": 0.1, "holdout": 0.2}, utilities, "correlation_difference")
    assert found["label"].tolist() == ["normal", "holdout"] and found["risk"].tolist() == [0.1, 0.2]
    own = utilities["holdout"].summary()["correlation_difference"]
    assert found["utility"].tolist()[1] == own and set(found["better"]) == {"lower"}
    with pytest.raises(EvosynthError, match="without both risk and utility: normal"):
        map_points({"holdout": 1.0}, utilities)
    with pytest.raises(EvosynthError, match="'x' is no measure"):
        map_points({}, {}, "x")


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("g ~ y", "g has 3 levels: an outcome is a quantity or has two"),
        ("y ~ z", "y ~ z: the original lacks: z"),
        ("y ~ w", "y ~ w: the synthetic data lack: w"),
        ("y ~ log(g)", r"log\(g\): g is no quantity"),
        ("y ~ g + exp(1)", "y ~ g \\+ exp"),
    ],
)
def test_what_cannot_be_fitted_says_why(formula, words):
    frame = pd.DataFrame({"y": [1.0, 2, 3], "g": list("abc"), "w": 1.0})
    with pytest.raises(DataError, match=words):
        compare_regressions(frame, frame.drop(columns="w"), formula)
