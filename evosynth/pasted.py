"""Reads tables that people paste from papers: labels, and the figures beside them, as texts.

Columns are told apart by bars, tabs, ``&``, semicolons or commas; else by two or more spaces; else
the figures are the numbers at the end of the line. Nothing is known here of what a figure means.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from evosynth.errors import shown

MAX_TEXT = 1_000_000
MAX_CELLS = 100_000
MAX_FILE_CELLS = 2_000_000
"""Cells of a CSV file; its characters are bounded by the size of files."""

Cell = tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A line of figures and what stands to their left."""

    line: int
    """0-based line of the text."""
    stub: tuple[str, ...]
    """The label, after the labels that it stands under."""
    cells: tuple[Cell, ...]
    """The texts in each column: ``("12", "3.4")`` for ``12 (3.4%)``, none in an empty cell."""


@dataclass(frozen=True)
class Unread:
    """A line that cannot be read, and what to do about it."""

    line: int
    message: str


@dataclass(frozen=True)
class Pasted:
    """A table as texts."""

    header: tuple[str, ...] = ()
    """The label of each column of figures; empty if the table has no header."""
    corner: tuple[str, ...] = ()
    """Labels above the stub, if there are any."""
    spanners: tuple[tuple[str, ...], ...] = ()
    """Header lines above the header, the top one first, with a label for each column."""
    rows: tuple[Row, ...] = ()
    faults: tuple[Unread, ...] = ()


# ---- figures ----------------------------------------------------------------------------------

_MINUS = "\u2212\u2013-"
_PLAIN = (
    rf"[+{_MINUS}]?[£$€]?(?:(?:[1-9]\d{{0,2}}(?:,\d{{3}})++(?!\d)(?!,\d)|\d++(?!,\d))(?:\.\d++)?|\.\d++)"
    rf"(?:[eE][-+\u2212]?\d++)?+(?!\.\d)(?: ?%)?"
)
_ITEM = rf"(?:[pP] ?(?:= ?|(?=[<>≤≥])))?(?:[<>≤≥]=? ?)?{_PLAIN}"
_NUMBER = re.compile(_ITEM, re.ASCII)
_BAD = rf"[+{_MINUS}]?[£$€]?\d++(?:\.\d++)*,\d++(?:,\d++)*(?: ?%)?"
_COMMA = re.compile(_BAD, re.ASCII)
_STARS = re.compile(r"\*+|[†‡§¶#]+| (?:\*{2,}|[†‡§¶]+)(?= |$)")
_LOOSE_STARS = re.compile(r" ?(?:\*+|[†‡§¶#]+)")
_PLUS_MINUS = re.compile(rf" ?(?:±|\+/-|\+-) ?(?P<low>{_PLAIN})", re.ASCII)
_BRACKET = re.compile(
    r" ?[(\[] ?(?:(?:\d\d% ?)?(?:CI|IQR|SD|SE|n|N) ?[:=,]? ?)?"
    rf"(?:(?P<low>{_ITEM})(?: ?(?:[,;\u2013\u2014\u2212-]|to) ?(?P<high>{_ITEM}))?"
    rf"|(?P<mark>[\w.:/*\u2014{_MINUS}]{{1,12}})|(?P<comma>{_BAD})) ?[)\]]",
    re.ASCII,
)
_WORD = re.compile(r"\S+")
_MARKS = {
    *("suppressed", "structural", "missing", "ref", "ref.", "reference", "omitted"),
    *("c", "x", "s", "z", "u", "..", "...", "…", ":", ".", "~", "-", "--", "\u2212", "–", "—", "―"),
    *("*", "**", "***", "****", "†", "‡", "#", "na", "n/a", "n.a.", "nan", "ns", "n.s."),
}
_THIN = re.compile(r"(?<![\d.,])(\d{1,3})((?:[\u00a0\u2007\u2009\u202f]\d{3})++)(?!\d)")


@dataclass(frozen=True)
class _Figure:
    start: int
    end: int
    texts: Cell
    bracketed: bool = False
    comma: bool = False
    """Whether a comma is used as a decimal point."""

    @property
    def numeric(self) -> bool:
        return any(character.isdigit() for text in self.texts for character in text)


def _clean(text: str) -> str:
    """Write a number with a plain minus, and without currency, percent and plus signs."""
    text = re.sub(f"[{_MINUS}]", "-", re.sub(r"^[pP] ?(?:= ?)?", "", text))
    return re.sub(r"[£$€% ]", "", text).lstrip("+")


def _figure(text: str, start: int, alone: bool) -> _Figure | None:
    """Read the figure that begins at a place, up to a space; the whole text if it is alone."""
    texts: list[str] = []
    at, comma, bracketed = start, False, False
    if (found := _NUMBER.match(text, at)) and not text.startswith(",", found.end()):
        texts, at = [_clean(found.group())], found.end()
    elif found := _COMMA.match(text, at):
        texts, at, comma = [found.group()], found.end(), True
    elif (found := _WORD.match(text, at)) and found.group().casefold() in _MARKS:
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
        comma |= "," in more[0][0] and not _NUMBER.fullmatch(more[0][0])
        at = more[1]
    if not texts or (at < len(text) and text[at] != " ") or (alone and at < len(text)):
        return None
    return _Figure(start, at, tuple(texts), bracketed, comma)


