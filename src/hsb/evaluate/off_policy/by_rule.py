"""The value of each rule of an explanation: of playing its arm when it applies, from a log, with an interval."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import InputError
from ...explain import Explanation
from ...explain.earned import Earned
from ...learners.featured import Featured
from ...logs import Batch, Log
from ...logs.log import check_log, each_batch
from ...play.batches import check_contexts
from ...play.named import own_contexts, read_for
from ...policy import Policy
from ...types import Bounds, Flags, Floats, Ints
from .betting import Bets


class RuleEarnings:
    """Sums over the events of a log, by rule. `arms` has the arm of each rule; `reward_range` is the range of rewards.

    A rule's events are those in which it applies and its arm was available; an event has the weight 1 / propensity if the arm was shown, else
    0. The estimate is the weighted average of rewards; the interval is that of `betting.py`, for the average over the events.
    """

    def __init__(self, arms: Iterable[Hashable], reward_range: Bounds) -> None:
        self.arms = list(arms)
        self.low, self.high = reward_range
        self.bets = [Bets() for _ in self.arms]
        self.weights, self.weighted = np.zeros(len(self.arms)), np.zeros(len(self.arms))

    def add(self, rule: Ints, available: Flags, played: Flags, propensity: Floats, reward: Floats) -> None:
        """Add events: the rule of each (-1: no rule), whether the rule's arm was available and played, the propensity and the reward."""
        r = (reward - self.low) / (self.high - self.low)
        used = available & (propensity > 0.0)  # NaN is not
        for k in np.unique(rule[used & (rule >= 0)]).tolist():
            rows = used & (rule == k)
            w = np.where(played[rows], 1.0 / propensity[rows], 0.0)
            self.bets[k].add(w, r[rows])
            self.weights[k] += w.sum()
            self.weighted[k] += (w * r[rows]).sum()

    def result(self, confidence: float = 0.95) -> list[Earned | None]:
        """Return the value of each rule; None if its arm was never shown."""
        earned: list[Earned | None] = []
        for k, bets in enumerate(self.bets):
            if self.weights[k] <= 0.0:
                earned.append(None)
                continue
            value = self.weighted[k] / self.weights[k]
            low, high = bets.ends(confidence)
            value, low, high = (
                self.low + (self.high - self.low) * float(each) for each in (value, min(low, value), max(high, value))
            )
            earned.append(Earned(value, low, high, bets.rows))
        return earned


def with_earnings(
    explanation: Explanation, policy: Policy, log: Log | Iterable[Batch], context: Callable[[Floats], Any] | None = None
) -> Explanation:
    """Return the rules of a policy, each with its value on a log that the policy did not learn from; `context` is as in `learn_from`."""
    check_log("explain", log)
    if hasattr(log, "__next__"):
        raise InputError("An iterator can be read only once. Give a log or a list of batches.")
    if policy.learner.takes_requests:
        raise InputError(
            "What rules earn by a log is for policies with a fixed list of arms; the arms of this policy come with the request. "
            "Leave out log, and estimate the whole policy: hsb evaluate, or hsb.evaluate.off_policy."
        )
    low, high = policy.reward_range
    if not low < high:
        raise InputError(
            "The range of the policy's rewards is not known yet: it is inferred from two different rewards. "
            "Use a policy made with reward_range=(low, high), or leave log out."
        )
    rules = explanation.merged()
    sums = RuleEarnings([region.arm for region in rules.regions], (low, high))
    for batch in each_batch("explain", read_for(log, [policy], context)):
        if len(batch):
            _add(sums, rules, policy, batch, context)
    regions = [replace(region, earned=earned) for region, earned in zip(rules.regions, sums.result(), strict=True)]
    return replace(rules, regions=tuple(regions))


def _add(sums: RuleEarnings, rules: Explanation, policy: Policy, batch: Batch, context: Callable[[Floats], Any] | None) -> None:
    reward = batch.reward
    if not (reward.min() >= sums.low and reward.max() <= sums.high):
        if policy.loss_scale.outside == "error" or np.isnan(reward).any():
            raise InputError(
                f"The log has a reward outside [{sums.low}, {sums.high}], the range that the policy takes. "
                "Use a policy made with a wider reward_range=(low, high), or with outside='clip'."
            )
        reward = np.clip(reward, sums.low, sums.high)
    points: Any = check_contexts(policy, batch, own_contexts(policy, batch, context))[0]
    learner = policy.learner
    rows = points.raw(learner.reader, 0, len(batch))[0] if isinstance(learner, Featured) else points
    rule = rules.find(rows)
    indices = {arm: index for index, arm in enumerate(batch.arms)}
    wanted = np.array([*(indices.get(arm, -1) for arm in sums.arms), -1])[rule]
    table = np.zeros((len(batch.pools.sizes), len(batch.arms) + 1), dtype=bool)
    table[:, :-1] = batch.pools.table(len(batch.arms)) > 0.0
    sums.add(rule, table[batch.pool, wanted], batch.arm == wanted, batch.propensity, reward)
