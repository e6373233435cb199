"""What is to play, now or later, is tried before it is taken: on what the policy is asked, beside the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...logs.formats.dsjson import flatten
from ..core import AddCandidate, Answer, Import, Promote, Served
from ..core.encoding import HEAD, TRIALS, check_fits, fitted
from ..core.kinds import make_policy
from ..exporting import named_context
from ..store import views
from ..warming import fit_jobs, jobs_before
from .evaluating import check_candidates

if TYPE_CHECKING:
    from .service import Service


async def change(service: Service, kind: Any, policy: str, *given: Any) -> Answer:
    """Ask for a change of a policy; InputError if what is to play cannot decide on what the policy is asked."""
    served = service.core.policies.get(policy)
    if served is None or kind not in (AddCandidate, Promote, Import):
        return await service.ask(kind, policy, *given)
    if kind is not AddCandidate:
        _, newest = await service.readers.quick(views.contexts, served.id, 0, TRIALS)
    else:
        head, newest = await service.readers.scan(views.contexts, served.id, HEAD, TRIALS)
        name, spec = given
        await service.compiler.ready(fit_jobs([spec], newest))
        given = name, await service.beside(_completed, served, spec, head)
        await service.compiler.ready(jobs_before(service.core.policies, kind, (policy, *given, tuple(newest))))
        await service.beside(_tried, served, given[1], newest)
    return await service.ask(kind, policy, *given, tuple(newest))


async def check_evaluated(service: Service, served: Served, asked: dict[str, Any]) -> None:
    """InputError if an evaluation asks for a candidate that cannot be made for the updates that there are."""
    head, newest = await service.readers.scan(views.contexts, served.id, HEAD, TRIALS)
    await service.compiler.ready(fit_jobs(asked.values(), newest))
    await service.beside(check_candidates, served, asked, [flatten(named_context(each)) for each in head])


def _completed(served: Served, spec: Any, head: list[Any]) -> Any:
    return fitted(spec, head, getattr(getattr(served.live.policy.learner, "reader", None), "features", None))


def _tried(served: Served, spec: Any, newest: list[Any]) -> None:
    check_fits(make_policy(spec, list(served.first_arms), served.arm_features), newest, "The candidate")
