"""Endpoints for operation: keys, limits, audit, health, metrics, sessions."""

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
from .keys import Key, generate_key
from .problem import HttpProblem
from .reading import LISTED, MOST, PAGE, READ, next_page, query_number
from .sessions import cookie_header
from .wire import KeyBody, ProblemAnswer, SessionBody

PLENTY = 64 << 20  # free bytes on the disk; with fewer the service is not ready


async def make_key(call: Call) -> Reply:
    """Create a key. Its text is shown only in this answer."""
    text, values = generate_key(), call.service.keys.validate(call.body)
    _within(call, values[2])
    key = await call.service.write(lambda store: call.service.keys.add(store, text, *values))
    call.service.keys.take(key)
    await note(call, "MakeKey", None, {"id": key.id, "name": key.name, "scopes": sorted(key.scopes)})
    return Reply(201, describe_key(key) | {"key": text}, headers=[(b"location", f"/v1/keys/{key.id}".encode())])


async def keys(call: Call) -> Reply:
    """List keys, without their texts."""
    visible = sorted(
        (key for key in call.service.keys.by_hash.values() if call.key.covers(key.policies)), key=lambda key: key.id or 0
    )
    return Reply(200, {"keys": [describe_key(key) for key in visible]})


async def end_key(call: Call) -> Reply:
    """End a key: it is no longer valid."""
    match = next((key for key in call.service.keys.by_hash.values() if str(key.id) == call.params["id"]), None)
    if match is None:
        raise HttpProblem(404, "not-found", f"There is no key {call.params['id'][:100]!r}.")
    _within(call, match.policies)
    if call.service.keys.masters() == [match]:
        raise HttpProblem(409, "last-key", "This is the last admin key for all policies. Create another one first.")
    if not match.ended:
        key: Key = match
        key.ended = await call.service.write(lambda store: call.service.keys.end(store, key))
        await note(call, "EndKey", None, {"id": match.id, "name": match.name})
    return Reply(204)


def _within(call: Call, policies: Any) -> None:
    if not call.key.covers(policies):
        raise HttpProblem(
            403,
            "policy-not-allowed",
            "This key is limited to some policies, and this request concerns others too. Use a key for all of them.",
        )


def describe_key(key: Key) -> dict[str, Any]:
    """Return a key as the API shows it."""
    return key.describe() | {
        name: when(getattr(key, "at" if name == "created" else name)) for name in ("expires", "created", "used", "ended")
    }


async def limits(call: Call) -> Reply:
    """Get all limits."""
    return Reply(200, call.service.settings.describe())


async def audit_entries(call: Call) -> Reply:
    """List audit entries: what admins did, newest first."""
    limit, after = query_number(call, "limit", PAGE, 1, MOST), query_number(call, "after", 0, 0, 1 << 62)
    _within(call, None if "policy" not in call.query else [call.query["policy"]])
    entries = await call.service.audit_entries_of(call.query.get("policy"), limit, after)
    headers = next_page(call, entries[-1]["number"] if len(entries) == limit else None)
    return Reply(200, {"audit_entries": [entry | {"at": when(entry["at"])} for entry in entries]}, headers=headers)


async def healthz(call: Call) -> Reply:
    """Check that the process is alive."""
    return Reply(200, {"status": "ok", "version": __version__})


async def readyz(call: Call) -> Reply:
    """Check that the service can decide and write."""
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
    """Get metrics for Prometheus. Needs a key with the scope read, unless the service was started with --open-metrics."""
    if not call.service.settings.open_metrics:
        call.key = enter(call.service, call.scope, call.headers, "read", None)
        _within(call, None)  # it names all policies
    return Reply(200, call.service.metrics.text(), type=b"text/plain; version=0.0.4; charset=utf-8")


async def log_in(call: Call) -> Reply:
    """Log in: exchange a key for a session cookie."""
    key = call.service.keys.find(call.body.key)
    if key is None:
        raise HttpProblem(
            401,
            "key",
            "This key is unknown here, or has ended or expired. Use a valid key of this service.",
            headers=[(b"www-authenticate", b"Bearer")],
        )
    spend(key)
    cookie = cookie_header(call.service.sessions.open(key), secure=call.scope.get("scheme") == "https")
    return Reply(204, headers=[(b"set-cookie", cookie.encode())])


async def log_out(call: Call) -> Reply:
    """Log out: end the session."""
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
        "/v1/audit",
        "admin",
        audit_entries,
        answers={200: AuditEntriesAnswer, **READ},
        query=LISTED | {"policy": "only entries of this policy"},
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