def _bracket(text: str, at: int) -> tuple[list[str], int] | None:
    """Read one or two numbers in brackets, or a number after ±."""
    found = _PLUS_MINUS.match(text, at)
    if found:
        return [_clean(found["low"])], found.end()
    found = _BRACKET.match(text, at)
    if not found:
        return None
    if found["comma"]:
        return [found["comma"]], found.end()
    if found["mark"]:
        return ([found["mark"]], found.end()) if found["mark"].casefold() in _MARKS else None
    return [_clean(item) for item in (found["low"], found["high"]) if item], found.end()


@lru_cache(maxsize=10_000)
def _cell(text: str) -> _Figure | None:
    """Read a text that holds one figure and nothing else."""
    return _figure(text, 0, alone=True)


# ---- lines ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Piece:
    """A label and where it stands on its line."""

    start: int
    end: int
    text: str


@dataclass
class _Line:
    """A line of a table, before it is known what is header and what is body."""

    number: int
    text: str = ""
    cells: list[str] | None = None
    """Its cells, where columns are separated outright."""
    raw: list[str] = field(default_factory=list)
    """The same with the spaces around them."""
    edge: int | None = None
    """Where the stub ends, if a bar says so."""
    pieces: list[_Piece] = field(default_factory=list)
    stub: list[_Piece] = field(default_factory=list)
    figures: list[_Figure] = field(default_factory=list)
    sure: int = 0
    """How many of the figures are set apart from the label."""
    broken: bool = False
    """Whether something among the figures is none."""
    ruled: bool = False
    """Whether a rule stands below."""

    @property
    def start(self) -> int:
        return self.pieces[0].start


_COLUMN = 1000
"""How far apart columns are that are separated outright; less is indentation."""


def _bare(number: int, raw: list[str]) -> _Line:
    """Make a line of separated cells that are not looked at yet."""
    return _Line(number, cells=[" ".join(cell.split()) for cell in raw], raw=raw)


def _placed(raw: list[str]) -> list[_Piece]:
    """Labels in separated cells, with their indentation."""
    found = []
    for column, cell in enumerate(raw):
        text = " ".join(cell.split())
        if text:
            indent = len(cell.expandtabs(4)) - len(cell.expandtabs(4).lstrip())
            start = column * _COLUMN + min(indent, _COLUMN // 2)
            found.append(_Piece(start, column * _COLUMN + len(cell.rstrip()), text))
    return found


def _separated(number: int, raw: list[str]) -> _Line:
    """Make a line of separated cells."""
    line = _bare(number, raw)
    cells = line.cells or []
    line.text = " ".join(cells)
    line.pieces = _placed(raw)
    line.stub = [piece for piece in line.pieces if piece.start < _COLUMN]
    for text in filter(None, cells[1:]):
        figure = _cell(text)
        line.broken |= figure is None
        line.figures += [figure] if figure else []
    line.sure = len(line.figures)
    return line


_CHUNK = re.compile(r"\S+(?: \S+)*+")
_GLUED = re.compile(
    r"\b(Std\.|1st|3rd|[ztF]|Odds|Hazard|Risk) (?=Error|err\.|Dev|Qu\.|value|ratio)", re.I
)
_SIZE = re.compile(r"\(n\s?=\s?[\d,]{1,12}\)", re.I)
"""How many a column or row is about, as in ``Male (n=40)``: part of its label."""
_SIZE_AFTER = re.compile(rf"(?<=[^\W\d_]) {_SIZE.pattern}", re.I)
_CONNECTORS = {"to", "and", "than", "under", "&", "-", "–", "—"}


def _chunks(text: str, offset: int = 0) -> list[_Piece]:
    """Split on two or more spaces."""
    return [
        _Piece(offset + m.start(), offset + m.end(), m.group().replace("\0", " "))
        for m in _CHUNK.finditer(text)
    ]


def _scan(piece: _Piece) -> list[_Figure]:
    """Find the figures that end a chunk."""
    found: list[_Figure] = []
    at = 0
    while at < len(piece.text):
        figure = _figure(piece.text, at, alone=False)
        if figure and (found or at == 0 or not _SIZE.match(piece.text, at)):
            found.append(figure)
            at = figure.end + 1
        else:
            found = []
            at = piece.text.find(" ", at) + 1 or len(piece.text)
    before = piece.text[: found[0].start].split()[-1:] if len(found) > 1 else []
    if before and before[0].casefold() in _CONNECTORS:
        found = found[1:]
    return [
        _Figure(f.start + piece.start, f.end + piece.start, f.texts, f.bracketed, f.comma)
        for f in found
    ]


def _spaced(number: int, text: str, bars: bool) -> _Line:
    """Make a line of which only spaces, and perhaps a bar after the stub, separate the columns."""
    edge = text.find("|") if bars else -1
    text = re.sub(r"(?<= )\|(?= |$)|^\||\|$", " ", text) if bars else text
    text = re.sub(r"(?<=\d% conf\.) (?=interval)", "  ", text, flags=re.I)
    text = re.sub(r"\(( +)([^()\s]{1,20})\)", r"(\2)\1", text)
    text = _GLUED.sub(lambda m: f"{m[1]}\0", text)
    text = _SIZE_AFTER.sub(lambda m: m[0].replace(" ", "\0"), text)
    line = _Line(number, text, edge=edge if edge >= 0 else None, pieces=_chunks(text))
    if line.edge is not None:
        line.stub = _chunks(text[: line.edge])
        right = _chunks(text[line.edge :], line.edge)
        line.pieces = [*line.stub, *right]
        for piece in right:
            figures = _scan(piece)
            line.broken |= not figures or figures[0].start > piece.start
            line.figures += figures
        line.sure = len(line.figures)
        return line
    left = list(line.pieces)
    apart: list[list[_Figure]] = []
    while left:
        figures = _scan(left[-1])
        if not figures or figures[0].start > left[-1].start:
            break
        apart.append(figures)
        left.pop()
    line.figures = [figure for figures in reversed(apart) for figure in figures]
    line.sure = len(line.figures)
    if left:
        line.figures = _scan(left[-1]) + line.figures
    elif line.figures and line.figures[0].texts[0].isalpha():
        left = line.pieces[:1]
        line.figures = line.figures[1:]
        line.sure -= 1
    if not line.figures:
        line.figures = [f for piece in left[1:] if (f := _cell(piece.text)) and f.numeric]
        line.broken = bool(line.figures)
        line.stub = left[:1] if line.broken else left
        return line
    line.stub = _chunks(text[: line.figures[0].start])
    return line


def _count(line: _Line) -> int:
    """How many figures a line seems to hold beside its label."""
    return line.sure or len(line.figures)


# ---- separators -------------------------------------------------------------------------------

_RULE = re.compile(r"[\s|+:=_~\u2012-\u2015\u2500-\u257f&*.\\-]*")
_RUN = re.compile(r"[-=_~\u2012-\u2015\u2500-\u257f]{2}|\| ?:?-:? ?\|")
_FOOTNOTE = re.compile(
    r"\s*(?:(?:notes?|sources?|key)\s*[:.]|\*+ ?p ?[<=]|[*†‡§¶]+ [A-Za-z]|signif\. codes"
    r"|standard errors|t statistics|(?:pearson|likelihood[- ]ratio) chi2|fisher'?s|cram[ée]r'?s)",
    re.I,
)
_TITLE = re.compile(r"\s*(?:supplementary )?(?:table|tab\.)\s", re.I)
_SLICE = re.compile(r", , (?:[^=]{1,80} = )?(.+)")


def _is_rule(text: str) -> bool:
    return bool(_RULE.fullmatch(text) and _RUN.search(text))


_LATEX_DROPPED = re.compile(
    r"\\(?:begin|end|caption|label|centering|small|footnotesize|vspace|setlength|usepackage)\b"
)
_LATEX_RULE = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|addlinespace|cmidrule|cline)"
    r"(?:\[[^\]]{0,40}\]|\([^)]{0,40}\)|\{[^}]{0,40}\})*"
)
_LATEX_SPACE = re.compile(r"\\(?:qquad|quad|enspace|hspace\*?\{[^}]{0,40}\})|\\ |~")
_LATEX_WRAP = re.compile(
    r"\\(?:textbf|textit|emph|text|mathrm|mathbf|num|sym|textsuperscript)\s?\{([^{}]*)\}|\^\{([^{}]*)\}"
)
_LATEX_TEXT = {
    **{r"\%": "%", r"\_": "_", r"\$": "$", r"\#": "#", r"\&": "\1", r"{,}": ",", r"\,": "\u2009"},
    **{r"\pm": "±", r"\textless": "<", r"\leq": "≤", r"\ast": "*", r"\dagger": "†", "---": "—"},
    **{"--": "–", "{": "", "}": ""},
}


