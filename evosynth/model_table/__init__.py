"""Published models as programs and papers print them: read into the keys of a spec."""

from __future__ import annotations

from evosynth.model_table.fill import fill

__all__ = ["fill"]
