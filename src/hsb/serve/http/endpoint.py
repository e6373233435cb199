"""Endpoints: what each needs and answers, and the common work of a request: key, body, answer, counts."""

from __future__ import annotations

import asyncio
import itertools
import re
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec

from ...errors import FileError, InputError
from ..store import Full, Lost
from .auth import Headers, allow_origin, check_public, enter
from .keys import Key
from .logs import log, log_fault
from .problem import HttpProblem, misfit, over_http, pointer_of

if TYPE_CHECKING:
    from .service import Service

JSON = b"application/json"
PROBLEM = b"application/problem+json"
TYPES = ("application/json", "application/x-www-form-urlencoded", "")  # the second is what curl -d sends
READ_FORM = ("application/json",)
encode = msgspec.json.Encoder().encode
_START = secrets.token_hex(4)
_count = itertools.count(1)
CLOSE = [(b"connection", b"close")]
DRAINED = 4 << 20  # bytes of a refused body that are read all the same
TRACE = re.compile(rb"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)")
GIVEN_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Gone(Exception):
    """The client has left, so there is nobody to answer."""


class Reply:
    """An answer: whole, or a stream of parts."""

    __slots__ = ("body", "headers", "status", "stream", "type")

    def __init__(
        self,
        status: int,
        body: Any = None,
        *,
        type: bytes = JSON,
        headers: list[tuple[bytes, bytes]] | None = None,
        stream: AsyncGenerator[bytes, None] | None = None,
    ) -> None:
        self.status, self.type, self.headers, self.stream = status, type, headers or [], stream
        self.body: bytes = b"" if body is None else body if isinstance(body, bytes) else encode(body)


class Call:
    """A request under way."""

    __slots__ = ("body", "headers", "id", "key", "params", "query", "scope", "service", "trace")

    def __init__(self, service: Service, scope: Any, params: dict[str, str]) -> None:
        self.service, self.scope, self.params = service, scope, params
        self.headers = Headers(scope)
        self.key: Key
        self.body: Any = None
        self.query: dict[str, str] = {}
        request_id, trace = self.headers.all.get(b"x-request-id"), self.headers.all.get(b"traceparent")
        self.trace = None if trace is None else read_traceparent(trace)
        if request_id is not None and GIVEN_ID.fullmatch(request_id):
            self.id = request_id.decode()
        else:
            self.id = self.trace or f"{_START}-{next(_count):x}"


def read_traceparent(header: bytes) -> str | None:
    """Return trace and span of a traceparent (W3C Trace Context); None if it is invalid.

    >>> read_traceparent(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    '4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7'
    >>> read_traceparent(b"00-00000000000000000000000000000000-00f067aa0ba902b7-01"), read_traceparent(b"nonsense")
    (None, None)
    """
    match = TRACE.match(header)
    return None if match is None else f"{match[1].decode()}-{match[2].decode()}"


Handler = Callable[[Call], Awaitable[Reply]]


