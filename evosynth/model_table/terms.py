"""Which parameter of a model a label in a printed table means, as programs and papers write it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evosynth.design import INTERCEPT, Column, Part, canonical
from evosynth.errors import shown, suggest
from evosynth.schema import Schema, Variable

_CODED = re.compile(
    r"(?:as\.)?(?:factor|ordered|C)\(\s*(\w[\w.]*)\s*(?:,[^()]*(?:\([^()]*\))?[^()]*)?\)"
)
"""``factor(AREA)``, ``C(AREA, Treatment(reference=1))``: the variable."""
_PREFIX = re.compile(r"(?:i|c|ib\d+b?|o)\.(?=[^\W\d])")
"""Stata's marks of categories and quantities."""
_JOIN = re.compile(r"\s*[×#*]\s*|\s+x\s+|\s*&\s*|\s*:\s*|\s+by\s+", re.I)
REFERENCE = re.compile(
    r"\s*[(\[,;–-]*\s*\b(?:ref|reference|base|omitted|baseline)\b"
    r"(?:\s+(?:category|group|level|outcome))?\.?[)\]]?\s*$",
    re.I,
)
_ASIDE = re.compile(r"\s*[(\[]\s*(?:ref|reference|base|vs|versus|compared)\b[^()\[\]]*[)\]]", re.I)
"""What a category is compared with: ``Female (ref: male)``."""
_INDEXED = re.compile(r"([^\W\d][\w.]*)\((\d+)\)")
"""SPSS numbers the categories other than the reference: ``AREA(1)``."""
_CUT = re.compile(r"[/_]?\s*(?:cut|threshold|tau)\s*_?(\d+)", re.I)
_UNIT = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$|,\s+[^,]*$|\s+in\s+\w+$", re.I)
"""The unit of a quantity behind its name."""
_AGAINST = re.compile(r"\s+(?:vs\.?|versus|v\.?|against|rather than|compared (?:to|with))\s+", re.I)


def fold(text: str) -> str:
    """Write a label in the form in which labels are compared first."""
    text = re.sub("[\u2010-\u2015\u2212]", "-", text.replace("\u2019", "'"))
    text = " ".join(text.casefold().split())
    return re.sub(r" ?([-=:]) ?", r"\1", text.strip(" \"';,.*†‡§¶")).strip(":")


