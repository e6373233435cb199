"""Evaluations: asked for, read, dropped; what runs them is in `queueing`."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import msgspec

from .administering import P, note, served
from .calls import Call, Endpoint, Reply
from .deciding import READ_BODY, WRITTEN
from .evaluating import candidates
from .ids import when
from .problem import Problem
from .queueing import COLUMNS
from .reading import READ
from .wire import EvaluationBody, ProblemAnswer

if TYPE_CHECKING:
    from .service import Service


def rows(reader: Any, policy: str, name: str | None = None) -> list[Any]:
    """Evaluations of a policy, the newest first."""
    if name is None:
        return reader._all(f"SELECT {COLUMNS} FROM evaluation WHERE policy = ? ORDER BY at DESC", policy)  # type: ignore[no-any-return]
    return reader._all(f"SELECT {COLUMNS} FROM evaluation WHERE policy = ? AND id = ?", policy, name)  # type: ignore[no-any-return]


def shown(service: Service, row: Any) -> dict[str, Any]:
    """An evaluation as the API has it."""
    id, policy, asked, status, result, at, ended = row
    if status in ("waiting", "running") and id not in service.evaluations.running:
        status = "interrupted"  # the service ended meanwhile
    about = {"id": id, "policy": policy, "status": status, "asked": json.loads(asked), "at": when(at), "ended": when(ended)}
    return about | (json.loads(result) if result else {})


async def evaluate(call: Call) -> Reply:
    """Ask what candidates would have earned on the policy's lessons. It runs in a process of its own; read it under Location."""
    policy, asked = served(call), msgspec.to_builtins(call.body)
    candidates(policy, asked["candidates"])
    name = await call.service.evaluations.add(policy.name, asked)
    note(call, "Evaluate", policy.name, {"id": name})
    where = f"/v1/policies/{policy.name}/evaluations/{name}"
    return Reply(202, {"id": name, "status": "waiting"}, headers=[(b"location", where.encode()), (b"retry-after", b"2")])


async def evaluations(call: Call) -> Reply:
    """Evaluations of a policy, the newest first."""
    found = await call.service.read(rows, served(call).name)
    return Reply(200, {"evaluations": [shown(call.service, row) for row in found]})


async def evaluation(call: Call) -> Reply:
    """An evaluation: waiting, running, done, failed, cancelled or interrupted."""
    return Reply(200, await _one(call))


async def drop(call: Call) -> Reply:
    """Stop an evaluation, or forget it."""
    found = await _one(call)
    task = call.service.evaluations.running.get(found["id"])
    if task is not None:
        task.cancel()
        await asyncio.wait([task], timeout=5)
    else:
        await call.service.write(
            lambda store: store.connection.execute("DELETE FROM evaluation WHERE id = ?", (found["id"],)) and None
        )
    return Reply(204)


async def _one(call: Call) -> dict[str, Any]:
    found = await call.service.read(rows, served(call).name, call.params["evaluation"])
    if not found:
        raise Problem(404, "not-found", f"There is no evaluation {call.params['evaluation'][:100]!r}.")
    return shown(call.service, found[0])


ASKED = {202: dict, 404: ProblemAnswer, **READ_BODY, **WRITTEN}
ENDPOINTS = (
    Endpoint("POST", P + "/evaluations", "evaluate", evaluate, body=EvaluationBody, answers=ASKED, tag="evaluations"),
    Endpoint("GET", P + "/evaluations", "evaluate", evaluations, answers={200: dict, **READ}, tag="evaluations"),
    Endpoint("GET", P + "/evaluations/{evaluation}", "evaluate", evaluation, answers={200: dict, **READ}, tag="evaluations"),
    Endpoint(
        "DELETE", P + "/evaluations/{evaluation}", "evaluate", drop, answers={204: None, **READ, **WRITTEN}, tag="evaluations"
    ),
)
