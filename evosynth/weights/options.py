"""The options of ``evosynth weight``, apart from the command so that help answers at once."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def add_options(
    commands: Any, whole: Callable[[int, int], Callable[[str], int]]
) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "weight", help="add a weight to any data file, calibrated to totals"
    )
    parser.add_argument("data", metavar="DATA", help=".csv, .parquet, .dta, .sav or .xlsx")
    parser.add_argument(
        "--totals",
        action="append",
        required=True,
        metavar="FILE",
        help="CSV (SEX,REGION,total or variable,value,total) or YAML; may be repeated",
    )
    parser.add_argument("-o", "--output", metavar="DIR", help="default: DATA-weighted")
    parser.add_argument(
        "--method", default="raking", help="raking (default), linear, logit or 'truncated linear'"
    )
    two: dict[str, Any] = {"nargs": 2, "type": float, "metavar": ("LOW", "HIGH")}
    parser.add_argument("--bounds", **two, help="of the ratio to design weights")
    parser.add_argument("--trim", **two, help="smallest and largest weight, in mean weights")
    parser.add_argument("--design", metavar="COLUMN", help="design weights to start from")
    parser.add_argument("--strata", metavar="COLUMN", help="strata, whose totals are given")
    parser.add_argument(
        "--proportional-to", metavar="COLUMN", help="what probabilities were proportional to"
    )
    parser.add_argument("--population", type=float, metavar="N", help="totals are shares of N")
    parser.add_argument("--scale", choices=["population", "sample"], default="population")
    parser.add_argument("--round", type=whole(0, 9), metavar="D", help="decimals of the weights")
    parser.add_argument("--name", default="WEIGHT", help="of the column, default WEIGHT")
    parser.add_argument("--label", default="Calibration weight", help="of the column")
    parser.add_argument("--force", action="store_true", help="replace the results in DIR")
    return parser
