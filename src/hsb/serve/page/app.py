"""Addresses and answers of the page."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from . import overview
from .render import STATIC, html
from .sheets import Ledger, Sheet, sheet

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Section(NamedTuple):
    """A view of a policy: its title, and what makes its figures on the reading thread."""

    title: str
    figures: Callable[..., Any]


SECTIONS = {"overview": Section("Overview", overview.overview), "arms": Section("Arms", overview.arms)}


def routes(service: Any) -> list[Route]:
    """The page's routes."""
    page = Page(service)
    found = [
        Route("/", page.policies),
        Route("/policies.json", page.policies),
        Route("/p/{name}", page.policy),
        Route("/static/{file}", static),
    ]
    for name in SECTIONS:
        found += [Route(f"/p/{{name}}/{name}{end}", page.section(name)) for end in ("", ".json")]
    return found


class Page:
    """The page of a service."""

    def __init__(self, service: Any) -> None:
        self.service, self.ledger = service, Ledger()

    def _sheets(self) -> list[Sheet]:
        core, now = self.service.core, time.time_ns() // 1000
        return [sheet(core, served, now) for served in core.policies.values()]

    async def policies(self, request: Request) -> Response:
        """All of them."""
        found = await self.service.read(overview.policies, self.ledger, self._sheets())
        return self._answer(request, "policies", "Policies", found, None)

    async def policy(self, request: Request) -> Response:
        """A policy's first view."""
        return RedirectResponse(f"/p/{request.path_params['name']}/overview", headers=HEADERS)

    def section(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        """What answers for one section."""

        async def answer(request: Request) -> Response:
            served = self.service.core.policies.get(request.path_params["name"])
            if served is None:
                return self._missing(request)
            page = sheet(self.service.core, served, time.time_ns() // 1000)
            found = await self.service.read(SECTIONS[name].figures, self.ledger, page)
            return self._answer(request, name, SECTIONS[name].title, found, page)

        return answer

    def _answer(self, request: Request, name: str, title: str, found: dict[str, Any], page: Sheet | None) -> Response:
        synthetic = bool(self.service.settings.demo)
        if request.url.path.endswith(".json"):
            about = {} if page is None else {"policy": page.name, "version": page.version}
            return JSONResponse({"section": name, "synthetic": synthetic, **about, **found}, headers=HEADERS)
        given = {"section": name, "title": title, "synthetic": synthetic, "page": page, "sections": SECTIONS, "it": found}
        given["base"] = str(request.base_url).rstrip("/")
        part = "fragment" in request.query_params
        return Response(html(name, given, part), media_type="text/html", headers=HEADERS)

    def _missing(self, request: Request) -> Response:
        if request.url.path.endswith(".json"):
            body = {"title": "Not found", "status": 404, "detail": "There is no such policy."}
            return JSONResponse(body, 404, headers=HEADERS, media_type="application/problem+json")
        given = {"section": "missing", "title": "Not found", "synthetic": False, "page": None, "sections": SECTIONS, "it": {}}
        return Response(html("missing", given, False), 404, media_type="text/html", headers=HEADERS)


async def static(request: Request) -> Response:
    """The style and the script."""
    found = STATIC.get(request.path_params["file"])
    if found is None:
        return Response("There is no such file.", 404, headers=HEADERS)
    return Response(found[0], media_type=found[1], headers={**HEADERS, "Cache-Control": "max-age=300"})
