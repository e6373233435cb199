"""Admins' endpoints: policies, arms, candidates, state. Each change is a row of the policy's stream and an entry of the audit."""

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


def find_policy(call: Call) -> Served:
    """Return the policy that a request names. Raises HttpProblem (404) if it does not exist."""
    policy = call.service.core.policies.get(call.params["policy"])
    if policy is None:
        raise HttpProblem(404, "not-found", f"There is no policy {call.params['policy'][:100]!r}.")
    return policy


def etag(policy: Served) -> str:
    """Return the ETag of what admins change: settings, arms, candidates, and which policy plays."""
    state = [
        policy.settings.plain(),
        policy.arms,
        sorted(policy.removed),
        sorted(policy.candidates),
        policy.live.id,
        policy.archived,
    ]
    return '"' + hashlib.blake2b(json.dumps(state).encode(), digest_size=8).hexdigest() + '"'


def _among(tag: str, header: str) -> bool:
    """Whether a tag is in `header`, an If-Match or If-None-Match."""
    return header.strip() == "*" or tag in (part.strip().removeprefix("W/") for part in header.split(","))


def unchanged(call: Call, tag: str) -> bool:
    """Whether the client has this version already (If-None-Match)."""
    header = call.headers.get(b"if-none-match")
    return header is not None and _among(tag, header)


def plain(body: Any) -> Any:
    """Return a body as plain data, without the fields that were left out."""
    fields: Any = msgspec.to_builtins(body)
    return fields


async def make_change(call: Call, kind: Any, *arguments: Any, detail: Any = None, silent: bool = False) -> Any:
    """Make a change, add an audit entry unless `silent`, and return the core's answer. Raises HttpProblem if the change was not made."""
    tag = call.headers.get(b"if-match")
    while tag is not None and kind is not Create and call.service.core.watches[find_policy(call).id].busy:
        await asyncio.sleep(STEP)  # another change is being written: If-Match is compared with its result
    if tag is not None and kind is not Create and not _among(etag(find_policy(call)), tag):
        raise HttpProblem(
            412, "changed", "The policy has changed since you read it. Read it again, then repeat the change with its new ETag."
        )
    answer = await _ask(call, kind, arguments)
    if answer.status not in GOOD:
        raise of_answer(STATUS[answer.status], answer.status, answer.body, call.body)
    if not silent:
        await note(call, kind.__name__, call.params.get("policy"), detail)
    return answer


async def _ask(call: Call, kind: Any, arguments: tuple[Any, ...]) -> Any:
    return await (call.service.ask if kind is Create else call.service.change)(kind, *arguments)


async def note(call: Call, what: str, policy: str | None, detail: Any = None) -> None:
    """Add an audit entry: who did what."""
    await call.service.note(call.key, what, policy, detail)


async def create(call: Call) -> Reply:
    """Create a policy."""
    spec = plain(call.body)
    if call.key.policies is not None and spec["name"] not in call.key.policies:
        raise HttpProblem(
            403, "policy-not-allowed", "This key is limited to other policies. Use a key for this one, or for all."
        )
    call.params["policy"] = spec["name"]
    await make_change(call, Create, spec, os.urandom(32), detail=spec)
    policy = find_policy(call)
    headers = [(b"location", f"/v1/policies/{spec['name']}".encode()), (b"etag", etag(policy).encode())]
    return Reply(201, describe_policy(call, policy), headers=headers)


async def change(call: Call) -> Reply:
    """Change settings of a policy, e.g. floor, ramp, baseline, feedback."""
    changes = plain(call.body)
    await make_change(call, Change, call.params["policy"], changes, detail=changes)
    policy = find_policy(call)
    return Reply(200, describe_policy(call, policy), headers=[(b"etag", etag(policy).encode())])


async def archive(call: Call) -> Reply:
    """Archive a policy: it makes no further decisions. Feedback on past decisions is still accepted."""
    await make_change(call, Archive, call.params["policy"])
    return Reply(204)


async def add_arm(call: Call) -> Reply:
    """Add an arm, or bring back a removed one."""
    policy, arm = find_policy(call), call.params["arm"]
    if arm in policy.active_arms and not policy.archived and policy.open is None:
        return Reply(200, {"arm": arm, "arms": policy.active_arms, "version": policy.version})
    try:
        await make_change(call, AddArm, policy.name, arm, call.body.features, detail={"arm": arm})
    except HttpProblem as problem:
        if problem.status != 422 or arm not in policy.active_arms:
            raise
        return Reply(200, {"arm": arm, "arms": policy.active_arms, "version": policy.version})  # another request was first
    return Reply(201, {"arm": arm, "arms": policy.active_arms, "version": policy.version})


