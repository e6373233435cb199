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

PAUSE = 1.0  # seconds between lines that say the same
MOST = 100  # different lines that are kept in mind


class Repetition:
    """Which lines are said too often, and how often they were left out since they were last said.

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
        self.lines: OrderedDict[str, list[float]] = OrderedDict()  # when it was last said, and how often not since

    def left_out(self, line: str) -> int | None:
        """None where a line is not to be said now; else how often it was left out."""
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


_rejections = Repetition()


def log(event: str, *, level: str = "info", **more: Any) -> None:
    """Write a line; of warnings and errors that say the same one a second, with how many were `left_out` before it."""
    if level not in ("info", "debug"):
        left_out = _rejections.left_out(json.dumps([event, level, more], default=str))
        if left_out is None:
            return
        more = more | {"left_out": left_out or None}
    at = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03d}Z"
    line = {"at": stamp, "level": level, "event": event} | {name: value for name, value in more.items() if value is not None}
    print(json.dumps(line, default=str), file=sys.stderr, flush=True)


def log_fault(error: BaseException, **more: Any) -> None:
    """Something that should not happen, with where it did."""
    where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)[-6:]]
    log("fault", level="error", kind=type(error).__name__, detail=str(error)[:500], where=where, **more)


class Lines(logging.Handler):
    """What others log, as lines of ours."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            log_fault(error, message=record.getMessage())
        else:
            log(record.getMessage(), level=record.levelname.lower(), logger=record.name)
