"""What a data file is made from: the records, what they are, and what they are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evosynth.notice import LABEL, statement
from evosynth.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

    from evosynth.spec import Spec


@dataclass(frozen=True)
class Dataset:
    """Records with their labels and the statement that goes with them."""

    data: pd.DataFrame
    schema: Schema
    title: str
    source: str
    statement: tuple[str, ...]
    """Sentences that say that the data are synthetic, and what they are for."""
    remark: str = ""
    """What sets this file apart from others of the same spec, if anything does."""

    @classmethod
    def of(cls, data: pd.DataFrame, spec: Spec, remark: str = "") -> Dataset:
        """Describe records made from a spec."""
        return cls(data, spec.schema, spec.title, spec.source, tuple(statement(spec)), remark)

    @property
    def label(self) -> str:
        """A short label that says first of all what the data are not."""
        title = f": {self.title}" if self.title else ""
        return f"{LABEL}{title}"

    @property
    def notes(self) -> list[str]:
        """Everything to be told inside a file."""
        found = [*self.statement, self.remark]
        found += [f"Source of the published figures: {self.source}" if self.source else ""]
        return [text for text in found if text]
