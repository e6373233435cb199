"""Log lines: one JSON object each, on stderr. No line holds a key, a cookie or a context."""

import json
import logging
import sys
import time
import traceback
from typing import Any


def log(event: str, *, level: str = "info", **more: Any) -> None:
    """Write a line."""
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
