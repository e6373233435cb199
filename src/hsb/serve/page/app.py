"""Routes of the page and their answers."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from ...errors import InputError
from .. import explaining
from ..core import STATUS
from . import candidates, forms, trying
from .gathering import Gathering
from .looking import SECTIONS, Look
from .render import STATIC, html
from .sheets import Sheet, sheet

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
OFTEN = 60.0  # seconds between two computations of a policy's rules
AT_ONCE = 1  # processes that compute rules at the same time
PATIENCE = 3.0  # seconds that a page waits for rules
MESSAGES = {
    "add": "The candidate is added. It now reads the journal from its first row.",
    "promote": "The candidate is promoted: it plays from now on.",
    "drop": "The candidate is dropped.",
    "ramp": "The share of traffic is changed.",
    "change": "The settings are changed.",
    "add-arm": "The arm is available from now on.",
    "remove-arm": "The arm is removed: no decision chooses it from now on.",
    "snapshot": "The snapshot is written.",
    "archive": "The policy is archived.",
    "evaluate": "The evaluation is queued.",
}


def routes(service: Any) -> list[Route]:
    """Return the page's routes."""
    page = Page(service)
    table = [
        Route("/", page.policies),
        Route("/policies.json", page.policies),
        Route("/p/{name}", page.policy),
        Route("/static/{file}", static),
    ]
    for name in SECTIONS:
        table += [Route(f"/p/{{name}}/{name}{end}", page.section(name)) for end in ("", ".json")]
    table += [Route(f"/p/{{name}}/{name}", page.form(name), methods=["POST"]) for name in ("candidates", "settings", "what-if")]
    return table


class RulesCache:
    """A policy's rules, and the computation of newer ones."""

    def __init__(self) -> None:
        self.rules: dict[str, Any] | None = None
        self.work: asyncio.Future[dict[str, Any]] | None = None
        self.begun = 0.0

    def due(self, version: int) -> bool:
        """Return True if there are no rules, or if they have been out of date for a while."""
        self.take()
        if self.work is not None:
            return False
        return self.rules is None or (self.rules["version"] != version and time.monotonic() - self.begun > OFTEN)

    def begin(self, work: "asyncio.Future[dict[str, Any]]") -> None:
        """Begin a computation."""
        self.work, self.begun = work, time.monotonic()

    def take(self) -> None:
        """Take the rules if the computation has finished."""
        if self.work is not None and self.work.done():
            self.rules, self.work = (self.rules if self.work.cancelled() else self.work.result()), None


