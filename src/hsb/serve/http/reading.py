"""Endpoints that read a policy: its settings, decisions, distribution, rules, certificate, statistics and rejections."""

import asyncio
import json
import math
import time
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import msgspec
import numpy as np

from ...errors import InputError, quoted
from ...files.policy_file import pack
from .. import explaining
from ..core import Served
from ..core.decided import available_names, baseline_name
from ..core.known import known_arms
from ..core.requests import played_of, read_request
from ..core.rows import DecisionRow
from ..core.sampling import indices_of, mixture
from ..core.settings import seconds
from ..store import views
from .administering import P, describe_policy, etag, find_policy, unchanged
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
    """List policies, by name."""
    limit = query_number(call, "limit", PAGE, 1, MOST)
    allowed = call.key.policies
    names = sorted(name for name in call.service.core.policies if allowed is None or name in allowed)
    names = [name for name in names if name > call.query.get("after", "")]
    page = [describe_policy(call, call.service.core.policies[name]) for name in names[:limit]]
    return Reply(200, {"policies": page}, headers=next_page(call, page[-1]["name"] if len(names) > limit else None))


async def policy(call: Call) -> Reply:
    """Get a policy: version, arms, settings, pending decisions, certificate."""
    served = find_policy(call)
    tag = etag(served)
    if unchanged(call, tag):
        return Reply(304, headers=[(b"etag", tag.encode())])
    waiting, first = await call.service.readers.scan(views.pending_count, served.id)
    more: dict[str, Any] = {"pending": waiting, "first_deadline": when(first), "certificate": certificate_of(served)}
    if (known := known_arms(served)) is not None:
        more["known_arms"] = {"count": known.number, "most_played": [each._asdict() for each in known.most_played]}
    if query_boolean(call, "digest"):
        more["digests"] = served.digests()
    return Reply(200, describe_policy(call, served) | more, headers=[(b"etag", tag.encode())])


async def decisions(call: Call) -> Reply:
    """List decisions of a policy, oldest first; with newest=true, newest first."""
    served, newest = find_policy(call), query_boolean(call, "newest")
    after, limit = query_number(call, "after", 0, 0, 1 << 62), query_number(call, "limit", PAGE, 1, MOST)
    rows = await call.service.readers.scan(views.decisions, served.id, after, limit, newest)
    cursor = rows[-1][0] if len(rows) == limit else None
    return Reply(
        200, {"decisions": [describe_decision(served, row) for _, row in rows], "next": cursor}, headers=next_page(call, cursor)
    )


async def decision(call: Call) -> Reply:
    """Get a decision, its rewards and its status; with recompute=true it is also recomputed from the journal."""
    served = find_policy(call)
    read = await call.service.readers.quick(views.decision, call.params["id"])
    if read is None or read[0].policy != served.id:
        raise HttpProblem(404, "not-found", f"The policy {served.name} has no decision {call.params['id'][:100]!r}.")
    row, rewards, status = read
    body = describe_decision(served, row) | {
        name: when(value) if name in ("deadline", "closed") else value for name, value in status.items()
    }
    body["rewards"] = [
        {"id": reward.id, "reward": reward.value, "late": reward.late, "at": when(reward.at)} for reward in rewards
    ]
    if query_boolean(call, "recompute"):
        body["recomputed"] = await _recompute(call, served, row)
    return Reply(200, body)


async def _recompute(call: Call, served: Served, row: DecisionRow) -> dict[str, Any]:
    from .recompute import recompute_decision

    async with busy(call.service):
        return await asyncio.to_thread(
            recompute_decision, str(call.service.path), served.name, row, call.service.settings.read_seconds
        )


async def probabilities(call: Call) -> Reply:
    """Get the distribution over arms for a context, as it would be played now, with floor and ramp."""
    served, context = find_policy(call), query_context(call)
    available = None
    if "available" in call.query:
        available = call.query["available"].split(",")
    arms = query_json(call, "arms")
    p = distribution(served, context, available, call.query.get("baseline"), arms)
    return Reply(200, {"version": served.version, "probabilities": p})


