from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evosynth.printed import Printed, Within

TEXTS = [
    # as printed, canonical text, value, decimals
    ("-0.0650", "-0.0650", -0.065, 4),
    ("1,024", "1024", 1024.0, 0),
    ("12,345,678.90", "12345678.90", 12345678.9, 2),
    ("+3.5", "3.5", 3.5, 1),
    (".5", "0.5", 0.5, 1),
    ("-.50", "-0.50", -0.5, 2),
    ("007", "7", 7.0, 0),
    ("00.10", "0.10", 0.1, 2),
    ("\u22121.5", "-1.5", -1.5, 1),
    (" 42 ", "42", 42.0, 0),
    ("-0.00", "-0.00", 0.0, 2),
    ("0", "0", 0.0, 0),
]


@pytest.mark.parametrize(("printed", "text", "value", "decimals"), TEXTS)
def test_parse(printed: str, text: str, value: float, decimals: int) -> None:
    found = Printed.parse(printed)
    assert (found.text, found.value, found.decimals) == (text, value, decimals)
    assert str(found) == text


NOT_NUMBERS = [
    *["", " ", "-", "+", ".", ",", "1.", "1e3", "1_000", "0x10", "nan", "inf", "--1", "1 024"],
    *[",024", "1.5,000", "0.1*", "(0.1)", "0.٤", "٤", "²"],
]


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_what_is_not_a_number_is_shown(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        Printed.parse(text)
    assert str(caught.value) == (f"{text!r} is not a number as printed, such as 1,024 or -0.0650")


COMMAS = {
    **{
        "0,35": "0.35",
        "-0,123": "-0.123",
        "1,02": "1.02",
        "1,0245": "1.0245",
        "1234,567": "1234.567",
    },
    **{
        "1.234,5": "1234.5",
        "-1.234.567,50": "-1234567.50",
        "\u22120,05": "-0.05",
        "00,123": "00.123",
    },
}


@pytest.mark.parametrize(("text", "meant"), COMMAS.items())
def test_a_decimal_comma_is_never_taken_for_one_of_thousands(text: str, meant: str) -> None:
    for parse, sign in ((Printed.parse, ""), (Within.parse, "<")):
        with pytest.raises(ValueError) as caught:
            parse(sign + text)
        assert str(caught.value) == f"{text!r} has a decimal comma; write {meant}"


def test_a_percentage_is_told_where_it_belongs() -> None:
    with pytest.raises(ValueError) as caught:
        Printed.parse("40%")
    assert str(caught.value) == "'40%' is a percentage; write 40 under a key for percentages"


def test_a_number_is_at_most_forty_characters_long() -> None:
    assert Printed.parse("0." + "1" * 38).decimals == 38
    with pytest.raises(ValueError) as caught:
        Printed.parse("0." + "1" * 39)
    assert str(caught.value) == "a number of more than 40 characters is not a printed figure"


def test_a_long_text_is_not_repeated_whole() -> None:
    with pytest.raises(ValueError) as caught:
        Printed.parse("x" * 100_000)
    assert len(str(caught.value)) < 200


PRINTS = [
    ("0.05", 0.0549, True),
    ("0.05", 0.0551, False),
    ("0.05", 0.0451, True),
    ("0.05", 0.0449, False),
    ("0.05", -0.05, False),
    ("0.00", 0.004, True),
    ("0.00", 0.0, True),
    ("0.00", -0.004, False),
    ("-0.00", -0.004, True),
    ("-0.00", -0.0, True),
    ("-0.00", 0.0, False),
    ("2", 2.5, True),
    ("3", 2.5, True),
    ("4", 2.5, False),
    ("1", 2.5, False),
    ("0.12", 1 / 8, True),
    ("0.13", 1 / 8, True),
    ("-0.12", -1 / 8, True),
    ("-0.13", -1 / 8, True),
    ("0.12", 0.1250001, False),
    ("0.13", 0.1249999, False),
    ("0.3", 0.35, True),
    ("0.4", 0.35, True),
    ("2.67", 2.675, True),
    ("2.68", 2.675, True),
    ("28.6", 100 * 2 / 7, True),
    ("0", 0.5, True),
    ("0", -0.0, True),
    ("0.0", -2.8e-17, True),
    ("-0.0", 2.8e-17, True),
    ("0.0", -1e-9, False),
    ("-0.0", 1e-9, False),
    ("1024", 1024.3, True),
    ("1", math.nan, False),
    ("1", math.inf, False),
    ("-1", -math.inf, False),
]


@pytest.mark.parametrize(("text", "value", "expected"), PRINTS)
def test_prints(text: str, value: float, expected: bool) -> None:
    assert Printed.parse(text).prints(value) is expected


INTERVALS = [
    ("0.05", (0.045, 0.055)),
    ("-1.5", (-1.55, -1.45)),
    ("12", (11.5, 12.5)),
    ("0.00", (0.0, 0.005)),
    ("-0.00", (-0.005, 0.0)),
    ("0", (0.0, 0.5)),
]


@pytest.mark.parametrize(("text", "expected"), INTERVALS)
def test_interval(text: str, expected: tuple[float, float]) -> None:
    assert Printed.parse(text).interval == pytest.approx(expected, abs=1e-15)


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_a_value_lies_in_the_interval_of_what_it_prints(value: float, decimals: int) -> None:
    text = f"{value:.{decimals}f}"
    printed = Printed.parse(text)
    low, high = printed.interval
    assert printed.text == text
    assert printed.prints(value)
    assert low - 1e-9 <= value <= high + 1e-9


@given(st.integers(-(10**8), 10**8), st.integers(0, 6), st.floats(0.001, 0.999))
def test_all_of_the_interval_prints_the_same(units: int, decimals: int, share: float) -> None:
    printed = Printed.parse(f"{units / 10**decimals:.{decimals}f}")
    low, high = printed.interval
    assert printed.prints(low + share * (high - low))


@given(st.integers(1, 400), st.integers(0, 4), st.integers(-1, 10_001))
def test_counts_agree_with_brute_force(total: int, decimals: int, units: int) -> None:
    text = f"{units / 10_000:.{decimals}f}"
    goal, half = Fraction(text), Fraction(1, 2 * 10**decimals)
    for scale in (1, 100):
        low, high = Printed.parse(text).counts(total, float(scale))
        assert list(range(low, high + 1)) == [
            count
            for count in range(total + 1)
            if abs(Fraction(scale * count, total) - goal) <= half and text[0] != "-"
        ]


@given(st.integers(1, 10**8), st.integers(1, 6), st.data())
def test_a_count_is_among_those_that_print_its_share(
    total: int, decimals: int, data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, total))
    printed = Printed.parse(f"{count / total:.{decimals}f}")
    low, high = printed.counts(total)
    assert low <= count <= high
    assert low == 0 or not printed.prints((low - 1) / total)
    assert high == total or not printed.prints((high + 1) / total)


