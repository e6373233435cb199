"""Decisions that leave no trace in the policy, for callers that keep a journal and count each decision once themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import check_u, function
from ..errors import InputError
from ..features.request import Request
from ..types import Floats
from . import requests
from .decision import Decision
from .floor import CLOSE, add_share, distribution, draw, draw_from, mix, rest_of, uniform_share
from .learner import Choice, Memo
from .tables import each_row, each_u

if TYPE_CHECKING:
    from .policy import Policy


def propose(policy: Policy, context: Any, u: Any, available: Any, mixed: Any) -> Decision:
    """Make the decision of `Policy.propose`."""
    check_u(u)
    mixed = function("mixed", mixed)
    learner, arm_set = policy.learner, policy.arm_set
    if type(context) is Request:
        return requests.propose(policy, requests.of(policy, context, None), available, float(u), mixed)
    mask = arm_set.mask(available)
    view = learner.read(context)[0]
    if mixed is None:
        arm, probability, advice = draw(policy, view, mask, float(u))
    else:
        arm, probability = draw_from(mixed(distribution(policy, view, mask)), float(u), len(arm_set))
        advice = learner.advice(arm)
    names = None if available is None and not arm_set.removed else arm_set.names(mask) or tuple(arm_set.arms)
    decision = Decision(context=context, arm=arm_set.arms[arm], propensity=probability, available=names)
    decision.memo = Memo(policy.rounds, len(arm_set), advice, learner.cells(view))
    return decision


def propose_many(policy: Policy, contexts: Any, u: Any, mixed: Any = None) -> list[Decision | None]:
    """Make the decisions of `Policy.propose_many`."""
    rows = each_row("contexts", contexts)
    us = each_u(u, len(rows))
    mixed = function("mixed", mixed)
    arm_set = policy.arm_set
    decisions: list[Decision | None] | None = None
    if not arm_set.removed:
        decisions = _propose_rows(policy, rows, us.tolist()) if mixed is None else _propose_mixed_rows(policy, rows, us, mixed)
    if decisions is not None:
        return decisions
    return [_propose_or_none(policy, context, u, mixed) for context, u in zip(rows, us.tolist(), strict=True)]


def _propose_rows(policy: Policy, rows: list[Any], us: list[float]) -> list[Decision | None] | None:
    """Propose for all rows together, as `floor.draw` does; None if the learner chooses one by one."""
    share, arms = uniform_share(policy), len(policy.arm_set)
    choices = policy.learner.choose_contexts(rows, us if share == 0.0 else [rest_of(u, share) for u in us])
    if choices is None:
        return None
    decisions: list[Decision | None] = []
    for context, u, choice in zip(rows, us, choices, strict=True):
        if choice is None:
            decisions.append(None)
        elif u < share:  # drawn uniformly
            decisions.append(_propose_or_none(policy, context, u, None))
        else:
            (arm, probability, advice), cells = choice
            decisions.append(_decision(policy, context, (arm, add_share(probability, share, arms), advice), cells))
    return decisions


def _propose_mixed_rows(policy: Policy, rows: list[Any], us: Floats, mixed: Any) -> list[Decision | None] | None:
    """Propose for all rows together, drawing from `mixed`; None if the learner or `mixed` takes them one by one."""
    several = policy.learner.fill_contexts(rows)
    if several is None:
        return None
    decisions: list[Decision | None] = [None] * len(rows)
    if not several.fit:
        return decisions
    q = np.asarray(mixed(mix(several.p, None, uniform_share(policy))), dtype=np.float64)
    if q.shape != several.p.shape or not (q >= 0.0).all():
        return None
    us_fit, sums, row_numbers = us[several.fit], np.cumsum(q, axis=1), np.arange(len(q))
    arms = np.minimum((sums <= us_fit[:, None]).sum(axis=1), q.shape[1] - 1)  # as searchsorted does; sums as for one row
    is_unusual = (q[row_numbers, arms] <= 0.0) | (us_fit >= sums[:, -1]) | ~(np.abs(sums[:, -1] - 1.0) <= CLOSE)
    for row, index in enumerate(several.fit):
        if is_unusual[row]:  # at the very end of a sum, or not a distribution
            decisions[index] = _propose_or_none(policy, rows[index], float(us[index]), mixed)
            continue
        arm = int(arms[row])
        choice = (arm, min(float(q[row, arm]), 1.0), float(several.advice[row, arm]))
        decisions[index] = _decision(policy, rows[index], choice, several.cells[row])
    return decisions


def _decision(policy: Policy, context: Any, choice: Choice, cells: Any) -> Decision:
    arm, probability, advice = choice
    decision = Decision(context=context, arm=policy.arm_set.arms[arm], propensity=probability)
    decision.memo = Memo(policy.rounds, len(policy.arm_set), advice, cells)
    return decision


def _propose_or_none(policy: Policy, context: Any, u: float, mixed: Any) -> Decision | None:
    try:
        return propose(policy, context, u, None, mixed)
    except InputError:
        return None
