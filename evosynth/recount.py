"""Other counts of all record types near those of a dataset, where types are few.

Moves on disjoint types are hardly any there. Counts that leave the cells of tables alone are a
lattice, whose vectors change the figures by known amounts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosynth.approach import INSIDE
from evosynth.bands import Bands
from evosynth.closest import centre
from evosynth.counts_lattice import MOST_SWAPS, Lattice
from evosynth.kernels.lattice import near_planes, reduce_basis
from evosynth.record_types import Types
from evosynth.schema import FloatArray
from evosynth.space import Payload, Space

_MOST_TYPES = 250
_SCALE = 2.0
"""What a half-width counts beside the usual change of a count."""
_SPREADS = 0.5, 1.0, 2.0, 4.0, 8.0
"""Half-widths that points may lie from where figures should be."""
_NOISE, _JITTER, _COARSE = 0.2, 0.5, 3.0
"""On the target, in usual changes; on what is rounded; and distance of planes from which it is."""
_LEAST_ROOM = 0.15
_TRIES, _MEASURED = 200, 12


def countable(space: Space) -> bool:
    """Whether record types are so few that their counts are a lattice that can be reduced."""
    return isinstance(space, Types) and len(space.codes) <= _MOST_TYPES


@dataclass(frozen=True)
class Recount:
    """Changes of counts that leave tables alone but for what `Bands` let change."""

    space: Types
    bands: Bands
    basis: FloatArray

    @classmethod
    def of(cls, space: Space, bands: Bands) -> Recount | None:
        """Find them; ``None`` where types are many."""
        if not isinstance(space, Types) or not countable(space):
            return None
        problem = space.problem
        held = np.zeros((len(space.codes), len(problem.low)))
        held[np.arange(len(held))[:, None], space.cells] = 1.0
        tied = np.ones(len(problem.low), dtype=np.bool_)
        tied[bands.cells] = False
        never = (problem.high[space.cells] == 0).any(axis=1)
        ties = np.hstack([np.ones((len(held), 1)), held[:, tied], np.eye(len(held))[:, never]])
        lattice = Lattice.of(ties, np.zeros(ties.shape[1]))
        return None if lattice is None else cls(space, bands, lattice.basis)

    def near(self, payload: Payload, rng: np.random.Generator) -> list[Payload]:
        """Find counts whose figures should be near their digits, the nearest first."""
        space = self.space
        codes, counts = space.rows(payload)
        influence = space.problem.expand(codes, counts.astype(np.float64)).influence(space.codes)
        influence = np.hstack([influence, self.bands.inside(space.cells)])
        residual = self.bands.measure(codes, counts)
        if not (np.isfinite(influence).all() and np.isfinite(residual).all()):
            return []
        effects = self.basis @ influence
        aim = centre(effects, residual)
        room = np.maximum(1 - np.abs(aim), _LEAST_ROOM)
        usual = np.sqrt(payload + 0.25)
        basis = np.hstack([self.basis / usual, _SCALE * effects / room])
        basis = np.ascontiguousarray(basis[np.argsort((basis**2).sum(axis=1), kind="stable")])
        star, norm = reduce_basis(basis, MOST_SWAPS)
        away = rng.normal(size=(_TRIES, len(basis))) @ effects
        away *= (rng.choice(_SPREADS, _TRIES) / np.abs(away).max(axis=1).clip(min=1e-300))[:, None]
        away[0], away[_TRIES // 2 :] = 0.0, 0.0
        jitter = rng.normal(0.0, _JITTER, (_TRIES, len(basis))) * (np.sqrt(norm) > _COARSE)
        jitter[: _TRIES // 2] = 0.0
        noise = rng.normal(0.0, _NOISE, (_TRIES, len(usual)))
        targets = np.hstack([noise, -_SCALE * (residual - aim + away) / room])
        near = near_planes(basis, star, norm, targets, jitter)[:, : len(usual)]
        change = np.unique(np.rint(near * usual), axis=0)
        change = change[(payload + change >= 0).all(axis=1)]
        cost = np.maximum(np.abs(residual + change @ influence) - INSIDE, 0.0)
        order = np.argsort(np.sqrt(cost).sum(axis=1), kind="stable")[:_MEASURED]
        return [(payload + change[one]).astype(payload.dtype) for one in order]
