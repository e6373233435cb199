"""Sizes of the tests: small in `make test`, larger in `make test-serve` (HSB_SERVE=quick), full with FULL=1 (HSB_SERVE=full).

Measurements go to the file that HSB_FIGURES names, one JSON object a line.
"""

import json
import os
import sys

LEVELS = ("small", "quick", "full")
LEVEL = os.environ.get("HSB_SERVE") or "small"
SIZES = {  # in make test, in make test-serve, with FULL=1
    "simulations": (24, 2000, 50_000),  # worlds of 500 steps
    "power cuts": (40, 2000, 20_000),
    "cases": (0, 2000, 50_000),  # requests from the OpenAPI description; six of each endpoint at least
    "kills": (2, 25, 500),  # kill -9 of `hsb serve` under load
    "library kills": (2, 25, 500),  # the same without HTTP
    "stops": (1, 10, 200),  # SIGTERM under load
    "fillings": (1, 1, 20),  # of a disk
    "changed files": (60, 2000, 20_000),  # bytes of a journal
    "jumps": (4, 20, 200),  # of a clock
    "slow clients": (100, 1000, 1000),  # a byte a second
    "slow seconds": (2, 12, 12),
    "idle connections": (500, 10_000, 10_000),
    "overload seconds": (1, 10, 60),
    "overloads": (1, 1, 5),
    "decisions for memory": (10_000, 20_000, 1_000_000),
}


def size(what):
    """Return the size of a test at this level; HSB_SERVE_SIZES='{"kills": 3}' overrides it."""
    return json.loads(os.environ.get("HSB_SERVE_SIZES") or "{}").get(what, SIZES[what][LEVELS.index(LEVEL)])


def figures(what, **found):
    """Record measurements."""
    line = json.dumps({"what": what, "level": LEVEL} | found)
    print(line, file=sys.stderr)
    if os.environ.get("HSB_FIGURES"):
        with open(os.environ["HSB_FIGURES"], "a", encoding="utf-8") as file:
            file.write(line + "\n")