def words(text: str) -> str:
    """Keep the words of a label alone: brackets and marks differ between programs."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


class Spellings:
    """Things by the ways in which they are written; the closest way that fits counts."""

    def __init__(self) -> None:
        self._tiers: tuple[dict[str, set[str]], dict[str, set[str]]] = ({}, {})

    def add(self, thing: str, ways: Iterable[str]) -> None:
        """Let a thing be written in some ways."""
        for way in ways:
            for tier, folded in zip(self._tiers, (fold(way), words(way)), strict=True):
                if folded:
                    tier.setdefault(folded, set()).add(thing)

    def find(self, text: str) -> set[str]:
        """Find what a text may mean."""
        for tier, folded in zip(self._tiers, (fold(text), words(text)), strict=True):
            if folded in tier:
                return tier[folded]
        return set()


def _values(variable: Variable, level: int) -> list[str]:
    """How a value is written: its code, its label, or both."""
    code, label = variable.texts[level], (variable.labels or ("",) * variable.size)[level]
    return [code, label, f"{code} {label}", f"{code}. {label}"] if label else [code]


def _level_ways(variable: Variable, level: int) -> Iterator[str]:
    """How an indicator is written together with its variable."""
    for name in filter(None, (variable.name, variable.label)):
        for value in _values(variable, level):
            yield from (f"{name} {value}", f"{name}: {value}", f"{name}={value}")
            yield from (f"{name}[{value}]", f"{value}.{name}", f"{name}{value}")
            yield from (f"{name} ({value})", f"{name}, {value}", f"{name}_{value}")


def _quantity_ways(part: Part, variable: Variable) -> Iterator[str]:
    for name in filter(None, (variable.name, variable.label)):
        power, factor = part.factor.power, part.factor
        if factor.log:
            yield from (f"log({name})", f"ln({name})", f"log {name}", f"ln {name}")
            yield from (f"np.log({name})", f"ln{name}", f"log{name}")
        elif power == 1:
            yield name
        else:
            signs = (f"^{power}", f"**{power}", {2: "²", 3: "³"}.get(power, f"^{power}"))
            yield from (f"{name}{sign}" for sign in signs)
            yield from (f"I({name}{sign})" for sign in signs)
            yield from (
                f"{name} {word}" for word in {2: ("squared",), 3: ("cubed",)}.get(power, ())
            )
            for join in ("#", "*", " x ", " × "):
                yield join.join([name] * power)


@dataclass(frozen=True)
class Found:
    """What a label means: parameters, of which there should be one, or the reference category."""

    names: frozenset[str] = frozenset()
    reference: bool = False


class Terms:
    """The terms of a model's formula, and how they may be written."""

    def __init__(
        self,
        columns: Sequence[Column],
        schema: Schema,
        names: Sequence[str],
        left_out: Iterable[tuple[str, int]],
        others: Sequence[str] = (),
    ) -> None:
        """Collect spellings.

        ``names``: variables of the right-hand side; ``left_out``: their reference levels;
        ``others``: parameters that are no terms, such as cut points.
        """
        self.columns = columns
        self.others = others
        self.schema = schema
        self.parts = {part.name: part for column in columns for part in column.parts}
        self._variables = Spellings()
        self._full = Spellings()
        self._values: dict[str, Spellings] = {}
        self._any_value = Spellings()
        self._references: set[str] = set()
        for name in names:
            self._variables.add(name, filter(None, (name, schema[name].label)))
        levels = [(p.name, p.factor.variable, p.level) for p in self.parts.values()]
        for name, level in left_out:
            reference = f"{name}[{schema[name].texts[level]}]"
            self._references.add(reference)
            levels.append((reference, name, level))
        for key, name, found in levels:
            variable = schema[name]
            if found is None:
                self._full.add(key, _quantity_ways(self.parts[key], variable))
                continue
            self._full.add(key, _level_ways(variable, found))
            self._values.setdefault(name, Spellings()).add(key, _values(variable, found))
            self._any_value.add(key, [v for v in _values(variable, found)[1:] if v])
        for name in names:  # a variable of two categories has one coefficient
            mine = [p.name for p in self.parts.values() if p.factor.variable == name]
            if schema[name].categorical and len(mine) == 1:
                self._full.add(mine[0], filter(None, (name, schema[name].label)))

    def heading(self, text: str) -> tuple[str, ...]:
        """Variables that a line without figures names; none if it names none."""
        text = REFERENCE.sub("", _ASIDE.sub("", _plain(text)))
        for pieces in ([text], _JOIN.split(text)):
            found = [self._variables.find(piece) for piece in pieces]
            if all(len(names) == 1 for names in found):
                return tuple(name for names in found for name in names)
        return ()

    def find(self, label: str, under: tuple[str, ...] = ()) -> Found:
        """Find the parameters that a label may mean; ``under``: variables of its heading."""
        text = _plain(REFERENCE.sub("", _ASIDE.sub("", label)))
        if canonical(text.strip(" .*†‡()")) == INTERCEPT:
            return Found(frozenset({INTERCEPT}))
        extra = {other for other in self.others if fold(other) == fold(text)}
        cut = _CUT.fullmatch(text)
        cuts = [other for other in self.others if "|" in other]
        if cut and 0 < int(cut[1]) <= len(cuts):
            extra = {cuts[int(cut[1]) - 1]}
        if extra:
            return Found(frozenset(extra))
        if len(under) > 1:
            return self._columns(self._under(text, under))
        if under and (parts := self._values.get(under[0], Spellings()).find(text)):
            return self._columns([parts])
        quantity = self._with_unit(text)
        if quantity is not None:
            return quantity
        for parts in (self._full.find(text), self._any_value.find(text)):
            if parts or (parts := self._indexed(text)):
                return self._columns([parts | self._indexed(text)])
        for pieces in _splits(text):
            chosen = [self._full.find(piece) or self._any_value.find(piece) for piece in pieces]
            if all(chosen) and (found := self._columns(chosen)) != Found():
                return found
        return Found()

    def _with_unit(self, text: str) -> Found | None:
        """Find a quantity that is printed with its unit: Age (years); Age, years."""
        unit = _UNIT.search(text)
        if unit is None or self._full.find(text) or self._any_value.find(text):
            return None
        parts = self._full.find(text[: unit.start()])
        if parts and all(p in self.parts and self.parts[p].level is None for p in parts):
            return self._columns([parts])
        return None

    def _indexed(self, text: str) -> set[str]:
        """Find the category that SPSS numbers so."""
        mark = _INDEXED.fullmatch(text)
        names = self._variables.find(mark[1]) if mark else set()
        mine = [p.name for p in self.parts.values() if {p.factor.variable} == names]
        numbered = {n: part for n, part in enumerate(mine, 1) if self.parts[part].level is not None}
        return {numbered[int(mark[2])]} if mark and int(mark[2]) in numbered else set()

    def _under(self, text: str, names: tuple[str, ...]) -> list[set[str]]:
        """Factors of a value, or several, under a heading such as ``SEX#c.AGE``."""
        categorical = [name for name in names if self.schema[name].categorical]
        rest: list[set[str]] = [{n} for n in names if n not in categorical]
        pieces = [text] if len(categorical) == 1 else re.split(r"\s*#\s*|\s{2,}|\s+", text)
        if len(pieces) != len(categorical):
            return []
        found = zip(categorical, pieces, strict=True)
        return [*(self._values[name].find(piece) for name, piece in found), *rest]

    def _columns(self, factors: list[set[str]]) -> Found:
        """Columns that are products of one of each set of factors."""
        if not factors or not all(factors):
            return Found()
        names = set()
        for column in self.columns:
            own = [part.name for part in column.parts]
            if len(own) == len(factors) and _covers(own, factors):
                names.add(column.name)
        reference = any(parts <= self._references for parts in factors)
        ambiguous = any(parts & self._references and parts - self._references for parts in factors)
        if ambiguous:  # a value and a reference of the same label
            names |= {f"{name} (reference)" for name in set.union(*factors) & self._references}
        return Found(frozenset(names), reference)

    def unknown(self, label: str) -> str:
        """Say that a label means no term, and what was expected."""
        known: list[str] = []
        for column in self.columns:
            known.append(column.name)
            labels = [self._label(part) for part in column.parts]
            if all(labels) and labels:
                known.append(" x ".join(labels))
        hint = suggest(label, [*known, *self.others])
        return f"{shown(label)!r} is neither a term of the formula nor a measure of fit{hint}"

    def _label(self, part: Part) -> str:
        variable = self.schema[part.factor.variable]
        return variable.labels[part.level] if variable.labels and part.level is not None else ""


