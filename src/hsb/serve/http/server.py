"""The process: uvicorn, logs as JSON lines, a stop that finishes what is under way."""

import logging
import socket
from typing import Any

import uvicorn

from ...errors import InputError
from .app import create_app
from .connections import protocol
from .logs import Lines
from .service import Service
from .settings import ServerSettings


def make_server(
    service: Service, *beside: Any, host: str = "127.0.0.1", port: int = 8765, loop: str = "auto"
) -> uvicorn.Server:
    """A server that is not running yet: `server.run()`, or `await server.serve()`."""
    return server_of(create_app(service, *beside), service.settings, host=host, port=port, loop=loop)


def server_of(app: Any, settings: ServerSettings, *, host: str, port: int, loop: str = "auto") -> uvicorn.Server:
    """The same of an application."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=protocol(settings),
        loop=loop,
        ws="none",
        lifespan="on",
        access_log=False,
        proxy_headers=False,  # who asks is who holds the socket, whatever a header says
        log_config=None,
        server_header=False,
        backlog=2048,
        timeout_keep_alive=int(settings.idle_seconds),
        timeout_graceful_shutdown=int(settings.stop_seconds),
    )
    return uvicorn.Server(config)


def log_as_lines() -> None:
    """Let what uvicorn says, and what Python warns of, be lines of ours."""
    logging.captureWarnings(True)
    for name in ("uvicorn", "uvicorn.error", "asyncio", "py.warnings"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [Lines()], False
        logger.setLevel(logging.WARNING)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there: it is ours before anything else is done."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        said = error.strerror or str(error)
        raise InputError(f"{host}, port {port}: {said}. Give another --port; 0 takes one that is free.") from None
    return found
