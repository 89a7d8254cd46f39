"""The closed grammar of rules: what it reads, refuses and works out, compiled and on data alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evosynth import expression
from evosynth.bonds import Compiled, numeric
from evosynth.kernels.expression import run_programme
from evosynth.schema import Schema, Variable


def integer(name: str, low: int, high: int, missing: tuple[int, ...] = (), blank: bool = False):
    values = np.array([*range(low, high + 1), *missing, *([0] if blank else [])])
    share = np.full(len(values), 1 / len(values))
    return Variable(name, name, values, None, share, len(missing) + blank, blank)


def category(name: str, codes: list, missing: int = 0):
    kind = object if isinstance(codes[0], str) else np.int64
    values = np.array(codes, dtype=kind)
    share = np.full(len(values), 1 / len(values))
    return Variable(name, name, values, tuple(map(str, codes)), share, missing)


SCHEMA = Schema(
    10,
    (
        integer("A", 0, 20),
        integer("B", -3, 9, (-9, -8)),
        integer("C", 0, 4, blank=True),
        category("M", [1, 2, 3]),
        category("T", ["north", "south", "?"], 1),
    ),
)


def rows(size: int = 400):
    rng = np.random.default_rng(5)
    columns = [rng.integers(0, v.size, size) for v in SCHEMA.variables]
    return np.stack(columns, axis=1).astype(SCHEMA.dtype)


def compiled(text: str, condition: bool, codes):
    node = expression.resolve(expression.parse(text, condition), SCHEMA)
    assert list(expression.faults(node, SCHEMA)) == []
    return Compiled.of(node, SCHEMA)(codes)


def on_data(text: str, condition: bool, codes):
    node = expression.resolve(expression.parse(text, condition), SCHEMA)
    columns = {v.name: numeric(v)[codes[:, c]] for c, v in enumerate(SCHEMA.variables)}
    coded = {
        v.name: [
            None if v.blank and level == v.size - 1 else v.values[level]
            for level in codes[:, c].tolist()
        ]
        for c, v in enumerate(SCHEMA.variables)
    }
    return np.broadcast_to(expression.evaluate(node, columns, coded), len(codes))


NUMBERS = [
    ("A + 2 * B", lambda a, b, c: a + 2 * b),
    ("(A + 2) * B", lambda a, b, c: (a + 2) * b),
    ("A - B - C", lambda a, b, c: a - b - c),
    ("-A ^ 2", lambda a, b, c: -(a**2)),
    ("2 ^ -1 * A", lambda a, b, c: a / 2),
    ("A / B", lambda a, b, c: np.where(b == 0, np.nan, a / np.where(b == 0, 1, b))),
    ("min(A, B, 3)", lambda a, b, c: np.minimum(np.minimum(a, b), 3)),
    ("max(A, C)", lambda a, b, c: np.maximum(a, c)),
    ("round(A / 3)", lambda a, b, c: np.floor(a / 3 + 0.5)),
    ("abs(B) + floor(A / 3)", lambda a, b, c: np.abs(b) + np.floor(a / 3)),
    ("sqrt(A) + exp(0 * A)", lambda a, b, c: np.sqrt(a) + 1 + 0 * a),
    ("if A > 10 then B else C", lambda a, b, c: np.where(a > 10, b, c)),
]


@pytest.mark.parametrize(("text", "python"), NUMBERS, ids=[n[0] for n in NUMBERS])
def test_numbers_are_worked_out_alike_compiled_on_data_and_by_hand(text, python):
    codes = rows()
    a, b, c = (numeric(SCHEMA.variables[i])[codes[:, i]] for i in range(3))
    wanted = python(a, b, c)
    np.testing.assert_allclose(compiled(text, False, codes), wanted, rtol=1e-12)
    np.testing.assert_allclose(on_data(text, False, codes), wanted, rtol=1e-12)


CONDITIONS = [
    ("A <= B + 5", lambda a, b, c: np.where(np.isnan(b), np.nan, a <= b + 5)),
    ("if A < 16 then M == 1", None),
    ("if C is missing then A == 0", None),
    ("B == -9 or A > 3", None),
    ("T == north and not (A in (1, 2))", None),
    ("T != 'south'", None),
    ("A not in (3, 4)", None),
    ("B is not missing", lambda a, b, c: (~np.isnan(b)).astype(float)),
    ("A >= B and B >= C", None),
    ("not A < 3 or C > 1", None),
    ("A × 0.1 + 0.2 = 0.3", lambda a, b, c: (a == 1).astype(float)),
]


@pytest.mark.parametrize(("text", "python"), CONDITIONS, ids=[n[0] for n in CONDITIONS])
def test_conditions_are_decided_alike_compiled_and_on_data(text, python):
    codes = rows()
    found = compiled(text, True, codes)
    np.testing.assert_array_equal(found, on_data(text, True, codes))
    assert set(np.unique(found[~np.isnan(found)])) <= {0.0, 1.0}
    assert len(np.unique(found)) > 1  # it tells records apart
    if python is not None:
        a, b, c = (numeric(SCHEMA.variables[i])[codes[:, i]] for i in range(3))
        np.testing.assert_array_equal(found, np.asarray(python(a, b, c), dtype=float))


def test_what_a_missing_value_leaves_open_is_unknown():
    codes = np.zeros((1, 5), dtype=np.uint8)
    codes[0, 1] = 13  # B is -9, a missing code
    assert np.isnan(compiled("A < B", True, codes))
    assert compiled("A < B or A == 0", True, codes) == 1.0
    assert compiled("A < B and A > 0", True, codes) == 0.0
    assert compiled("B == -9", True, codes) == 1.0
    assert compiled("B == -8", True, codes) != 1.0
    assert np.isnan(compiled("B > 0", True, codes))


@pytest.mark.parametrize(
    ("text", "condition", "message"),
    [
        ("A + ", False, "expected a name, a number or '(' but found the end in 'A +'"),
        ("A < B < C", True, "compare two numbers at a time in 'A < B < C': A < B and B < C"),
        ("A + B", True, "expected a condition such as A <= B, not 'A + B'"),
        ("A < B", False, "expected a number such as A + B, not 'A < B'"),
        ("A and B < C", True, "'and' joins conditions such as A < B in 'A and B < C'"),
        ("(A < B) + 1", False, "a condition stands where a number should, in '(A < B) + 1'"),
        ("if A then B < C", True, "'if' needs a condition such as A < B in 'if A then B < C'"),
        ("if A < B C > 1", True, "expected 'then' but found 'C' in 'if A < B C > 1'"),
        ("__import__('os') == 1", True, "'(' is not expected there"),
        ("os.system('x') == 1", True, "\".system('x') == 1\" is not part of a rule"),
        ("A.b == 1", True, "'.b == 1' is not part of a rule"),
        ("abs(A, B) > 1", True, "abs() takes 1 number in 'abs(A, B) > 1'"),
        ("A + 1 in (1, 2)", True, "'in' and 'is missing' follow a variable's name"),
        ("(" * 30 + "A" + ")" * 30, False, "nested deeper than 20 levels"),
    ],
)
def test_what_cannot_be_read_is_shown(text, condition, message):
    with pytest.raises(ValueError, match=".") as error:
        expression.parse(text, condition)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X > 1", "unknown variable 'X'"),
        ("M == 4", "'M' has no value '4'"),
        ("T > 1", "the codes of 'T' are texts: compare them by ==, != or in, or say ordered: true"),
        ("A is missing", "'A' is never missing; give it `missing:` codes, or leave this out"),
        ("A + 'x' > 1", "'x' is a text: compare it with a variable by ==, != or in"),
    ],
)
def test_faults_name_what_does_not_fit_the_variables(text, message):
    node = expression.resolve(expression.parse(text, True), SCHEMA)
    assert next(expression.faults(node, SCHEMA)).startswith(message)


@st.composite
def texts(draw, depth: int = 3):
    if depth == 0:
        return draw(st.sampled_from(["A", "B", "C", "M", "2", "0.5"]))
    one, two = draw(texts(depth - 1)), draw(texts(depth - 1))
    return f"({one} {draw(st.sampled_from('+-*'))} {two})"


@settings(max_examples=40, deadline=None)
@given(texts(), texts(), st.sampled_from(["<", "<=", "==", "!=", ">", ">="]))
def test_any_comparison_is_decided_alike_compiled_interpreted_and_on_data(one, two, sign):
    text, codes = f"{one} {sign} {two}", rows(60)
    node = expression.parse(text, True)
    programme = Compiled.of(node, SCHEMA)
    found = programme(codes)
    np.testing.assert_array_equal(found, on_data(text, True, codes))
    plain = run_programme.py_func(  # type: ignore[attr-defined]
        codes,
        programme.ops,
        programme.columns,
        programme.starts,
        programme.numbers,
        programme.depth,
    )
    np.testing.assert_array_equal(found, plain)