def _latex(text: str) -> list[str] | None:
    """Split a LaTeX row into its cells; ``None`` for a rule, none for a line without cells."""
    if _LATEX_DROPPED.match(text.strip()):
        return []
    text = re.sub(r"(?<!\\)%.*", "", text)
    partial = re.search(r"\\c(?:midrule|line)\b", text)
    text, rules = _LATEX_RULE.subn("", text)
    if not text.strip():
        return None if rules and not partial else []
    text = re.sub(r"\\\\(?:\[[^\]]{0,40}\])?\s*$", "", text.rstrip())
    for _ in range(3):
        text = _LATEX_WRAP.sub(lambda m: m[1] or m[2] or "", text)
    text = re.sub(r"\\multirow\{[^{}]*\}\{[^{}]*\}\{([^{}]*)\}", r"\1", text)
    text = re.sub(
        r"\\multicolumn\{(\d{1,2})\}\{[^{}]*\}\{([^{}]*)\}",
        lambda m: m[2] + "&" * (int(m[1]) - 1),
        text,
    )
    text = _LATEX_SPACE.sub("    ", text).replace(r"\$", "\2").replace("$", "").replace("\2", "$")
    for command, plain in _LATEX_TEXT.items():
        text = text.replace(command, plain)
    return [_THIN.sub(_joined, cell).replace("\1", "&") for cell in text.split("&")]


def _bars(text: str, bordered: bool) -> list[str]:
    """Split a Markdown row, or one of a grid drawn with bars, into its cells."""
    text = text.strip().removeprefix("|").removesuffix("|") if bordered else text.rstrip()
    cells = re.split(r"(?<!\\)\|", text)
    plain = [cell.replace(r"\|", "|").replace(r"\*", "*").replace("&nbsp;", " ") for cell in cells]
    return [re.sub(r"^(\s*)\*\*([^*]+)\*\*\s*$", r"\1\2", cell) for cell in plain]


def _quoted(text: str, mark: str) -> list[str]:
    """Split a line at a mark that may also stand in a quoted cell."""
    try:
        return next(csv.reader([text], delimiter=mark), [])
    except csv.Error:
        return text.split(mark)