def distribution(
    served: Served, context: Any, available: list[str] | None, baseline: str | None, arms: Any = None
) -> dict[str, float]:
    """Return the probability of each available arm, as it would be played now."""
    row = served.decide("probe", context, available, baseline, True, 0, arms=arms)
    if row.played is not None:
        request = read_request(row.context)
        p = served.live.policy.probabilities(request)
        mixed = mixture(np.ones(len(p)), floor=served.settings.floor, ramp=served.settings.ramp, baseline=row.baseline)
        return dict(zip(map(str, request.arms), (p if mixed is None else mixed(p)).tolist(), strict=True))
    indices = indices_of(row.available)
    names = [served.arms[index] for index in indices]
    p = served.live.policy.probabilities(context, available=names)
    order = {arm: k for k, arm in enumerate(served.live.policy.arms)}
    base = row.baseline if served.settings.ramp < 1.0 else None
    mixed = served._mixture(indices, base)
    q = p if mixed is None else mixed(p)
    return {name: float(q[order[name]]) for name in names}


async def rules(call: Call) -> Reply:
    """Get what the policy plays, as rules."""
    served, service = find_policy(call), call.service
    key, stored = (served.version, served.live.id), service.explained.get(served.id)
    if stored is None or stored[0] != key:
        if served.open is not None:
            raise HttpProblem(
                422, "refused", "The arms of this policy come with each request, and rules name arms of a fixed list."
            )
        copy = served.live.policy.copy()
        if not hasattr(copy, "explain"):
            raise HttpProblem(422, "refused", f"The policy is of the kind {type(copy).__name__}, which has no rules. HSB has.")
        async with busy(service):
            explained = await explaining.explain_in_process(
                await asyncio.to_thread(pack, copy), served.version, service.settings.read_seconds
            )
        if explained["rules"] is None:
            late = "late" in explained
            raise HttpProblem(
                503 if late else 422, "too-much" if late else "refused", explained["why"], retry=60.0 if late else None
            )
        more = {
            "agreement": explained["agreement"],
            "importance": dict(explained["importance"]),
            "regions": explained["regions"],
        }
        stored = service.explained[served.id] = (key, {"rules": explained["lines"]} | more)
    return Reply(200, {"version": key[0]} | stored[1])


async def certificate(call: Call) -> Reply:
    """Get what the updates so far prove about the regret, and what is not proved.

    Also a bound on the regret of such a policy that makes every decision itself, without a floor, and learns each feedback before it decides
    again.
    """
    served = find_policy(call)
    horizon = query_number(call, "horizon", max(served.updates, 1), 1, 1 << 53)
    bound = None
    with suppress(InputError, AttributeError, TypeError, NotImplementedError):  # not every kind of policy has a bound
        bound = float(served.live.policy.regret_bound(horizon))
    body = {"version": served.version, "certificate": certificate_of(served), "horizon": horizon}
    return Reply(200, body | {"regret_bound": bound if bound is not None and math.isfinite(bound) else None})


def certificate_of(policy: Served) -> dict[str, Any] | None:
    """Return a policy's certificate as plain data; None if its kind has no certificate."""
    make = getattr(policy.live.policy, "certificate", None)
    if make is None:
        return None
    certificate = make()
    names = ("rounds", "lost", "excess", "cost", "rate", "total", "average")
    numbers = {name: float(getattr(certificate, name)) for name in names}
    plain = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
    return plain | {"masked": bool(certificate.masked), "words": str(certificate)}


async def stats(call: Call) -> Reply:
    """Get decisions, updates and rewards by time and arm, by default of the last day."""
    served, now = find_policy(call), int(time.time())
    bucket = span(call.query.get("bucket", "1h"))
    until = moment(call, "until", now + 1)
    since = moment(call, "since", until - max(86_400, 24 * bucket if bucket < 86_400 else 30 * bucket))
    if since >= until or (until - since) / bucket > BUCKETS:
        raise HttpProblem(
            422, "span", f"since must be before until, with at most {BUCKETS:,} buckets between them.", pointer="/since"
        )
    micros = (since * 1_000_000, until * 1_000_000, bucket * 1_000_000)
    decided, learned = await call.service.readers.scan(views.stats, served.id, *micros)
    counts = {name: call.service.core.counts[name] for name in ("late", "duplicates", "expired", "refused")}
    body = {"policy": served.name, "bucket": bucket, "since": when(micros[0]), "until": when(micros[1])}
    return Reply(200, body | {"buckets": _buckets(served, decided, learned), "since_start": counts})


