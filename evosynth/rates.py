"""Models of counts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from evosynth.design import Design
from evosynth.errors import Fault
from evosynth.estimated import outcome_values
from evosynth.likelihood import Kernel, Likelihood, Lookup
from evosynth.model_fields import ErrorsOf, TermFigures
from evosynth.objective import Mention
from evosynth.printed import Printed
from evosynth.schema import Schema, Variable


class Rates(TermFigures):
    """Counts, perhaps per exposure."""

    exposure: str | None = Field(None, description="variable that counts are in proportion to")
    rate_ratios: dict[str, Printed] = Field(
        default_factory=dict, description="term: exponentiated coefficient"
    )
    standard_errors_of: ErrorsOf = "coefficients"

    @property
    def _others(self) -> tuple[str, ...]:
        return () if self.exposure is None else (self.exposure,)

    def mentions(self) -> Iterator[Mention]:
        """Name the exposure as well."""
        yield from super().mentions()
        if self.exposure is not None:
            yield Mention(("exposure",), self.exposure)

    def faults(self, schema: Schema) -> Iterator[Fault]:
        """Find an exposure that is none, too."""
        if self.exposure is not None:
            variable = schema[self.exposure]
            if variable.values.dtype == object or float(np.nanmin(variable.quantities)) <= 0:
                message = f"{self.exposure!r} must hold quantities above 0"
                yield Fault(("exposure",), message)
                return
        yield from super().faults(schema)

    def _outcome_faults(self, outcome: Variable, levels: list[int]) -> Iterator[str]:
        if outcome.values.dtype == object:
            yield f"the outcome {outcome.name!r} holds categories that are not numbers"
            return
        values = outcome.quantities[levels]
        if not len(values) or (values < 0).any() or (values != np.rint(values)).any():
            yield f"the outcome {outcome.name!r} must hold counts: 0, 1, 2 …"

    def _needed(self, outcome: Variable, levels: list[int]) -> list[list[int]]:
        return [[level for level in levels if outcome.quantities[level] > 0]]

    def _link(self, mean: float) -> float:
        return float(np.log(max(mean, 0.01)))

    def _single(self, kernel: Kernel, schema: Schema) -> Likelihood:
        outcome = schema[self._formula.outcome]
        offset = None
        if self.exposure is not None:
            values = np.nan_to_num(schema[self.exposure].quantities, nan=1.0)
            offset = Lookup(schema.index[self.exposure], np.log(values))
        return Likelihood.single(
            kernel,
            Design.of(self._columns(schema), schema),
            self._groups(schema),
            Lookup(schema.index[outcome.name], outcome_values(outcome)),
            offset,
        )