def _covers(own: list[str], factors: list[set[str]]) -> bool:
    """Whether each factor can be given one part of its own."""
    if not own:
        return True
    return any(
        own[0] in parts and _covers(own[1:], [*factors[:i], *factors[i + 1 :]])
        for i, parts in enumerate(factors)
    )


def _plain(text: str) -> str:
    """Write a term without the marks that programs put around variables."""
    text = _CODED.sub(r"\1 ", text.strip().replace(r"\_", "_"))
    return _PREFIX.sub("", text.replace("[T.", "[")).strip()


def _splits(text: str) -> Iterator[list[str]]:
    """Ways to part a product into factors; a colon may stand within a factor too."""
    marks = list(_JOIN.finditer(text))
    if not 0 < len(marks) <= 6:
        return
    for kept in range(2 ** len(marks) - 1, 0, -1):
        pieces, at = [], 0
        for n, mark in enumerate(marks):
            if kept >> n & 1:
                pieces.append(_plain(text[at : mark.start()]))
                at = mark.end()
        yield [*pieces, _plain(text[at:])]


def outcome_of(text: str, outcome: Variable, levels: Sequence[int]) -> str | None:
    """Find the value of the outcome that a heading of a multinomial model names."""
    ways = Spellings()
    for level in levels:
        ways.add(outcome.texts[level], [*_values(outcome, level), *_level_ways(outcome, level)])
    plain = REFERENCE.sub("", _ASIDE.sub("", _plain(text)))
    for part in (plain, _AGAINST.split(plain)[0]):
        found = ways.find(part)
        if len(found) == 1:
            return next(iter(found))
    return None
