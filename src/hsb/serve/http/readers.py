"""Threads that read the journal: one for quick reads, others for scans that may take seconds, so that quick reads never wait for scans."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ..store.sqlite import SqliteReader
from .problem import HttpProblem

T = TypeVar("T")
SCANS = 2  # threads for scans
STEPS = 20_000  # of SQLite's virtual machine, between checks of the clock


class Readers:
    """Runs function(reader, ...) on a thread with its own connection: `quick` and `scan` have separate threads.

    A query raises HttpProblem (503) after `seconds`, or when `stopping` is set.
    """

    def __init__(self, path: Any, seconds: float) -> None:
        self.path, self.seconds, self.stopping = path, seconds, False
        self.threads, self.own = [ThreadPoolExecutor(1, "hsb-reader"), ThreadPoolExecutor(SCANS, "hsb-scan")], threading.local()
        self.open: list[SqliteReader] = []

    async def quick(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call `function`, which finds a few rows by their keys."""
        return await self._run(self.threads[0], function, arguments)

    async def scan(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call `function`, which may read many rows."""
        return await self._run(self.threads[1], function, arguments)

    async def _run(self, threads: ThreadPoolExecutor, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        return await asyncio.get_running_loop().run_in_executor(threads, self._read, function, arguments)

    def _read(self, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        reader = getattr(self.own, "reader", None)
        if reader is None:
            reader = self.own.reader = SqliteReader(self.path)
            self.open.append(reader)
        until = time.monotonic() + self.seconds
        reader.connection.set_progress_handler(lambda: self.stopping or time.monotonic() > until, STEPS)
        try:
            return function(reader, *arguments)
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
            raise HttpProblem(
                503,
                "too-much",
                "Reading this from the journal takes too long. Request less, e.g. with a smaller limit.",
                retry=5.0,
            ) from None
        finally:
            reader.connection.set_progress_handler(None, 0)

    def close(self) -> None:
        """Stop all reads and close the journal."""
        self.stopping = True
        for threads in self.threads:
            threads.shutdown(wait=True, cancel_futures=True)
        for reader in self.open:
            reader.close()
