"""Models estimated by maximum likelihood or least squares, in the terms of the search."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, Field
from scipy import stats

from evosynth.classes import all_levels, classify
from evosynth.design import Column, Design, column_moments
from evosynth.errors import Fault, Path
from evosynth.fitted import Model
from evosynth.likelihood import Likelihood, Lookup
from evosynth.measures import COMPARING
from evosynth.model import FORMS, Parameter, Regression
from evosynth.model_clashes import clashes
from evosynth.model_items import Item, Robust, Traits, known_parameters, known_signs
from evosynth.null_model import Null
from evosynth.objective import CellTable, Plan
from evosynth.printed import Published
from evosynth.refit import Estimates
from evosynth.schema import FloatArray, Schema, Variable
from evosynth.significance import Stars, read_p

_WEIGHTED = frozenset({"r_squared", "adjusted_r_squared"})
"""Measures of a whole model that have a weighted form."""
_RATIOS = ("odds_ratios", "rate_ratios", "relative_risk_ratios")


def _per_cent(value: float) -> float:
    return 100 * value if value < 1 else value


Level = Annotated[float, Field(gt=0, lt=100), AfterValidator(_per_cent)]


class Estimated(Regression):
    """A model with standard errors and what follows from them."""

    level: Level = Field(95.0, description="of confidence intervals, per cent")
    stars: Stars = Field((0.05, 0.01, 0.001), description="levels of one, two … stars")
    robust: Literal["HC0", "HC1", "stata"] | None = Field(
        None, description="sandwich standard errors; HC1 × n/(n - k), stata × n/(n - 1)"
    )

    single: ClassVar[bool] = False
    """Whether the deviance is -2 × log-likelihood."""
    most: ClassVar[float | None] = None
    """Largest information of a record, if there is one."""
    averaged: ClassVar[bool] = False
    """Whether that holds on average alone."""
    fitted_shares: ClassVar[bool] = False
    """Whether fitted probabilities of each category sum to its events."""
    weightless: ClassVar[bool] = True
    """Whether all records weigh the same."""

    @abstractmethod
    def _likelihood(self, schema: Schema) -> Likelihood:
        """Return the model in the terms of the search."""

    def _clashes(self, items: list[Item], schema: Schema) -> Iterator[Fault]:
        traits, n = self._traits(schema), self._n(schema)
        yield from clashes(items, traits, self._sizes(schema), n, self.single)

    def _items(
        self, key: str, k: int, value: Any, parameter: Parameter, path: Path
    ) -> Iterator[Item]:
        label = parameter.label
        form = FORMS[key]
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
        published = self._published(key, value)
        if form in {"ratio", "se"} and published.interval[1] <= 0:
            raise ValueError(f"{published} is not above 0")
        yield Item(form, k, published, names[form], path)

    def _published(self, key: str, value: Any) -> Published:
        if key.endswith(("p_value", "p_values")):
            return read_p(value, self.stars)
        return super()._published(key, value)

    @property
    def _robust(self) -> Robust | None:
        """Return the kind of standard errors; those of weighted records are a survey's."""
        return "survey" if self.weighted and self.robust is None else self.robust

    def _survey_weight(self, schema: Schema) -> Lookup | None:
        """Weight of each record, if the output is weighted."""
        if not self.weighted or schema.weight is None:
            return None
        return Lookup(schema.index[schema.weight], schema[schema.weight].quantities)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Find measures that have no weighted form, too."""
        for key in self.measures if self.weighted else ():
            if getattr(self, key) is not None and key not in _WEIGHTED:
                message = "this measure has no agreed weighted form; leave it out"
                yield Fault((key,), message)
        yield from super().faults(schema)

    def _traits(self, schema: Schema) -> Traits:
        ratios = any(getattr(self, key, None) for key in _RATIOS)
        return Traits(
            linear=self.linear,
            robust=self._robust,
            survey=bool(self.weighted),
            level=self.level,
            ratios=ratios,
            ratio_errors=getattr(self, "standard_errors_of", "coefficients") == "ratios",
        )

    def _script_traits(self, schema: Schema) -> dict[str, Any]:
        traits = self._traits(schema)
        return {
            **super()._script_traits(schema),
            "null": self._sizes(schema)[1],
            "robust": traits.robust,
            "level": traits.level,
            "ratios": traits.ratios,
            "ratio_errors": traits.ratio_errors,
            "weight": schema.weight if self.weighted else None,
        }

    def _sizes(self, schema: Schema) -> tuple[int, int]:
        """Return the number of parameters, with and without covariates."""
        return len(self._parameters(schema)), 1

    def _lower(self, items: list[Item], schema: Schema) -> Plan:
        likelihood = self._likelihood(schema)
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
        return Plan(self._null_cells(null, schema), smooth=(block,))

    def _null_cells(self, null: Null | None, schema: Schema) -> tuple[CellTable, ...]:
        """Return the table of an outcome that is a category, as a null model tells."""
        outcome = schema[self._formula.outcome]
        if null is None or not outcome.categorical or self.condition is not None:
            return ()
        classes = classify(schema, {outcome.name: all_levels(outcome)})
        return (CellTable.free(classes.grid, schema.records),)

    def _information(self, schema: Schema, variance: float) -> float | None:
        """Bound the information of a record, if the residual variance is at least so much."""
        return self.most

    def _column_of(self, parameter: int, schema: Schema) -> Column | None:
        """Column that a parameter is the coefficient of."""
        found = self._columns(schema)
        return found[parameter] if parameter < len(found) else None

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

    def _figure(self, item: Item, found: Estimates, counts: FloatArray, schema: Schema) -> float:
        traits = self._traits(schema)
        if item.parameter is None:
            return float(self._measure(item.form, found, float(counts.sum()), schema))
        value, error = (float(part[item.parameter]) for part in (found.values, found.errors))
        t = _distribution(found)
        reach = self._reach(found, schema)[0] * error
        ends = {"low": value - reach, "high": value + reach}
        if item.form in ends:
            return float(np.exp(ends[item.form]) if traits.ratios else ends[item.form])
        if item.form == "beta":
            return float("nan") if found.betas is None else float(found.betas[item.parameter])
        if item.form == "ratio":
            return float(np.exp(value))
        return {
            "coefficient": value,
            "se": error * float(np.exp(value)) if traits.ratio_errors else error,
            "statistic": value / error,
            "p": float(2 * t.sf(abs(value / error))),
        }[item.form]

    def _reach(self, found: Estimates, schema: Schema) -> tuple[float, bool]:
        traits = self._traits(schema)
        return float(_distribution(found).isf(0.5 - traits.level / 200)), traits.ratios

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


def _distribution(found: Estimates) -> Any:
    """Return what a coefficient over its standard error is compared with."""
    return stats.t(found.df) if np.isfinite(found.df) else stats.norm()


def outcome_values(variable: Variable) -> FloatArray:
    """Outcome of each level as a number; 0 where it is missing."""
    return np.nan_to_num(variable.quantities, nan=0.0)


def _mean_outcome(likelihood: Likelihood, schema: Schema, name: str) -> float:
    variable = schema[name]
    share = variable.proportions[: variable.valid]
    return float(share @ likelihood.y.values[: variable.valid] / share.sum())
