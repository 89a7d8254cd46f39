"""What outputs are called that have no title: what kind they are, and of which variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from evosynth.formula import parse
from evosynth.objective import Output
from evosynth.report.words import kind
from evosynth.schema import Schema

_MOST = 3
"""Variables that a title names."""
_LONGEST = 60


def titles(outputs: Sequence[Output], schemas: Sequence[Schema]) -> tuple[str, ...]:
    """Name each output by its title, or by what it is; no two of the latter alike."""
    named = [o.title or _worded(o, s) for o, s in zip(outputs, schemas, strict=True)]
    often = Counter(named)
    return tuple(
        name if output.title or often[name] == 1 else f"{name} (outputs[{position}])"
        for position, (output, name) in enumerate(zip(outputs, named, strict=True))
    )


def _worded(output: Output, schema: Schema) -> str:
    formula = getattr(output, "formula", None)
    if isinstance(formula, str):
        first, second = [parse(formula).outcome], []
    else:
        first = _names(output, "of", "rows")
        second = _names(output, "by", "each", "columns")
    about = " by ".join(filter(None, (_listed(names, schema) for names in (first, second))))
    return f"{kind(output.kind)}: {about}" if about else kind(output.kind)


def _names(output: Output, *keys: str) -> list[str]:
    """Variables that stand under one of some keys."""
    found: Any = next(filter(None, (getattr(output, key, None) for key in keys)), ())
    return [found] if isinstance(found, str) else [name for name in found if isinstance(name, str)]


def _listed(names: Sequence[str], schema: Schema) -> str:
    """Join the labels of variables."""
    labels = [(schema[n].label or n) if n in schema.index else n for n in names]
    texts = [t if len(t) <= _LONGEST else f"{t[:_LONGEST].rstrip()}…" for t in labels]
    if len(texts) > _MOST:
        texts[_MOST - 1 :] = [f"{len(texts) - _MOST + 1} more"]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))