def _buckets(served: Served, decided: list[Any], learned: list[Any]) -> list[dict[str, Any]]:
    by_time: dict[int, dict[str, Any]] = {}

    def counts_of(timestamp: int, arm: int) -> dict[str, Any]:
        bucket = by_time.setdefault(timestamp, {"at": when(timestamp), "arms": {}})
        zeros = {"decisions": 0, "updates": 0, "defaulted": 0, "reward": 0.0, "reward_squared": 0.0}
        return bucket["arms"].setdefault(served.arms[arm], zeros)  # type: ignore[no-any-return]

    for timestamp, arm, count in decided:
        counts_of(timestamp, arm)["decisions"] = count
    for timestamp, arm, *sums in learned:
        counts_of(timestamp, arm).update(zip(("updates", "defaulted", "reward", "reward_squared"), sums, strict=True))
    for bucket in by_time.values():
        for name in ("decisions", "updates", "defaulted", "reward"):
            bucket[name] = sum(each[name] for each in bucket["arms"].values())
    return [by_time[timestamp] for timestamp in sorted(by_time)]


async def rejections(call: Call) -> Reply:
    """List requests rejected since the start, by reason: how many, the first ten and the last ten."""
    kinds = call.service.rejections.of(find_policy(call).name)
    named = [
        each | {kind: [one | {"at": when(one["at"])} for one in each[kind]] for kind in ("first", "last")} for each in kinds
    ]
    return Reply(200, {"rejections": named})


# -- helpers ------------------------------------------------------------------------------------------------------------


def describe_decision(policy: Served, row: DecisionRow) -> dict[str, Any]:
    """Return a decision as the API shows it."""
    return {
        "id": row.id,
        "policy": policy.name,
        "arm": played_of(policy.arms, row),
        "propensity": row.propensity,
        "version": row.version,
        **_describe_request(row),
        **({} if row.context else {"forgotten": True}),
        "available": available_names(policy, row),
        "baseline": baseline_name(policy, row),
        "ramp": row.ramp,
        "u": row.u,
        "at": when(row.at),
        "deadline": when(row.deadline),
    }


def _describe_request(row: DecisionRow) -> dict[str, Any]:
    """Return the context of a decision, and the arms that came with it."""
    if row.played is None or not row.context:
        return {"context": msgspec.Raw(row.context.encode() or b"null")}
    request = read_request(row.context)
    return {"context": request.context, "arms": request.arms}


def query_context(call: Call) -> Any:
    """Return the context in the query, which must be JSON."""
    return query_json(call, "context")


def query_json(call: Call, name: str) -> Any:
    """Return the JSON in a field of the query; None without the field."""
    text = call.query.get(name, "null")
    try:
        return json.loads(text, parse_constant=lambda constant: constant)
    except (ValueError, RecursionError):
        raise HttpProblem(422, name, f"{name} must be JSON; given {quoted(text)}.", pointer=f"/{name}") from None


def query_number(call: Call, name: str, default: int, low: int, high: int) -> int:
    """Return a whole number from the query, within `low` and `high`."""
    text = call.query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20) or not low <= int(text) <= high:
        raise HttpProblem(
            422, "query", f"{name} must be a whole number from {low} to {high}; given {quoted(text)}.", pointer=f"/{name}"
        )
    return int(text)


def query_boolean(call: Call, name: str) -> bool:
    """Return a boolean from the query, by default False."""
    text = call.query.get(name, "false")
    if text not in ("true", "false"):
        raise HttpProblem(422, "query", f"{name} must be true or false; given {quoted(text)}.", pointer=f"/{name}")
    return text == "true"


def span(text: str) -> int:
    """Return whole seconds from text like 60s, 5m, 1h, 1d or an ISO 8601 duration.

    >>> span("1h"), span("PT5M"), span("60s")
    (3600, 300, 60)
    """
    digits, unit = text[:-1], text[-1:]
    if digits.isascii() and digits.isdigit() and len(digits) < 8 and unit in UNITS:
        length = float(int(digits) * UNITS[unit])
    else:
        try:
            length = seconds(text)
        except InputError:
            length = 0.0
    if not 1 <= length <= 400 * 86_400 or length != int(length):
        raise HttpProblem(
            422, "query", f"bucket must be whole seconds, as in 60s, 5m, 1h, 1d; given {quoted(text)}.", pointer="/bucket"
        )
    return int(length)


