"""Figures of a whole model in the lines above and below a printed table of its terms."""

from __future__ import annotations

import re

from evosynth.pasted.figures import ITEM, clean

_R2 = r"r(?:[- ]?sq(?:uared?|u\.?|\.)?|\^?2|²)"

_NAMES: dict[str, str] = {
    "adjusted_r_squared": rf"adj(?:usted|\.)?[- ]?{_R2}|r2_a|ar2",
    "pseudo_r_squared": rf"r2_p|(?:mcfadden(?:['’]s)? )?pseudo[- ]?{_R2}|mcfadden(?:['’]s)? {_R2}",
    "r_squared": rf"(?:multiple )?{_R2}",
    "null_log_likelihood": r"ll_0|(?:null|initial) log[- ]?likelihood|ll[-_ (]null\)?"
    r"|log[- ]?likelihood \((?:null|intercept only)\)",
    "-2 log-likelihood": r"[-−–]2 ?(?:log[- ]?likelihood|ll)",
    "log_likelihood": r"log ?pseudo-?likelihood|log[- ]?likelihood|log[- ]?lik\.?|ll",
    "aic": r"aic|akaike inf(?:ormation|\.) crit(?:erion|\.)",
    "bic": r"bic|bayesian inf(?:ormation|\.) crit(?:erion|\.)|schwarz criterion",
    "null_deviance": r"null deviance",
    "deviance": r"(?:residual )?deviance",
    "lr_chi_square": r"(?:lr|likelihood[- ]ratio|model) (?:chi2|chi[- ]?squared?|χ2|χ²)"
    r"(?: ?\(\d+\))?",
    "lr_p_value": r"prob ?> ?chi2|llr p-value|p ?> ?chi2"
    r"|(?:lr|likelihood[- ]ratio|model) (?:chi2|chi[- ]?squared?|χ2|χ²),? \(?p[- ]?(?:value)?\)?",
    "f_p_value": r"prob ?> ?f|prob \(f-statistic\)|p[- ]?(?:value)?,? (?:of |for )?(?:the )?\(?f\)?"
    r"(?:[- ](?:test|statistic))?|f(?:[- ]?(?:test|statistic))?,? ?\(?p(?:[- ]?value)?\)?",
    "f": r"f(?:[- ]?(?:statistic|value|ratio|test))?(?: ?\(\d+, ?\d+\))?",
    "rmse": r"root mse|rmse|residual st(?:andar)?d\.? error|std\. error of the estimate",
    "observations": r"number of obs(?:ervations|\.)?|no\. (?:of )?observations|num\. ?obs\."
    r"|observations|obs\.?|n|sample size|valid n",
}
"""How each figure is called; a name that ends another stands below it."""

_TAIL = r"(?:,?\s+on\s+[\d,]+\s+(?:and\s+[\d,]+\s+)?(?:degrees of freedom|df)\b)?"
_PAIR = {
    key: re.compile(
        rf"(?<![\w>-])(?:{name})\s*(?:=|:)\s*(?P<value>{ITEM})(?P<stars>\**){_TAIL}",
        re.I,
    )
    for key, name in _NAMES.items()
}
_ALONE = {key: re.compile(name, re.I) for key, name in _NAMES.items()}
_P_AFTER = re.compile(rf"[,;]?\s*p(?:[- ]?value)?\s*[:=]?\s*(?P<value>{ITEM})", re.I)
TESTED = {"f": "f_p_value", "lr_chi_square": "lr_p_value"}
"""What the p-value behind a statistic is called."""

PASSED_OVER = re.compile(
    r"(?:call|(?:deviance |weighted )?residuals|coefficients|intercepts|std\. errors)\s*:\s*", re.I
)
"""Lines with which R begins a part of its output."""
WORDS = re.compile(
    r"(?:dep\. variable|dependent variable|outcome|model|method|converged|covariance type)\s*:",
    re.I,
)
"""Lines of words that programs print around a table."""
_DIAGNOSTIC = re.compile(
    r"cond\. no\.\s+[\d.e+]+|(?:df residuals|df model|no\. iterations|omnibus|prob\(omnibus\)"
    r"|durbin-watson|jarque-bera \(jb\)|skew|prob\(jb\)|kurtosis|scale|time|date|df)"
    r"\s*[:=]\s*(?:[\d:.,e+-]+|\w{3}, \d\d \w{3} \d{4})",
    re.I,
)
PROSE = re.compile(
    r"\s*(?:\(dispersion parameter|iteration \d+:|number of fisher|(?:[a-z]+::)?\w+\(formula"
    r"|/lnalpha)",
    re.I,
)
"""Lines of programs that hold numbers, but no figure that could be asked for."""
SQUARES = re.compile(r"\s*(?:source|model|residual|total)\s*\|", re.I)
"""Stata's analysis of variance above a linear model."""


def pairs(text: str) -> tuple[list[tuple[str, str]], str]:
    """Find ``name = value`` in a line; return the figures by key, and what is left of the line."""
    found: list[tuple[str, str]] = []
    left = _DIAGNOSTIC.sub(lambda m: " " * len(m[0]), text)
    for key, pattern in _PAIR.items():
        while match := pattern.search(left):
            found.append((key, clean(match["value"])))
            end = match.end()
            if key in TESTED and (p := _P_AFTER.match(left, end)):
                found.append((TESTED[key], clean(p["value"])))
                end = p.end()
            left = left[: match.start()] + " " * (end - match.start()) + left[end:]
    return found, left


def named(label: str) -> str | None:
    """Find the figure that the label of a line names."""
    plain = " ".join(label.split()).strip(" :.=,")
    for key, pattern in _ALONE.items():
        if pattern.fullmatch(plain) or pattern.fullmatch(f"{plain}."):
            return key
    return None
