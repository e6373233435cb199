"""A door for Personalizer's clients, whose service is gone: rank, reward and activate, by the names and with the errors that they know.

A key for one policy says which one is meant, in Ocp-Apim-Subscription-Key; without such a key, the only policy that there is.
"""

from typing import Any

from ..core import STATUS, Activate, Decide, Reward
from .deciding import GOOD, allowed
from .endpoint import Call, Endpoint, Reply, retry_after
from .ids import new_id
from .problem import Problem, of_answer
from .reading import distribution
from .wire import EventProblem, EventRewardBody, RankAnswer, RankBody

ROOT = "/personalizer/v1.0"
CODES = {404: "ResourceNotFound", 413: "PayloadSizeExceeded", 403: "OperationNotAllowed", 500: "InternalServerError"}


def fault(call: Call, problem: Problem) -> Reply:
    """A problem as Personalizer has it: 400 for whatever is wrong with the request."""
    status = 400 if problem.status in (408, 409, 410, 412, 413, 415, 422) else problem.status
    last = call.scope["path"].rsplit("/", 1)[-1]
    usual = {"rank": "InvalidRankRequest", "reward": "InvalidRewardRequest", "activate": "InvalidEventIdToActivate"}
    code = CODES.get(problem.status) or (usual.get(last, "BadRequest") if status == 400 else "BadRequest")
    body = {"error": {"code": code, "message": problem.detail}}
    return Reply(status, body, headers=[*problem.headers, *retry_after(problem.retry)])


async def rank(call: Call) -> Reply:
    """Which of these actions to show, as Personalizer asks it. Action features are not used: arms are known by their ids."""
    body, policy = call.body, _policy(call)
    ids, excluded = [each.id for each in body.actions], set(body.excluded_actions or ())
    offered = [name for name in ids if name not in excluded]
    if len(set(ids)) < len(ids) or not offered:
        raise Problem(422, "actions", "actions must have ids that differ, and not all of them be excluded.")
    context = flat(body.context_features or [])
    if len(context) > call.service.settings.numbers:
        raise Problem(422, "context", f"contextFeatures may hold {call.service.settings.numbers} values.")
    fresh = body.event_id is None
    given = (policy, new_id() if fresh else body.event_id, context, offered, offered[0], not body.defer_activation)
    before = distribution(call.service.core.policies[policy], context, offered, offered[0])
    answer = await call.service.ask(Decide, *given, 0, call.key.id, fresh)
    if answer.status not in GOOD:
        raise of_answer(STATUS[answer.status], answer.status, answer.body)
    chosen, p = answer.body["arm"], before if answer.status == "created" else {}
    ranked = [chosen, *(name for name in ids if name != chosen)]
    ranking = [{"id": name} | ({"probability": p.get(name, 0.0)} if p else {}) for name in ranked]
    headers = [] if not any(each.features for each in body.actions) else [(b"hsb-note", b"action features are not used")]
    return Reply(201, {"ranking": ranking, "eventId": answer.body["id"], "rewardActionId": chosen}, headers=headers)


async def reward(call: Call) -> Reply:
    """What an event earned, as Personalizer says it. Every call is a reward of its own; one that comes late is kept, and not learned."""
    only = await allowed(call, [call.params["id"]])
    answer = await call.service.ask(
        Reward, call.params["id"], call.body.value, f"pz-{new_id()}", call.key.id, False, None, only
    )
    if answer.status not in (*GOOD, "late"):
        raise of_answer(STATUS[answer.status], answer.status, answer.body)
    return Reply(204, headers=[(b"hsb-reward", answer.status.encode())])


async def activate(call: Call) -> Reply:
    """An event that was ranked with deferActivation was shown."""
    only = await allowed(call, [call.params["id"]])
    answer = await call.service.ask(Activate, call.params["id"], only)
    if answer.status not in GOOD:
        raise of_answer(STATUS[answer.status], answer.status, answer.body)
    return Reply(204)


def _policy(call: Call) -> str:
    known = {name for name, each in call.service.core.policies.items() if not each.archived}
    names = known if call.key.policies is None else known & call.key.policies
    if len(names) != 1:
        raise Problem(
            422,
            "policy",
            f"There are {len(names)} policies that this key is for. Make a key for one: POST /v1/keys with policies: [name].",
        )
    (name,) = names
    call.params["policy"] = name
    return name


def flat(features: Any, prefix: str = "") -> dict[str, Any]:
    """Named values out of lists of objects: names within names get dots, and of a list of values each is one that is there.

    >>> flat([{"time": "morning", "user": {"age": 31}}, {"device": ["phone", "old"]}])
    {'time': 'morning', 'user.age': 31, 'device.phone': True, 'device.old': True}
    """
    found: dict[str, Any] = {}
    for each in features if isinstance(features, list) else [features]:
        if isinstance(each, dict):
            for name, value in each.items():
                inner = isinstance(value, dict | list)
                found |= flat(value, f"{prefix}{name}.") if inner else {prefix + name: value}
        elif prefix and not isinstance(each, list) and each is not None:
            found[f"{prefix}{each}"] = True
        elif each is not None:
            raise Problem(422, "context", "contextFeatures must be a list of objects with names and values.")
    return found


WRONG = dict.fromkeys((400, 401, 403, 404, 429, 503, 507), EventProblem)
NEVER = frozenset({408, 413, 415, 422})
DOOR: dict[str, Any] = {"fault": fault, "never": NEVER, "tag": "personalizer"}
ENDPOINTS = (
    Endpoint("POST", ROOT + "/rank", "decide", rank, body=RankBody, answers={201: RankAnswer, **WRONG}, **DOOR),
    Endpoint("POST", ROOT + "/events/{id}/reward", "learn", reward, body=EventRewardBody, answers={204: None, **WRONG}, **DOOR),
    Endpoint("POST", ROOT + "/events/{id}/activate", "decide", activate, answers={204: None, **WRONG}, **DOOR),
)
