from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evosynth.condition import (
    MAX_COMPARISONS,
    MAX_LENGTH,
    MAX_NESTING,
    And,
    Comparison,
    Condition,
    Not,
    Or,
    faults,
    mask,
    parse,
    truth,
)
from evosynth.schema import Schema, Variable

A1 = Comparison("A", "==", ("1",))
B2 = Comparison("B", "==", ("2",))
C3 = Comparison("C", "==", ("3",))

TEXT_TO_CONDITION: dict[str, Condition] = {
    "A == 1": A1,
    "A=1": A1,
    " A\n==\t'1' ": A1,
    'A == "1"': A1,
    "(A == 1)": A1,
    "A == North": Comparison("A", "==", ("North",)),
    "A == 'North West'": Comparison("A", "==", ("North West",)),
    'A == "it\'s"': Comparison("A", "==", ("it's",)),
    "A == 'and'": Comparison("A", "==", ("and",)),
    "A == E12000001": Comparison("A", "==", ("E12000001",)),
    "A == 01": Comparison("A", "==", ("01",)),
    "A == -9": Comparison("A", "==", ("-9",)),
    "A == \u22129": Comparison("A", "==", ("-9",)),
    "A >= 1.20": Comparison("A", ">=", ("1.20",)),
    "A<.5": Comparison("A", "<", (".5",)),
    "A ≥ 50": Comparison("A", ">=", ("50",)),
    "A ≠ 5": Comparison("A", "!=", ("5",)),
    "A <> 5": Comparison("A", "!=", ("5",)),
    "A in (1, 2 ,x)": Comparison("A", "in", ("1", "2", "x")),
    "A in (1)": Comparison("A", "in", ("1",)),
    "A not in (1, 2)": Not((Comparison("A", "in", ("1", "2")),)),
    "not A == 1 and B == 2": And((Not((A1,)), B2)),
    "not (A == 1 or B != 2)": Not((Or((A1, Comparison("B", "!=", ("2",)))),)),
    "A == 1 or B == 2 and C == 3": Or((A1, And((B2, C3)))),
    "(A == 1 or B == 2) and C == 3": And((Or((A1, B2)), C3)),
    "A == 1 and B == 2 and C == 3": And((A1, B2, C3)),
    "not not A == 1": Not((Not((A1,)),)),
}


@pytest.mark.parametrize(("text", "condition"), TEXT_TO_CONDITION.items())
def test_reads(text: str, condition: Condition) -> None:
    assert parse(text) == condition
    assert parse(str(condition)) == condition


ALLOWED = "it may hold names, codes, ==, !=, <, <=, >, >=, in (1, 2), and, or, not, parentheses"

BAD_CONDITIONS = {
    "": "expected a variable's name but found the end in ''",
    "A": "expected ==, !=, <, <=, >, >= or in after 'A' but found the end in 'A'",
    "A ==": "expected a value but found the end in 'A =='",
    "A == and": "expected a value but found 'and' in 'A == and'",
    "A 1": "expected ==, !=, <, <=, >, >= or in after 'A' but found '1' in 'A 1'",
    "A in 1": "expected '(' but found '1' in 'A in 1'",
    "A in ()": "expected a value but found ')' in 'A in ()'",
    "A in (1, 2": "expected ')' but found the end in 'A in (1, 2'",
    "A not 1": "expected 'in' but found '1' in 'A not 1'",
    "(A == 1": "expected ')' but found the end in '(A == 1'",
    "A == 1)": "expected 'and', 'or' or the end but found ')' in 'A == 1)'",
    "A == 1 B == 2": "expected 'and', 'or' or the end but found 'B' in 'A == 1 B == 2'",
    "A == 1 AND B == 2": "write 'and' in small letters in 'A == 1 AND B == 2'",
    "50 <= A": "expected a variable's name but found '50' in '50 <= A'; "
    "write the variable first, as in AGE >= 50",
    "1 < A < 3": "expected a variable's name but found '1' in '1 < A < 3'; "
    "write the variable first, as in AGE >= 50",
    "A > 50,000": "a comma stands outside 'in (…)' in 'A > 50,000'; "
    "write numbers without thousands separators",
    "A == 1 & B == 2": f"'& B == 2' is not part of a condition; {ALLOWED}",
    "A == '1": f'"\'1" is not part of a condition; {ALLOWED}',
    "A == [1]": f"'[1]' is not part of a condition; {ALLOWED}",
    "A == 1; import os": f"'; import os' is not part of a condition; {ALLOWED}",
    "__import__('os')": "expected ==, !=, <, <=, >, >= or in after '__import__' but found '(' "
    "in \"__import__('os')\"",
}


@pytest.mark.parametrize(("text", "message"), BAD_CONDITIONS.items())
def test_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(ValueError) as error:
        parse(text)
    assert str(error.value) == message


