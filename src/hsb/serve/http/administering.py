"""Policies, arms, candidates, state: what admins change. Each is a row of the policy's stream, and noted with who did it."""

import asyncio
import hashlib
import json
import os
from typing import Any

import msgspec

from ..core import (
    STATUS,
    AddArm,
    AddCandidate,
    Archive,
    Change,
    ConfirmClock,
    Create,
    DropCandidate,
    Import,
    Promote,
    RemoveArm,
    Served,
    TakeSnapshot,
    read_file,
)
from .answers import ArmAnswer, CandidateAnswer, CandidatesAnswer, ClockAnswer, PolicyAnswer, SnapshotAnswer
from .deciding import GOOD, READ_BODY, STEP, WRITTEN
from .endpoint import Call, Endpoint, Reply
from .idempotency import once
from .problem import HttpProblem, of_answer
from .wire import ArmBody, CandidateBody, ChangeBody, PolicyBody, ProblemAnswer

P = "/v1/policies/{policy}"
CHANGED = {**dict.fromkeys((404, 410, 412), ProblemAnswer), **WRITTEN}
FILES = ("application/octet-stream", "application/x-www-form-urlencoded", "")


def served(call: Call) -> Served:
    """The policy that a request names; HttpProblem if there is none."""
    found = call.service.core.policies.get(call.params["policy"])
    if found is None:
        raise HttpProblem(404, "not-found", f"There is no policy {call.params['policy'][:100]!r}.")
    return found


def etag(policy: Served) -> str:
    """Of what admins change: the same while they change nothing."""
    state = [
        policy.settings.plain(),
        policy.arms,
        sorted(policy.removed),
        sorted(policy.candidates),
        policy.live.id,
        policy.archived,
    ]
    return '"' + hashlib.blake2b(json.dumps(state).encode(), digest_size=8).hexdigest() + '"'


def _among(tag: str, wanted: str) -> bool:
    """Is a tag one of those in If-Match or If-None-Match?"""
    return wanted.strip() == "*" or tag in (each.strip().removeprefix("W/") for each in wanted.split(","))


def unchanged(call: Call, tag: str) -> bool:
    """Has whoever asks this already (If-None-Match)?"""
    wanted = call.headers.get(b"if-none-match")
    return wanted is not None and _among(tag, wanted)


def plain(body: Any) -> Any:
    """A body without what was left out."""
    found: Any = msgspec.to_builtins(body)
    return found


async def done(call: Call, kind: Any, *given: Any, detail: Any = None, silent: bool = False) -> Any:
    """Ask for a change, note it, and give the answer; HttpProblem if it was not made."""
    wanted = call.headers.get(b"if-match")
    while wanted is not None and kind is not Create and call.service.core.watches[served(call).id].busy:
        await asyncio.sleep(STEP)  # another change is being written: what it makes of the policy is what is compared
    if wanted is not None and kind is not Create and not _among(etag(served(call)), wanted):
        raise HttpProblem(412, "changed", "The policy was changed since. Read it again, and then change it.")
    answer = await _ask(call, kind, given)
    if answer.status not in GOOD:
        raise of_answer(STATUS[answer.status], answer.status, answer.body, call.body)
    if not silent:
        await note(call, kind.__name__, call.params.get("policy"), detail)
    return answer


async def _ask(call: Call, kind: Any, given: tuple[Any, ...]) -> Any:
    return await (call.service.ask if kind is Create else call.service.change)(kind, *given)


async def note(call: Call, what: str, policy: str | None, detail: Any = None) -> None:
    """Write down who did what."""
    await call.service.note(call.key, what, policy, detail)


async def create(call: Call) -> Reply:
    """Make a policy."""
    spec = plain(call.body)
    if call.key.policies is not None and spec["name"] not in call.key.policies:
        raise HttpProblem(403, "policy-not-allowed", "This key is for other policies.")
    call.params["policy"] = spec["name"]
    await done(call, Create, spec, os.urandom(32), detail=spec)
    found = served(call)
    headers = [(b"location", f"/v1/policies/{spec['name']}".encode()), (b"etag", etag(found).encode())]
    return Reply(201, about(call, found), headers=headers)


async def change(call: Call) -> Reply:
    """Change settings: floor, ramp, baseline, feedback."""
    changes = plain(call.body)
    await done(call, Change, call.params["policy"], changes, detail=changes)
    found = served(call)
    return Reply(200, about(call, found), headers=[(b"etag", etag(found).encode())])


