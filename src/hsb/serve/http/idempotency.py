"""Idempotency-Key: an admin's request that is sent twice is carried out once; the second gets the first one's answer.

At most once: if the service ended during the request, the answer states that the outcome is unknown. Answers are kept for a day, in the
journal's file.
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
HEADER = {
    "Idempotency-Key": "a name that you choose for this request; a second one with it within 24 hours only gets the first one's answer"
}
REPLAYED = (b"idempotent-replayed", b"true")


def once(handler: Handler, *, hide: str | None = None) -> Handler:
    """Return a handler that honours Idempotency-Key. The field `hide` of the answer is null when it is repeated."""

    async def run(call: Call) -> Reply:
        header = call.headers.get(b"idempotency-key")
        if header is None:
            return await handler(call)
        name = header.strip().removeprefix('"').removesuffix('"')
        if not FORM.fullmatch(name):
            raise HttpProblem(
                422, "idempotency-key", "Idempotency-Key must be 1 to 255 printable ASCII characters without spaces."
            )
        return await _once(call, handler, (call.key.id or 0, name), hide)

    run.__doc__, run.__name__ = handler.__doc__, getattr(handler, "__name__", "")
    run.headers = HEADER  # type: ignore[attr-defined]
    return run


async def _once(call: Call, handler: Handler, name: tuple[int, str], hide: str | None) -> Reply:
    service, path = call.service, call.scope["path"]
    if name in service.under_way:
        raise HttpProblem(
            409, "under-way", "A request with this Idempotency-Key is under way. Send it again later for its answer.", retry=1.0
        )
    service.under_way.add(name)
    try:
        digest = hashlib.blake2b(encode([call.scope["method"], path, call.query, call.body]), digest_size=16).digest()
        stored = await service.write(lambda store: _begin(store, name, digest, path))
        if stored is not None:
            return _again(stored, digest)
        try:
            reply = await handler(call)
        except (HttpProblem, InputError, FileError, Full):  # nothing was done, so it may be sent again
            await service.write(lambda store: _drop(store, name))
            raise
        body = reply.body if hide is None else encode(msgspec.json.decode(reply.body) | {hide: None})
        headers = json.dumps([[one.decode("latin-1"), two.decode("latin-1")] for one, two in reply.headers])
        await service.write(lambda store: _end(store, name, reply.status, body, headers))
        return reply
    finally:
        service.under_way.discard(name)


def _again(stored: Any, digest: bytes) -> Reply:
    before, status, answer, headers = stored
    if before != digest:
        raise HttpProblem(422, "idempotency-key", "This Idempotency-Key was used for a different request. Choose another one.")
    if status is None:
        detail = "The service ended during this request, and its outcome is unknown. Check, then use another Idempotency-Key."
        raise HttpProblem(409, "not-known", detail)
    stored_headers = [(one.encode("latin-1"), two.encode("latin-1")) for one, two in json.loads(headers)]
    return Reply(status, answer, headers=[*stored_headers, REPLAYED])


def _begin(store: Any, name: tuple[int, str], digest: bytes, path: str) -> Any:
    now, run = time.time_ns() // 1000, store.connection.execute
    run("DELETE FROM once WHERE at < ?", (now - DAY,))
    stored = run("SELECT digest, status, answer, headers FROM once WHERE who = ? AND name = ?", name).fetchone()
    if stored is None:
        run("INSERT INTO once (who, name, digest, path, at) VALUES (?, ?, ?, ?, ?)", (*name, digest, path, now))
    return stored


def _drop(store: Any, name: tuple[int, str]) -> None:
    store.connection.execute("DELETE FROM once WHERE who = ? AND name = ?", name)


def _end(store: Any, name: tuple[int, str], status: int, body: bytes, headers: str) -> None:
    sql = "UPDATE once SET status = ?, answer = ?, headers = ? WHERE who = ? AND name = ?"
    store.connection.execute(sql, (status, body, headers, *name))
