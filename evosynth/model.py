"""What every published model has in common: its formula, its figures by term, what is wrong."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, field_validator
from scipy import stats

from evosynth.classes import any_level, classify
from evosynth.counting import levels_within, population
from evosynth.design import (
    MAX_COLUMNS,
    Column,
    Design,
    canonical,
    columns,
    count_columns,
    formula_faults,
    reference_level,
)
from evosynth.errors import Fault, Path, suggest
from evosynth.fitted import (
    COMPARING,
    Item,
    Model,
    Null,
    Robust,
    Traits,
    known_parameters,
    known_signs,
)
from evosynth.formula import Formula, parse
from evosynth.likelihood import Likelihood
from evosynth.model_clashes import clashes
from evosynth.model_table import fill
from evosynth.objective import CellTable, Figure, Mention, Output, Plan, Text
from evosynth.printed import Printed, Published
from evosynth.refit import Estimates
from evosynth.schema import FloatArray, Schema, Variable
from evosynth.significance import Stars, read_p
from evosynth.written import Names, per_schema

if TYPE_CHECKING:
    import pandas as pd


def _two(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("expected the two ends of the interval, [lower, upper]")
    return value


def _per_cent(value: float) -> float:
    return 100 * value if value < 1 else value


Ends = Annotated[tuple[Printed, Printed], BeforeValidator(_two)]
Level = Annotated[float, Field(gt=0, lt=100), AfterValidator(_per_cent)]

_FORMS = {
    "coefficients": "coefficient",
    "odds_ratios": "ratio",
    "rate_ratios": "ratio",
    "relative_risk_ratios": "ratio",
    "cut_points": "coefficient",
    "alpha": "coefficient",
    "standard_errors": "se",
    "statistics": "statistic",
    "p_values": "p",
    "confidence_intervals": "interval",
    "betas": "beta",
}
"""Keys of figures by term, in the order of figures, and what they hold."""
_RATIOS = ("odds_ratios", "rate_ratios", "relative_risk_ratios")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model."""

    name: str
    equation: str | None = None
    """The outcome that it belongs to, in a model of several."""
    key: str = "coefficients"
    """Where a spec gives its value."""

    @property
    def label(self) -> str:
        """Name it in full."""
        return self.name if self.equation is None else f"{self.equation}: {self.name}"


