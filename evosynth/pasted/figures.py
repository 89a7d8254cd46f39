"""Figures as they stand in the cells of tables, with what is printed beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from evosynth.errors import shown
from evosynth.pasted.table import Cell

MINUS = "\u2212\u2013-"

_PLAIN = (
    rf"[+{MINUS}]?[£$€]?(?:(?:[1-9]\d{{0,2}}(?:,\d{{3}})++(?!\d)(?!,\d)|\d++(?!,\d))(?:\.\d++)?|\.\d++)"
    rf"(?:[eE][-+\u2212]?\d++)?+(?!\.\d)(?: ?%)?"
)

ITEM = rf"(?:[pP] ?(?:= ?|(?=[<>≤≥])))?(?:[<>≤≥]=? ?)?{_PLAIN}"

NUMBER = re.compile(ITEM, re.ASCII)

_BAD = rf"[+{MINUS}]?[£$€]?\d++(?:\.\d++)*,\d++(?:,\d++)*(?: ?%)?"

COMMA = re.compile(_BAD, re.ASCII)

_STARS = re.compile(r"\*+|[†‡§¶#]+| (?:\*{2,}|[†‡§¶]+)(?= |$)")

_LOOSE_STARS = re.compile(r" ?(?:\*+|[†‡§¶#]+)")

_PLUS_MINUS = re.compile(rf" ?(?:±|\+/-|\+-) ?(?P<low>{_PLAIN})", re.ASCII)

_BRACKET = re.compile(
    r" ?[(\[] ?(?:(?:\d\d% ?)?(?:CI|IQR|SD|SE|n|N) ?[:=,]? ?)?"
    rf"(?:(?P<low>{ITEM})(?: ?(?:[,;\u2013\u2014\u2212-]|to) ?(?P<high>{ITEM}))?"
    rf"|(?P<mark>[\w.:/*\u2014{MINUS}]{{1,12}})|(?P<comma>{_BAD})) ?[)\]]",
    re.ASCII,
)

WORD = re.compile(r"\S+")

MARKS = {
    *("suppressed", "structural", "missing", "ref", "ref.", "reference", "omitted"),
    *("c", "x", "s", "z", "u", "..", "...", "…", ":", ".", "~", "-", "--", "\u2212", "–", "—", "―"),
    *("*", "**", "***", "****", "†", "‡", "#", "na", "n/a", "n.a.", "nan", "ns", "n.s."),
}

THIN = re.compile(r"(?<![\d.,])(\d{1,3})((?:[\u00a0\u2007\u2009\u202f]\d{3})++)(?!\d)")


@dataclass(frozen=True)
class Figure:
    """One figure and where it stands; its texts are the number and what goes with it."""

    start: int
    end: int
    texts: Cell
    bracketed: bool = False
    comma: bool = False
    """Whether a comma is used as a decimal point."""

    @property
    def numeric(self) -> bool:
        """Whether it has a digit."""
        return any(character.isdigit() for text in self.texts for character in text)


def clean(text: str) -> str:
    """Write a number with a plain minus, and without currency, percent and plus signs."""
    text = re.sub(f"[{MINUS}]", "-", re.sub(r"^[pP] ?(?:= ?)?", "", text))
    return re.sub(r"[£$€% ]", "", text).lstrip("+")


def read_figure(text: str, start: int, alone: bool) -> Figure | None:
    """Read the figure that begins at a place, up to a space; the whole text if it is alone."""
    texts: list[str] = []
    at, comma, bracketed = start, False, False
    if (found := NUMBER.match(text, at)) and not text.startswith(",", found.end()):
        texts, at = [clean(found.group())], found.end()
    elif found := COMMA.match(text, at):
        texts, at, comma = [found.group()], found.end(), True
    elif (found := WORD.match(text, at)) and found.group().casefold() in MARKS:
        texts, at = [found.group()], found.end()
    elif not text.startswith(("(", "["), at):
        return None
    else:
        bracketed = True
    while at < len(text):
        star = (_LOOSE_STARS if alone else _STARS).match(text, at)
        if star and texts:
            texts.append(star.group().strip())
            at = star.end()
            continue
        more = _bracket(text, at)
        if not more:
            break
        texts += more[0]
        comma |= "," in more[0][0] and not NUMBER.fullmatch(more[0][0])
        at = more[1]
    if not texts or (at < len(text) and text[at] != " ") or (alone and at < len(text)):
        return None
    return Figure(start, at, tuple(texts), bracketed, comma)


def _bracket(text: str, at: int) -> tuple[list[str], int] | None:
    """Read one or two numbers in brackets, or a number after ±."""
    found = _PLUS_MINUS.match(text, at)
    if found:
        return [clean(found["low"])], found.end()
    found = _BRACKET.match(text, at)
    if not found:
        return None
    if found["comma"]:
        return [found["comma"]], found.end()
    if found["mark"]:
        return ([found["mark"]], found.end()) if found["mark"].casefold() in MARKS else None
    return [clean(item) for item in (found["low"], found["high"]) if item], found.end()


@lru_cache(maxsize=10_000)
def read_cell(text: str) -> Figure | None:
    """Read a text that holds one figure and nothing else."""
    return read_figure(text, 0, alone=True)


def unread_cell(text: str) -> str:
    """Say why a cell is no figure, and what to write."""
    if COMMA.search(text[:200]):
        return (
            f"{shown(text)!r} seems to have a decimal comma; write a decimal point, "
            "or a space after the comma of an interval"
        )
    remedy = "write one number per cell (thousands as 1,234) or .. for none"
    return f"{shown(text)!r} is not a figure; {remedy}"


def join_digits(found: re.Match[str]) -> str:
    """Close the thin spaces between thousands."""
    return found[1] + re.sub(r"\D", "", found[2])
