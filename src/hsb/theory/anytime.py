"""The default of HSB: no horizon, no rate. A rate that falls, and an advisor beside the mixture (`docs/proofs.md`, `docs/tuning.md`)."""

from typing import Literal

from ..checks import is_number, whole
from ..errors import InputError, quoted
from ..structures import Structure
from . import confident
from .bounds import worst_cost
from .checks import check_at_least_zero, check_counts, check_horizon, check_rate
from .confident import Confident
from .schedule import Falling, Schedule

FIRST = 2048  # rounds of the first phase; each later one is as long as all before it
BUDGET = 9.0  # the rate in round t is about sqrt(BUDGET / (M t))
MIXTURE = (
    0.01  # prior weight of the mixture beside its advisor: kernels are given it, the guarantee pays ln 100 / rate for it, once
)
SHARED = 1.0  # in a phase of n rounds, nodes give SHARED / n of their weights back to the prior in each round with a loss
HEAD_SHARED = 3.0  # and the head this much


def anytime_schedule(*, arms: int, rate: float | Literal["confident"] | None = None, mixture: float = MIXTURE) -> Schedule:
    """The rates of HSB's default, and the shares of weight that go back to the prior, for `arms` arms: the same within a phase of rounds.

    `phase(n)` of the result has their values after n rounds, and `until` the round up to which they hold.

    - `rate`: a constant rate; None falls as in the default; "confident" falls when too much was lost (`theory/confident.py`).
    - `mixture`: the prior weight, between 0 and 1, of the mixture of all mappings; the rest is that of its advisor.

    >>> schedule = anytime_schedule(arms=3)
    >>> schedule.phase(0).until, schedule.phase(100_000).until
    (2048, 131072)
    """
    if not is_number(mixture) or not 0.0 < mixture < 1.0:
        raise InputError(f"mixture must lie between 0 and 1, the share of the mixture; given {quoted(mixture)}.")
    if isinstance(rate, str) and rate != "confident":
        raise InputError(f"rate must be a positive number, None or 'confident'; given {quoted(rate)}.")
    head, arms = (mixture, 1.0 - mixture), whole("arms", arms, 1)
    if isinstance(rate, str):
        return Confident(
            Falling(BUDGET, arms=arms, first=FIRST, shared=confident.SHARED, head_shared=confident.HEAD_SHARED, head=head)
        )
    if rate is not None:
        check_rate(rate, name="rate")
    return Falling(BUDGET, arms=arms, first=FIRST, shared=SHARED, head_shared=HEAD_SHARED, head=head, rate=rate)


def anytime_bound(structure: Structure, *, arms: int, horizon: float, regions: int | None = None) -> float:
    """A bound on the regret of the default HSB after `horizon` rounds, which it does not know, whatever the contexts and losses.

    That is `anytime_mixture_bound` of `worst_cost`: against mappings of `regions` regions; None is as many as `arms`.

    >>> from hsb import BinaryTree
    >>> round(anytime_bound(BinaryTree(depth=10), arms=3, horizon=100_000))
    11826
    """
    arms, regions = check_counts(arms, regions)
    return anytime_mixture_bound(worst_cost(structure, arms=arms, regions=regions), arms=arms, horizon=horizon)


def anytime_mixture_bound(prior_cost: float, *, arms: int, horizon: float) -> float:
    """A bound on the regret of the default HSB against a mapping of prior weight beta, `prior_cost` = ln(1/beta), after `horizon` rounds.

    `arms` is how many arms there are. It is at most the horizon: no policy can lose more.

    >>> round(anytime_mixture_bound(20.7, arms=3, horizon=100_000))
    7694
    """
    check_at_least_zero("prior_cost", prior_cost)
    check_horizon(horizon)
    return anytime_schedule(arms=arms).bound(prior_cost, arms=arms, horizon=horizon)
