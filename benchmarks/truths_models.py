"""Random datasets with outcomes that follow models, and the models that a paper would print."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import fits
import numpy as np
import pandas as pd
from truths import Kind, Truth, p_text, summary, text

_SMALLEST = 8
"""Records that a category must have, for a paper to print it as a term or an outcome."""


# Variables


def covariates(truth: Truth, most: int = 4) -> list[str]:
    """Draw two to four variables: categories, whole numbers, decimals, two categories."""
    truth.category("GROUP", truth.size(2, 4))
    truth.integer("AGE")
    names = ["GROUP", "AGE"]
    for name, draw in [("DOSE", truth.number), ("SEX", lambda n: truth.category(n, 2, even=20))]:
        if most > 2 and truth.rng.random() < 0.5:
            draw(name)
            names.append(name)
    return names


def line(truth: Truth, names: list[str]) -> np.ndarray:
    """Draw what covariates add up to."""
    found = np.zeros(truth.records)
    for name in names:
        column = truth.frame[name].to_numpy()
        if categorical(truth, name):
            for code in truth.codes(name):
                found += truth.rng.normal(0, 0.5) * (column == code)
        else:
            found += truth.rng.normal(0, 0.5) * (column - column.mean()) / column.std()
    return found


def categorical(truth: Truth, name: str) -> bool:
    """Whether a variable has categories."""
    return "categories" in truth.variables[name]


def _categories(truth: Truth, name: str, found: np.ndarray, codes: list[int]) -> None:
    truth.frame[name] = found
    values = {str(code): f"{name.capitalize()} {code}" for code in codes}
    truth.variables[name] = {"label": f"Variable {name}", "categories": values}


def binary(truth: Truth, names: list[str]) -> str:
    """Draw an outcome of two values."""
    noise = truth.rng.logistic(size=truth.records) + truth.rng.uniform(-1, 1)
    _categories(truth, "YES", (line(truth, names) + noise > 0).astype(int), [0, 1])
    return "YES"


def _counts(truth: Truth, names: list[str], shape: float | None) -> str:
    rng = truth.rng
    hours = rng.integers(1, 13, truth.records)
    truth.frame["HOURS"] = hours
    truth.variables["HOURS"] = {"label": "Exposure", "integer": ["1", "12"]}
    mean = np.exp(rng.uniform(-0.5, 1.0) + 0.6 * line(truth, names)) * hours / hours.mean()
    if shape is not None:
        mean = mean * rng.gamma(shape, 1 / shape, truth.records)
    found = rng.poisson(mean)
    truth.frame["VISITS"] = found
    top = 5 * math.ceil((found.max() + 1) / 5)
    truth.variables["VISITS"] = {"label": "Count", "integer": ["0", str(top)]}
    return "VISITS"


def counts(truth: Truth, names: list[str]) -> str:
    """Draw counts, and the hours in which they were counted."""
    return _counts(truth, names, None)


def dispersed(truth: Truth, names: list[str]) -> str:
    """Draw counts that vary more than Poisson's."""
    return _counts(truth, names, truth.rng.uniform(0.8, 3))


def choice(truth: Truth, names: list[str]) -> str:
    """Draw an outcome of three or four values without order."""
    size = truth.size(3, 4)
    noise = truth.rng.gumbel(size=(size, truth.records))
    lines = [truth.rng.uniform(-0.5, 0.5) + line(truth, names) for _ in range(size)]
    _categories(truth, "CHOICE", 1 + np.argmax(lines + noise, axis=0), list(range(1, size + 1)))
    return "CHOICE"


def grade(truth: Truth, names: list[str]) -> str:
    """Draw an outcome of three to five ordered values."""
    size = truth.size(3, 5)
    latent = line(truth, names) + truth.rng.logistic(size=truth.records)
    cuts = np.quantile(latent, np.cumsum(truth.rng.dirichlet(np.full(size, 6.0)))[:-1])
    _categories(truth, "GRADE", 1 + np.searchsorted(cuts, latent), list(range(1, size + 1)))
    return "GRADE"


