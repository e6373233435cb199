"""Connections: uvicorn's, with limits on how many there are, how large a header is and how long each part may take; one write an answer."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .endpoint import encode
from .problem import HttpProblem
from .settings import ServerSettings

LARGEST_HEAD = 64 * 1024  # bytes, about: httptools itself has no limit


class Joined:
    """A transport that sends what is written in one turn of the loop at once: uvicorn writes head and body of an answer apart."""

    __slots__ = ("loop", "parts", "transport")

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.transport, self.loop = transport, loop
        self.parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send it, soon."""
        if not self.parts:
            self.loop.call_soon(self._send)
        self.parts.append(data)

    def _send(self) -> None:
        if self.parts:
            data, self.parts = b"".join(self.parts), []
            self.transport.write(data)

    def close(self) -> None:
        """Close the connection when all is sent."""
        self._send()
        self.transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)


def protocol(settings: ServerSettings) -> type[HttpToolsProtocol]:
    """uvicorn's, with limits: on connections, and on how long a header, a body, and a client that reads nothing may take."""

    idle: dict[HttpToolsProtocol, None] = {}  # connections on which nothing is asked, the longest of them first

    class Bounded(HttpToolsProtocol):
        waiting: asyncio.TimerHandle | None = None  # for a header or a body
        stuck: asyncio.TimerHandle | None = None  # until a client reads
        head: int | None = 0  # bytes of a header that has begun; None in a body and between requests
        body = False  # a header is there, and not all of its body
        delivered = False  # some of a body came with the bytes that are being read
        beside = 0  # bytes since the last of a body: trailers

        def connection_made(self, transport: Any) -> None:
            if len(self.connections) >= settings.connections and not _make_room(idle):
                transport.write(
                    _said("503 Service Unavailable", HttpProblem(503, "connections", "There are too many connections."))
                )
                transport.close()
                return
            joined: Any = Joined(transport, self.loop)
            super().connection_made(joined)
            self._wait(settings.header_seconds, self._no_header)

        def _wait(self, seconds: float, late: Any) -> None:
            self._wait_no_more()
            self.waiting = self.loop.call_later(seconds, late)

        def _wait_no_more(self) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None

        def _no_header(self) -> None:
            self.waiting = None
            self.transport.close()

        def _no_body(self) -> None:
            self.waiting = None
            if self.cycle is not None and not self.cycle.response_started and not self.transport.is_closing():
                detail = f"The body was not there after {settings.body_seconds:g} s."
                self.transport.write(_said("408 Request Timeout", HttpProblem(408, "slow", detail)))
            self.transport.close()

        def data_received(self, data: bytes) -> None:
            begun, self.delivered = self.head, False
            super().data_received(data)
            if self.body and self._is_too_much(len(data)):
                return
            if self.body and self.waiting is None:  # most bodies come with their header: nothing is to be waited for
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
                self._wait(settings.header_seconds, self._no_header)  # part of a header came, on a connection that was kept

        def _is_too_much(self, size: int) -> bool:
            """Close the connection if what follows a body does not end. The parser keeps a field until all of it is there."""
            self.beside = 0 if self.delivered else self.beside + size
            if self.beside <= LARGEST_HEAD or self.transport.is_closing():
                return False
            self._refuse_head()
            return True

        def _refuse_head(self) -> None:
            if self.cycle is None or self.head is not None or not self.cycle.response_started:
                detail = f"A header may have {LARGEST_HEAD:,} bytes."
                self.transport.write(_said("431 Request Header Fields Too Large", HttpProblem(431, "header", detail)))
            self._wait_no_more()
            self.transport.close()

        def on_message_begin(self) -> None:
            self.head = 0
            idle.pop(self, None)
            super().on_message_begin()

        def on_header(self, name: bytes, value: bytes) -> None:
            if not self.body:  # a field that follows a body, a trailer, is no header
                super().on_header(name, value)

        def on_headers_complete(self) -> None:
            self.head, self.body, self.beside = None, True, 0
            self._wait_no_more()
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            self.delivered = True
            super().on_body(body)

        def on_message_complete(self) -> None:
            self.body = False
            self._wait_no_more()
            super().on_message_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.cycle.response_complete and self.head is None and self in self.connections:
                idle[self] = None  # nothing more was asked

        def _unsupported_upgrade_warning(self) -> None:
            self.cycle.keep_alive = False  # the parser reads no further: what is sent after this would not be answered

        def pause_writing(self) -> None:
            super().pause_writing()
            self.stuck = self.loop.call_later(settings.send_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            self._stuck_no_more()
            super().resume_writing()

        def _stuck_no_more(self) -> None:
            if self.stuck is not None:
                self.stuck.cancel()
                self.stuck = None

        def connection_lost(self, exc: Exception | None) -> None:
            self._wait_no_more()
            self._stuck_no_more()
            idle.pop(self, None)
            if self in self.connections:
                super().connection_lost(exc)

    return Bounded


def _make_room(idle: dict[HttpToolsProtocol, None]) -> bool:
    """Close the connection on which nothing was asked for the longest time; False if there is none."""
    longest = next(iter(idle), None)
    if longest is None:
        return False
    del idle[longest]
    longest.connections.discard(longest)
    longest.transport.close()
    return True


def _said(status: str, problem: HttpProblem) -> bytes:
    """An answer that no application gives."""
    body = encode(problem.body(None, None))
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/problem+json\r\nretry-after: 1\r\nconnection: close\r\n"
    return head.encode() + f"content-length: {len(body)}\r\n\r\n".encode() + body