class Regression(Output):
    """A published model; any subset of its figures may be given."""

    formula: str = Field(description="outcome ~ terms, such as CARS ~ AGE + SEX")
    reference: dict[str, Text] = Field(
        default_factory=dict, description="variable: reference value, where it is not the first"
    )
    level: Level = Field(95.0, description="of confidence intervals, per cent")
    stars: Stars = Field((0.05, 0.01, 0.001), description="levels of one, two … stars")
    robust: Literal["HC0", "HC1", "stata"] | None = Field(
        None, description="sandwich standard errors; HC1 × n/(n - k), stata × n/(n - 1)"
    )
    observations: Printed | None = Field(None, description="records that the model rests on")
    table: str | None = Field(
        None, description="the table as text, as copied from print; terms by code or label"
    )
    column: Text | None = Field(
        None, description="number or header of the model, where `table` shows several side by side"
    )
    shows: Names = Field(
        (),
        description="what the figures of a term are in turn, such as [odds_ratios, p_values], "
        "where the header of `table` does not tell",
    )

    measures: ClassVar[tuple[str, ...]] = ()
    """Keys of figures of the whole model."""
    intercept: ClassVar[bool] = True
    linear: ClassVar[bool] = False
    single: ClassVar[bool] = False
    """Whether the deviance is -2 × log-likelihood."""

    @field_validator("formula")
    @classmethod
    def _parses(cls, text: str) -> str:
        found = parse(text)
        if found.log and not cls.linear:
            raise ValueError(f"the outcome of this kind is not logged; write {found.outcome} ~ …")
        return text

    @cached_property
    def _formula(self) -> Formula:
        return parse(self.formula)

    @property
    def _others(self) -> tuple[str, ...]:
        """Variables that are used outside of the formula."""
        return ()

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self._formula.variables, *self._others]))

    def _columns(self, schema: Schema) -> tuple[Column, ...]:
        return columns(self._formula, schema, self.reference)[0 if self.intercept else 1 :]

    def _parameters(self, schema: Schema) -> tuple[Parameter, ...]:
        """Name the parameters, in the order of the search."""
        return tuple(Parameter(column.name) for column in self._columns(schema))

    @abstractmethod
    def _outcome_faults(self, outcome: Variable, levels: list[int]) -> Iterator[str]:
        """Say what is wrong with the outcome, whose levels within the subpopulation are given."""

    @abstractmethod
    def _likelihood(self, schema: Schema) -> Likelihood:
        """Return the model in the terms of the search."""

    @abstractmethod
    def _estimate(
        self, x: pd.DataFrame, frame: pd.DataFrame, counts: FloatArray, schema: Schema
    ) -> Estimates | None:
        """Fit with statsmodels; ``None`` if it does not converge."""

    def mentions(self) -> Iterator[Mention]:
        """Name the outcome, the terms and the reference values."""
        for name in self._formula.variables:
            yield Mention(("formula",), name)
        for name, value in self.reference.items():
            yield Mention(("reference", name), name, value)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Impossible terms, figures that do not belong or contradict each other."""
        wrong = list(self._reference_faults(schema))
        outcome = schema[self._formula.outcome]
        levels = levels_within(outcome.name, self.condition, schema)
        impossible = list(self._outcome_faults(outcome, levels))
        impossible += formula_faults(self._formula, schema)
        if count_columns(self._formula, schema) > MAX_COLUMNS:
            impossible.append(f"the model would have more than {MAX_COLUMNS:,} coefficients")
        wrong += [Fault(("formula",), message) for message in impossible]
        if not wrong and self.table is not None:
            filled, wrong, places = self._filled(schema)
            yield from wrong
            if not wrong:
                for fault in filled.faults(schema):
                    yield replace(fault, path=places.get(fault.path, fault.path))
            return
        if not wrong:
            items, wrong = self._read(schema)
            if not items and not wrong:
                keys = [*self._keys, *self.measures, "observations"]
                wrong = [Fault((), f"no figure is given; there are {', '.join(keys)}")]
        yield from wrong
        if not wrong:
            yield from self._n_faults(schema)
            traits, n = self._traits(schema), self._n(schema)
            yield from clashes(items, traits, self._sizes(schema), n, self.single)

    @property
    def _referable(self) -> tuple[str, ...]:
        """Variables that may have a reference value."""
        return self._formula.variables[1:]

    def _reference_faults(self, schema: Schema) -> Iterator[Fault]:
        for name in self.reference:
            if name not in self._referable:
                hint = suggest(name, self._referable)
                yield Fault(("reference", name), f"{name!r} is not a term of the formula{hint}")
            elif not schema[name].categorical and name in self._formula.variables[1:]:
                yield Fault(("reference", name), f"{name!r} is a quantity and has no reference")

    @property
    def _keys(self) -> list[str]:
        """Keys of figures by term that this kind has."""
        return [key for key in _FORMS if key in type(self).model_fields]

    def _written(self) -> Iterator[tuple[str, str | None, str, Any, Path]]:
        """Every figure by term: key, equation, name, value, and where it is written."""
        for key in self._keys:
            given = getattr(self, key)
            if isinstance(given, Printed):
                yield key, None, key, given, (key,)
            elif given:
                for name, value in given.items():
                    if isinstance(value, dict):
                        for term, printed in value.items():
                            yield key, name, term, printed, (key, name, term)
                    else:
                        yield key, None, name, value, (key, name)

    @per_schema
    def _read(self, schema: Schema) -> tuple[list[Item], list[Fault]]:
        """Every published figure, and what is wrong with them."""
        parameters = self._parameters(schema)
        position = {(p.equation, self._canonical(p.name)): k for k, p in enumerate(parameters)}
        items: list[Item] = []
        faults: list[Fault] = []
        seen: dict[tuple[str, int], str] = {}
        for key, equation, name, value, path in self._written():
            k = position.get((equation, self._canonical(name)))
            if k is None:
                message = self._unknown(equation, name, parameters, schema)
                faults.append(Fault(path, message))
            elif (key, k) in seen:
                faults.append(Fault(path, f"the same term as {seen[key, k]!r}"))
            else:
                seen[key, k] = name
                try:
                    items += self._items(key, k, value, parameters[k], path)
                except ValueError as error:
                    faults.append(Fault(path, str(error)))
        for key in self.measures:
            printed = getattr(self, key)
            if printed is not None:
                try:
                    found = read_p(printed, self.stars) if key.endswith("_p_value") else printed
                    items.append(Item(key, None, found, key.replace("_", " "), (key,)))
                except ValueError as error:
                    faults.append(Fault((key,), str(error)))
        order = {form: i for i, form in enumerate([*_FORMS.values(), "low", "high"])}
        items.sort(
            key=lambda i: (
                i.parameter is None,
                order.get("interval" if i.form in {"low", "high"} else i.form, 99),
                -1 if i.parameter is None else i.parameter,
            )
        )
        if self.observations is not None:
            items.insert(0, Item("observations", None, self.observations, "n", ("observations",)))
        return items, faults

    def _items(
        self, key: str, k: int, value: Any, parameter: Parameter, path: Path
    ) -> Iterator[Item]:
        label = parameter.label
        form = _FORMS[key]
        if form == "interval":
            for end, printed in zip(("low", "high"), value, strict=True):
                side = "lower" if end == "low" else "upper"
                text = f"{side} {self.level:g}% limit of {label}"
                yield Item(end, k, printed, text, (*path, int(end == "high")))
            return
        names = {
            "coefficient": label,
            "ratio": f"{key.removesuffix('s').replace('_', ' ')} of {label}",
            "se": f"SE of {label}",
            "statistic": f"{'t' if self.linear else 'z'} of {label}",
            "p": f"p of {label}",
            "beta": f"beta of {label}",
        }
        published: Published = read_p(value, self.stars) if form == "p" else value
        if form in {"ratio", "se"} and published.interval[1] <= 0:
            raise ValueError(f"{published} is not above 0")
        yield Item(form, k, published, names[form], path)

    def _unknown(
        self,
        equation: str | None,
        name: str,
        parameters: tuple[Parameter, ...],
        schema: Schema,
    ) -> str:
        """Say what is wrong with a term that the model does not have."""
        known = [p.name for p in parameters if p.equation == equation]
        if not known:
            outcomes = dict.fromkeys(p.equation for p in parameters if p.equation is not None)
            if equation is None:
                return "expected figures by outcome, then by term"
            return f"no outcome {equation!r} apart from the base{suggest(equation, outcomes)}"
        references = {
            f"{n}[{schema[n].values[reference_level(n, schema, self.reference)]}]"
            for n in self._formula.variables[1:]
            if schema[n].categorical
        }
        if set(self._canonical(name).split(":")) & references:
            return (
                "this is the reference category, which has no coefficient; "
                "remove it, or name another value under reference"
            )
        return f"the formula has no such term{suggest(name, known)}"

    def _canonical(self, name: str) -> str:
        return name if name in self._formula.variables else canonical(name)

    def _traits(self, schema: Schema) -> Traits:
        ratios = any(getattr(self, key, None) for key in _RATIOS)
        robust: Robust | None = self.robust
        return Traits(
            linear=self.linear,
            robust=robust,
            level=self.level,
            ratios=ratios,
            ratio_errors=getattr(self, "standard_errors_of", "coefficients") == "ratios",
        )

    def _sizes(self, schema: Schema) -> tuple[int, int]:
        """Return the number of parameters, with and without covariates."""
        return len(self._parameters(schema)), 1

    def _n(self, schema: Schema) -> Published | None:
        """How many records the model rests on, if that is known."""
        if self.observations is not None:
            return self.observations
        return None if self._partial(schema) else Printed.parse(str(schema.records))

    def _partial(self, schema: Schema) -> bool:
        """Whether the model may rest on some of the records alone."""
        return self.where is not None or any(schema[name].missing for name in self._names)

    def _n_faults(self, schema: Schema) -> Iterator[Fault]:
        if self.observations is None:
            return
        n, records = self.observations.value, schema.records
        if self.observations.decimals or n < 1:
            message = f"{self.observations} is not a number of records"
            yield Fault(("observations",), message)
        elif n > records or (n < records and not self._partial(schema)):
            message = f"{self.observations} is not the number of records, which is {records}"
            yield Fault(("observations",), message, clash=True)

    @per_schema
    def _filled(self, schema: Schema) -> tuple[Regression, list[Fault], dict[Path, Path]]:
        """Read the pasted table into the other keys; where each of its figures stands."""
        return fill(self, self._parameters(schema), self._columns(schema), schema)

    def figures(self, schema: Schema) -> tuple[Figure, ...]:
        """N, then the figures of each kind term by term, then those of the whole model."""
        if self.table is not None:
            return self._filled(schema)[0].figures(schema)
        return tuple(Figure(item.label, item.published) for item in self._read(schema)[0])

    def lower(self, schema: Schema) -> Plan:
        """One block of smooth figures; n is a count."""
        if self.table is not None:
            return self._filled(schema)[0].lower(schema)
        items = [item for item in self._read(schema)[0] if item.form != "observations"]
        likelihood = self._likelihood(schema)
        tables: tuple[CellTable, ...] = ()
        counted: tuple[tuple[tuple[int, int], ...], ...] = ()
        if self.observations is not None:
            table = CellTable.free(likelihood.classes.grid, schema.records)
            low, high = table.low.copy(), table.high.copy()
            low[0] = high[0] = int(self.observations.value)
            tables, counted = (CellTable(table.grid, low, high),), (((0, 0),),)
        if not items:
            return Plan(tables=tables, counted=counted)
        traits = self._traits(schema)
        theta, told = known_parameters(items, likelihood.size, traits)
        signs = known_signs(items, theta)
        theta = self._fill(theta, told, likelihood, schema)
        forms = {item.form for item in items}
        null = Null(self._null(likelihood, schema)) if forms & COMPARING else None
        outcome, *given = (schema.index[name] for name in self._names)
        density, spread = self._density(theta, told, items, schema)
        block = Model(
            likelihood,
            tuple(items),
            traits,
            theta,
            signs,
            outcome,
            tuple(given),
            null,
            self._saturated(schema) if forms & {"deviance", "null_deviance"} else np.zeros(0),
            spread,
            density,
        )
        return Plan(tables=tables, counted=counted, smooth=(block,))

    def _groups(self, schema: Schema) -> Any:
        """Cells of the records that the model rests on: the first is theirs."""
        groups = {name: any_level(schema[name]) for name in self._names}
        return classify(schema, groups, self.condition)

    def _null(self, likelihood: Likelihood, schema: Schema) -> Likelihood:
        """Return the model without covariates."""
        design = Design.of((Column(()),) if self.intercept else (), schema)
        width = len(self._columns(schema))
        blocks = len([b for b in dict.fromkeys(likelihood.block) if b >= 0])
        return likelihood.only(design, width * blocks)

    def _saturated(self, schema: Schema) -> FloatArray:
        """Log-likelihood of a perfect fit, by level of the outcome."""
        return np.zeros(schema[self._formula.outcome].size)

    def _density(
        self,
        theta: FloatArray,
        told: np.typing.NDArray[np.bool_],
        items: list[Item],
        schema: Schema,
    ) -> tuple[FloatArray, float]:
        """Return what is added to log densities by level of the outcome, and the error's spread."""
        outcome = schema[self._formula.outcome]
        return np.where(np.arange(outcome.size) < outcome.valid, 0.0, -np.inf), 1.0

    def _fill(
        self,
        theta: FloatArray,
        told: np.typing.NDArray[np.bool_],
        likelihood: Likelihood,
        schema: Schema,
    ) -> FloatArray:
        """Put likely values where parameters are not published: here, an intercept."""
        if told[0] or not self.intercept:
            return theta
        found = theta.copy()
        found[0] = self._link(_mean_outcome(likelihood, schema, self._formula.outcome))
        means = column_moments(self._columns(schema), schema)[0]
        found[0] -= float(means[1:] @ theta[1 : len(means)])
        return found

    def _link(self, mean: float) -> float:
        """Return the predictor of a mean outcome."""
        return mean

    def recompute(self, frame: pd.DataFrame, counts: FloatArray, schema: Schema) -> FloatArray:
        """Refit with statsmodels."""
        if self.table is not None:
            return self._filled(schema)[0].recompute(frame, counts, schema)
        from evosynth.refit import design_matrix, estimable

        items = self._read(schema)[0]
        frame, counts = population(frame, counts, self._names, self.condition, schema)
        estimates = None
        if any(item.form != "observations" for item in items) and len(frame):
            x = design_matrix(self._formula, frame, schema, self.reference)
            x = x if self.intercept else x.drop(columns="Intercept")
            x = x[[":".join(sorted(c.name.split(":"))) for c in self._columns(schema)]]
            if estimable(x, counts):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a failed fit shows as figures missed
                    try:
                        estimates = self._estimate(x, frame, counts, schema)
                    except (np.linalg.LinAlgError, ValueError, FloatingPointError):
                        estimates = None
        return np.array([self._value(item, estimates, counts, schema) for item in items])

    def _value(
        self, item: Item, found: Estimates | None, counts: FloatArray, schema: Schema
    ) -> float:
        if item.form == "observations":
            return float(counts.sum())
        if found is None:
            return float("nan")
        traits = self._traits(schema)
        if item.parameter is None:
            return float(self._measure(item.form, found, float(counts.sum()), schema))
        value, error = (float(part[item.parameter]) for part in (found.values, found.errors))
        t = stats.t(found.df) if np.isfinite(found.df) else stats.norm()
        reach = float(t.isf(0.5 - traits.level / 200)) * error
        ends = {"low": value - reach, "high": value + reach}
        if item.form in ends:
            return float(np.exp(ends[item.form]) if traits.ratios else ends[item.form])
        if item.form == "beta":
            return float("nan") if found.betas is None else float(found.betas[item.parameter])
        return {
            "coefficient": value,
            "ratio": float(np.exp(value)),
            "se": error * float(np.exp(value)) if traits.ratio_errors else error,
            "statistic": value / error,
            "p": float(2 * t.sf(abs(value / error))),
        }[item.form]

    def _measure(self, form: str, found: Estimates, n: float, schema: Schema) -> float:
        """Figures of the whole model from the log-likelihoods that statsmodels reports."""
        given = dict(found.measures)
        if form in given:
            return given[form]
        size, null = self._sizes(schema)
        ll, ll0 = given["log_likelihood"], given.get("null_log_likelihood", np.nan)
        lr = 2 * (ll - ll0)
        derived = {
            "pseudo_r_squared": 1 - ll / ll0,
            "aic": 2 * size - 2 * ll,
            "bic": size * np.log(n) - 2 * ll,
            "lr_chi_square": lr,
            "lr_p_value": float(stats.chi2.sf(lr, size - null)),
        }
        return float(derived[form])


