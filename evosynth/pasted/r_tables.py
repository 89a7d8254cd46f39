"""Two-way tables as R prints them."""

from __future__ import annotations

import re
from itertools import pairwise

from evosynth.pasted.by_cells import by_cells
from evosynth.pasted.figures import WORD, read_cell
from evosynth.pasted.lines import separated_line
from evosynth.pasted.table import Pasted


def read_r_table(texts: list[str]) -> Pasted | None:
    """Read a two-way table as R prints it, if it is one.

    Columns are flush right and row labels set in by two. The name of the row variable stands above
    the labels and that of the column variable alone above the columns, unless they have no names.
    """
    lines = [(number, text) for number, text in enumerate(texts) if text.strip()]
    named = len(lines) > 2 and lines[0][1].startswith("  ") and not lines[1][1].startswith(" ")
    above = lines[:1] if named else []
    if len(lines) < 2:
        return None
    (top, header), *body = lines[len(above) :]
    if not all(re.match(r"  \S", text) for _, text in body):
        return None
    if named:
        edge = len(above[0][1]) - len(above[0][1].lstrip())
    else:
        size = len(header.split())
        edge = max(len(" ".join(["", "", *text.split()[:-size]])) for _, text in body) + 1
    if edge < 2 or any(text[edge - 1 : edge] != " " for _, text in [*body, (top, header)]):
        return None
    ends = [[edge + m.end() for m in WORD.finditer(text[edge:])] for _, text in body]
    cuts = list(pairwise([edge, *ends[0]]))
    if not cuts or any(found != ends[0] for found in ends) or len(header) != ends[0][-1]:
        return None
    labels = [header[a:b] for a, b in cuts]
    if not all(label.strip() and label[-1] != " " for label in labels):
        return None
    rows = [[text[:edge], *(text[a:b] for a, b in cuts)] for _, text in body]
    if not all(read_cell(cell.strip()) for _, *cells in rows for cell in cells):
        return None
    heads = [separated_line(n, ["", name]) for n, name in above]
    heads.append(separated_line(top, [header[:edge], *labels]))
    made = [separated_line(n, row) for (n, _), row in zip(body, rows, strict=True)]
    return by_cells(made, 1, heads)
