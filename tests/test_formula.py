from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evosynth.formula import MAX_TERMS, Factor, Formula, parse

FORMULA_TO_TERMS = {
    "y ~ a": ["a"],
    "y~a+b": ["a", "b"],
    "  y ~\n a +\tb ": ["a", "b"],
    "y ~ b + a": ["b", "a"],
    "y ~ a + a": ["a"],
    "y ~ a:b": ["a:b"],
    "y ~ a:b + b:a": ["a:b"],
    "y ~ a:a": ["a"],
    "y ~ a*a": ["a"],
    "y ~ a*b": ["a", "b", "a:b"],
    "y ~ a:b + a": ["a", "a:b"],
    "y ~ a*b:c": ["a", "b:c", "a:b:c"],
    "y ~ a*b*c": ["a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"],
    "y ~ a*b + b*c": ["a", "b", "c", "a:b", "b:c"],
    "y ~ I(a^2)": ["I(a^2)"],
    "y ~ a + I( a ^ 9 )": ["a", "I(a^9)"],
    "y ~ log(a):b": ["log(a):b"],
    "y ~ a:I(a^2)": ["a:I(a^2)"],
    "y ~ I + log": ["I", "log"],
    "y ~ _a1 + âge": ["_a1", "âge"],
}


@pytest.mark.parametrize(("text", "terms"), FORMULA_TO_TERMS.items())
def test_terms(text: str, terms: list[str]) -> None:
    formula = parse(text)
    assert formula.outcome == "y"
    assert [":".join(map(str, term)) for term in formula.terms] == terms


def test_the_outcome_may_be_logged() -> None:
    assert parse("log(y) ~ a") == Formula("y", ((Factor("a"),),), log=True)
    assert not parse("log ~ a").log


def test_factors() -> None:
    assert parse("y ~ a:log(b):I(c^3)").terms == (
        (Factor("a"), Factor("b", log=True), Factor("c", power=3)),
    )


def test_variables_are_named_once_in_order_of_appearance() -> None:
    assert parse("y ~ c + a*log(c) + I(b^2)").variables == ("y", "c", "a", "b")


ALLOWED = "it may hold names, +, :, *, I(x^2) and log(x)"

BAD_FORMULAS = {
    "": "expected a variable's name but found the end in ''",
    "y": "expected '~' at the end of 'y'",
    "y ~": "expected a variable's name but found the end in 'y ~'",
    "~ a": "expected a variable's name but found '~' in '~ a'",
    "y a": "expected '~' but found 'a' in 'y a'",
    "y ~ a +": "expected a variable's name but found the end in 'y ~ a +'",
    "y ~ a b": "expected '+' but found 'b' in 'y ~ a b'",
    "y ~ a ~ b": "expected '+' but found '~' in 'y ~ a ~ b'",
    "y ~ a + * b": "expected a variable's name but found '*' in 'y ~ a + * b'",
    "y ~ 1 + a": "expected a variable's name but found '1' in 'y ~ 1 + a'",
    "y ~ a - 1": f"'- 1' is not part of a formula; {ALLOWED}",
    "y ~ a | b": f"'| b' is not part of a formula; {ALLOWED}",
    "y ~ a + 'b' + a_rather_long_name": (
        f"\"'b' + a_rather_long_\" is not part of a formula; {ALLOWED}"
    ),
    "y ~ a + y": "'y' stands on both sides of the formula",
    "y ~ a:log(y)": "'y' stands on both sides of the formula",
    "y ~ exp(a)": "expected '+' but found '(' in 'y ~ exp(a)'",
    "y ~ (a + b)": "expected a variable's name but found '(' in 'y ~ (a + b)'",
    "log(y ~ a": "expected ')' but found '~' in 'log(y ~ a'",
    "I(y^2) ~ a": "expected '~' but found '(' in 'I(y^2) ~ a'",
    "y ~ log(a": "expected ')' at the end of 'y ~ log(a'",
    "y ~ log()": "expected a variable's name but found ')' in 'y ~ log()'",
    "y ~ I(a)": "expected '^' but found ')' in 'y ~ I(a)'",
    "y ~ I(a^1)": "the power in I(a^1) must be a number from 2 to 9",
    "y ~ I(a^10)": "the power in I(a^10) must be a number from 2 to 9",
    "y ~ I(a^b)": "the power in I(a^b) must be a number from 2 to 9",
    "y ~ I(a^)": "the power in I(a^) must be a number from 2 to 9",
    "y ~ I(a^": "the power in I(a^) must be a number from 2 to 9",
    "y ~ a*b*c*d*e*f*g": "more than six factors joined by *",
    "y ~ " + "+".join(f"x{i}" for i in range(MAX_TERMS + 1)): "more than 200 terms",
}


@pytest.mark.parametrize(("text", "message"), BAD_FORMULAS.items(), ids=lambda text: text[:40])
def test_bad_formulas(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse(text)
    assert str(caught.value) == message


def test_a_power_of_thousands_of_digits_is_no_power() -> None:
    with pytest.raises(ValueError, match="must be a number from 2 to 9$") as caught:
        parse(f"y ~ I(a^{'9' * 5000})")
    assert len(str(caught.value)) < 200


def test_the_longest_formulas_that_are_allowed() -> None:
    names = [f"x{i}" for i in range(MAX_TERMS)]
    assert len(parse("y ~ " + " + ".join(names)).terms) == MAX_TERMS
    assert len(parse("y ~ a*b*c*d*e*f").terms) == 2**6 - 1


HOSTILE = [
    "y ~ open('pwned', 'w')",
    "y ~ I(open('pwned', 'w'))",
    "y ~ log(__import__('pathlib').Path('pwned').touch())",
    "y ~ I(a^__import__('os').mkdir('pwned'))",
    "__import__('os').mkdir('pwned') ~ a",
    "y ~ a:{__import__('os').mkdir('pwned')}",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_is_evaluated(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="is not part of a formula"):
        parse(text)
    assert list(tmp_path.iterdir()) == []


factors = st.builds(
    Factor, st.sampled_from("abcd"), power=st.sampled_from([1, 1, 2, 9]), log=st.just(False)
) | st.builds(Factor, st.sampled_from("abcd"), log=st.just(True))
terms = st.lists(factors, min_size=1, max_size=4, unique=True).map(tuple)


@given(st.lists(terms, min_size=1, max_size=8, unique_by=frozenset))
def test_what_is_written_is_what_is_read(written: list[tuple[Factor, ...]]) -> None:
    text = "y ~ " + " + ".join(":".join(map(str, term)) for term in written)
    assert parse(text).terms == tuple(sorted(written, key=len))


@given(st.text(alphabet="yab19~+:*()^ I.\n-'_"))
def test_any_text_is_a_formula_or_a_value_error(text: str) -> None:
    try:
        formula = parse(text)
    except ValueError as error:
        assert str(error)
    else:
        assert formula.terms
        assert formula.outcome not in formula.variables[1:]
