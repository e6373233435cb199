"""Decisions without a trace, learned as the policy's own: for those who keep a journal and count each decision once themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import check_u, function
from ..errors import InputError, quoted
from ..types import Floats
from .decision import Decision
from .floor import distribution, draw, mix, rest_of, share_of, shared
from .learner import Choice, Memo
from .tables import each_row, each_u

if TYPE_CHECKING:
    from .policy import Policy

CLOSE = 1e-9  # by how much probabilities may miss a sum of 1


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


def propose_many(policy: Policy, contexts: Any, u: Any, mixed: Any = None) -> list[Decision | None]:
    """`Policy.propose_many`."""
    rows = each_row("contexts", contexts)
    us = each_u(u, len(rows))
    mixed = function("mixed", mixed)
    arm_set = policy.arm_set
    made: list[Decision | None] | None = None
    if not arm_set.removed:
        made = _rows(policy, rows, us.tolist()) if mixed is None else _mixed_rows(policy, rows, us, mixed)
    if made is not None:
        return made
    return [_proposed(policy, context, each, mixed) for context, each in zip(rows, us.tolist(), strict=True)]


def _rows(policy: Policy, rows: list[Any], us: list[float]) -> list[Decision | None] | None:
    """What `propose` draws for each of them, as `floor.draw` does; None where they must be asked one by one."""
    share, arms = share_of(policy), len(policy.arm_set)
    found = policy.learner.choose_contexts(rows, us if share == 0.0 else [rest_of(u, share) for u in us])
    if found is None:
        return None
    made: list[Decision | None] = []
    for context, u, each in zip(rows, us, found, strict=True):
        if each is None:
            made.append(None)
        elif u < share:  # drawn uniformly
            made.append(_proposed(policy, context, u, None))
        else:
            (arm, probability, advice), cells = each
            made.append(_made(policy, context, (arm, shared(probability, share, arms), advice), cells))
    return made


def _mixed_rows(policy: Policy, rows: list[Any], us: Floats, mixed: Any) -> list[Decision | None] | None:
    """What `propose` draws from `mixed`, for each of them; None where they must be asked one by one."""
    found = policy.learner.fill_contexts(rows)
    if found is None:
        return None
    made: list[Decision | None] = [None] * len(rows)
    if not found.fit:
        return made
    q = np.asarray(mixed(mix(found.p, None, share_of(policy))), dtype=np.float64)
    if q.shape != found.p.shape or not (q >= 0.0).all():
        return None
    sums, each = np.cumsum(q, axis=1), np.arange(len(q))
    arms = np.minimum(
        (sums <= us[found.fit][:, None]).sum(axis=1), q.shape[1] - 1
    )  # as searchsorted does, and sums go as for one
    strange = (q[each, arms] <= 0.0) | (us[found.fit] >= sums[:, -1]) | ~(np.abs(sums[:, -1] - 1.0) <= CLOSE)
    for row, index in enumerate(found.fit):
        if strange[row]:  # at the very end of a sum, or no distribution
            made[index] = _proposed(policy, rows[index], float(us[index]), mixed)
            continue
        arm = int(arms[row])
        choice = (arm, min(float(q[row, arm]), 1.0), float(found.advice[row, arm]))
        made[index] = _made(policy, rows[index], choice, found.cells[row])
    return made


def _made(policy: Policy, context: Any, choice: Choice, cells: Any) -> Decision:
    arm, probability, advice = choice
    decision = Decision(context=context, arm=policy.arm_set.arms[arm], propensity=probability)
    decision.memo = Memo(policy.rounds, len(policy.arm_set), advice, cells)
    return decision


def _proposed(policy: Policy, context: Any, u: float, mixed: Any) -> Decision | None:
    try:
        return propose(policy, context, u, None, mixed)
    except InputError:
        return None


def _drawn(q: Floats, u: float, arms: int) -> tuple[int, float]:
    """The arm that u draws from a distribution, and its probability; sums go from the first arm on, on every machine."""
    q = np.asarray(q, dtype=np.float64)
    if q.shape != (arms,) or not (q >= 0.0).all():
        raise InputError(f"mixed must give a probability for each of the {arms} arms; it gave {quoted(q)}.")
    sums = np.cumsum(q)
    if not abs(sums[-1] - 1.0) <= CLOSE:
        raise InputError(f"mixed must give probabilities that add to 1; they add to {float(sums[-1])!r}.")
    index = int(np.searchsorted(sums, u, side="right"))
    if index >= arms or q[index] <= 0.0:
        index = int(np.flatnonzero(q)[-1])
    return index, min(float(q[index]), 1.0)
