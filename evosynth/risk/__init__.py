"""Disclosure risk and utility of synthetic data, beside the original and people outside it.

The package can be called: ``evosynth.risk(synthetic, original, keys=[…], target="…")`` is
`evosynth.risk.assess`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evosynth.risk.assessment import Assessment, assess

__all__ = ["Assessment", "assess"]


class _Callable(ModuleType):
    """A package that does what its name says."""

    def __call__(self, *arguments: Any, **settings: Any) -> Assessment:
        """Measure what synthetic data disclose; see `evosynth.risk.assess`."""
        from evosynth.risk.assessment import assess

        return assess(*arguments, **settings)

    def __getattr__(self, name: str) -> Any:
        """Import on first use, so that help of the command answers at once."""
        if name in __all__:
            from evosynth.risk import assessment as home

            found = getattr(home, name)
            setattr(self, name, found)
            return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


sys.modules[__name__].__class__ = _Callable
