"""CSV, and Parquet with the labels in the metadata of its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from evosynth.formats.dataset import Dataset
from evosynth.formats.limits import Fit, plain
from evosynth.notice import NOTICE
from evosynth.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


def fit(schema: Schema) -> Fit:
    """Leave everything as it is."""
    return plain(schema)


def write(dataset: Dataset, path: Path, name: str) -> None:
    """Write one file."""
    table = labelled(dataset)
    with path.open("wb") as file:  # Arrow takes no path that is not UTF-8
        if name == "csv":
            pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(quoting_style="needed"))
        else:
            pyarrow.parquet.write_table(table, file)


def as_text(column: pd.Series[Any]) -> pd.Series[Any]:
    """Values of a column as a CSV file has them, blanks as empty texts."""
    values = pa.Array.from_pandas(column)
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.date32())
    texts: pd.Series[Any] = values.cast(pa.string()).fill_null("").to_pandas()
    return texts


def labelled(dataset: Dataset) -> pa.Table:
    """Return an Arrow table whose metadata hold the labels and the notice."""
    table = pa.Table.from_pandas(dataset.data, preserve_index=False)
    fields = []
    for field, variable in zip(table.schema, dataset.schema.shown, strict=True):
        about = {"label": variable.label}
        if variable.date:
            field = field.with_type(pa.date32())
        labels = dict(variable.labelled)
        if labels:
            about["value_labels"] = json.dumps(labels, ensure_ascii=False)
        if variable.missing > variable.blank:
            codes = list(variable.texts[variable.valid :])
            about["missing_values"] = json.dumps(codes, ensure_ascii=False)
        fields.append(field.with_metadata(about))
    about = {
        "title": dataset.title,
        "source": dataset.source,
        "notice": NOTICE,
        "statement": "\n".join(dataset.notes),
    }
    return table.cast(pa.schema(fields, metadata={**(table.schema.metadata or {}), **about}))
