"""The value of a policy on pages of several slots, from pages that another policy showed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...checks import is_number, listed, loss_bounds
from ...errors import InputError, quoted
from ...policy import Policy, Slate
from ...types import Floats
from ..intervals import Interval
from .betting import Bets

MOST = 10**8  # pages in memory


class PagesValue(NamedTuple):
    """The estimated reward of a policy's pages, in all and by slot."""

    page: Interval
    """The sum of the rewards of a page's slots, with its interval."""
    slots: tuple[Interval, ...]
    """The reward of each slot, each with its interval."""
    effective: tuple[float, ...]
    """The number of pages that the estimate of each slot rests on: (sum of weights)^2 / (sum of their squares)."""


def off_policy_pages(
    policy: Policy,
    pages: Iterable[Slate],
    rewards: Iterable[Sequence[float]],
    *,
    reward_range: tuple[float, float] = (0.0, 1.0),
    confidence: float = 0.95,
) -> PagesValue:
    """Estimate what a policy would earn a page, from pages that were drawn with other probabilities, and their rewards by slot.

    The reward of slot i is weighted by the product, over the slots up to i, of the policy's probability of the arm over its propensity, both
    given the slots before. The estimate of a slot is unbiased if its reward depends on no slot after it (as for a reader from the top to the
    bottom), if the propensities are right and positive where the policy's are, and if the policy did not learn from these pages. It does not
    assume that slots are independent.

    The intervals are those of betting (`docs/off_policy.md`): they hold for any number of pages, also of a policy that learned while it showed
    them. That of the page adds those of the slots, each at a higher confidence, so it is cautious. `reward_range` is that of a slot's reward.

    >>> import hsb
    >>> logger, rewards = hsb.Uniform(arms=["a", "b", "c"], seed=0), []
    >>> pages = [logger.decide(k=2) for _ in range(2000)]
    >>> rewards = [[float(arm == "a") for arm in page.arms] for page in pages]
    >>> value = off_policy_pages(hsb.Uniform(arms=["a", "b"]), pages, rewards)
    >>> round(value.page.mean, 1), value.page.low < 1.0 < value.page.high
    (1.0, True)
    """
    shown, values = _check(policy, pages, rewards)
    low, high = loss_bounds(reward_range, "reward_range")
    if (values < low).any() or (values > high).any():
        raise InputError(
            f"rewards must be in reward_range {(low, high)}; given {float(values.min())} to {float(values.max())}."
        )
    if not is_number(confidence) or not 0.0 < confidence < 1.0:
        raise InputError(f"confidence must lie between 0 and 1, e.g. 0.95; given {quoted(confidence)}.")
    weights = np.array([page_weights(policy, page) for page in shown])
    slots, parts = [], []
    for w, r in zip(weights.T, values.T, strict=True):
        bets = Bets()
        bets.add(w, (r - low) / (high - low))
        mean = float((w * r).mean())
        slots.append(_interval(mean, bets, confidence, low, high))
        parts.append(_interval(mean, bets, 1.0 - (1.0 - confidence) / values.shape[1], low, high))
    page = Interval(*(float(sum(ends)) for ends in zip(*parts, strict=True)))
    squares = (weights**2).sum(axis=0)
    effective = np.divide(weights.sum(axis=0) ** 2, squares, out=np.zeros(len(squares)), where=squares > 0.0)
    return PagesValue(page, tuple(slots), tuple(effective.tolist()))


def page_weights(policy: Policy, page: Slate) -> Floats:
    """Return the weight of each slot of a page: the probability of the slots up to it by the policy, over that by which they were drawn."""
    ratios = np.zeros(len(page))
    active = set(policy.active_arms)
    arms = [arm for arm in (page[0].available or policy.active_arms) if arm in active]
    if len(arms) < len(page):
        raise InputError(
            f"The policy has {len(arms)} of the arms of a page with {len(page)} slots, so it cannot show such a page: {quoted(page)}."
        )
    for slot, decision in enumerate(page):
        if decision.arm not in arms:
            break  # the policy never shows it
        p = policy.probabilities(decision.context, available=arms, slot=slot)
        ratios[slot] = p[policy.arm_set.index[decision.arm]] / decision.propensity
        arms.remove(decision.arm)
    return np.multiply.accumulate(ratios)


def _interval(mean: float, bets: Bets, confidence: float, low: float, high: float) -> Interval:
    """Return an estimate and the interval of its bets, in units of the rewards."""
    below, above = bets.ends(confidence)
    return Interval(mean, low + below * (high - low), low + above * (high - low))


def _check(policy: Policy, pages: Iterable[Slate], rewards: Iterable[Sequence[float]]) -> tuple[list[Slate], Floats]:
    """Return the pages, and their rewards as an array with a column for each slot."""
    if not isinstance(policy, Policy):
        raise InputError(f"off_policy_pages needs a policy; given {quoted(policy)}.")
    shown, rows = listed("pages", pages, MOST), listed("rewards", rewards, MOST)
    if not shown or not all(isinstance(page, Slate) for page in shown) or len({len(page) for page in shown}) > 1:
        raise InputError(
            f"pages must be one or more slates from policy.decide(k=), all with as many slots; given {quoted(shown[:3])}."
        )
    if len(rows) != len(shown):
        raise InputError(f"rewards needs a row for each of the {len(shown)} pages; given {len(rows)}.")
    for t, row in enumerate(rows):
        if len(row) != len(shown[0]) or not all(is_number(value) or isinstance(value, bool) for value in row):
            raise InputError(
                f"rewards[{t}] must have a number for each of the {len(shown[0])} slots; given {quoted(row)}. A slot that was not looked at "
                "earned 0 clicks."
            )
    return shown, np.array(rows, dtype=np.float64)
