"""Try a policy on recent contexts before it becomes a candidate, plays or is evaluated. The work is done outside the event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...logs.formats.dsjson import flat
from ..core import AddCandidate, Answer, Import, Promote, Served
from ..core.encoding import HEAD, TRIALS, check_fits, fitted
from ..core.kinds import make_policy
from ..exporting import named_context
from ..store import views
from ..warming import fit_jobs, jobs_before
from .evaluating import check_candidates

if TYPE_CHECKING:
    from .service import Service


async def change(service: Service, kind: Any, policy: str, *arguments: Any) -> Answer:
    """Make a change of a policy. Raises InputError if a new candidate cannot decide on the contexts of the policy."""
    served = service.core.policies.get(policy)
    if served is None or kind not in (AddCandidate, Promote, Import):
        return await service.ask(kind, policy, *arguments)
    if kind is not AddCandidate:
        _, newest = await service.readers.quick(views.contexts, served.id, 0, TRIALS)
    else:
        head, newest = await service.readers.scan(views.contexts, served.id, HEAD, TRIALS)
        name, spec = arguments
        await service.compiler.ready(fit_jobs([spec], newest))
        arguments = name, await service.beside(_complete, served, spec, head)
        await service.compiler.ready(jobs_before(service.core.policies, kind, (policy, *arguments, tuple(newest))))
        await service.beside(_try, served, arguments[1], newest)
    return await service.ask(kind, policy, *arguments, tuple(newest))


async def check_evaluated(service: Service, served: Served, candidates: dict[str, Any]) -> None:
    """Raise InputError if one of an evaluation's `candidates` cannot be made for the policy's updates."""
    head, newest = await service.readers.scan(views.contexts, served.id, HEAD, TRIALS)
    await service.compiler.ready(fit_jobs(candidates.values(), newest))
    await service.beside(check_candidates, served, candidates, [flat(named_context(each)) for each in head])


def _complete(served: Served, spec: Any, head: list[Any]) -> Any:
    return fitted(spec, head, getattr(getattr(served.live.policy.learner, "reader", None), "features", None))


def _try(served: Served, spec: Any, newest: list[Any]) -> None:
    check_fits(make_policy(spec, list(served.first_arms), served.arm_features), newest, "The candidate")
