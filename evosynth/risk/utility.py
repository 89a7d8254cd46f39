"""What synthetic data are good for, beside the original: every measure of utility in one place."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evosynth.errors import EvosynthError
from evosynth.risk.regressions import (
    Comparison,
    Distance,
    compare_regressions,
    interval_overlap,
    mahalanobis,
)
from evosynth.risk.tables import compare_all_tables, is_quantity
from evosynth.schema import FloatArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "MEASURES",
    "Comparison",
    "Distance",
    "Utility",
    "compare_correlations",
    "compare_distributions",
    "compare_regressions",
    "interval_overlap",
    "mahalanobis",
    "map_points",
    "utility",
]

MEASURES: Mapping[str, tuple[str, Literal["higher", "lower"]]] = {
    "s_pmse": ("S_pMSE of the tables, mean", "lower"),
    "s_pmse_worst": ("S_pMSE of the worst table", "lower"),
    "pmse": ("pMSE of the tables, mean", "lower"),
    "mabsdd": ("MabsDD of the tables, mean", "lower"),
    "hellinger": ("Hellinger distance of the tables, mean", "lower"),
    "u": ("deviating cells u(s, b), mean", "lower"),
    "ks_share": ("share of quantities whose distribution passes", "higher"),
    "correlation_difference": ("difference of correlations, mean", "lower"),
    "correlation_worst": ("largest difference of correlations", "lower"),
    "interval_overlap": ("overlap of confidence intervals, mean", "higher"),
    "mahalanobis_exceeded": ("share of regressions too far off", "lower"),
}
"""Words for each measure of a summary, and whether higher or lower is better."""


@dataclass(frozen=True)
class Utility:
    """Every measure for one pair of frames, as tidy frames."""

    tables: pd.DataFrame
    """One row per table: see :func:`evosynth.risk.tables.compare_all_tables`."""
    distributions: pd.DataFrame
    """By ``variable``: ``statistic`` and ``p`` of the Kolmogorov-Smirnov test, ``passes``."""
    correlations: pd.DataFrame
    """By ``one`` and ``two``: ``original``, ``synthetic`` and their ``difference``."""
    regressions: tuple[Comparison, ...]

    def summary(self) -> dict[str, float]:
        """One number per measure of ``MEASURES``, over what is defined; NaN where nothing is."""
        tests = self.distributions["passes"].dropna()
        apart = self.correlations["difference"].abs()
        far = [one.distance.exceeds for one in self.regressions]
        overlaps = [c for one in self.regressions for c in one.coefficients["overlap"]]
        return {
            "s_pmse": _mean(self.tables["s_pmse"]),
            "s_pmse_worst": _most(self.tables["s_pmse"]),
            "pmse": _mean(self.tables["pmse"]),
            "mabsdd": _mean(self.tables["mabsdd"]),
            "hellinger": _mean(self.tables["hellinger"]),
            "u": _mean(self.tables["u"]),
            "ks_share": _mean(tests.astype(float)),
            "correlation_difference": _mean(apart),
            "correlation_worst": _most(apart),
            "interval_overlap": _mean(overlaps),
            "mahalanobis_exceeded": _mean([float(one) for one in far if one is not None]),
        }

    def coefficients(self) -> pd.DataFrame:
        """Coefficients of every regression, one row per ``formula`` and ``term``."""
        import pandas as pd

        columns = ["term", "original", "original_se", "synthetic", "synthetic_se", "overlap"]
        frames = [one.coefficients.assign(formula=one.formula) for one in self.regressions]
        found = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
        return found.reindex(columns=["formula", *columns])

    def distances(self) -> pd.DataFrame:
        """One row per ``formula``: ``model``, mean ``overlap``, squared ``distance``, limit."""
        import pandas as pd

        rows = [
            {
                "formula": one.formula,
                "model": one.model,
                "overlap": one.overlap,
                "distance": one.distance.squared,
                "df": one.distance.df,
                "critical": one.distance.critical,
                "exceeds": one.distance.exceeds,
            }
            for one in self.regressions
        ]
        columns = ["formula", "model", "overlap", "distance", "df", "critical", "exceeds"]
        return pd.DataFrame(rows, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON; nothing where undefined."""
        return {
            "summary": {name: _plain(value) for name, value in self.summary().items()},
            "tables": _records(self.tables),
            "distributions": _records(self.distributions),
            "correlations": _records(self.correlations),
            "coefficients": _records(self.coefficients()),
            "regressions": _records(self.distances()),
        }


