"""Values that a share of a distribution lies above: scipy's ``isf`` without what it checks.

The search asks for them with every dataset that it measures.
"""

from __future__ import annotations

from scipy import special


def normal(share: float) -> float:
    """Value of the normal distribution."""
    return float(-special.ndtri(share))


def student(share: float, df: float) -> float:
    """Value of Student's t distribution."""
    return float(-special.stdtrit(df, share)) if share > 0 else float("inf")


def chi_square(share: float, df: float) -> float:
    """Value of the chi-square distribution."""
    return float(special.chdtri(df, share))


def fisher(share: float, above: float, below: float) -> float:
    """Value of the F distribution with so many degrees of freedom above and below."""
    return float(special.fdtri(above, below, 1 - share)) if share > 0 else float("inf")
