"""uvicorn's HTTP protocol with limits on connections, header size and the time of each part; each response is one write."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .endpoint import encode
from .problem import HttpProblem
from .settings import ServerSettings

LARGEST_HEAD = 64 * 1024  # bytes, about: httptools itself has no limit


class Joined:
    """A transport that joins all writes of one loop iteration into one: uvicorn writes head and body separately."""

    __slots__ = ("loop", "parts", "transport")

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.transport, self.loop = transport, loop
        self.parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send `data` at the end of this loop iteration."""
        if not self.parts:
            self.loop.call_soon(self._send)
        self.parts.append(data)

    def _send(self) -> None:
        if self.parts:
            data, self.parts = b"".join(self.parts), []
            self.transport.write(data)

    def close(self) -> None:
        """Send what is left, then close the connection."""
        self._send()
        self.transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)


def protocol(settings: ServerSettings) -> type[HttpToolsProtocol]:
    """Return uvicorn's protocol class with limits: on connections, and on the time for a header, a body, and a client that reads nothing."""

    idle: dict[HttpToolsProtocol, None] = {}  # idle connections, the longest idle first

    class Bounded(HttpToolsProtocol):
        waiting: asyncio.TimerHandle | None = None  # for a header or a body
        stuck: asyncio.TimerHandle | None = None  # until a client reads
        head: int | None = 0  # bytes of a header that has begun; None in a body and between requests
        body = False  # the header is complete, the body is not
        delivered = False  # the bytes being read include some of a body
        beside = 0  # bytes of trailers, since the end of the body

        def connection_made(self, transport: Any) -> None:
            if len(self.connections) >= settings.connections and not _make_room(idle):
                transport.write(
                    _problem_bytes(
                        "503 Service Unavailable",
                        HttpProblem(503, "connections", "The service has no free connection. Try again later."),
                    )
                )
                transport.close()
                return
            joined: Any = Joined(transport, self.loop)
            super().connection_made(joined)
            self._wait(settings.header_seconds, self._no_header)

        def _wait(self, seconds: float, late: Any) -> None:
            self._stop_waiting()
            self.waiting = self.loop.call_later(seconds, late)

        def _stop_waiting(self) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None

        def _no_header(self) -> None:
            self.waiting = None
            self.transport.close()

        def _no_body(self) -> None:
            self.waiting = None
            if self.cycle is not None and not self.cycle.response_started and not self.transport.is_closing():
                detail = f"The body did not arrive within {settings.body_seconds:g} s. Send it faster, or in smaller batches."
                self.transport.write(_problem_bytes("408 Request Timeout", HttpProblem(408, "slow", detail)))
            self.transport.close()

        def data_received(self, data: bytes) -> None:
            begun, self.delivered = self.head, False
            super().data_received(data)
            if self.body and self._is_too_much(len(data)):
                return
            if self.body and self.waiting is None:  # most bodies come with their header, and then nothing is left to wait for
                self._wait(settings.body_seconds, self._no_body)
            if begun is not None and self.head is not None and not self.transport.is_closing():
                self.head += len(data)
                if self.head > LARGEST_HEAD:
                    self._refuse_head()
                    return
            if (
                self.waiting is None
                and self.timeout_keep_alive_task is None
                and (self.cycle is None or self.cycle.response_complete)
            ):
                self._wait(settings.header_seconds, self._no_header)  # part of a header came, on a kept-alive connection

        def _is_too_much(self, size: int) -> bool:
            """Close the connection, and return True, if the trailers of a body are too large: the parser keeps a field until it is complete."""
            self.beside = 0 if self.delivered else self.beside + size
            if self.beside <= LARGEST_HEAD or self.transport.is_closing():
                return False
            self._refuse_head()
            return True

        def _refuse_head(self) -> None:
            if self.cycle is None or self.head is not None or not self.cycle.response_started:
                detail = f"The header is too large: it may have {LARGEST_HEAD:,} bytes at most."
                self.transport.write(_problem_bytes("431 Request Header Fields Too Large", HttpProblem(431, "header", detail)))
            self._stop_waiting()
            self.transport.close()

        def on_message_begin(self) -> None:
            self.head = 0
            idle.pop(self, None)
            super().on_message_begin()

        def on_header(self, name: bytes, value: bytes) -> None:
            if not self.body:  # a field after a body is a trailer, not a header
                super().on_header(name, value)

        def on_headers_complete(self) -> None:
            self.head, self.body, self.beside = None, True, 0
            self._stop_waiting()
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            self.delivered = True
            super().on_body(body)

        def on_message_complete(self) -> None:
            self.body = False
            self._stop_waiting()
            super().on_message_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.cycle.response_complete and self.head is None and self in self.connections:
                idle[self] = None  # no further request has begun

        def _unsupported_upgrade_warning(self) -> None:
            self.cycle.keep_alive = False  # the parser reads no further, so later requests would not be answered

        def pause_writing(self) -> None:
            super().pause_writing()
            self.stuck = self.loop.call_later(settings.send_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            self._stop_timer()
            super().resume_writing()

        def _stop_timer(self) -> None:
            if self.stuck is not None:
                self.stuck.cancel()
                self.stuck = None

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            self._stop_timer()
            idle.pop(self, None)
            if self in self.connections:
                super().connection_lost(exc)

    return Bounded


def _make_room(idle: dict[HttpToolsProtocol, None]) -> bool:
    """Close the connection that has been idle longest; return False if none is idle."""
    longest = next(iter(idle), None)
    if longest is None:
        return False
    del idle[longest]
    longest.connections.discard(longest)
    longest.transport.close()
    return True


def _problem_bytes(status: str, problem: HttpProblem) -> bytes:
    """Return the bytes of a response made without the application."""
    body = encode(problem.body(None, None))
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/problem+json\r\nretry-after: 1\r\nconnection: close\r\n"
    return head.encode() + f"content-length: {len(body)}\r\n\r\n".encode() + body
