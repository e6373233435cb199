"""A floor under every available arm: a share of the decisions is uniform, and the probabilities say so exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Floats, Masks
from .learner import Choice

if TYPE_CHECKING:
    from .policy import Policy

BELOW_ONE = float(np.nextafter(1.0, 0.0))


def draw(policy: Policy, seen: Any, mask: Masks | None, u: float) -> Choice:
    """The arm that `u` selects for what the learner has seen; a share of all decisions is uniform over the available arms."""
    learner, share = policy.learner, share_of(policy)
    if share == 0.0:
        return learner.choose(seen, mask, u)
    arms = len(policy.arm_set)
    among = np.arange(arms) if mask is None else np.flatnonzero(mask)
    if u < share:
        p = np.empty(arms)
        learner.fill(seen, mask, p)
        arm = int(among[min(int(u / share * len(among)), len(among) - 1)])
        probability, advice = float(p[arm]), learner.advice(arm)
    else:
        arm, probability, advice = learner.choose(seen, mask, rest_of(u, share))
    return arm, shared(probability, share, len(among)), advice


def rest_of(u: float, share: float) -> float:
    """The number that draws from the policy's own distribution; 0 where u draws from the share."""
    return 0.0 if u < share else min((u - share) / (1.0 - share), BELOW_ONE)


def shared(probability: float, share: float, arms: int) -> float:
    """The probability of an arm, with its part of the share."""
    return probability if share == 0.0 else min((1.0 - share) * probability + share / arms, 1.0)


def distribution(policy: Policy, seen: Any, mask: Masks | None) -> Floats:
    """The distribution over arms for what the learner has seen, the floor included."""
    p = np.empty(len(policy.arm_set))
    policy.learner.fill(seen, mask, p)
    return mix(p, mask, share_of(policy))


def share_of(policy: Policy) -> float:
    """The share of decisions that is uniform now: the policy's floor, or more if the learner needs it."""
    floor, needed = policy.floor, policy.learner.uniform_share
    return needed if needed > floor else floor


def mix(p: Floats, masks: Masks | None, share: float) -> Floats:
    """A distribution, or a table of them with a mask for each row, with the floor."""
    if share == 0.0:
        return p
    among = np.ones(p.shape) if masks is None else (masks > 0).astype(np.float64)
    return np.asarray((1.0 - share) * p + share * among / among.sum(axis=-1, keepdims=True))
