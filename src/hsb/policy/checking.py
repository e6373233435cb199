"""What must hold of a decision before anything is learned from it, and of what a policy is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..checks import is_number, shown
from ..errors import InputError, quoted
from ..types import Masks
from .decision import Decision, no_decision
from .learner import Learner

if TYPE_CHECKING:
    from .policy import Policy


def check_decision(policy: Policy, decision: Any) -> tuple[Masks | None, int, bool]:
    """The arms that were available, the index of the arm, and whether the decision is the policy's own; InputError if it is unfit."""
    if not isinstance(decision, Decision):
        raise no_decision(decision)
    arm_set = policy.arm_set
    try:
        arm = arm_set.index[decision.arm]
    except (KeyError, TypeError):
        arm = arm_set.number(decision.arm)  # says what is wrong
    propensity = decision.propensity
    if not (type(propensity) is float or is_number(propensity)) or not 0.0 < propensity <= 1.0:
        raise InputError(
            f"propensity must be in (0, 1], the probability with which the arm was played; given {quoted(propensity)}."
        )
    own = policy.ledger.check(decision)
    mask = None
    if decision.available is not None:
        mask = arm_set.mask(decision.available, past=True)
    elif own and 0 < decision.memo.arms < len(arm_set.arms):  # an arm added since was not among them
        mask = arm_set.first(decision.memo.arms)
    if mask is not None and not mask[arm]:
        raise InputError(f"Arm {quoted(decision.arm)} was not among the available {shown(decision.available or ())}.")
    return mask, arm, own


def check_learner(learner: Any) -> Learner:
    """The learner of a new policy; InputError if it is none."""
    if Learner not in type(learner).__mro__:
        raise InputError(
            "learner must be an instance of hsb.policy.learner.Learner, or left out by a policy that defines distribution and update; "
            f"given {quoted(learner)}."
        )
    found: Learner = learner
    return found
