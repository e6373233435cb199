"""Runs parts: once each, in parallel, on any engine. Finished parts are kept at once, so that a run that was stopped goes on where it was."""

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
from .progress import Board, tell_at

FEW = 2  # workers that had better compile different kernels at the same time than wait for one process to compile all


class PartFailed(RuntimeError):
    """A part raised an error. The parts that were finished before are kept."""


def run(
    parts: Sequence[Part],
    folder: Path,
    *,
    jobs: int | None = None,
    engine: str = "local",
    progress: Progress | None = None,
    prepare: Callable[[], object] | None = None,
) -> list[Finished]:
    """The results of parts, in their order, whatever the engine and the number of jobs (by default one a core).

    Results are kept in `folder`; a part that was run before, with the same library, is not run again. Results are plain data as JSON gives
    it back: lists, not tuples. `prepare` is called before more than two workers of this machine start.

    >>> import tempfile
    >>> parts = [Part(f"{arms} arms", "hsb.theory:exp3_bound", {"arms": arms, "horizon": 100}) for arms in (2, 3)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [round(finished.result, 2) for finished in run(parts, Path(folder), jobs=1)]
    [16.65, 25.67]
    """
    check_engine(engine)
    jobs = whole("jobs", cores() if jobs is None else jobs, 1)
    if len({part.name for part in parts}) < len(parts):
        raise InputError("Parts must have different names; some are given twice.")
    cache = Cache(folder)
    ready = [cache.get(part) for part in parts]
    missing = in_turn(parts, [i for i, finished in enumerate(ready) if finished is None])
    total = sum(part.rounds for part in parts)
    with Board(progress, total=total, done=total - sum(parts[i].rounds for i in missing)) as board:
        if prepare is not None and engine == "local" and min(jobs, len(missing)) > FEW:
            prepare()
        tasks = [(i, parts[i].function, parts[i].arguments, os.getcwd(), board.place(i)) for i in missing]
        if tasks:
            with closing(spread(engine, jobs, perform, tasks)) as outcomes:
                for number, text, seconds, failed in outcomes:
                    part = parts[number]
                    if failed:
                        raise PartFailed(f"Part {quoted(part.name)} failed: {text}")
                    ready[number] = finished = Finished(json.loads(text), seconds)
                    cache.put(part, finished)
                    board.finished(number, part.rounds)
    return [finished for finished in ready if finished is not None]


def in_turn(parts: Sequence[Part], which: Sequence[int]) -> list[int]:
    """The order to start parts in: those of different functions in turn, the longest of each first.

    Workers that start together then compile different kernels, and find those of the others in Numba's cache later on.

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


def perform(number: int, function: str, arguments: dict[str, Any], here: str, place: str = "") -> tuple[int, str, float, bool]:
    """Run one part, wherever this is: its number, its result as JSON or what it raised, the seconds, and whether it failed.

    An error comes back as text, so that other parts are not lost with it. `here` is the folder that files and classes of the user's own are
    named from: a worker may have been started in another one. `place` is where a part may tell how far it is (`progress.py`).
    """
    tell_at(place)
    if os.path.isdir(here):
        os.chdir(here)
    begin = time.perf_counter()
    try:
        module, _, name = function.partition(":")
        text = json.dumps(getattr(importlib.import_module(module), name)(**arguments), default=plain)
    except Exception as error:  # whatever it is, the caller must hear which part it was
        where = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error} ({Path(where.filename).name}, line {where.lineno})"
        return number, said, time.perf_counter() - begin, True
    return number, text, time.perf_counter() - begin, False


def compile_first() -> float:
    """Have the numba engine compile what plays tables here, before workers start: they then read what it kept. The seconds that it took.

    Else every worker would compile the same at the same time, each taking half a gigabyte for it.
    """
    import hsb

    begin = time.perf_counter()
    hsb.simulate(hsb.HSB(hsb.BinaryTree(depth=6), arms=2, seed=0), [0.3, 0.6], [[0.0, 1.0], [1.0, 0.0]])
    return time.perf_counter() - begin
