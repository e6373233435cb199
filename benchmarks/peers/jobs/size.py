"""A fresh process: how long until the library is there and has played a round, and the most memory of a short game."""

from __future__ import annotations

import importlib
import resource
import sys
import time
from pathlib import Path
from typing import Any

from ..base import Algorithm
from .losses import once, said


def size(algorithm: Algorithm, item: dict[str, Any], seconds: float) -> dict[str, Any]:
    """In seconds and bytes. Right for the first item of a process alone."""
    before = peak()
    begin = time.perf_counter()
    importlib.import_module(item["module"])
    found: dict[str, Any] = {"before": before, "import": time.perf_counter() - begin, "loaded": peak()}
    try:
        once(algorithm, algorithm.encodings[-1], algorithm.default, item["path"], 1, 1)
        found["first"] = time.perf_counter() - begin
        once(algorithm, algorithm.encodings[-1], algorithm.default, item["path"], 1, item["rounds"])
    except Exception as error:  # whatever the library raises is the result
        return found | {"error": said(error)}
    return found | {"peak": peak()}


def peak(*, anew: bool = False) -> int:
    """The most that was resident so far, or from now on. What a process was before it became Python does not count, where the system tells."""
    try:
        if anew:
            Path("/proc/self/clear_refs").write_text("5")
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
