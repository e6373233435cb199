"""Try a policy on recent contexts before it becomes a candidate, plays or is evaluated. The work is done outside the event loop."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ...errors import InputError
from ...features.request import Request
from ...logs.formats.dsjson import flatten
from ..core import AddCandidate, Answer, Import, Promote, Served
from ..core.encoding import HEAD, TRIALS, check_fits, fitted
from ..core.kinds import make_policy
from ..core.requests import request_of
from ..exporting import named_context
from ..store import views
from .evaluating import NOT_EVALUATED, check_candidates

MOST_TRIED = 2000  # arms of requests

if TYPE_CHECKING:
    from .service import Service


async def change(service: Service, kind: Any, policy: str, *arguments: Any) -> Answer:
    """Make a change of a policy. Raises InputError if a new candidate cannot decide on the contexts of the policy."""
    served = service.core.policies.get(policy)
    if served is None or kind not in (AddCandidate, Promote, Import):
        return await service.ask(kind, policy, *arguments)
    if kind is not AddCandidate:
        _, newest = await service.readers.quick(views.contexts, served.id, 0, TRIALS)
        newest = _few(_as_asked(served, newest))
    else:
        head, newest = await service.readers.scan(views.contexts, served.id, HEAD, TRIALS)
        newest = _few(_as_asked(served, newest))
        name, spec = arguments
        arguments = name, await service.beside(_complete, served, spec, head)
        await service.beside(_try, served, arguments[1], newest)
    return await service.ask(kind, policy, *arguments, tuple(newest))


async def check_evaluated(service: Service, served: Served, candidates: dict[str, Any]) -> None:
    """Raise InputError if one of an evaluation's `candidates` cannot be made for the policy's updates."""
    if served.open is not None:
        raise InputError(NOT_EVALUATED)
    head, _ = await service.readers.scan(views.contexts, served.id, HEAD, TRIALS)
    await service.beside(check_candidates, served, candidates, [flatten(named_context(each)) for each in head])


def _as_asked(served: Served, contexts: list[Any]) -> list[Any]:
    """Return what policies are given for these contexts of the journal: requests, if arms come with each request."""
    return contexts if served.open is None else [request_of(context) for context in contexts]


def _few(asked: list[Any]) -> list[Any]:
    """Return the first requests, which have at most MOST_TRIED arms in all, since the last trials delay all other requests."""
    counts = accumulate(len(each.arms) if type(each) is Request else 0 for each in asked)
    return [each for each, count in zip(asked, counts, strict=True) if count <= MOST_TRIED]


def _complete(served: Served, spec: Any, head: list[Any]) -> Any:
    if served.open is not None:
        return spec
    return fitted(spec, head, getattr(getattr(served.live.policy.learner, "reader", None), "features", None))


def _try(served: Served, spec: Any, newest: list[Any]) -> None:
    check_fits(make_policy(spec, served.first_arms, served.arm_features), newest, "The candidate")
