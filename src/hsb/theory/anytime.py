"""The default of HSB: no horizon, no rate. Epochs that grow fourfold, each with its own constant rate (`docs/proofs.md`)."""

import math

from ..arguments import whole
from ..structures import Structure
from .bounds import mixture_rate, prior_bound
from .checks import check_at_least_zero, check_horizon, counted

FIRST = 1024  # rounds of the first epoch; after each, four times as many have been played
SPLITS = 2.0  # the rate of an epoch is the best one against a mapping of prior cost 2 ln(2M)
MIXTURE = 0.002  # prior weight of the mixture beside its advisor: kernels are given it, the guarantee pays ln 500 / rate for it
SHARING_COST = 2.02  # 2 n ln(1/(1 - 1/n)), which is at most 2.001 for epochs of n >= 1024 rounds


def epoch(rounds: int) -> tuple[int, int]:
    """First round and length of the epoch in which a policy is after so many rounds: 0..1023, 1024..4095, 4096..16383, ...

    >>> epoch(0), epoch(1023), epoch(1024), epoch(10_000)
    ((0, 1024), (0, 1024), (1024, 3072), (4096, 12288))
    """
    if rounds < FIRST:
        return 0, FIRST
    start = 1 << (int(rounds).bit_length() - 1) // 2 * 2  # a power of four
    return start, 3 * start


def epoch_rate(length: int, *, arms: int) -> float:
    """The rate of an epoch.

    >>> round(epoch_rate(1024, arms=3), 4)
    0.0483
    """
    arms = whole("arms", arms, 1)
    return mixture_rate(SPLITS * math.log(2.0 * arms), arms=arms, horizon=length)


def epoch_rates(rounds: float, *, arms: int) -> list[float]:
    """The rates of all epochs that have begun after so many rounds.

    >>> len(epoch_rates(1024, arms=3)), len(epoch_rates(100_000, arms=3))
    (1, 5)
    """
    found, done = [], 0
    while done < rounds:
        _, length = epoch(done)
        found.append(epoch_rate(length, arms=arms))
        done += length
    return found


def advisor_cost(epochs: int = 1) -> float:
    """What an advisor beside a mixture adds to ln(1/beta): its prior weight, and sharing 1/n of the weights in n rounds at two places.

    In the default each epoch starts at the prior and pays this once. With a constant rate nothing starts anew: the prior weight is paid
    once, and sharing in each of the `epochs`.

    >>> round(advisor_cost(), 2), round(advisor_cost(epochs=5), 2)
    (8.23, 16.31)
    """
    return -math.log(MIXTURE) + SHARING_COST * epochs


def anytime_bound(structure: Structure, *, arms: int, horizon: float, regions: int | None = None) -> float:
    """The regret of the default HSB after `horizon` rounds, which it does not know, whatever the contexts and losses.

    Theorem 1 in each epoch, summed: see `anytime_mixture_bound`, with Theorem 2's bound on ln(1/beta).

    >>> from hsb import BinaryTree
    >>> round(anytime_bound(BinaryTree(depth=10), arms=3, horizon=100_000))
    47790
    """
    arms, regions = counted(arms, regions)
    return anytime_mixture_bound(prior_bound(structure, arms=arms, regions=regions), arms=arms, horizon=horizon)


def anytime_mixture_bound(prior_cost: float, *, arms: int, horizon: float) -> float:
    """The same against a mapping of prior weight beta, `prior_cost` = ln(1/beta): the sum over epochs of C/rate + M n rate/2.

    n counts the rounds of the epoch up to the horizon, and C = ln(1/beta) + ln 500 + 2.02: the mixture's prior weight is 0.002, and sharing
    1/n of the weights costs at most 1.01 at each of two places. From 1024 rounds on it is at most
    sqrt(6 M T) (C/sqrt(B) + sqrt(B)/2), B = 2 ln(2M).

    >>> round(anytime_mixture_bound(20.7, arms=3, horizon=100_000))
    17317
    """
    check_at_least_zero("prior_cost", prior_cost)
    check_horizon(horizon)
    cost = prior_cost + advisor_cost()
    total, done = 0.0, 0
    while done < horizon:
        _, length = epoch(done)
        rate = epoch_rate(length, arms=arms)
        total += cost / rate + arms * min(length, horizon - done) * rate / 2.0
        done += length
    return total
