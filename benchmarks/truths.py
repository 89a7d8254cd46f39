"""Random datasets, and the outputs that a paper would print of them.

Figures are computed with pandas, scipy and statsmodels directly, never with evosynth: what comes
back from a spec is compared with what the usual programs print.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise, product
from typing import Any, Literal

import numpy as np
import pandas as pd
import statsmodels.api as sm
import yaml
from scipy import stats


class _Dumper(yaml.SafeDumper):
    """Writes numbers as they are printed: no text needs quotes to stay text."""

    yaml_implicit_resolvers: dict[str, Any] = {}

    def ignore_aliases(self, data: Any) -> bool:
        return True


@dataclass
class Truth:
    """A dataset, its variables, and its printed outputs."""

    rng: np.random.Generator
    records: int
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    variables: dict[str, Any] = field(default_factory=dict)
    outputs: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Draw what the variables have in common."""
        self._factors = self.rng.normal(size=(self.records, 2))

    @property
    def text(self) -> str:
        """The spec."""
        tree = {
            "title": "A random truth",
            "records": str(self.records),
            "variables": self.variables,
            "outputs": self.outputs,
        }
        return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=100)

    def latent(self) -> np.ndarray:
        """Draw a standard normal variable that depends on the others."""
        loading = self.rng.uniform(-0.7, 0.7, 2)
        rest = math.sqrt(max(0.1, 1 - (loading**2).sum()))
        z: np.ndarray = self._factors @ loading + rest * self.rng.normal(size=self.records)
        return np.asarray(z / z.std())

    def category(self, name: str, size: int, missing: Any = None, even: float = 4.0) -> None:
        """Draw a variable with values 1 to size."""
        shares = self.rng.dirichlet(np.full(size, even))
        cuts = stats.norm.ppf(np.clip(np.cumsum(shares)[:-1], 1e-9, 1 - 1e-9))
        order = np.arange(1, size + 1)
        if self.rng.random() < 0.5:
            order = self.rng.permutation(order)
        found = pd.Series(order[np.searchsorted(cuts, self.latent())])
        values = {str(k): f"{name.capitalize()} {k}" for k in range(1, size + 1)}
        self.variables[name] = {"label": f"Variable {name}", "categories": values}
        if missing is not None:
            gone = self.rng.random(self.records) < self.rng.uniform(0.02, 0.1)
            if missing == "blank":
                found = found.astype("Int64").mask(gone)
                self.variables[name]["missing"] = "true"
            else:
                found[gone] = self.rng.choice([-9, -8], gone.sum())
                self.variables[name]["missing"] = {"-9": "Refused", "-8": "Don't know"}
        self.frame[name] = found

    def integer(self, name: str) -> None:
        """Draw whole numbers between 0 and 100."""
        low, high = [(0, 100), (16, 95), (0, 10), (0, 40)][self.rng.integers(4)]
        share = stats.beta.ppf(stats.norm.cdf(self.latent()), *self.rng.uniform(1.2, 4.0, 2))
        self.frame[name] = np.clip(np.round(low + share * (high - low)), low, high).astype(int)
        self.variables[name] = {"label": f"Variable {name}", "integer": [str(low), str(high)]}

    def number(self, name: str) -> None:
        """Draw numbers with one or two decimals, symmetric or skewed."""
        decimals, z = int(self.rng.integers(1, 3)), self.latent()
        if self.rng.random() < 0.5:
            centre, spread = self.rng.uniform(20, 60), self.rng.uniform(3, 8)
            low, high, found = 0, 100, centre + spread * z
        else:
            scale, sigma = self.rng.uniform(5, 20), self.rng.uniform(0.3, 0.6)
            low, high, found = 0, 200, scale * np.exp(sigma * z)
        self.frame[name] = np.clip(np.round(found, decimals), low, high)
        ends = {"min": f"{low:.{decimals}f}", "max": f"{high:.{decimals}f}"}
        ends["decimals"] = str(decimals)
        self.variables[name] = {"label": f"Variable {name}", "number": ends}

    def quantity(self, name: str) -> None:
        """Draw whole numbers, or numbers with decimals."""
        (self.integer if self.rng.random() < 0.5 else self.number)(name)

    def size(self, low: int = 2, high: int = 7) -> int:
        """Draw a number of categories."""
        return int(self.rng.integers(low, high + 1))

    def valid(self, *names: str) -> pd.DataFrame:
        """Return the records with valid values of some variables."""
        kept = self.frame[list(names)]
        return kept[(kept.notna() & (kept != -9) & (kept != -8)).all(axis=1)]

    def counts(self, row: str | list[str], column: str) -> pd.DataFrame:
        """Cross-tabulate, with rows and columns for values that do not occur."""
        rows = [row] if isinstance(row, str) else row
        kept = self.valid(*rows, column)
        found = kept.groupby([*rows, column]).size().unstack(column, fill_value=0)
        crossed: pd.Index = pd.MultiIndex.from_product([self.codes(r) for r in rows])
        index = crossed if len(rows) > 1 else crossed.get_level_values(0)
        return found.reindex(index=index, columns=self.codes(column), fill_value=0)

    def codes(self, name: str) -> list[int]:
        """Values of a variable."""
        return [int(code) for code in self.variables[name]["categories"]]


