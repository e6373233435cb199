"""Endpoints for OpenFeature's clients (OFREP): a policy is a flag, its arm the variant, what the arm stands for the value; reason SPLIT."""

import hashlib
from typing import Any

from ...logs.formats.dsjson import flatten
from ..core import STATUS, Activate, Answer, Decide, Served
from ..core.flags import sticky_id
from ..local import clock
from .administering import etag, unchanged
from .deciding import GOOD, check
from .endpoint import Call, Endpoint, Reply, encode, retry_after
from .ids import new_id
from .problem import HttpProblem, of_answer
from .wire import FlagAnswer, FlagBody, FlagProblem, FlagsAnswer

KEY = "targetingKey"
ARMS = "arms"  # the attribute with the available arms, for policies whose arms come with each request
ALSO = {"boolean": ("boolean",), "string": ("string",), "object": ("object",), "number": ("number", "integer", "float")}
CODES = {
    "type-mismatch": "TYPE_MISMATCH",
    "not-json": "PARSE_ERROR",
    "context": "INVALID_CONTEXT",
    "refused": "INVALID_CONTEXT",
    "not-found": "FLAG_NOT_FOUND",
}
FLAGS = "/ofrep/v1/evaluate/flags"


def fault(call: Call, problem: HttpProblem) -> Reply:
    """Return the answer to a problem in OFREP's form: 400 for a bad request, 404 for an unknown flag."""
    status = 404 if problem.status == 410 else 400 if problem.status in (408, 409, 412, 413, 415, 422) else problem.status
    body: dict[str, Any] = {"errorDetails": problem.detail}
    if status in (400, 404):
        body = _failure(call.params.get("policy"), problem)
    return Reply(status, body, headers=[*problem.headers, *retry_after(problem.retry)])


def _failure(key: str | None, problem: HttpProblem) -> dict[str, Any]:
    code = "FLAG_NOT_FOUND" if problem.status in (404, 410) else CODES.get(problem.kind, "GENERAL")
    body = {"errorCode": code, "errorDetails": problem.detail}
    return body if key is None else {"key": key} | body


async def flag(call: Call) -> Reply:
    """Evaluate a flag: decide for its policy. The same targetingKey gets the same decision for some time, by default a day.

    Send rewards to /v1/decisions/{id}/reward; the id is in metadata.
    """
    check(call.body, call.service.settings.numbers)
    arguments = _decide_arguments(call, call.params["policy"], activate=True)
    answer = await call.service.ask(Decide, *arguments)
    if answer.status not in GOOD:
        raise of_answer(STATUS[answer.status], answer.status, answer.body)
    if answer.status == "stored":  # it may come from a call for all flags, which activates none
        await call.service.ask(Activate, arguments[1])
    return Reply(200, _flag_body(call, answer))


async def flags(call: Call) -> Reply:
    """Evaluate all flags: decide for every policy that the key is for. Decisions wait to be activated or rewarded, since clients keep them."""
    policies = call.service.core.policies
    names = sorted(name for name, policy in policies.items() if not policy.archived and _may(call, name))
    tags = [etag(policies[name]) for name in names]
    ids = [_sticky(call, policies[name]) for name in names]
    tag = '"' + hashlib.blake2b(encode([call.body.context, names, tags, ids]), digest_size=8).hexdigest() + '"'
    headers = [(b"etag", tag.encode())]
    if unchanged(call, tag):
        return Reply(304, headers=headers)
    check(call.body, call.service.settings.numbers)
    answers = await call.service.ask_all(Decide, [_decide_arguments(call, name, activate=False) for name in names])
    described = []
    for name, answer in zip(names, answers, strict=True):
        if answer.status in GOOD:
            described.append(_flag_body(call, answer))
        else:
            problem = of_answer(STATUS[answer.status], answer.status, answer.body)
            if problem.status >= 500:
                raise problem
            described.append(_failure(name, problem))
    return Reply(200, {"flags": described}, headers=headers)


def _may(call: Call, name: str) -> bool:
    return call.key.policies is None or name in call.key.policies


def _context(call: Call, policy: Served | None) -> dict[str, Any]:
    """Return the request's context, flattened. It lacks targetingKey, which names a person: the policy must not learn from it."""
    without = (KEY,) if policy is None or policy.open is None else (KEY, ARMS)
    return flatten({name: value for name, value in (call.body.context or {}).items() if name not in without})


def _arms(call: Call, policy: Served | None) -> Any:
    """Return the arms that came with the context; None for a policy with a list of arms, whose variants these are."""
    return None if policy is None or policy.open is None else (call.body.context or {}).get(ARMS)


def _decide_arguments(call: Call, name: str, *, activate: bool) -> tuple[Any, ...]:
    """Return the arguments of `Decide` for the policy `name`."""
    policy = call.service.core.policies.get(name)
    if policy is not None and call.body.type not in (None, *ALSO.get(policy.settings.flag.type, ())):
        detail = f"The values of {name} have the type {policy.settings.flag.type}, not {call.body.type}. Its setting flag.values defines them."
        raise HttpProblem(422, "type-mismatch", detail)
    id = None if policy is None else _sticky(call, policy)
    available = None if policy is None else policy.settings.flag.available(policy.active_arms)
    context, arms = _context(call, policy), _arms(call, policy)
    return name, id or new_id(), context, available, None, activate, 0, call.key.id, id is None, False, id is not None, arms


def _sticky(call: Call, policy: Served) -> str | None:
    """Return the id of this person's present decision; None if each evaluation is a new decision."""
    key, flag = (call.body.context or {}).get(KEY), policy.settings.flag
    if flag.sticky is None or not isinstance(key, str) or not key:
        return None
    if policy.open is not None:  # other arms are another decision
        arms = _arms(call, policy)
        names = [str(arm) for arm in arms] if isinstance(arms, dict | list) else []
        return sticky_id(policy.secret, key, flag.sticky, names, clock().wall)
    available = flag.available(policy.active_arms)
    out = [arm for arm in policy.arms if arm not in (policy.active_arms if available is None else available)]
    return sticky_id(policy.secret, key, flag.sticky, out, clock().wall)


def _flag_body(call: Call, answer: Answer) -> dict[str, Any]:
    body = answer.body
    about = {"decision": body["id"], "propensity": body["propensity"], "version": body["version"]}
    if "receipt" in body:
        about["receipt"] = body["receipt"]
    value = call.service.core.policies[body["policy"]].settings.flag.value(body["arm"])
    return {"key": body["policy"], "value": value, "variant": body["arm"], "reason": "SPLIT", "metadata": about}


WRONG = dict.fromkeys((400, 401, 403, 429, 503, 507), FlagProblem)
ALIKE: Any = {
    "body": FlagBody,
    "optional": True,
    "fault": fault,
    "never": frozenset({408, 413, 415, 422}),
    "tag": "ofrep",
    "public": True,
}
ONE = {200: FlagAnswer, 404: FlagProblem, **WRONG}
ALL = {200: FlagsAnswer, 304: None, **WRONG}
ENDPOINTS = (
    Endpoint("POST", FLAGS + "/{policy}", "decide", flag, answers=ONE, **ALIKE),
    Endpoint("POST", FLAGS, "decide", flags, answers=ALL, **ALIKE),
)
