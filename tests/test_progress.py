"""What is shown while a search runs."""

from __future__ import annotations

import io
import os
import sys

import pytest

from evosynth import progress
from evosynth.synthesis import Progress

NOW = Progress(12, 49, 50, "outputs[3] TENURE[5]", 3.14159, 7.25)
DONE = Progress(13, 50, 50, "", 0.0, 8.0)


@pytest.mark.parametrize(
    ("width", "text"),
    [
        (
            None,
            "generation 12: 49 of 50 figures exact, "
            "worst outputs[3] TENURE[5] (3.14 half-units off), 7.2 s",
        ),
        (79, "generation 12: 49 of 50 figures exact, worst 3.14 half-units off, 7.2 s"),
        (50, "generation 12: 49 of 50 figures exact, 7.2 s"),
        (39, "49 of 50 exact, 7.2 s"),
        (9, "7.2 s"),
        (0, "7.2 s"),
    ],
)
def test_a_narrow_line_loses_the_name_first_and_the_time_never(width, text):
    assert progress.describe(NOW, width) == text
    assert progress.describe(DONE, width).endswith("8.0 s")


def test_names_from_a_spec_are_shown_harmlessly():
    evil = Progress(1, 0, 1, "outputs[0] \x1b[2J", None, 0.0)
    assert r"worst outputs[0] \x1b[2J (not estimable yet)" in progress.describe(evil)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX terminal")
def test_the_live_line_fits_the_terminal_of_standard_error(monkeypatch):
    import termios

    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 40))
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "__stdout__", None)
    with open(theirs, "w", encoding="utf-8") as terminal, open(ours, "rb") as screen:
        monkeypatch.setattr(sys, "stderr", terminal)
        live = progress.choose(quiet=False, machine=False)
        live(NOW)
        live(DONE)
        live.close()
        shown = screen.readline()
    assert shown == b"\r49 of 50 exact, 7.2 s\r50 of 50 exact, 8.0 s\r\n"


def test_without_a_terminal_lines_are_few(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    plain = progress.choose(quiet=False, machine=False)
    for tenth in range(100):
        plain(Progress(tenth, 1, 2, "x", 1.0, tenth / 10))
    plain(DONE)
    lines = sys.stderr.getvalue().splitlines()
    assert [line.rsplit(", ")[-1] for line in lines] == [
        "0.0 s",
        "1.0 s",
        "2.0 s",
        "4.0 s",
        "8.0 s",
        "8.0 s",
    ]