def utility(
    original: pd.DataFrame,
    synthetic: pd.DataFrame,
    *,
    variables: Sequence[str] | None = None,
    categories: Collection[str] = (),
    levels: Collection[str] = (),
    models: Sequence[str] = (),
    ways: int = 2,
    groups: int | None = 5,
    s: float = 3,
    b: float = 0.3,
    alpha: float = 0.05,
) -> Utility:
    """Measure how well synthetic data stand for the original.

    Parameters
    ----------
    variables
        Those that are compared; all that both frames have if nothing is said.
    categories
        Numeric variables that are codes rather than quantities.
    levels
        Quantities that are not cut in tables: each of their values is a level there.
    models
        Formulas of regressions to compare, such as ``CARS ~ AGE + TENURE``.
    ways, groups, s, b
        Largest tables, quantiles at which quantities are cut, and what a cell may deviate: see
        :func:`evosynth.risk.tables.compare_all_tables`.
    alpha
        Level of the Kolmogorov-Smirnov tests.
    """
    shared = [str(name) for name in original.columns if name in synthetic.columns]
    names = shared if variables is None else list(variables)
    kept = {*categories, *levels}
    tables = compare_all_tables(original, synthetic, names, ways, groups, kept, s, b)
    return Utility(
        tables=tables,
        distributions=compare_distributions(original, synthetic, names, categories, alpha),
        correlations=compare_correlations(original, synthetic, names, categories),
        regressions=tuple(
            compare_regressions(original, synthetic, formula, categories) for formula in models
        ),
    )


def compare_distributions(
    original: pd.DataFrame,
    synthetic: pd.DataFrame,
    variables: Sequence[str],
    categories: Collection[str] = (),
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Test each quantity for the same distribution in both frames (Kolmogorov-Smirnov).

    Returns
    -------
    By ``variable``: ``statistic``, ``p`` (asymptotic), and whether it ``passes`` (p > alpha);
    nothing where a frame has no value. Missing values are left out.
    """
    import pandas as pd
    from scipy.stats import ks_2samp

    rows = []
    for name in _quantities(original, synthetic, variables, categories):
        one, two = (_known(frame[name]) for frame in (original, synthetic))
        if len(one) and len(two):
            found = ks_2samp(one, two, method="asymp")
            rows.append((name, float(found.statistic), float(found.pvalue), found.pvalue > alpha))
        else:
            rows.append((name, float("nan"), float("nan"), None))
    frame = pd.DataFrame(rows, columns=["variable", "statistic", "p", "passes"])
    return frame.astype({"passes": "boolean"})


def compare_correlations(
    original: pd.DataFrame,
    synthetic: pd.DataFrame,
    variables: Sequence[str],
    categories: Collection[str] = (),
) -> pd.DataFrame:
    """Compare Pearson's correlation of each two quantities, over the records that have both.

    Returns
    -------
    By ``one`` and ``two``: ``original``, ``synthetic``, ``difference`` (synthetic - original).
    """
    import pandas as pd

    names = _quantities(original, synthetic, variables, categories)
    tables = [
        pd.DataFrame({name: _numbers(frame[name]) for name in names}).corr().to_numpy(np.float64)
        for frame in (original, synthetic)
    ]
    rows = [
        (names[i], names[j], *(float(table[i, j]) for table in tables))
        for i, j in combinations(range(len(names)), 2)
    ]
    found = pd.DataFrame(rows, columns=["one", "two", "original", "synthetic"])
    found["difference"] = found["synthetic"] - found["original"]
    return found


def map_points(
    risks: Mapping[str, float],
    utilities: Mapping[str, Utility],
    measure: str = "hellinger",
) -> pd.DataFrame:
    """Place data sets on a risk-utility map.

    Parameters
    ----------
    risks
        The risk of each data set by its label, in whatever measure and unit.
    utilities
        The utility of each by the same labels.
    measure
        Name of a measure of utility in ``MEASURES``.

    Returns
    -------
    One row per data set: ``label``, ``risk``, ``utility`` (NaN where undefined), ``measure``, and
    whether ``higher`` or ``lower`` utilities are ``better``.
    """
    import pandas as pd

    if measure not in MEASURES:
        raise EvosynthError(f"{measure!r} is no measure of utility ({', '.join(MEASURES)})")
    if set(risks) != set(utilities):
        odd = sorted(set(risks) ^ set(utilities))
        raise EvosynthError(f"without both risk and utility: {', '.join(odd)}")
    rows = [
        (label, float(risk), utilities[label].summary()[measure], measure, MEASURES[measure][1])
        for label, risk in risks.items()
    ]
    return pd.DataFrame(rows, columns=["label", "risk", "utility", "measure", "better"])


def _quantities(
    original: pd.DataFrame,
    synthetic: pd.DataFrame,
    variables: Sequence[str],
    categories: Collection[str],
) -> list[str]:
    return [
        name
        for name in variables
        if name not in categories and is_quantity(original[name]) and is_quantity(synthetic[name])
    ]


def _numbers(column: pd.Series[Any]) -> FloatArray:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _known(column: pd.Series[Any]) -> FloatArray:
    values = _numbers(column)
    return values[~np.isnan(values)]


def _mean(values: Any) -> float:
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) else float("nan")


def _most(values: Any) -> float:
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    return float(known.max()) if len(known) else float("nan")


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(name): _plain(value) for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


def _plain(value: Any) -> Any:
    """Make it a value that JSON has; nothing where it is undefined."""
    import pandas as pd

    if value is None or value is pd.NA:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