def text(value: float, decimals: int) -> str:
    """Print a number."""
    return f"{value:.{decimals}f}"


def p_text(value: float) -> str:
    """Print a p-value."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def cells(found: pd.DataFrame, show: Callable[[Any], str]) -> dict[str, list[str]]:
    """Print the cells of a table row by row."""
    return {str(row): [show(v) for v in found.loc[row]] for row in found.index}


def _percentages(counts: pd.DataFrame, axis: Literal[0, 1]) -> pd.DataFrame:
    """Row percentages (axis 1) or column percentages (axis 0)."""
    totals = counts.sum(axis=axis)
    return 100 * counts.div(totals, axis=0 if axis else 1)


def _row_percentages(truth: Truth, row: str, column: str) -> None:
    shares = _percentages(truth.counts(row, column), 1)
    truth.outputs.append(
        {
            "kind": "crosstab",
            "rows": row,
            "columns": column,
            "row_percentages": cells(shares, lambda v: text(v, 1)),
        }
    )


def _with_totals(counts: pd.DataFrame) -> pd.DataFrame:
    counts = counts.assign(total=counts.sum(axis=1))
    counts.loc["total"] = counts.sum()
    return counts


def summary(truth: Truth, of: list[str], by: str | None, shown: dict[str, int]) -> None:
    """Print statistics, each to so many decimals, overall and by group."""
    groups: dict[str, pd.DataFrame] = {"total": truth.frame}
    if by is not None:
        groups = {str(v): truth.frame[truth.frame[by] == v] for v in truth.codes(by)} | groups
    output: dict[str, Any] = {"kind": "summary", "of": of if len(of) > 1 else of[0]}
    if by is not None:
        output["by"] = by

    def nest(decimals: int, compute: Callable[[pd.Series], Any]) -> Any:
        found: dict[str, Any] = {}
        for name in of:
            texts = {key: text(compute(part[name]), decimals) for key, part in groups.items()}
            found[name] = texts if by is not None else texts["total"]
        return found if len(of) > 1 else found[of[0]]

    for statistic, decimals in shown.items():
        if statistic.startswith("p"):
            at = int(statistic[1:])
            quantile = nest(decimals, partial(pd.Series.quantile, q=at / 100))
            output.setdefault("quantiles", {})[str(at)] = quantile
        else:
            output[statistic] = nest(decimals, _STATISTICS[statistic])
    truth.outputs.append(output)


_STATISTICS: dict[str, Callable[[pd.Series], Any]] = {
    "n": len,
    "mean": lambda s: s.mean(),
    "sd": lambda s: s.std(),
    "standard_error": lambda s: s.sem(),
    "median": lambda s: s.median(),
    "iqr": stats.iqr,
    "min": lambda s: s.min(),
    "max": lambda s: s.max(),
    "skewness": lambda s: stats.skew(s, bias=False),
    "kurtosis": lambda s: stats.kurtosis(s, bias=False),
}


def _correlation(truth: Truth, of: list[str], form: str, decimals: int, p: bool) -> None:
    """Print the lower triangle of a correlation matrix."""
    compute = stats.pearsonr if form == "pearson" else stats.spearmanr
    values: dict[str, dict[str, str]] = {}
    tests: dict[str, dict[str, str]] = {}
    for position, one in enumerate(of[1:], 1):
        for two in of[:position]:
            found = compute(truth.frame[two], truth.frame[one])
            values.setdefault(one, {})[two] = text(found.statistic, decimals)
            tests.setdefault(one, {})[two] = p_text(found.pvalue)
    output = {"kind": "correlation", "of": of, form: values}
    truth.outputs.append(output | ({"p_values": tests} if p else {}))


# The kinds


def frequencies(truth: Truth) -> None:
    """Print counts, percentages with missing, and valid percentages of three variables."""
    for position, name in enumerate("ABC"):
        missing = ["blank", "codes", "blank"][position]
        truth.category(name, truth.size(), missing)
        column = truth.frame[name]
        valid = truth.valid(name)[name]
        codes = truth.codes(name)
        gone = ["-9", "-8"] if missing == "codes" else ["missing"]
        found = {str(c): int((column == c).sum()) for c in codes}
        for key in gone:
            absent = column.isna() if key == "missing" else column == int(key)
            found[key] = int(absent.sum())
        output: dict[str, Any] = {"kind": "frequencies", "of": name}
        if position == 0:
            output["counts"] = {k: str(v) for k, v in found.items()}
        output["percentages"] = {k: text(100 * v / len(column), 1) for k, v in found.items()}
        output["valid_percentages"] = {str(c): text(100 * (valid == c).mean(), 1) for c in codes}
        truth.outputs.append(output)


def counts_3_way(truth: Truth) -> None:
    """Print counts by three variables."""
    for name in "ABC":
        truth.category(name, truth.size())
    counts = truth.counts(["A", "B"], "C")
    nested: dict[str, dict[str, list[str]]] = {}
    pairs = product(truth.codes("A"), truth.codes("B"))
    for (a, b), row in zip(pairs, counts.to_numpy(), strict=True):
        nested.setdefault(str(a), {})[str(b)] = [str(v) for v in row]
    truth.outputs.append({"kind": "crosstab", "rows": ["A", "B"], "columns": "C", "counts": nested})


def row_percentages(truth: Truth) -> None:
    """Print row percentages of two tables with the same columns."""
    for name in "ABC":
        truth.category(name, truth.size())
    _row_percentages(truth, "A", "C")
    _row_percentages(truth, "B", "C")


def column_percentages(truth: Truth) -> None:
    """Print column percentages and counts, where counts from 1 to 9 are suppressed."""
    truth.category("A", truth.size(3), even=1.5)
    truth.category("B", truth.size(2, 5), even=3)
    counts = truth.counts("A", "B")
    hidden = (counts > 0) & (counts < 10)
    shares = _percentages(counts, 0)
    shown = _with_totals(counts).astype(object)
    percent = shares.map(lambda v: text(v, 1))
    for a in counts.index:
        for b in counts.columns:
            if hidden.loc[a, b]:
                shown.loc[a, b] = percent.loc[a, b] = "suppressed"
    low = shown.loc[:, "total"].map(lambda v: 0 < v < 10)
    shown.loc[low, "total"] = "suppressed"
    truth.outputs.append(
        {
            "kind": "crosstab",
            "rows": "A",
            "columns": "B",
            "counts": cells(shown, str),
            "column_percentages": cells(percent, str),
            "suppressed": ["1", "9"],
        }
    )


def _rounded(truth: Truth, base: int, random: bool) -> None:
    for name in "ABC":
        truth.category(name, truth.size())

    def nearest(value: int) -> str:
        below = value % base
        if random:
            up = below > 0 and truth.rng.random() < below / base
        else:
            up = 2 * below >= base
        return str(value - below + base * up)

    rounding: Any = {"base": str(base), "random": "true"} if random else str(base)
    for row, column in pairwise("ABC"):
        truth.outputs.append(
            {
                "kind": "crosstab",
                "rows": row,
                "columns": column,
                "rounded": rounding,
                "counts": cells(_with_totals(truth.counts(row, column)), nearest),
            }
        )


def rounded_5(truth: Truth) -> None:
    """Print counts and totals of two tables, each rounded to the nearest multiple of 5."""
    _rounded(truth, 5, random=False)


def rounded_3_random(truth: Truth) -> None:
    """Print counts and totals of two tables, each rounded at random to a multiple of 3."""
    _rounded(truth, 3, random=True)


def summary_by_group(truth: Truth) -> None:
    """Print n, mean, sd and median of two quantities by group."""
    truth.category("G", truth.size())
    truth.integer("X")
    truth.number("Y")
    summary(truth, ["X", "Y"], "G", {"n": 0, "mean": 2, "sd": 2, "median": 1})


def summary_shape(truth: Truth) -> None:
    """Print quantiles, extremes, iqr, standard error, skewness and kurtosis of two quantities."""
    truth.integer("X")
    truth.number("Y")
    shown = {"mean": 2, "standard_error": 3, "min": 1, "p10": 1, "p25": 1, "p75": 1, "p90": 1}
    shown |= {"max": 1, "iqr": 1, "skewness": 2, "kurtosis": 2}
    summary(truth, ["X", "Y"], None, shown)


def pearson(truth: Truth) -> None:
    """Print Pearson correlations of five quantities, with p-values."""
    for name in "VWXYZ":
        truth.quantity(name)
    _correlation(truth, list("VWXYZ"), "pearson", int(truth.rng.integers(2, 4)), True)


def spearman(truth: Truth) -> None:
    """Print Spearman correlations of four quantities."""
    for name in "WXYZ":
        truth.quantity(name)
    _correlation(truth, list("WXYZ"), "spearman", int(truth.rng.integers(2, 4)), False)


def chi_square(truth: Truth) -> None:
    """Print chi-square, p-value, Cramér's V and row percentages."""
    truth.category("A", truth.size())
    truth.category("B", truth.size(2, 5))
    _row_percentages(truth, "A", "B")
    counts = truth.counts("A", "B")
    counts = counts.loc[counts.sum(axis=1) > 0, counts.sum() > 0]
    test = stats.chi2_contingency(counts, correction=False)
    truth.outputs.append(
        {
            "kind": "chi_square",
            "rows": "A",
            "columns": "B",
            "statistic": text(test.statistic, 2),
            "df": str(test.dof),
            "p": p_text(test.pvalue),
            "cramers_v": text(stats.contingency.association(counts), 3),
        }
    )


