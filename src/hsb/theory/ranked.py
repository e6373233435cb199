"""A lower bound on the reward of pages that a learner for each slot decides (`docs/proofs.md`, 10)."""

from __future__ import annotations

from collections.abc import Iterable

from ..checks import MOST_ARMS, listed
from ..errors import InputError
from .checks import check_at_least_zero


def ranked_bound(best: float, regrets: Iterable[float]) -> float:
    """Return a lower bound on the expected total reward of pages that k learners decide, one for each slot.

    It is (1 - (1 - 1/k)^k) best - sum over i of (1 - 1/k)^(k-i) regrets[i], at least 0. It holds if the reward of a page is a monotone,
    submodular function of its set of arms, in [0, 1], and each slot learns, before the next page, what it added to the slots before it.

    - `best`: the total reward of the pages {g_1(context), ..., g_k(context)}, for k mappings chosen beforehand. Each page earns at most 1.
    - `regrets`: a bound on the regret of each slot's learner against every one of these mappings, e.g. `policy.regret_bound(pages, slot=i)`.

    >>> import hsb
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=3, slots=2, horizon=100_000)
    >>> round(ranked_bound(100_000, [policy.regret_bound(slot=slot) for slot in range(2)]))
    70830
    """
    check_at_least_zero("best", best)
    parts = listed("regrets", regrets, MOST_ARMS)
    if not parts:
        raise InputError("regrets must have a bound for each slot of a page, at least one; given none.")
    for part in parts:
        check_at_least_zero("a regret", part)
    left = 1.0 - 1.0 / len(parts)
    missing = float(best)  # at least what the slots so far lack of the best page, in expectation
    for regret in parts:
        missing = left * missing + regret
    return max(best - missing, 0.0)
