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
_MISSED = 1e3
"""What missing a condition by one record costs beside a size one standard deviation off."""
ANY = 1e9
"""A gap that any counts close."""
_NEAR_BEST = 0.05
_IMPOSSIBLE = 2
"""How the solver says that there are no such counts."""


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

    def solve(
        self, pull: Pull, soft: Rows | None = None, gap: float = ANY
    ) -> tuple[FloatArray | None, bool]:
        """Find counts, and whether there may be any.

        Parameters
        ----------
        pull
            Where the counts should be.
        soft
            Further conditions, which may be missed at a price.
        gap
            How much dearer than the best the counts may be, as a share.
        """
        n, k = len(self.low), len(pull.columns)
        own = sparse.csr_matrix((np.ones(k), (np.arange(k), pull.columns)), shape=(k, n))
        beyond = sparse.identity(k, format="csr")
        soft = Rows(sparse.csr_matrix((0, n)), np.empty(0), np.empty(0)) if soft is None else soft
        m = len(soft.low)
        missed = sparse.identity(m, format="csr")
        endless = np.full(k, np.inf)
        found = milp(
            np.concatenate([np.zeros(n), pull.prices, np.full(2 * m, _MISSED)]),
            integrality=np.append(self.whole, np.zeros(k + 2 * m, np.int64)),
            bounds=Bounds(
                np.append(self.low, np.zeros(k + 2 * m)),
                np.append(self.high, np.full(k + 2 * m, np.inf)),
            ),
            constraints=LinearConstraint(
                sparse.bmat(
                    [
                        [self.rows.matrix, None, None, None],
                        [own, -beyond, None, None],
                        [own, beyond, None, None],
                        [soft.matrix, None, missed, -missed],
                    ],
                    "csr",
                ),
                np.concatenate([self.rows.low, -endless, pull.goals, soft.low]),
                np.concatenate([self.rows.high, pull.goals, endless, soft.high]),
            ),
            options={"node_limit": _NODES, "time_limit": _SECONDS, "mip_rel_gap": gap},
        )
        if found.x is None:
            return None, found.status != _IMPOSSIBLE
        counts = np.asarray(found.x[:n], dtype=np.float64)
        return np.where(self.whole == 1, np.round(counts), counts), True

    def nearest(self, pull: Pull) -> FloatArray | None:
        """Find counts that break the conditions as little as possible."""
        none = Rows(self.rows.matrix[:0], np.empty(0), np.empty(0))
        return replace(self, rows=none).solve(pull, self.rows, _NEAR_BEST)[0]
