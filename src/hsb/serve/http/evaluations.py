"""Endpoints of evaluations: queue, read, drop. `evaluation_jobs` runs them."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from .administering import P, find_policy, note
from .answers import EvaluationAnswer, EvaluationQueued, EvaluationsAnswer
from .deciding import READ_BODY, WRITTEN
from .endpoint import Call, Endpoint, Reply
from .evaluation_jobs import describe_evaluation, rows
from .idempotency import once
from .problem import HttpProblem
from .reading import READ
from .wire import EvaluationBody, ProblemAnswer


async def evaluate(call: Call) -> Reply:
    """Evaluate what candidates would have earned on the policy's updates. It runs in the background; read the result at Location."""
    policy, request = find_policy(call), msgspec.to_builtins(call.body)
    name = await call.service.evaluate(policy.name, request)
    await note(call, "Evaluate", policy.name, {"id": name})
    where = f"/v1/policies/{policy.name}/evaluations/{name}"
    return Reply(202, {"id": name, "status": "waiting"}, headers=[(b"location", where.encode()), (b"retry-after", b"2")])


async def evaluations(call: Call) -> Reply:
    """List evaluations of a policy, newest first."""
    return Reply(200, {"evaluations": await call.service.evaluations_of(find_policy(call).name)})


async def evaluation(call: Call) -> Reply:
    """Get an evaluation: waiting, running, done, failed, cancelled or interrupted."""
    return Reply(200, await _one(call))


async def drop(call: Call) -> Reply:
    """Cancel an evaluation that waits or runs; delete one that has ended."""
    evaluation = await _one(call)
    task = call.service.evaluations.running.get(evaluation["id"])
    if task is not None:
        task.cancel()
        await asyncio.wait([task], timeout=5)
    else:
        await call.service.write(
            lambda store: store.connection.execute("DELETE FROM evaluation WHERE id = ?", (evaluation["id"],)) and None
        )
    return Reply(204)


async def _one(call: Call) -> dict[str, Any]:
    matches = await call.service.readers.quick(rows, find_policy(call).name, call.params["evaluation"])
    if not matches:
        raise HttpProblem(404, "not-found", f"There is no evaluation {call.params['evaluation'][:100]!r}.")
    return describe_evaluation(call.service, matches[0])


QUEUED = {202: EvaluationQueued, 404: ProblemAnswer, **READ_BODY, **WRITTEN}
ENDPOINTS = (
    Endpoint("POST", P + "/evaluations", "evaluate", once(evaluate), body=EvaluationBody, answers=QUEUED, tag="evaluations"),
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
