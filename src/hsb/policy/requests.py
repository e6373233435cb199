"""Rounds in which the available arms come with the context (`hsb.Open`). Each function takes the policy first, and runs under its lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..checks import check_u
from ..errors import InputError
from ..features.request import Request
from ..types import Floats, Masks
from .decision import Decision
from .decisions import Decisions
from .floor import distribution, draw, draw_from
from .learner import Memo

if TYPE_CHECKING:
    from .policy import Policy


def of(policy: Policy, context: Any, arms: Any) -> Any:
    """Return the context, or the request of a context and its arms; InputError if the policy has a fixed list of arms."""
    if arms is None and type(context) is not Request:
        return context
    if not policy.learner.takes_requests:
        raise InputError(
            f"This policy has a fixed list of arms, {len(policy.arms)} of them. For arms that come with the request make it with "
            "hsb.HSB(arms=hsb.Open()); to leave out arms for one decision use available=[...]."
        )
    if arms is not None and type(context) is Request:
        raise InputError("Give the arms in the request or as arms=, not both.")
    return context if arms is None else Request(context, arms)


def read(policy: Policy, context: Any, available: Any, slot: int = 0) -> tuple[Any, Masks | None, list[Any]]:
    """Return the view of a context or a request, the mask of its available arms, and all its arms."""
    is_request = type(context) is Request
    mask = (context if is_request else policy.arm_set).mask(available)
    return policy.learner.read_slot(context, slot)[0], mask, list(context.arms) if is_request else policy.arms


def decide(policy: Policy, request: Request, available: Any, u: Any) -> Decision:
    """Make the decision of `Policy.decide`."""
    mask = request.mask(available)
    if u is not None:
        check_u(u)
    learner = policy.learner
    view = learner.read(request)[0]
    arm, probability, advice = draw(policy, view, mask, policy.rng.random() if u is None else float(u))
    memo = Memo(policy.rounds, len(policy.arm_set), advice, learner.cells(view))
    name = view.names[arm]
    policy.ledger.feedback.decisions[policy.arms[view.groups[arm]]] += 1
    among = names_of(view.names, mask)
    return Decision.issue(policy, view.request, name, probability, among, memo)


def refuse_available(available: Any) -> None:
    """Raise InputError for available arms beside a table of requests."""
    if available is not None:
        raise InputError("available= is for a fixed list of arms; each of these requests lists its own. Leave it out.")


def decide_many(policy: Policy, requests: list[Request], us: Floats) -> Decisions:
    """Make the decisions of `Policy.decide_many`, for requests that were checked."""
    return Decisions([decide(policy, request, None, u) for request, u in zip(requests, us.tolist(), strict=True)])


def propose(policy: Policy, request: Request, available: Any, u: float, mixed: Any) -> Decision:
    """Make the decision of `Policy.propose`."""
    learner, mask = policy.learner, request.mask(available)
    view = learner.read(request)[0]
    if mixed is None:
        arm, probability, advice = draw(policy, view, mask, u)
    else:
        arm, probability = draw_from(mixed(distribution(policy, view, mask)), u, len(view.names))
        advice = learner.advice(arm)
    among = names_of(view.names, mask)
    decision = Decision(context=view.request, arm=view.names[arm], propensity=probability, available=among)
    decision.memo = Memo(policy.rounds, len(policy.arm_set), advice, learner.cells(view))
    return decision


def names_of(arms: list[Any], mask: Masks | None) -> tuple[Any, ...] | None:
    """Return the arms of a mask; None if it has every arm."""
    return None if mask is None else tuple(arm for arm, there in zip(arms, mask, strict=True) if there)
