"""The page of a run that goes on: in the folder while it lasts, then gone or the report itself."""

from __future__ import annotations

import contextlib
import datetime
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evosynth import __version__
from evosynth.errors import many
from evosynth.notice import NOTICE
from evosynth.place import Borrowed
from evosynth.printed import half_units
from evosynth.report.folder import PAGE

if TYPE_CHECKING:
    from evosynth.spec import Spec
    from evosynth.synthesis import Progress

_FROM = 3.0
"""Seconds after which a run is long enough to have a page."""
_EVERY = 3.0
"""Seconds between two versions of the page, at least."""
_MOST_POINTS = 2_000


class Live:
    """Writes where a run stands into its folder; whatever was there comes back at the end.

    A thread of its own writes, since a generation may last; what cannot be written is left: a run
    must not fail for the sake of its page.
    """

    def __init__(self, folder: Path, spec: Spec, seed: int) -> None:
        self.folder, self.spec, self.seed = folder, spec, seed
        self.begun = time.monotonic()
        self.headline, self.detail = "Running: no dataset yet", "The search is being prepared."
        self.points: list[tuple[float, int, float | None]] = []
        self.figures = 0
        self.borrowed: Borrowed | None = None
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._writer = threading.Thread(target=self._write, daemon=True)

    @property
    def there(self) -> bool:
        """Whether a page stands in the folder."""
        return self.borrowed is not None

    def __call__(self, now: Progress) -> None:
        """Note where a search stands."""
        off = "not estimable yet" if now.distance is None else f"{half_units(now.distance)} off"
        detail = f"Generation {now.generation:,}."
        if now.worst:
            detail += f" The farthest figure is {now.worst} ({off})."
        done = f"{now.exact:,} of {many(now.figures, 'published figure')} exact so far"
        with self._lock:
            if len(self.points) == _MOST_POINTS:
                self.points = self.points[::2]
            self.points.append((now.seconds, now.exact, now.distance))
            self.figures = now.figures
            self.headline, self.detail = f"Running: {done}", detail

    def tell(self, headline: str, detail: str = "") -> None:
        """Note what the run is about."""
        with self._lock:
            self.headline, self.detail = headline, detail

    def start(self) -> None:
        """Begin to write, once the run is long enough to have a page."""
        self._writer.start()

    def _write(self) -> None:
        wait = _FROM
        while not self._ended.wait(wait):
            wait = _EVERY
            with self._lock, contextlib.suppress(OSError):
                if self._ended.is_set():
                    return
                if self.borrowed is None:
                    self.borrowed = Borrowed(self.folder, PAGE)
                _replace(self.folder / PAGE, self._page(self.headline, self.detail))

    def _page(self, headline: str, detail: str) -> str:
        from evosynth.report.rendering import render

        now = datetime.datetime.now().astimezone()
        return render(
            "live.html",
            title=self.spec.title or "Synthetic teaching data",
            source=self.spec.source,
            headline=headline,
            detail=detail,
            records=self.spec.schema.records,
            seed=self.seed,
            seconds=time.monotonic() - self.begun,
            version=__version__,
            notice=NOTICE,
            every=5,
            now=f"{now:%H:%M:%S %Z}",
            across="seconds",
            curves=list(self._curves()),
        )

    def _curves(self) -> Iterator[dict[str, Any]]:
        from evosynth.report.pictures import curve

        exact = curve([(t, float(n)) for t, n, _ in self.points], (0, max(1, self.figures)))
        worst = curve([(t, d) for t, _, d in self.points], log=True)
        for name, unit, drawn in (
            ("Figures exact", "of the best candidate", exact),
            ("Farthest figure", "half-units of its last printed digit", worst),
        ):
            if drawn is not None:
                words = f"{name}, {unit}, by seconds."
                yield {"name": name, "unit": unit, "curve": drawn, "words": words}

    def give_way(self) -> None:
        """Put back what was there, so that the results can be moved into place."""
        self._ended.set()
        with self._lock:
            if self.borrowed is not None:
                self.borrowed.give_back()

    def close(self) -> None:
        """Leave the folder as it would be without a page."""
        self.give_way()
        if self.borrowed is not None:
            self.borrowed.close()


@contextmanager
def live(folder: Path, spec: Spec, seed: int) -> Iterator[Live]:
    """Keep a page in a folder while something is made for it."""
    page = Live(folder, spec, seed)
    page.start()
    try:
        yield page
    finally:
        page.close()


def both(*calls: Callable[[Any], None]) -> Callable[[Any], None]:
    """Tell several listeners."""

    def tell(now: Any) -> None:
        for call in calls:
            call(now)

    return tell


def _replace(path: Path, text: str) -> None:
    """Write a file in one go, so that a browser never reads half of it."""
    handle, name = tempfile.mkstemp(prefix=".evosynth.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
