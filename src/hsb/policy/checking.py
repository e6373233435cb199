"""Checks of a decision before a policy learns it, of features of arms, and of the learner of a new policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import format_arms, is_hashable, is_number
from ..errors import InputError, quoted
from ..features.request import Request
from ..types import Masks
from .decision import Decision, not_a_decision
from .learner import Also, Learner

if TYPE_CHECKING:
    from .policy import Policy


def check_decision(policy: Policy, decision: Any) -> tuple[Masks | None, int, bool]:
    """Check that a policy can learn a decision; InputError if not.

    Return the mask of the arms that were available (None: all), the index of the arm played, and whether this policy made the decision.
    """
    if not isinstance(decision, Decision):
        raise not_a_decision(decision)
    arm_set = policy.arm_set
    if type(decision.context) is Request and policy.learner.takes_requests:
        return _check_request(policy, decision)
    try:
        arm = arm_set.index[decision.arm]
    except (KeyError, TypeError):
        if policy.learner.takes_requests:
            return _check_request(policy, decision)
        arm = arm_set.number(decision.arm)  # raises
    propensity = decision.propensity
    if not (type(propensity) is float or is_number(propensity)) or not 0.0 < propensity <= 1.0:
        raise _wrong_propensity(propensity)
    own = policy.ledger.check(decision)
    mask = None
    if decision.available is not None:
        mask = arm_set.mask(decision.available, past=True)
    elif own and 0 < decision.memo.arms < len(arm_set.arms):  # arms added since were not available
        mask = arm_set.first(decision.memo.arms)
    if mask is not None and not mask[arm]:
        raise InputError(f"Arm {quoted(decision.arm)} was not among the available {format_arms(decision.available or ())}.")
    return mask, arm, own


def _check_request(policy: Policy, decision: Decision) -> tuple[Masks | None, int, bool]:
    """Check a decision on a request: its arms are those of the request."""
    request, propensity = decision.context, decision.propensity
    if type(request) is not Request:
        raise InputError(
            "This policy learns decisions with their available arms: context=hsb.features.Request(context, arms); given "
            f"{quoted(request):.200}."
        )
    names = list(request.arms)
    if not is_hashable(decision.arm) or decision.arm not in request.arms:
        raise InputError(f"Unknown arm {quoted(decision.arm):.100}. This request has the arms {quoted(names):.200}.")
    if not is_number(propensity) or not 0.0 < propensity <= 1.0:
        raise _wrong_propensity(propensity)
    own, mask, arm = policy.ledger.check(decision), request.mask(decision.available), names.index(decision.arm)
    if mask is not None and not mask[arm]:
        raise InputError(f"Arm {quoted(decision.arm)} was not among the available {format_arms(decision.available or ())}.")
    return mask, arm, own


def _wrong_propensity(propensity: Any) -> InputError:
    return InputError(
        f"propensity must be in (0, 1], the probability with which the arm was played; given {quoted(propensity)}."
    )


def check_also(policy: Policy, decision: Decision, mask: Masks | None, arm: int, also: Any, is_reward: bool) -> Also:
    """Check the outcomes of other arms than the one played, losses or rewards; return their losses."""
    names = list(decision.context.arms) if type(decision.context) is Request else policy.arms
    if not policy.learner.takes_also:
        raise InputError(
            f"{type(policy).__name__} has no models that could learn the outcomes of other arms. Leave out also=, or use hsb.HSB(arms=...)."
        )
    if not isinstance(also, Mapping):
        raise InputError(
            f"also must be a dict from other arms to their losses (or rewards), e.g. {{'b': 0}}; given {quoted(also):.200}."
        )
    index, arms, losses = {name: k for k, name in enumerate(names)}, [], []
    for name, value in also.items():
        other = index.get(name) if is_hashable(name) else None
        if other is None or other == arm or not (mask is None or mask[other]):
            raise InputError(
                f"also must name available arms, and not the one played, {quoted(decision.arm):.100}; given {quoted(name):.100}."
            )
        number, _ = policy.loss_scale.check_feedback(*((None, value) if is_reward else (value, None)))
        arms.append(other)
        losses.append(policy.loss_scale.scale(number, is_reward)[0])
    return Also(np.array(arms, dtype=np.int64), np.array(losses, dtype=np.float64))


def check_arm_features(policy: Policy, arm: Any, features: Any) -> None:
    """Raise InputError for features of an arm if the policy's learner does not learn from them."""
    if features is not None and not policy.learner.takes_arm_features:
        raise InputError(
            f"{type(policy).__name__} makes no use of features of arms; given {quoted(features)} for arm {quoted(arm)}. "
            "Leave them out, or use hsb.HSB(arms=...) without a structure."
        )


def check_learner(learner: Any) -> Learner:
    """Return the learner of a new policy; InputError if it is not a `Learner`."""
    if Learner not in type(learner).__mro__:
        raise InputError(
            "learner must be an instance of hsb.policy.learner.Learner, or left out by a policy that defines distribution and update; "
            f"given {quoted(learner)}."
        )
    checked: Learner = learner
    return checked