def t_test(truth: Truth) -> None:
    """Print a t test, pooled or Welch's, and n, mean and sd of its groups."""
    truth.category("G", 2)
    truth.quantity("Y")
    summary(truth, ["Y"], "G", {"n": 0, "mean": 2, "sd": 2})
    pooled = bool(truth.rng.random() < 0.5)
    one, two = (truth.frame.loc[truth.frame["G"] == g, "Y"] for g in (1, 2))
    test = stats.ttest_ind(one, two, equal_var=pooled)
    truth.outputs.append(
        {
            "kind": "t_test",
            "of": "Y",
            "by": "G",
            "equal_variances": str(pooled).lower(),
            "t": text(test.statistic, 3),
            "df": text(test.df, 0 if pooled else 1),
            "p": p_text(test.pvalue),
            "difference": text(one.mean() - two.mean(), 2),
        }
    )


def anova(truth: Truth) -> None:
    """Print an analysis of variance, and n, mean and sd of its groups."""
    truth.category("G", truth.size(3))
    truth.quantity("Y")
    summary(truth, ["Y"], "G", {"n": 0, "mean": 2, "sd": 2})
    groups = [part["Y"] for _, part in truth.frame.groupby("G")]
    test = stats.f_oneway(*groups)
    within = sum(((g - g.mean()) ** 2).sum() for g in groups)
    every = truth.frame["Y"]
    truth.outputs.append(
        {
            "kind": "anova",
            "of": "Y",
            "by": "G",
            "f": text(test.statistic, 2),
            "p": p_text(test.pvalue),
            "eta_squared": text(1 - within / ((every - every.mean()) ** 2).sum(), 3),
        }
    )


