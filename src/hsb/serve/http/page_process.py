"""Views of the page, made in a process beside the service: no look holds up decisions, and none takes the processor's time from them."""

from __future__ import annotations

import asyncio
import pickle
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..page.working import frame
from .logs import log
from .problem import HttpProblem

if TYPE_CHECKING:
    from .service import Service

MOST = 64  # views that wait
END = 3.0  # seconds for what was read to be written to files when the service ends
Answered = tuple[bytes | None, str]
AGAIN = "The process that makes the page's views ended. Look again."


class PageProcess:
    """One such process, begun when somebody looks. It makes one view after the other."""

    def __init__(self, service: Service) -> None:
        self.service, self.turn, self.waiting = service, asyncio.Lock(), 0
        self.process: Process | None = None

    async def view(self, look: Any) -> bytes:
        """A view, as bytes; HttpProblem where that takes too long."""
        if self.waiting >= MOST:
            raise HttpProblem(503, "busy", "Too many views of the page are being made.", retry=2.0)
        self.waiting += 1
        try:
            async with asyncio.timeout(self.service.settings.read_seconds):
                await self.turn.acquire()
                found, fault = await asyncio.shield(self.service.spawn(self._exchange(look)))
        except TimeoutError:
            said = "This view takes long to make. Look again in a moment: what was read of the journal meanwhile is kept."
            raise HttpProblem(503, "too-much", said, retry=5.0) from None
        finally:
            self.waiting -= 1
        if found is None:
            if not fault:
                raise HttpProblem(503, "busy", AGAIN, retry=1.0)
            log("fault", level="error", kind="page", trace=fault)
            raise HttpProblem(500, "fault", "A fault of the service; its log has more.")
        view: bytes = found
        return view

    async def _exchange(self, look: Any) -> Answered:
        """One look and its answer; whoever asked may have gone meanwhile."""
        try:
            process = await self._running()
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(frame(look))
            await process.stdin.drain()
            size = int.from_bytes(await process.stdout.readexactly(8), "little")
            answered: Answered = pickle.loads(await process.stdout.readexactly(size))
            return answered
        except (asyncio.IncompleteReadError, OSError):
            self.process = None
            return None, ""
        finally:
            self.turn.release()

    async def _running(self) -> Process:
        if self.process is None or self.process.returncode is not None:
            command = (sys.executable, "-m", "hsb.serve.page.working", str(self.service.path))
            self.process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        return self.process

    async def end(self) -> None:
        """Let it end: it writes what it has read."""
        process, self.process = self.process, None
        if process is None or process.returncode is not None:
            return
        try:
            async with asyncio.timeout(END):
                await process.communicate()  # which closes its stdin
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
