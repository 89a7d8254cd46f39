"""Nothing small can be worked out from what is written."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import evosynth
from evosynth.risk.withheld import SUPPRESSED, rare

MOST = 10
NESTED = (
    ("iS", "DiS"),
    ("iS", "DiSCO"),
    ("iS", "DiSDiO"),
    ("DiS", "DiSCO"),
    ("DiS", "DiSDiO"),
    ("DiSCO", "DiSDiO"),
    ("Dorig", "DiSDiO"),
    ("UiO", "UiOiS"),
    ("UiO", "repU"),
    ("UiOiS", "repU"),
    ("iS", "UiOiS"),
    ("iS", "repU"),
    ("DiS", "repU"),
    ("Dorig", "UiO"),
    ("Dorig", "repU"),
)
"""Measures of which the first counts all records that the second counts."""


def people(rng, n):
    return pd.DataFrame(
        {
            "a": rng.integers(0, 12, n),
            "b": rng.integers(0, 3, n),
            "t": (rng.random(n) < rng.choice([0.02, 0.3])).astype(int),
            "u": rng.integers(0, 3, n),
        }
    )


def assess(seed):
    rng = np.random.default_rng(seed)
    original, synthetic, holdout = (people(rng, int(rng.integers(60, 160))) for _ in range(3))
    synthetic.loc[: len(synthetic) // 3] = original.loc[: len(synthetic) // 3]
    return original, evosynth.risk(
        synthetic.dropna().astype(int),
        original,
        holdout=holdout,
        keys=["a", "b"],
        targets=["t", "u"],
        subsets=2,
        threshold=MOST,
    )


def shown(row, n):
    """Counts of people that shares in per cent tell."""
    return {k: round(v * n / 100) for k, v in row.items() if isinstance(v, int | float)}


def small(count):
    return 0 < round(count) < MOST and abs(count - round(count)) < 1e-6


@pytest.mark.parametrize("seed", range(12))
def test_no_small_count_is_left_when_figures_are_subtracted_or_divided(seed, tmp_path):
    original, found = assess(seed)
    n = len(original)
    found.save(tmp_path / "out")
    told = json.loads((tmp_path / "out" / "risk.json").read_text())
    table = pd.read_csv(tmp_path / "out" / "risk.csv", keep_default_na=False)
    subsets = pd.read_csv(tmp_path / "out" / "risk-subsets.csv").to_dict("records")
    attribution = {row["target"]: row for row in told["attribution"]}
    correct = {row["target"]: row for row in told["correct_attribution"]}
    tcap = {row["target"]: row for row in told["TCAP"]}
    identity = {row["measure"]: row["per_cent"] for row in told["identity"]}
    plain = [
        {k: float(v) if _number(v) else v for k, v in row.items()}
        for row in [
            *subsets,
            *({**identity, **attribution[t], **correct[t], **tcap[t]} for t in "tu"),
            *(
                dict(part[["measure", "value"]].to_numpy().tolist()) | identity
                for _, part in table[table["keys"] == "a b"].groupby("target")
            ),
        ]
    ]
    for row in plain:
        counts = shown({k: v for k, v in row.items() if k in {x for p in NESTED for x in p}}, n)
        assert not any(small(v) or small(n - v) for v in counts.values()), row
        for one, other in NESTED:
            if one in counts and other in counts:
                assert not small(counts[one] - counts[other]), (one, other, row)
        parts = row.get("DCAP", SUPPRESSED), row.get("DCAP over matched", SUPPRESSED)
        if all(isinstance(part, float) for part in parts) and parts[1] > 0:
            matched = n * parts[0] / parts[1]
            assert not small(matched) and not small(n - matched), row
        if "TCAP over disclosive" in counts and "DiSCO" in counts:
            assert "DiS" in counts
    for t in "tu":
        rows = [row for row in told["protocol"] if row["target"] == t]
        rare_levels = original[t].nunique() == 2 and original[t].value_counts().min() < MOST
        for row in [correct[t], *rows]:
            name = "baseCAPd" if "baseCAPd" in row else "baseline"
            assert (row[name] == SUPPRESSED) == rare_levels
        assert not rare_levels or tcap[t]["TCAP over all, calibrated"] == SUPPRESSED
    groups = [row["original_records_in_smaller_groups"] for row in told["k_anonymity"]]
    groups = [count for count in groups if isinstance(count, int)]
    assert not any(small(b - a) for a, b in combinations([*groups, n], 2))
    for row in told["protocol"]:
        if isinstance(row["correct"], int):
            assert not any(map(small, (row["correct"], row["disclosive"] - row["correct"])))
    for row in [*told["one_way_checks"], *told["two_way_checks"]]:
        counts = [v for k, v in row.items() if isinstance(v, int) and k != "cells"]
        assert not any(small(abs(a - b)) for a, b in combinations(counts, 2)), row


def _number(value):
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def test_enough_is_shown_where_nothing_is_small():
    rows = [(k, t) for k in range(4) for t in range(2) for _ in range(20)]
    frame = pd.DataFrame([*rows, *[(9, 1)] * 20], columns=["k", "t"])
    open_, closed = (
        evosynth.risk(frame, frame, keys=["k"], target="t", subsets=1, threshold=most).summary()
        for most in (0, MOST)
    )
    assert {**closed, "counts_withheld_below": "none"} == open_


def test_a_check_does_not_tell_how_few_differ():
    # All but four of 84 people with k = 1 have t = 1.
    rows = [(1, 0, 1)] * 80 + [(1, 1, 2)] * 4 + [(2, 0, 2)] * 40 + [(2, 1, 1)] * 30
    frame = pd.DataFrame(rows, columns=["k", "l", "t"])
    open_ = evosynth.risk(frame, frame, keys=["k", "l"], target="t").summary()
    row = next(r for r in open_["two_way_checks"] if r["key"] == "k" and r["key_level"] == "1")
    assert row["key_records"] - row["key_and_level_records"] == 4
    closed = evosynth.risk(frame, frame, keys=["k", "l"], target="t", threshold=MOST).summary()
    row = next(r for r in closed["two_way_checks"] if r["key"] == "k" and r["key_level"] == "1")
    assert row["key_records"] == row["percent_of_key"] == SUPPRESSED


@pytest.mark.parametrize(("few", "told"), [(0, False), (1, True), (9, True), (10, False)])
def test_a_baseline_tells_how_many_have_the_rarer_of_two_values(few, told):
    share = few / 1000
    assert rare(MOST, 100 * (share**2 + (1 - share) ** 2), 1000) is told


def test_disclosive_people_do_not_tell_how_few_of_them_are_no_uniques():
    rows = [(k, k % 2) for k in range(20)] + [(30, 1)] * 4 + [(40, 0), (40, 1)] * 20
    frame = pd.DataFrame(rows, columns=["k", "t"])
    how = {"keys": ["k"], "target": "t", "categorical": ["k"]}
    one = evosynth.risk(frame, frame, **how)
    assert one.identity["UiO"].count == 20 and one.attributions["t"].shares["Dorig"].count == 24
    told = evosynth.risk(frame, frame, **how, threshold=MOST).summary()
    assert told["identity"][0]["records"] == 20
    assert told["attribution"][0]["Dorig"] == told["attribution"][0]["DiS"] == SUPPRESSED


def test_checks_of_all_levels_but_one_do_not_tell_how_few_have_that():
    # Five of 505 people have k = 3, and those of k = 1 and 2 all have the same t.
    rows = [(1, i % 9, 1) for i in range(300)] + [(2, i % 9, 0) for i in range(200)]
    rows += [(3, i % 9, i % 2) for i in range(5)]
    frame = pd.DataFrame(rows, columns=["k", "l", "t"])
    how = {"keys": ["k", "l"], "target": "t"}
    open_ = evosynth.risk(frame, frame, **how).summary()["two_way_checks"]
    assert 505 - sum(row["key_records"] for row in open_ if row["key"] == "k") == 5
    closed = evosynth.risk(frame, frame, **how, threshold=MOST).summary()["two_way_checks"]
    told = [r["key_records"] for r in closed if r["key"] == "k"]
    assert sorted(map(str, told)) == ["300", SUPPRESSED]


def test_expected_guesses_do_not_tell_counts_that_are_withheld():
    # Of 60 people with keys that occur, 57 are guessed rightly: all who are guessed for sure.
    rows = [(k, 1) for k in range(3) for _ in range(19)] + [(k, 0) for k in range(3)]
    original = pd.DataFrame([*rows, *[(9, t) for t in (0, 1) for _ in range(20)]], columns=[*"kt"])
    synthetic = pd.DataFrame([(k, 1) for k in range(3) for _ in range(20)], columns=[*"kt"])
    found = evosynth.risk(synthetic, original, keys=["k"], target="t", threshold=MOST)
    one = found.attributions["t"]
    assert one.rates["DCAP"] == one.shares["DiSCO"].value == 57
    told = found.summary()
    assert told["attribution"][0]["DiSCO"] == SUPPRESSED
    assert told["correct_attribution"][0]["DCAP"] == SUPPRESSED
    assert told["correct_attribution"][0]["DCAP over matched"] == SUPPRESSED


def test_crossed_measures_do_not_tell_how_few_belong_to_neither():
    # Uniques and people whose keys occur are shown; 4 of 104 are neither.
    rows = [(k, 0) for k in range(60)] + [(100 + k, 0) for k in range(20) for _ in range(2)]
    rows += [(200, 0), (200, 1)] * 2
    original = pd.DataFrame(rows, columns=["k", "t"])
    held = [k for k in range(30)] + [100 + k for k in range(20)]
    synthetic = pd.DataFrame({"k": held, "t": [0] * len(held)})
    how = {"keys": ["k"], "target": "t", "categorical": ["k"]}
    open_ = evosynth.risk(synthetic, original, **how)
    u = {name: share.count for name, share in open_.identity.items()}
    assert 104 - u["UiO"] - open_.attributions["t"].shares["iS"].count + u["UiOiS"] == 4
    told = evosynth.risk(synthetic, original, **how, threshold=MOST).summary()
    assert told["identity"][0]["records"] == 60
    assert told["identity"][2]["records"] == 30
    assert told["attribution"][0]["iS"] == SUPPRESSED


def test_denominators_do_not_tell_the_smaller_of_two():
    rows = [(1, 0)] * 40 + [(2, 1)] * 5 + [(3, 0), (3, 1)] * 30
    frame = pd.DataFrame(rows, columns=["k", "t"])
    told = evosynth.risk(frame, frame, keys=["k"], target="t", threshold=MOST).summary()
    row = told["attribution"][0]
    assert row["DiSCO"] == pytest.approx(100 * 45 / 105)
    assert row["largest denominator"] == row["mean denominator"] == SUPPRESSED
