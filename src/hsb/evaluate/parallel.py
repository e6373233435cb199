"""Work in several processes, through joblib, and progress over all of them."""

from collections.abc import Callable, Generator, Sequence
from typing import Any

Progress = Callable[[int, int], None]  # rounds done, rounds in all
Task = tuple[Any, ...]  # the arguments of a call


class ProgressCounter:
    """Counts the rounds played, and reports them to `progress`."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.done, self.total = progress, 0, total

    def __call__(self, more: int) -> None:
        """Add `more` rounds and report the total."""
        self.done += more
        if self.progress is not None:
            self.progress(self.done, self.total)


def spread(
    jobs: int, function: Callable[..., Any], tasks: Sequence[Task], *, backend: str = "loky", batch: int | None = None
) -> Generator[Any, None, None]:
    """Yield function(*task) for every task, run in `jobs` processes (-1: one for each core), as results arrive, in any order.

    `batch` is for back ends that return results only at the end of a call: they get that many tasks in each call.

    >>> sorted(spread(1, pow, [(2, 3), (3, 2)], backend="sequential"))
    [8, 9]
    """
    import joblib

    calls = [joblib.delayed(function)(*task) for task in tasks]
    threads = {"inner_max_num_threads": 1} if backend == "loky" else {}  # one thread in each process
    with joblib.parallel_config(backend=backend, **threads):
        if batch is None:
            yield from joblib.Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")(calls)
            return
        with joblib.Parallel(n_jobs=jobs, batch_size=1) as pool:
            for begin in range(0, len(calls), batch):
                yield from pool(calls[begin : begin + batch])
