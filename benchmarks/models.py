"""Published models: how long the search takes, beside its goals, and how it grows with records."""

from __future__ import annotations

import gallery
import roundtrips
from report import HERE, parser, table, write
from truths import Kind, Truth, cells
from truths_models import MODELS, Model, binary, frequencies

import evosynth

SIZES = [1_000, 10_000, 100_000, 1_000_000]
NESTED = [["AGE", "SEX"], ["AREA"], ["ILL", "ETHNIC"], ["TENURE"]]
"""What each of four models adds; the last has 14 coefficients."""


def _survey(truth: Truth) -> None:
    """Draw the variables of the founding example, and print two tables."""
    for name, size in {"AREA": 4, "SEX": 2, "ILL": 2, "ETHNIC": 2, "TENURE": 7}.items():
        truth.category(name, size)
    truth.integer("AGE")
    binary(truth, sum(NESTED, []))
    for row, column in (("TENURE", "YES"), ("AREA", "SEX")):
        shown = cells(truth.counts(row, column), str)
        truth.outputs.append({"kind": "crosstab", "rows": row, "columns": column, "counts": shown})


def fourteen(truth: Truth) -> None:
    """Print a logit of 14 coefficients and standard errors with fit measures, and two tables."""
    _survey(truth)
    model = Model(truth, "logit", "YES", sum(NESTED, [])).coefficients().errors()
    model.fit("log_likelihood", "pseudo_r_squared").end()


def four(truth: Truth) -> None:
    """Print four nested logits with standard errors and log-likelihoods, and two tables."""
    _survey(truth)
    for last in range(1, len(NESTED) + 1):
        model = Model(truth, "logit", "YES", sum(NESTED[:last], [])).coefficients().errors()
        model.fit("log_likelihood").end()


def small(truth: Truth) -> None:
    """Print a logit of age, sex and group with standard errors, and the sizes of the groups."""
    truth.category("GROUP", 4)
    truth.category("SEX", 2)
    truth.integer("AGE")
    names = ["GROUP", "SEX", "AGE"]
    binary(truth, names)
    frequencies(truth)
    Model(truth, "logit", "YES", names).coefficients().errors().end()


TRUTHS: dict[str, tuple[str, Kind, float]] = {
    "logit-14": (
        "logit: 14 coefficients and standard errors, fit, two tables; n = 4,000",
        Kind(fourteen, 4000, 4000),
        2,
    ),
    "probit": ("probit", MODELS["probit"], 1),
    "poisson": ("Poisson with exposure", MODELS["poisson"], 1),
    "logit-odds-ratios": ("odds ratios with intervals", MODELS["logit-odds-ratios"], 1),
    "logit-nested-4": ("four nested logits, two tables; n = 4,000", Kind(four, 4000, 4000), 10),
}
"""What is drawn at random: what it is, how it is made, and seconds to stay below."""
SPECS: dict[str, tuple[str, float]] = {
    "sleep-apnea-fatigue": ("Bardwell; n = 60", 1),
    "ashe-census": ("linear model of income, means and medians; n ≥ 10,000", 10),
}
"""What is in the gallery: what it is, and seconds to stay below."""


def main() -> None:
    """Measure every case, and one model by the number of records."""
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=10, help="truths of each case")
    options.add_argument("--time", type=float, default=30, metavar="S", help="limit of each run")
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="records to grow by")
    every = [*TRUTHS, *SPECS]
    options.add_argument("--cases", metavar="A,B", help=f"only these of {', '.join(every)}")
    given = options.parse_args()
    names = given.cases.split(",") if given.cases else every
    if unknown := set(names) - set(every):
        options.error(f"unknown cases: {', '.join(sorted(unknown))}")
    rows, parts = [], []
    for name in filter(names.__contains__, TRUTHS):
        about, kind, goal = TRUTHS[name]
        roundtrips.trip(name, kind, 0, given.time)  # compiles
        row, said = roundtrips.measure(name, kind, given.seeds, given.time)
        rows.append(_row(about, row, goal))
        parts += said
    for name in filter(names.__contains__, SPECS):
        about, goal = SPECS[name]
        file = HERE.parent / "specs" / f"{name}.yaml"
        evosynth.synthesize(evosynth.load(file), 0, workers=gallery.WORKERS, time=given.time)
        row, said = gallery.measure(file, given.seeds, given.time)
        rows.append(_row(about, row, goal))
        parts += said
    growth = []
    for size in given.sizes:
        kind = Kind(small, size, size)
        row, said = roundtrips.measure(f"logit-{size}", kind, given.seeds, given.time)
        growth.append({"records": f"{size:,}", **_measured(row)})
        parts += said
    write(
        given,
        "Models",
        f"Search time of published models, {given.seeds} truths of each case (specs: seeds), "
        f"{roundtrips.WORKERS} workers, a warm process and at most {given.time:g} s of search a "
        "run. Random data were printed as a paper would, with statsmodels, and thrown away. "
        "Figures are recomputed from the written `data.csv`.",
        table(rows),
        "## Growth with the number of records",
        "One logit of six coefficients with standard errors, and the sizes of groups.",
        table(growth),
        "## Figures missed",
        *(parts or ["None."]),
    )


def _row(about: str, row: dict[str, object], goal: float) -> dict[str, object]:
    return {"case": about, **_measured(row), "goal s": f"{goal:g}"}


def _measured(row: dict[str, object]) -> dict[str, object]:
    return {name: row[name] for name in ("fully exact", "figures exact", "search s, median", "max")}


if __name__ == "__main__":
    main()
