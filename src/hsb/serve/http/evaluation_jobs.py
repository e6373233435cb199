"""Evaluations that wait or run: one at a time, each in a process of its own."""

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

KEPT = 200
COLUMNS = "id, policy, asked, status, result, at, ended"


class Evaluations:
    """Those that wait or run, and all of them in the journal's file."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.turn = asyncio.Semaphore(1)
        self.running: dict[str, asyncio.Task[Any]] = {}

    def check_room(self) -> None:
        """HttpProblem where as many wait as may."""
        if len(self.running) >= self.service.settings.evaluations:
            raise HttpProblem(503, "busy", "Too many evaluations wait already.", retry=30.0)

    async def add(self, policy: str, asked: dict[str, Any]) -> str:
        """Queue one; its id."""
        self.check_room()
        name, at = new_id(), time.time_ns() // 1000
        row = (name, policy, json.dumps(asked), "waiting", None, at, None)
        old = "DELETE FROM evaluation WHERE id IN (SELECT id FROM evaluation ORDER BY at DESC LIMIT -1 OFFSET ?)"

        def write(store: Any) -> None:
            store.connection.execute(f"INSERT INTO evaluation ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            store.connection.execute(old, (KEPT,))

        await self.service.write(write)
        task = self.service.spawn(self._run(name, policy, asked))
        self.running[name] = task
        task.add_done_callback(lambda _: self.running.pop(name, None))
        return name

    async def _run(self, name: str, policy: str, asked: dict[str, Any]) -> None:
        try:
            async with self.turn:
                await self._set(name, "running", None)
                found = await self._process(policy, asked)
            await self._set(name, "failed" if "error" in found else "done", found)
        except asyncio.CancelledError:
            if not self.service.stopping:
                await self._set(name, "cancelled", None)
            raise
        except Exception as error:
            log_fault(error, evaluation=name)
            await self._set(name, "failed", {"error": "A fault of the service; its log has more."})

    async def _process(self, policy: str, asked: dict[str, Any]) -> dict[str, Any]:
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-m", "hsb.serve.http.evaluating")
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL)
        job = json.dumps({"db": str(self.service.path), "policy": policy, "asked": asked}).encode()
        try:
            async with asyncio.timeout(self.service.settings.evaluation_seconds):
                out, _ = await process.communicate(job)
        except TimeoutError:
            return {"error": f"It was not done after {self.service.settings.evaluation_seconds:g} s. Ask for less."}
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        try:
            found: dict[str, Any] = json.loads(out)
        except ValueError:
            return {"error": f"The process that worked it out ended with {process.returncode}."}
        return found

    async def _set(self, name: str, status: str, found: dict[str, Any] | None) -> None:
        ended = None if status == "running" else time.time_ns() // 1000
        text = None if found is None else json.dumps(found)
        sql = "UPDATE evaluation SET status = ?, result = ?, ended = ? WHERE id = ?"
        await self.service.write(lambda store: store.connection.execute(sql, (status, text, ended, name)) and None)


def rows(reader: Any, policy: str, name: str | None = None) -> list[Any]:
    """Evaluations of a policy, the newest first."""
    if name is None:
        return reader.rows(f"SELECT {COLUMNS} FROM evaluation WHERE policy = ? ORDER BY at DESC", policy)  # type: ignore[no-any-return]
    return reader.rows(f"SELECT {COLUMNS} FROM evaluation WHERE policy = ? AND id = ?", policy, name)  # type: ignore[no-any-return]


def shown(service: Service, row: Any) -> dict[str, Any]:
    """An evaluation as the API has it."""
    id, policy, asked, status, result, at, ended = row
    if status in ("waiting", "running") and id not in service.evaluations.running:
        status = "interrupted"  # the service ended meanwhile
    about = {"id": id, "policy": policy, "status": status, "asked": json.loads(asked), "at": when(at), "ended": when(ended)}
    return about | (json.loads(result) if result else {})
