"""Tables beside tables: group disclosure and distances, against hand-worked figures and scipy."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import euclidean
from scipy.stats import chi2_contingency

from evosynth.errors import DataError
from evosynth.risk.tables import (
    align,
    combine,
    compare_all_tables,
    compare_tables,
    cross_tabulate,
    deviates,
    disclosed_cells,
    group_disclosure,
)

NAMES = ["key1", "key2", "target"]
ORIGINAL = pd.DataFrame(
    [(1, 2, 3), (1, 2, 3), (4, 12, 4), (4, 12, 4), (4, 12, 9), (5, 12, 10)], columns=NAMES
)
SYNTHETIC = pd.DataFrame(
    [(1, 2, 3), (1, 2, 5), (4, 12, 4), (4, 12, 4), (4, 12, 4), (5, 12, 10)], columns=NAMES
)
KEYS = ["key1", "key2"]


def test_group_disclosure_of_the_published_toy():
    found = group_disclosure(ORIGINAL, SYNTHETIC, KEYS, "target")
    assert (found.risk, found.common, found.synthetic, found.original) == (0.5, 1, 2, 2)


def test_group_disclosure_counts_the_margins_when_asked():
    # key1 alone: synthetic 4 and 5, original 1 and 5; key2 alone: original 2 only.
    found = group_disclosure(ORIGINAL, SYNTHETIC, KEYS, "target", margins=True)
    assert (found.risk, found.common, found.synthetic, found.original) == (0.5, 2, 4, 5)


def test_a_value_that_nine_tenths_have_is_no_disclosure():
    original = pd.DataFrame({"key": [1, 2, *[3] * 8], "target": ["a"] * 9 + ["b"]})
    synthetic = pd.DataFrame({"key": [1, 2, 3], "target": ["a", "b", "b"]})
    found = group_disclosure(original, synthetic, ["key"], "target")
    assert (found.common, found.synthetic, found.original) == (0, 2, 0)
    rarer = group_disclosure(original, synthetic, ["key"], "target", common=0.95)
    assert (rarer.common, rarer.synthetic, rarer.original) == (1, 3, 2)


def test_missing_values_are_a_level_of_keys_and_target():
    original = pd.DataFrame({"key": [None, "x", "x"], "target": [np.nan, 1.0, 2.0]})
    synthetic = pd.DataFrame({"key": [np.nan, "x"], "target": [np.nan, 1.0]})
    found = group_disclosure(original, synthetic, ["key"], "target")
    assert (found.common, found.synthetic, found.original) == (1, 2, 1)


def test_without_synthetic_disclosive_cells_the_risk_is_undefined():
    original = pd.DataFrame({"key": [1, 2], "target": ["a", "b"]})
    synthetic = pd.DataFrame({"key": [1, 1], "target": ["a", "b"]})
    found = group_disclosure(original, synthetic, ["key"], "target")
    assert math.isnan(found.risk) and (found.synthetic, found.original) == (0, 2)
    none = np.zeros(0, dtype=np.int64)
    assert math.isnan(disclosed_cells(none, none, none, none).risk)


coded = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=30)


@given(coded, coded)
@settings(deadline=None)
def test_group_disclosure_equals_a_loop_over_groups(original, synthetic):
    frames = [pd.DataFrame(rows, columns=["key", "target"]) for rows in (original, synthetic)]
    share = frames[0]["target"].value_counts(normalize=True)
    common = set(share[share >= 0.9 - 1e-12].index)

    def cells(frame):
        groups = frame.groupby("key")["target"].unique()
        return {(k, v[0]) for k, v in groups.items() if len(v) == 1 and v[0] not in common}

    one, two = (cells(frame) for frame in frames)
    found = group_disclosure(*frames, ["key"], "target")
    assert (found.common, found.synthetic, found.original) == (len(one & two), len(two), len(one))


counts = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=12)


@given(counts)
@settings(deadline=None)
def test_table_measures_follow_from_scipy_and_the_propensity(pairs):
    d, s = np.array(pairs).T
    found = compare_tables(d, s)
    used = d + s > 0
    if not d.sum() or not s.sum():
        assert math.isnan(found.vw) and math.isnan(found.s_pmse) and math.isnan(found.hellinger)
        return
    c = s.sum() / (s.sum() + d.sum())
    if used.sum() > 1:
        chi = chi2_contingency(np.array([d[used], s[used]]), correction=False)
        assert found.vw == pytest.approx(chi.statistic / (1 - c), abs=1e-9)
        assert found.df == chi.dof
        assert found.s_pmse == pytest.approx(found.vw / chi.dof, abs=1e-12)
    else:
        assert math.isnan(found.s_pmse)
    # The propensity of a record in the saturated model is the synthetic share of its cell.
    propensity = np.repeat(s[used] / (d + s)[used], (d + s)[used])
    assert found.pmse == pytest.approx(np.mean((propensity - c) ** 2), abs=1e-12)
    assert found.mabsdd == pytest.approx(np.abs(s / s.sum() - d / d.sum()).sum())
    distance = euclidean(np.sqrt(s / s.sum()), np.sqrt(d / d.sum())) / np.sqrt(2)
    assert found.hellinger == pytest.approx(distance, abs=1e-12)


def test_a_table_worked_by_hand():
    # c = 1/2: differences -2, 2, 0 and -, expected 5, 4 and 1; the last cell is empty.
    found = compare_tables([[6, 3], [1, 0]], [[4, 5], [1, 0]])
    assert (found.cells, found.df) == (3, 2)
    assert found.vw == pytest.approx(4 / 5 + 4 / 4)
    assert found.s_pmse == pytest.approx(0.9)
    assert found.pmse == pytest.approx(1.8 * 0.125 / 20)
    assert found.mabsdd == pytest.approx(0.4)


def test_the_published_relation_of_s_pmse_and_pmse():
    """SATGPA, sat_v: S_pMSE 7.890132 on 4 df is pMSE 0.0019725 with 1000 records each."""
    base = np.full(5, 200.0)
    away = np.array([1, -1, 1, -1, 0.0])
    low, high = 0.0, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        below = compare_tables(base, base + middle * away).s_pmse < 7.890132
        low, high = (middle, high) if below else (low, middle)
    found = compare_tables(base, base + low * away)
    assert (found.df, round(found.pmse, 7)) == (4, 0.0019725)


def test_u_worked_by_hand():
    # Small: 0, 10, 10 and 4 of which 4 → 8 is off; big: 11 → 14 within, 100 → 131 off.
    found = deviates([0, 10, 10, 4, 11, 100], [3, 13, 7, 8, 14, 131])
    assert (found.small, found.big, found.u) == (0.25, 0.5, 0.375)
    assert (found.n_small, found.n_big) == (4, 2)
    assert deviates([100, 5], [130, 5]).u == 0  # exactly b is not more than b
    only_small = deviates([1, 2], [9, 2])
    assert only_small.small == 0.5 and math.isnan(only_small.big) and math.isnan(only_small.u)


def test_levels_of_one_side_and_missing_values_are_cells():
    original = pd.DataFrame({"a": ["x", "x", None], "b": [1, 2, 1]})
    synthetic = pd.DataFrame({"a": ["x", "z"], "b": [1, 2]})
    assert sorted(zip(*cross_tabulate(original, synthetic, ["a"]), strict=True)) == [
        (0, 1),
        (1, 0),
        (2, 1),
    ]
    d, s = cross_tabulate(original, synthetic, ["a", "b"])
    assert (d.sum(), s.sum(), len(d)) == (3, 2, 4)
    categories = original.astype({"a": "category"}), synthetic.astype({"a": "category"})
    assert np.array_equal(
        cross_tabulate(*categories, ["a"]), cross_tabulate(original, synthetic, ["a"])
    )


def test_quantities_are_cut_at_quantiles_of_both():
    original = pd.DataFrame({"x": [1.0, 2, 3, 4, 5, np.nan], "code": [1, 2, 3, 4, 5, 6]})
    synthetic = pd.DataFrame({"x": [6.0, 7, 8, 9, 10], "code": [1, 2, 3, 4, 5]})
    d, s = cross_tabulate(original, synthetic, ["x"], groups=5)
    both = pd.concat([original["x"], synthetic["x"]])
    expected = pd.qcut(both, 5, labels=False)
    assert sorted(zip(d, s, strict=True)) == sorted(
        [(2, 0), (2, 0), (1, 1), (0, 2), (0, 2), (1, 0)]
    )
    assert expected.value_counts().tolist() == [2] * 5
    assert len(cross_tabulate(original, synthetic, ["code"], 2, ["code"])[0]) == 6
    assert len(cross_tabulate(original, synthetic, ["code"], 2)[0]) == 2


def test_a_value_on_a_cut_is_in_the_upper_group():
    original, synthetic = pd.DataFrame({"x": [1, 2, 2]}), pd.DataFrame({"x": [2, 3]})
    assert np.array_equal(cross_tabulate(original, synthetic, ["x"], 2), [[1, 2], [0, 2]])


def test_all_tables_are_the_single_ones():
    rng = np.random.default_rng(3)
    original = pd.DataFrame({n: rng.integers(0, 3, 100) for n in "abc"}).astype(str)
    synthetic = pd.DataFrame({n: rng.integers(0, 3, 90) for n in "cab"}).astype(str)
    found = compare_all_tables(original, synthetic).set_index("variables")
    assert list(found.index) == ["a", "b", "c", "a:b", "a:c", "b:c"]
    table = [
        pd.crosstab(f["a"], f["c"]).reindex(index=list("012"), columns=list("012"), fill_value=0)
        for f in (original, synthetic)
    ]
    assert found.loc["a:c", "vw"] == pytest.approx(compare_tables(*table).vw)
    assert found.loc["a:c", "u"] == pytest.approx(deviates(*table).u)
    assert math.isnan(found.loc["a", "u"])  # no cell of ten or fewer


def test_combinations_are_numbered_without_overflow():
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 10**6, 500) for _ in range(8)]
    columns = [np.concatenate([column, column[:100]]) for column in columns]
    found = combine(columns)
    assert np.array_equal(found[:100], found[500:]) and len(set(found.tolist())) == 500
    assert align(pd.Series([1, 2]), pd.Series([2.0, 3.0])).tolist() == [0, 1, 1, 2]
    assert align(pd.Series([1, 2]), pd.Series(["2", None])).tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: compare_tables([1, 2], [1]), "tables of different shape"),
        (lambda: compare_tables([1, -2], [1, 1]), "numbers of at least 0"),
        (lambda: deviates([np.nan], [1]), "none of them missing"),
        (lambda: group_disclosure(ORIGINAL, SYNTHETIC, [], "target"), "at least one key"),
        (
            lambda: group_disclosure(ORIGINAL, SYNTHETIC[KEYS], KEYS, "target"),
            "the synthetic data lack: target",
        ),
    ],
)
def test_what_cannot_be_compared_says_why(call, words):
    with pytest.raises(DataError, match=words):
        call()
