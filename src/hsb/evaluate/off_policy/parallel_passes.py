"""A log as one process reads it, or as several do: the same two readings, their sums put together in the order of the log."""

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any, Self

from ...errors import InputError
from ...logs import Batch, Log
from ...logs.log import Problems, each_batch
from ..engines import spread_over_workers, workers
from ..parallel import Task
from .passes import Fitting, LogPass

Told = Callable[[int, int | None], None]


def batches(log: Iterable[Batch]) -> Iterator[Batch]:
    """The batches that have rows."""
    return (batch for batch in each_batch("compare_off_policy", log) if len(batch))


class Whole:
    """The log, in this process."""

    def __init__(self, log: Log | Iterable[Batch], progress: Told | None) -> None:
        self.log, self.progress = log, progress

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *what: Any) -> None:
        pass

    def fit(self, fitting: Fitting) -> None:
        """The first reading."""
        fitting.add(batches(self.log))
        fitting.finish()

    def read(self, plan: dict[str, Any]) -> LogPass:
        """The second reading."""
        log_pass = LogPass(**plan)
        log_pass.add(batches(self.log), told(self.progress, self.log))
        return log_pass


class Parts:
    """The log cut into parts, each of which a process reads; where they begin is known from the first reading, or does not matter."""

    def __init__(self, log: Any, engine: str, jobs: int, progress: Told | None) -> None:
        if not isinstance(log, Log):
            raise InputError("Batches in memory cannot be shared between processes. Give a log of files, or use one process.")
        self.log, self.engine, self.jobs, self.progress = log, engine, jobs, progress
        self.parts = log.cut()
        self.starts = [0] * len(self.parts)
        self.workers, self.settled = workers(engine, jobs), log.knows_arms

    def __enter__(self) -> Self:
        self.workers.__enter__()
        return self

    def __exit__(self, *what: Any) -> None:
        self.workers.__exit__(*what)

    def _run(self, function: Callable[..., Any], tasks: list[Task]) -> Iterator[Any]:
        """What each task gives, in the order of the tasks."""
        waiting: dict[int, Any] = {}
        numbered = [(k, function, *task) for k, task in enumerate(tasks)]
        due = 0
        for number, found in spread_over_workers(self.engine, self.jobs, _numbered, numbered):
            waiting[number] = found
            while due in waiting:
                yield waiting.pop(due)
                due += 1

    def _settle(self) -> None:
        """Find out what arms there are, where nobody knows: their places must be the same in all parts."""
        if not self.settled:
            arms = dict.fromkeys(arm for found in self._run(_arms, [(part,) for part in self.parts]) for arm in found)
            for part in (self.log, *self.parts):
                part.take_arms(arms)
            self.settled = True

    def fit(self, fitting: Fitting) -> None:
        """The first reading: sums of every part, and where each begins."""
        self._settle()
        first = next(batches(self.log), None)
        if first is None:
            return
        fitting.prepare(first)
        fresh = (fitting.views, list(fitting.models))
        for k, found in enumerate(self._run(_fit, [(part, *fresh) for part in self.parts])):
            self.starts[k] = fitting.rows
            fitting.merge(found)
        fitting.finish()

    def read(self, plan: dict[str, Any]) -> LogPass:
        """The second reading; its problems are the log's."""
        self._settle()
        log_pass, tell = LogPass(**plan), told(self.progress, self.log)
        problems = Problems()
        tasks = [(part, start, plan) for part, start in zip(self.parts, self.starts, strict=True)]
        for found, met in self._run(_read, tasks):
            log_pass.merge(found)
            problems.join(met)
            if tell is not None:
                tell(log_pass.seen)
        self.log.set_problems(problems)
        return log_pass


def told(progress: Told | None, log: Any) -> Callable[[int], None] | None:
    """Tell how many rows were read, of how many if the log knows."""
    if progress is None:
        return None
    total = len(log) if isinstance(log, Log) and hasattr(log, "__len__") else None
    return lambda seen: progress(seen, total)


def _numbered(number: int, function: Callable[..., Any], *task: Any) -> tuple[int, Any]:
    return number, function(*task)


def _arms(part: Log) -> list[Any]:
    return part.find_arms()


def _fit(part: Log, views: list[Any], models: list[Any]) -> Fitting:
    fitting = Fitting(views, deepcopy(models))  # in one process they are the caller's
    fitting.add(batches(part))
    return fitting


def _read(part: Log, start: int, plan: dict[str, Any]) -> tuple[LogPass, Problems]:
    log_pass = LogPass(**plan, start=start)
    log_pass.add(batches(part))
    return log_pass, part.problems
