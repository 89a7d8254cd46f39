"""Which of several codes a label in a table means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence


def match(label: str, options: Mapping[str, Sequence[str]]) -> str | None:
    """Find the code that a label of a table means, by code or by one of its labels.

    Case, spaces, footnote marks and a trailing colon do not count; what is ambiguous matches
    nothing.
    """
    if label.strip() in options:
        return label.strip()
    wanted = _folded(label)
    if not wanted:
        return None
    found = {
        code
        for code, labels in options.items()
        if wanted in {_folded(text) for text in (code, *labels)}
    } or {
        code
        for code, labels in options.items()
        if wanted in {_folded(f"{code}{join}{text}") for text in labels for join in (" ", ". ")}
    }
    return found.pop() if len(found) == 1 else None


def _folded(text: str) -> str:
    """Write a label in the form in which labels are compared."""
    text = re.sub("[\u2010-\u2015\u2212]", "-", text.replace("\u2019", "'"))
    text = " ".join(text.casefold().split()).strip(" \"':;,.*†‡§¶#¹²³⁴⁵⁶⁷⁸⁹⁰")
    return re.sub(r" ?- ?", "-", text)