async def archive(call: Call) -> Reply:
    """Let a policy decide no more. Feedback for what it decided is still taken."""
    await done(call, Archive, call.params["policy"])
    return Reply(204)


async def add_arm(call: Call) -> Reply:
    """Add an arm, or bring one back."""
    policy, arm = served(call), call.params["arm"]
    if arm in policy.active_arms and not policy.archived:
        return Reply(200, {"arm": arm, "arms": policy.active_arms, "version": policy.version})
    try:
        await done(call, AddArm, policy.name, arm, call.body.features, detail={"arm": arm})
    except HttpProblem as problem:
        if problem.status != 422 or arm not in policy.active_arms:
            raise
        return Reply(200, {"arm": arm, "arms": policy.active_arms, "version": policy.version})  # another request was first
    return Reply(201, {"arm": arm, "arms": policy.active_arms, "version": policy.version})


async def remove_arm(call: Call) -> Reply:
    """Offer an arm no more. The last one stays."""
    policy, arm = served(call), call.params["arm"]
    if not policy.archived:
        if arm not in policy.arms:
            raise HttpProblem(404, "not-found", f"There is no arm {arm[:100]!r}.")
        if arm in policy.removed:
            return Reply(204)
        if len(policy.active_arms) == 1:
            raise HttpProblem(
                409, "last-arm", f"{arm!r} is the last arm. Archive the policy instead, or add another one first."
            )
    await done(call, RemoveArm, policy.name, arm, detail={"arm": arm})
    return Reply(204)


async def add_candidate(call: Call) -> Reply:
    """Let a policy learn beside the one that plays, from the beginning of the stream."""
    policy, name = served(call), call.body.name
    if name in policy.candidates:
        raise HttpProblem(409, "conflict", f"There is a candidate {name[:100]!r} already.")
    await done(call, AddCandidate, policy.name, name, call.body.policy, detail=plain(call.body))
    return Reply(
        201, candidate(policy, name), headers=[(b"location", f"/v1/policies/{policy.name}/candidates/{name}".encode())]
    )


async def candidates(call: Call) -> Reply:
    """Candidates, and what they would have earned on the updates so far."""
    policy = served(call)
    return Reply(200, {"candidates": [candidate(policy, name) for name in policy.candidates]})


async def one_candidate(call: Call) -> Reply:
    """One candidate."""
    return Reply(200, candidate(served(call), _candidate(call)))


async def drop_candidate(call: Call) -> Reply:
    """Let a candidate go."""
    await done(call, DropCandidate, served(call).name, _candidate(call), detail={"candidate": call.params["candidate"]})
    return Reply(204)


async def promote(call: Call) -> Reply:
    """Let a candidate play. What played before stays as the candidate before-<row>: promoting that one rolls back."""
    await done(call, Promote, served(call).name, _candidate(call), detail={"candidate": call.params["candidate"]})
    return Reply(200, about(call, served(call)))


def _candidate(call: Call) -> str:
    name = call.params["candidate"]
    if name not in served(call).candidates:
        raise HttpProblem(404, "not-found", f"There is no candidate {name[:100]!r}.")
    return name


def candidate(policy: Served, name: str) -> dict[str, Any]:
    """A candidate as the API has it.

    `value` is the mean of w r over all updates that it has read, w being its own probability of the arm over the logged propensity: an
    estimate. `difference` is what it would have earned more than what played, in its place, with an interval that is ever wrong with a
    probability of at most `error`: over decisions made since `since`, the row that added it or by which what plays began to play.
    """
    from ..core.learner import TALLIES
    from ..page.bands import ERROR
    from ..page.candidates import compared

    learner = policy.candidates.get(name)
    if learner is None:
        return {"name": name}
    tallies = dict(zip(TALLIES, learner.tallies, strict=True))
    n, rules = tallies["updates"], policy.rules
    scale = None if rules.low is None or rules.high is None else (rules.low, rules.high)
    exact, behind = policy.live.exact and learner.exact, policy.version - learner.at
    band, why = compared(learner.bets, scale, exact=exact, behind=behind)
    difference = band._asdict() | {"error": ERROR, "updates": learner.bets.updates, "since": learner.bets.since, "why_not": why}
    return {
        "name": name,
        "policy": learner.shown,
        "read": learner.at,
        "version": policy.version,
        "not_learned": learner.not_learned,
        "updates_valued": int(n),
        "value": tallies["value"] / n if n else None,
        "played_value": tallies["reward"] / n if n else None,
        "mean_weight": tallies["weight"] / n if n else None,
        "difference": difference,
        "tallies": tallies,
    }