def quantity(truth: Truth, names: list[str]) -> str:
    """Draw an outcome between 0 and 100, with no, one or two decimals."""
    rng, decimals = truth.rng, int(truth.rng.integers(0, 3))
    spread = rng.uniform(4, 9)
    noise = rng.normal(size=truth.records) * rng.uniform(0.6, 1.5)
    if "WEIGHT" in truth.frame:
        noise = noise / np.sqrt(truth.frame["WEIGHT"])
    found = rng.uniform(35, 65) + spread * (line(truth, names) + noise)
    found = np.clip(np.round(found, decimals), 0, 100)
    truth.frame["SCORE"] = found if decimals else found.astype(int)
    ends: dict[str, Any] = {"integer": ["0", "100"]}
    if decimals:
        low, high = (text(end, decimals) for end in (0, 100))
        ends = {"number": {"min": low, "max": high, "decimals": str(decimals)}}
    truth.variables["SCORE"] = {"label": "Outcome", **ends}
    return "SCORE"


def weighted(truth: Truth, names: list[str]) -> str:
    """Draw such an outcome whose errors are smaller where weights are larger."""
    truth.frame["WEIGHT"] = np.round(truth.rng.uniform(0.3, 3, truth.records), 1)
    ends = {"min": "0.1", "max": "5.0", "decimals": "1"}
    truth.variables["WEIGHT"] = {"label": "Weight", "number": ends}
    return quantity(truth, names)


# Models


@dataclass(frozen=True)
class Family:
    """How a model's outcome is drawn, how it is fitted, and which fit measures go together."""

    outcome: Callable[[Truth, list[str]], str]
    fit: Callable[[fits.Sample], fits.Fit]
    measures: tuple[tuple[str, ...], ...]


_STATA = ("log_likelihood", "lr_chi_square", "lr_p_value", "pseudo_r_squared")
_R = ("null_deviance", "deviance", "aic")
_PAPER = ("log_likelihood", "aic", "bic")
_LINEAR = (
    ("f", "f_p_value", "r_squared", "adjusted_r_squared", "rmse"),
    ("r_squared", "adjusted_r_squared"),
    ("r_squared", "aic", "bic"),
)
FAMILIES = {
    "logit": Family(binary, fits.logit, (_STATA, _R, _PAPER)),
    "probit": Family(binary, fits.probit, (_STATA, _R, _PAPER)),
    "poisson": Family(counts, fits.poisson, (_STATA, _R, _PAPER)),
    "negative_binomial": Family(dispersed, fits.negative_binomial, (_STATA, _PAPER)),
    "multinomial": Family(choice, fits.multinomial, (_STATA, _PAPER)),
    "ordered": Family(grade, fits.ordered, (_STATA, _PAPER)),
    "ols": Family(quantity, fits.least_squares, _LINEAR),
    "wls": Family(weighted, fits.least_squares, _LINEAR),
    "quantile": Family(quantity, fits.quantile, ()),
}


