"""Whole counts under linear conditions, found by integer programming (HiGHS)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from evosynth.schema import FloatArray, IntArray

_NODES = 1000
"""Branches explored for any solution: a limit that does not depend on the machine."""
_GOOD_NODES = 200
"""The same for a good one."""
_SECONDS = 20.0
"""A safety net for programmes whose every branch takes long."""
_MISSED = 1e3
"""What missing a condition by one record costs beside a size one standard deviation off."""
_ROUGH, _GOOD, _ANY = 0.5, 0.05, 1e6
"""How much dearer than the best a solution may be, as a share."""
_IMPOSSIBLE = 2
"""How the solver says that there are no such counts."""


@dataclass(frozen=True)
class Rows:
    """Linear conditions: the sums ``matrix @ counts`` lie between two ends."""

    matrix: sparse.csr_matrix
    low: FloatArray
    high: FloatArray

    @classmethod
    def none(cls, width: int) -> Rows:
        """No conditions on some counts."""
        return cls(sparse.csr_matrix((0, width)), np.empty(0), np.empty(0))

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """All conditions of several."""
        return cls(
            sparse.vstack([part.matrix for part in parts], format="csr"),
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
        )

    def on(self, columns: IntArray, fixed: FloatArray) -> Rows:
        """Return the conditions on some counts; all others are fixed."""
        rest = fixed.copy()
        rest[columns] = 0.0
        known = self.matrix @ rest
        return Rows(self.matrix[:, columns], self.low - known, self.high - known)

    def some(self, rows: IntArray) -> Rows:
        """Return some of the conditions."""
        return Rows(self.matrix[rows], self.low[rows], self.high[rows])


@dataclass(frozen=True)
class Pull:
    """Counts that should be near goals; the price of each record between."""

    columns: IntArray
    goals: FloatArray
    prices: FloatArray


@dataclass(frozen=True)
class Programme:
    """Counts within bounds and under conditions, some of them whole."""

    low: FloatArray
    high: FloatArray
    whole: IntArray
    rows: Rows

    def solve(self, pull: Pull) -> tuple[FloatArray | None, bool]:
        """Find any counts, and tell whether there may be some."""
        return self._solve(pull, Rows.none(len(self.low)), _NODES, _ROUGH)

    def anywhere(self, prices: FloatArray) -> FloatArray | None:
        """Find counts far out in some direction: where pulls lead nowhere, such may be easy."""
        return self._found(prices, self.rows, self.low, self.high, _NODES, _ANY)[0]

    def approach(self, pull: Pull, soft: Rows) -> FloatArray | None:
        """Find counts that miss further conditions by as little as possible."""
        return self._solve(pull, soft, _GOOD_NODES, _GOOD)[0]

    def nearest(self, pull: Pull) -> FloatArray | None:
        """Find counts that break the conditions by as little as possible."""
        return replace(self, rows=Rows.none(len(self.low))).approach(pull, self.rows)

    def _solve(
        self, pull: Pull, soft: Rows, nodes: int, gap: float
    ) -> tuple[FloatArray | None, bool]:
        """Minimize the price of missing soft conditions, then that of being far from the goals."""
        n, k, m = len(self.low), len(pull.columns), len(soft.low)
        own = sparse.csr_matrix((np.ones(k), (np.arange(k), pull.columns)), shape=(k, n))
        beyond, missed = sparse.identity(k), sparse.identity(m)
        rows = [
            [self.rows.matrix, None, None, None],
            [own, -beyond, None, None],
            [own, beyond, None, None],
            [soft.matrix, None, missed, -missed],
        ]
        low = np.concatenate([self.rows.low, np.full(k, -np.inf), pull.goals, soft.low])
        high = np.concatenate([self.rows.high, pull.goals, np.full(k, np.inf), soft.high])
        more = k + 2 * m
        return self._found(
            np.concatenate([np.zeros(n), pull.prices, np.full(2 * m, _MISSED)]),
            Rows(sparse.bmat(rows, "csr"), low, high),
            np.append(self.low, np.zeros(more)),
            np.append(self.high, np.full(more, np.inf)),
            nodes,
            gap,
        )

    def _found(
        self,
        prices: FloatArray,
        rows: Rows,
        low: FloatArray,
        high: FloatArray,
        nodes: int,
        gap: float,
    ) -> tuple[FloatArray | None, bool]:
        n = len(self.low)
        found = milp(
            prices,
            integrality=np.append(self.whole, np.zeros(len(prices) - n, np.int64)),
            bounds=Bounds(low, high),
            constraints=LinearConstraint(rows.matrix, rows.low, rows.high),
            options={"node_limit": nodes, "time_limit": _SECONDS, "mip_rel_gap": gap},
        )
        if found.x is None:
            return None, found.status != _IMPOSSIBLE
        counts = np.asarray(found.x[:n], dtype=np.float64)
        return np.where(self.whole == 1, np.round(counts), counts), True
