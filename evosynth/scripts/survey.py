"""Weighted analyses in the starter scripts, and how to use a weight that no figure rests on."""

from __future__ import annotations

WEIGHTED_PYTHON = {
    "n": "len(x)",
    "mean": "m",
    "sum": "(w * x).sum()",
    "variance": "np.average((x - m) ** 2, weights=w) * len(x) / (len(x) - 1)",
    "sd": "np.sqrt(np.average((x - m) ** 2, weights=w) * len(x) / (len(x) - 1))",
    "standard_error": "np.sqrt(((w * (x - m)) ** 2).sum() * len(data) / (len(data) - 1)) / w.sum()",
}
WEIGHTED_R = {
    "n": "length(x)",
    "mean": "m",
    "sum": "sum(w * x)",
    "variance": "sum(w * (x - m)^2) / sum(w) * length(x) / (length(x) - 1)",
    "sd": "sqrt(sum(w * (x - m)^2) / sum(w) * length(x) / (length(x) - 1))",
    "standard_error": "sqrt(sum((w * (x - m))^2) * nrow(data) / (nrow(data) - 1)) / sum(w)",
}
WEIGHTED_STATA = {
    "n": "r(N)",
    "mean": "r(mean)",
    "sum": "r(mean) * r(sum_w)",
    "variance": "r(Var)",
    "sd": "r(sd)",
}
SPSS_NOTE = (
    "Weighted; without Complex Samples SPSS takes weights for numbers of records, so that "
    "standard errors and standard deviations differ from those of a survey"
)


def usage(name: str) -> dict[str, str]:
    """Return, by script, how to weight an analysis; the published figures are unweighted."""
    told = "The published figures above are unweighted. To weight an analysis, for example"
    return {
        "analysis.py": (
            f"\n# {told}:\n# np.average(valid[variable], weights=valid[{name!r}])\n"
            f"# sm.WLS(y, x, weights=data[{name!r}]).fit(cov_type='HC0')\n"
        ),
        "analysis.R": (
            f"\n# {told}:\n# library(survey)\n"
            f"# design <- svydesign(ids = ~1, weights = ~{name}, data = valid)\n"
            "# svymean(~variable, design, na.rm = TRUE); svyglm(outcome ~ terms, design)\n"
        ),
        "analysis.do": (f"\n* {told}:\n* svyset [pweight = {name}]\n* svy: mean variable\n"),
        "analysis.sps": f"\n* {told}:\n* WEIGHT BY {name}.\n",
    }
