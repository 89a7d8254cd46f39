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

    def _rows(self, cells: NDArray[Any]) -> Rows:
        """One row per cell."""
        model = self.likelihood
        level, exposure = np.divmod(cells, self._shape[1])
        return Rows(
            np.ones((len(cells), model.design.width)),
            model.y.values[level],
            model.extra[level],
            np.zeros(len(cells)) if model.offset is None else model.offset.values[exposure],
            np.ones(len(cells)),
        )

    def _cells(self, codes: Codes) -> NDArray[Any]:
        model = self.likelihood
        outcome = codes[:, model.y.column].astype(np.int64)
        if model.offset is None:
            return outcome
        return outcome * self._shape[1] + codes[:, model.offset.column]

    def fit(self, codes: Codes, counts: FloatArray) -> FloatArray:
        """Estimate the parameters from a dataset."""
        cells, row = np.unique(self._cells(codes), return_inverse=True)
        held = np.bincount(row, counts, len(cells)).astype(np.float64)
        return self.likelihood.fit(self._rows(cells), held, self.likelihood.default).theta

    def values(self, codes: Codes, theta: FloatArray) -> FloatArray:
        """Log-likelihood of each record."""
        cells = self._cells(codes)
        total = self._shape[0] * self._shape[1]
        every = np.arange(total) if total <= len(cells) else cells
        found = self.likelihood.derivatives(self._rows(every), theta)[0]
        return found if total > len(cells) else np.asarray(found[cells])
