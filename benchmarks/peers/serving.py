"""The other end of `processes`: what a worker does, in whatever environment it runs."""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from .base import Algorithm, Library

Kind = Callable[[Algorithm, Any, float], dict[str, Any]]  # one question about one algorithm, within so many seconds


def serve(kinds: dict[str, Kind], find: Callable[[str], Library], bare: tuple[str, ...] = ()) -> None:
    """What a worker does: read, work, write. What libraries print goes to standard error. `bare`: kinds that import it themselves."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    job = json.load(sys.stdin)
    found = find(job["library"])
    algorithms = {algorithm.name: algorithm for algorithm in found.algorithms}
    if job["kind"] not in bare:
        importlib.import_module(found.module)
    for item in job["items"]:
        result = kinds[job["kind"]](algorithms[item["algorithm"]], item, job["seconds"])
        answers.write(json.dumps(result, default=float) + "\n")
