"""Models of a two-valued outcome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from evosynth.counting import levels_within
from evosynth.design import Design
from evosynth.errors import many
from evosynth.likelihood import Kernel, Likelihood, Lookup
from evosynth.model_fields import DevianceFigures, TermFigures
from evosynth.schema import Schema, Variable


class Binary(TermFigures, DevianceFigures):
    """The event is the outcome's value 1 if its values are 0 and 1, else its second value."""

    single: ClassVar[bool] = True

    def _outcome_faults(self, outcome: Variable, levels: list[int]) -> Iterator[str]:
        if len(levels) != 2:
            yield f"the outcome {outcome.name!r} has {many(len(levels), 'value')}, not two"

    def _needed(self, outcome: Variable, levels: list[int]) -> list[list[int]]:
        return [[level] for level in levels]

    def _event(self, schema: Schema) -> int:
        outcome = schema[self._formula.outcome]
        levels = levels_within(outcome.name, self.condition, schema)
        texts = [outcome.texts[level] for level in levels]
        return levels[texts.index("1")] if set(texts) == {"0", "1"} else levels[1]

    def _script_outcomes(self, schema: Schema) -> list[int]:
        return [self._event(schema)]

    def _single(self, kernel: Kernel, schema: Schema) -> Likelihood:
        outcome = schema[self._formula.outcome]
        event = (np.arange(outcome.size) == self._event(schema)).astype(np.float64)
        return Likelihood.single(
            kernel,
            Design.of(self._columns(schema), schema),
            self._groups(schema),
            Lookup(schema.index[outcome.name], event),
            weight=self._survey_weight(schema),
        )
