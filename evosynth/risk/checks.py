"""Flags disclosures that need no synthetic data: one level, or one key, tells most of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evosynth.risk.coding import Column
from evosynth.risk.keys import Keys
from evosynth.risk.measures import Attribution

ONE_WAY = (50, 90.0)
"""More disclosive records of one level than this, and more per cent of all of them."""
TWO_WAY = (4, 80.0)
"""More disclosive records in a cell than this, and more per cent of the key's records."""


def one_way(columns: Mapping[str, Column], found: Attribution) -> list[dict[str, Any]]:
    """Target levels that make up nearly all records attributed correctly."""
    column, cells = columns[found.target], found.cells
    told = np.bincount(cells.level, cells.disclosive, column.size)
    every = np.bincount(column.codes[found.people], minlength=column.size)
    total = float(told.sum())
    return [
        {
            "target": found.target,
            "level": column.levels[t],
            "level_records": int(every[t]),
            "level_percent": 100 * float(every[t]) / float(every.sum()),
            "disclosive": int(total),
            "disclosive_of_level": int(told[t]),
            "percent_of_disclosive": 100 * float(told[t]) / total,
        }
        for t in np.flatnonzero((told > ONE_WAY[0]) & (told > ONE_WAY[1] / 100 * total)).tolist()
    ]


def two_way(columns: Mapping[str, Column], keys: Keys, found: Attribution) -> list[dict[str, Any]]:
    """Single keys that predict the target of large disclosive cells by themselves."""
    target, cells = columns[found.target], found.cells
    large = np.flatnonzero(cells.disclosive > TWO_WAY[0])
    if not len(large):
        return []
    level = cells.level[large]
    best = np.zeros(len(large))
    chosen = np.full(len(large), -1)
    totals = []
    for place, name in enumerate(keys.names):
        column = columns[name]
        pairs = column.codes[found.people].astype(np.int64) * target.size
        pairs += target.codes[found.people]
        table = np.bincount(pairs, minlength=column.size * target.size)
        table = table.reshape(column.size, target.size)
        mine = keys.levels[name][cells.key[large]]
        share = 100 * table[mine, level] / table[mine].sum(axis=1)
        totals.append((table, mine))
        better = share > best
        best[better], chosen[better] = share[better], place
    rows: dict[tuple[int, int, int], dict[str, Any]] = {}
    for i in np.flatnonzero(best > TWO_WAY[1]).tolist():
        table, mine = totals[chosen[i]]
        key = int(chosen[i]), int(mine[i]), int(level[i])
        row = rows.setdefault(
            key,
            {
                "target": found.target,
                "level": target.levels[key[2]],
                "key": keys.names[key[0]],
                "key_level": columns[keys.names[key[0]]].levels[key[1]],
                "cells": 0,
                "disclosive": 0,
                "key_and_level_records": int(table[key[1], key[2]]),
                "key_records": int(table[key[1]].sum()),
                "percent_of_key": float(best[i]),
            },
        )
        row["cells"] += 1
        row["disclosive"] += int(cells.disclosive[large[i]])
    return sorted(rows.values(), key=lambda row: -row["disclosive"])
