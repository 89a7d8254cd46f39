"""The layout of Stata's files (format 118, Stata 14 and later), written in one pass.

Source: Stata's manual, ``help dta_118``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

MISSING = ("", *"abcdefghijklmnopqrstuvwxyz")
"""Missing values: ``.``, then ``.a`` to ``.z``."""

_WHOLE = {
    "b": (65530, "i1", -127, 100),
    "h": (65529, "<i2", -32_767, 32_740),
    "l": (65528, "<i4", -2_147_483_647, 2_147_483_620),
}
"""Types of whole numbers: code, layout, smallest and largest; missing values lie above."""
_DOUBLE, _FIRST_MISSING, _NEXT_MISSING = 65526, 0x7FE0000000000000, 1 << 40
_NAME, _FORMAT, _LABEL = 129, 57, 321
_SECTIONS = (
    "variable_types",
    "varnames",
    "sortlist",
    "formats",
    "value_label_names",
    "variable_labels",
    "characteristics",
)


@dataclass(frozen=True)
class Column:
    """One variable of a file."""

    name: str
    label: str
    width: int = 0
    """Bytes of a text; 0 for a number."""
    ends: tuple[float, float] = (-np.inf, np.inf)
    """Smallest and largest value, if all are whole numbers."""
    shown: str = ""
    """How Stata shows it, such as ``%9.2f``."""
    labels: Mapping[int | str, str] = field(default_factory=dict)
    """Of whole numbers, and of missing values by their letter."""
    notes: Sequence[str] = ()

    @property
    def kind(self) -> str:
        """Letter of the type; empty for a double."""
        for kind, (_, _, low, high) in _WHOLE.items():
            if low <= self.ends[0] and self.ends[1] <= high:
                return kind
        return ""

    @property
    def code(self) -> int:
        """How a file names the type."""
        return self.width or (_WHOLE[self.kind][0] if self.kind else _DOUBLE)

    @property
    def layout(self) -> str:
        """How numpy names it."""
        return f"S{self.width}" if self.width else _WHOLE[self.kind][1] if self.kind else "<f8"

    def missing(self, letter: str) -> float | int:
        """Return what stands in the file for a missing value."""
        place = MISSING.index(letter)
        if self.kind:
            return _WHOLE[self.kind][3] + 1 + place
        found: float = struct.unpack(
            "<d", struct.pack("<Q", _FIRST_MISSING + place * _NEXT_MISSING)
        )[0]
        return found


def write(
    file: BinaryIO,
    columns: Sequence[Column],
    chunks: Iterable[Sequence[NDArray[np.generic]]],
    records: int,
    label: str,
    notes: Sequence[str],
) -> None:
    """Write a file; ``chunks`` hold the columns of some records each, missing values put in."""
    offsets = [0] * 14

    def mark(place: int) -> None:
        offsets[place] = file.tell()

    title = label.encode()
    file.write(b"<stata_dta><header><release>118</release><byteorder>LSF</byteorder>")
    file.write(b"<K>" + struct.pack("<H", len(columns)) + b"</K>")
    file.write(b"<N>" + struct.pack("<Q", records) + b"</N>")
    file.write(b"<label>" + struct.pack("<H", len(title)) + title + b"</label>")
    file.write(b"<timestamp>\0</timestamp></header>")  # none: the same data are the same bytes
    mark(1)
    file.write(b"<map>" + bytes(8 * 14) + b"</map>")
    for place, (name, body) in enumerate(zip(_SECTIONS, _about(columns, notes), strict=True), 2):
        mark(place)
        file.write(f"<{name}>".encode() + body + f"</{name}>".encode())
    mark(9)
    file.write(b"<data>")
    layout = np.dtype([(f"v{i}", column.layout) for i, column in enumerate(columns)])
    for chunk in chunks:
        rows = np.empty(len(chunk[0]), dtype=layout)
        for i, values in enumerate(chunk):
            rows[f"v{i}"] = values
        file.write(rows.tobytes())
    file.write(b"</data>")
    mark(10)
    file.write(b"<strls></strls>")
    mark(11)
    file.write(b"<value_labels>" + b"".join(map(_labels, columns)) + b"</value_labels>")
    mark(12)
    file.write(b"</stata_dta>")
    mark(13)
    file.seek(offsets[1] + len(b"<map>"))
    file.write(struct.pack("<14Q", *offsets))


def _about(columns: Sequence[Column], notes: Sequence[str]) -> list[bytes]:
    """Return what stands before the data, in the order of the sections."""
    names = [_padded(column.name, _NAME) for column in columns]
    shown = [
        column.shown or ("%12.0g" if not column.width else f"%-{column.width}s")
        for column in columns
    ]
    texts = [("_dta", notes), *((column.name, column.notes) for column in columns)]
    return [
        b"".join(struct.pack("<H", column.code) for column in columns),
        b"".join(names),
        bytes(2 * (len(columns) + 1)),
        b"".join(_padded(text, _FORMAT) for text in shown),
        b"".join(_padded(column.name if column.labels else "", _NAME) for column in columns),
        b"".join(_padded(column.label, _LABEL) for column in columns),
        b"".join(_notes(about, own) for about, own in texts if own),
    ]


def _padded(text: str, size: int) -> bytes:
    found = text.encode()
    if len(found) >= size:
        raise ValueError(f"{text!r} has more than {size - 1} bytes")
    return found.ljust(size, b"\0")


def _notes(about: str, texts: Sequence[str]) -> bytes:
    """Write notes, which are characteristics: their number, then each of them."""
    found = b""
    numbered = [("note0", str(len(texts))), *((f"note{i}", t) for i, t in enumerate(texts, 1))]
    for name, text in numbered:
        body = _padded(about, _NAME) + _padded(name, _NAME) + text.encode() + b"\0"
        found += b"<ch>" + struct.pack("<I", len(body)) + body + b"</ch>"
    return found


def _labels(column: Column) -> bytes:
    """Value labels of one variable."""
    if not column.labels:
        return b""
    first = _WHOLE["l"][3] + 1
    coded = sorted(
        (first + MISSING.index(value) if isinstance(value, str) else value, text.encode() + b"\0")
        for value, text in column.labels.items()
    )
    starts = np.cumsum([0, *(len(text) for _, text in coded)])
    values = np.array([value for value, _ in coded], dtype="<i4")
    body = struct.pack("<II", len(coded), starts[-1]) + starts[:-1].astype("<u4").tobytes()
    body += values.tobytes() + b"".join(text for _, text in coded)
    head = struct.pack("<I", len(body)) + _padded(column.name, _NAME) + bytes(3)
    return b"<lbl>" + head + body + b"</lbl>"
