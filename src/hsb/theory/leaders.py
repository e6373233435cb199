"""Bounds for policies that follow the best mapping so far: CSB-FTPL and Epoch-Greedy.

With N leaves, M arms and a set Pi of mappings (all of them, or those with at most R regions), losses in [0, 1] and every arm available.

**CSB-FTPL.** Totals are perturbed by noise z/epsilon, z independent Laplace of mean size 1 for each (leaf, arm); the weight J comes from at
most L redraws. Let q(m) be the probability of arm m at the round's leaf, and f(m) the estimated loss: J times the loss if m was played, else 0.
1. Redrawing (Neu and Bartok 2016): E f(m) = l(m) (1 - (1-q(m))^L), never above l(m), and sum q(m) l(m) <= E sum q(m) f(m) + M/(eL).
2. Moving the noise of one (leaf, arm) by f changes its density by at most e^(epsilon f), so one round's loss lowers the played arm's
   probability by at most epsilon f q; E sum q(m) f(m)^2 <= sum (2 - q(m)) <= 2M. Together 2 epsilon M a round.
3. Being the leader one round early costs at most B/epsilon, B = E max over Pi of the sum of z over a mapping's (leaf, arm) pairs.
Regret <= B/epsilon + 2 epsilon M T + M T/(eL), in expectation against each mapping, for losses and contexts that may depend on the past.
If 1/epsilon grows, step 3 holds with the last epsilon (its increments sum up), and the other terms are summed round by round.

**Epoch-Greedy.** After n explored rounds, a mapping's estimated loss is a mean of n nonnegative terms with second moment at most M, so its
lower tail is Gaussian with variance M/n, and the best of Pi is worse than the best mapping by at most sqrt(2 M ln|Pi| / n) in expectation.
"""

import math
from itertools import accumulate

from .. import reproducible_math
from ..checks import whole
from ..errors import BudgetError
from .checks import check_at_least_zero, check_horizon, check_rate

SUMMED, MOST_REGIONS = 10**5, 10**7
EULER = 0.5772156649015329
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def log_mappings(*, leaves: int, arms: int, regions: int | None = None) -> float:
    """ln|Pi|, where Pi is a set of mappings of N = `leaves` leaves to M = `arms` arms.

    `regions`: those with at most `regions` runs of equal arms along the numbered leaves; None: all M^N.

    >>> round(math.exp(log_mappings(leaves=3, arms=2, regions=2)))
    6
    """
    leaves, arms = whole("leaves", leaves, 1), whole("arms", arms, 1)
    if arms == 1 or regions is None or whole("regions", regions, 1) >= leaves:
        return leaves * reproducible_math.ln(arms)
    if regions > MOST_REGIONS:
        raise BudgetError(f"regions may be {MOST_REGIONS:,} at most, or as many as leaves; given {regions:,}.")
    # By the number of regions: one more is a change in one more of the N-1 places, to one of M-1 arms.
    more = (reproducible_math.ln((leaves - r) / r) + reproducible_math.ln(arms - 1) for r in range(1, regions))
    terms = list(accumulate(more, initial=reproducible_math.ln(arms)))
    top = max(terms)
    return top + reproducible_math.ln(math.fsum(reproducible_math.exp(term - top) for term in terms))


