"""Evaluations: asked for, read, dropped; what runs them is in `evaluation_jobs`."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from .administering import P, note, served
from .answers import EvaluationAnswer, EvaluationQueued, EvaluationsAnswer
from .deciding import READ_BODY, WRITTEN
from .endpoint import Call, Endpoint, Reply
from .evaluation_jobs import rows, shown
from .idempotency import once
from .problem import HttpProblem
from .reading import READ
from .wire import EvaluationBody, ProblemAnswer


async def evaluate(call: Call) -> Reply:
    """Ask what candidates would have earned on the policy's updates. It runs in a process of its own; read it under Location."""
    policy, asked = served(call), msgspec.to_builtins(call.body)
    name = await call.service.evaluate(policy.name, asked)
    await note(call, "Evaluate", policy.name, {"id": name})
    where = f"/v1/policies/{policy.name}/evaluations/{name}"
    return Reply(202, {"id": name, "status": "waiting"}, headers=[(b"location", where.encode()), (b"retry-after", b"2")])


async def evaluations(call: Call) -> Reply:
    """Evaluations of a policy, the newest first."""
    return Reply(200, {"evaluations": await call.service.evaluations_of(served(call).name)})


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
    found = await call.service.readers.quick(rows, served(call).name, call.params["evaluation"])
    if not found:
        raise HttpProblem(404, "not-found", f"There is no evaluation {call.params['evaluation'][:100]!r}.")
    return shown(call.service, found[0])


ASKED = {202: EvaluationQueued, 404: ProblemAnswer, **READ_BODY, **WRITTEN}
ENDPOINTS = (
    Endpoint("POST", P + "/evaluations", "evaluate", once(evaluate), body=EvaluationBody, answers=ASKED, tag="evaluations"),
    Endpoint("GET", P + "/evaluations", "evaluate", evaluations, answers={200: EvaluationsAnswer, **READ}, tag="evaluations"),
    Endpoint(
        "GET",
        P + "/evaluations/{evaluation}",
        "evaluate",
        evaluation,
        answers={200: EvaluationAnswer, **READ},
        tag="evaluations",
    ),
    Endpoint(
        "DELETE", P + "/evaluations/{evaluation}", "evaluate", drop, answers={204: None, **READ, **WRITTEN}, tag="evaluations"
    ),
)