class Page:
    """The page of a service."""

    def __init__(self, service: Any) -> None:
        self.service = service
        self.gathering = Gathering(service)
        self.rules: dict[int, RulesCache] = {}  # by the policy's id: a name may be used again

    def _key(self, request: Request, scope: str, policy: str | None) -> Any:
        """Return the key of a request, None if the service requires none. Raises Problem if the key lacks `scope`."""
        key = request.scope.get("state", {}).get("key")
        if key is not None:
            key.check(scope, policy)
        return key

    async def policies(self, request: Request) -> Response:
        """Answer with all policies."""
        key, core, now = self._key(request, "read", None), self.service.core, time.time_ns() // 1000
        mine = [each for each in core.policies.values() if key is None or key.policies is None or each.name in key.policies]
        return await self._answer(request, "policies", tuple(sheet(core, each, now) for each in mine), {})

    async def policy(self, request: Request) -> Response:
        """Redirect to a policy's first view."""
        self._key(request, "read", request.path_params["name"])
        if request.path_params["name"] not in self.service.core.policies:
            return self._missing(request)
        return RedirectResponse(f"/p/{request.path_params['name']}/overview", 303, headers=HEADERS)

    def section(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler of one section."""

        async def answer(request: Request) -> Response:
            return await self._section(request, name)

        return answer

    async def _section(self, request: Request, name: str, error: str | None = None, status: int = 200) -> Response:
        served = self.service.core.policies.get(request.path_params["name"])
        key = self._key(request, "read", request.path_params["name"])
        if served is None:
            return self._missing(request)
        page = sheet(self.service.core, served, time.time_ns() // 1000)
        extra = await self.gathering.extra(name, served, dict(request.query_params), key)
        if name == "rules":
            extra["rules"] = await self._rules(page, served)
        return await self._answer(request, name, (page,), extra, error, status)

    async def _rules(self, page: Sheet, served: Any) -> dict[str, Any]:
        """Rules of some version: worked out beside the service now and then, and kept."""
        nothing = {"rules": None, "version": page.version, "updates": page.updates}
        if not page.updates:
            return {**nothing, "why": "Nothing was learned yet."}
        if served.open is not None:
            return {**nothing, "why": "The arms of this policy come with each request, and rules name arms of a fixed list."}
        cached = self.rules.setdefault(page.id, RulesCache())
        if cached.due(page.version) and sum(each.work is not None for each in self.rules.values()) < AT_ONCE:
            file = await self.service.readers.scan(trying.body, page, await self.gathering.file(served))
            if file is None:
                return {**nothing, "why": "The policy is large and has no snapshot yet. Reload in a minute."}
            if cached.work is None:
                cached.begin(
                    self.service.spawn(
                        explaining.explain_in_process(file[0], file[1], updates=(self.service.path, page.id, page.arms))
                    )
                )
        if cached.work is not None and cached.rules is None:
            await asyncio.wait([cached.work], timeout=PATIENCE)
        cached.take()
        if cached.rules is None:
            return {**nothing, "why": "The rules are being computed. Reload in a moment."}
        return {**cached.rules, "updates": page.updates}

    def form(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler of a section's forms."""

        async def answer(request: Request) -> Response:
            key = self._key(request, "evaluate" if name == "what-if" else "admin", request.path_params["name"])
            served = self.service.core.policies.get(request.path_params["name"])
            if served is None:
                return self._missing(request)
            try:
                form = await forms.read(request)
                did = form.get("do", "")
                if name == "what-if":
                    did = "evaluate"
                    id = await self.service.evaluate(served.name, candidates.evaluation_request(form, served.active_arms))
                    await self.service.note(key, "Evaluate", served.name, {"id": id})
                else:
                    error = await self._do(name, did, served, form, key)
                    if error is not None:
                        return await self._section(request, name, *error)
            except (ValueError, InputError) as error:
                return await self._section(request, name, str(error), 422)
            return RedirectResponse(f"/p/{served.name}/{name}?done={did}", 303, headers=HEADERS)

        return answer

    async def _do(self, name: str, did: str, served: Any, form: dict[str, str], key: Any) -> tuple[str, int] | None:
        make_request = forms.FORMS[name].get(did)
        if make_request is None:
            raise ValueError("The request is not one of the page's forms. Reload the page and send the form again.")
        kind, arguments = make_request(served, form)
        answer = await self.service.change(kind, served.name, *arguments)
        if STATUS[answer.status] >= 400:
            return str(answer.body.get("detail", "The core refused the change.")), STATUS[answer.status]
        await self.service.note(key, kind.__name__, served.name, form)
        return None

    async def _answer(
        self,
        request: Request,
        name: str,
        pages: tuple[Sheet, ...],
        extra: dict[str, Any],
        error: str | None = None,
        status: int = 200,
    ) -> Response:
        names = self.service.core.policies if name == "policies" else (pages[0].name,)
        synthetic = bool(names) and all(self.service.synthetic(each) for each in names)
        shown = {"synthetic": synthetic, "error": error, "base": str(request.base_url).rstrip("/")}
        shown["message"] = MESSAGES.get(request.query_params.get("done", ""))
        as_json = request.url.path.endswith(".json")
        look = Look(name, pages, extra, shown, as_json, "fragment" in request.query_params)
        kind = "application/json" if as_json else "text/html"
        return Response(await self.service.view(look), 200 if as_json else status, media_type=kind, headers=HEADERS)

    def _missing(self, request: Request) -> Response:
        if request.url.path.endswith(".json"):
            body = {"title": "Not found", "status": 404, "detail": "There is no policy of this name. / lists all policies."}
            return JSONResponse(body, 404, headers=HEADERS, media_type="application/problem+json")
        data = {"section": "missing", "title": "Not found", "synthetic": False, "page": None, "sections": SECTIONS, "it": {}}
        data |= {"error": None, "message": None}
        return Response(html("missing", data, False), 404, media_type="text/html", headers=HEADERS)


async def static(request: Request) -> Response:
    """Answer with the style, the script or the icon."""
    file = STATIC.get(request.path_params["file"])
    if file is None:
        return Response("There is no such file.", 404, headers=HEADERS)
    return Response(file[0], media_type=file[1], headers={**HEADERS, "Cache-Control": "max-age=300"})
