"""Compiling beside the loop: a policy, a candidate or an arm that needs code which is not there yet waits for it, and nobody else does."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from ..warming import Job, Warmth, key_of
from .problem import HttpProblem

PATIENCE = 50.0  # seconds that a request waits: proxies give up after 60


class Compiler:
    """What makes sure that compiled code is there, one kind after the other."""

    def __init__(self, warmth: Warmth) -> None:
        self.warmth, self.thread = warmth, ThreadPoolExecutor(1, "hsb-compiler")
        self.under_way: dict[str, asyncio.Future[None]] = {}

    async def ready(self, jobs: list[Job], patience: float = PATIENCE) -> None:
        """Return when all is compiled that policies like these call. HttpProblem after a while: it goes on, and whoever asks again waits on."""
        works = [self._begun(job) for job in jobs if key_of(job) not in self.warmth.known]
        if not works:
            return
        _, left = await asyncio.wait(works, timeout=patience)
        if left:
            said = "What policies of this kind call is being compiled. That takes up to some minutes, once; ask again then."
            raise HttpProblem(503, "compiling", said, retry=5.0)
        for work in works:
            work.result()

    def _begun(self, job: Job) -> asyncio.Future[None]:
        key = key_of(job)
        if key not in self.under_way:
            work = asyncio.get_running_loop().run_in_executor(self.thread, self.warmth.warm, job)
            self.under_way[key] = work
            work.add_done_callback(lambda _: self.under_way.pop(key, None))
        return self.under_way[key]

    def end(self) -> None:
        """End what is being compiled."""
        self.warmth.stop()
        self.thread.shutdown(wait=False, cancel_futures=True)
