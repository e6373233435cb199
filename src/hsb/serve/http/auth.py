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

LOOPBACK = ("127.", "::1", "localhost", "[::1]")
LOCAL_NAME = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?")  # all of it: 127.0.0.1.example.org is not here
READING = ("GET", "HEAD", "OPTIONS")
NO_KEY = "Give a key: the header 'Authorization: Bearer hsb_...', or 'X-API-Key: hsb_...'."


class Headers:
    """The headers that matter here, of a request."""

    __slots__ = ("all",)

    def __init__(self, scope: Any) -> None:
        self.all: dict[bytes, bytes] = dict(scope["headers"])

    def get(self, name: bytes) -> str | None:
        """One of them."""
        found = self.all.get(name)
        return None if found is None else found.decode("latin-1")


def who(service: Service, scope: Any, headers: Headers) -> Key:
    """The key that a request comes with; HttpProblem if it has none that is valid."""
    if not service.settings.auth:
        _same_site(scope, headers, hosted=True)
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
        _same_site(scope, headers)
        return key
    raise _unknown(NO_KEY)


def enter(service: Service, scope: Any, headers: Headers, need: str, policy: str | None) -> Key:
    """The key, if it may do that now."""
    key = who(service, scope, headers)
    key.check(need, policy)
    wait = key.take(time.monotonic())
    if wait > 0.0:
        raise HttpProblem(429, "rate", f"This key may ask {key.rate:g} times a second.", retry=wait, headers=_limits(key, wait))
    service.keys.used(key, time.time_ns() // 1000)
    return key


def _limits(key: Key, wait: float) -> list[tuple[bytes, bytes]]:
    """How much the key may ask (q in w seconds), how much is left (r), and in how many seconds there is more (t)."""
    most, seconds = max(1, int(key.rate or 1)), max(1, math.ceil(1.0 / (key.rate or 1.0)))
    return [
        (b"ratelimit-policy", f'"key";q={most};w={seconds}'.encode()),
        (b"ratelimit", f'"key";r=0;t={max(1, math.ceil(wait))}'.encode()),
    ]


def is_local(scope: Any) -> bool:
    """Does a request come from this machine?"""
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


def _same_site(scope: Any, headers: Headers, *, hosted: bool = False) -> None:
    """HttpProblem if a browser was sent here by another site: a write with a foreign Origin; without keys also a foreign Host."""
    host = (headers.get(b"host") or "").lower()
    if hosted and is_local(scope) and host and not LOCAL_NAME.fullmatch(host) and host.split(":")[0] != _server(scope):
        raise HttpProblem(403, "origin", f"This service is not {host[:100]!r}.")
    if scope["method"] in READING:
        return
    origin, site = headers.get(b"origin"), headers.get(b"sec-fetch-site")
    if (origin is not None and origin.lower().partition("://")[2] != host) or (site or "same-origin") not in (
        "same-origin",
        "none",
    ):
        raise HttpProblem(403, "origin", "A request from another site's page is not carried out.")
    if not hosted and origin is None and site is None:
        raise HttpProblem(403, "origin", "A request with a cookie must say where it comes from (Origin). Programs use a key.")


def _server(scope: Any) -> str:
    server = scope.get("server")
    return str(server[0]).lower() if server else ""


def _unknown(detail: str) -> HttpProblem:
    return HttpProblem(401, "key", detail, headers=[(b"www-authenticate", b"Bearer")])
