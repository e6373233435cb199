"""Compile outside the event loop: only the request that needs code which is not compiled yet waits for it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from ..warming import Job, Warmth, key_of
from .problem import HttpProblem

PATIENCE = 50.0  # seconds that a request waits: proxies give up after 60


class Compiler:
    """Compiles what policies need, one kind at a time."""

    def __init__(self, warmth: Warmth) -> None:
        self.warmth, self.thread = warmth, ThreadPoolExecutor(1, "hsb-compiler")
        self.under_way: dict[str, asyncio.Future[None]] = {}

    async def ready(self, jobs: list[Job], patience: float = PATIENCE) -> None:
        """Return when everything that these jobs need is compiled. Raises HttpProblem (503) after `patience` seconds; compiling continues."""
        works = [self._begin(job) for job in jobs if key_of(job) not in self.warmth.known]
        if not works:
            return
        _, left = await asyncio.wait(works, timeout=patience)
        if left:
            detail = "Code for this kind of policy is being compiled, which takes up to a few minutes, once. Repeat the request then."
            raise HttpProblem(503, "compiling", detail, retry=5.0)
        for work in works:
            work.result()

    def _begin(self, job: Job) -> asyncio.Future[None]:
        key = key_of(job)
        if key not in self.under_way:
            work = asyncio.get_running_loop().run_in_executor(self.thread, self.warmth.warm, job)
            self.under_way[key] = work
            work.add_done_callback(lambda _: self.under_way.pop(key, None))
        return self.under_way[key]

    def end(self) -> None:
        """Stop compiling."""
        self.warmth.stop()
        self.thread.shutdown(wait=False, cancel_futures=True)
