"""Which key or kind of output a word of a spec was meant for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evosynth.errors import nearest

_SAID: dict[str, tuple[str, ...]] = {
    "values": ("categories",),
    "levels": ("categories",),
    "codes": ("categories",),
    "range": ("integer",),
    "int": ("integer",),
    "float": ("number",),
    "real": ("number",),
    "variable": ("of", "formula"),
    "var": ("of",),
    "variables": ("of",),
    "type": ("kind",),
    "n": ("counts", "observations"),
    "freq": ("counts",),
    "frequency": ("counts", "frequencies"),
    "nobs": ("observations", "n"),
    "percent": ("percentages",),
    "average": ("mean",),
    "means": ("mean", "summary"),
    "std": ("sd",),
    "stdev": ("sd",),
    "se": ("standard_errors", "standard_error"),
    "sem": ("standard_error",),
    "b": ("coefficients",),
    "beta": ("betas", "coefficients"),
    "coef": ("coefficients",),
    "coefs": ("coefficients",),
    "coeff": ("coefficients",),
    "coeffs": ("coefficients",),
    "estimates": ("coefficients",),
    "or": ("odds_ratios", "odds_ratio"),
    "irr": ("rate_ratios",),
    "rrr": ("relative_risk_ratios",),
    "ci": ("confidence_intervals", "odds_ratio_ci"),
    "conf_int": ("confidence_intervals",),
    "p": ("p_values",),
    "pvalue": ("p_values", "p"),
    "p_value": ("p_values", "p"),
    "t": ("statistics",),
    "z": ("statistics",),
    "t_value": ("t", "statistics"),
    "z_value": ("statistics",),
    "r2": ("r_squared", "pseudo_r_squared"),
    "rsquared": ("r_squared", "pseudo_r_squared"),
    "adj_r2": ("adjusted_r_squared",),
    "adj_r_squared": ("adjusted_r_squared",),
    "ll": ("log_likelihood",),
    "loglik": ("log_likelihood",),
    "chi2": ("statistic", "lr_chi_square", "chi_square"),
    "ref": ("reference",),
    "base": ("reference",),
    "filter": ("where",),
    "subset": ("where",),
    "group": ("by",),
    "linear": ("ols",),
    "lm": ("ols",),
    "regression": ("ols",),
    "logistic": ("logit",),
    "descriptives": ("summary",),
    "table": ("crosstab",),
    "contingency": ("crosstab",),
    "ttest": ("t_test",),
    "negbin": ("negative_binomial",),
    "median_regression": ("quantile",),
}
"""What programs and papers call things, and what they are called here."""


def meant(wrong: str, known: Iterable[str]) -> str | None:
    """Return the key that a word was meant for, if there is one."""
    names = [str(name) for name in known]
    plain = re.sub(r"[\W_]+", "_", wrong.casefold()[:80]).strip("_")
    if plain in names:
        return plain
    for name in _SAID.get(plain, ()):
        if name in names:
            return name
    return nearest(wrong, names)


def hint(wrong: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)``, or what is known."""
    names = [str(name) for name in known]
    found = meant(wrong, names)
    if found is not None:
        return f" (did you mean {found!r}?)"
    return f" (known: {', '.join(names)})" if names else ""
