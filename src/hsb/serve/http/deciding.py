"""Decisions and rewards, one or many: what must be quick."""

import asyncio
import time
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from ..core import STATUS, Activate, Answer, Decide, Reward, Void
from ..core.receipts import Unreadable, policy_of
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
RECEIPT = {"receipt": "true: with a receipt, by which the reward is taken even if the decision is lost"}
READ_BODY = {400: ProblemAnswer, 408: ProblemAnswer, 413: ProblemAnswer, 415: ProblemAnswer}
GOOD = ("created", "stored", "accepted", "learned", "not_learned", "done", "duplicate")
DEEPEST = 32
STEP = 0.01  # seconds between looks for a version


def _leaves(context: Any, most: int, deep: int = 0) -> int:
    """How many numbers, texts and truths there are, up to one more than the most; HttpProblem if they are nested too deep."""
    kind, count = type(context), 0
    if kind is dict or kind is list:
        if deep == DEEPEST:
            raise HttpProblem(422, "context", f"A context may be nested {DEEPEST} deep.", pointer="/context")
        for each in context.values() if kind is dict else context:
            inner = type(each)
            count += _leaves(each, most, deep + 1) if inner is dict or inner is list else 1
            if count > most:
                break
        return count
    return 1


def check(body: Any, most: int, where: str = "") -> None:
    """HttpProblem if a body's context holds too much."""
    if _leaves(body.context, most) > most:
        raise HttpProblem(422, "context", f"A context holds {most} values at most.", pointer=f"{where}/context")


def _asked(call: Call, body: DecideBody) -> tuple[Any, ...]:
    name = new_id() if body.id is None else body.id
    given = (call.params["policy"], name, body.context, body.available, body.baseline, body.activate, body.min_version)
    return (*given, call.key.id, body.id is None, bool(call.query) and _receipt(call))


def _receipt(call: Call) -> bool:
    text = call.query.get("receipt", "false")
    if text not in ("true", "false"):
        raise HttpProblem(422, "query", f"receipt must be true or false; given {text[:100]!r}.", pointer="/receipt")
    return text == "true"


def _told(answer: Answer) -> dict[str, Any]:
    body = answer.body
    body["deadline"] = when(body["deadline"])
    return body


async def decide(call: Call) -> Reply:
    """Decide on a context. The same id again is the same decision: 200 and what was decided then."""
    body = call.body
    check(body, call.service.settings.numbers)
    given = _asked(call, body)
    answer = await call.service.ask(Decide, *given)
    if answer.status == "behind":
        until = time.monotonic() + call.service.settings.version_seconds
        while answer.status == "behind" and time.monotonic() < until:
            await asyncio.sleep(STEP)
            answer = await call.service.ask(Decide, *given)
    if answer.status not in GOOD:
        raise of_answer(STATUS[answer.status], answer.status, answer.body, body)
    return Reply(STATUS[answer.status], _told(answer))


async def decide_batch(call: Call) -> Reply:
    """Decide on several contexts, with one commit; a result or a problem for each row."""
    settings, rows = call.service.settings, call.body.decisions
    _count(rows, settings.rows, "decisions")
    for place, row in enumerate(rows):
        check(row, settings.numbers, f"/decisions/{place}")
    answers = await call.service.ask_all(Decide, [_asked(call, row) for row in rows])
    return Reply(200, {"rows": [_row(call, answer, row, _told) for answer, row in zip(answers, rows, strict=True)]})


def _rewarded(answer: Answer) -> dict[str, Any]:
    body = answer.body
    found = {"decision": body["decision"], "status": answer.status, "policy": body["policy"]}
    found["learned_at_version"] = body.get("learned_at_version")
    if answer.status == "not_learned":
        found["detail"] = over_http(body["detail"])
    return found


async def reward(call: Call) -> Reply:
    """Say what a decision earned. The same reward again is a duplicate; after the decision was closed it is kept, and answered 410."""
    body, name = call.body, call.params["id"]
    value, loss = _value(body)
    return await _learned(call, body, name, value, loss)


async def _learned(call: Call, body: Any, name: str, value: Any, loss: bool) -> Reply:
    only = own_policies(call, [body.receipt])
    answer = await call.service.ask(Reward, name, value, body.id, call.key.id, loss, body.receipt, only)
    _note(call, answer)
    _note_unlearned(call, [answer])
    if answer.status not in GOOD:
        raise of_answer(STATUS[answer.status], answer.status, answer.body, body)
    return Reply(STATUS[answer.status], _rewarded(answer))


