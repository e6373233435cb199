"""Idempotency-Key: an admin's request that is sent again is carried out once, and answered with what was answered then.

At most once: where the service ended while it was at it, the answer says that nobody knows. Kept for a day, in the journal's file.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from typing import Any

import msgspec

from ...errors import FileError, InputError
from ..store import Full
from .endpoint import Call, Handler, Reply, encode
from .problem import HttpProblem

DAY = 24 * 3600 * 1_000_000
FORM = re.compile(r"[!-~]{1,255}")
HEADER = {"Idempotency-Key": "a name of your own for this request: the same again, within 24 hours, is carried out once"}
REPLAYED = (b"idempotent-replayed", b"true")


def once(handler: Handler, *, hide: str | None = None) -> Handler:
    """A handler that minds Idempotency-Key. What `hide` names is shown once, and is null when the answer is given again."""

    async def run(call: Call) -> Reply:
        given = call.headers.get(b"idempotency-key")
        if given is None:
            return await handler(call)
        name = given.strip().removeprefix('"').removesuffix('"')
        if not FORM.fullmatch(name):
            raise HttpProblem(
                422, "idempotency-key", "Idempotency-Key must be 1 to 255 letters and signs of ASCII, without spaces."
            )
        return await _once(call, handler, (call.key.id or 0, name), hide)

    run.__doc__, run.__name__ = handler.__doc__, getattr(handler, "__name__", "")
    run.headers = HEADER  # type: ignore[attr-defined]
    return run


async def _once(call: Call, handler: Handler, name: tuple[int, str], hide: str | None) -> Reply:
    service, path = call.service, call.scope["path"]
    if name in service.under_way:
        raise HttpProblem(
            409, "under-way", "A request with this Idempotency-Key is under way. Ask again for its answer.", retry=1.0
        )
    service.under_way.add(name)
    try:
        asked = hashlib.blake2b(encode([call.scope["method"], path, call.query, call.body]), digest_size=16).digest()
        found = await service.write(lambda store: _begin(store, name, asked, path))
        if found is not None:
            return _again(found, asked)
        try:
            reply = await handler(call)
        except (HttpProblem, InputError, FileError, Full):  # nothing was done, so it may be tried again
            await service.write(lambda store: _drop(store, name))
            raise
        body = reply.body if hide is None else encode(msgspec.json.decode(reply.body) | {hide: None})
        headers = json.dumps([[one.decode("latin-1"), two.decode("latin-1")] for one, two in reply.headers])
        await service.write(lambda store: _end(store, name, reply.status, body, headers))
        return reply
    finally:
        service.under_way.discard(name)


def _again(found: Any, asked: bytes) -> Reply:
    before, status, answer, headers = found
    if before != asked:
        raise HttpProblem(422, "idempotency-key", "This Idempotency-Key was used for another request. Use another one.")
    if status is None:
        detail = "The service ended while it carried this out, and does not know whether it did. Look, and use another Idempotency-Key."
        raise HttpProblem(409, "not-known", detail)
    kept = [(one.encode("latin-1"), two.encode("latin-1")) for one, two in json.loads(headers)]
    return Reply(status, answer, headers=[*kept, REPLAYED])


def _begin(store: Any, name: tuple[int, str], asked: bytes, path: str) -> Any:
    now, run = time.time_ns() // 1000, store.connection.execute
    run("DELETE FROM once WHERE at < ?", (now - DAY,))
    found = run("SELECT asked, status, answer, headers FROM once WHERE who = ? AND name = ?", name).fetchone()
    if found is None:
        run("INSERT INTO once (who, name, asked, path, at) VALUES (?, ?, ?, ?, ?)", (*name, asked, path, now))
    return found


def _drop(store: Any, name: tuple[int, str]) -> None:
    store.connection.execute("DELETE FROM once WHERE who = ? AND name = ?", name)


def _end(store: Any, name: tuple[int, str], status: int, body: bytes, headers: str) -> None:
    sql = "UPDATE once SET status = ?, answer = ?, headers = ? WHERE who = ? AND name = ?"
    store.connection.execute(sql, (status, body, headers, *name))
