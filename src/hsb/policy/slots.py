"""Several slots: the decisions of a page, drawn one after the other without replacement, and their feedback.

A slot is a round like any other, in which the arms of the slots before it are not available. So its propensity, given those slots, is exact for
every learner. One number `u` decides the whole page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import check_u, whole
from ..errors import InputError, quoted
from ..features.request import Request
from ..types import Masks
from . import requests
from .decision import Decision
from .floor import draw
from .learner import Choice, Memo
from .slate import Slate
from .tables import check_many

if TYPE_CHECKING:
    from .policy import Policy

WORD = (1 << 64) - 1
STEP, MIX1, MIX2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # splitmix64
SALT = 0x5851F42D4C957F2D  # another sequence than the one from which a learner may draw for the same u


def uniforms(u: float, k: int) -> list[float]:
    """Return k numbers in [0, 1) for the slots of a page: `u` itself, and k - 1 that splitmix64 makes of its bits.

    >>> [round(x, 3) for x in uniforms(0.25, 3)]
    [0.25, 0.895, 0.088]
    """
    state = _mixed(int(u * 2.0**53) ^ SALT)
    return [u, *((_mixed(state + STEP * slot & WORD) >> 11) * 2.0**-53 for slot in range(1, k))]


def _mixed(z: int) -> int:
    """Scramble 64 bits."""
    z = (z ^ z >> 30) * MIX1 & WORD
    z = (z ^ z >> 27) * MIX2 & WORD
    return z ^ z >> 31


def decide(policy: Policy, context: Any, k: Any, available: Any, u: Any) -> Decision | Slate:
    """Make the decision of `Policy.decide` on a request, or with `k`, the slate."""
    if k is not None:
        return decide_page(policy, context, k, available, u)
    return requests.decide(policy, context, available, u)


def decide_page(policy: Policy, context: Any, k: Any, available: Any, u: Any) -> Slate:
    """Make the slate of `Policy.decide` with `k`. Checks everything before the first draw."""
    learner, is_request = policy.learner, type(context) is Request
    k = whole("k", k, 1)
    arms = list(context.arms) if is_request else policy.arm_set.arms
    mask = (context if is_request else policy.arm_set).mask(available)
    left = np.ones(len(arms), dtype=np.uint8) if mask is None else mask.copy()
    if k > left.sum():
        raise InputError(
            f"k must be at most {int(left.sum())}, the number of available arms; given {k}. A page shows each arm once."
        )
    if 1 < learner.slots < k:
        raise InputError(f"k must be at most {learner.slots}, the slots of this policy; given {k}. Make it with slots={k}.")
    if u is not None:
        check_u(u)
    views = [learner.read_slot(context, slot) for slot in range(k if learner.slots > 1 else 1)]
    u = policy.rng.random() if u is None else float(u)
    drawn: list[tuple[Choice, Masks | None, Any]] = []
    for slot, number in enumerate(uniforms(u, k)):
        view, mask = views[slot % len(views)][0], None if left.all() else left.copy()
        choice = draw(policy, view, mask, number)
        drawn.append((choice, mask, learner.cells(view)))
        left[choice[0]] = 0
    policy.clipped += views[0][1]
    view = views[0][0]
    if is_request:
        context = view.request
    elif isinstance(context, list | dict | np.ndarray):
        context = context.copy()  # the caller may change it later
    decisions = []
    for slot, ((arm, probability, advice), among, cells) in enumerate(drawn):
        memo = Memo(policy.rounds, len(policy.arm_set), advice, cells, slot)
        policy.ledger.feedback.decisions[policy.arms[view.groups[arm]] if is_request else arms[arm]] += 1
        decisions.append(Decision.issue(policy, context, arms[arm], probability, requests.names_of(arms, among), memo))
    return Slate(decisions)


def check_page(policy: Policy, page: Any, feedback: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Check all slots of `Policy.learn` of a slate; return those with feedback, as arguments of `transaction.learn_round`."""
    if feedback.pop("also") is not None:
        raise InputError("also= is for a single decision. Leave it out for the decisions of a page.")
    outcomes = {name: value for name, value in feedback.items() if value is not None}
    names = " and ".join(outcomes)
    if not isinstance(page, Slate):
        raise InputError(f"{names} is for a slate, from policy.decide(context, k=3); given {quoted(page)}. Use loss or reward.")
    if len(outcomes) != 1:
        raise InputError(
            "learn of a slate needs one of losses=, rewards= (a number for each slot, None for no feedback), loss= and reward= "
            f"(one number for the page); given {names or 'none'}."
        )
    ((name, value),) = outcomes.items()
    if name in ("loss", "reward"):
        name, value = {"loss": "losses", "reward": "rewards"}[name], [value] * len(page)
    return check_many(policy, page, value if name == "losses" else None, value if name == "rewards" else None, "skip")