def _way(texts: list[str]) -> str:
    """Say what separates the columns: latex, grid, bars, a mark, or spaces."""
    lines = [t for t in texts if t.strip() and not _is_rule(t) and not _FOOTNOTE.match(t)]
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
    counts = [len(_quoted(text, ";")) for text in lines]
    if len(lines) > 1 and min(counts) > 1 and len(set(counts)) == 1:
        return ";"
    return "," if _commas(lines) else "spaces"


def _commas(lines: list[str]) -> bool:
    """Whether commas separate columns: as many on each line, none of them inside a figure."""
    if len(lines) < 2 or any(re.search(r"\S {2,}\S|\t", text) for text in lines):
        return False
    table = [_quoted(text, ",") for text in lines]
    if len(table[0]) < 2 or len({len(cells) for cells in table}) > 1:
        return False
    if any(re.match(r"\s*\d", cell) for cell in table[0][1:]):
        return False
    figures = [" ".join(cell.split()) for cells in table[1:] for cell in cells[1:]]
    return all(not text or _cell(text) or not re.match(r"\d", text) for text in figures)


# ---- header -----------------------------------------------------------------------------------


_GARBLED = re.compile(rf"[{_MINUS}]?\d[\d.,' ]{{0,30}}[A-Za-z]?%?")


def _is_row(lines: list[_Line], i: int, wide: bool, below: bool) -> bool:
    """Whether a line is the first of the body.

    ``wide``: a line of several labels stands above; ``below``: and a rule between them.
    """
    line = lines[i]
    if below and line.stub and any(re.search(r"\d", piece.text) for piece in line.pieces[1:]):
        return True
    numbers = [figure for figure in line.figures if figure.numeric]
    if line.broken:
        return wide and bool(line.stub) and 2 * len(numbers) >= len(line.pieces) - 1 > 0
    if not line.figures:
        return wide and any(_GARBLED.fullmatch(piece.text) for piece in line.pieces[1:])
    if line.stub:
        return wide or (bool(numbers) and not _is_numeric_header(lines, i))
    after = lines[i + 1 :]
    words = len(lines[i - 1].text.split()) if i and not lines[i - 1].figures else 0
    if wide or words == len(line.figures) > 1:
        return not all(figure.bracketed for figure in line.figures)
    if not after:
        return i > 0
    alike = not after[0].stub and len(after[0].figures) == len(line.figures)
    return alike and len(after) > 1 and not line.figures[0].bracketed


def _is_numeric_header(lines: list[_Line], i: int) -> bool:
    """Whether a label and numbers, on top of a table, are the header: codes or years."""
    line = lines[i]
    if i + 1 == len(lines):
        return False
    texts = [figure.texts[0] for figure in line.figures]
    codes = all(len(figure.texts) == 1 for figure in line.figures) and len(set(texts)) == len(texts)
    if not codes or not all(text.isdecimal() for text in texts):
        return False
    if line.ruled and not lines[i + 1].ruled:
        return True
    above = lines[i - 1] if i else None
    if above and len(above.pieces) == 1 and len(texts) > 1:
        if above.start > line.start + 1 < lines[i + 1].start:
            return True
    years = all(re.fullmatch(r"(?:19|20)\d\d", text) for text in texts)
    whole = [int(text) for text in texts if re.fullmatch(r"\d{1,4}", text)]
    steps = len(whole) == len(texts) > 1 and whole[0] < 2
    return years or (steps and all(b - a == 1 for a, b in pairwise(whole)))


def _head(lines: list[_Line]) -> tuple[list[_Line], list[_Line]]:
    """Part the header lines from the body; titles are left out."""
    end, wide, below = 0, False, False
    while end < len(lines) and not _is_row(lines, end, wide, below):
        wide = wide or len(lines[end].pieces) > 1
        below = below or (wide and lines[end].ruled)
        end += 1
    if end == len(lines):
        return [], lines
    row = lines[end]
    edge = row.edge if row.edge is not None else _COLUMN if row.cells is not None else None
    if edge is None:
        edge = row.stub[-1].end if row.stub else row.figures[0].end
    zone = [line for line in lines[:end] if not _TITLE.match(line.text)]
    header = [
        n
        for n, line in enumerate(zone)
        if len(line.pieces) > 1 or line.figures or line.start >= edge
    ]
    if not header and row.cells is None:
        header = [n for n, line in enumerate(zone) if _names_columns(line, row)][-1:]
    last = max(header, default=-1)
    slices = [line for line in zone[: last + 1] if line.start < 0]
    return [zone[n] for n in header], [*slices, *zone[last + 1 :], *lines[end:]]


def _names_columns(line: _Line, row: _Line) -> bool:
    """Whether a line has as many words as the row below it figures, and is spaced like it."""
    words = len(line.text.split())
    if _looks_like_figures(line):
        return False
    if not row.stub:
        return words == len(row.figures)
    return row.sure == 0 and words in (len(row.figures), len(row.figures) + 1) and words > 1


def _named(header: list[_Line]) -> tuple[_Line | None, list[_Line]]:
    """Choose the header line that names the columns: the lowest that is not figures in brackets."""
    if not header:
        return None, []
    texts = [
        n
        for n, line in enumerate(header)
        if not line.figures or not all(figure.bracketed for figure in line.figures)
    ]
    chosen = texts[-1] if texts else len(header) - 1
    return header[chosen], header[:chosen] + header[chosen + 1 :]


