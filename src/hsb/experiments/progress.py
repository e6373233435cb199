"""Progress of running parts: a part that takes minutes writes its number of rounds to a file, and the runner reads these files.

Parts run in separate processes. The files of parts on other machines are not visible; the bar moves when such a part is finished.
"""

import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from ..evaluate.parallel import Progress

PAUSE = 0.25  # seconds between two reads, and at least between two writes of one part

_path: Path | None = None  # of the part that this process runs
_written = 0.0


def report_to(path: str) -> None:
    """Begin a part: report its rounds to the file `path`; "" to report nothing."""
    global _path, _written
    _path, _written = Path(path) if path else None, 0.0


def report_rounds(rounds: int) -> None:
    """Report that the running part has played `rounds` rounds. Call it as often as you like: most calls do nothing.

    >>> report_rounds(100)  # outside a run: does nothing
    """
    global _written
    now = time.monotonic()
    if _path is None or now - _written < PAUSE or not _path.parent.is_dir():
        return
    _written = now
    _path.write_text(str(rounds))


class Board:
    """Sums the rounds of finished and running parts and reports them to `progress`. A context manager: it reads while it is open.

    >>> with Board(lambda done, total: print(done, "of", total), total=30, done=10) as board:
    ...     board.finish(0, 20)
    10 of 30
    30 of 30
    """

    def __init__(self, progress: Progress | None, *, total: int, done: int) -> None:
        self.progress, self.total, self.done = progress, total, done
        self._reported, self._lock, self._closed = -1, threading.Lock(), threading.Event()

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="hsb-parts-", ignore_cleanup_errors=True)
        self._watching = threading.Thread(target=self._watch, daemon=True)
        self._report()
        if self.progress is not None:
            self._watching.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._closed.set()
        if self._watching.is_alive():
            self._watching.join()
        self._folder.cleanup()

    def path(self, number: int) -> str:
        """Return the file to which part `number` reports its rounds."""
        return str(Path(self._folder.name) / str(number)) if self.progress is not None else ""

    def finish(self, number: int, rounds: int) -> None:
        """Count all rounds of a finished part, and drop its reports."""
        with self._lock:
            (Path(self._folder.name) / str(number)).unlink(missing_ok=True)
            self.done += rounds
        self._report()

    def _watch(self) -> None:
        while not self._closed.wait(PAUSE):
            self._report(only_more=True)

    def _report(self, *, only_more: bool = False) -> None:
        if self.progress is None:
            return
        with self._lock:
            now = min(self.done + sum(map(_read, Path(self._folder.name).iterdir())), self.total)
            if now > self._reported or not only_more:
                self._reported = max(now, self._reported)
                self.progress(self._reported, self.total)


def _read(path: Path) -> int:
    try:
        return int(path.read_text() or 0)  # empty: it is being written
    except (OSError, ValueError):
        return 0
