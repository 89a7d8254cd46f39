"""What does not count as a disclosure: levels that everybody knows, missing values, large cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosynth.errors import RiskError, shown, suggest
from evosynth.risk.coding import Column
from evosynth.risk.keys import Keys

WORDS = ("missing-targets", "missing-keys")


@dataclass(frozen=True)
class Exclusions:
    """Cells of keys by target that attribution measures leave out."""

    levels: tuple[tuple[str, str], ...] = ()
    """Target and level."""
    pairs: tuple[tuple[str, str, str, str], ...] = ()
    """Key, level, target, level."""
    missing_targets: bool = False
    missing_keys: bool = False
    largest: int = 0
    """Largest number of records of a cell that counts; 0 for no limit."""

    def flags(
        self,
        columns: Mapping[str, Column],
        keys: Keys,
        target: Column,
        key_of: NDArray[np.int64],
        level: NDArray[np.int32],
    ) -> NDArray[np.bool_]:
        """Tell which cells are left out; ``key_of`` and ``level`` place each cell."""
        out = np.zeros(len(level), dtype=np.bool_)
        for name, value in self.levels:
            if name == target.name and value in target.levels:
                out |= level == target.levels.index(value)
        if self.missing_targets and target.missing >= 0:
            out |= level == target.missing
        if self.missing_keys:
            for name in keys.names:
                if columns[name].missing >= 0:
                    out |= (keys.levels[name] == columns[name].missing)[key_of]
        for key, value, name, other in self.pairs:
            if name != target.name or key not in keys.names or other not in target.levels:
                continue
            if value in columns[key].levels:
                mine = (keys.levels[key] == columns[key].levels.index(value))[key_of]
                out |= mine & (level == target.levels.index(other))
        return out


def read(texts: Sequence[str], columns: Mapping[str, Column], largest: int = 0) -> Exclusions:
    """Read ``TARGET=level``, ``KEY=level&TARGET=level``, ``missing-targets``, ``missing-keys``."""
    levels, pairs, problems = [], [], []
    for text in texts:
        if text in WORDS:
            continue
        parts = [part.partition("=") for part in _halves(text, columns)]
        for name, equal, value in parts:
            if not equal:
                told = "write TARGET=level, KEY=level&TARGET=level, missing-targets or missing-keys"
                problems.append(f"exclude: {shown(text)!r} is not understood; {told}")
            elif name not in columns:
                problems.append(f"exclude: {shown(name)!r} is neither a key nor a target")
            elif columns[name].find(value) is None:
                hint = suggest(value, [*columns[name].labels, *columns[name].levels])
                problems.append(f"exclude: {name!r} has no level {shown(value)!r}{hint}")
        found = [(n, columns[n].find(v) or "" if n in columns else "") for n, _, v in parts]
        if len(found) == 1:
            levels.append(found[0])
        else:
            pairs.append((*found[0], *found[1]))
    if largest < 0:
        problems.append("largest: must be 1 or more, or 0 for no limit")
    if problems:
        raise RiskError("\n".join(problems))
    missing = [word in texts for word in WORDS]
    return Exclusions(tuple(levels), tuple(pairs), missing[0], missing[1], largest)


def _halves(text: str, columns: Mapping[str, Column]) -> list[str]:
    """Split at an ampersand that a variable follows; levels may hold others."""
    for place, letter in enumerate(text):
        if letter == "&" and text[place + 1 :].partition("=")[0] in columns and "=" in text[place:]:
            return [text[:place], text[place + 1 :]]
    return [text]
