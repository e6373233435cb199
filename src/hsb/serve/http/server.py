"""The process: uvicorn with limits on connections and headers, logs as JSON lines, a stop that finishes what is under way."""

import asyncio
import logging
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .app import create_app
from .calls import encode
from .logs import Lines
from .problem import Problem
from .service import Service
from .settings import Settings


def protocol(settings: Settings) -> type[HttpToolsProtocol]:
    """uvicorn's, with a limit on connections, and on how long a request's header may take."""

    class Bounded(HttpToolsProtocol):
        waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            if len(self.connections) >= settings.connections:
                transport.write(_turned_away())
                transport.close()
                return
            super().connection_made(transport)
            self._wait()

        def _wait(self) -> None:
            if self.waiting is None:
                self.waiting = self.loop.call_later(settings.header_seconds, self._late)

        def _late(self) -> None:
            self.waiting = None
            if self.transport is not None and not self.transport.is_closing():
                self.transport.close()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if (
                self.waiting is None
                and (self.cycle is None or self.cycle.response_complete)
                and not self.timeout_keep_alive_task
            ):
                self._wait()

        def on_headers_complete(self) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None
            if self in self.connections:
                super().connection_lost(exc)

    return Bounded


def _turned_away() -> bytes:
    body = encode(Problem(503, "connections", "There are too many connections.").body(None, None))
    head = (
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\nretry-after: 1\r\nconnection: close\r\n"
    )
    return head.encode() + f"content-length: {len(body)}\r\n\r\n".encode() + body


def make_server(
    service: Service, *beside: Any, host: str = "127.0.0.1", port: int = 8765, loop: str = "auto"
) -> uvicorn.Server:
    """A server that is not running yet: `server.run()`, or `await server.serve()`."""
    settings = service.settings
    config = uvicorn.Config(
        create_app(service, *beside),
        host=host,
        port=port,
        http=protocol(settings),
        loop=loop,  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        backlog=2048,
        timeout_keep_alive=int(settings.idle_seconds),
        timeout_graceful_shutdown=int(settings.stop_seconds),
        h11_max_incomplete_event_size=16 * 1024,
    )
    return uvicorn.Server(config)


def log_as_lines() -> None:
    """Let what uvicorn says be lines of ours."""
    for name in ("uvicorn", "uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [Lines()], False
        logger.setLevel(logging.WARNING)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there: it is ours before anything else is done."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind((host, port))
    return found