# ---- body -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Read:
    """A line of the body: its label, and its cells unless it is a heading."""

    line: int
    stub: tuple[_Piece, ...]
    cells: tuple[Cell, ...] | None


def _unread_cell(text: str) -> str:
    if _COMMA.search(text[:200]):
        return (
            f"{shown(text)!r} seems to have a decimal comma; write a decimal point, "
            "or a space after the comma of an interval"
        )
    remedy = "write one number per cell (thousands as 1,234) or .. for none"
    return f"{shown(text)!r} is not a figure; {remedy}"


def _by_cells(
    lines: list[_Line],
    stubs: int | None,
    head: list[_Line] | None = None,
    padded: bool = False,
    most: int = MAX_CELLS,
) -> Pasted:
    """Read lines whose cells are separated; ``padded``: with spaces, so that they are aligned."""
    header, body = _head(lines) if head is None else (head, lines)
    top, above = _named(header)
    table = [line.cells or [] for line in body]
    width = max(map(_trimmed, table), default=0)
    named = list(top.cells or []) if top else []
    reach = _trimmed(named)
    if stubs is None:
        alone = len(table) == 1 and reach == width and all(named[:reach])
        stubs = 0 if alone and _cell(table[0][0]) else _stub_columns(table)
    aligned = head is not None or not reach or not named[0] or reach != width - stubs
    cut = stubs if aligned else 0
    size = max(width - stubs, reach - cut, 0)
    if size * len(body) > most:
        return _refused(body[0].number, _large(most))
    read, faults = [], []
    for line, cells in zip(body, table, strict=True):
        stub = tuple(_placed(line.raw[:stubs]))
        texts = [*cells[stubs:], *[""] * (size + stubs - len(cells))][:size]
        figures = [_cell(text) if text else None for text in texts]
        wrong = [t for t, f in zip(texts, figures, strict=True) if t and (not f or f.comma)]
        if wrong:
            faults.append(Unread(line.number, _unread_cell(wrong[0])))
            continue
        found = tuple(figure.texts if figure else () for figure in figures)
        read.append(_Read(line.number, stub, found if any(texts) else None))
    spanners = tuple(_filled((line.cells or [])[cut:], size) for line in above)
    return _table(
        read,
        tuple([*named[cut:], *[""] * size][:size]) if top else (),
        tuple(named[:cut]),
        spanners,
        faults,
        3 if padded else None,
    )


def _trimmed(cells: list[str]) -> int:
    """Return the number of cells up to the last that is not empty."""
    return max((n + 1 for n, cell in enumerate(cells) if cell), default=0)


def _filled(cells: list[str], size: int) -> tuple[str, ...]:
    """Let each label of a spanner reach over the empty cells to its right."""
    found = []
    last = ""
    for cell in [*cells, *[""] * size][:size]:
        last = cell or last
        found.append(last)
    return tuple(found)


def _stub_columns(table: list[list[str]]) -> int:
    """Count the leading columns that hold labels rather than figures; at least one."""
    count = 1
    while True:
        column = [cells[count] for cells in table if count < len(cells) and cells[count]]
        labels = sum(1 for text in column if not _cell(text) and not _COMMA.fullmatch(text))
        if not column or 2 * labels <= len(column):
            return count
        count += 1


def _by_spaces(lines: list[_Line], stubs: int | None) -> Pasted:
    """Read lines whose cells only spaces separate."""
    header, body = _head(lines)
    top, above = _named(header)
    faults: list[Unread] = []
    size = _columns(top, body, stubs or 1)
    if size * len(body) > MAX_CELLS:
        return _refused(body[0].number, _large(MAX_CELLS))
    taken = [(line, _taken(line, size)) for line in body]
    spans = _spans([figures for _, figures in taken if len(figures) == size], size)
    rising = [len(figures) for _, figures in taken if figures]
    triangle = len(rising) > 2 and rising == list(range(size - len(rising) + 1, size + 1))
    read = []
    for line, figures in taken:
        try:
            read.append(_row(line, figures, size, spans, triangle))
        except ValueError as error:
            faults.append(Unread(line.number, str(error)))
    corner, labels = _labels(top, size, spans, stubs or 1)
    if labels is None and top:
        message = (
            f"{len(top.text.split())} words are above {size} columns of figures; "
            "separate the columns with tabs, | or two spaces"
        )
        faults.append(Unread(top.number, message))
    spanners = tuple(_spread(line, top, size, spans) for line in above)
    barred = any(line.edge is not None for line in lines)
    return _table(read, labels or (), corner, spanners, faults, 2 if barred else 3)


def _columns(top: _Line | None, body: list[_Line], stubs: int) -> int:
    """Count the columns of figures, by the header where it agrees with the body."""
    rows = [line for line in body if line.figures and not line.broken]
    labelled = [line for line in rows if line.stub]
    counts = [_count(line) for line in labelled]
    if not labelled:
        named = {len(top.pieces), len(_words(top))} if top else set()
        shift = 0 if len(rows) == 1 and _count(rows[0]) in named else 1
        counts = [max(_count(line) - shift, 1) for line in rows]
    if not counts:
        return 0
    tally = Counter(counts)
    usual = min(tally, key=lambda count: (-tally[count], count))
    most = max(counts)
    if top is None:
        rising = all(b == a + 1 for a, b in pairwise(counts))
        return most if rising else usual
    if top.edge is not None:
        right = [piece for piece in top.pieces if piece.start >= top.edge]
        words = sum(len(piece.text.split()) for piece in right)
        return next((n for n in (len(right), words) if usual <= n <= most), usual)
    flush = bool(labelled) and top.start <= min(line.start for line in labelled) + 1
    for n in (len(top.pieces), len(_words(top))):
        if flush and stubs > 1 and 0 < n - stubs <= most:
            return n - stubs
        for size in (n - 1, n) if flush or not labelled else (n, n - 1):
            if size in (usual, most) and size > 0:
                before = {line.text[: line.figures[-size:][0].start] for line in labelled}
                doubtful = size == n and flush and len(labelled) > 1 == len(before)
                return size - 1 if doubtful and size > 1 else size
    return usual


