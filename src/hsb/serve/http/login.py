"""Login: the page needs a key, which is entered once and kept as a cookie."""

import html
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from .auth import READING, Headers, check_origin, cookie_of, enter, spend
from .endpoint import read_body
from .problem import HttpProblem
from .service import Service
from .sessions import cookie_header

OPEN = ("/static/", "/login", "/logout", "/favicon.ico")
FORM = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>hsb serve</title><link rel="icon" href="/static/icon.svg"><link rel="stylesheet" href="/static/page.css">
<main><h1>hsb serve</h1>{message}
<form method="post" action="/login?next={next}"><p><label>Key <input name="key" type="password" autocomplete="current-password" required
autofocus></label> <button>Enter</button></p></form>
<p class="soft">hsb serve printed an admin key when it first started. <a href="/docs">The API</a></p></main></html>"""
UNKNOWN = "<p role='alert'>This key is unknown here, or has ended or expired. Enter a valid key of this service.</p>"


class Guarded:
    """A route of the page: reading needs the scope read, a form the scope admin, or evaluate for what-if."""

    def __init__(self, service: Service, inner: Any) -> None:
        self.service, self.inner = service, inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = Headers(scope)
        if not scope["path"].startswith(OPEN):
            try:
                writes = "evaluate" if scope["path"].endswith("/what-if") else "admin"
                key = enter(self.service, scope, headers, "read" if scope["method"] in READING else writes, None)
            except HttpProblem as problem:
                if problem.status == 401 and scope["method"] == "GET" and not scope["path"].endswith(".json"):
                    await RedirectResponse(f"/login?next={quote(scope['path'])}", 303)(scope, receive, send)
                    return
                raise
            scope.setdefault("state", {})["key"] = key
        await self.inner(scope, receive, send)


def guard(service: Service, routes: list[BaseRoute]) -> list[BaseRoute]:
    """Make every route require a key."""
    for route in routes:
        route.app = Guarded(service, route.app)  # type: ignore[attr-defined]
    return routes


def routes(service: Service) -> list[Route]:
    """Return the routes /login and /logout, and a first page in case the page is not installed."""

    async def show(request: Request) -> Response:
        return HTMLResponse(FORM.format(message="", next=quote(_local(request.query_params.get("next")))))

    async def log_in(request: Request) -> Response:
        if (rejection := _reject_foreign(request)) is not None:
            return rejection
        raw = await read_body(request.receive, Headers(request.scope), service.settings.body)
        try:
            fields = dict(parse_qsl(raw.decode("ascii"), max_num_fields=5))
        except ValueError:
            fields = {}
        key, to = service.keys.find(fields.get("key", "").strip()), _local(request.query_params.get("next"))
        if key is None:
            return HTMLResponse(FORM.format(message=UNKNOWN, next=quote(to)), 401)
        try:
            spend(key)
        except HttpProblem as problem:
            return _problem_page(problem)
        cookie = cookie_header(service.sessions.open(key), secure=request.url.scheme == "https")
        return RedirectResponse(to, 303, headers={"set-cookie": cookie})

    async def leave(request: Request) -> Response:
        if (rejection := _reject_foreign(request)) is not None:
            return rejection
        cookie = cookie_of(Headers(request.scope))
        if cookie is not None:
            service.sessions.close(cookie)
        return RedirectResponse("/login", 303, headers={"set-cookie": cookie_header("", secure=False, seconds=0)})

    async def first(request: Request) -> Response:
        text = f"hsb serve is running, without its page. See <a href='/docs'>the API</a>. {html.escape(str(service.path.name))}"
        return HTMLResponse(f"<!doctype html><html lang='en'><title>hsb serve</title><p>{text}</p></html>")

    table: list[tuple[str, Callable[[Request], Any], list[str]]] = [
        ("/login", show, ["GET"]),
        ("/login", log_in, ["POST"]),
        ("/logout", leave, ["POST"]),
        ("/", first, ["GET"]),
    ]
    return [Route(path, endpoint, methods=methods) for path, endpoint, methods in table]


def _reject_foreign(request: Request) -> Response | None:
    """Return an error page if another site's page sent the form; None if one of ours did."""
    try:
        headers = Headers(request.scope)
        headers.check()
        check_origin(headers)
    except HttpProblem as problem:
        return _problem_page(problem)
    return None


def _problem_page(problem: HttpProblem) -> Response:
    message = f"<p role='alert'>{html.escape(problem.detail)}</p>"
    return HTMLResponse(FORM.format(message=message, next=""), problem.status)


def _local(path: str | None) -> str:
    """Return `path` if it is a path of this service, else "/"."""
    return path if path and path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() else "/"
