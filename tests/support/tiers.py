"""Three tiers of tests. CONTRIBUTING.md describes what each proves and how long it takes.

- unit: one process, no server.
- `system`: starts processes or servers. A test belongs to it if its module imports a module that does, or if it uses the fixture of a service.
- `long`: what `make test` leaves to `make test-long`. Tests are marked one by one or by file; and of a test with a product of parameters
  `make test` takes only as many cases as meet each value of each parameter, the others are long. The mark `whole` keeps them all.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import pytest

STARTERS = {
    "subprocess",
    "multiprocessing",
    "support.children",
    "support.serve.http_cases",
    "support.serve.processes",
    "support.attack.threads",
}
SERVICE = "one"  # the fixture of tests/conftest.py
FEW = 12  # as many cases of one test are always taken


def starts_processes(module: object) -> bool:
    """Return whether a test module imports a module that starts processes or servers, or a name from one."""
    origins = {
        getattr(value, "__name__", "") if type(value).__name__ == "module" else getattr(value, "__module__", "")
        for value in vars(module).values()
    }
    return bool(origins & STARTERS)


def parameters(item: pytest.Function) -> dict[str, int]:
    """Return the identity of each parameter's value: the cases of a product share their values."""
    return {name: id(value) for name, value in item.callspec.params.items()} if hasattr(item, "callspec") else {}


def cover(cases: Sequence[dict[str, int]]) -> set[int]:
    """Return the indices of cases that cover each value of each parameter; chosen greedily, the first of ties.

    >>> sorted(cover([{"a": a, "b": b} for a in range(3) for b in range(3)]))
    [0, 4, 8]
    """
    left = {pair for case in cases for pair in case.items()}
    chosen: set[int] = set()
    while left:
        best = max(range(len(cases)), key=lambda k: (len(left.intersection(cases[k].items())), -k))
        chosen.add(best)
        left -= set(cases[best].items())
    return chosen


def mark(items: Iterable[pytest.Item]) -> None:
    """Give each collected test the markers of its tier."""
    products: dict[str, list[pytest.Function]] = defaultdict(list)
    starting: dict[object, bool] = {}
    for item in items:
        if not isinstance(item, pytest.Function):
            continue  # an example in a docstring
        if item.module not in starting:
            starting[item.module] = starts_processes(item.module)
        if starting[item.module] or (SERVICE in item.fixturenames and SERVICE not in parameters(item)):
            item.add_marker("system")
        if len(parameters(item)) > 1 and not item.get_closest_marker("whole"):
            products[item.nodeid.partition("[")[0]].append(item)
    for cases in products.values():
        if len(cases) > FEW:
            taken = cover([parameters(case) for case in cases])
            for k, case in enumerate(cases):
                if k not in taken:
                    case.add_marker("long")