class Model:
    """A model of an outcome of a truth, fitted, to be printed figure by figure."""

    def __init__(
        self,
        truth: Truth,
        kind: str,
        outcome: str,
        names: list[str],
        *,
        robust: bool = False,
        where: tuple[str, int] | None = None,
    ) -> None:
        self.truth, self.kind = truth, kind
        reference = {name: str(max(truth.codes(name))) for name in names if name == "GROUP"}
        self.output: dict[str, Any] = {
            "kind": kind,
            "formula": f"{outcome} ~ {' + '.join(names)}",
            "reference": reference,
        }
        frame = truth.frame
        if where is not None:
            self.output["where"] = f"{where[0]} == {where[1]}"
            frame = frame[frame[where[0]] == where[1]]
        exposure, weights = None, None
        if kind in {"poisson", "negative_binomial"}:
            self.output["exposure"] = "HOURS"
            exposure = frame["HOURS"]
        if kind == "wls":
            self.output["weights"] = "WEIGHT"
            weights = frame["WEIGHT"]
        if robust:
            self.output["robust"] = "HC1"
        share = 0.5
        if kind == "quantile":
            share = float(truth.rng.choice([0.25, 0.5, 0.75]))
            self.output["quantile"] = str(share)
        codes = truth.codes(outcome) if categorical(truth, outcome) else []
        sizes = [(frame[outcome] == code).sum() for code in codes]
        x = self._design(frame, names, reference)
        dummies = x[[name for name in x.columns if "[" in str(name)]]
        if min([*sizes, *dummies.sum(), *(1 - dummies).sum()], default=_SMALLEST) < _SMALLEST:
            raise ValueError("a category is too small")
        sample = fits.Sample(frame[outcome], x, codes, exposure, weights, robust, share)
        self.n, self.found = len(frame), FAMILIES[kind].fit(sample)
        rng = truth.rng
        self.decimals = 4 if rng.random() < 0.5 or self.found.errors.min() < 0.002 else 3

    def _design(
        self, frame: pd.DataFrame, names: list[str], reference: dict[str, str]
    ) -> pd.DataFrame:
        """Dummy-code the categories."""
        columns = {"Intercept": np.ones(len(frame))}
        for name in names:
            if categorical(self.truth, name):
                codes = self.truth.codes(name)
                for code in codes:
                    if str(code) != reference.get(name, str(codes[0])):
                        columns[f"{name}[{code}]"] = np.where(frame[name] == code, 1.0, 0.0)
            else:
                columns[name] = frame[name].to_numpy(float)
        return pd.DataFrame(columns, index=frame.index)

    def put(self, key: str, values: Any, show: Callable[[Any], Any]) -> None:
        """Print one figure of each parameter; of cut points and alpha, values and errors alone."""
        for name, value in zip(self.found.names, values, strict=True):
            ancillary = name == ("alpha",) or "|" in name[-1]
            if ancillary and key == "coefficients":
                if name == ("alpha",):
                    self.output["alpha"] = show(value)
                else:
                    self.output.setdefault("cut_points", {})[name[-1]] = show(value)
            elif not ancillary or key == "standard_errors":
                node = self.output.setdefault(key, {})
                for part in name[:-1]:
                    node = node.setdefault(part, {})
                node[name[-1]] = show(value)

    def coefficients(self) -> Model:
        """Print coefficients."""
        self.put("coefficients", self.found.values, lambda v: text(v, self.decimals))
        return self

    def errors(self) -> Model:
        """Print standard errors."""
        self.put("standard_errors", self.found.errors, lambda v: text(v, self.decimals))
        return self

    def tests(self) -> Model:
        """Print z or t, and p-values."""
        self.put("statistics", self.found.values / self.found.errors, lambda v: text(v, 2))
        self.put("p_values", self.found.p, p_text)
        return self

    def stars(self) -> Model:
        """Print stars."""
        self.put("p_values", self.found.p, _stars)
        return self

    def ratios(self, key: str) -> Model:
        """Print ratios with confidence intervals, without the intercept."""
        ends = np.exp(self.found.interval())
        self.put(key, np.exp(self.found.values), lambda v: text(v, 2))
        self.put("confidence_intervals", ends, lambda v: [text(end, 2) for end in v])
        for printed in (key, "confidence_intervals"):
            self.output[printed].pop("Intercept", None)
        return self

    def fit(self, *measures: str) -> Model:
        """Print n, and the measures named or those of some program."""
        options = FAMILIES[self.kind].measures
        chosen = measures or options[self.truth.rng.integers(len(options))]
        self.output["observations"] = str(self.n)
        for measure in chosen:
            value = self.found.measures[measure]
            self.output[measure] = p_text(value) if measure.endswith("p_value") else text(value, 3)
        return self

    def end(self) -> None:
        """Add it to the outputs."""
        self.truth.outputs.append(self.output)


def _stars(p: float) -> str:
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else "ns"


def frequencies(truth: Truth) -> None:
    """Print counts of the groups and, in half of the truths, percentages of another variable."""
    names = [name for name in truth.variables if categorical(truth, name)]
    shown = names[:1] if truth.rng.random() < 0.5 else [names[0], names[-1]]
    for name in dict.fromkeys(shown):
        sizes = {str(code): int((truth.frame[name] == code).sum()) for code in truth.codes(name)}
        output: dict[str, Any] = {"kind": "frequencies", "of": name}
        if name == names[0]:
            output["counts"] = {code: str(size) for code, size in sizes.items()}
        else:
            shares = {code: text(100 * n / truth.records, 1) for code, n in sizes.items()}
            output["percentages"] = shares
        truth.outputs.append(output)


# The kinds


def single(truth: Truth, kind: str) -> None:
    """Print one model: coefficients, standard errors, perhaps tests, and fit measures."""
    names = covariates(truth)
    outcome = FAMILIES[kind].outcome(truth, names)
    frequencies(truth)
    model = Model(truth, kind, outcome, names).coefficients().errors()
    if truth.rng.random() < 0.3:
        model.tests()
    model.fit().end()


def _single(kind: str, about: str) -> Kind:
    def make(truth: Truth) -> None:
        single(truth, kind)

    make.__doc__ = f"Print {about}: coefficients, standard errors, fit measures; perhaps z and p."
    return Kind(make, 300)