def odds_ratio(truth: Truth) -> None:
    """Print the odds ratio, or also the risk ratio, with confidence intervals, and both margins."""
    truth.category("A", 2)
    truth.category("B", 2)
    for name in "AB":
        share = {str(c): text(100 * (truth.frame[name] == c).mean(), 1) for c in (1, 2)}
        truth.outputs.append({"kind": "frequencies", "of": name, "percentages": share})
    (a, b), (c, d) = truth.counts("A", "B").to_numpy(dtype=float)
    z = stats.norm.ppf(0.975)
    both = truth.rng.random() < 0.5
    odds, odds_se = math.log(a * d / (b * c)), math.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    risk = math.log((a / (a + b)) / (c / (c + d)))
    risk_se = math.sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))
    output: dict[str, Any] = {"kind": "odds_ratio", "rows": "A", "columns": "B"}
    for name, value, se in [("odds_ratio", odds, odds_se), ("risk_ratio", risk, risk_se)]:
        if name == "odds_ratio" or both:
            output[name] = text(math.exp(value), 2)
            output[f"{name}_ci"] = [text(math.exp(value + s * z * se), 2) for s in (-1, 1)]
    truth.outputs.append(output | {"p": p_text(2 * stats.norm.sf(abs(odds / odds_se)))})


