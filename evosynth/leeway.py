"""What smooth figures ask of counts: some of them hardly move unless counts do.

With the mean age and the effect of age on smoking published, for instance, the number of smokers
is all but given. Combinations of figures that records can hardly move while tables stay as they
are must be right as soon as sizes are chosen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from evosynth.problem import CellArray, Problem
from evosynth.programme import Rows
from evosynth.schema import Codes, FloatArray
from evosynth.space import ROOM

_STIFF = 5.0
"""Standard deviation, in half-widths, below which a combination of figures counts as stiff."""
_REACH = 1.0
"""Standard deviations that the search is trusted to bring it."""
_MOST_CELLS = 1500


@dataclass(frozen=True)
class Leeway:
    """Combinations of figures as linear functions of counts, and how far they may be off."""

    matrix: sparse.csr_matrix
    """Change of each combination with each count."""
    offset: FloatArray
    room: FloatArray

    @classmethod
    def of(
        cls, problem: Problem, codes: Codes, cells: CellArray, weights: FloatArray
    ) -> Leeway | None:
        """Find them at a distribution of records; ``None`` if there are none."""
        blocks = [block for block in problem.smooth if block.counted is None]
        if not problem.shares or not blocks:
            return None
        tables = {problem.table(int(c)) for s in problem.shares for c in (s.of, *s.cells)}
        used = sorted(tables)
        if sum(problem.grids[table].size for table in used) > _MOST_CELLS:
            return None
        parts = [block.expand(codes, weights) for block in blocks]
        influence = np.hstack([part.influence(codes) for part in parts])
        residual = np.concatenate([part.offset for part in parts]) + weights @ influence
        at = np.repeat(np.arange(len(codes)), len(used)), cells[:, used].ravel()
        inside = sparse.csr_matrix((np.ones(len(at[0])), at), (len(codes), len(problem.low)))
        weighted = inside.multiply(weights[:, None]).tocsr()
        there = np.flatnonzero(np.asarray(weighted.sum(axis=0)).ravel() > 0)
        inside, weighted = inside[:, there], weighted[:, there]
        slope = np.linalg.lstsq(
            (weighted.T @ inside).toarray(), weighted.T @ influence, rcond=1e-10
        )[0]
        rest = influence - inside @ slope
        spread, ways = np.linalg.eigh((rest * weights[:, None]).T @ rest)
        spread = np.sqrt(np.maximum(spread, 0.0))
        moved = (slope**2).sum(axis=0) > 0
        stiff = (spread < _STIFF) & (np.abs(ways[moved]).max(axis=0, initial=0.0) > 1e-6)
        ways, spread = ways[:, stiff], spread[stiff]
        matrix = sparse.lil_matrix((len(spread), len(problem.low)))
        matrix[:, there] = ways.T @ slope.T
        counts = np.zeros(len(problem.low))
        counts[there] = np.asarray(weighted.sum(axis=0)).ravel()
        offset = residual @ ways - matrix @ counts
        room = ROOM * np.abs(ways).sum(axis=0) + _REACH * spread
        return cls(matrix.tocsr(), offset, room) if len(spread) else None

    @property
    def sums(self) -> sparse.csr_matrix:
        """The counts that matter."""
        return self.matrix

    def off(self, counts: FloatArray, room: float = 1.0) -> float:
        """How far combinations are off beyond their room, in half-widths."""
        found = np.abs(self.matrix @ counts + self.offset)
        return float(np.maximum(found - self.room, 0.0).sum())

    def rows(self, counts: FloatArray, shift: float) -> Rows:
        """Conditions under which none is."""
        room = 0.95 * self.room
        return Rows(self.matrix, -room - self.offset, room - self.offset)
