"""Who asks, and whether they may: keys, cookies, where a request comes from."""

from __future__ import annotations

import math
import re
import time
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any

from .keys import ANYONE, Key
from .problem import HttpProblem
from .sessions import COOKIE

if TYPE_CHECKING:
    from .service import Service

FOREIGN = "A request from another site's page is not carried out."
PROXIED = (
    "If it is one site, with a proxy before this service, let the proxy hand on the name that it was asked for; "
    "nginx: proxy_set_header Host $http_host;"
)
LOOPBACK = ("127.", "::1", "localhost", "[::1]")
LOCAL_NAME = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?")  # all of it: 127.0.0.1.example.org is not here
SINGLE = (b"host", b"authorization", b"x-api-key", b"origin", b"x-forwarded-proto")
ONLY_DECIDE = "A page of another site may ask for decisions, with a key whose only scope is decide."
EXPOSED = (b"access-control-expose-headers", b"etag, retry-after, x-request-id")
PREFLIGHT = (
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"authorization, x-api-key, content-type, if-none-match, traceparent, x-request-id"),
    (b"access-control-max-age", b"600"),
)
READING = ("GET", "HEAD", "OPTIONS")
NO_KEY = "Give a key: the header 'Authorization: Bearer hsb_...', or 'X-API-Key: hsb_...'."


class Headers:
    """The headers that matter here, of a request."""

    __slots__ = ("all", "given")

    def __init__(self, scope: Any) -> None:
        self.given: list[tuple[bytes, bytes]] = scope["headers"]
        self.all: dict[bytes, bytes] = dict(self.given)

    def check(self) -> None:
        """HttpProblem if one that may be there once, and says who asks or from where, is there twice."""
        if len(self.all) == len(self.given):
            return
        names = [name for name, _ in self.given]
        for name in SINGLE:
            if names.count(name) > 1:
                raise HttpProblem(
                    400, "header", f"The header {name.decode()} is there {names.count(name)} times; send it once."
                )

    def get(self, name: bytes) -> str | None:
        """One of them."""
        found = self.all.get(name)
        return None if found is None else found.decode("latin-1")


def who(service: Service, scope: Any, headers: Headers) -> Key:
    """The key that a request comes with; HttpProblem if it has none that is valid."""
    headers.check()
    if not service.settings.auth:
        _check_host(scope, headers)
        if scope["method"] not in READING:
            check_origin(headers)
        return ANYONE
    text = headers.get(b"x-api-key")
    if text is None:
        given = headers.get(b"authorization")
        if given is not None and given[:7].lower() == "bearer ":
            text = given[7:].strip()
    if text is not None:
        key = service.keys.find(text)
        if not text:
            raise _unknown("The key is empty. Is the variable set that it is to come from?")
        if key is None:
            raise _unknown("This key is not known here, or ended, or expired.")
        return key
    cookie = cookie_of(headers)
    if cookie is not None and (key := service.sessions.find(cookie)) is not None:
        if scope["method"] not in READING:
            check_origin(headers, needed=True)
        return key
    raise _unknown(NO_KEY)


def enter(service: Service, scope: Any, headers: Headers, need: str, policy: str | None) -> Key:
    """The key, if it may do that now."""
    key = who(service, scope, headers)
    key.check(need, policy)
    spend(key)
    service.keys.used(key, time.time_ns() // 1000)
    return key


def spend(key: Key) -> None:
    """HttpProblem if a key asks more often than it may."""
    wait = key.take(time.monotonic())
    if wait > 0.0:
        raise HttpProblem(429, "rate", f"This key may ask {key.rate:g} times a second.", retry=wait, headers=_limits(key, wait))


def _limits(key: Key, wait: float) -> list[tuple[bytes, bytes]]:
    """How much the key may ask (q in w seconds), how much is left (r), and in how many seconds there is more (t)."""
    most, seconds = max(1, int(key.rate or 1)), max(1, math.ceil(1.0 / (key.rate or 1.0)))
    return [
        (b"ratelimit-policy", f'"key";q={most};w={seconds}'.encode()),
        (b"ratelimit", f'"key";r=0;t={max(1, math.ceil(wait))}'.encode()),
    ]


def is_local(scope: Any) -> bool:
    """Does a request come from this machine? By the socket: what a header says of it, anybody can say."""
    client = scope.get("client")
    return client is None or str(client[0]).startswith(LOOPBACK)


def cookie_of(headers: Headers) -> str | None:
    """The cookie of a session, if there is one."""
    given = headers.get(b"cookie")
    if not given:
        return None
    try:
        found = SimpleCookie(given).get(COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value


def allow_origin(service: Service, headers: Headers) -> list[tuple[bytes, bytes]]:
    """What lets a page of another site read an answer, if its origin is one of those that may."""
    origin = headers.get(b"origin")
    if origin is None or origin not in service.settings.cors:
        return []
    return [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin"), EXPOSED]


def preflight(service: Service, headers: Headers) -> list[tuple[bytes, bytes]]:
    """The answer to a browser that asks beforehand; empty where a page of that site may not ask."""
    found = allow_origin(service, headers)
    return found and [*found, *PREFLIGHT]


def check_public(service: Service, headers: Headers, key: Key, public: bool) -> None:
    """HttpProblem if a page of another site asks with a key that may more than decide: everyone who sees the page has that key."""
    if not allow_origin(service, headers):
        return
    if not public or key.scopes != {"decide"}:
        raise HttpProblem(403, "public-key", ONLY_DECIDE)


def _check_host(scope: Any, headers: Headers) -> None:
    """HttpProblem if a browser of this machine asks for a name that is not this machine's: a site may let its name lead to 127.0.0.1."""
    host = (headers.get(b"host") or "").lower()
    if is_local(scope) and host and not LOCAL_NAME.fullmatch(host) and host.split(":")[0] != _server(scope):
        detail = (
            f"This service is not {host[:100]!r}: without keys it is localhost or 127.0.0.1 to those who ask from this machine."
        )
        raise HttpProblem(403, "origin", f"{detail} Behind a proxy, let it ask for keys.")


def check_origin(headers: Headers, *, needed: bool = False) -> None:
    """HttpProblem if a browser was sent here by a page of another site; where `needed`, also if nothing says where it comes from."""
    host = (headers.get(b"host") or "").lower()
    origin, site = headers.get(b"origin"), headers.get(b"sec-fetch-site")
    if (site or "same-origin") not in ("same-origin", "none"):
        raise HttpProblem(403, "origin", FOREIGN)
    if origin is not None and origin.lower().partition("://")[2] != host:
        said = f"The page is at {origin[:100]!r}, and the service was asked for as {host[:100]!r}."
        raise HttpProblem(403, "origin", f"{FOREIGN} {said} {PROXIED}")
    if needed and origin is None and site is None:
        raise HttpProblem(403, "origin", "A request with a cookie must say where it comes from (Origin). Programs use a key.")


def _server(scope: Any) -> str:
    server = scope.get("server")
    return str(server[0]).lower() if server else ""


def _unknown(detail: str) -> HttpProblem:
    return HttpProblem(401, "key", detail, headers=[(b"www-authenticate", b"Bearer")])
