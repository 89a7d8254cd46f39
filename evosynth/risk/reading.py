"""Data files in any of our formats, read as they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from evosynth.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def frame_of(data: pd.DataFrame | str | os.PathLike[str]) -> pd.DataFrame:
    """Return a frame as it is, or read a file by its ending."""
    import pandas as pd

    if isinstance(data, pd.DataFrame):
        return data
    if not isinstance(data, str | os.PathLike):
        raise DataError(f"expected a data frame or the name of a file, not {type(data).__name__}")
    from evosynth.weights.files import read

    file = Path(data)
    try:
        return read(file).frame
    except (OSError, EOFError, LookupError, RuntimeError, ArithmeticError) as error:
        raise DataError(f"{file}: cannot be read: {error}") from error
    except Exception as error:
        # Readers of other packages have errors of their own, which share no base.
        if type(error).__module__.partition(".")[0] in {"pyreadstat", "pyarrow", "zipfile"}:
            raise DataError(f"{file}: cannot be read: {error}") from error
        raise
