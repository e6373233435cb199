"""Authentication: keys, cookies, and the origin of a request."""

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

FOREIGN = "Requests from pages of other sites are rejected."
PROXIED = (
    "If a proxy before this service changed the name, let it pass on the original one; nginx: proxy_set_header Host $http_host;"
)
LOOPBACK = ("127.", "::1", "localhost", "[::1]")
LOCAL_NAME = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?")  # the whole name: 127.0.0.1.example.org is not local
SINGLE = (b"host", b"authorization", b"x-api-key", b"origin", b"x-forwarded-proto")
ONLY_DECIDE = "Pages of other sites may only decide, with a key whose only scope is decide. Make such a key: POST /v1/keys."
EXPOSED = (b"access-control-expose-headers", b"etag, retry-after, x-request-id")
PREFLIGHT = (
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"authorization, x-api-key, content-type, if-none-match, traceparent, x-request-id"),
    (b"access-control-max-age", b"600"),
)
READING = ("GET", "HEAD", "OPTIONS")
NO_KEY = "The request has no key. Send the header 'Authorization: Bearer hsb_...' or 'X-API-Key: hsb_...'."


class Headers:
    """The headers of a request."""

    __slots__ = ("all", "pairs")

    def __init__(self, scope: Any) -> None:
        self.pairs: list[tuple[bytes, bytes]] = scope["headers"]
        self.all: dict[bytes, bytes] = dict(self.pairs)

    def check(self) -> None:
        """Raise HttpProblem (400) if a header about identity or origin is present more than once."""
        if len(self.all) == len(self.pairs):
            return
        names = [name for name, _ in self.pairs]
        for name in SINGLE:
            if names.count(name) > 1:
                raise HttpProblem(
                    400, "header", f"The header {name.decode()} is present {names.count(name)} times. Send it once."
                )

    def get(self, name: bytes) -> str | None:
        """Return the value of a header; None if it is absent."""
        value = self.all.get(name)
        return None if value is None else value.decode("latin-1")


def who(service: Service, scope: Any, headers: Headers) -> Key:
    """Return the key of a request. Raises HttpProblem (401) if it has no valid one."""
    headers.check()
    if not service.settings.auth:
        _check_host(scope, headers)
        if scope["method"] not in READING:
            check_origin(headers)
        return ANYONE
    text = headers.get(b"x-api-key")
    if text is None:
        header = headers.get(b"authorization")
        if header is not None and header[:7].lower() == "bearer ":
            text = header[7:].strip()
    if text is not None:
        key = service.keys.find(text)
        if not text:
            raise _unknown("The key is empty. Is the variable that should hold it set?")
        if key is None:
            raise _unknown("This key is unknown here, or has ended or expired. Use a valid key of this service.")
        return key
    cookie = cookie_of(headers)
    if cookie is not None and (key := service.sessions.find(cookie)) is not None:
        if scope["method"] not in READING:
            check_origin(headers, needed=True)
        return key
    raise _unknown(NO_KEY)


def enter(service: Service, scope: Any, headers: Headers, need: str, policy: str | None) -> Key:
    """Return the key of a request, if it has the scope `need` for `policy` and its rate allows it. Raises HttpProblem if not."""
    key = who(service, scope, headers)
    key.check(need, policy)
    spend(key)
    service.keys.note_use(key, time.time_ns() // 1000)
    return key


def spend(key: Key) -> None:
    """Count a request against the rate of a key. Raises HttpProblem (429) if it exceeds the rate."""
    wait = key.take(time.monotonic())
    if wait > 0.0:
        raise HttpProblem(
            429,
            "rate",
            f"This key may send {key.rate:g} requests a second. Wait as Retry-After states, or use a key with a higher rate.",
            retry=wait,
            headers=_limits(key, wait),
        )


def _limits(key: Key, wait: float) -> list[tuple[bytes, bytes]]:
    """Return the RateLimit headers: q requests in w seconds allowed, r left, t seconds until the next."""
    most, seconds = max(1, int(key.rate or 1)), max(1, math.ceil(1.0 / (key.rate or 1.0)))
    return [
        (b"ratelimit-policy", f'"key";q={most};w={seconds}'.encode()),
        (b"ratelimit", f'"key";r=0;t={max(1, math.ceil(wait))}'.encode()),
    ]


def is_local(scope: Any) -> bool:
    """Whether a request comes from this machine, judged by its socket: a header can be forged."""
    client = scope.get("client")
    return client is None or str(client[0]).startswith(LOOPBACK)


def cookie_of(headers: Headers) -> str | None:
    """Return the session cookie of a request, if it has one."""
    header = headers.get(b"cookie")
    if not header:
        return None
    try:
        cookie = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return None
    return None if cookie is None else cookie.value


def allow_origin(service: Service, headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return the headers that let a page of another site read an answer; none if its origin is not allowed."""
    origin = headers.get(b"origin")
    if origin is None or origin not in service.settings.cors:
        return []
    return [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin"), EXPOSED]


def preflight(service: Service, headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return the headers that answer a browser's preflight request; none if its origin is not allowed."""
    allowed = allow_origin(service, headers)
    return allowed and [*allowed, *PREFLIGHT]


def check_public(service: Service, headers: Headers, key: Key, public: bool) -> None:
    """Raise HttpProblem (403) if a page of another site uses a key with more than `decide`: everyone who sees the page has that key."""
    if not allow_origin(service, headers):
        return
    if not public or key.scopes != {"decide"}:
        raise HttpProblem(403, "public-key", ONLY_DECIDE)


def _check_host(scope: Any, headers: Headers) -> None:
    """Raise HttpProblem (403) if a local browser used a name that is not this machine's: a site may point its own name at 127.0.0.1."""
    host = (headers.get(b"host") or "").lower()
    if is_local(scope) and host and not LOCAL_NAME.fullmatch(host) and host.split(":")[0] != _server(scope):
        detail = f"This service is not {host[:100]!r}: without keys, use localhost or 127.0.0.1 on this machine."
        raise HttpProblem(403, "origin", f"{detail} Behind a proxy, start it without --no-auth.")


def check_origin(headers: Headers, *, needed: bool = False) -> None:
    """Raise HttpProblem (403) if a page of another site sent the request; with `needed`, also if no header states its origin."""
    host = (headers.get(b"host") or "").lower()
    origin, site = headers.get(b"origin"), headers.get(b"sec-fetch-site")
    if (site or "same-origin") not in ("same-origin", "none"):
        raise HttpProblem(403, "origin", FOREIGN)
    if origin is not None and origin.lower().partition("://")[2] != host:
        detail = f"The page is at {origin[:100]!r}, and the request is for {host[:100]!r}."
        raise HttpProblem(403, "origin", f"{FOREIGN} {detail} {PROXIED}")
    if needed and origin is None and site is None:
        raise HttpProblem(403, "origin", "A request with a cookie needs the header Origin. Programs should use a key.")


def _server(scope: Any) -> str:
    server = scope.get("server")
    return str(server[0]).lower() if server else ""


def _unknown(detail: str) -> HttpProblem:
    return HttpProblem(401, "key", detail, headers=[(b"www-authenticate", b"Bearer")])
