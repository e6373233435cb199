"""Views of the page, made in a separate process of low priority, so that they do not delay decisions."""

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

MOST = 64  # views that may wait
END = 3.0  # seconds that the process has to save its sums when the service ends
ViewAnswer = tuple[bytes | None, str]
AGAIN = "The process that makes the page's views has ended. Load the page again."


class PageProcess:
    """A process that makes views one at a time. It is started when the first view is requested."""

    def __init__(self, service: Service) -> None:
        self.service, self.turn, self.waiting = service, asyncio.Lock(), 0
        self.process: Process | None = None

    async def view(self, look: Any) -> bytes:
        """Return a view as bytes. Raises HttpProblem if it takes too long."""
        if self.waiting >= MOST:
            raise HttpProblem(503, "busy", "Too many views of the page are being made. Load it again in a moment.", retry=2.0)
        self.waiting += 1
        try:
            async with asyncio.timeout(self.service.settings.read_seconds):
                await self.turn.acquire()
                page, fault = await asyncio.shield(self.service.spawn(self._exchange(look)))
        except TimeoutError:
            detail = "This view takes long to make. Load it again in a moment: what was read meanwhile is kept."
            raise HttpProblem(503, "too-much", detail, retry=5.0) from None
        finally:
            self.waiting -= 1
        if page is None:
            if not fault:
                raise HttpProblem(503, "busy", AGAIN, retry=1.0)
            log("fault", level="error", kind="page", trace=fault)
            raise HttpProblem(500, "fault", "The service has a fault. See its log for details.")
        view: bytes = page
        return view

    async def _exchange(self, look: Any) -> ViewAnswer:
        """Send a request for a view and read the answer; the client may have left meanwhile."""
        try:
            process = await self._running()
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(frame(look))
            await process.stdin.drain()
            size = int.from_bytes(await process.stdout.readexactly(8), "little")
            answer: ViewAnswer = pickle.loads(await process.stdout.readexactly(size))
            return answer
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
        """End the process, which saves its sums first."""
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