def quantile(truth: Truth) -> None:
    """Print the coefficients of a regression of the median or a quartile, and frequencies."""
    names = covariates(truth)
    outcome = quantity(truth, names)
    frequencies(truth)
    Model(truth, "quantile", outcome, names).coefficients().end()


def odds_ratios(truth: Truth) -> None:
    """Print odds ratios of a logit with confidence intervals, and frequencies, alone."""
    names = covariates(truth)
    outcome = binary(truth, names)
    frequencies(truth)
    Model(truth, "logit", outcome, names).ratios("odds_ratios").end()


def robust(truth: Truth) -> None:
    """Print a logit, a Poisson regression or ols with robust (HC1) standard errors."""
    names = covariates(truth)
    kind = ["logit", "poisson", "ols"][truth.rng.integers(3)]
    outcome = FAMILIES[kind].outcome(truth, names)
    frequencies(truth)
    measure = "r_squared" if kind == "ols" else "log_likelihood"
    Model(truth, kind, outcome, names, robust=True).coefficients().errors().fit(measure).end()


def stars(truth: Truth) -> None:
    """Print coefficients with stars alone, of a logit, a Poisson regression or ols."""
    names = covariates(truth)
    kind = ["logit", "poisson", "ols"][truth.rng.integers(3)]
    outcome = FAMILIES[kind].outcome(truth, names)
    frequencies(truth)
    Model(truth, kind, outcome, names).coefficients().stars().end()


def ols_means(truth: Truth) -> None:
    """Print ols with standard errors, R², F and RMSE, and n and means of the outcome by group."""
    names = covariates(truth)
    outcome = quantity(truth, names)
    summary(truth, [outcome], "GROUP", {"n": 0, "mean": 2})
    model = Model(truth, "ols", outcome, names).coefficients().errors()
    model.fit("r_squared", "adjusted_r_squared", "f", "rmse").end()


def nested(truth: Truth) -> None:
    """Print two logits, or two linear models, that differ by a term, with errors and fit."""
    names = covariates(truth)
    kind, measures = [("logit", ["log_likelihood", "pseudo_r_squared"]), ("ols", ["r_squared"])][
        truth.rng.integers(2)
    ]
    outcome = FAMILIES[kind].outcome(truth, names)
    frequencies(truth)
    for terms in (names[:-1], names):
        Model(truth, kind, outcome, terms).coefficients().errors().fit(*measures).end()


def outcomes(truth: Truth) -> None:
    """Print a logit, a Poisson regression and ols of the same covariates with standard errors."""
    names = covariates(truth)
    measured = {"logit": "pseudo_r_squared", "poisson": "log_likelihood", "ols": "r_squared"}
    drawn = {kind: FAMILIES[kind].outcome(truth, names) for kind in measured}
    frequencies(truth)
    for kind, measure in measured.items():
        Model(truth, kind, drawn[kind], names).coefficients().errors().fit(measure).end()


def subpopulations(truth: Truth) -> None:
    """Print the same logit or linear model of all records, and of each sex."""
    truth.category("SEX", 2, even=20)
    names = covariates(truth, most=2)
    kind, measure = [("logit", "log_likelihood"), ("ols", "r_squared")][truth.rng.integers(2)]
    outcome = FAMILIES[kind].outcome(truth, [*names, "SEX"])
    frequencies(truth)
    for where in (None, ("SEX", 1), ("SEX", 2)):
        model = Model(truth, kind, outcome, names, where=where)
        model.coefficients().errors().fit(measure).end()


MODELS: dict[str, Kind] = {
    "logit": _single("logit", "a logistic regression"),
    "probit": _single("probit", "a probit"),
    "poisson": _single("poisson", "a Poisson regression with exposure"),
    "negative-binomial": _single("negative_binomial", "a negative binomial model with exposure"),
    "multinomial": _single("multinomial", "a multinomial logit"),
    "ordered": _single("ordered", "an ordered logit with its cut points"),
    "ols": _single("ols", "a linear model"),
    "wls": _single("wls", "a weighted linear model"),
    "quantile": Kind(quantile, 300),
    "ols-means": Kind(ols_means, 300),
    "logit-odds-ratios": Kind(odds_ratios, 300),
    "models-robust": Kind(robust, 300),
    "models-stars": Kind(stars, 300),
    "models-nested": Kind(nested, 300),
    "models-outcomes": Kind(outcomes, 300),
    "models-where": Kind(subpopulations, 300),
}
