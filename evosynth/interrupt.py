"""Ctrl-C: ends the program while there is nothing to keep, and from then on only the search."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """Handles Ctrl-C; may be pressed again and again."""

    def __init__(self, acknowledge: Callable[[], None] = lambda: None) -> None:
        self.pressed = False
        self.found = False
        """Whether there is something to keep."""
        self.acknowledge = acknowledge

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Raise `KeyboardInterrupt` or note the wish to stop."""
        first, self.pressed = not self.pressed, True
        if not self.found:
            signal.default_int_handler(number, frame)
        if first:
            self.acknowledge()


@contextmanager
def interruptible(interrupt: Interrupt) -> Iterator[Interrupt]:
    """Handle Ctrl-C, unless a caller does already or Ctrl-C is ignored, as in the background."""
    try:
        with _handling(interrupt) as handler:
            yield handler
    except SystemError as error:
        cause: BaseException | None = error
        while isinstance(cause, SystemError):  # how compiled code reports Ctrl-C
            cause = cause.__cause__
        if isinstance(cause, KeyboardInterrupt):
            raise cause from None
        raise


@contextmanager
def _handling(interrupt: Interrupt) -> Iterator[Interrupt]:
    earlier = signal.getsignal(signal.SIGINT)
    if isinstance(earlier, Interrupt):
        yield earlier
    elif earlier is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield interrupt
    else:
        signal.signal(signal.SIGINT, interrupt)
        try:
            yield interrupt
        finally:
            if signal.getsignal(signal.SIGINT) is interrupt:
                signal.signal(signal.SIGINT, earlier)