class TermFigures(Regression):
    """Figures by term of a model of one equation."""

    coefficients: dict[str, Printed] = Field(
        default_factory=dict, description="term: coefficient, such as Intercept, AGE, SEX[2]"
    )
    standard_errors: dict[str, Printed] = Field(
        default_factory=dict, description="term: standard error of the coefficient"
    )
    statistics: dict[str, Printed] = Field(
        default_factory=dict, description="term: z (t in linear models)"
    )
    p_values: dict[str, Text] = Field(
        default_factory=dict, description="term: p-value, as 0.034, <0.001, *** or ns"
    )
    confidence_intervals: dict[str, Ends] = Field(
        default_factory=dict,
        description="term: [lower, upper], of the ratios if those are given",
    )


ErrorsOf = Annotated[
    Literal["coefficients", "ratios"],
    Field(description="what standard_errors belong to; Stata prints those of ratios"),
]


class LikelihoodFigures(Regression):
    """Figures of a whole model that was fitted by maximum likelihood."""

    log_likelihood: Printed | None = Field(None, description="log-likelihood")
    null_log_likelihood: Printed | None = Field(None, description="of the model without terms")
    pseudo_r_squared: Printed | None = Field(None, description="McFadden's")
    aic: Printed | None = Field(None, description="2k - 2 log-likelihood")
    bic: Printed | None = Field(None, description="k ln n - 2 log-likelihood")
    lr_chi_square: Printed | None = Field(None, description="against the model without terms")
    lr_p_value: Text | None = Field(None, description="its p-value")

    measures: ClassVar[tuple[str, ...]] = (
        "log_likelihood",
        "null_log_likelihood",
        "pseudo_r_squared",
        "aic",
        "bic",
        "lr_chi_square",
        "lr_p_value",
    )


