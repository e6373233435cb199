"""What can be read of a policy: itself, its decisions, its distribution, its rules, what it did over time."""

import asyncio
import json
import math
import time
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import msgspec

from ...errors import InputError, quoted
from ...files.policy_file import pack
from .. import explaining
from ..core import Served
from ..core.rows import DecisionRow
from ..core.sampling import places_of
from ..core.settings import seconds
from ..store import views
from .administering import P, about, etag, served, unchanged
from .answers import (
    PoliciesAnswer,
    PolicyAnswer,
    ProbabilitiesAnswer,
    ProofAnswer,
    RejectionsAnswer,
    RulesAnswer,
    StatsAnswer,
    StoredDecision,
    StoredDecisions,
)
from .endpoint import Call, Endpoint, Reply
from .ids import when
from .problem import HttpProblem
from .wire import ProblemAnswer

READ = dict.fromkeys((401, 403, 404, 422, 429, 503), ProblemAnswer)
PAGE, MOST = 100, 1000  # of a list
BUCKETS = 2000
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


async def policies(call: Call) -> Reply:
    """All policies, by name."""
    limit = query_number(call, "limit", PAGE, 1, MOST)
    allowed = call.key.policies
    names = sorted(name for name in call.service.core.policies if allowed is None or name in allowed)
    names = [name for name in names if name > call.query.get("after", "")]
    found = [about(call, call.service.core.policies[name]) for name in names[:limit]]
    return Reply(200, {"policies": found}, headers=next_page(call, found[-1]["name"] if len(names) > limit else None))


async def policy(call: Call) -> Reply:
    """A policy: version, arms, settings, what waits."""
    found = served(call)
    tag = etag(found)
    if unchanged(call, tag):
        return Reply(304, headers=[(b"etag", tag.encode())])
    waiting, first = await call.service.readers.scan(views.pending_count, found.id)
    more: dict[str, Any] = {"pending": waiting, "first_deadline": when(first), "certificate": certificate_of(found)}
    if truth(call, "digest"):
        more["digests"] = found.digests()
    return Reply(200, about(call, found) | more, headers=[(b"etag", tag.encode())])


async def decisions(call: Call) -> Reply:
    """Decisions of a policy, the oldest first, or with newest=true the newest."""
    found, newest = served(call), truth(call, "newest")
    after, limit = query_number(call, "after", 0, 0, 1 << 62), query_number(call, "limit", PAGE, 1, MOST)
    rows = await call.service.readers.scan(views.decisions, found.id, after, limit, newest)
    cursor = rows[-1][0] if len(rows) == limit else None
    return Reply(200, {"decisions": [shown(found, row) for _, row in rows], "next": cursor}, headers=next_page(call, cursor))


async def decision(call: Call) -> Reply:
    """A decision, its rewards and what became of it; with recompute=true it is made again from the journal."""
    found = served(call)
    read = await call.service.readers.quick(views.decision, call.params["id"])
    if read is None or read[0].policy != found.id:
        raise HttpProblem(404, "not-found", f"The policy {found.name} has no decision {call.params['id'][:100]!r}.")
    row, rewards, standing = read
    body = shown(found, row) | {
        name: when(value) if name in ("deadline", "closed") else value for name, value in standing.items()
    }
    body["rewards"] = [{"id": each.id, "reward": each.value, "late": each.late, "at": when(each.at)} for each in rewards]
    if truth(call, "recompute"):
        body["recomputed"] = await _recomputed(call, found, row)
    return Reply(200, body)


async def _recomputed(call: Call, found: Served, row: DecisionRow) -> dict[str, Any]:
    from .recompute import made_again

    async with busy(call.service):
        return await asyncio.to_thread(made_again, str(call.service.path), found.name, row, call.service.settings.read_seconds)


async def probabilities(call: Call) -> Reply:
    """The distribution over arms for a context, as it would be played now, floor and ramp included."""
    found, context = served(call), given_context(call)
    available = None
    if "available" in call.query:
        available = call.query["available"].split(",")
    return Reply(
        200, {"version": found.version, "probabilities": distribution(found, context, available, call.query.get("baseline"))}
    )


def distribution(found: Served, context: Any, available: list[str] | None, baseline: str | None) -> dict[str, float]:
    """The probability of each arm that is available, as it would be played now."""
    row = found.decide("probe", context, available, baseline, True, 0)
    places = places_of(row.available)
    names = [found.arms[place] for place in places]
    p = found.live.policy.probabilities(context, available=names)
    order = {arm: k for k, arm in enumerate(found.live.policy.arms)}
    base = row.baseline if found.settings.ramp < 1.0 else None
    mixed = found._mixture(places, base)
    q = p if mixed is None else mixed(p)
    return {name: float(q[order[name]]) for name in names}


