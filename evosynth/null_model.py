"""The model without covariates, with which some figures of a model compare it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosynth.likelihood import Likelihood, Rows
from evosynth.schema import Codes, FloatArray


@dataclass(frozen=True)
class Null:
    """The model without covariates: its records differ by outcome and exposure alone."""

    likelihood: Likelihood

    @cached_property
    def _shape(self) -> tuple[int, int]:
        offset = self.likelihood.offset
        return len(self.likelihood.y.values), 1 if offset is None else len(offset.values)

    @cached_property
    def _rows(self) -> Rows:
        """One row per cell."""
        model = self.likelihood
        outcomes, exposures = self._shape
        level = np.repeat(np.arange(outcomes), exposures)
        offset = np.zeros(exposures) if model.offset is None else model.offset.values
        cells = len(level)
        return Rows(
            np.ones((cells, model.design.width)),
            model.y.values[level],
            model.extra[level],
            np.tile(offset, outcomes),
            np.ones(cells),
        )

    def cells(self, codes: Codes) -> NDArray[Any]:
        """Cell of each record."""
        model = self.likelihood
        outcome = codes[:, model.y.column].astype(np.int64)
        if model.offset is None:
            return outcome
        return outcome * self._shape[1] + codes[:, model.offset.column]

    def values(self, codes: Codes, counts: FloatArray) -> FloatArray:
        """Log-likelihood in each cell at the estimate from a dataset."""
        model = self.likelihood
        held = np.bincount(self.cells(codes), counts, len(self._rows.y)).astype(np.float64)
        fit = model.fit(self._rows, held, model.default)
        return model.derivatives(self._rows, fit.theta)[0]