def moment(call: Call, name: str, default: int) -> int:
    """Return a time from the query, in whole seconds since 1970."""
    from datetime import datetime

    text = call.query.get(name)
    if text is None:
        return default
    try:
        value = (
            int(text) if text.isascii() and text.isdigit() and len(text) < 13 else int(datetime.fromisoformat(text).timestamp())
        )
    except (ValueError, OverflowError):
        value = -1
    if not 0 <= value <= 10**11:
        raise HttpProblem(
            422,
            "query",
            f"{name} must be seconds since 1970, or as in 2026-11-16T16:04:00Z; given {quoted(text)}.",
            pointer=f"/{name}",
        )
    return value


class busy:  # noqa: N801
    """Allows one costly request at a time, and at most eight that wait. Raises HttpProblem (503) beyond that."""

    def __init__(self, service: Any) -> None:
        self.service = service

    async def __aenter__(self) -> None:
        if self.service.costly.locked() and len(getattr(self.service.costly, "_waiters", None) or ()) >= 8:
            raise HttpProblem(503, "busy", "Too many costly requests are under way. Try again in a few seconds.", retry=5.0)
        await self.service.costly.acquire()

    async def __aexit__(self, *error: Any) -> None:
        self.service.costly.release()


def next_page(call: Call, cursor: Any) -> list[tuple[bytes, bytes]]:
    """Return the header Link to the next page, whose `after` is `cursor`; nothing if `cursor` is None."""
    if cursor is None:
        return []
    rest = "".join(f"&{name}={quote(value)}" for name, value in call.query.items() if name != "after")
    return [(b"link", f'<{call.scope["path"]}?after={cursor}{rest}>; rel="next"'.encode("latin-1", "replace"))]


LISTED = {"after": "the last item of the page before", "limit": f"number of items, at most {MOST}"}
ENDPOINTS = (
    Endpoint("GET", "/v1/policies", "read", policies, answers={200: PoliciesAnswer, **READ}, query=LISTED),
    Endpoint(
        "GET",
        P,
        "read",
        policy,
        answers={200: PolicyAnswer, 304: None, **READ},
        query={"digest": "true: include the digests of all learners"},
    ),
    Endpoint(
        "GET",
        P + "/decisions",
        "read",
        decisions,
        answers={200: StoredDecisions, **READ},
        query=LISTED | {"newest": "true: newest first"},
        tag="decisions",
    ),
    Endpoint(
        "GET",
        P + "/decisions/{id}",
        "read",
        decision,
        answers={200: StoredDecision, 410: ProblemAnswer, **READ},
        query={"recompute": "true: recompute the decision from the journal"},
        tag="decisions",
    ),
    Endpoint(
        "GET",
        P + "/probabilities",
        "read",
        probabilities,
        answers={200: ProbabilitiesAnswer, 410: ProblemAnswer, **READ},
        query={
            "context": "the context as JSON",
            "arms": "the arms with their features as JSON, if arms come with each request",
            "available": "available arms, separated by commas; by default all",
            "baseline": "the baseline arm, if ramp is below 1",
        },
    ),
    Endpoint("GET", P + "/rules", "read", rules, answers={200: RulesAnswer, **READ}),
    Endpoint(
        "GET",
        P + "/certificate",
        "read",
        certificate,
        answers={200: ProofAnswer, **READ},
        query={"horizon": "number of rounds for the bound; by default the updates so far"},
    ),
    Endpoint(
        "GET",
        P + "/stats",
        "read",
        stats,
        answers={200: StatsAnswer, **READ},
        query={
            "bucket": "length of a bucket: 60s, 5m, 1h, 1d",
            "since": "begin: seconds since 1970, or ISO 8601",
            "until": "end, likewise",
        },
    ),
    Endpoint("GET", P + "/rejections", "read", rejections, answers={200: RejectionsAnswer, **READ}),
)
