"""Uniform exploration: a share of the decisions is uniform over the available arms, and propensities include it exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, quoted
from ..types import Floats, Masks
from .learner import Choice

if TYPE_CHECKING:
    from .policy import Policy

CLOSE = 1e-9  # tolerance of a sum of probabilities
BELOW_ONE = float(np.nextafter(1.0, 0.0))


def draw(policy: Policy, view: Any, mask: Masks | None, u: float) -> Choice:
    """Return the arm that `u` selects, from the learner's distribution mixed with the uniform share."""
    learner, share = policy.learner, uniform_share(policy, view)
    if share == 0.0:
        return learner.choose(view, mask, u)
    arms = count(policy, view)
    among = np.arange(arms) if mask is None else np.flatnonzero(mask)
    if u < share:
        p = np.empty(arms)
        learner.fill(view, mask, p)
        arm = int(among[min(int(u / share * len(among)), len(among) - 1)])
        probability, advice = float(p[arm]), learner.advice(arm)
    else:
        arm, probability, advice = learner.choose(view, mask, rest_of(u, share))
    return arm, add_share(probability, share, len(among)), advice


def count(policy: Policy, view: Any) -> int:
    """Return the number of arms of a context's view."""
    own = policy.learner.count(view)
    return len(policy.arm_set) if own is None else own


def rest_of(u: float, share: float) -> float:
    """Return the number in [0, 1) that draws from the learner's distribution; 0 if `u` draws uniformly."""
    return 0.0 if u < share else min((u - share) / (1.0 - share), BELOW_ONE)


def add_share(probability: float, share: float, arms: int) -> float:
    """Return the probability of an arm after mixing with the uniform share."""
    return probability if share == 0.0 else min((1.0 - share) * probability + share / arms, 1.0)


def distribution(policy: Policy, view: Any, mask: Masks | None) -> Floats:
    """Return the distribution over arms for a context's view, mixed with the uniform share."""
    p = np.empty(count(policy, view))
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


def draw_from(q: Floats, u: float, arms: int) -> tuple[int, float]:
    """Return the arm that `u` draws from a distribution, and its probability. Sums begin at the first arm, on every machine."""
    q = np.asarray(q, dtype=np.float64)
    if q.shape != (arms,) or not (q >= 0.0).all():
        raise InputError(f"mixed must return a probability for each of the {arms} arms; it returned {quoted(q)}.")
    sums = np.cumsum(q)
    if not abs(sums[-1] - 1.0) <= CLOSE:
        raise InputError(f"mixed must return probabilities that add to 1; they add to {float(sums[-1])!r}.")
    index = int(np.searchsorted(sums, u, side="right"))
    if index >= arms or q[index] <= 0.0:
        index = int(np.flatnonzero(q)[-1])
    return index, min(float(q[index]), 1.0)
