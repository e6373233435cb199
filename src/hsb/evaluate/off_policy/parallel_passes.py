"""Reading a log in one process or in several: the same two passes, with sums merged in the order of the log."""

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any, Self

from ...errors import InputError
from ...logs import Batch, Log
from ...logs.log import Problems, each_batch
from ..engines import spread_over_workers, workers
from ..parallel import Task
from .passes import Fitting, LogPass

RowProgress = Callable[[int, int | None], None]


def batches(log: Iterable[Batch]) -> Iterator[Batch]:
    """Yield the batches that have rows."""
    return (batch for batch in each_batch("compare_off_policy", log) if len(batch))


class Whole:
    """A log that this process reads."""

    def __init__(self, log: Log | Iterable[Batch], progress: RowProgress | None) -> None:
        self.log, self.progress = log, progress

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *what: Any) -> None:
        pass

    def fit(self, fitting: Fitting) -> None:
        """Read the log for the first time."""
        fitting.add(batches(self.log))
        fitting.finish()

    def read(self, plan: dict[str, Any]) -> LogPass:
        """Read the log for the second time."""
        log_pass = LogPass(**plan)
        log_pass.add(batches(self.log), row_counter(self.progress, self.log))
        return log_pass


class Parts:
    """A log cut into parts, one for each process. The first reading finds the row at which each begins; without it, the row is not needed."""

    def __init__(self, log: Any, engine: str, jobs: int, progress: RowProgress | None) -> None:
        if not isinstance(log, Log):
            raise InputError("Batches in memory cannot be shared between processes. Give a log of files, or use jobs=1.")
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
        """Yield the result of each task, in the order of the tasks."""
        waiting: dict[int, Any] = {}
        numbered = [(k, function, *task) for k, task in enumerate(tasks)]
        due = 0
        for number, result in spread_over_workers(self.engine, self.jobs, _run_numbered, numbered):
            waiting[number] = result
            while due in waiting:
                yield waiting.pop(due)
                due += 1

    def _settle(self) -> None:
        """Find all arms, if they are not known: they need the same index in all parts."""
        if not self.settled:
            arms = dict.fromkeys(arm for some in self._run(_arms, [(part,) for part in self.parts]) for arm in some)
            for part in (self.log, *self.parts):
                part.take_arms(arms)
            self.settled = True

    def fit(self, fitting: Fitting) -> None:
        """Read the parts for the first time: merge their sums, and note the row at which each begins."""
        self._settle()
        first = next(batches(self.log), None)
        if first is None:
            return
        fitting.prepare(first)
        fresh = (fitting.views, list(fitting.models))
        for k, later in enumerate(self._run(_fit, [(part, *fresh) for part in self.parts])):
            self.starts[k] = fitting.rows
            fitting.merge(later)
        fitting.finish()

    def read(self, plan: dict[str, Any]) -> LogPass:
        """Read the parts for the second time; their problems become the log's."""
        self._settle()
        log_pass, report = LogPass(**plan), row_counter(self.progress, self.log)
        problems = Problems()
        tasks = [(part, start, plan) for part, start in zip(self.parts, self.starts, strict=True)]
        for later, part_problems in self._run(_read, tasks):
            log_pass.merge(later)
            problems.join(part_problems)
            if report is not None:
                report(log_pass.seen)
        self.log.set_problems(problems)
        return log_pass


def row_counter(progress: RowProgress | None, log: Any) -> Callable[[int], None] | None:
    """Return a function of the number of rows read, which calls `progress` with it and the log's length, None if unknown."""
    if progress is None:
        return None
    total = len(log) if isinstance(log, Log) and hasattr(log, "__len__") else None
    return lambda seen: progress(seen, total)


def _run_numbered(number: int, function: Callable[..., Any], *task: Any) -> tuple[int, Any]:
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
