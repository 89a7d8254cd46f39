import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import evosynth
from evosynth.risk import intervals
from evosynth.risk.checks import ONE_WAY, TWO_WAY
from evosynth.risk.measures import Share
from evosynth.risk.written import SUPPRESSED, visible

RNG = np.random.default_rng(7)


def population(n, rng):
    """Draw people whose t hangs on a, and on nothing else."""
    a, b = rng.integers(0, 4, n), rng.integers(0, 20, n)
    t = (rng.random(n) < 0.15 + 0.2 * a).astype(int)
    return pd.DataFrame({"a": a, "b": b, "c": rng.integers(0, 30, n), "t": t})


ORIGINAL, HOLDOUT, OTHERS = (population(800, RNG) for _ in range(3))


def assess(synthetic, **more):
    how = {"keys": ["a", "b", "c"], "target": "t", "categorical": "all"}
    return evosynth.risk(synthetic, ORIGINAL, holdout=HOLDOUT, **{**how, **more})


def row(found, comparison, target="t"):
    return next(
        r for r in found.protocol.rows if r["comparison"] == comparison and r["target"] == target
    )


def test_another_sample_tells_no_more_of_people_inside_than_outside():
    found = assess(OTHERS)
    assert found.verdict.startswith(
        "The risk for people in the data cannot be told from the risk for people outside it: what "
        "the synthetic data seem to disclose of t is right for "
    )
    assert found.verdict.endswith("Nor can it for any of the 3 other targets (jointly at 95 %).")


def test_a_copy_of_the_original_tells_more_of_people_inside():
    found = assess(ORIGINAL, general=OTHERS)
    assert found.verdict.startswith("The risk for people in the data is higher than for people")
    assert "It is higher for these other targets (jointly at 95 %): a, b, c." in found.verdict
    assert row(found, "original -> synthetic")["raw"] == 100
    assert row(found, "original -> original")["calibrated"] == pytest.approx(100)
    assert row(found, "original -> general")["raw"] < 100


def test_every_other_variable_is_a_target_given_all_the_rest():
    found = assess(OTHERS)
    for target in "abct":
        keys = [name for name in "abct" if name != target]
        alone = evosynth.risk(OTHERS, ORIGINAL, keys=keys, target=target, categorical="all")
        one = alone.attributions[target]
        mine = row(found, "original -> synthetic", target)
        assert mine["raw"] == one.values["TCAP over disclosive"]
        assert mine["baseline"] == one.rates["baseCAPd"]
        outside = evosynth.risk(OTHERS, HOLDOUT, keys=keys, target=target, categorical="all")
        theirs = row(found, "holdout -> synthetic", target)
        assert theirs["raw"] == outside.attributions[target].values["TCAP over disclosive"]
        # People outside are calibrated by what guessing gives for people inside.
        base = mine["baseline"]
        assert theirs["calibrated"] == pytest.approx(100 * (theirs["raw"] - base) / (100 - base))
    mean = np.mean([row(found, "holdout -> synthetic", name)["raw"] for name in "abc"])
    assert row(found, "holdout -> synthetic", "mean of the others")["raw"] == pytest.approx(mean)


def test_nothing_disclosive_leaves_the_verdict_undefined():
    found = assess(OTHERS.assign(b=99))
    assert "is undefined for t" in found.verdict
    assert math.isnan(row(found, "original -> synthetic")["raw"])
    assert found.summary()["protocol"][0]["raw"] is None


def test_without_a_holdout_there_is_no_verdict():
    found = evosynth.risk(OTHERS, ORIGINAL, keys=["a"], target="t")
    assert found.protocol is None and "give one with --holdout" in found.verdict


@pytest.mark.parametrize(("x", "n"), [(0, 10), (3, 10), (10, 10), (733, 1000)])
def test_exact_intervals_are_those_of_scipy(x, n):
    low, high = intervals.exact(Share(x, n))
    found = stats.binomtest(x, n).proportion_ci(0.95, "exact")
    assert (low / 100, high / 100) == pytest.approx((found.low, found.high))


def test_the_difference_of_two_shares_is_that_of_newcombe():
    # Newcombe (1998), method 10: 56/70 less 48/80 and 9/10 less 3/10.
    assert intervals.difference(Share(56, 70), Share(48, 80)) == pytest.approx(
        (5.24, 33.39), abs=0.005
    )
    assert intervals.difference(Share(9, 10), Share(3, 10)) == pytest.approx(
        (17.05, 80.90), abs=0.005
    )
    assert math.isnan(intervals.difference(Share(0, 0), Share(3, 10))[0])


