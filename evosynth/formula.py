"""The closed formula grammar: names, ``+``, ``:``, ``*``, ``I(x^2)`` and ``log(x)``, never Python.

``y ~ a + b:c`` parses to an outcome and terms; a term is a product of factors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations

from evosynth.errors import shown

MAX_TERMS = 200

_TOKEN = re.compile(r"\s*(?:(?P<name>[^\W\d][\w.]*)|(?P<number>\d+)|(?P<mark>[~+:*()^]))")


@dataclass(frozen=True)
class Factor:
    """One variable, as it is, raised to a power, or logged."""

    variable: str
    power: int = 1
    log: bool = False

    def __str__(self) -> str:
        """Write it as in a formula."""
        if self.log:
            return f"log({self.variable})"
        return self.variable if self.power == 1 else f"I({self.variable}^{self.power})"


Term = tuple[Factor, ...]


@dataclass(frozen=True)
class Formula:
    """An outcome and the terms that explain it; the intercept is understood."""

    outcome: str
    terms: tuple[Term, ...]
    log: bool = False
    """Whether the logarithm of the outcome is explained."""

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable named, the outcome first, in order of appearance."""
        names = [self.outcome, *(f.variable for term in self.terms for f in term)]
        return tuple(dict.fromkeys(names))


def parse(text: str) -> Formula:
    """Parse a formula; raise ``ValueError`` that shows the offending text."""
    return _Parser(text).formula()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        position = 0
        end = len(text.rstrip())
        while position < end:
            found = _TOKEN.match(text, position)
            if not found:
                raise ValueError(
                    f"{text[position:].strip()[:20]!r} is not part of a formula; "
                    "it may hold names, +, :, *, I(x^2) and log(x)"
                )
            self.tokens.append((str(found.lastgroup), found.group(str(found.lastgroup))))
            position = found.end()
        self.next = 0

    def formula(self) -> Formula:
        outcome = self._name()
        log = outcome == "log" and self._take("(")
        if log:
            outcome = self._name()
            self._expect(")")
        self._expect("~")
        terms: dict[frozenset[Factor], Term] = {}
        while True:
            for term in self._product():
                terms.setdefault(frozenset(term), term)
            if len(terms) > MAX_TERMS:
                raise ValueError(f"more than {MAX_TERMS} terms")
            if self.next == len(self.tokens):
                break
            self._expect("+")
        ordered = sorted(terms.values(), key=len)
        for term in ordered:
            if any(factor.variable == outcome for factor in term):
                raise ValueError(f"{outcome!r} stands on both sides of the formula")
        return Formula(outcome, tuple(ordered), log)

    def _product(self) -> list[Term]:
        """``a*b*c`` is every product of a, b and c; ``a:b`` is their product alone."""
        parts = [self._interaction()]
        while self._take("*"):
            parts.append(self._interaction())
        if len(parts) > 6:
            raise ValueError("more than six factors joined by *")
        return [
            tuple(dict.fromkeys(factor for part in chosen for factor in part))
            for size in range(1, len(parts) + 1)
            for chosen in combinations(parts, size)
        ]

    def _interaction(self) -> Term:
        factors = [self._factor()]
        while self._take(":"):
            factors.append(self._factor())
        return tuple(dict.fromkeys(factors))

    def _factor(self) -> Factor:
        name = self._name()
        if name == "I" and self._take("("):
            variable = self._name()
            self._expect("^")
            kind, power = self._peek()
            if kind != "number" or power not in set("23456789"):
                power = "" if kind == "mark" else shown(power)
                raise ValueError(f"the power in I({variable}^{power}) must be a number from 2 to 9")
            self.next += 1
            self._expect(")")
            return Factor(variable, power=int(power))
        if name == "log" and self._take("("):
            variable = self._name()
            self._expect(")")
            return Factor(variable, log=True)
        return Factor(name)

    def _peek(self) -> tuple[str, str]:
        return self.tokens[self.next] if self.next < len(self.tokens) else ("end", "")

    def _take(self, mark: str) -> bool:
        if self._peek() == ("mark", mark):
            self.next += 1
            return True
        return False

    def _expect(self, mark: str) -> None:
        if not self._take(mark):
            found = self._peek()[1]
            raise ValueError(
                f"expected {mark!r} but found {found!r} in {self.text!r}"
                if found
                else f"expected {mark!r} at the end of {self.text!r}"
            )

    def _name(self) -> str:
        kind, value = self._peek()
        if kind != "name":
            found = repr(value) if value else "the end"
            raise ValueError(f"expected a variable's name but found {found} in {self.text!r}")
        self.next += 1
        return value
