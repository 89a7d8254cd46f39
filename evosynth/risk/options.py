"""The options of ``evosynth risk``, apart from the command so that help answers at once."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def add_options(
    commands: Any, whole: Callable[[int, int], Callable[[str], int]]
) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "risk", help="measure what synthetic data disclose of the people in the original"
    )
    parser.add_argument("data", metavar="DATA", help=".csv, .parquet, .dta, .sav or .xlsx")
    parser.add_argument("--original", required=True, metavar="FILE", help="the original data")
    parser.add_argument("--holdout", metavar="FILE", help="people who are not in the original")
    parser.add_argument(
        "--general",
        metavar="FILE",
        help="other synthetic data to compare with, or cart, margins, normal, nonnormal: make them",
    )
    parser.add_argument("--keys", required=True, metavar="A,B,C", help="what an intruder knows")
    parser.add_argument("--target", metavar="T", help="what the intruder wants to know")
    parser.add_argument("--targets", metavar="T,U", help="several, or all")
    parser.add_argument(
        "--bins",
        nargs="+",
        action="extend",
        default=[],
        metavar="X=10",
        help="groups of equal size of a number, or cut points: X=20,40,60",
    )
    parser.add_argument(
        "--categorical", default="", metavar="X,Y", help="numbers to take as they are, or all"
    )
    parser.add_argument(
        "--exclude",
        nargs="+",
        action="extend",
        default=[],
        metavar="WHAT",
        help="TARGET=level, KEY=level&TARGET=level, missing-targets, missing-keys",
    )
    parser.add_argument(
        "--largest",
        type=whole(1, 2**31 - 1),
        default=0,
        metavar="N",
        help="leave out cells of keys and target with more than N records",
    )
    parser.add_argument(
        "--tau", type=float, default=1.0, help="share from which a value is believed (default 1)"
    )
    parser.add_argument(
        "--classes",
        nargs=2,
        type=whole(0, 2**31 - 1),
        default=(1, 0),
        metavar=("LOW", "HIGH"),
        help="records of the same keys that an intruder acts on; HIGH 0: any",
    )
    parser.add_argument(
        "--p", type=float, metavar="P", help="count replicated uniques within P per cent"
    )
    parser.add_argument("--confidential", default="", metavar="X,Y", help="numbers for --p")
    parser.add_argument(
        "--subsets", type=whole(1, 100), metavar="K", help="measure all subsets of K keys, too"
    )
    parser.add_argument(
        "--protocol",
        action="store_true",
        default=None,
        help="every variable as target in turn, as in the founding paper (default with --holdout)",
    )
    parser.add_argument("--level", type=float, default=0.95, help="of intervals (default 0.95)")
    parser.add_argument(
        "--bootstrap",
        type=whole(0, 10**6),
        default=0,
        metavar="B",
        help="rounds, instead of exact intervals",
    )
    parser.add_argument("--seed", type=whole(0, 2**32 - 1), default=1, metavar="N")
    parser.add_argument(
        "--threshold",
        type=whole(0, 2**31 - 1),
        default=0,
        metavar="N",
        help="withhold counts from 1 to below N, and shares that tell them",
    )
    parser.add_argument(
        "--utility", action="store_true", help="measure utility and group disclosure, too"
    )
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="FORMULA",
        help="a regression to compare for utility, such as 'y ~ a + b'",
    )
    parser.add_argument(
        "--pictures", action="store_true", help="draw them into DIR, as PNG and SVG"
    )
    parser.add_argument("-o", "--output", metavar="DIR", help="folder to write")
    parser.add_argument("--force", action="store_true", help="replace the results in DIR")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser
