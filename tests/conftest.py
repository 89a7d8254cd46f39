from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str | bytes], Path]:
    """Write a spec into an empty working folder, so that messages begin with ``spec.yaml``."""
    monkeypatch.chdir(tmp_path)

    def write(text: str | bytes) -> Path:
        path = Path("spec.yaml")
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write
