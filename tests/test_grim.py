"""Means and standard deviations that whole numbers can have, against enumeration."""

from __future__ import annotations

import statistics
from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evosynth.grim import nearest_sd, possible_sd, sums
from evosynth.printed import Printed, Within

# Brown and Heathers (2017), The GRIM test: 5.19 is impossible with 28 whole numbers, while 5.18
# and 5.21 are not; 3.45 with 20 is possible and 3.47 not.
KNOWN = [
    ("5.18", 28, True),
    ("5.19", 28, False),
    ("5.20", 28, False),
    ("5.21", 28, True),
    ("3.45", 20, True),
    ("3.47", 20, False),
    ("3.475", 40, True),
    ("2.5", 3, False),
]


@pytest.mark.parametrize(("mean", "n", "possible"), KNOWN)
def test_known_means(mean: str, n: int, possible: bool) -> None:
    low, high = sums(Printed.parse(mean), n, 1.0)
    assert (low <= high) is possible


def test_more_values_than_a_printed_digit_tells_apart_make_every_mean_possible() -> None:
    for units in range(300, 500):
        low, high = sums(Printed.parse(f"{units / 100:.2f}"), 100, 1.0)
        assert low <= high


@given(st.integers(1, 60), st.integers(-999, 999), st.integers(0, 2), st.integers(0, 2))
def test_sums_are_those_whose_mean_prints_as_published(
    n: int, units: int, decimals: int, grid: int
) -> None:
    printed = Printed.parse(f"{units / 10**decimals:.{decimals}f}")
    half = Fraction(1, 2 * 10**decimals)
    low, high = sums(printed, n, 10.0**-grid)
    around = round(printed.value * n * 10**grid)
    reach = n * 10 ** max(0, grid - decimals) + 3
    expected = []
    for total in range(around - reach, around + reach + 1):
        mean = Fraction(total, n * 10**grid)
        near = abs(mean - Fraction(printed.text)) <= half
        expected += [total] if near and not (units == 0 and mean < 0) else []
    assert list(range(low, high + 1)) == expected


def prints(value: float, decimals: int) -> set[str]:
    """Print a value, both ways where it lies halfway."""
    return {f"{value + slip:.{decimals}f}" for slip in (-1e-11, 1e-11)}


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 7), st.integers(1, 2), st.integers(1, 2), st.sampled_from([1, 2]))
def test_every_sd_that_data_have_is_possible_and_grimmer_rules_some_out(
    n: int, mean_decimals: int, sd_decimals: int, power: int
) -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for data in combinations_with_replacement(range(6), n):
        spread = statistics.variance(data) ** (power / 2)
        for mean in prints(sum(data) / n, mean_decimals):
            found[mean.removeprefix("-")] |= prints(spread, sd_decimals)
    for mean, spreads in found.items():
        for spread in spreads - {f"-{0:.{sd_decimals}f}"}:
            given_ = Printed.parse(mean), Printed.parse(spread)
            assert possible_sd(*given_, n, 1.0, power), (mean, spread)


@pytest.mark.parametrize("n", [4, 5, 6])
def test_what_is_possible_is_nearly_always_reached_by_whole_numbers(n: int) -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for data in combinations_with_replacement(range(-7, 11), n):
        for mean in prints(sum(data) / n, 2):
            if mean in {"2.00", "2.20", "2.25", "2.33", "2.50", "2.67"}:
                found[mean] |= prints(statistics.stdev(data), 2)
    assert found
    for mean, spreads in found.items():
        possible = {
            f"{units / 100:.2f}"
            for units in range(400)
            if possible_sd(Printed.parse(mean), Printed.parse(f"{units / 100:.2f}"), n, 1.0)
        }
        assert {s for s in spreads if "-" not in s and float(s) < 4} <= possible
        # Parity and the least spread are necessary; with more values they are sufficient too.
        missed = possible - spreads
        assert len(missed) <= (0.25 if n == 4 else 0) * len(possible), (mean, sorted(missed))
        assert len(possible) < 100


def test_the_unit_of_a_variable_with_decimals_scales_both() -> None:
    for mean, sd, n in [("5.18", "1.03", 28), ("5.19", "1.03", 28), ("2.5", "0.9", 4)]:
        coarse = Printed.parse(mean), Printed.parse(sd)
        fine = (
            Printed.parse(f"{coarse[0].value / 10:.{coarse[0].decimals + 1}f}"),
            Printed.parse(f"{coarse[1].value / 10:.{coarse[1].decimals + 1}f}"),
        )
        assert sums(coarse[0], n, 1.0) == sums(fine[0], n, 0.1)
        assert possible_sd(*coarse, n, 1.0) == possible_sd(*fine, n, 0.1)


def test_one_value_or_very_many_sums_rule_nothing_out() -> None:
    assert possible_sd(Printed.parse("2"), Printed.parse("5.0"), 1, 1.0)
    assert possible_sd(Printed.parse("2"), Printed.parse("5.01"), 10_000, 1.0)


def test_a_bound_leaves_one_side_open() -> None:
    below, above = Within.parse("<5"), Within.parse(">=2.5")
    assert below is not None
    assert above is not None
    low, high = sums(below, 10, 1.0)
    assert (low < -(10**6), high) == (True, 49)
    low, high = sums(above, 10, 1.0)
    assert (low, high > 10**6) == (25, True)
    assert possible_sd(below, Printed.parse("1.00"), 10, 1.0)
    assert possible_sd(Printed.parse("2.0"), below, 10, 1.0)


@pytest.mark.parametrize(("mean", "n"), [("2.20", 5), ("2.33", 6), ("2.50", 6), ("2.0", 5)])
@pytest.mark.parametrize("power", [1, 2])
def test_the_nearest_sd_is_one_that_data_have(mean: str, n: int, power: int) -> None:
    reached = [
        statistics.variance(data) ** (power / 2)
        for data in combinations_with_replacement(range(-5, 10), n)
        if Printed.parse(mean).prints(sum(data) / n)
    ]
    for units in range(0, 300, 7):
        sd = Printed.parse(f"{units / 100:.2f}")
        expected = min(abs(value - sd.value) for value in reached)
        found = nearest_sd(Printed.parse(mean), sd, n, 1.0, power)
        assert abs(found - sd.value) == pytest.approx(expected, abs=1e-9)
