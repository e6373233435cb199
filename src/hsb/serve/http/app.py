"""The application: a direct path for decisions and rewards, Starlette's routes for the rest."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.routing import Route

from . import administering, deciding, erasing, evaluations, export, login, ofrep, operating, reading
from . import openapi as describing
from .auth import Headers, preflight
from .endpoint import Call, Endpoint, failure_reply, send_reply
from .logs import log_fault
from .problem import HttpProblem
from .service import Service

CSP = b"default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
SAFE = [
    (b"content-security-policy", CSP),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]


def endpoints() -> list[Endpoint]:
    """Return all endpoints of the API."""
    parts = (deciding, administering, erasing, reading, export, evaluations, operating, ofrep)
    described = [endpoint for part in parts for endpoint in part.ENDPOINTS]
    return [*described, *describing.make(described)]


class Text(PathConvertor):
    """The rest of a path, an arm, with any characters, line feeds too."""

    regex = r"[\s\S]+"


register_url_convertor("text", Text())


class App:
    """An ASGI application for a service."""

    def __init__(self, service: Service, beside: tuple[Callable[[Service], Any], ...] = ()) -> None:
        self.service, self.beside = service, beside
        self.rest = _rest(service)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        kind = scope["type"]
        if kind == "http":
            match = None if scope["method"] != "POST" else _short(scope["path"])
            if match is not None:
                endpoint, params = match
                await endpoint(self.service, scope, receive, send, params)
            else:
                await self.rest(scope, receive, send)
        elif kind == "lifespan":
            await self._lifespan(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _lifespan(self, receive: Any, send: Any) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    await self.begin()
                except Exception as error:
                    log_fault(error)
                    await send({"type": "lifespan.startup.failed", "message": str(error)})
                    return
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.end()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def begin(self) -> None:
        """Start the service and its background work."""
        await self.service.begin()
        for work in self.beside:
            self.service.spawn(work(self.service))

    async def end(self) -> None:
        """Finish requests under way and stop the service."""
        await self.service.end()


def _short(path: str) -> tuple[Endpoint, dict[str, str]] | None:
    """Return the endpoint and parameters of a path that must be quick; None for any other path."""
    parts = path.split("/")
    if len(parts) == 5 and parts[1] == "v1":
        if parts[2] == "policies" and parts[4] == "decisions":
            return deciding.DECIDE, {"policy": parts[3]}
        if parts[2] == "decisions" and parts[4] == "reward":
            return deciding.REWARD, {"id": parts[3]}
    elif len(parts) == 6 and parts[1] == "v1" and parts[2] == "policies" and parts[4] == "decisions" and parts[5] == "batch":
        return deciding.DECIDE_BATCH, {"policy": parts[3]}
    elif len(parts) == 3 and parts[1] == "v1" and parts[2] == "rewards":
        return deciding.REWARD_BATCH, {}
    return None


def _route(service: Service, path: str, some: dict[str, Endpoint]) -> Route:
    """Return the route of one path, for all its methods."""

    class Methods:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            method = "GET" if scope["method"] == "HEAD" else scope["method"]
            endpoint = some.get(method)
            if method == "OPTIONS" and any(one.public for one in some.values()):
                allowed = preflight(service, Headers(scope))
                if allowed:
                    await send({"type": "http.response.start", "status": 204, "headers": allowed})
                    await send({"type": "http.response.body", "body": b""})
                    return
            if endpoint is None:
                raise HTTPException(405, headers={"allow": ", ".join(sorted(some))})
            await endpoint(service, scope, receive, send, dict(scope["path_params"]))

    return Route(path, endpoint=Methods())


def _rest(service: Service) -> Any:
    paths: dict[str, dict[str, Endpoint]] = {}
    for endpoint in endpoints():
        paths.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    routes: list[Any] = [_route(service, path, some) for path, some in paths.items()]
    if importlib.util.find_spec("hsb.serve.page") is not None:
        routes += login.guard(service, importlib.import_module("hsb.serve.page").routes(service))
    routes += login.routes(service)

    async def wrong(scope: Any, receive: Any, send: Any, error: HttpProblem) -> None:
        call = Call(service, scope, {})
        await send_reply(call, receive, send, failure_reply(call, error, None))

    starlette = Starlette(routes=routes)
    starlette.router.redirect_slashes = False
    inner = starlette.router

    async def rest(scope: Any, receive: Any, send: Any) -> None:
        begun = False

        async def safe(message: Any) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                names = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(header for header in SAFE if header[0] not in names)]
            await send(message)

        scope["app"] = starlette
        if (b"x-forwarded-proto", b"https") in scope[
            "headers"
        ]:  # anyone can send it: it only makes cookies stricter, and links https
            scope["scheme"] = "https"
        try:
            await inner(scope, receive, safe)
        except Exception as error:
            if begun:
                log_fault(error, path=scope["path"][:200])
                raise
            await wrong(scope, receive, safe, _problem(scope, error))

    return rest


def _problem(scope: Any, error: Exception) -> HttpProblem:
    if isinstance(error, HttpProblem):
        return error
    if isinstance(error, HTTPException):
        if error.status_code == 404:
            return HttpProblem(404, "not-found", f"There is nothing at {scope['path'][:200]!r}. See /docs for all paths.")
        headers = [(name.lower().encode(), value.encode()) for name, value in (error.headers or {}).items()]
        allowed = dict(headers).get(b"allow", b"").decode()
        detail = f"This path does not take {scope['method']}. Use {allowed}." if error.status_code == 405 else str(error.detail)
        return HttpProblem(error.status_code, "method" if error.status_code == 405 else "refused", detail, headers=headers)
    log_fault(error, path=scope["path"][:200])
    return HttpProblem(500, "fault", "The service has a fault. See its log for details.")


def create_app(service: Service, *beside: Callable[[Service], Any]) -> App:
    """Return the application of a service, with the page if that is installed. The coroutines `beside` run while the service does."""
    return App(service, beside)