class DevianceFigures(LikelihoodFigures):
    """Figures of a generalised linear model."""

    deviance: Printed | None = Field(None, description="residual deviance of single records")
    null_deviance: Printed | None = Field(None, description="of the model without terms")

    measures: ClassVar[tuple[str, ...]] = (
        *LikelihoodFigures.measures,
        "deviance",
        "null_deviance",
    )


def outcome_values(variable: Variable) -> FloatArray:
    """Outcome of each level as a number; 0 where it is missing."""
    return np.nan_to_num(variable.quantities, nan=0.0)


def _mean_outcome(likelihood: Likelihood, schema: Schema, name: str) -> float:
    variable = schema[name]
    share = variable.proportions[: variable.valid]
    return float(share @ likelihood.y.values[: variable.valid] / share.sum())


def column_moments(found: tuple[Column, ...], schema: Schema) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of each column if variables were as assumed and independent."""
    mean, square = np.ones(len(found)), np.ones(len(found))
    for k, column in enumerate(found):
        for part in column.parts:
            variable = schema[part.factor.variable]
            share = variable.proportions[: variable.valid]
            share = share / share.sum()
            table = part.table(schema)[: variable.valid]
            mean[k] *= share @ table
            square[k] *= share @ table**2
    return mean, np.maximum(square - mean**2, 0.0)
