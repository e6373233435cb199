"""Threads that read the journal: one for what takes a moment, others for what may take seconds, so that the first is never kept waiting."""

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
SCANS = 2  # threads for what may take long
STEPS = 20_000  # of SQLite, between looks at the clock


class Readers:
    """`quick` and `scans` run function(reader, ...), each on threads of its own with a connection of their own.

    A query ends after `seconds`, or when `stopping` is set. HttpProblem then.
    """

    def __init__(self, path: Any, seconds: float) -> None:
        self.path, self.seconds, self.stopping = path, seconds, False
        self.threads, self.own = [ThreadPoolExecutor(1, "hsb-reader"), ThreadPoolExecutor(SCANS, "hsb-scan")], threading.local()
        self.open: list[SqliteReader] = []

    async def quick(self, function: Callable[..., T], *given: Any) -> T:
        """What finds a few rows by their keys."""
        return await self._run(self.threads[0], function, given)

    async def scan(self, function: Callable[..., T], *given: Any) -> T:
        """What may go through many rows."""
        return await self._run(self.threads[1], function, given)

    async def _run(self, threads: ThreadPoolExecutor, function: Callable[..., T], given: tuple[Any, ...]) -> T:
        return await asyncio.get_running_loop().run_in_executor(threads, self._read, function, given)

    def _read(self, function: Callable[..., T], given: tuple[Any, ...]) -> T:
        reader = getattr(self.own, "reader", None)
        if reader is None:
            reader = self.own.reader = SqliteReader(self.path)
            self.open.append(reader)
        until = time.monotonic() + self.seconds
        reader.connection.set_progress_handler(lambda: self.stopping or time.monotonic() > until, STEPS)
        try:
            return function(reader, *given)
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
            raise HttpProblem(
                503, "too-much", "Reading that from the journal takes too long. Ask for less.", retry=5.0
            ) from None
        finally:
            reader.connection.set_progress_handler(None, 0)

    def close(self) -> None:
        """End what is being read, and let go of the journal."""
        self.stopping = True
        for threads in self.threads:
            threads.shutdown(wait=True, cancel_futures=True)
        for reader in self.open:
            reader.close()
