"""Erase a policy, or the contexts of decisions, as the law or a person may demand."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from ..core import Forget, ForgetWords, Purge, Served
from ..page.ledger_file import folder_of
from ..store import Full, Lost
from ..store.erasing import about_person, erase_some, not_elsewhere, words_of
from .administering import CHANGED, P, archive, find_policy, make_change, note
from .answers import ErasingAnswer, ForgottenAnswer
from .endpoint import Call, Endpoint, Reply
from .logs import log
from .problem import HttpProblem
from .reading import query_boolean

if TYPE_CHECKING:
    from .service import Service

PAUSE = 0.002  # seconds between parts, for others to write
AT_ONCE = 500  # decisions
REQUEST = '$."$request"[0]'  # the context in a request
AGAIN = 10.0  # seconds until the next try, if the disk is full


async def erase(service: Service) -> None:
    """Delete the rows of erased policies in parts, so that decisions are answered in between."""
    while True:
        try:
            if not await service.write(erase_some):
                return
            await asyncio.sleep(PAUSE)
        except Full:
            await asyncio.sleep(AGAIN)
        except Lost as error:
            log("erasing stopped", level="error", detail=str(error))
            return


async def delete(call: Call) -> Reply:
    """Archive a policy; with purge=true, erase it: it is unavailable at once, and its rows are deleted in parts."""
    if not query_boolean(call, "purge"):
        return await archive(call)
    name, id = find_policy(call).name, find_policy(call).id
    await make_change(call, Purge, name)
    (folder_of(call.service.path) / f"{id}.tally").unlink(missing_ok=True)
    call.service.keys.forget_policy(name)
    call.service.rejections.forget(name)
    call.service.spawn(erase(call.service))
    return Reply(202, {"policy": name, "status": "erasing"})


async def forget(call: Call) -> Reply:
    """Erase the contexts of all decisions that have this value, or of one decision. What was learned from them stays learned.

    Categories and tags that no other decision has get random-looking names.
    """
    policy, count = find_policy(call), 0
    ids = await _decision_ids(call, policy)
    words = await _words(call, policy.id, ids)
    if words:  # first, while the contexts that hold them are still there
        await make_change(call, ForgetWords, policy.name, words, silent=True)
    for k in range(0, len(ids), AT_ONCE):
        more = True
        while more:
            answer = await make_change(call, Forget, policy.name, ids[k : k + AT_ONCE], silent=True)
            count, more = count + answer.body["forgotten"], answer.body["more"]
    await note(call, "Forget", policy.name, {"field": call.query.get("field"), "decisions": count})
    return Reply(200, {"policy": policy.name, "forgotten": count})


async def _words(call: Call, policy: int, ids: list[str]) -> list[str]:
    """Return the words to forget with these decisions: the value that selected them, and texts that no other decision has."""
    readers, words = call.service.readers, {call.query["value"]} if ids and "value" in call.query else set[str]()
    for k in range(0, len(ids), AT_ONCE):
        words |= set(await readers.scan(words_of, policy, ids[k : k + AT_ONCE]))
    left, after = sorted(words), 0 if words else None
    while after is not None:
        left, after = await readers.scan(not_elsewhere, policy, left, ids, after)
    return left


async def _decision_ids(call: Call, policy: Served) -> list[str]:
    query = call.query
    if "id" in query and len(query) == 1:
        return [query["id"]]
    if set(query) != {"field", "value"} or not query["field"]:
        raise HttpProblem(
            422,
            "query",
            "Which decisions is not clear. Give field and value, as in field=user&value=42, or id.",
            pointer="/field",
        )
    if any(letter in '"\\' or letter < " " for letter in query["field"]) or "\x00" in query["value"]:
        raise HttpProblem(
            422,
            "query",
            "field must be a name of the context, or names with dots between them, without quotes; value must not hold NUL.",
            pointer="/field",
        )
    root = "$" if policy.open is None else REQUEST
    path = "$" + "".join(f".{json.dumps(part)}" for part in query["field"].split("."))  # letters as the journal writes them
    ids: list[str] = []
    after: int | None = 0
    while after is not None:
        some, after = await call.service.readers.scan(about_person, policy.id, path, query["value"], after, root)
        ids += some
    return ids


ENDPOINTS = (
    Endpoint(
        "DELETE",
        P,
        "admin",
        delete,
        answers={204: None, 202: ErasingAnswer, **CHANGED},
        query={"purge": "true: erase everything about the policy, for good"},
    ),
    Endpoint(
        "DELETE",
        P + "/decisions",
        "admin",
        forget,
        answers={200: ForgottenAnswer, **CHANGED},
        query={
            "field": "a name of the context, or names with dots between them",
            "value": "the value that the field must have",
            "id": "the id of one decision",
        },
        tag="decisions",
    ),
)
