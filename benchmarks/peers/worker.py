"""One job in one process: `python -m peers.worker`, the job on standard input, results as lines of JSON on standard output."""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings

from .jobs.long import long
from .jobs.losses import losses
from .jobs.size import size
from .jobs.speed import speed
from .jobs.trouble import trouble
from .libraries import library

KINDS = {"losses": losses, "speed": speed, "trouble": trouble, "long": long, "size": size}


def main() -> None:
    """Read, work, write. What libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    job = json.load(sys.stdin)
    found = library(job["library"])
    algorithms = {algorithm.name: algorithm for algorithm in found.algorithms}
    if job["kind"] != "size":  # which is about just that
        importlib.import_module(found.module)
    for item in job["items"]:
        result = KINDS[job["kind"]](algorithms[item["algorithm"]], item, job["seconds"])
        answers.write(json.dumps(result, default=float) + "\n")


if __name__ == "__main__":
    main()
