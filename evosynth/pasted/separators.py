"""What separates the columns of a table: bars, tabs, ``&``, semicolons, commas or spaces."""

from __future__ import annotations

import csv
import re

from evosynth.pasted.figures import read_cell

_RULE = re.compile(r"[\s|+:=_~\u2012-\u2015\u2500-\u257f&*.\\-]*")

_RUN = re.compile(r"[-=_~\u2012-\u2015\u2500-\u257f]{2}|\| ?:?-:? ?\|")

FOOTNOTE = re.compile(
    r"\s*(?:(?:notes?|sources?|key)\s*[:.]|\*+ ?p ?[<=]|[*†‡§¶]+ [A-Za-z]|signif\. codes"
    r"|standard errors|t statistics|(?:pearson|likelihood[- ]ratio) chi2|fisher'?s|cram[ée]r'?s)",
    re.I,
)

SLICE = re.compile(r", , (?:[^=]{1,80} = )?(.+)")


def is_rule(text: str) -> bool:
    """Whether a line is only drawn."""
    return bool(_RULE.fullmatch(text) and _RUN.search(text))


def barred_cells(text: str, bordered: bool) -> list[str]:
    """Split a Markdown row, or one of a grid drawn with bars, into its cells."""
    text = text.strip().removeprefix("|").removesuffix("|") if bordered else text.rstrip()
    cells = re.split(r"(?<!\\)\|", text)
    plain = [cell.replace(r"\|", "|").replace(r"\*", "*").replace("&nbsp;", " ") for cell in cells]
    return [re.sub(r"^(\s*)\*\*([^*]+)\*\*\s*$", r"\1\2", cell) for cell in plain]


def quoted_cells(text: str, mark: str) -> list[str]:
    """Split a line at a mark that may also stand in a quoted cell."""
    try:
        return next(csv.reader([text], delimiter=mark), [])
    except csv.Error:
        return text.split(mark)


def find_way(texts: list[str]) -> str:
    """Say what separates the columns: latex, grid, bars, a mark, or spaces."""
    lines = [t for t in texts if t.strip() and not is_rule(t) and not FOOTNOTE.match(t)]
    if any("&" in t for t in lines) and any(re.search(r"\\\\|\\begin\{tab", t) for t in lines):
        return "latex"
    barred = [text for text in lines if re.search(r"(?<!\\)\|", text)]
    if 2 * len(barred) > len(lines):
        if all(text.lstrip().startswith("|") for text in barred):
            return "grid"
        several = any(re.search(r"\S {2,}\S", c) for t in barred for c in t.split("|")[1:])
        return "bars" if several else "grid-open"
    if 2 * sum("\t" in text.strip(" ") for text in lines) > len(lines):
        return "\t"
    counts = [len(quoted_cells(text, ";")) for text in lines]
    if len(lines) > 1 and min(counts) > 1 and len(set(counts)) == 1:
        return ";"
    return "," if _commas(lines) else "spaces"


def _commas(lines: list[str]) -> bool:
    """Whether commas separate columns: as many on each line, none of them inside a figure."""
    if len(lines) < 2 or any(re.search(r"\S {2,}\S|\t", text) for text in lines):
        return False
    table = [quoted_cells(text, ",") for text in lines]
    if len(table[0]) < 2 or len({len(cells) for cells in table}) > 1:
        return False
    if any(re.match(r"\s*\d", cell) for cell in table[0][1:]):
        return False
    figures = [" ".join(cell.split()) for cells in table[1:] for cell in cells[1:]]
    return all(not text or read_cell(text) or not re.match(r"\d", text) for text in figures)
