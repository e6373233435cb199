"""Evaluations that wait or run: one at a time, each in a separate process."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from .ids import new_id, when
from .logs import log_fault
from .problem import HttpProblem

if TYPE_CHECKING:
    from .service import Service

KEPT = 200  # evaluations, the newest
COLUMNS = "id, policy, request, status, result, at, ended"


class Evaluations:
    """The queue of evaluations; all of them are also in the journal's file."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.turn = asyncio.Semaphore(1)
        self.running: dict[str, asyncio.Task[Any]] = {}

    def check_room(self) -> None:
        """Raise HttpProblem (503) if the queue is full."""
        if len(self.running) >= self.service.settings.evaluations:
            raise HttpProblem(503, "busy", "Too many evaluations are queued. Try again when some are done.", retry=30.0)

    async def add(self, policy: str, request: dict[str, Any]) -> str:
        """Queue an evaluation; return its id."""
        self.check_room()
        name, now = new_id(), time.time_ns() // 1000
        row = (name, policy, json.dumps(request), "waiting", None, now, None)
        old = "DELETE FROM evaluation WHERE id IN (SELECT id FROM evaluation ORDER BY at DESC LIMIT -1 OFFSET ?)"

        def write(store: Any) -> None:
            store.connection.execute(f"INSERT INTO evaluation ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            store.connection.execute(old, (KEPT,))

        await self.service.write(write)
        task = self.service.spawn(self._run(name, policy, request))
        self.running[name] = task
        task.add_done_callback(lambda _: self.running.pop(name, None))
        return name

    async def _run(self, name: str, policy: str, request: dict[str, Any]) -> None:
        try:
            async with self.turn:
                await self._set(name, "running", None)
                result = await self._process(policy, request)
            await self._set(name, "failed" if "error" in result else "done", result)
        except asyncio.CancelledError:
            if not self.service.stopping:
                await self._set(name, "cancelled", None)
            raise
        except Exception as error:
            log_fault(error, evaluation=name)
            await self._set(name, "failed", {"error": "The service has a fault. See its log for details."})

    async def _process(self, policy: str, request: dict[str, Any]) -> dict[str, Any]:
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-m", "hsb.serve.http.evaluating")
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL)
        job = json.dumps({"db": str(self.service.path), "policy": policy, "request": request}).encode()
        try:
            async with asyncio.timeout(self.service.settings.evaluation_seconds):
                out, _ = await process.communicate(job)
        except TimeoutError:
            return {"error": f"It took longer than {self.service.settings.evaluation_seconds:g} s. Evaluate fewer candidates."}
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        try:
            result: dict[str, Any] = json.loads(out)
        except ValueError:
            return {"error": f"The process of the evaluation ended with exit status {process.returncode}."}
        return result

    async def _set(self, name: str, status: str, result: dict[str, Any] | None) -> None:
        ended = None if status == "running" else time.time_ns() // 1000
        text = None if result is None else json.dumps(result)
        sql = "UPDATE evaluation SET status = ?, result = ?, ended = ? WHERE id = ?"
        await self.service.write(lambda store: store.connection.execute(sql, (status, text, ended, name)) and None)


def rows(reader: Any, policy: str, name: str | None = None) -> list[Any]:
    """Return evaluations of a policy, newest first; with `name`, that one alone."""
    if name is None:
        return reader.rows(f"SELECT {COLUMNS} FROM evaluation WHERE policy = ? ORDER BY at DESC", policy)  # type: ignore[no-any-return]
    return reader.rows(f"SELECT {COLUMNS} FROM evaluation WHERE policy = ? AND id = ?", policy, name)  # type: ignore[no-any-return]


def describe_evaluation(service: Service, row: Any) -> dict[str, Any]:
    """Return an evaluation as the API shows it."""
    id, policy, request, status, result, timestamp, ended = row
    if status in ("waiting", "running") and id not in service.evaluations.running:
        status = "interrupted"  # the service ended meanwhile
    about = {
        "id": id,
        "policy": policy,
        "status": status,
        "request": json.loads(request),
        "at": when(timestamp),
        "ended": when(ended),
    }
    return about | (json.loads(result) if result else {})
