"""Log lines: one JSON object each, on stderr. No line holds a key, a cookie or a context."""

import json
import logging
import sys
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

PAUSE = 1.0  # seconds between equal lines
MOST = 100  # different lines that are remembered


class Repetition:
    """Limits equal log lines to one a second, and counts those left out.

    >>> now = [0.0]
    >>> lines = Repetition(lambda: now[0])
    >>> lines.left_out("full"), lines.left_out("full"), lines.left_out("other"), lines.left_out("full")
    (0, None, 0, None)
    >>> now[0] = 1.5
    >>> lines.left_out("full"), lines.left_out("full")
    (2, None)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.lock = clock, threading.Lock()
        self.lines: OrderedDict[str, list[float]] = (
            OrderedDict()
        )  # the time when it was last written, and how often it was left out since

    def left_out(self, line: str) -> int | None:
        """Return None if the line should not be written now; otherwise how often it was left out before."""
        with self.lock:
            now, known = self.clock(), self.lines.get(line)
            if known is not None and now - known[0] < PAUSE:
                known[1] += 1
                return None
            self.lines[line] = [now, 0]
            self.lines.move_to_end(line)
            while len(self.lines) > MOST:
                self.lines.popitem(last=False)
            return 0 if known is None else int(known[1])


_repetition = Repetition()


def log(event: str, *, level: str = "info", **more: Any) -> None:
    """Write a log line. Equal warnings and errors are limited to one a second, with `left_out` counting the others."""
    if level not in ("info", "debug"):
        left_out = _repetition.left_out(json.dumps([event, level, more], default=str))
        if left_out is None:
            return
        more = more | {"left_out": left_out or None}
    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"
    line = {"at": stamp, "level": level, "event": event} | {name: value for name, value in more.items() if value is not None}
    print(json.dumps(line, default=str), file=sys.stderr, flush=True)


def log_fault(error: BaseException, **more: Any) -> None:
    """Log an exception that should not happen, with its last stack frames."""
    where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)[-6:]]
    log("fault", level="error", kind=type(error).__name__, detail=str(error)[:500], where=where, **more)


class Lines(logging.Handler):
    """A logging handler that writes other libraries' records as our log lines."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            log_fault(error, message=record.getMessage())
        else:
            log(record.getMessage(), level=record.levelname.lower(), logger=record.name)