def _words(line: _Line) -> list[_Piece]:
    """Split the labels of a header line on every space."""
    return [
        _Piece(m.start(), m.end(), m.group().replace("\0", " ")) for m in _WORD.finditer(line.text)
    ]


def _taken(line: _Line, size: int) -> list[_Figure]:
    """Return the figures of a line that belong to columns: the last ones."""
    figures = line.figures
    if (
        len(figures) > size > 0
        and len(figures) > 1
        and figures[-1].texts in {("*",), (".",), ("#",)}
    ):
        last = figures[-2]
        joined = _Figure(last.start, last.end, (*last.texts, *figures[-1].texts), comma=last.comma)
        figures = [*figures[:-2], joined]
    if line.edge is None and len(figures) > line.sure > 0 and line.sure >= size:
        figures = figures[-line.sure :]
    return figures[-size:] if size else []


def _spans(full: list[list[_Figure]], size: int) -> list[tuple[int, int]]:
    """Return from where to where each column reaches."""
    if not full:
        return []
    return [
        (min(f[column].start for f in full), max(f[column].end for f in full))
        for column in range(size)
    ]


def _row(
    line: _Line, figures: list[_Figure], size: int, spans: list[tuple[int, int]], triangle: bool
) -> _Read:
    """Read a line of the body; raise ``ValueError`` with a remedy if it cannot be read."""
    end = line.edge if line.edge is not None else figures[0].start if figures else len(line.text)
    stub = tuple(_chunks(line.text[:end]))
    comma = next((f for f in figures if f.comma), None)
    if comma:
        raise ValueError(_unread_cell(line.text[comma.start : comma.end]))
    outside = spans and line.edge is None and line.pieces[-1].end <= spans[0][0]
    if outside and len(line.pieces) == 1:
        figures = []
        stub = tuple(line.pieces)
    elif line.broken or (not figures and _looks_like_figures(line)):
        last = line.pieces[-1].text
        raise ValueError(
            _unread_cell(next((p.text for p in line.pieces[1:] if not _cell(p.text)), last))
        )
    if figures and any(p.start < figures[0].start < p.end for p in line.pieces[1:]):
        raise ValueError(_ragged(line.figures, size))
    if not figures:
        label = " ".join(piece.text for piece in stub)
        return _Read(line.number, (_Piece(line.start, line.pieces[-1].end, label),), None)
    if len(figures) == size:
        return _Read(line.number, stub, tuple(figure.texts for figure in figures))
    places = list(range(len(figures))) if triangle and not spans else _places(figures, spans)
    if places is None and triangle:
        places = list(range(len(figures)))
    if places is None or (spans and any(piece.end > spans[0][0] for piece in stub[1:])):
        raise ValueError(_ragged(figures, size))
    cells: list[Cell] = [()] * size
    for place, figure in zip(places, figures, strict=True):
        cells[place] = figure.texts
    return _Read(line.number, stub, tuple(cells))


def _ragged(figures: list[_Figure], size: int) -> str:
    return (
        f"{len(figures)} figures stand in a table of {size} columns; separate the columns with "
        "tabs or |, write .. for an empty cell and 1,234 for thousands"
    )


def _looks_like_figures(line: _Line) -> bool:
    """Whether a line without a figure has digits where figures would stand."""
    if any(re.match(r"\W?\d", piece.text) for piece in line.pieces[1:]):
        return True
    *words, last = line.pieces[0].text.split()
    if re.fullmatch(r"\W?\d[\d.,]{0,20}[A-Za-z]{1,2}\W?", last):
        return True
    return bool(re.match(r"\W?\d", last)) and any(re.fullmatch(r"[\d.,]+", w) for w in words)


def _places(figures: Sequence[_Figure | _Piece], spans: list[tuple[int, int]]) -> list[int] | None:
    """Find the column below or above which each thing stands, if that is plain."""
    places = []
    for figure in figures:
        under = [n for n, (a, b) in enumerate(spans) if figure.start < b and figure.end > a]
        if len(under) != 1:
            return None
        places += under
    return places if all(a < b for a, b in pairwise(places)) else None


