"""Figures in the cells of a printed model: numbers, brackets, intervals, stars."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from evosynth.model_table.header import ESTIMATES
from evosynth.model_table.terms import REFERENCE
from evosynth.pasted.figures import ITEM, MARKS, clean

_DECIMAL = r"[+\u2212\u2013-]?\d*\.\d+"
_BARE = re.compile(
    rf"(?<![\w.,(\[-])(?P<low>{_DECIMAL})(?: to |[\u2013\u2014-]| [\u2013\u2014-] )"
    rf"(?P<high>{_DECIMAL})(?=[\s,;|*&]|$)"
)
"""An interval without brackets: 0.85 to 1.23."""
_BRACKETED = re.compile(
    rf"[(\[]\s*(?:(?:\d\d% ?)?CI ?[:=,]? ?)?(?P<low>{ITEM})"
    rf"(?:\s*(?:[,;]|\bto\b)\s*|[\u2212\u2013\u2014-]\s*|\s+[\u2212\u2013\u2014-]\s+|\s{1, 3})"
    rf"(?P<high>{ITEM})\s*[)\]]"
)
_ATOMS = {
    "interval": re.compile(rf"\[(?P<a>{ITEM}); (?P<b>{ITEM})\]"),
    "bracket": re.compile(rf"[(\[]\s*(?:(?:SE|S\.E\.|[tzp]) ?[:=]? ?)?(?P<a>{ITEM})\s*[)\]]", re.I),
    "number": re.compile(rf"(?P<a>{ITEM})"),
    "stars": re.compile(r"(?P<a>\*+)"),
    "note": re.compile(r"[†‡§¶#+]+"),
}


@dataclass(frozen=True)
class Atom:
    """A figure as it stands: a number, bare or in brackets, an interval, stars, or a mark."""

    kind: str
    texts: tuple[str, ...] = ()


def read_atoms(text: str) -> tuple[Atom, ...] | None:
    """Read the figures in a cell; ``None`` if something else stands there."""
    found: list[Atom] = []
    at = 0
    while at < len(text):
        if text[at] in " ,;" and (at or text[at] == " "):
            at += 1
            continue
        for kind, pattern in _ATOMS.items():
            match = pattern.match(text, at)
            if match:
                texts = tuple(t for t in match.groupdict().values() if t)
                found.append(Atom(kind, tuple(map(written_out, texts))))
                at = match.end()
                break
        else:
            word = text[at:].split()[0]
            if REFERENCE.fullmatch(text[at:]) or word.casefold().strip("()[]") in MARKS:
                at = len(text) if REFERENCE.fullmatch(text[at:]) else at + len(word)
                found.append(Atom("mark"))
                continue
            return None
    return tuple(found)


def written_out(text: str) -> str:
    """Write a number without an exponent, and with a plain minus."""
    plain = clean(text) if text.strip("*") else text
    sign = re.match(r"[<>≤≥]=?", plain)
    body = plain[sign.end() :] if sign else plain
    if re.fullmatch(r"[-\d.,]+e[-+]?\d{1,3}", body, re.I):
        body = format(Decimal(body.replace(",", "")), "f")
    return (sign.group() if sign else "") + body


def mark_intervals(text: str) -> str:
    """Write every interval as ``[low; high]``."""
    text = _BRACKETED.sub(r"[\g<low>; \g<high>]", text)
    return _BARE.sub(r"[\g<low>; \g<high>]", text)


def assign(forms: Sequence[str], atoms: Sequence[Atom], bracket: str) -> dict[str, tuple[str, ...]]:
    """Tell what each figure of a term is; raise ``ValueError`` if they are too many.

    ``forms``: what the header names; ``bracket``: what stands in brackets beyond that.
    """
    left = list(forms)
    found: dict[str, tuple[str, ...]] = {}
    stars: tuple[str, ...] = ()

    def put(key: str, texts: tuple[str, ...]) -> None:
        if key in found:
            raise ValueError(f"two figures that are {key.replace('_', ' ')}")
        found[key] = texts

    for atom in atoms:
        if atom.kind == "stars":
            stars = atom.texts
        elif atom.kind == "mark":
            left = left[1:]
        elif atom.kind == "interval":
            if "interval" in left:
                left.remove("interval")
            left = [form for form in left if form not in {"low", "high"}]
            put("interval", atom.texts)
        elif atom.kind in {"number", "bracket"}:
            if atom.kind == "bracket" and left and left[0] in ESTIMATES:
                left.pop(0)  # what stands in brackets belongs to an estimate, and is none
            if left and left[0] == "interval":
                left[:1] = ["low", "high"]
            if left:
                put(left.pop(0), atom.texts)
            elif atom.kind == "bracket":
                put(bracket, atom.texts)
            else:
                message = f"{atom.texts[0]} is one figure more than the header names"
                raise ValueError(f"{message}; name every column, or list them under shows")
    if stars and "p_values" not in found:
        found["p_values"] = stars
    found.pop("passed over", None)
    return found