COUNTS = [
    # 4027 x (0.17155, 0.17165) = (690.8, 691.2)
    ("0.1716", 4027, (691, 691)),
    ("0.3", 10, (3, 3)),
    # 97 x (0.05, 0.15) = (4.85, 14.55)
    ("0.1", 97, (5, 14)),
    ("1.00", 300, (299, 300)),
    # 199 of 200 is halfway between 0.99 and 1.00
    ("1.00", 200, (199, 200)),
    ("0.99", 200, (197, 199)),
    ("0.12", 8, (1, 1)),
    ("0.13", 8, (1, 1)),
    ("0.14", 8, (2, 1)),
    ("0.50", 0, (0, 0)),
]


@pytest.mark.parametrize(("text", "total", "expected"), COUNTS)
def test_counts_by_hand(text: str, total: int, expected: tuple[int, int]) -> None:
    assert Printed.parse(text).counts(total) == expected


WITHIN = [
    # text, canonical text, inside, outside
    ("<10", "<10", [0, 9, 9.99, -3], [10, 10.5]),
    ("< 10", "<10", [9], [10]),
    ("<=10", "<=10", [10], [10.5, 11]),
    ("≤ 0.05", "≤0.05", [0.05, 0.01], [0.051]),
    (">5", ">5", [6, 5.01], [5, 4]),
    (">=1,000", ">=1000", [1000, 2000], [999]),
    ("<0.001", "<0.001", [0.0009, 0.0], [0.001, 0.0011]),
]


@pytest.mark.parametrize(("text", "canonical", "inside", "outside"), WITHIN)
def test_a_bound_admits_what_it_says(
    text: str, canonical: str, inside: list[float], outside: list[float]
) -> None:
    found = Within.parse(text)
    assert found is not None
    assert str(found) == canonical
    assert found.prints(found.value)
    for value in inside:
        assert found.prints(value)
        assert found.off(value) == 0
    for value in outside:
        assert not found.prints(value)
    assert not found.prints(math.nan)


def test_a_bound_tells_how_far_outside_a_value_lies() -> None:
    found = Within.parse("<0.05")
    assert found is not None
    assert found.off(0.06) == pytest.approx(2)
    assert found.show(0.0512) == "0.05"
    assert found.show(0.0412) == "0.04"
    assert found.show(0.0489) == "0.049"  # 0.05 would look as if it were not below 0.05
    assert found.show(0.04999) == "0.04999"


@pytest.mark.parametrize("text", ["10", "-0.5", "~5", "=5", "5<", "<"])
def test_what_is_no_bound_is_none(text: str) -> None:
    assert Within.parse(text) is None


def test_a_bound_needs_a_number() -> None:
    with pytest.raises(ValueError, match="'ten' is not a number"):
        Within.parse("<ten")
