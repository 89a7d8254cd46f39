"""Says in plain words what keeps a text from being YAML: the line, what is wrong, the way out."""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

from evosynth.errors import shown

_MARK = re.compile(r"[*>%@`&|!][^,\]}#]*")
"""A figure that begins with a sign of YAML's own: a star, or a bound such as >=3."""
_KEY = re.compile(r"\s*(?:- +)*([^\s#:{}\[\],][^:{}\[\],]*?):(?:\s|$)")
_GLUED = re.compile(r"\s*(?:- +)*([\w.\"'-]+):(?=[^\s:])")
"""A key whose colon has no space after it."""
_BLOCK = re.compile(r"[:-]\s+[|>][-+\d]*\s*(?:#.*)?$")
_DASH = re.compile(r"\s*-(?=[^\W\d])")
_CLOSING = {"{": "}", "[": "]"}


def in_quotes(text: str) -> str:
    """Say that a text that begins with a sign of YAML's own must stand in quotes."""
    plain = shown(text.strip())
    return f"{plain[:1]} has a meaning of its own in YAML; put it in quotes: '{plain}'"


def explain(
    error: yaml.MarkedYAMLError, text: str, loader: type[yaml.SafeLoader]
) -> tuple[int, str]:
    """Return the line, and what is wrong there with a remedy."""
    case = _Case(error, re.split("\r\n|[\r\n\x85\u2028\u2029]", text))
    for told in (
        _tab(case),
        _quote(case, text, loader),
        _sign(case),
        _glued(case),
        _flow(case),
        _colon(case),
        _indented(case),
    ):
        if told:
            return told[0] + 1, told[1]
    message = "cannot be read as YAML; look for a quote, bracket or colon too many or too few here"
    return case.line + 1, f"{message} or in the line before"


_Told = tuple[int, str] | None


@dataclass
class _Case:
    """Where reading stopped, and what was being read; lines count from 0."""

    error: yaml.MarkedYAMLError
    lines: list[str]

    @property
    def line(self) -> int:
        mark = self.error.problem_mark or self.error.context_mark
        return mark.line if mark else 0

    @property
    def column(self) -> int:
        mark = self.error.problem_mark or self.error.context_mark
        return mark.column if mark else 0

    @property
    def opened(self) -> tuple[int, int]:
        """Where that began."""
        mark = self.error.context_mark or self.error.problem_mark
        return (mark.line, mark.column) if mark else (0, 0)

    def at(self, line: int) -> str:
        return self.lines[line] if 0 <= line < len(self.lines) else ""

    @property
    def here(self) -> str:
        return self.at(self.line)

    @property
    def sign(self) -> str:
        """The character at which reading stopped."""
        return self.here[self.column : self.column + 1]

    def says(self, *words: str) -> bool:
        told = f"{self.error.context or ''} {self.error.problem or ''}"
        return any(word in told for word in words)

    def before(self, line: int) -> int | None:
        """Return the nearest line above that holds something."""
        above = range(line - 1, -1, -1)
        return next((n for n in above if self.at(n).strip() and not _comment(self.at(n))), None)


def _comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _spaces(count: int) -> str:
    return f"{count or 'no'} {'space' if count == 1 else 'spaces'}"


def _tab(case: _Case) -> _Told:
    for line in dict.fromkeys((case.line, case.opened[0])):
        text = case.at(line)
        if "\t" in text[: _indent(text)] or (line == case.line and case.sign == "\t"):
            return line, "a tab stands where the line is indented; indent with spaces"
    return None


def _quote(case: _Case, text: str, loader: type[yaml.SafeLoader]) -> _Told:
    line, column = case.opened
    if case.says("quoted scalar"):
        mark = case.at(line)[column : column + 1] or '"'
        if case.says("escape"):
            return case.line, "a \\ has a meaning of its own within \"…\"; put the text in '…'"
        return line, f"the quote {mark} that opens here is not closed; write {mark} after the text"
    last = _last_token(text, loader, (case.line, case.column))
    if not isinstance(last, yaml.ScalarToken) or last.style not in {"'", '"'}:
        return None
    mark, other = last.style, "'" if last.style == '"' else '"'
    begin, end = last.start_mark, last.end_mark
    if end.line > begin.line:
        message = f"the quote {mark} that opens here is closed only in line {end.line + 1}"
        return begin.line, f"{message}; write {mark} after the text"
    rest = case.at(end.line)[end.column :]
    if rest[:1].strip() and rest[0] not in ",]}:":
        message = f"the quotes {mark} close before {shown(rest.split()[0])!r}"
        return begin.line, f"{message}; put the whole text in quotes {other} instead"
    return None