class Endpoint:
    """One method of one path; an ASGI application for it.

    - `need`: the scope that the key must have; None if no key is needed.
    - `body`: the type of the body; None for no body, bytes for a file. With `optional`, the body may be empty.
    - `large`: the setting that limits the size of the body, or a function of the call that returns it.
    - `query`: the parameters of the query, with descriptions.
    - `types`: media types of `body`; `also`: other body types, by media type; `headed`: a header, and the body type if it is present.
    - `answers`: statuses and the types of their bodies, for OpenAPI.
    - `fault`: makes the answer to a problem; `never`: statuses that it turns into others.
    - `public`: pages of other sites may call it, if their origin is allowed.
    """

    def __init__(
        self,
        method: str,
        path: str,
        need: str | None,
        handler: Handler,
        *,
        answers: dict[int, Any],
        body: Any = None,
        optional: bool = False,
        large: str | Callable[[Call], str] = "body",
        query: dict[str, str] | None = None,
        types: tuple[str, ...] = TYPES,
        also: dict[str, Any] | None = None,
        headed: tuple[bytes, Any] | None = None,
        fault: Callable[[Call, HttpProblem], Reply] | None = None,
        never: frozenset[int] = frozenset(),
        tag: str = "policies",
        public: bool = False,
    ) -> None:
        self.method, self.path, self.need, self.handler, self.answers = method, path, need, handler, answers
        self.body_type, self.optional, self.large, self.query, self.types, self.tag = (
            body,
            optional,
            large,
            query or {},
            types,
            tag,
        )
        self.name, self.public = f"{method} {path}", public
        self.decoder = msgspec.json.Decoder(body) if body not in (None, bytes) else None
        self.also, self.fault, self.never = also or {}, fault or problem_reply, never
        self.headed = None if headed is None else (headed[0], msgspec.json.Decoder(headed[1]))
        self.decoders = {kind: msgspec.json.Decoder(body) for kind, body in self.also.items()}
        self.fields: tuple[str, ...] = getattr(body, "__struct_fields__", ())

    async def __call__(self, service: Service, scope: Any, receive: Any, send: Any, params: dict[str, str]) -> None:
        """Answer a request."""
        began = time.perf_counter()
        call = Call(service, scope, params)
        try:
            reply = await self._reply(call, receive)
        except Gone:
            return
        except Exception as error:
            reply = failure_reply(call, error, params.get("policy"), self.fault)
        await send_reply(call, receive, send, reply)
        seconds = time.perf_counter() - began
        service.metrics.count_answer(self.name, reply.status, seconds)
        if service.settings.access_log:
            log("request", id=call.id, trace=call.trace, endpoint=self.name, status=reply.status, ms=round(seconds * 1e3, 2))

    async def _reply(self, call: Call, receive: Any) -> Reply:
        service = call.service
        if self.need is not None:
            call.key = enter(service, call.scope, call.headers, self.need, call.params.get("policy"))
            if b"origin" in call.headers.all:
                check_public(service, call.headers, call.key, self.public)
        if call.scope["query_string"]:
            call.query = self._parse_query(call.scope["query_string"])
        if self.body_type is not None:
            kind = (call.headers.get(b"content-type") or "").partition(";")[0].strip().lower()
            if kind not in self.types and kind not in self.also:
                raise HttpProblem(
                    415, "type", f"The body must be {self.types[0]}; given {kind[:100]!r}. Set the header Content-Type."
                )
            raw = await read_body(
                receive,
                call.headers,
                getattr(service.settings, self.large if isinstance(self.large, str) else self.large(call)),
            )
            decoder = self.decoders.get(kind, self.decoder)
            if self.headed is not None and kind in self.types and self.headed[0] in call.headers.all:
                decoder = self.headed[1]
            call.body = self._decode(raw, decoder)
        return await self.handler(call)

    def _parse_query(self, text: bytes) -> dict[str, str]:
        try:
            pairs = parse_qsl(text.decode("ascii"), keep_blank_values=True, max_num_fields=20, errors="strict")
        except (ValueError, UnicodeDecodeError):
            raise HttpProblem(
                422,
                "query",
                "The query, after the '?', cannot be read. Encode it as name=value&name=value, at most 20 of them.",
            ) from None
        for name, _ in pairs:
            if name not in self.query:
                known = f"It takes {', '.join(self.query)}." if self.query else "It takes none."
                raise HttpProblem(422, "unknown-field", f"This path has no parameter {name[:100]!r}. {known}")
        return dict(pairs)

    def _decode(self, raw: bytes, decoder: Any) -> Any:
        if decoder is None:
            return raw
        if not raw:
            if self.optional:
                return self.body_type()
            raise HttpProblem(400, "not-json", "The body is empty. Send a JSON object.")
        try:
            return decoder.decode(raw)
        except msgspec.ValidationError as error:
            raise misfit(error, self.fields) from None
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise HttpProblem(400, "not-json", f"The body is not JSON: {error!s:.200}.") from None


