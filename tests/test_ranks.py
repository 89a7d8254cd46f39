"""Quantiles and extremes as bounds on counts, against all small data and pandas."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from cases import small
from hypothesis import given, settings
from hypothesis import strategies as st

from evosynth import ranks
from evosynth.classes import any_level, classify
from evosynth.printed import Printed, Within
from evosynth.schema import Schema, Variable


def grid(decimals=0, missing=False):
    """A quantity from 0 to 5 in whole numbers, or from 0.0 to 0.5."""
    values = np.arange(6) / 10**decimals
    if missing:
        values = np.append(values, np.nan)
    share = np.full(len(values), 1 / len(values))
    return Variable("X", "", values, None, share, int(missing), missing, decimals)


def within(cuts, levels):
    """Whether data obey the bounds of all cuts."""
    for cut in cuts:
        counts = np.bincount(cut.groups[levels], minlength=3)
        low, high = cut.bounds(len(levels))
        if not all(a <= c <= b for a, c, b in zip(low, counts, high, strict=True)):
            return False
    return True


def every(size, variable):
    """All data of a size: levels, and values as pandas has them."""
    for levels in combinations_with_replacement(range(variable.valid), size):
        yield np.array(levels), pd.Series(variable.quantities[list(levels)])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("q", [0.5, 0.25, 0.75, 0.1])
@pytest.mark.parametrize("decimals", [0, 1])
def test_data_within_the_bounds_of_a_quantile_print_it(size, q, decimals):
    variable = grid(decimals)
    data = [(levels, series.quantile(q)) for levels, series in every(size, variable)]
    some = 0
    for digits in (decimals, decimals + 1):
        for units in range(5 * 10**digits // 10**decimals + 1):
            published = Printed.parse(f"{units / 10**digits:.{digits}f}")
            cuts = ranks.quantile(variable, q, published, size)
            inside = [value for levels, value in data if cuts and within(cuts, levels)]
            assert all(published.prints(value) for value in inside), (published, cuts)
            # If any data can print it, the bounds leave some.
            assert bool(inside) == any(published.prints(value) for _, value in data), published
            some += bool(inside)
    assert some > 5


@pytest.mark.parametrize("size", [1, 3, 5])
def test_a_median_of_oddly_many_is_printed_by_no_other_data(size):
    variable = grid()
    for value in range(6):
        published = Printed.parse(f"{value}.0")
        cuts = ranks.quantile(variable, 0.5, published, size)
        for levels, series in every(size, variable):
            assert within(cuts, levels) == published.prints(series.median())


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("text", ["0", "0.1", "0.3", "0.5", "1"])
def test_the_bounds_of_an_extreme_admit_exactly_the_data_that_print_it(largest, text):
    variable, published = grid(1), Printed.parse(text)
    cut = ranks.extreme(variable, published, largest)
    for levels, series in every(4, variable):
        value = series.max() if largest else series.min()
        # 0.5 may print as 0, but so do 0.0 to 0.4, in every program; nothing else prints as 1.
        meant = published.prints(value) and (text == "1" or not published.halfway(value))
        assert within([cut], levels) == meant


@pytest.mark.parametrize("largest", [False, True])
def test_an_extreme_halfway_between_two_print_outs_is_chosen_only_where_there_is_no_other(largest):
    values = np.array([0.5, 0.6, 1.4, 1.5])
    fine = Variable("X", "", values, None, np.full(4, 0.25), 0, False, 1)
    assert ranks.extreme(fine, Printed.parse("1"), largest).groups.tolist() == [0, 1, 1, 2]
    coarse = Variable("X", "", values[[0, 3]], None, np.full(2, 0.5), 0, False, 1)
    assert ranks.extreme(coarse, Printed.parse("1"), largest).groups.tolist() == [1, 1]


def test_an_extreme_that_no_value_prints_is_none():
    assert ranks.extreme(grid(), Printed.parse("2.5"), True) is None
    assert ranks.quantile(grid(), 0.5, Printed.parse("2.3"), 4) == []


def test_missing_values_are_in_no_part():
    variable = grid(missing=True)
    for cut in ranks.quantile(variable, 0.5, Printed.parse("2.5"), 6):
        assert cut.groups[-1] == -1
        assert set(cut.groups[:-1].tolist()) <= {0, 1, 2}
    assert ranks.extreme(variable, Printed.parse("5"), True).groups[-1] == -1


@pytest.mark.parametrize("q", [0.5, 0.25, 0.9])
def test_rough_shares_contain_the_exact_bounds(q):
    for text in ("3.0", "2.5"):
        for cut in ranks.quantile(grid(), q, Printed.parse(text), None):
            for size in (50, 400):
                low, high = cut.bounds(size)
                if low[0] > high[0]:
                    continue
                for part in range(3):
                    assert cut.low[part] * size <= high[part] + 2
                    assert cut.high[part] * size >= low[part] - 2


SCHEMA = Schema(
    40,
    (
        Variable("G", "", np.arange(2), ("a", "b"), np.array([0.5, 0.5])),
        grid(1, missing=True),
    ),
)
PARTS = {
    "median": [(0.5, 1.0)],
    "lower quartile": [(0.25, 1.0)],
    "interquartile range": [(0.75, 1.0), (0.25, -1.0)],
    "ninth decile": [(0.9, 1.0)],
}


def following(parts, text="0.25"):
    groups = {"G": np.array([0, -1]), "X": any_level(SCHEMA["X"])}
    return ranks.GroupQuantile(classify(SCHEMA, groups), 1, SCHEMA["X"], parts, Printed.parse(text))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6), st.integers(0, 3)), min_size=1),
    st.sampled_from(list(PARTS)),
)
def test_a_quantile_of_a_small_group_is_that_of_pandas(rows, name):
    codes, counts = np.array(rows)[:, :2].astype(np.uint8), np.array(rows)[:, 2] * 1.0
    quantile = following(PARTS[name])
    frame = SCHEMA.frame(codes, np.repeat(np.arange(len(rows)), np.array(rows)[:, 2]))
    series = frame.loc[frame["G"] == 0, "X"].dropna()
    expected = sum(c * series.quantile(q) for q, c in PARTS[name])
    (found,) = 0.25 + quantile.refit(codes, counts) * quantile.half_width
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("size", [5, 8, 9, 12])
def test_an_expansion_is_true_where_it_was_made_and_follows_the_middle_records(name, size):
    values = np.arange(101.0)
    share = np.full(101, 1 / 101)
    wide = Schema(size, (SCHEMA["G"], Variable("X", "", values, None, share)))
    classes = classify(wide, {"G": np.array([0, -1]), "X": any_level(wide["X"])})
    quantile = ranks.GroupQuantile(classes, 1, wide["X"], PARTS[name], Printed.parse("40"))
    codes = np.zeros((size, 2), dtype=np.uint8)
    codes[:, 1] = 3 + 7 * np.arange(size)
    counts = np.ones(size)
    expansion = quantile.expand(codes, counts)
    before = quantile.refit(codes, counts)
    np.testing.assert_allclose(
        expansion.offset + expansion.influence(codes).sum(axis=0), before, atol=1e-9
    )
    moved = alarms = 0
    for record in range(size):
        for step in (-1, 1):
            other = codes.copy()
            other[record, 1] = int(codes[record, 1]) + step
            (change,) = quantile.refit(other, counts) - before
            (foreseen,) = expansion.offset + expansion.influence(other).sum(axis=0) - before
            if abs(change) > 1e-9:
                moved += 1
                assert np.sign(foreseen) == np.sign(change)
                assert name != "median" or foreseen == pytest.approx(change)
            else:
                alarms += abs(foreseen) > 1e-9
    assert moved >= 2
    assert alarms <= 2 * len(PARTS[name])  # the neighbours of the middle records
    outside = codes.copy()
    outside[:, 0] = 1
    assert (expansion.influence(outside) == 0).all()


@pytest.mark.parametrize("text", ["<0.25", "<=0.2", ">0.3", ">=0.15"])
def test_a_bound_on_a_quantile_is_kept_at_no_distance_and_missed_at_some(text):
    published, seen = Within.parse(text), set()
    groups = {"G": np.array([0, -1]), "X": any_level(SCHEMA["X"])}
    quantile = ranks.GroupQuantile(
        classify(SCHEMA, groups), 1, SCHEMA["X"], PARTS["median"], published
    )
    for levels in combinations_with_replacement(range(6), 4):
        codes = np.array([(0, level) for level in levels], dtype=np.uint8)
        value = np.median(SCHEMA["X"].quantities[list(levels)])
        if abs(value - published.high) < 1e-9 or abs(value - published.low) < 1e-9:
            continue  # an end itself is hard to tell in sums
        (off,) = quantile.refit(codes, np.ones(4))
        assert (abs(off) < 1) == published.prints(value)
        assert np.isfinite(quantile.expand(codes, np.ones(4)).influence(codes)).all()
        seen.add(published.prints(value))
    assert len(seen) == 2


def test_a_summary_of_a_small_group_uses_them(tmp_path):
    text = """\
records: 530
variables:
  G: {categories: {a: A, b: B, c: C}}
  X: {integer: [0, 50]}
outputs:
  - kind: summary
    of: X
    by: G
    n: {a: 10, b: 20}
    median: {a: 21.5, b: 30}
"""
    assert small(tmp_path, text).plans[0].smooth == ()  # a lone median leaves room enough
    alone = text.replace("530", "30").replace(", c: C", "")
    assert len(small(tmp_path, alone).plans[0].smooth) == 2  # not of so few records in all
    spec = small(tmp_path, text + "    quantiles: {25: {a: 15, b: 20}}\n")
    blocks = spec.plans[0].smooth
    assert [type(block) for block in blocks] == [ranks.GroupQuantile] * 4
    rng = np.random.default_rng(0)
    codes = np.stack([np.repeat([0, 1], [10, 20]), rng.integers(0, 51, 30)], axis=1)
    codes = codes.astype(np.uint8)
    values = spec.outputs[0].recompute(spec.schema.frame(codes), np.ones(30), spec.schema)
    found = [f.printed.off(v) for f, v in zip(spec.figures[0], values, strict=True)][2:]
    np.testing.assert_allclose([b.refit(codes, np.ones(30))[0] for b in blocks], found)