def test_bounds() -> None:
    inside = " and ".join(["A == 1"] * MAX_COMPARISONS)
    assert len(parse(inside).comparisons) == MAX_COMPARISONS
    with pytest.raises(ValueError, match="more than 50 comparisons"):
        parse(f"{inside} and A == 1")
    assert parse("(" * MAX_NESTING + "A == 1" + ")" * MAX_NESTING) == A1
    for deep in ("(", "not "):
        with pytest.raises(ValueError, match="nested deeper than 20 levels"):
            parse(deep * (MAX_NESTING + 1) + "A == 1")
    with pytest.raises(ValueError, match="more than 10,000 characters"):
        parse("(" * (MAX_LENGTH + 1))


def test_names_variables_and_comparisons_in_order_of_appearance() -> None:
    condition = parse("B == 2 and (A == 1 or not B in (3, 4))")
    assert condition.variables == ("B", "A")
    assert [str(c) for c in condition.comparisons] == ["B == 2", "A == 1", "B in (3, 4)"]
    assert A1.variables == ("A",)


@given(st.text("AB12 =<>!()'\",andorti.-", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        condition = parse(text)
    except ValueError as error:
        assert str(error)
        return
    assert parse(str(condition)) == condition


def variable(name: str, values: np.ndarray, labels: tuple[str, ...] | None, **more) -> Variable:
    return Variable(name, name, values, labels, np.full(len(values), 1 / len(values)), **more)


SCHEMA = Schema(
    100,
    (
        variable("SEX", np.array([1, 2]), ("Male", "Female")),
        variable("AREA", np.array(["n", "s", "w"], object), ("North", "South", "West")),
        variable("AGE", np.arange(16, 100), None),
        variable("HEIGHT", np.round(np.arange(120, 221) / 100, 2), None, decimals=2),
        variable("WORK", np.array([0, 1, -9, -8]), ("No", "Yes", "Refused", "Unsure"), missing=2),
        variable(
            "KIND",
            np.array(["a", "b", None], object),
            ("A", "B", "missing"),
            missing=1,
            blank=True,
        ),
        variable("CARS", np.array([0, 1, 2, 3, 0]), None, missing=1, blank=True),
        variable("PAY", np.array([0.5, 1.0, 1.5, np.nan]), None, missing=1, blank=True, decimals=1),
        variable("HOURS", np.array([0, 10, 20, 40, -1]), None, missing=1),
    ),
)


def decoded(codes: np.ndarray) -> pd.DataFrame:
    return SCHEMA.frame(codes.astype(np.uint8))


def draw(rng: np.random.Generator, records: int) -> np.ndarray:
    return np.stack([rng.integers(0, n, records) for n in SCHEMA.sizes], axis=1)


def test_holds_where_an_analyst_would_say() -> None:
    frame = pd.DataFrame(
        {
            "SEX": [1, 2, 2, 1],
            "AGE": [49, 50, 51, 99],
            "HEIGHT": [1.2, 1.21, 1.7, 2.2],
            "AREA": ["n", "s", "w", "n"],
            "CARS": pd.array([0, 1, None, 3], dtype="Int64"),
            "WORK": [0, 1, -9, -8],
            "KIND": ["a", "b", "b", None],
        }
    )
    expected = {
        "AGE >= 50 and SEX == 2": [0, 1, 1, 0],
        "AGE < 50 or AREA in (w)": [1, 0, 1, 0],
        "not (SEX == 1 or AGE = 50)": [0, 0, 1, 0],
        "HEIGHT > 1.20": [0, 1, 1, 1],
        "HEIGHT == 1.20": [1, 0, 0, 0],
        "HEIGHT <= 1.7": [1, 1, 1, 0],
        "CARS != 1": [1, 0, 0, 1],
        "CARS == 0": [1, 0, 0, 0],
        "WORK != 1": [1, 0, 0, 0],
        "not WORK == 1": [1, 0, 0, 0],
        "SEX == 1 or WORK == 1": [1, 1, 0, 0],
        "KIND not in (a)": [0, 1, 1, 0],
    }
    for text, inside in expected.items():
        assert mask(parse(text), frame, SCHEMA).astype(int).tolist() == inside, text


def test_missing_values_may_take_any_form_in_a_frame() -> None:
    for empty in (None, np.nan, pd.NA):
        column = pd.Series([0, 2, empty], dtype=object)
        assert mask(parse("CARS < 1"), pd.DataFrame({"CARS": column}), SCHEMA).tolist() == [
            True,
            False,
            False,
        ]
    for dtype in ("float64", "Int64"):
        frame = pd.DataFrame({"CARS": pd.array([0, 2, None], dtype=dtype)})
        assert mask(parse("CARS != 2"), frame, SCHEMA).tolist() == [True, False, False]


def test_levels_that_are_not_told_apart_share_a_group() -> None:
    grid, inside = truth(parse("AGE >= 50 and AGE < 60 and AREA != s"), SCHEMA)
    assert grid.columns == (2, 1)
    assert grid.shape == (3, 2)
    assert grid.groups[0].tolist() == [0] * 34 + [1] * 10 + [2] * 40
    assert grid.groups[1].tolist() == [0, 1, 0]
    assert inside.tolist() == [[False, False], [True, False], [False, False]]


def test_missing_levels_share_a_group_of_their_own() -> None:
    grid, inside = truth(parse("WORK != 1"), SCHEMA)
    assert grid.groups[0].tolist() == [0, 1, 2, 2]
    assert inside.tolist() == [True, False, False]


def test_too_many_cells_are_refused() -> None:
    names = [f"V{i}" for i in range(30)]
    schema = Schema(5, tuple(variable(n, np.arange(9), None) for n in names))
    wide = parse(" or ".join(f"{n} == 1" for n in names))
    message = "the condition tells more than 1,000,000 cells apart; compare fewer variables"
    assert list(faults(wide, schema)) == [message]
    with pytest.raises(ValueError, match="compare fewer variables"):
        truth(wide, schema)


@st.composite
def comparisons(drawn: st.DrawFn) -> Comparison:
    column = drawn(st.sampled_from(SCHEMA.variables))
    values = st.sampled_from(column.texts[: column.valid])
    if not column.categorical:
        values = values | st.sampled_from(["-1", "0", "17.5", "1.335", "1.50", "20", "500"])
    operators = ["==", "!=", "in"] + ([] if column.categorical else ["<", "<=", ">", ">="])
    operator = drawn(st.sampled_from(operators))
    size = 3 if operator == "in" else 1
    found = drawn(st.lists(values, min_size=1, max_size=size))
    return Comparison(column.name, operator, tuple(found))


CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    comparisons(),
    lambda inner: st.one_of(
        inner.map(lambda part: Not((part,))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
    ),
    max_leaves=6,
)


@given(CONDITIONS)
def test_a_condition_is_read_back_as_it_was_written(condition: Condition) -> None:
    assert parse(str(condition)) == condition


@settings(deadline=None, max_examples=150)
@given(CONDITIONS, st.integers(0, 2**32))
def test_both_evaluators_agree(condition: Condition, seed: int) -> None:
    codes = draw(np.random.default_rng(seed), 200)
    grid, inside = truth(condition, SCHEMA)
    assert inside.shape == grid.shape
    np.testing.assert_array_equal(
        inside.ravel()[grid.cells(codes)], mask(condition, decoded(codes), SCHEMA)
    )


@settings(deadline=None)
@given(CONDITIONS)
def test_groups_are_no_finer_than_needed(condition: Condition) -> None:
    grid, _ = truth(condition, SCHEMA)
    for column, groups in zip(grid.columns, grid.groups, strict=True):
        firsts = [int(np.argmax(groups == g)) for g in range(groups.max() + 1)]
        assert firsts == sorted(firsts)
        name = SCHEMA.variables[column].name
        told = sum(len(c.values) for c in condition.comparisons if c.variable == name)
        assert len(firsts) <= 2 * told + 2


FAULTS = {
    "SEX < 2": ["'SEX' has categories: compare it with ==, != or in, not with <"],
    "SEX == 3": ["'SEX' has no value '3' (known: 1, 2)"],
    "SEX == female": ["'SEX' has no value 'female'; write its code, 2"],
    "AREA in (n, x)": ["'AREA' has no value 'x' (known: n, s, w)"],
    "AGE == old": ["'AGE' is a quantity: 'old' is not a number such as 50 or 1.25"],
    "AGE > 1e3": ["'AGE' is a quantity: '1e3' is not a number such as 50 or 1.25"],
    "AGE == 15": ["'AGE' has no value '15' (its values are 16 to 99)"],
    "HEIGHT != 1.705": ["'HEIGHT' has no value '1.705' (its values are 1.20 to 2.20)"],
    "AGE > 99": ["'AGE > 99' holds for nobody (its values are 16 to 99)"],
    "AGE > 99 or SEX == 1": ["'AGE > 99' holds for nobody (its values are 16 to 99)"],
    "WORK == -9": [
        "'WORK' has no value '-9'; records with a missing value are outside every condition"
    ],
    "CARS == missing": [
        "'CARS' has no value 'missing'; records with a missing value are outside every condition"
    ],
    "KIND != missing": [
        "'KIND' has no value 'missing'; records with a missing value are outside every condition"
    ],
    "SEX == 1 and SEX == 2": ["'SEX == 1 and SEX == 2' holds for nobody"],
    "AGE >= 16": ["'AGE >= 16' holds for everybody; leave it out"],
    "SEX == 3 or SEX == 3 or AREA > n": [
        "'SEX' has no value '3' (known: 1, 2)",
        "'AREA' has categories: compare it with ==, != or in, not with >",
    ],
    "AEG == 1 and SEX == 3": ["'SEX' has no value '3' (known: 1, 2)"],
    "AEG == 1": [],
    "AGE >= 16 and AGE <= 24": [],
    "CARS >= 0": [],
    "AGE > 17.5 and HEIGHT == 1.7": [],
}


@pytest.mark.parametrize(("text", "messages"), FAULTS.items())
def test_faults(text: str, messages: list[str]) -> None:
    assert list(faults(parse(text), SCHEMA)) == messages