def noise_cost(*, leaves: int, arms: int, regions: int | None = None) -> float:
    """B of CSB-FTPL, or a bound on it: the expected largest sum of unit Laplace noise over the leaves, one arm each, of any mapping.

    Arguments as in `log_mappings`. Over all mappings it is exactly N times the expected largest of M Laplace numbers. Over fewer it is at most
    the smaller of that and min over s in (0, 1) of (ln|Pi| - N ln(1 - s^2)) / s, from the moment generating function 1/(1 - s^2).

    >>> round(noise_cost(leaves=1, arms=2), 12), round(noise_cost(leaves=1000, arms=2, regions=1), 1)
    (0.75, 52.7)
    """
    leaves, arms = whole("leaves", leaves, 1), whole("arms", arms, 1)
    if arms <= SUMMED:
        largest = math.fsum((1.0 - 0.5**k) / k for k in range(1, arms + 1)) - 0.5**arms / arms
    else:  # the sums of 1/k and of 0.5^k/k, to the precision of a double
        largest = math.log(arms) + EULER + 0.5 / arms - math.log(2.0)
    free = leaves * largest
    if regions is None or whole("regions", regions, 1) >= leaves or arms == 1:
        return free
    count = log_mappings(leaves=leaves, arms=arms, regions=regions)

    def chernoff(v: float) -> float:
        s = 1.0 / (1.0 + reproducible_math.exp(-v))
        return (count - leaves * reproducible_math.log1p(-s * s)) / s

    low, high = -30.0, 30.0  # v, the log odds of s; one minimum, and any s is a bound
    for _ in range(100):
        a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        low, high = (low, b) if chernoff(a) < chernoff(b) else (a, high)
    return min(free, chernoff((low + high) / 2.0))


def csb_ftpl_bound(cost: float, *, arms: int, horizon: float, noise: float, resamples: int) -> float:
    """A bound on CSB-FTPL's regret: B noise + 2 M T / noise + M T / (e L), with noise = 1/epsilon.

    B is `cost`, from `noise_cost`; M is `arms`, T is `horizon`, L is `resamples`. At the best noise, sqrt(2 M T / B), it is
    2 sqrt(2 B M T) + M T / (e L).

    >>> round(csb_ftpl_bound(0.75, arms=2, horizon=10_000, noise=231.0, resamples=142))
    398
    """
    check_horizon(horizon)
    check_at_least_zero("cost", cost)
    check_rate(noise, name="noise")
    arms, resamples = whole("arms", arms, 1), whole("resamples", resamples, 1)
    return cost * noise + 2.0 * arms * horizon / noise + arms * horizon / (math.e * resamples)


def csb_ftpl_anytime_bound(cost: float, *, arms: int, horizon: float, resamples: int | None = None) -> float:
    """A bound on CSB-FTPL's regret without a horizon: 4 sqrt(B M T) + 2 sqrt(M T) / e.

    With noise sqrt(4 M t / B) and L = ceil(sqrt(M t)) in round t. Where L is fixed, `resamples`, the last term is M T / (e L). B is `cost`,
    from `noise_cost`; M is `arms`, T is `horizon`.

    >>> round(csb_ftpl_anytime_bound(0.75, arms=2, horizon=10_000))
    594
    """
    check_horizon(horizon)
    check_at_least_zero("cost", cost)
    arms = whole("arms", arms, 1)
    resamples = None if resamples is None else whole("resamples", resamples, 1)
    missed = 2.0 * math.sqrt(arms * horizon) if resamples is None else arms * horizon / resamples
    return 4.0 * math.sqrt(cost * arms * horizon) + missed / math.e


def epoch_greedy_bound(count: float, *, arms: int, horizon: float) -> float:
    """A bound on Epoch-Greedy's regret: 2 (9 A T^2 / 4)^(1/3) + 2 with A = 2 M ln|Pi|, and never more than T.

    `count` is ln|Pi|, from `log_mappings`; M is `arms`, T is `horizon`. Rounds must be independent and alike.

    With s_n = floor(sqrt(n/A)) an epoch's regret is at most 1 + s_n sqrt(A/n) <= 2, and n epochs last at least (2/3) n^(3/2) / sqrt(A) rounds.

    >>> round(epoch_greedy_bound(math.log(6), arms=2, horizon=10_000))
    2347
    """
    check_horizon(horizon)
    check_at_least_zero("count", count)
    arms = whole("arms", arms, 1)
    return float(min(horizon, 2.0 * math.cbrt(4.5 * arms * count * float(horizon) * float(horizon)) + 2.0))
