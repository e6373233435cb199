"""Decisions and rewards, one or many: the endpoints that must be quick."""

import asyncio
import time
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from ...errors import quoted
from ..core import STATUS, Activate, Answer, Decide, Reward, Void
from ..core.receipts import Unreadable, policy_of
from ..core.requests import MOST_OFFERED
from . import events
from .answers import DecisionAnswer, DecisionBatchAnswer, RewardAnswer, RewardBatchAnswer
from .endpoint import Call, Endpoint, Reply
from .events import reward_of, with_headers
from .ids import new_id, when
from .problem import HttpProblem, of_answer, over_http
from .wire import DecideBatch, DecideBody, Event, EventData, ProblemAnswer, RewardBatch, RewardBody, RewardItem

WRITTEN = {
    401: ProblemAnswer,
    403: ProblemAnswer,
    422: ProblemAnswer,
    429: ProblemAnswer,
    503: ProblemAnswer,
    507: ProblemAnswer,
}
RECEIPT = {
    "receipt": "true: answer with a receipt; a reward sent with it is accepted even if the journal has lost the decision"
}
READ_BODY = {400: ProblemAnswer, 408: ProblemAnswer, 413: ProblemAnswer, 415: ProblemAnswer}
GOOD = ("created", "stored", "accepted", "learned", "not_learned", "done", "duplicate")
DEEPEST = 32
PER_ARM = 30  # values of features, on average over the most arms that a request may have
LONGEST = 1000  # characters of a name with those it is nested in
STEP = 0.01  # seconds between checks of the version


def _leaves(context: Any, most: int, deep: int = 0, letters: int = 0, *, where: str = "context") -> int:
    """Count the values of a context, up to `most` + 1. Raises HttpProblem if they are nested too deep or their names are too long.

    `letters` counts the names that the context is nested in: wherever a context is flattened, they precede each name within. `where` is
    "arms" if these are features of an arm.
    """
    kind, count = type(context), 0
    if kind is dict or kind is list:
        if deep == DEEPEST:
            raise HttpProblem(422, "context", f"The {where} is nested too deep: at most {DEEPEST} levels.", pointer=f"/{where}")
        for name, value in context.items() if kind is dict else (("", value) for value in context):
            path = letters + len(name)
            if path > LONGEST:
                problem = f"The name {quoted(name[:40])}... has {path:,} characters with those it is nested in, more than {LONGEST:,}."
                raise HttpProblem(422, "context", f"{problem} Shorten it.", pointer=f"/{where}")
            inner = type(value)
            count += _leaves(value, most, deep + 1, path + 1, where=where) if inner is dict or inner is list else 1
            if count > most:
                break
        return count
    return 1


def check(body: Any, most: int, where: str = "") -> None:
    """Raise HttpProblem if a body's context, or the features of an arm, hold more than `most` values."""
    if _leaves(body.context, most) > most:
        raise HttpProblem(
            422, "context", f"The context may hold at most {most} values. Send fewer.", pointer=f"{where}/context"
        )


def check_arms(body: DecideBody, most: int, where: str = "") -> None:
    """Raise HttpProblem if the features of an arm hold more than `most` values, or those of all arms more than PER_ARM * MOST_OFFERED."""
    total = 0
    for arm, features in body.arms.items() if isinstance(body.arms, dict) else ():
        count = 0 if features is None else _leaves(features, most, where="arms")
        total += count
        if count > most:
            problem = (
                f"The features of an arm may hold at most {most} values; those of {quoted(arm[:40])} hold more. Send fewer."
            )
            raise HttpProblem(422, "arms", problem, pointer=f"{where}/arms")
    if total > PER_ARM * MOST_OFFERED:
        problem = f"The features of all arms may hold at most {PER_ARM * MOST_OFFERED:,} values; given {total:,}. Send fewer arms or features."
        raise HttpProblem(422, "arms", problem, pointer=f"{where}/arms")


def _decide_arguments(call: Call, body: DecideBody) -> tuple[Any, ...]:
    name = new_id() if body.id is None else body.id
    arguments = (call.params["policy"], name, body.context, body.available, body.baseline, body.activate, body.min_version)
    return (*arguments, call.key.id, body.id is None, bool(call.query) and _receipt(call), False, body.arms)


def _receipt(call: Call) -> bool:
    text = call.query.get("receipt", "false")
    if text not in ("true", "false"):
        raise HttpProblem(422, "query", f"receipt must be true or false; given {text[:100]!r}.", pointer="/receipt")
    return text == "true"


def _decision_body(answer: Answer) -> dict[str, Any]:
    body = answer.body
    body["deadline"] = when(body["deadline"])
    return body


