"""What the columns of a printed model hold, by the words above them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_CI = r"(?:conf(?:idence|\.)?[ -]?(?:intervals?|limits?|int\.?)|c\.i\.|ci)"
_PATTERNS = {
    "span": r"(?:un)?standardi[sz]ed coefficients?",
    "interval": rf"(?P<level>\d\d(?:\.\d+)?) ?% ?{_CI}(?: ?(?:for|of) (?:exp\(b\)|b|or))?|{_CI}",
    "low": r"lower(?: (?:bound|limit|ci|end))?|ll|lcl|conf\.low|(?P<lower>2\.5|5(?:\.0)?|0\.5) ?%"
    r"|(?<=\[)(?P<below>0\.0\d+)",
    "high": r"upper(?: (?:bound|limit|ci|end))?|ul|ucl|conf\.high|(?:97\.5|95(?:\.0)?|99\.5) ?%"
    r"|0\.9\d+(?=\])",
    "standard_errors": r"(?:robust |clustered )?(?:std\.? ?err(?:ors?|s?\.)?|st\. ?err(?:or|\.)?"
    r"|s\.e\.|se|standard errors?)",
    "statistics": r"[zt](?:[- ]?(?:values?|stat(?:istic|\.)?s?|ratio|score))?|statistic",
    "p_values": r"p ?> ?[zt]|pr\(>[zt]\)|p[- .]?values?|p|sig\.?(?: \(2-tailed\))?|significance",
    "odds_ratios": r"(?:adjusted |crude )?odds[ -]?ratios?|a?ors?",
    "rate_ratios": r"(?:incidence[- ])?rate[ -]ratios?|a?irrs?",
    "relative_risk_ratios": r"relative[- ]risk[ -]ratios?|rrrs?",
    "ratios": r"exp\((?:b|β|coef\.?|beta|estimate)\)|e\^b|rr",
    "betas": r"beta|β|std\.? ?(?:beta|coef\.?)|standardi[sz]ed (?:beta|β)",
    "coefficients": r"coef(?:ficient|f)?s?\.?|estimates?|est\.?|b|value|log[- ]odds",
    "passed over": r"wald|df|vif|tolerance",
    "model": r"\(\d{1,2}\)|model \(?\w{1,3}\)?|m\d{1,2}",
}
_KNOWN = {
    form: re.compile(rf"(?:{pattern})(?=[\s()\[\],;/±:]|$)", re.I)
    for form, pattern in _PATTERNS.items()
}
_BETWEEN = re.compile(r"[\s()\[\],;/±]*")
_WORD = re.compile(r"\S+")

RATIOS = ("odds_ratios", "rate_ratios", "relative_risk_ratios")
ESTIMATES = ("coefficients", *RATIOS, "ratios")


@dataclass(frozen=True)
class Head:
    """A label above columns and where it stands."""

    start: int
    end: int
    text: str
    form: str = ""
    """What it names: figures by term, ``model``, or nothing that is known."""
    level: float | None = None
    """Of a confidence interval, per cent."""
    bracketed: bool = False
    """Whether a bracket opens before it."""

    @property
    def figures(self) -> bool:
        """Whether it says what the figures below are."""
        return self.form not in {"", "model", "span"}


def scan(text: str, offset: int = 0) -> list[Head]:
    """Find what a header line, or a cell of it, names."""
    found: list[Head] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        head = _known(text, at)
        if head is None and (between := _BETWEEN.match(text, at)) and between.end() > at:
            at = between.end()
            continue
        if head is None:
            word = _WORD.match(text, at)
            end = word.end() if word else len(text)
            last = found[-1] if found else None
            if last and not last.form and text[last.end : at] == " ":
                found[-1] = replace(last, end=end, text=text[last.start : end])
            else:
                found.append(Head(at, end, text[at:end]))
            at = end
        else:
            found.append(head)
            at = head.end
    return [replace(h, start=h.start + offset, end=h.end + offset) for h in found]


def _known(text: str, at: int) -> Head | None:
    """Read the longest name of figures, or of a model, that begins at a place."""
    best: tuple[str, re.Match[str]] | None = None
    for form, pattern in _KNOWN.items():
        found = pattern.match(text, at)
        if found and (best is None or found.end() > best[1].end()):
            best = form, found
    if best is None:
        return None
    form, match = best
    groups = match.groupdict()
    level = None
    if groups.get("level"):
        level = float(groups["level"])
    elif groups.get("lower"):
        level = 100 - 2 * float(groups["lower"])
    elif groups.get("below"):
        level = round(100 - 200 * float(groups["below"]), 6)
    bracketed = text[at - 1 : at] in {"(", "["}
    return Head(match.start(), match.end(), match.group(), form, level, bracketed)