def _labels(
    top: _Line | None, size: int, spans: list[tuple[int, int]], stubs: int
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Part the header into what stands above the stub and a label for each column."""
    if top is None:
        return (), ()
    below = _right_labels(top, spans)
    if below:
        return below
    words = _words(top)
    ways = [top.pieces, words]
    if size == 1 and len(words) == 2 and spans and words[1].start < spans[0][0]:
        ways.reverse()
    for pieces in ways:
        if top.edge is not None:
            right = [piece for piece in pieces if piece.start >= top.edge]
            left = [piece for piece in pieces if piece.start < top.edge]
        else:
            right, left = pieces[-size:], pieces[: max(len(pieces) - size, 0)]
        if len(right) == size and (len(left) <= stubs or top.edge is not None):
            return tuple(p.text for p in left), tuple(p.text for p in right)
    if top.edge is None and spans:
        left = [piece for piece in top.pieces if piece.end <= spans[0][0] - 2]
        right = top.pieces[len(left) :]
    else:
        right = [piece for piece in top.pieces if piece.start >= (top.edge or 0)]
        left = [piece for piece in top.pieces if piece.start < (top.edge or 0)]
    places = _places(right, spans)
    if not places:
        return (), None
    labels = [""] * size
    for place, piece in zip(places, right, strict=True):
        labels[place] = piece.text
    return tuple(piece.text for piece in left), tuple(labels)


def _right_labels(
    top: _Line, spans: list[tuple[int, int]]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Cut the header at the ends of the columns, if a label ends at each of them."""
    ends = [0, *(end for _, end in spans)]
    text = top.text.rstrip()
    if not spans or top.edge is not None or len(text) != ends[-1]:
        return None
    parts = [_chunks(text[a:b], a) for a, b in pairwise(ends)]
    fits = all(part and part[-1].end == end for part, end in zip(parts, ends[1:], strict=True))
    if not fits or any(len(part) > 1 for part in parts[1:]):
        return None
    if any(text[end : end + 1].strip() for end in ends[1:]):
        return None
    corner = tuple(piece.text for piece in parts[0][:-1])
    return corner, tuple(part[-1].text for part in parts)


def _spread(
    line: _Line, top: _Line | None, size: int, spans: list[tuple[int, int]]
) -> tuple[str, ...]:
    """Give each column the label of a spanner that reaches over it."""
    pieces = [piece for piece in line.pieces if piece.start >= (line.edge or 0)]
    if len(pieces) == size or not spans or not pieces:
        return tuple(piece.text for piece in pieces) if len(pieces) == size else ("",) * size
    if len(pieces) > 1 and line.edge is None and pieces[0].end < spans[0][0] - 2:
        pieces = pieces[1:]
    block, rest = divmod(size, len(pieces))
    below = [p for p in top.pieces if p.start >= (top.edge or 0)][-size:] if top else []
    centred = [
        next((n for n, p in enumerate(below) if abs(p.start + p.end - q.start - q.end) < 3), -1)
        for q in pieces
    ]
    if len(pieces) > 1 and len(below) == size and min(centred) >= 0 and (rest or not block % 2):
        above = dict(zip(centred, pieces, strict=True))
        return tuple(above[n].text if n in above else "" for n in range(size))
    if not rest:
        return tuple(piece.text for piece in pieces for _ in range(block))
    return tuple(
        min(pieces, key=lambda piece: abs(piece.start + piece.end - a - b)).text for a, b in spans
    )


# ---- the whole --------------------------------------------------------------------------------


def _table(
    read: list[_Read],
    header: tuple[str, ...],
    corner: tuple[str, ...],
    spanners: tuple[tuple[str, ...], ...],
    faults: list[Unread],
    aligned: int | None,
) -> Pasted:
    """Give each row the labels it stands under; join rows without a label to those above.

    ``aligned`` is the number of labels from which a common end means that they are set flush right.
    """
    rows: list[Row] = []
    under: list[_Under] = []
    flat = aligned is not None and _right_aligned([item.stub for item in read], aligned)
    for item in read:
        stub = tuple(_Piece(0, p.end, p.text) for p in item.stub) if flat else item.stub
        if item.cells is None:
            if stub:
                under = [u for u in under if u.at < stub[0].start - 1]
                under += [_Under(piece.start, piece.text, heading=True) for piece in stub]
        elif stub:
            under = [u for u in under if u.stays(stub[0].start)]
            labels = (*(u.label for u in under), *(piece.text for piece in stub))
            under += [_Under(piece.start, piece.text) for piece in stub]
            rows.append(Row(item.line, labels, item.cells))
        elif rows:
            cells = zip(rows[-1].cells, item.cells, strict=True)
            joined = tuple(above + below for above, below in cells)
            rows[-1] = Row(rows[-1].line, rows[-1].stub, joined)
        else:
            rows.append(Row(item.line, (), item.cells))
    ordered = tuple(sorted(faults, key=lambda fault: fault.line))
    return Pasted(header, corner, spanners, tuple(rows), ordered)


@dataclass
class _Under:
    """A label that rows below may stand under."""

    at: int
    label: str
    heading: bool = False
    indented: bool | None = None
    """Whether the first row below a heading is set further in."""

    def stays(self, at: int) -> bool:
        """Whether a row that begins at a place still stands under this label."""
        inside = self.at < at - 1
        if self.heading and self.indented is None:
            self.indented = inside
        return inside or (self.heading and not self.indented and abs(self.at - at) <= 1)


def _right_aligned(stubs: list[tuple[_Piece, ...]], least: int) -> bool:
    """Whether labels end, but do not begin, at one place: then indentation means nothing."""
    first = [stub[0] for stub in stubs if stub]
    if len(first) < least or any(len(stub) > 1 for stub in stubs):
        return False
    return len({p.end for p in first}) == 1 < len({p.start for p in first})


def _refused(line: int, message: str) -> Pasted:
    return Pasted(faults=(Unread(line, message),))


def _large(most: int) -> str:
    return f"more than {most:,} cells; give one table"


def _too_large(texts: Sequence[str], way: str, most: int = MAX_CELLS) -> Pasted | None:
    """Refuse a text of too many cells before they are read."""
    mark = {"latex": "&", "grid": "|", "grid-open": "|"}.get(way, way)
    seen = 0
    for number, text in enumerate(texts):
        seen += len(text.split()) if way in {"bars", "spaces"} else text.count(mark) + 1
        seen += 99 * text.count(r"\multicolumn") if way == "latex" else 0
        if seen > most and text.strip():
            return _refused(number, _large(most))
    return None


def parse(text: str, stubs: int | None = None) -> Pasted:
    """Read a pasted table; ``stubs`` is the number of label columns, if that is known."""
    if len(text) > MAX_TEXT:
        return _refused(0, f"more than {MAX_TEXT:,} characters; paste one table")
    texts = [_THIN.sub(_joined, line) for line in re.split(r"\r\n|\r|\n", text)]
    texts = [re.sub("[\u00a0\u2000-\u200a\u202f]", " ", line).rstrip() for line in texts]
    texts = [re.sub("[\u2502\u2503\u2551\u00a6]", "|", line) for line in texts]
    way = _way(texts)
    large = _too_large(texts, way)
    if large:
        return large
    lines = list(_lines(texts, way))
    found = _r_table(texts) if way == "spaces" else None
    if found:
        return found
    spaced = way in {"bars", "spaces"}
    found = _by_spaces(lines, stubs) if spaced else _by_cells(lines, stubs, padded="grid" in way)
    return found if found.rows or found.faults else _without_figures(lines)


def _r_table(texts: list[str]) -> Pasted | None:
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
    ends = [[edge + m.end() for m in _WORD.finditer(text[edge:])] for _, text in body]
    cuts = list(pairwise([edge, *ends[0]]))
    if not cuts or any(found != ends[0] for found in ends) or len(header) != ends[0][-1]:
        return None
    labels = [header[a:b] for a, b in cuts]
    if not all(label.strip() and label[-1] != " " for label in labels):
        return None
    rows = [[text[:edge], *(text[a:b] for a, b in cuts)] for _, text in body]
    if not all(_cell(cell.strip()) for _, *cells in rows for cell in cells):
        return None
    heads = [_separated(n, ["", name]) for n, name in above]
    heads.append(_separated(top, [header[:edge], *labels]))
    made = [_separated(n, row) for (n, _), row in zip(body, rows, strict=True)]
    return _by_cells(made, 1, heads)


def _without_figures(lines: list[_Line]) -> Pasted:
    """Say why no figure was found."""
    for line in lines:
        for piece in line.pieces[1:]:
            if re.match(r"\W?\d", piece.text):
                return _refused(line.number, _unread_cell(piece.text))
    return _refused(0, "no figures were found; paste the table with its labels and figures")


def _joined(found: re.Match[str]) -> str:
    return found[1] + re.sub(r"\D", "", found[2])


def _lines(texts: list[str], way: str) -> Iterator[_Line]:
    """Make the lines of a table, without rules, footnotes and repeated headers."""
    seen: set[str] = set()
    last: _Line | None = None
    repeated = way == "spaces" and any(_SLICE.fullmatch(text.strip()) for text in texts)
    for number, text in enumerate(texts):
        plain = text.strip()
        cells = _latex(text) if way == "latex" else None
        if _is_rule(text) or (way == "latex" and cells is None):
            if last:
                last.ruled = True
            continue
        if not plain.strip("|") or cells == [] or _FOOTNOTE.match(text):
            continue
        part = _SLICE.fullmatch(plain) if repeated else None
        if repeated and not part and plain in seen and last and not last.figures:
            continue
        line = _line(number, text, way, cells)
        if part:
            line = _Line(number, part[1], pieces=[_Piece(-_COLUMN, 0, part[1])])
            line.stub = line.pieces
        if line.pieces:
            seen.add(plain)
            last = line
            yield line


def _line(number: int, text: str, way: str, cells: list[str] | None) -> _Line:
    if cells is not None:
        return _separated(number, cells)
    if way in {"grid", "grid-open"}:
        return _separated(number, _bars(text, way == "grid"))
    if way in {"bars", "spaces"}:
        return _spaced(number, text.expandtabs(8), way == "bars")
    return _separated(number, _quoted(text, way))


def parse_csv(text: str, stubs: int | None = None) -> Pasted:
    """Read a CSV file with one header line; ``stubs`` is the number of label columns, if known."""
    text = _THIN.sub(_joined, text.removeprefix("\ufeff"))
    first = next((line for line in text.splitlines() if line.strip()), "")
    mark = max("\t;,", key=lambda mark: (len(_quoted(first, mark)) > 1, mark == "\t", mark == ";"))
    lines: list[_Line] = []
    large = _too_large(text.split("\n"), mark, MAX_FILE_CELLS)
    if large:
        return large
    reader = csv.reader(re.split(r"(?<=\n)", text), delimiter=mark)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                lines.append(_bare(reader.line_num - 1, cells))
    except csv.Error as error:
        return _refused(max(reader.line_num - 1, 0), f"not a CSV file: {error}")
    if not lines:
        return _refused(0, "the file is empty")
    found = _by_cells(lines[1:], stubs, lines[:1], most=MAX_FILE_CELLS)
    if found.rows or found.faults:
        return found
    return _without_figures([_separated(line.number, line.raw) for line in lines])


# ---- labels -----------------------------------------------------------------------------------


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
