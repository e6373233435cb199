"""Keys, limits, health, metrics, sessions, what admins did."""

import shutil
import sqlite3
from typing import Any

from ... import __version__
from ..store.schema import REPAIRED
from .administering import note
from .answers import AuditEntriesAnswer, HealthAnswer, KeyAnswer, KeysAnswer, ReadyAnswer
from .auth import cookie_of, enter, spend
from .deciding import READ_BODY, WRITTEN
from .endpoint import READ_FORM, Call, Endpoint, Reply, retry_after
from .idempotency import once
from .ids import when
from .keys import Key, fresh
from .problem import HttpProblem
from .reading import LISTED, MOST, PAGE, READ, next_page, query_number
from .sessions import cookie_header
from .wire import KeyBody, ProblemAnswer, SessionBody

PLENTY = 64 << 20  # bytes of the disk under which the service says that it is not ready


async def make_key(call: Call) -> Reply:
    """Make a key. It is shown once, here."""
    text, given = fresh(), call.service.keys.checked(call.body)
    _within(call, given[2])
    key = await call.service.write(lambda store: call.service.keys.add(store, text, *given))
    call.service.keys.take(key)
    await note(call, "MakeKey", None, {"id": key.id, "name": key.name, "scopes": sorted(key.scopes)})
    return Reply(201, shown(key) | {"key": text}, headers=[(b"location", f"/v1/keys/{key.id}".encode())])


async def keys(call: Call) -> Reply:
    """All keys, without themselves."""
    found = sorted(
        (key for key in call.service.keys.by_hash.values() if call.key.covers(key.policies)), key=lambda key: key.id or 0
    )
    return Reply(200, {"keys": [shown(key) for key in found]})


async def end_key(call: Call) -> Reply:
    """End a key: it is not valid any more."""
    found = next((key for key in call.service.keys.by_hash.values() if str(key.id) == call.params["id"]), None)
    if found is None:
        raise HttpProblem(404, "not-found", f"There is no key {call.params['id'][:100]!r}.")
    _within(call, found.policies)
    if call.service.keys.masters() == [found]:
        raise HttpProblem(409, "last-key", "This is the last key of an admin of all policies. Make another one first.")
    if not found.ended:
        key: Key = found
        key.ended = await call.service.write(lambda store: call.service.keys.end(store, key))
        await note(call, "EndKey", None, {"id": found.id, "name": found.name})
    return Reply(204)


def _within(call: Call, policies: Any) -> None:
    if not call.key.covers(policies):
        raise HttpProblem(403, "policy-not-allowed", "This key is for some policies, and that is for others too.")


def shown(key: Key) -> dict[str, Any]:
    """A key as the API has it."""
    return key.shown() | {
        name: when(getattr(key, "at" if name == "created" else name)) for name in ("expires", "created", "used", "ended")
    }


async def limits(call: Call) -> Reply:
    """All limits."""
    return Reply(200, call.service.settings.shown())


async def audit_entries(call: Call) -> Reply:
    """What admins did, the newest first."""
    limit, after = query_number(call, "limit", PAGE, 1, MOST), query_number(call, "after", 0, 0, 1 << 62)
    _within(call, None if "policy" not in call.query else [call.query["policy"]])
    found = await call.service.audit_entries_of(call.query.get("policy"), limit, after)
    headers = next_page(call, found[-1]["number"] if len(found) == limit else None)
    return Reply(200, {"audit_entries": [each | {"at": when(each["at"])} for each in found]}, headers=headers)


async def healthz(call: Call) -> Reply:
    """Is the process alive?"""
    return Reply(200, {"status": "ok", "version": __version__})


async def readyz(call: Call) -> Reply:
    """Can it decide and write?"""
    service, core = call.service, call.service.core
    free = shutil.disk_usage(service.path.parent).free
    checks = {
        "journal": not core.stopped,
        "running": not service.stopping,
        "queue": len(core.waiting) < core.limits.waiting,
        "disk": free > PLENTY,
    }
    more = {
        "clock_held": core.clock.held,
        "sqlite": sqlite3.sqlite_version,
        "sqlite_repaired": sqlite3.sqlite_version_info >= REPAIRED,
    }
    ready = all(checks.values())
    body = {"status": "ready" if ready else "not ready", "checks": checks, "disk_free": free} | more
    return Reply(200 if ready else 503, body, headers=[] if ready else retry_after(1.0))


async def metrics(call: Call) -> Reply:
    """For Prometheus: with a key that may read, or without one if the service was started with --open-metrics."""
    if not call.service.settings.open_metrics:
        call.key = enter(call.service, call.scope, call.headers, "read", None)
        _within(call, None)  # it names all policies
    return Reply(200, call.service.metrics.text(), type=b"text/plain; version=0.0.4; charset=utf-8")


async def log_in(call: Call) -> Reply:
    """A cookie for a browser, in return for a key."""
    key = call.service.keys.find(call.body.key)
    if key is None:
        raise HttpProblem(
            401, "key", "This key is not known here, or ended, or expired.", headers=[(b"www-authenticate", b"Bearer")]
        )
    spend(key)
    cookie = cookie_header(call.service.sessions.open(key), secure=call.scope.get("scheme") == "https")
    return Reply(204, headers=[(b"set-cookie", cookie.encode())])


async def log_out(call: Call) -> Reply:
    """Forget the cookie."""
    cookie = cookie_of(call.headers)
    if cookie is not None:
        call.service.sessions.close(cookie)
    return Reply(204, headers=[(b"set-cookie", cookie_header("", secure=False, seconds=0).encode())])


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/keys",
        "admin",
        once(make_key, hide="key"),
        body=KeyBody,
        answers={201: KeyAnswer, **READ_BODY, **WRITTEN},
        tag="keys",
    ),
    Endpoint("GET", "/v1/keys", "admin", keys, answers={200: KeysAnswer, **READ}, tag="keys"),
    Endpoint(
        "DELETE",
        "/v1/keys/{id}",
        "admin",
        end_key,
        answers={204: None, 404: ProblemAnswer, 409: ProblemAnswer, **WRITTEN},
        tag="keys",
    ),
    Endpoint("GET", "/v1/limits", "read", limits, answers={200: dict[str, float], **READ}, tag="service"),
    Endpoint(
        "GET",
        "/v1/audit_entries",
        "admin",
        audit_entries,
        answers={200: AuditEntriesAnswer, **READ},
        query=LISTED | {"policy": "only of this one"},
        tag="service",
    ),
    Endpoint("GET", "/healthz", None, healthz, answers={200: HealthAnswer}, tag="service"),
    Endpoint("GET", "/readyz", None, readyz, answers={200: ReadyAnswer, 503: ReadyAnswer}, tag="service"),
    Endpoint(
        "GET",
        "/metrics",
        None,
        metrics,
        answers={200: "text/plain", 401: ProblemAnswer, 403: ProblemAnswer, 429: ProblemAnswer},
        tag="service",
    ),
    Endpoint(
        "POST",
        "/v1/session",
        None,
        log_in,
        body=SessionBody,
        types=READ_FORM,
        answers={204: None, **dict.fromkeys((401, 422, 429), ProblemAnswer), **READ_BODY},
        tag="service",
    ),
    Endpoint("DELETE", "/v1/session", None, log_out, answers={204: None}, tag="service"),
)
