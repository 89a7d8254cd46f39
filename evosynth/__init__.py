"""Teaching data made from published results alone: microdata that reprint published figures."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from evosynth import risk
    from evosynth.copies import make_copies
    from evosynth.errors import (
        DataError,
        EvosynthError,
        FolderError,
        RiskError,
        SpecError,
        WeightsError,
    )
    from evosynth.proof import read_data, verify
    from evosynth.risk.assessment import Assessment
    from evosynth.spec import Spec, load
    from evosynth.synthesis import Progress, Result, synthesize
    from evosynth.weights.calibrate import calibrate
    from evosynth.weights.diagnostics import Calibration

_HOME = {
    "DataError": "errors",
    "EvosynthError": "errors",
    "FolderError": "errors",
    "RiskError": "errors",
    "SpecError": "errors",
    "WeightsError": "errors",
    "Assessment": "risk.assessment",
    "Calibration": "weights.diagnostics",
    "calibrate": "weights.calibrate",
    "make_copies": "copies",
    "Spec": "spec",
    "load": "spec",
    "Progress": "synthesis",
    "Result": "synthesis",
    "synthesize": "synthesis",
    "read_data": "proof",
    "verify": "proof",
}

__all__ = [
    "Assessment",
    "Calibration",
    "DataError",
    "EvosynthError",
    "FolderError",
    "Progress",
    "Result",
    "RiskError",
    "Spec",
    "SpecError",
    "WeightsError",
    "calibrate",
    "load",
    "make_copies",
    "read_data",
    "risk",
    "synthesize",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import on first use, so that ``evosynth --help`` answers at once."""
    if name in _HOME:
        return getattr(importlib.import_module(f"evosynth.{_HOME[name]}"), name)
    if name == "risk":
        return importlib.import_module("evosynth.risk")
    raise AttributeError(f"module 'evosynth' has no attribute {name!r}")