async def rules(call: Call) -> Reply:
    """What the policy plays, in words."""
    found, service = served(call), call.service
    key, kept = (found.version, found.live.id), service.explained.get(found.id)
    if kept is None or kept[0] != key:
        copy = found.live.policy.copy()
        if not hasattr(copy, "explain"):
            raise HttpProblem(422, "refused", f"{type(copy).__name__} has no rules.")
        async with busy(service):
            told = await explaining.beside(await asyncio.to_thread(pack, copy), found.version, service.settings.read_seconds)
        if told["rules"] is None:
            late = "late" in told
            raise HttpProblem(
                503 if late else 422, "too-much" if late else "refused", told["why"], retry=60.0 if late else None
            )
        more = {"agreement": told["agreement"], "importance": dict(told["importance"]), "regions": told["regions"]}
        kept = service.explained[found.id] = (key, {"rules": told["lines"]} | more)
    return Reply(200, {"version": key[0]} | kept[1])


async def certificate(call: Call) -> Reply:
    """What the updates so far prove of what was lost, and what is not proved."""
    found = served(call)
    horizon = query_number(call, "horizon", max(found.updates, 1), 1, 1 << 53)
    bound = None
    with suppress(
        InputError, AttributeError, TypeError, NotImplementedError
    ):  # not every kind has one, or one without a horizon
        bound = float(found.live.policy.regret_bound(horizon))
    body = {"version": found.version, "certificate": certificate_of(found), "horizon": horizon}
    return Reply(200, body | {"regret_bound": bound if bound is not None and math.isfinite(bound) else None})


def certificate_of(policy: Served) -> dict[str, Any] | None:
    """A policy's certificate as plain data; None where its kind has none."""
    make = getattr(policy.live.policy, "certificate", None)
    if make is None:
        return None
    found = make()
    names = ("rounds", "lost", "excess", "cost", "rate", "total", "average")
    numbers = {name: float(getattr(found, name)) for name in names}
    plain = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
    return plain | {"masked": bool(found.masked), "words": str(found)}


async def stats(call: Call) -> Reply:
    """Decisions, updates and rewards by time and arm, of the last day if nothing else is said."""
    found, now = served(call), int(time.time())
    bucket = span(call.query.get("bucket", "1h"))
    until = moment(call, "until", now + 1)
    since = moment(call, "since", until - max(86_400, 24 * bucket if bucket < 86_400 else 30 * bucket))
    if since >= until or (until - since) / bucket > BUCKETS:
        raise HttpProblem(
            422, "span", f"since must be before until, with at most {BUCKETS:,} buckets between them.", pointer="/since"
        )
    micros = (since * 1_000_000, until * 1_000_000, bucket * 1_000_000)
    made, learned = await call.service.readers.scan(views.stats, found.id, *micros)
    counts = {name: call.service.core.counts[name] for name in ("late", "duplicates", "expired", "refused")}
    body = {"policy": found.name, "bucket": bucket, "since": when(micros[0]), "until": when(micros[1])}
    return Reply(200, body | {"buckets": _buckets(found, made, learned), "since_start": counts})


def _buckets(found: Served, made: list[Any], learned: list[Any]) -> list[dict[str, Any]]:
    by_time: dict[int, dict[str, Any]] = {}

    def place(at: int, arm: int) -> dict[str, Any]:
        bucket = by_time.setdefault(at, {"at": when(at), "arms": {}})
        fresh = {"decisions": 0, "updates": 0, "defaulted": 0, "reward": 0.0, "reward_squared": 0.0}
        return bucket["arms"].setdefault(found.arms[arm], fresh)  # type: ignore[no-any-return]

    for at, arm, count in made:
        place(at, arm)["decisions"] = count
    for at, arm, *sums in learned:
        place(at, arm).update(zip(("updates", "defaulted", "reward", "reward_squared"), sums, strict=True))
    for bucket in by_time.values():
        for name in ("decisions", "updates", "defaulted", "reward"):
            bucket[name] = sum(each[name] for each in bucket["arms"].values())
    return [by_time[at] for at in sorted(by_time)]


async def problems(call: Call) -> Reply:
    """Requests that were refused since the start, by reason: how many, the first ten and the last ten."""
    found = call.service.rejections.of(served(call).name)
    named = [
        each | {kind: [one | {"at": when(one["at"])} for one in each[kind]] for kind in ("first", "last")} for each in found
    ]
    return Reply(200, {"problems": named})


# -- helpers ------------------------------------------------------------------------------------------------------------


def shown(policy: Served, row: DecisionRow) -> dict[str, Any]:
    """A decision as the API has it."""
    return {
        "id": row.id,
        "policy": policy.name,
        "arm": policy.arms[row.arm],
        "propensity": row.propensity,
        "version": row.version,
        "context": msgspec.Raw(row.context.encode() or b"null"),
        **({} if row.context else {"forgotten": True}),
        "available": [policy.arms[place] for place in places_of(row.available)],
        "baseline": None if row.baseline is None else policy.arms[row.baseline],
        "ramp": row.ramp,
        "u": row.u,
        "at": when(row.at),
        "deadline": when(row.deadline),
    }


def given_context(call: Call) -> Any:
    """The context in the query: JSON, or plain text."""
    text = call.query.get("context", "null")
    try:
        return json.loads(text, parse_constant=lambda name: name)
    except (ValueError, RecursionError):
        raise HttpProblem(422, "context", f"context must be JSON; given {quoted(text)}.", pointer="/context") from None


