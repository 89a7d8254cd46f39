"""Standard output and standard error: losing one of them never stops the work that it tells of."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TextIO

_lost: list[OSError] = []
"""What befell standard output, other than a reader who has read enough."""


def prepare() -> None:
    """Stand in for streams that are closed, and let no character stop a message."""
    _lost.clear()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str = "", end: str = "\n") -> None:
    """Print to standard output."""
    error = _write(sys.stdout, text + end)
    if error is not None and not isinstance(error, BrokenPipeError):
        _lost.append(error)
        note(f"standard output: {error.strerror or error}")


def note(text: str, end: str = "\n") -> None:
    """Print to standard error."""
    _write(sys.stderr, text + end)


def urge(text: str) -> None:
    """Print to standard error from a signal handler, which may find the stream in use."""
    start = "\n" if sys.stderr.isatty() else ""
    with contextlib.suppress(OSError, ValueError):
        os.write(sys.stderr.fileno(), f"{start}{text}\n".encode(sys.stderr.encoding, "replace"))


def complete() -> bool:
    """Whether standard output took everything that its reader wanted."""
    say(end="")
    return not _lost


def _write(stream: TextIO, text: str) -> OSError | None:
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        with contextlib.suppress(OSError):  # what is still to come goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return error
    return None