async def remove_arm(call: Call) -> Reply:
    """Remove an arm. The last arm cannot be removed."""
    policy, arm = find_policy(call), call.params["arm"]
    if not policy.archived and policy.open is None:
        if arm not in policy.arms:
            raise HttpProblem(404, "not-found", f"There is no arm {arm[:100]!r}.")
        if arm in policy.removed:
            return Reply(204)
        if len(policy.active_arms) == 1:
            raise HttpProblem(
                409, "last-arm", f"{arm!r} is the last arm. Add another arm first, or archive the policy instead."
            )
    await make_change(call, RemoveArm, policy.name, arm, detail={"arm": arm})
    return Reply(204)


async def add_candidate(call: Call) -> Reply:
    """Add a candidate: a policy that does not play, and learns the stream from its beginning."""
    policy, name = find_policy(call), call.body.name
    if name in policy.candidates:
        raise HttpProblem(
            409, "conflict", f"There is already a candidate {name[:100]!r}. Choose another name, or delete that one first."
        )
    await make_change(call, AddCandidate, policy.name, name, call.body.policy, detail=plain(call.body))
    return Reply(
        201, describe_candidate(policy, name), headers=[(b"location", f"/v1/policies/{policy.name}/candidates/{name}".encode())]
    )


async def candidates(call: Call) -> Reply:
    """List candidates, with what each would have earned on the updates so far."""
    policy = find_policy(call)
    return Reply(200, {"candidates": [describe_candidate(policy, name) for name in policy.candidates]})


async def one_candidate(call: Call) -> Reply:
    """Get a candidate."""
    return Reply(200, describe_candidate(find_policy(call), _candidate(call)))


async def drop_candidate(call: Call) -> Reply:
    """Delete a candidate."""
    await make_change(
        call, DropCandidate, find_policy(call).name, _candidate(call), detail={"candidate": call.params["candidate"]}
    )
    return Reply(204)


async def promote(call: Call) -> Reply:
    """Let a candidate play. The policy that played becomes the candidate before-<row>; promote that one to roll back."""
    await make_change(call, Promote, find_policy(call).name, _candidate(call), detail={"candidate": call.params["candidate"]})
    return Reply(200, describe_policy(call, find_policy(call)))


def _candidate(call: Call) -> str:
    name = call.params["candidate"]
    if name not in find_policy(call).candidates:
        raise HttpProblem(404, "not-found", f"There is no candidate {name[:100]!r}.")
    return name


def describe_candidate(policy: Served, name: str) -> dict[str, Any]:
    """Return a candidate as the API shows it.

    `value` is the mean of w r over all updates that it has read: an estimate. w is its own probability of the arm over the logged propensity.
    `difference` is how much more it would have earned than the policy that played. Its interval is ever wrong with a probability of at most
    `error`. It covers decisions made since the row `since`, which added the candidate or let the present policy play.
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
        "policy": learner.public_kind,
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
    """Take a snapshot: keep the policy's present state as a file."""
    policy = find_policy(call)
    seq = (await make_change(call, TakeSnapshot, policy.name)).body["snapshot"]
    return Reply(201, {"seq": seq}, headers=[(b"location", f"/v1/policies/{policy.name}/snapshots/{seq}.hsb".encode())])


async def put_state(call: Call) -> Reply:
    """Continue from a policy's file, made by policy.save or a snapshot."""
    name = find_policy(call).name
    read = await call.service.beside(read_file, call.body)
    await make_change(call, Import, name, call.body, read, detail={"bytes": len(call.body)})
    return Reply(200, describe_policy(call, find_policy(call)))


async def confirm_clock(call: Call) -> Reply:
    """Confirm that the clock, which jumped, is right: deadlines follow it again."""
    if call.key.policies is not None:
        raise HttpProblem(
            403,
            "policy-not-allowed",
            "The clock concerns all policies, and this key is limited to some. Use a key for all policies.",
        )
    await call.service.ask(ConfirmClock)
    await note(call, "ConfirmClock", None)
    return Reply(200, {"held": call.service.core.clock.held})


def describe_policy(call: Call, policy: Served) -> dict[str, Any]:
    """Return a policy as the API shows it, without the fields that must be read from the journal."""
    rules = policy.rules
    return {
        "name": policy.name,
        "version": policy.version,
        "head": policy.version,
        "lag": 0,
        "updates": policy.updates,
        "not_learned": policy.not_learned + policy.live.not_learned,
        "arms": policy.active_arms,
        "open": policy.first_arms["open"] if isinstance(policy.first_arms, dict) else None,
        "removed_arms": sorted(policy.removed),
        "policy": policy.live.public_kind,
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
