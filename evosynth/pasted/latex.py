"""Rows of LaTeX tables as plain cells."""

from __future__ import annotations

import re

from evosynth.pasted.figures import THIN, join_digits

_DROPPED = re.compile(
    r"\\(?:begin|end|caption|label|centering|small|footnotesize|vspace|setlength|usepackage)\b"
)

_RULE = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|addlinespace|cmidrule|cline)"
    r"(?:\[[^\]]{0,40}\]|\([^)]{0,40}\)|\{[^}]{0,40}\})*"
)

_SPACE = re.compile(r"\\(?:qquad|quad|enspace|hspace\*?\{[^}]{0,40}\})|\\ |~")

_WRAP = re.compile(
    r"\\(?:textbf|textit|emph|text|mathrm|mathbf|num|sym|textsuperscript)\s?\{([^{}]*)\}|\^\{([^{}]*)\}"
)

_TEXT = {
    **{r"\%": "%", r"\_": "_", r"\$": "$", r"\#": "#", r"\&": "\1", r"{,}": ",", r"\,": "\u2009"},
    **{r"\pm": "±", r"\textless": "<", r"\leq": "≤", r"\ast": "*", r"\dagger": "†", "---": "—"},
    **{"--": "–", "{": "", "}": ""},
}


def latex_cells(text: str) -> list[str] | None:
    """Split a LaTeX row into its cells; ``None`` for a rule, none for a line without cells."""
    if _DROPPED.match(text.strip()):
        return []
    text = re.sub(r"(?<!\\)%.*", "", text)
    partial = re.search(r"\\c(?:midrule|line)\b", text)
    text, rules = _RULE.subn("", text)
    if not text.strip():
        return None if rules and not partial else []
    text = re.sub(r"\\\\(?:\[[^\]]{0,40}\])?\s*$", "", text.rstrip())
    for _ in range(3):
        text = _WRAP.sub(lambda m: m[1] or m[2] or "", text)
    text = re.sub(r"\\multirow\{[^{}]*\}\{[^{}]*\}\{([^{}]*)\}", r"\1", text)
    text = re.sub(
        r"\\multicolumn\{(\d{1,2})\}\{[^{}]*\}\{([^{}]*)\}",
        lambda m: m[2] + "&" * (int(m[1]) - 1),
        text,
    )
    text = _SPACE.sub("    ", text).replace(r"\$", "\2").replace("$", "").replace("\2", "$")
    for command, plain in _TEXT.items():
        text = text.replace(command, plain)
    return [THIN.sub(join_digits, cell).replace("\1", "&") for cell in text.split("&")]
