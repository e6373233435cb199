"""Run parts once each, in parallel, on any engine. Each finished part is kept at once, so that an interrupted run can resume."""

import importlib
import json
import os
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ..checks import whole
from ..errors import InputError, quoted
from ..evaluate.engines import check_engine, cores, spread
from ..evaluate.parallel import Progress
from .base import Part
from .cache import Cache, Finished, plain
from .progress import Board, report_to

FEW = 2  # with at most this many workers it is faster to compile different kernels at the same time than all in one process


class PartFailed(RuntimeError):
    """A part raised an error. The results of finished parts are kept."""


def run(
    parts: Sequence[Part],
    folder: Path,
    *,
    jobs: int | None = None,
    engine: str = "local",
    progress: Progress | None = None,
    prepare: Callable[[], object] | None = None,
) -> list[Finished]:
    """Return the results of `parts` in their order. They do not depend on `engine` or `jobs` (by default one per core).

    Results are kept in `folder`: a part that was run before with the same library is not run again. Results are plain data as JSON returns
    it: lists, not tuples. `prepare` is called before more than two local workers start.

    >>> import tempfile
    >>> parts = [Part(f"{arms} arms", "hsb.theory:exp3_bound", {"arms": arms, "horizon": 100}) for arms in (2, 3)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [round(finished.result, 2) for finished in run(parts, Path(folder), jobs=1)]
    [16.65, 25.67]
    """
    check_engine(engine)
    jobs = whole("jobs", cores() if jobs is None else jobs, 1)
    if len({part.name for part in parts}) < len(parts):
        raise InputError("Two parts have the same name. Give every part a different name.")
    cache = Cache(folder)
    ready = [cache.get(part) for part in parts]
    missing = in_turn(parts, [i for i, finished in enumerate(ready) if finished is None])
    total = sum(part.rounds for part in parts)
    with Board(progress, total=total, done=total - sum(parts[i].rounds for i in missing)) as board:
        if prepare is not None and engine == "local" and min(jobs, len(missing)) > FEW:
            prepare()
        tasks = [(i, parts[i].function, parts[i].arguments, os.getcwd(), board.path(i)) for i in missing]
        if tasks:
            with closing(spread(engine, jobs, perform, tasks)) as outcomes:
                for number, text, seconds, failed in outcomes:
                    part = parts[number]
                    if failed:
                        raise PartFailed(f"Part {quoted(part.name)} failed: {text}")
                    ready[number] = finished = Finished(json.loads(text), seconds)
                    cache.put(part, finished)
                    board.finish(number, part.rounds)
    return [finished for finished in ready if finished is not None]


def in_turn(parts: Sequence[Part], which: Sequence[int]) -> list[int]:
    """Return the order in which to start parts: functions in turn, the longest part of each first.

    Workers that start together then compile different kernels, and later find the others in Numba's cache.

    >>> parts = [Part("", function, {}, rounds) for function, rounds in (("m:f", 1), ("m:f", 3), ("m:f", 2), ("m:g", 5))]
    >>> in_turn(parts, range(4))
    [3, 1, 2, 0]
    """
    longest = sorted(which, key=lambda i: -parts[i].rounds)
    turns: Counter[str] = Counter()
    keys = []
    for i in longest:
        keys.append((turns[parts[i].function], -parts[i].rounds, i))
        turns[parts[i].function] += 1
    return [i for *_, i in sorted(keys)]


def perform(number: int, function: str, arguments: dict[str, Any], here: str, path: str = "") -> tuple[int, str, float, bool]:
    """Run one part on any machine. Returns its number, its result as JSON or its error, the seconds, and True if it failed.

    An error is returned as text, so that it does not stop other parts. `here` is the working directory for relative paths and the user's
    modules, since a worker may start elsewhere. `path` is the file to which the part may report its rounds (`progress.py`).
    """
    report_to(path)
    if os.path.isdir(here):
        os.chdir(here)
    begin = time.perf_counter()
    try:
        module, _, name = function.partition(":")
        text = json.dumps(getattr(importlib.import_module(module), name)(**arguments), default=plain)
    except Exception as error:  # the caller needs the part of any error
        where = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{type(error).__name__}: {error} ({Path(where.filename).name}, line {where.lineno})"
        return number, message, time.perf_counter() - begin, True
    return number, text, time.perf_counter() - begin, False


def compile_first() -> float:
    """Have the numba engine compile the kernels that play tables before workers start, which then read what it kept. Return its seconds.

    Otherwise every worker would compile the same kernels at the same time, each with half a gigabyte of memory.
    """
    import hsb

    begin = time.perf_counter()
    hsb.simulate(hsb.HSB(hsb.BinaryTree(depth=6), arms=2, seed=0), [0.3, 0.6], [[0.0, 1.0], [1.0, 0.0]])
    return time.perf_counter() - begin
