"""What each rule of an explanation earns: the value of playing its arm where it applies, from a log, with an interval."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
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
    """Sums over the events of a log, rule by rule. `arms`: the arm of each rule; `reward_range`: of the rewards.

    A rule's events are those in which it applies and its arm was available; an event has the weight 1 / propensity if the arm was played, else
    0. The estimate is the average of rewards by these weights; the interval is that of `betting.py`, for the average over the events.
    """

    def __init__(self, arms: Iterable[Hashable], reward_range: Bounds) -> None:
        self.arms = list(arms)
        self.low, self.high = reward_range
        self.bets = [Bets() for _ in self.arms]
        self.weights, self.weighted = np.zeros(len(self.arms)), np.zeros(len(self.arms))

    def add(self, rule: Ints, available: Flags, played: Flags, propensity: Floats, reward: Floats) -> None:
        """Take in events: the rule of each (-1: none), whether the rule's arm was available, whether it was played, with which probability."""
        r = (reward - self.low) / (self.high - self.low)
        used = available & (propensity > 0.0)  # NaN is not
        for k in np.unique(rule[used & (rule >= 0)]).tolist():
            at = used & (rule == k)
            w = np.where(played[at], 1.0 / propensity[at], 0.0)
            self.bets[k].add(w, r[at])
            self.weights[k] += w.sum()
            self.weighted[k] += (w * r[at]).sum()

    def result(self, confidence: float = 0.95) -> list[Earned | None]:
        """What each earns; None where the arm was never played."""
        found: list[Earned | None] = []
        for k, bets in enumerate(self.bets):
            if self.weights[k] <= 0.0:
                found.append(None)
                continue
            value = self.weighted[k] / self.weights[k]
            low, high = bets.ends(confidence)
            value, low, high = (
                self.low + (self.high - self.low) * float(each) for each in (value, min(low, value), max(high, value))
            )
            found.append(Earned(value, low, high, bets.rows))
        return found


def with_earnings(explanation: Explanation, policy: Policy, log: Log | Iterable[Batch]) -> Explanation:
    """The rules of a policy, each with what it earns by a log that the policy did not learn from."""
    check_log("explain", log)
    if hasattr(log, "__next__"):
        raise InputError("An iterator can be read only once. Give a log or a list of batches.")
    low, high = policy.reward_range
    if not low < high:
        raise InputError(
            "The range of the policy's rewards is not known: it finds it on the way, and has not learned two different ones. "
            "Use a policy made with reward_range=(low, high), or leave log out."
        )
    told = explanation.merged()
    sums = RuleEarnings([region.arm for region in told.regions], (low, high))
    for batch in each_batch("explain", read_for(log, [policy])):
        if len(batch):
            _add(sums, told, policy, batch)
    regions = [replace(region, earned=earned) for region, earned in zip(told.regions, sums.result(), strict=True)]
    return replace(told, regions=tuple(regions))


def _add(sums: RuleEarnings, told: Explanation, policy: Policy, batch: Batch) -> None:
    reward = batch.reward
    if not (reward.min() >= sums.low and reward.max() <= sums.high):
        if policy.loss_scale.outside == "error" or np.isnan(reward).any():
            raise InputError(
                f"The log has a reward outside [{sums.low}, {sums.high}], what the policy takes. "
                "Use a policy made with a wider reward_range=(low, high), or with outside='clip'."
            )
        reward = np.clip(reward, sums.low, sums.high)
    points: Any = check_contexts(policy, batch, own_contexts(policy, batch))[0]
    learner = policy.learner
    rows = points.raw(learner.reader, 0, len(batch))[0] if isinstance(learner, Featured) else points
    rule = told.find(rows)
    places = {arm: place for place, arm in enumerate(batch.arms)}
    wanted = np.array([*(places.get(arm, -1) for arm in sums.arms), -1])[rule]
    table = np.zeros((len(batch.pools.sizes), len(batch.arms) + 1), dtype=bool)
    table[:, :-1] = batch.pools.table(len(batch.arms)) > 0.0
    sums.add(rule, table[batch.pool, wanted], batch.arm == wanted, batch.propensity, reward)