def test_the_bootstrap_comes_near_the_exact_interval():
    share = Share(300, 400)
    drawn = intervals.bootstrap(share, 1000, 20_000, np.random.default_rng(1))
    assert drawn == pytest.approx(intervals.exact(share), abs=0.6)
    again = intervals.bootstrap(share, 1000, 20_000, np.random.default_rng(1))
    assert drawn == again
    one, other = assess(OTHERS), assess(OTHERS, bootstrap=500)
    assert row(one, "original -> synthetic")["low"] != row(other, "original -> synthetic")["low"]


def test_every_subset_of_keys_is_measured():
    found = evosynth.risk(
        OTHERS, ORIGINAL, keys=["a", "b", "c"], target="t", categorical="all", subsets=2
    )
    assert found.subsets["keys"].tolist() == ["a b", "a c", "b c"]
    alone = evosynth.risk(OTHERS, ORIGINAL, keys=["b", "c"], target="t", categorical="all")
    last = found.subsets.iloc[2]
    assert {name: last[name] for name in alone.table} == alone.table.loc["t"].to_dict()
    assert last["repU"] == alone.identity["repU"].value


def test_key_subsets_put_people_outside_beside_people_inside():
    found = assess(ORIGINAL, subsets=2)
    told = found.summary()["riskiest_key_subsets"]
    for _, row_ in found.subsets.iterrows():
        alone = assess(ORIGINAL, keys=row_["keys"].split(" "))
        inside, outside = (
            row(alone, f"{people} -> synthetic") for people in ("original", "holdout")
        )
        assert row_["TCAP over disclosive"] == inside["raw"] and row_["outside"] == outside["raw"]
        assert row_["outside, correct"] == outside["correct"]
        apart = alone.protocol.differences[0]
        assert (row_["difference"], row_["difference, low"], row_["difference, high"]) == (
            apart["difference"],
            apart["low"],
            apart["high"],
        )
        mine = next(line for line in told if line["keys"] == row_["keys"])
        assert (mine["outside"], mine["difference"]) == (row_["outside"], row_["difference"])


def test_key_subsets_withhold_small_counts_of_people_outside():
    found = evosynth.risk(
        ORIGINAL, ORIGINAL, holdout=HOLDOUT.head(40), keys=["a", "b", "c"], target="t",
        categorical="all", subsets=2, threshold=10,
    )  # fmt: skip
    table = visible(found, found.subsets)
    small = found.subsets["outside, disclosive"].between(1, 9)
    assert small.any()
    assert (
        table.loc[small, ["outside", "outside, correct", "difference"]]
        .eq(SUPPRESSED)
        .all(axis=None)
    )


def test_one_way_check_needs_more_than_50_records_and_90_per_cent():
    def flagged(yes, no):
        frame = pd.DataFrame({"k": range(yes + no), "t": ["yes"] * yes + ["no"] * no})
        return evosynth.risk(frame, frame, keys=["k"], target="t", categorical=["k"]).one_way

    assert ONE_WAY == (50, 90.0)
    assert flagged(51, 5)[0] == {
        "target": "t",
        "level": "yes",
        "level_records": 51,
        "level_percent": pytest.approx(100 * 51 / 56),
        "disclosive": 56,
        "disclosive_of_level": 51,
        "percent_of_disclosive": pytest.approx(100 * 51 / 56),
    }
    assert not flagged(50, 0) and not flagged(90, 10) and flagged(91, 10)


def test_two_way_check_names_the_key_that_tells_most():
    # Key (1, x) has five records of t = "s"; of all with a = 1, 9 of 10 have "s".
    rows = [(1, "x", "s")] * 5 + [(1, "y", "s")] * 4 + [(1, "z", "m")] + [(2, "x", "m")] * 8
    frame = pd.DataFrame(rows, columns=["a", "b", "t"])
    found = evosynth.risk(frame, frame, keys=["b", "a"], target="t").two_way
    assert TWO_WAY == (4, 80.0)
    assert [(r["key"], r["key_level"], r["level"], r["cells"], r["disclosive"]) for r in found] == [
        ("a", "2", "m", 1, 8),
        ("a", "1", "s", 1, 5),
    ]
    assert found[1]["percent_of_key"] == 90 and found[1]["key_records"] == 10
