"""The uvicorn server, with logs as JSON lines and a stop that finishes requests under way."""

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
    """Return a server for a service; start it with `server.run()` or `await server.serve()`."""
    return server_of(create_app(service, *beside), service.settings, host=host, port=port, loop=loop)


def server_of(app: Any, settings: ServerSettings, *, host: str, port: int, loop: str = "auto") -> uvicorn.Server:
    """Return a server for an application."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=protocol(settings),
        loop=loop,
        ws="none",
        lifespan="on",
        access_log=False,
        proxy_headers=False,  # the client is the other end of the socket, whatever headers claim
        log_config=None,
        server_header=False,
        backlog=2048,
        timeout_keep_alive=int(settings.idle_seconds),
        timeout_graceful_shutdown=int(settings.stop_seconds),
    )
    return uvicorn.Server(config)


def log_as_lines() -> None:
    """Write uvicorn's messages and Python's warnings as our log lines."""
    logging.captureWarnings(True)
    for name in ("uvicorn", "uvicorn.error", "asyncio", "py.warnings"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [Lines()], False
        logger.setLevel(logging.WARNING)


def bind(host: str, port: int) -> socket.socket:
    """Bind a socket to an address before any other work. Raises InputError if that fails."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        raise InputError(f"{host}, port {port}: {reason}. Give another --port; 0 takes a free one.") from None
    return listener