async def reward_batch(call: Call) -> Reply:
    """Say what several decisions earned, with one commit; a result or a problem for each row."""
    if isinstance(call.body, Event | EventData):
        return await _event(call, call.body)
    rows = [reward_of(each) for each in call.body] if type(call.body) is list else call.body.rewards
    _count(rows, call.service.settings.rows, "rewards")
    only = own_policies(call, [row.receipt for row in rows])
    given = [(*_given(call, row, place), only) for place, row in enumerate(rows)]
    answers = await call.service.ask_all(Reward, given)
    _note_unlearned(call, answers)
    return Reply(200, {"rows": [_row(call, answer, row, _rewarded) for answer, row in zip(answers, rows, strict=True)]})


async def _event(call: Call, given: Any) -> Reply:
    """One event is answered as one reward is: whoever delivers it looks at the status."""
    row = reward_of(with_headers(given, call.headers) if isinstance(given, EventData) else given)
    value, loss = _value(row, "/data" if isinstance(given, Event) else "")
    return await _learned(call, row, row.decision, value, loss)


def _given(call: Call, row: RewardItem, place: int) -> tuple[Any, ...]:
    value, loss = _value(row, f"/{place}/data" if type(call.body) is list else f"/rewards/{place}")
    return row.decision, value, row.id, call.key.id, loss, row.receipt


def _value(body: Any, where: str = "") -> tuple[Any, bool]:
    """A reward or a loss, and whether it is a loss; HttpProblem if there are both, or neither."""
    if body.loss is UNSET and body.reward is not UNSET:
        return body.reward, False
    if body.loss is UNSET:
        raise HttpProblem(
            422, "missing-field", "The field 'reward' is missing, or 'loss' in its place.", pointer=f"{where}/reward"
        )
    if body.reward is not UNSET:
        raise HttpProblem(
            422, "misfit", "Give reward or loss, not both: one is the other's mirror image.", pointer=f"{where}/loss"
        )
    return body.loss, True


async def activate(call: Call) -> Reply:
    """A decision made with `activate: false` was shown after all: its wait begins."""
    return await _close(call, Activate)


async def void(call: Call) -> Reply:
    """A decision was never shown: it is closed and not learned."""
    return await _close(call, Void)


async def _close(call: Call, kind: Any) -> Reply:
    answer = await call.service.ask(kind, call.params["id"], own_policies(call))
    if answer.status not in GOOD:
        raise of_answer(STATUS[answer.status], answer.status, answer.body)
    return Reply(204)


def own_policies(call: Call, receipts: Iterable[str | None] = ()) -> frozenset[int] | None:
    """The policies that a key is for, None for all; HttpProblem if it brings a receipt of another.

    Whose decisions the request names is looked at where it is carried out, with the row at hand (`core/apply.py`): nothing is read for it.
    """
    if call.key.policies is None:
        return None
    core = call.service.core
    own = frozenset(core.policies[name].id for name in call.key.policies if name in core.policies)
    if any(each is not None and _is_elsewhere(each, own) for each in receipts):
        raise HttpProblem(403, "policy-not-allowed", "This key is not for the policy of that decision.")
    return own


def _is_elsewhere(receipt: str, own: frozenset[int]) -> bool:
    """Is it a receipt of another policy? One that nobody can read brings nothing back, so it is of none."""
    try:
        return policy_of(receipt) not in own
    except Unreadable:
        return False


def _count(rows: list[Any], most: int, name: str) -> None:
    if not 1 <= len(rows) <= most:
        raise HttpProblem(422, "rows", f"{name} must hold 1 to {most:,} rows; given {len(rows):,}.", pointer=f"/{name}")


def _row(call: Call, answer: Answer, asked: Any, told: Any) -> dict[str, Any]:
    status = STATUS[answer.status]
    if answer.status in GOOD:
        return {"status": status, "result": told(answer)}
    problem = of_answer(status, answer.status, answer.body, asked)
    policy = answer.body.get("policy") or call.params.get("policy")
    known = policy if policy in call.service.core.policies else None
    call.service.rejections.note(known, problem.kind, status, problem.detail, problem.pointer, call.id)
    return {"status": status, "problem": problem.body(None, None)}


def _note(call: Call, answer: Answer) -> None:
    """Let what is wrong with a reward stand with the policy that it belongs to."""
    if answer.status not in GOOD and answer.body.get("policy"):
        call.params["policy"] = answer.body["policy"]


def _note_unlearned(call: Call, answers: list[Answer]) -> None:
    """Let rewards that are kept and cannot be learned stand among the rejections of their policies."""
    for answer in answers:
        if answer.status == "not_learned":
            said = f"{answer.body['decision']}: {over_http(answer.body['detail'])}"
            call.service.rejections.note(answer.body["policy"], "passed-over", STATUS[answer.status], said, None, call.id)


DECIDE = Endpoint(
    "POST",
    "/v1/policies/{policy}/decisions",
    "decide",
    decide,
    body=DecideBody,
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
