"""The fields in which a spec gives figures of a model."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from evosynth.estimated import Estimated
from evosynth.objective import Text
from evosynth.printed import Printed


def _two(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("expected the two ends of the interval, [lower, upper]")
    return value


Ends = Annotated[tuple[Printed, Printed], BeforeValidator(_two)]


class TermFigures(Estimated):
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


class LikelihoodFigures(Estimated):
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
