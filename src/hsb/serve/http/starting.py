"""Start a service: it listens at once, recovers the journal and compiles in a thread, and reports its progress meanwhile."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from typing import Any

from ... import __version__
from ..core import Served
from ..store.sqlite import readable
from ..warming import Job, Warmth, job_of
from .app import App
from .endpoint import encode
from .logs import log
from .service import Opened, Service
from .settings import ServerSettings

AGAIN = b"2"  # seconds to wait: Retry-After
JSON, PROBLEM = b"application/json", b"application/problem+json"
USUAL: Job = {"arms": ["a", "b", "c"], "arm_features": {}, "policy": {"kind": "HSB"}, "settings": {}}


class Stopped(Exception):
    """The process must end before it has started to serve."""


class Progress:
    """Progress of a start. The starting thread writes it, the event loop reads it."""

    def __init__(self, warmth: Warmth) -> None:
        self.began, self.warmth, self.stopped = time.monotonic(), warmth, False
        self.doing, self.done, self.of = "compiling", 0, 1
        self.rows, self.of_rows = 0, 0

    def compiling(self, done: int, of: int) -> None:
        """Note that `done` of `of` kinds of policies are compiled."""
        self._check()
        self.doing, self.done, self.of = "compiling", done, of

    def recovering(self, done: int, of: int, rows: int, of_rows: int) -> None:
        """Note that `done` of `of` policies are recovered, and `rows` of `of_rows` rows of the next one's stream."""
        self._check()
        self.doing, self.done, self.of, self.rows, self.of_rows = "recovering", done, of, rows, of_rows

    def stop(self) -> None:
        """End the start soon."""
        self.stopped = True
        self.warmth.stop()

    def _check(self) -> None:
        if self.stopped:
            raise Stopped

    def describe(self) -> dict[str, Any]:
        """Return the progress as /readyz shows it."""
        progress = {"status": "starting", "doing": self.doing, "seconds": round(time.monotonic() - self.began, 1)}
        if self.doing == "recovering":
            rows = {"done": self.rows, "of": self.of_rows}
            return progress | {"policies": {"done": self.done, "of": self.of}, "rows_of_the_next": rows}
        return progress | {"kinds": {"done": self.done, "of": self.of}, "kernels_compiled": self.warmth.kernels}


def prepare(opened: Opened, settings: ServerSettings, progress: Progress) -> Service:
    """Return a service with policies recovered and their code compiled. It takes long if much must be compiled or read."""
    with readable(opened.store.path):
        _warm([USUAL, *_first_jobs(opened)], progress)
        service = Service(opened.store.path, settings, opened=opened, warmth=progress.warmth, watch=progress.recovering)
    _warm([job for served in service.core.policies.values() for job in _jobs(served)], progress)
    return service


def _warm(jobs: list[Job], progress: Progress) -> None:
    for done, job in enumerate(jobs):
        progress.compiling(done, len(jobs))
        progress.warmth.warm(job)


def _first_jobs(opened: Opened) -> list[Job]:
    """Return a job for each policy, as it was created."""
    rows = [opened.store.stream(row.id, 0, 1) for row in opened.store.policies()]
    return [json.loads(some[0][0].data or "{}") | {"settings": {}} for some in rows if some]


def _jobs(served: Served) -> list[Job]:
    return [] if served.archived else [job_of(served, each.kind) for each in (served.live, *served.candidates.values())]


class Starting:
    """An ASGI application for the start: /healthz is 200, /readyz 503 with the progress, the rest 503. Then it is the service's application."""

    def __init__(self, make: Callable[[], Service], progress: Progress, *beside: Callable[[Service], Any]) -> None:
        self.make, self.progress, self.beside = make, progress, beside
        self.app: App | None = None
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, name="hsb-start", daemon=True)
        self.loop: asyncio.AbstractEventLoop
        self.give_up: Callable[[], object] = bool  # called if the service cannot start

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif self.app is not None:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._not_yet(scope["path"], send)
        else:
            await send({"type": "websocket.close", "code": 1013})

    async def _lifespan(self, receive: Any, send: Any) -> None:
        self.loop = asyncio.get_running_loop()
        while True:
            if (await receive())["type"] == "lifespan.startup":
                self.thread.start()
                await send({"type": "lifespan.startup.complete"})
                continue
            self.progress.stop()
            if self.app is not None:
                await self.app.end()
            await send({"type": "lifespan.shutdown.complete"})
            return

    def _run(self) -> None:
        try:
            service = self.make()
        except Stopped:
            return
        except Exception as error:
            self.error = error
            self.loop.call_soon_threadsafe(self.give_up)
            return
        self.loop.call_soon_threadsafe(lambda: self.loop.create_task(self._begin(service)))

    async def _begin(self, service: Service) -> None:
        if self.progress.stopped:
            return
        app = App(service, self.beside)
        await app.begin()
        self.app = app
        log("ready", policies=len(service.core.policies), seconds=round(time.monotonic() - self.progress.began, 2))

    async def _not_yet(self, path: str, send: Any) -> None:
        if path == "/healthz":
            await _send(send, 200, JSON, {"status": "ok", "version": __version__})
            return
        body = self.progress.describe()
        if path != "/readyz":
            detail = f"The service is starting: {body['doing']}. Wait until /readyz answers 200; it shows the progress."
            body = {"type": "/problems/starting", "title": "Unavailable now", "status": 503, "detail": detail}
        await _send(send, 503, JSON if path == "/readyz" else PROBLEM, body)


async def _send(send: Any, status: int, kind: bytes, body: dict[str, Any]) -> None:
    raw = encode(body)
    headers = [(b"content-type", kind), (b"content-length", str(len(raw)).encode()), (b"cache-control", b"no-store")]
    headers += [(b"retry-after", AGAIN)] if status == 503 else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": raw})