async def decide(call: Call) -> Reply:
    """Choose an arm for a context. The same id again returns the same decision (200)."""
    body = call.body
    check(body, call.service.settings.numbers)
    check_arms(body, call.service.settings.numbers)
    arguments = _decide_arguments(call, body)
    answer = await call.service.ask(Decide, *arguments)
    if answer.status == "behind":
        until = time.monotonic() + call.service.settings.version_seconds
        while answer.status == "behind" and time.monotonic() < until:
            await asyncio.sleep(STEP)
            answer = await call.service.ask(Decide, *arguments)
    if answer.status not in GOOD:
        raise of_answer(STATUS[answer.status], answer.status, answer.body, body)
    return Reply(STATUS[answer.status], _decision_body(answer))


async def decide_batch(call: Call) -> Reply:
    """Choose arms for several contexts, in one commit. Each row of the answer is a result or a problem."""
    settings, rows = call.service.settings, call.body.decisions
    _count(rows, settings.rows, "decisions")
    for index, row in enumerate(rows):
        check(row, settings.numbers, f"/decisions/{index}")
        check_arms(row, settings.numbers, f"/decisions/{index}")
    answers = await call.service.ask_all(Decide, [_decide_arguments(call, row) for row in rows])
    return Reply(200, {"rows": [_row(call, answer, row, _decision_body) for answer, row in zip(answers, rows, strict=True)]})


def _reward_body(answer: Answer) -> dict[str, Any]:
    outcome = answer.body
    body = {"decision": outcome["decision"], "status": answer.status, "policy": outcome["policy"]}
    body["learned_at_version"] = outcome.get("learned_at_version")
    if answer.status == "not_learned":
        body["detail"] = over_http(outcome["detail"])
    return body


async def reward(call: Call) -> Reply:
    """Report the reward of a decision. The same reward again is a duplicate. After the decision is closed, it is kept but answered 410."""
    body, name = call.body, call.params["id"]
    value, loss = _value(body)
    return await _learn(call, body, name, value, loss)


async def _learn(call: Call, body: Any, name: str, value: Any, loss: bool) -> Reply:
    only = own_policies(call, [body.receipt])
    answer = await call.service.ask(Reward, name, value, body.id, call.key.id, loss, body.receipt, only)
    _note(call, answer)
    _note_unlearned(call, [answer])
    if answer.status not in GOOD:
        raise of_answer(STATUS[answer.status], answer.status, answer.body, body)
    return Reply(STATUS[answer.status], _reward_body(answer))


async def reward_batch(call: Call) -> Reply:
    """Report the rewards of several decisions, in one commit. Each row of the answer is a result or a problem."""
    if isinstance(call.body, Event | EventData):
        return await _event(call, call.body)
    rows = [reward_of(event) for event in call.body] if type(call.body) is list else call.body.rewards
    _count(rows, call.service.settings.rows, "rewards")
    only = own_policies(call, [row.receipt for row in rows])
    arguments = [(*_reward_arguments(call, row, index), only) for index, row in enumerate(rows)]
    answers = await call.service.ask_all(Reward, arguments)
    _note_unlearned(call, answers)
    return Reply(200, {"rows": [_row(call, answer, row, _reward_body) for answer, row in zip(answers, rows, strict=True)]})


async def _event(call: Call, event: Any) -> Reply:
    """Learn a single event. It is answered like a single reward, because its sender looks at the status."""
    row = reward_of(with_headers(event, call.headers) if isinstance(event, EventData) else event)
    value, loss = _value(row, "/data" if isinstance(event, Event) else "")
    return await _learn(call, row, row.decision, value, loss)


def _reward_arguments(call: Call, row: RewardItem, index: int) -> tuple[Any, ...]:
    value, loss = _value(row, f"/{index}/data" if type(call.body) is list else f"/rewards/{index}")
    return row.decision, value, row.id, call.key.id, loss, row.receipt


def _value(body: Any, where: str = "") -> tuple[Any, bool]:
    """Return the reward or loss of a body, and whether it is a loss. Raises HttpProblem if there are both, or neither."""
    if body.loss is UNSET and body.reward is not UNSET:
        return body.reward, False
    if body.loss is UNSET:
        raise HttpProblem(
            422, "missing-field", "The field 'reward' is missing. Give 'reward' or 'loss'.", pointer=f"{where}/reward"
        )
    if body.reward is not UNSET:
        raise HttpProblem(
            422,
            "misfit",
            "The body has both 'reward' and 'loss'. Give one of them: each is the other's mirror image.",
            pointer=f"{where}/loss",
        )
    return body.loss, True


async def activate(call: Call) -> Reply:
    """Activate a decision made with `activate: false`, because it was shown: its wait for feedback begins."""
    return await _close(call, Activate)


async def void(call: Call) -> Reply:
    """Void a decision that was never shown: it is closed and not learned."""
    return await _close(call, Void)


async def _close(call: Call, kind: Any) -> Reply:
    answer = await call.service.ask(kind, call.params["id"], own_policies(call))
    if answer.status not in GOOD:
        raise of_answer(STATUS[answer.status], answer.status, answer.body)
    return Reply(204)


