"""The section on disclosure risk: tables and the marks of pictures, from ``risk.json``."""

from __future__ import annotations

from typing import Any

from evosynth.report.tidy import blocks

_MOST = 40
_TCAP = "TCAP over "
_TITLES = {
    "identity": "identity: who can be singled out",
    "k_anonymity": "k-anonymity: groups of fewer than k records with the same keys",
    "attribution": "attribution: whose target the keys disclose, per cent of records",
    "correct_attribution": "correct attribution probability, per cent",
    "TCAP": "TCAP, by each of its definitions, per cent",
    "protocol": "TCAP over disclosive keys, by the founding protocol, per cent",
    "people_inside_and_outside": "people inside and outside the data, per cent",
    "risk_utility_map": "risk and utility",
}
_MEASURES = {
    "s_pmse": "S_pMSE of tables, mean",
    "s_pmse_worst": "S_pMSE of tables, worst",
    "pmse": "pMSE of tables, mean",
    "mabsdd": "MabsDD of tables, mean",
    "hellinger": "Hellinger distance of tables, mean",
    "u": "u(s, b) of tables, mean",
    "ks_share": "Share of variables that pass a Kolmogorov-Smirnov test",
    "correlation_difference": "Difference of correlations, mean",
    "correlation_worst": "Difference of correlations, worst",
    "interval_overlap": "Overlap of confidence intervals, mean",
    "mahalanobis_exceeded": "Share of regressions beyond the critical distance",
}
_PER_CENT = {*_TITLES, "one_way_checks", "two_way_checks", "group_disclosure"}
_FINE = {"utility", "regressions", "risk_utility_map"}


def section(risk: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of the section besides the verdict; what is not known is shown as it is."""
    risk = {k: v for k, v in risk.items() if k != "verdict"}
    tcap, utility = _objects(risk.get("TCAP")), _objects(risk.get("utility"))
    if tcap:
        risk["TCAP"] = [row for target in tcap for row in _definitions(target)]
    if utility:
        risk["utility"] = _transposed(utility)
    pictures = risk.get("pictures")
    if isinstance(pictures, list):
        risk["pictures"] = [name for name in pictures if not str(name).endswith(".png")]
    found = []
    for key, value in risk.items():
        decimals = 4 if key in _FINE else 2 if key in _PER_CENT else None
        if isinstance(value, dict | list):
            found += blocks({_TITLES.get(key, key): value}, decimals=decimals)
    plain = {k: v for k, v in risk.items() if not isinstance(v, dict | list)}
    return blocks(plain) + found


def _definitions(row: dict[str, Any]) -> list[dict[str, Any]]:
    """One line for each definition of TCAP, which the file has side by side."""
    names = [k for k in row if k.startswith(_TCAP) and "," not in k]
    return [
        {
            "target": row.get("target"),
            "TCAP": name.removeprefix("TCAP "),
            "raw": row[name],
            "low": row.get(f"{name}, low", ""),
            "high": row.get(f"{name}, high", ""),
            "calibrated": row.get(f"{name}, calibrated"),
            "baseline": row.get("baseline"),
        }
        for name in names
    ]


def _transposed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each measure of utility, a column for each data set."""
    keys = list(dict.fromkeys(k for row in rows for k in row if k != "data"))
    return [
        {"measure": _MEASURES.get(key, key)} | {str(row.get("data")): row.get(key) for row in rows}
        for key in keys
    ]


def pictured(risk: dict[str, Any]) -> dict[str, Any]:
    """Return bars of Dorig and DiSCO by target, riskiest first, and dots of TCAP by target.

    What the file does not hold, or holds in another form, is left out.
    """
    return {"bars": _bars(risk.get("attribution")), "dots": _dots(risk.get("protocol"))}


def _bars(rows: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"target": str(row.get("target")), "dorig": row.get("Dorig"), "disco": row.get("DiSCO")}
        for row in _objects(rows)
        if _share(row.get("Dorig")) and _share(row.get("DiSCO"))
    ]
    return sorted(found, key=lambda row: -row["disco"])[:_MOST]


def _dots(rows: Any) -> list[dict[str, Any]]:
    """One line per target: a mark for each comparison, with its interval, and the baseline."""
    found: dict[str, dict[str, Any]] = {}
    for row in _objects(rows):
        if not _share(row.get("raw")):
            continue
        name = str(row.get("target"))
        own = found.setdefault(name, {"target": name, "marks": [], "baseline": None})
        if _share(row.get("baseline")):
            own["baseline"] = row["baseline"]
        ends = [row.get("low"), row.get("high")]
        comparison = str(row.get("comparison"))
        own["marks"].append(
            {
                "of": comparison,
                "x": row["raw"],
                "ends": ends if all(_share(end) for end in ends) else None,
                "kind": _KINDS.get(comparison, "other"),
            }
        )
    return list(found.values())[:_MOST]


_KINDS = {"original -> synthetic": "inside", "holdout -> synthetic": "outside"}


def _objects(rows: Any) -> list[dict[str, Any]]:
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100
