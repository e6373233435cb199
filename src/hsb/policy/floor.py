"""Uniform exploration: a share of the decisions is uniform over the available arms, and propensities include it exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Floats, Masks
from .learner import Choice

if TYPE_CHECKING:
    from .policy import Policy

BELOW_ONE = float(np.nextafter(1.0, 0.0))


def draw(policy: Policy, view: Any, mask: Masks | None, u: float) -> Choice:
    """Return the arm that `u` selects, from the learner's distribution mixed with the uniform share."""
    learner, share = policy.learner, uniform_share(policy, view)
    if share == 0.0:
        return learner.choose(view, mask, u)
    arms = len(policy.arm_set)
    among = np.arange(arms) if mask is None else np.flatnonzero(mask)
    if u < share:
        p = np.empty(arms)
        learner.fill(view, mask, p)
        arm = int(among[min(int(u / share * len(among)), len(among) - 1)])
        probability, advice = float(p[arm]), learner.advice(arm)
    else:
        arm, probability, advice = learner.choose(view, mask, rest_of(u, share))
    return arm, add_share(probability, share, len(among)), advice


def rest_of(u: float, share: float) -> float:
    """Return the number in [0, 1) that draws from the learner's distribution; 0 if `u` draws uniformly."""
    return 0.0 if u < share else min((u - share) / (1.0 - share), BELOW_ONE)


def add_share(probability: float, share: float, arms: int) -> float:
    """Return the probability of an arm after mixing with the uniform share."""
    return probability if share == 0.0 else min((1.0 - share) * probability + share / arms, 1.0)


def distribution(policy: Policy, view: Any, mask: Masks | None) -> Floats:
    """Return the distribution over arms for a context's view, mixed with the uniform share."""
    p = np.empty(len(policy.arm_set))
    policy.learner.fill(view, mask, p)
    return mix(p, mask, uniform_share(policy, view))


def uniform_share(policy: Policy, view: Any = None) -> float:
    """Return the share of decisions that is uniform now: the policy's floor, or more if the learner needs more (for this view)."""
    floor, needed = policy.floor, policy.learner.uniform_share if view is None else policy.learner.share_of(view)
    return needed if needed > floor else floor


def mix(p: Floats, masks: Masks | None, share: float) -> Floats:
    """Mix a distribution, or a table of them with a mask for each row, with the uniform share."""
    if share == 0.0:
        return p
    among = np.ones(p.shape) if masks is None else (masks > 0).astype(np.float64)
    return np.asarray((1.0 - share) * p + share * among / among.sum(axis=-1, keepdims=True))
