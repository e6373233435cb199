"""Work in several processes, through joblib: the one place that starts them, and the one that counts what they have done."""

from collections.abc import Callable, Generator, Sequence
from typing import Any

Progress = Callable[[int, int], None]  # rounds done, rounds in all
Task = tuple[Any, ...]  # the arguments of a call


class Teller:
    """Adds up the rounds that were played, for who wants to be told."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.done, self.total = progress, 0, total

    def __call__(self, more: int) -> None:
        """Another `more` rounds are done."""
        self.done += more
        if self.progress is not None:
            self.progress(self.done, self.total)


def spread(
    jobs: int, function: Callable[..., Any], tasks: Sequence[Task], *, backend: str = "loky", batch: int | None = None
) -> Generator[Any, None, None]:
    """function(*task) for every task in `jobs` processes (-1: one a core), each result as soon as it is there, in any order.

    A `batch` is for back ends that hand over nothing before a whole call is done: they get that many tasks a call.

    >>> sorted(spread(1, pow, [(2, 3), (3, 2)], backend="sequential"))
    [8, 9]
    """
    import joblib

    calls = [joblib.delayed(function)(*task) for task in tasks]
    threads = {"inner_max_num_threads": 1} if backend == "loky" else {}  # processes enough: no threads beside them
    with joblib.parallel_config(backend=backend, **threads):
        if batch is None:
            yield from joblib.Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")(calls)
            return
        with joblib.Parallel(n_jobs=jobs, batch_size=1) as pool:
            for begin in range(0, len(calls), batch):
                yield from pool(calls[begin : begin + batch])