def _last_token(text: str, loader: type[yaml.SafeLoader], stop: tuple[int, int]) -> object:
    """Return the token before the one at which reading stopped."""
    last = None
    try:
        for token in yaml.scan(text, Loader=loader):
            if (token.start_mark.line, token.start_mark.column) >= stop:
                break
            if token.start_mark.index < token.end_mark.index:
                last = token
    except yaml.YAMLError:
        pass
    return last


def _sign(case: _Case) -> _Told:
    """Find a figure or a text that begins with a sign of YAML's own."""
    if case.says(
        "undefined alias", "an alias", "an anchor", "a block scalar", "next token", "a tag"
    ):
        for line, column in ((case.opened), (case.line, case.column)):
            found = _MARK.match(case.at(line), column)
            if found and found.group().strip() not in {"|", ">"}:
                return line, in_quotes(found.group())
    if case.says("another document"):
        return case.line, "a second document begins here; a file holds one spec"
    return None


def _glued(case: _Case) -> _Told:
    """Find a colon or a dash without the space that makes it one of YAML."""
    if case.says("flow"):
        return None
    before = case.before(case.line)
    for line in dict.fromkeys((case.opened[0], case.line, before)):
        text = case.at(line) if line is not None else ""
        if line is not None and (found := _GLUED.match(text)) and not _KEY.match(text):
            return line, f"write a space after the colon of '{shown(found[1])}:'"
        if line is not None and _DASH.match(text):
            return line, "write a space after the dash"
    return None


def _flow(case: _Case) -> _Told:
    """Find what is wrong within brackets."""
    line, column = case.opened
    opener = case.at(line)[column : column + 1]
    if not case.says("flow") or opener not in _CLOSING:
        if case.sign in {"}", "]"}:
            return case.line, f"{case.sign} closes nothing; remove it, or put the text in quotes"
        return None
    closer = _CLOSING[opener]
    if case.sign in {"}", "]"}:
        place = "here" if line == case.line else f"in line {line + 1}"
        message = f"{case.sign} stands where {closer} must close what {opener} opened {place}"
        message += f"; write {closer}"
        return case.line, message
    outside = not case.here.strip() or _indent(case.here) <= _indent(case.at(line))
    if case.line > line and outside:
        if " #" in case.at(line)[column:]:
            return line, "a # after a space begins a comment; put the text that holds it in quotes"
        return (
            line,
            f"the {opener} that opens here is not closed; write {closer} after its last entry",
        )
    if case.sign in {"[", "{"}:
        return case.line, f"within {opener} {closer} put a name that holds {case.sign} in quotes"
    message = f"within {opener} {closer} a comma parts entries, and a text that holds ': '"
    return case.line, f"{message} stands in quotes"


def _colon(case: _Case) -> _Told:
    """Find a text that holds a colon."""
    if not case.says("mapping values are not allowed"):
        return None
    key = _KEY.match(case.here)
    if key and case.column > key.end(1):
        value = case.here[key.end() :].strip()
        message = f"a text that holds ': ' stands in quotes: {shown(key[1])}: "
        mark = '"' if "'" in value else "'"
        return case.line, f"{message}{mark}{shown(value)}{mark}"
    before = case.before(case.line)
    if before is not None and _indent(case.here) > _indent(case.at(before)):
        message = f"indented further than line {before + 1}, which has a value of its own"
        return case.line, f"{message}; indent both alike"
    return None


def _indented(case: _Case) -> _Told:
    """Find a line that is indented by too many or too few spaces."""
    line = case.opened[0] if case.says("simple key") else case.line
    text = case.at(line)
    mine = _indent(text)
    before = case.before(line)
    if before is None or not text.strip():
        return None
    above = next(
        (n for n in range(before, -1, -1) if case.at(n).strip() and _indent(case.at(n)) < mine),
        None,
    )
    if above is not None and above < before and _BLOCK.search(case.at(above)):
        return line, (
            f"indented less than line {above + 2}, where its text begins; in line {above + 1} "
            "write |2 where the first line of a text is indented more than others"
        )
    if _BLOCK.search(case.at(before)):
        return line, f"a text after | is indented further than line {before + 1}, where it begins"
    if case.says("simple key"):
        return line, f"{shown(text.strip())!r} is neither `key: value` nor `- item`"
    dashed = text.lstrip().startswith("- ")
    like: int | None = before
    while dashed and like is not None and not case.at(like).lstrip().startswith("- "):
        like = case.before(like)
    if like is None:
        return None
    theirs = case.at(like)
    wanted = _indent(theirs) if dashed else len(theirs) - len(theirs.lstrip(" -"))
    if wanted == mine:
        return None
    return (
        line,
        f"indented by {_spaces(mine)}, line {like + 1} by {_spaces(wanted)}; indent both alike",
    )