def query_number(call: Call, name: str, default: int, low: int, high: int) -> int:
    """A whole number of the query."""
    text = call.query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20) or not low <= int(text) <= high:
        raise HttpProblem(
            422, "query", f"{name} must be a whole number from {low} to {high}; given {quoted(text)}.", pointer=f"/{name}"
        )
    return int(text)


def truth(call: Call, name: str) -> bool:
    """true or false of the query."""
    text = call.query.get(name, "false")
    if text not in ("true", "false"):
        raise HttpProblem(422, "query", f"{name} must be true or false; given {quoted(text)}.", pointer=f"/{name}")
    return text == "true"


def span(text: str) -> int:
    """Whole seconds: 60s, 5m, 1h, 1d, or as ISO 8601 has it.

    >>> span("1h"), span("PT5M"), span("60s")
    (3600, 300, 60)
    """
    digits, unit = text[:-1], text[-1:]
    if digits.isascii() and digits.isdigit() and len(digits) < 8 and unit in UNITS:
        found = float(int(digits) * UNITS[unit])
    else:
        try:
            found = seconds(text)
        except InputError:
            found = 0.0
    if not 1 <= found <= 400 * 86_400 or found != int(found):
        raise HttpProblem(
            422, "query", f"bucket must be whole seconds, as in 60s, 5m, 1h, 1d; given {quoted(text)}.", pointer="/bucket"
        )
    return int(found)


def moment(call: Call, name: str, default: int) -> int:
    """A time of the query, in whole seconds since 1970."""
    from datetime import datetime

    text = call.query.get(name)
    if text is None:
        return default
    try:
        found = (
            int(text) if text.isascii() and text.isdigit() and len(text) < 13 else int(datetime.fromisoformat(text).timestamp())
        )
    except (ValueError, OverflowError):
        found = -1
    if not 0 <= found <= 10**11:
        raise HttpProblem(
            422,
            "query",
            f"{name} must be seconds since 1970, or as in 2026-11-16T16:04:00Z; given {quoted(text)}.",
            pointer=f"/{name}",
        )
    return found


class busy:  # noqa: N801
    """One costly thing at a time, and few that wait."""

    def __init__(self, service: Any) -> None:
        self.service = service

    async def __aenter__(self) -> None:
        if self.service.costly.locked() and len(getattr(self.service.costly, "_waiters", None) or ()) >= 8:
            raise HttpProblem(503, "busy", "Too much is being worked out already.", retry=5.0)
        await self.service.costly.acquire()

    async def __aexit__(self, *error: Any) -> None:
        self.service.costly.release()


def next_page(call: Call, cursor: Any) -> list[tuple[bytes, bytes]]:
    """The header Link to the rest of a list, from what the last of this page is known by; none where there is no more."""
    if cursor is None:
        return []
    rest = "".join(f"&{name}={quote(value)}" for name, value in call.query.items() if name != "after")
    return [(b"link", f'<{call.scope["path"]}?after={cursor}{rest}>; rel="next"'.encode("latin-1", "replace"))]


LISTED = {"after": "the last one of the page before", "limit": f"how many, at most {MOST}"}
ENDPOINTS = (
    Endpoint("GET", "/v1/policies", "read", policies, answers={200: PoliciesAnswer, **READ}, query=LISTED),
    Endpoint(
        "GET",
        P,
        "read",
        policy,
        answers={200: PolicyAnswer, 304: None, **READ},
        query={"digest": "true: the digests of all learners too"},
    ),
    Endpoint(
        "GET",
        P + "/decisions",
        "read",
        decisions,
        answers={200: StoredDecisions, **READ},
        query=LISTED | {"newest": "true: the newest first"},
        tag="decisions",
    ),
    Endpoint(
        "GET",
        P + "/decisions/{id}",
        "read",
        decision,
        answers={200: StoredDecision, 410: ProblemAnswer, **READ},
        query={"recompute": "true: make it again"},
        tag="decisions",
    ),
    Endpoint(
        "GET",
        P + "/probabilities",
        "read",
        probabilities,
        answers={200: ProbabilitiesAnswer, 410: ProblemAnswer, **READ},
        query={"context": "as JSON", "available": "arms with commas between them", "baseline": "an arm"},
    ),
    Endpoint("GET", P + "/rules", "read", rules, answers={200: RulesAnswer, **READ}),
    Endpoint(
        "GET",
        P + "/certificate",
        "read",
        certificate,
        answers={200: ProofAnswer, **READ},
        query={"horizon": "rounds of the bound"},
    ),
    Endpoint(
        "GET",
        P + "/stats",
        "read",
        stats,
        answers={200: StatsAnswer, **READ},
        query={"bucket": "60s, 5m, 1h, 1d", "since": "a time", "until": "a time"},
    ),
    Endpoint("GET", P + "/problems", "read", problems, answers={200: RejectionsAnswer, **READ}),
)
