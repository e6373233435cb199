"""A door for OpenFeature's clients (OFREP): a policy is a flag, its arm the value and the variant, and the reason is SPLIT."""

import hashlib
from typing import Any

from ..core import STATUS, Answer, Decide
from .administering import etag, unchanged
from .deciding import GOOD, check
from .endpoint import Call, Endpoint, Reply, encode, retry_after
from .ids import new_id
from .problem import HttpProblem, of_answer
from .wire import FlagAnswer, FlagBody, FlagProblem, FlagsAnswer

CODES = {"not-json": "PARSE_ERROR", "context": "INVALID_CONTEXT", "refused": "INVALID_CONTEXT", "not-found": "FLAG_NOT_FOUND"}
FLAGS = "/ofrep/v1/evaluate/flags"


def fault(call: Call, problem: HttpProblem) -> Reply:
    """A problem as OFREP has it: 400 for whatever is wrong with the question, 404 for a flag that there is not."""
    status = 404 if problem.status == 410 else 400 if problem.status in (408, 409, 412, 413, 415, 422) else problem.status
    body: dict[str, Any] = {"errorDetails": problem.detail}
    if status in (400, 404):
        body = _failure(call.params.get("policy"), problem)
    return Reply(status, body, headers=[*problem.headers, *retry_after(problem.retry)])


def _failure(key: str | None, problem: HttpProblem) -> dict[str, Any]:
    code = "FLAG_NOT_FOUND" if problem.status in (404, 410) else CODES.get(problem.kind, "GENERAL")
    found = {"errorCode": code, "errorDetails": problem.detail}
    return found if key is None else {"key": key} | found


async def flag(call: Call) -> Reply:
    """Decide, as OFREP asks it. Rewards go to /v1/decisions/{id}/reward; metadata has the id."""
    answer = await call.service.ask(Decide, *_asked(call, call.params["policy"], activate=True))
    if answer.status not in GOOD:
        raise of_answer(STATUS[answer.status], answer.status, answer.body)
    return Reply(200, _told(answer))


async def flags(call: Call) -> Reply:
    """Decide for every policy that the key is for, as OFREP asks it. They wait to be activated or rewarded: clients keep them."""
    policies = call.service.core.policies
    names = sorted(name for name, each in policies.items() if not each.archived and _may(call, name))
    tags = [etag(policies[name]) for name in names]
    tag = '"' + hashlib.blake2b(encode([call.body.context, names, tags]), digest_size=8).hexdigest() + '"'
    headers = [(b"etag", tag.encode())]
    if unchanged(call, tag):
        return Reply(304, headers=headers)
    answers = await call.service.ask_all(Decide, [_asked(call, name, activate=False) for name in names])
    found = []
    for name, answer in zip(names, answers, strict=True):
        if answer.status in GOOD:
            found.append(_told(answer))
        else:
            problem = of_answer(STATUS[answer.status], answer.status, answer.body)
            if problem.status >= 500:
                raise problem
            found.append(_failure(name, problem))
    return Reply(200, {"flags": found}, headers=headers)


def _may(call: Call, name: str) -> bool:
    return call.key.policies is None or name in call.key.policies


def _asked(call: Call, policy: str, *, activate: bool) -> tuple[Any, ...]:
    """What to ask of the core. The targetingKey names a person: nothing is to be learned from it."""
    context = {name: value for name, value in (call.body.context or {}).items() if name != "targetingKey"}
    check(call.body, call.service.settings.numbers)
    return policy, new_id(), context, None, None, activate, 0, call.key.id, True


def _told(answer: Answer) -> dict[str, Any]:
    body = answer.body
    about = {"decision": body["id"], "propensity": body["propensity"], "version": body["version"]}
    if "receipt" in body:
        about["receipt"] = body["receipt"]
    return {"key": body["policy"], "value": body["arm"], "variant": body["arm"], "reason": "SPLIT", "metadata": about}


WRONG = dict.fromkeys((400, 401, 403, 429, 503, 507), FlagProblem)
ALIKE: Any = {"body": FlagBody, "optional": True, "fault": fault, "never": frozenset({408, 413, 415, 422}), "tag": "ofrep"}
ONE = {200: FlagAnswer, 404: FlagProblem, **WRONG}
ALL = {200: FlagsAnswer, 304: None, **WRONG}
ENDPOINTS = (
    Endpoint("POST", FLAGS + "/{policy}", "decide", flag, answers=ONE, **ALIKE),
    Endpoint("POST", FLAGS, "decide", flags, answers=ALL, **ALIKE),
)
