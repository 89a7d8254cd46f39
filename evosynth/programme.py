"""Whole counts under linear conditions, found by integer programming (HiGHS)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from evosynth.schema import FloatArray, IntArray

_NODES = 1000
"""Branches explored for one solution: a limit that does not depend on the machine."""
_SECONDS = 20.0
"""A safety net for programmes whose every branch takes long."""
_ELASTIC = 1e3
"""What missing a condition by one record costs beside a size one standard deviation off."""
_NEAR_BEST = 0.05


@dataclass(frozen=True)
class Rows:
    """Linear conditions: the sums ``matrix @ counts`` lie between two ends."""

    matrix: sparse.csr_matrix
    low: FloatArray
    high: FloatArray

    def and_(self, other: Rows) -> Rows:
        """Join the conditions of both."""
        return Rows(
            sparse.vstack([self.matrix, other.matrix], format="csr"),
            np.concatenate([self.low, other.low]),
            np.concatenate([self.high, other.high]),
        )

    def part(self, rows: IntArray, columns: IntArray, fixed: FloatArray) -> Rows:
        """Return some of them on some counts; all others are fixed."""
        matrix = self.matrix[rows]
        rest = fixed.copy()
        rest[columns] = 0.0
        known = matrix @ rest
        return Rows(matrix[:, columns], self.low[rows] - known, self.high[rows] - known)


@dataclass
class Collected:
    """Rows as they are written one after the other."""

    rows: list[IntArray] = field(default_factory=list)
    columns: list[IntArray] = field(default_factory=list)
    values: list[FloatArray] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def add(self, columns: IntArray, values: FloatArray, low: float, high: float) -> int:
        """Write a row; return its number."""
        self.rows.append(np.full(len(columns), len(self.low)))
        self.columns.append(columns)
        self.values.append(values)
        self.low.append(low)
        self.high.append(high)
        return len(self.low) - 1

    def joined(self, width: int) -> Rows:
        """Return all rows."""
        none = np.empty(0, np.int64)
        at = np.concatenate([none, *self.rows]), np.concatenate([none, *self.columns])
        values = np.concatenate([np.empty(0), *self.values])
        matrix = sparse.csr_matrix((values, at), shape=(len(self.low), width))
        return Rows(matrix, np.array(self.low), np.array(self.high))


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
        """Find counts, near the goals if possible, and whether there may be any."""
        return self._solve(pull, 1e9)

    def nearest(self, pull: Pull) -> FloatArray | None:
        """Find counts that break the conditions as little as possible."""
        size = self.rows.matrix.shape
        slack = sparse.identity(size[0], format="csr")
        rows = replace(self.rows, matrix=sparse.hstack([self.rows.matrix, slack, -slack]))
        low, high = np.zeros(2 * size[0]), np.full(2 * size[0], np.inf)
        elastic = Programme(
            np.append(self.low, low),
            np.append(self.high, high),
            np.append(self.whole, low.astype(np.int64)),
            rows,
        )
        found, _ = elastic._solve(pull, _NEAR_BEST, _ELASTIC * (high > 0))
        return None if found is None else found[: size[1]]

    def _solve(
        self, pull: Pull, gap: float, last: FloatArray | None = None
    ) -> tuple[FloatArray | None, bool]:
        """``last``: the costs of the last counts."""
        n, k = len(self.low), len(pull.columns)
        own = sparse.csr_matrix((np.ones(k), (np.arange(k), pull.columns)), shape=(k, n))
        beyond = sparse.identity(k, format="csr")
        matrix = sparse.bmat([[self.rows.matrix, None], [own, -beyond], [own, beyond]], "csr")
        endless = np.full(k, np.inf)
        cost = np.zeros(n + k)
        cost[n:] = pull.prices
        if last is not None:
            cost[n - len(last) : n] = last
        found = milp(
            cost,
            integrality=np.append(self.whole, np.zeros(k, np.int64)),
            bounds=Bounds(np.append(self.low, np.zeros(k)), np.append(self.high, endless)),
            constraints=LinearConstraint(
                matrix,
                np.concatenate([self.rows.low, -endless, pull.goals]),
                np.concatenate([self.rows.high, pull.goals, endless]),
            ),
            options={"node_limit": _NODES, "time_limit": _SECONDS, "mip_rel_gap": gap},
        )
        if found.x is None:
            return None, found.status != 2
        counts = np.asarray(found.x[:n], dtype=np.float64)
        return np.where(self.whole == 1, np.round(counts), counts), True
