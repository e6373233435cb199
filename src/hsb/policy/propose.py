"""Decisions without a trace, learned as the policy's own: for those who keep a journal and count each decision once themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import check_u, function
from ..errors import InputError, quoted
from ..types import Floats
from .decision import Decision
from .floor import distribution, draw, share_of
from .learner import Memo
from .tables import each_row, each_u

if TYPE_CHECKING:
    from .policy import Policy


def propose(policy: Policy, context: Any, u: Any, available: Any, mixed: Any) -> Decision:
    """`Policy.propose`."""
    check_u(u)
    mixed = function("mixed", mixed)
    learner, arm_set = policy.learner, policy.arm_set
    mask = arm_set.mask(available)
    seen = learner.read(context)[0]
    if mixed is None:
        arm, probability, advice = draw(policy, seen, mask, float(u))
    else:
        arm, probability = _drawn(mixed(distribution(policy, seen, mask)), float(u), len(arm_set))
        advice = learner.advice(arm)
    names = None if available is None and not arm_set.removed else arm_set.names(mask) or tuple(arm_set.arms)
    made = Decision(context=context, arm=arm_set.arms[arm], propensity=probability, available=names)
    made.memo = Memo(policy.rounds, len(arm_set), advice, learner.cells(seen))
    return made


def propose_many(policy: Policy, contexts: Any, u: Any) -> list[Decision | None]:
    """`Policy.propose_many`."""
    rows = each_row("contexts", contexts)
    us = each_u(u, len(rows)).tolist()
    learner, arm_set = policy.learner, policy.arm_set
    if share_of(policy) > 0.0 or arm_set.removed:
        return [_proposed(policy, context, each) for context, each in zip(rows, us, strict=True)]
    found = learner.choose_contexts(rows, us)
    if found is None:
        return [_proposed(policy, context, each) for context, each in zip(rows, us, strict=True)]
    made: list[Decision | None] = []
    for context, each in zip(rows, found, strict=True):
        if each is None:
            made.append(None)
            continue
        (arm, probability, advice), cells = each
        decision = Decision(context=context, arm=arm_set.arms[arm], propensity=probability)
        decision.memo = Memo(policy.rounds, len(arm_set), advice, cells)
        made.append(decision)
    return made


def _proposed(policy: Policy, context: Any, u: float) -> Decision | None:
    try:
        return propose(policy, context, u, None, None)
    except InputError:
        return None


def _drawn(q: Floats, u: float, arms: int) -> tuple[int, float]:
    """The arm that u draws from a distribution, and its probability; sums go from the first arm on, on every machine."""
    q = np.asarray(q, dtype=np.float64)
    if q.shape != (arms,) or not (q >= 0.0).all():
        raise InputError(f"mixed must give a probability for each of the {arms} arms; it gave {quoted(q)}.")
    sums = np.cumsum(q)
    if not abs(sums[-1] - 1.0) <= 1e-9:
        raise InputError(f"mixed must give probabilities that add to 1; they add to {float(sums[-1])!r}.")
    index = int(np.searchsorted(sums, u, side="right"))
    if index >= arms or q[index] <= 0.0:
        index = int(np.flatnonzero(q)[-1])
    return index, min(float(q[index]), 1.0)