def joint(truth: Truth) -> None:
    """Print counts, row percentages, summaries by group, correlations and a logistic regression."""
    truth.category("SEX", 2, even=20)
    truth.category("CLASS", truth.size(3, 5))
    truth.category("REGION", truth.size(3, 7))
    truth.integer("AGE")
    truth.number("SCORE")
    truth.number("INCOME")
    truth.category("SMOKES", 2, even=10)
    truth.outputs.append(
        {
            "kind": "crosstab",
            "rows": "REGION",
            "columns": "SEX",
            "counts": cells(truth.counts("REGION", "SEX"), str),
        }
    )
    _row_percentages(truth, "CLASS", "SMOKES")
    summary(truth, ["AGE", "SCORE"], "SEX", {"n": 0, "mean": 2, "sd": 2})
    _correlation(truth, ["AGE", "SCORE", "INCOME"], "pearson", 2, True)
    design = {"Intercept": np.ones(truth.records), "AGE": truth.frame["AGE"]}
    design["SEX[2]"] = (truth.frame["SEX"] == 2).astype(float)
    for value in truth.codes("CLASS")[1:]:
        design[f"CLASS[{value}]"] = (truth.frame["CLASS"] == value).astype(float)
    event = (truth.frame["SMOKES"] == 2).astype(float)
    fit = sm.Logit(event, pd.DataFrame(design)).fit(disp=0, tol=1e-12, maxiter=100)
    truth.outputs.append(
        {
            "kind": "logit",
            "formula": "SMOKES ~ AGE + SEX + CLASS",
            "coefficients": {name: text(value, 3) for name, value in fit.params.items()},
        }
    )


@dataclass(frozen=True)
class Kind:
    """How a kind of truth is made."""

    make: Callable[[Truth], None]
    least: int = 100
    most: int = 5000


KINDS: dict[str, Kind] = {
    "frequencies": Kind(frequencies),
    "crosstab-3-way": Kind(counts_3_way),
    "crosstab-row-percentages": Kind(row_percentages, 200),
    "crosstab-suppressed": Kind(column_percentages),
    "crosstab-rounded-5": Kind(rounded_5, 200),
    "crosstab-rounded-3-random": Kind(rounded_3_random, 200),
    "summary-by-group": Kind(summary_by_group),
    "summary-shape": Kind(summary_shape),
    "pearson": Kind(pearson),
    "spearman": Kind(spearman),
    "chi-square": Kind(chi_square),
    "t-test": Kind(t_test),
    "anova": Kind(anova),
    "odds-ratio": Kind(odds_ratio),
    "joint": Kind(joint, 500),
}


def draw(name: str, kind: Kind, number: int) -> Truth:
    """Make a truth of a kind; the same name and number give the same truth.

    One that no paper would print, with an empty group or an empty cell of a two-by-two table, is
    drawn anew.
    """
    rng = np.random.default_rng((zlib.crc32(name.encode()), number))
    while True:
        records = round(math.exp(rng.uniform(math.log(kind.least), math.log(kind.most))))
        truth = Truth(rng, records)
        try:
            kind.make(truth)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            continue
        if "nan" not in truth.text and "inf" not in truth.text:
            return truth
