"""Figures of a whole model: R², F, log-likelihoods and what is made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Measure = Callable[[dict[str, Any], Any, int, int], Any]


def _f(k: dict[str, Any], n: Any, size: int, null: int) -> Any:
    return (k["tss"] - k["rss"]) / (size - 1) / (k["rss"] / (n - size))


def _lr(k: dict[str, Any], n: Any, size: int, null: int) -> Any:
    return 2 * (k["ll"] - k["ll0"])


MEASURES: dict[str, Measure] = {
    "r_squared": lambda k, n, size, null: 1 - k["rss"] / k["tss"],
    "adjusted_r_squared": lambda k, n, size, null: 1 - k["rss"] / (n - size) / (k["tss"] / (n - 1)),
    "f": _f,
    "f_p_value": _f,
    "rmse": lambda k, n, size, null: np.sqrt(k["rss"] / (n - size)),
    "log_likelihood": lambda k, n, size, null: k["ll"],
    "null_log_likelihood": lambda k, n, size, null: k["ll0"],
    "pseudo_r_squared": lambda k, n, size, null: 1 - k["ll"] / k["ll0"],
    "aic": lambda k, n, size, null: 2 * size - 2 * k["ll"],
    "bic": lambda k, n, size, null: size * np.log(n) - 2 * k["ll"],
    "deviance": lambda k, n, size, null: 2 * (k["saturated"] - k["ll"]),
    "null_deviance": lambda k, n, size, null: 2 * (k["saturated"] - k["ll0"]),
    "lr_chi_square": _lr,
    "lr_p_value": _lr,
}
"""Figures of a whole model from its totals, n, and the numbers of parameters."""

COMPARING = frozenset(
    {"null_log_likelihood", "pseudo_r_squared", "null_deviance", "lr_chi_square", "lr_p_value"}
)
"""Those that need the model without covariates."""
