"""Worker processes: each is told its questions on standard input and answers line by line; all of them stop together."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from .environments import variables

Ask = dict[str, Any]
Job = TypeVar("Job")


class Processes:
    """A few workers at a time, of one module."""

    def __init__(self, module: str, logs: Path) -> None:
        self.module, self.logs = module, logs
        self.stopped = False
        self._running: set[subprocess.Popen[str]] = set()

    def each(self, work: Callable[[Job], None], jobs: list[Job], workers: int) -> None:
        """Work on every job, so many at a time. Where it ends early, Ctrl-C above all, what has not begun does not begin."""
        with ThreadPoolExecutor(workers) as pool:
            try:
                for future in [pool.submit(work, job) for job in jobs]:
                    future.result()
            except BaseException:
                self.stopped = True
                pool.shutdown(wait=False, cancel_futures=True)
                for process in list(self._running):
                    process.kill()
                raise

    def answers(self, python: str, ask: Ask, log: str, limit: float, *, renewed: bool = False) -> Iterator[Any]:
        """A worker's answers as they come, one an item; where it dies or takes longer than `limit` seconds, that is the answer to the rest.

        `renewed`: the limit is for each answer, not for all of them.
        """
        self.logs.mkdir(parents=True, exist_ok=True)
        path = self.logs / f"{log}.txt"
        left = len(ask["items"])
        with (
            path.open("w") as errors,
            subprocess.Popen(
                [python, "-m", self.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=variables(),
            ) as process,
        ):
            assert process.stdin is not None and process.stdout is not None
            timer = threading.Timer(limit, process.kill)
            timer.start()
            self._running.add(process)
            try:
                process.stdin.write(json.dumps(ask))
                process.stdin.close()
                for line in process.stdout:
                    left -= 1
                    if renewed:
                        timer.cancel()
                        timer = threading.Timer(limit, process.kill)
                        timer.start()
                    yield json.loads(line)
                process.wait()
            finally:
                timer.cancel()
                self._running.discard(process)
                process.kill()
        last = (path.read_text().strip().splitlines() or ["nothing said"])[-1][:160]
        ended = f"the process ended with {process.returncode}: {last}"
        if process.returncode == -9:
            ended = f"did not end within {limit:.0f} s"
        for _ in range(left):
            yield {"error": ended, "ended": process.returncode}
