"""The page's door: nobody sees it without a key, entered once and kept as a cookie."""

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
<main><h1>hsb serve</h1>{said}
<form method="post" action="/login?next={next}"><p><label>Key <input name="key" type="password" autocomplete="current-password" required
autofocus></label> <button>Enter</button></p></form>
<p class="soft">hsb serve printed an admin's key when it started for the first time. <a href="/docs">The API</a></p></main></html>"""


class Guarded:
    """A route of the page, for those who may read; what is sent with a form, for admins."""

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


def guarded(service: Service, routes: list[BaseRoute]) -> list[BaseRoute]:
    """The same routes behind the door."""
    for route in routes:
        route.app = Guarded(service, route.app)  # type: ignore[attr-defined]
    return routes


def routes(service: Service) -> list[Route]:
    """/login and /logout, for pages that have none of their own."""

    async def show(request: Request) -> Response:
        return HTMLResponse(FORM.format(said="", next=quote(_local(request.query_params.get("next")))))

    async def log_in(request: Request) -> Response:
        if (said := _foreign(request)) is not None:
            return said
        raw = await read_body(request.receive, Headers(request.scope), service.settings.body)
        try:
            given = dict(parse_qsl(raw.decode("ascii"), max_num_fields=5))
        except ValueError:
            given = {}
        key, to = service.keys.find(given.get("key", "").strip()), _local(request.query_params.get("next"))
        if key is None:
            return HTMLResponse(FORM.format(said="<p role='alert'>This key is not known here.</p>", next=quote(to)), 401)
        try:
            spend(key)
        except HttpProblem as problem:
            return _refused(problem)
        cookie = cookie_header(service.sessions.open(key), secure=request.url.scheme == "https")
        return RedirectResponse(to, 303, headers={"set-cookie": cookie})

    async def leave(request: Request) -> Response:
        if (said := _foreign(request)) is not None:
            return said
        cookie = cookie_of(Headers(request.scope))
        if cookie is not None:
            service.sessions.close(cookie)
        return RedirectResponse("/login", 303, headers={"set-cookie": cookie_header("", secure=False, seconds=0)})

    async def first(request: Request) -> Response:
        text = (
            f"hsb serve is here. There is no page installed; <a href='/docs'>the API</a>. {html.escape(str(service.path.name))}"
        )
        return HTMLResponse(f"<!doctype html><html lang='en'><title>hsb serve</title><p>{text}</p></html>")

    found: list[tuple[str, Callable[[Request], Any], list[str]]] = [
        ("/login", show, ["GET"]),
        ("/login", log_in, ["POST"]),
        ("/logout", leave, ["POST"]),
        ("/", first, ["GET"]),
    ]
    return [Route(path, endpoint, methods=methods) for path, endpoint, methods in found]


def _foreign(request: Request) -> Response | None:
    """What to say to a form of another site's page; None to one of ours."""
    try:
        headers = Headers(request.scope)
        headers.check()
        check_origin(headers)
    except HttpProblem as problem:
        return _refused(problem)
    return None


def _refused(problem: HttpProblem) -> Response:
    said = f"<p role='alert'>{html.escape(problem.detail)}</p>"
    return HTMLResponse(FORM.format(said=said, next=""), problem.status)


def _local(given: str | None) -> str:
    """A path of this service, and nothing else."""
    return given if given and given.startswith("/") and not given.startswith(("//", "/\\")) and given.isprintable() else "/"