def problem_reply(call: Call, problem: HttpProblem) -> Reply:
    """Return the answer to a problem, as in RFC 9457."""
    headers = [*problem.headers, *retry_after(problem.retry)]
    return Reply(problem.status, problem.body(call.scope["path"], call.id), type=PROBLEM, headers=headers)


def failure_reply(
    call: Call, error: Exception, policy: str | None, fault: Callable[[Call, HttpProblem], Reply] = problem_reply
) -> Reply:
    """Return the answer to a request that failed with `error`, and count it among the rejections of `policy`."""
    if isinstance(error, InputError | FileError):
        problem = HttpProblem(422, "refused", over_http(str(error)), pointer=pointer_of(str(error)))
    elif isinstance(error, RecursionError):
        problem = HttpProblem(422, "refused", "The body is nested too deep. Send a flatter one.")
    elif isinstance(error, Full):
        problem = HttpProblem(
            507, "disk-full", "The disk is full, and nothing was written. Make room, then send it again.", retry=1.0
        )
    elif isinstance(error, Lost):
        problem = HttpProblem(
            503,
            "journal-away",
            "The journal cannot be written, and the service is stopping. Send it again when the service is back.",
            retry=1.0,
        )
    elif isinstance(error, HttpProblem):
        problem = error
    else:
        log_fault(error, request=call.id, trace=call.trace, path=call.scope["path"][:200])
        problem = HttpProblem(500, "fault", "The service has a fault. See its log for details.")
    known = policy if policy in call.service.core.policies else None
    call.service.rejections.note(known, problem.kind, problem.status, problem.detail, problem.pointer, call.id)
    return fault(call, problem)


def retry_after(seconds: float | None) -> list[tuple[bytes, bytes]]:
    """Return the header Retry-After, in whole seconds; nothing if `seconds` is None."""
    return [] if seconds is None else [(b"retry-after", str(max(1, round(seconds + 0.499))).encode())]


async def read_body(receive: Any, headers: Headers, most: int) -> bytes:
    """Read a whole body of at most `most` bytes. Raises HttpProblem (413) if it is larger. `connections` limits the time."""
    length = headers.all.get(b"content-length")
    size = int(length) if length is not None and length.isdigit() and len(length) < 19 else 0
    if size > most:
        raise await _too_large(receive, most, True)
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        part = message.get("body", b"")
        size += len(part)
        more = message.get("more_body", False)
        if size > most:
            raise await _too_large(receive, most, more)
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _too_large(receive: Any, most: int, more: bool) -> HttpProblem:
    """Return the problem of a body that is too large. Some more is read first, since a client may read the answer only after sending all."""
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(1.0):
            while more and size < DRAINED:
                message = await receive()
                size += len(message.get("body", b""))
                more = message.get("more_body", False)
    return HttpProblem(413, "body", f"The body is too large: at most {most:,} bytes. Send fewer rows at once.", headers=CLOSE)


async def send_reply(call: Call, receive: Any, send: Any, reply: Reply) -> None:
    """Send an answer; a stream ends early if the client leaves."""
    headers = [(b"content-type", reply.type), (b"x-request-id", call.id.encode()), (b"cache-control", b"no-store")]
    headers += reply.headers
    if b"origin" in call.headers.all:
        headers += allow_origin(call.service, call.headers)
    start = {"type": "http.response.start", "status": reply.status, "headers": headers}
    if reply.stream is None:
        if reply.status not in (204, 304):
            headers.append((b"content-length", str(len(reply.body)).encode()))
        await send(start)
        await send({"type": "http.response.body", "body": reply.body})
        return
    left = asyncio.ensure_future(_left(receive))
    try:
        await send(start)
        async with aclosing(reply.stream) as parts:
            async for part in parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
                if left.done():
                    return
        await send({"type": "http.response.body", "body": b""})
    finally:
        left.cancel()


async def _left(receive: Any) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