def own_policies(call: Call, receipts: Iterable[str | None] = ()) -> frozenset[int] | None:
    """Return the ids of the policies that the key is limited to; None for all. Raises HttpProblem if a receipt is of another policy.

    Whether a named decision belongs to them is checked when the request is carried out (`core/apply.py`), which needs no extra read.
    """
    if call.key.policies is None:
        return None
    core = call.service.core
    own = frozenset(core.policies[name].id for name in call.key.policies if name in core.policies)
    if any(receipt is not None and _is_elsewhere(receipt, own) for receipt in receipts):
        raise HttpProblem(
            403, "policy-not-allowed", "This key is not for the policy of that decision. Use a key for that policy."
        )
    return own


def _is_elsewhere(receipt: str, own: frozenset[int]) -> bool:
    """Whether a receipt belongs to another policy. An unreadable one belongs to none, since it restores nothing."""
    try:
        return policy_of(receipt) not in own
    except Unreadable:
        return False


def _count(rows: list[Any], most: int, name: str) -> None:
    if not 1 <= len(rows) <= most:
        raise HttpProblem(422, "rows", f"{name} must hold 1 to {most:,} rows; given {len(rows):,}.", pointer=f"/{name}")


def _row(call: Call, answer: Answer, request: Any, describe: Any) -> dict[str, Any]:
    status = STATUS[answer.status]
    if answer.status in GOOD:
        return {"status": status, "result": describe(answer)}
    problem = of_answer(status, answer.status, answer.body, request)
    policy = answer.body.get("policy") or call.params.get("policy")
    known = policy if policy in call.service.core.policies else None
    call.service.rejections.note(known, problem.kind, status, problem.detail, problem.pointer, call.id)
    return {"status": status, "problem": problem.body(None, None)}


def _note(call: Call, answer: Answer) -> None:
    """Set the policy of a rejected reward, so that the rejection is counted under that policy."""
    if answer.status not in GOOD and answer.body.get("policy"):
        call.params["policy"] = answer.body["policy"]


def _note_unlearned(call: Call, answers: list[Answer]) -> None:
    """Count rewards that are kept but cannot be learned among the rejections of their policies."""
    for answer in answers:
        if answer.status == "not_learned":
            detail = f"{answer.body['decision']}: {over_http(answer.body['detail'])}"
            call.service.rejections.note(answer.body["policy"], "not-learned", STATUS[answer.status], detail, None, call.id)


def _size(call: Call) -> str:
    """Return the setting that limits the body of a decision: arms that come with it take room."""
    policy = call.service.core.policies.get(call.params["policy"])
    return "body" if policy is None or policy.open is None else "batch_body"


DECIDE = Endpoint(
    "POST",
    "/v1/policies/{policy}/decisions",
    "decide",
    decide,
    body=DecideBody,
    large=_size,
    query=RECEIPT,
    public=True,
    tag="decisions",
    answers={
        201: DecisionAnswer,
        200: DecisionAnswer,
        **dict.fromkeys((404, 409, 410, 412), ProblemAnswer),
        **READ_BODY,
        **WRITTEN,
    },
)
DECIDE_BATCH = Endpoint(
    "POST",
    "/v1/policies/{policy}/decisions/batch",
    "decide",
    decide_batch,
    body=DecideBatch,
    query=RECEIPT,
    large="batch_body",
    public=True,
    tag="decisions",
    answers={200: DecisionBatchAnswer, **READ_BODY, **WRITTEN},
)
REWARD = Endpoint(
    "POST",
    "/v1/decisions/{id}/reward",
    "learn",
    reward,
    body=RewardBody,
    large="batch_body",  # a receipt holds the context
    tag="rewards",
    answers={202: RewardAnswer, 200: RewardAnswer, **dict.fromkeys((404, 409, 410), ProblemAnswer), **READ_BODY, **WRITTEN},
)
REWARD_BATCH = Endpoint(
    "POST",
    "/v1/rewards",
    "learn",
    reward_batch,
    body=RewardBatch,
    also={events.BATCH: list[Event], events.SINGLE: Event},
    headed=(events.HEADER, EventData),
    large="batch_body",
    tag="rewards",
    answers={
        200: (RewardBatchAnswer, RewardAnswer),  # of a batch, of one event
        202: RewardAnswer,
        **dict.fromkeys((404, 409, 410), ProblemAnswer),
        **READ_BODY,
        **WRITTEN,
    },
)
CLOSED = {204: None, **dict.fromkeys((404, 409, 410), ProblemAnswer), **WRITTEN}
ACTIVATE = Endpoint("POST", "/v1/decisions/{id}/activate", "decide", activate, answers=CLOSED, tag="decisions", public=True)
VOID = Endpoint("POST", "/v1/decisions/{id}/void", "decide", void, answers=CLOSED, tag="decisions")
ENDPOINTS = (DECIDE, DECIDE_BATCH, REWARD, REWARD_BATCH, ACTIVATE, VOID)
