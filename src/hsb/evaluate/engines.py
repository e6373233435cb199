"""Engines for parallel work: this machine's cores, or a Dask or Ray cluster, all through joblib.

`dask` and `ray` start a cluster of `jobs` workers on this machine and stop it afterwards, unless DASK_SCHEDULER_ADDRESS or RAY_ADDRESS names a
running cluster.
"""

import importlib
import importlib.util
import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ..errors import InputError, quoted
from . import parallel

# the package that each engine needs, and the extra that installs it
ENGINES = {"local": ("joblib", "cli"), "dask": ("distributed", "dask"), "ray": ("ray", "ray")}
BATCH = 4  # parts for each worker: joblib's Ray back end returns results in batches only


def check_engine(engine: str) -> None:
    """Raise `InputError` unless the engine is known and installed.

    >>> check_engine("local")
    """
    if not isinstance(engine, str) or engine not in ENGINES:
        raise InputError(f"engine must be one of {', '.join(ENGINES)}; given {quoted(engine)}.")
    for name in ("local", engine):
        package, extra = ENGINES[name]
        if importlib.util.find_spec(package) is None:
            raise InputError(f"The engine {quoted(engine)} needs {package}, which is not installed: pip install 'hsb[{extra}]'")


def cores() -> int:
    """Return the number of parts that this machine can run at a time.

    >>> cores() >= 1
    True
    """
    import joblib

    return int(joblib.cpu_count())


def spread(engine: str, jobs: int, function: Callable[..., Any], tasks: Sequence[parallel.Task]) -> Generator[Any]:
    """Yield function(*task) for every task, each as soon as it is finished, in any order."""
    if engine == "local" and (jobs == 1 or len(tasks) == 1):
        yield from (function(*task) for task in tasks)
        return
    with workers(engine, jobs):
        yield from spread_over_workers(engine, jobs, function, tasks)


def workers(engine: str, jobs: int) -> AbstractContextManager[Any]:
    """Return a context manager that keeps the engine's workers for several calls of `spread_over_workers`."""
    if engine == "local":
        return nullcontext()
    return _dask(jobs) if engine == "dask" else _ray(jobs)


def spread_over_workers(engine: str, jobs: int, function: Callable[..., Any], tasks: Sequence[parallel.Task]) -> Generator[Any]:
    """Yield results as `spread` does, within a `workers` block."""
    backend, batch = "loky" if engine == "local" else engine, BATCH * jobs if engine == "ray" else None
    yield from parallel.spread(jobs, function, tasks, backend=backend, batch=batch)


@contextmanager
def _dask(jobs: int) -> Iterator[None]:
    distributed: Any = importlib.import_module("distributed")
    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    here = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
    with nullcontext(address) if address else distributed.LocalCluster(**here) as cluster, distributed.Client(cluster):
        yield


@contextmanager
def _ray(jobs: int) -> Iterator[None]:
    ray: Any = importlib.import_module("ray")
    importlib.import_module("ray.util.joblib").register_ray()
    running = ray.is_initialized()
    here = {"num_cpus": jobs, "include_dashboard": False, "logging_level": "error"}
    if not running:
        ray.init(log_to_driver=False, **({} if os.environ.get("RAY_ADDRESS") else here))
    try:
        yield
    finally:
        if not running:
            ray.shutdown()


def where(wait: float = 0.0, number: int = 0) -> int:
    """Return the process id after `wait` seconds: a part for testing where an engine runs its parts. `number` distinguishes parts.

    >>> where() == os.getpid()
    True
    """
    time.sleep(wait)
    return os.getpid()