async def take_snapshot(call: Call) -> Reply:
    """Keep the policy's state now, as a file."""
    policy = served(call)
    seq = (await done(call, TakeSnapshot, policy.name)).body["snapshot"]
    return Reply(201, {"seq": seq}, headers=[(b"location", f"/v1/policies/{policy.name}/snapshots/{seq}.hsb".encode())])


async def put_state(call: Call) -> Reply:
    """Go on from a policy's file, as policy.save or a snapshot makes it."""
    name = served(call).name
    read = await call.service.beside(read_file, call.body)
    await done(call, Import, name, call.body, read, detail={"bytes": len(call.body)})
    return Reply(200, about(call, served(call)))


async def confirm_clock(call: Call) -> Reply:
    """Say that the clock, which jumped, is right now: deadlines go by it again."""
    if call.key.policies is not None:
        raise HttpProblem(403, "policy-not-allowed", "The clock is that of all policies, and this key is for some.")
    await call.service.ask(ConfirmClock)
    await note(call, "ConfirmClock", None)
    return Reply(200, {"held": call.service.core.clock.held})


def about(call: Call, policy: Served) -> dict[str, Any]:
    """A policy as the API has it, without what must be read from the journal."""
    rules = policy.rules
    return {
        "name": policy.name,
        "version": policy.version,
        "head": policy.version,
        "lag": 0,
        "updates": policy.updates,
        "not_learned": policy.not_learned + policy.live.not_learned,
        "arms": policy.active_arms,
        "removed_arms": sorted(policy.removed),
        "policy": policy.live.shown,
        "kind": policy.live.type,
        "exact": policy.live.exact,
        "reward_range": None if rules.low is None else [rules.low, rules.high],
        **policy.settings.plain(),
        "candidates": list(policy.candidates),
        "archived": policy.archived,
        "warnings": policy.warnings(),
        "synthetic": call.service.synthetic(policy.name),
    }


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/policies",
        "admin",
        once(create),
        body=PolicyBody,
        answers={201: PolicyAnswer, 409: ProblemAnswer, **READ_BODY, **WRITTEN},
    ),
    Endpoint("PATCH", P, "admin", change, body=ChangeBody, answers={200: PolicyAnswer, **CHANGED, **READ_BODY}),
    Endpoint(
        "PUT",
        P + "/arms/{arm:text}",
        "admin",
        add_arm,
        body=ArmBody,
        optional=True,
        answers={201: ArmAnswer, 200: ArmAnswer, **CHANGED, **READ_BODY},
        tag="arms",
    ),
    Endpoint(
        "DELETE", P + "/arms/{arm:text}", "admin", remove_arm, answers={204: None, 409: ProblemAnswer, **CHANGED}, tag="arms"
    ),
    Endpoint("GET", P + "/candidates", "read", candidates, answers={200: CandidatesAnswer}, tag="candidates"),
    Endpoint(
        "POST",
        P + "/candidates",
        "admin",
        once(add_candidate),
        body=CandidateBody,
        tag="candidates",
        answers={201: CandidateAnswer, 409: ProblemAnswer, **CHANGED, **READ_BODY},
    ),
    Endpoint("GET", P + "/candidates/{candidate}", "read", one_candidate, answers={200: CandidateAnswer}, tag="candidates"),
    Endpoint(
        "DELETE", P + "/candidates/{candidate}", "admin", drop_candidate, answers={204: None, **CHANGED}, tag="candidates"
    ),
    Endpoint(
        "POST",
        P + "/candidates/{candidate}/promote",
        "admin",
        once(promote),
        answers={200: PolicyAnswer, **CHANGED},
        tag="candidates",
    ),
    Endpoint("POST", P + "/snapshots", "admin", once(take_snapshot), answers={201: SnapshotAnswer, **CHANGED}, tag="snapshots"),
    Endpoint(
        "PUT",
        P + "/state",
        "admin",
        put_state,
        body=bytes,
        large="file_body",
        types=FILES,
        answers={200: PolicyAnswer, **CHANGED, **READ_BODY},
        tag="snapshots",
    ),
    Endpoint("POST", "/v1/clock/confirm", "admin", once(confirm_clock), answers={200: ClockAnswer}, tag="service"),
)
