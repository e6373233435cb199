"""How far running parts have come: a part that takes minutes writes a number into a file, and who runs it reads these files.

Parts run in processes of their own. On other machines nobody sees their files, and the bar moves when a part is finished.
"""

import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from ..evaluate.parallel import Progress

PAUSE = 0.25  # seconds between two looks, and at least between two words of one part

_place: Path | None = None  # of the part that this process runs
_said = 0.0


def tell_at(place: str) -> None:
    """This process begins a part, and tells how far it is there; "" where nobody listens."""
    global _place, _said
    _place, _said = Path(place) if place else None, 0.0


def tell(rounds: int) -> None:
    """The part that runs here has played so many rounds. As often as one likes: most calls do nothing.

    >>> tell(100)  # outside of a run: nobody listens
    """
    global _said
    now = time.monotonic()
    if _place is None or now - _said < PAUSE or not _place.parent.is_dir():
        return
    _said = now
    _place.write_text(str(rounds))


class Board:
    """Adds up the rounds of finished parts and what running ones say, for who wants to be told. A context: looks while it is open.

    >>> with Board(lambda done, total: print(done, "of", total), total=30, done=10) as board:
    ...     board.finished(0, 20)
    10 of 30
    30 of 30
    """

    def __init__(self, progress: Progress | None, *, total: int, done: int) -> None:
        self.progress, self.total, self.done = progress, total, done
        self._told, self._lock, self._closed = -1, threading.Lock(), threading.Event()

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="hsb-parts-", ignore_cleanup_errors=True)
        self._looking = threading.Thread(target=self._look, daemon=True)
        self._say()
        if self.progress is not None:
            self._looking.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._closed.set()
        if self._looking.is_alive():
            self._looking.join()
        self._folder.cleanup()

    def place(self, number: int) -> str:
        """Where part `number` tells how far it is."""
        return str(Path(self._folder.name) / str(number)) if self.progress is not None else ""

    def finished(self, number: int, rounds: int) -> None:
        """A part is done: its rounds count in full, and what it said no more."""
        with self._lock:
            (Path(self._folder.name) / str(number)).unlink(missing_ok=True)
            self.done += rounds
        self._say()

    def _look(self) -> None:
        while not self._closed.wait(PAUSE):
            self._say(only_more=True)

    def _say(self, *, only_more: bool = False) -> None:
        if self.progress is None:
            return
        with self._lock:
            now = min(self.done + sum(map(_read, Path(self._folder.name).iterdir())), self.total)
            if now > self._told or not only_more:
                self._told = max(now, self._told)
                self.progress(self._told, self.total)


def _read(path: Path) -> int:
    try:
        return int(path.read_text() or 0)  # empty: it is being written
    except (OSError, ValueError):
        return 0
