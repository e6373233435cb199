"""Rates and bounds of EXP3, S-EXP3 and EXP4, to compare with: Theorem 1 with equal prior weights."""

import math

from .. import reproducible_math
from ..checks import whole
from .bounds import mixture_rate
from .checks import check_horizon


def exp3_rate(*, arms: int, horizon: float) -> float:
    """EXP3's rate for M = `arms` arms and T = `horizon` rounds, sqrt(2 ln M / (M T)).

    >>> round(exp3_rate(arms=3, horizon=100_000), 5)
    0.00271
    """
    return s_exp3_rate(arms=arms, horizon=horizon, leaves=1)


def exp3_bound(*, arms: int, horizon: float) -> float:
    """A bound on EXP3's regret against the best single arm, sqrt(2 M T ln M). Arguments as in `exp3_rate`.

    >>> round(exp3_bound(arms=3, horizon=100_000))
    812
    """
    return s_exp3_bound(arms=arms, horizon=horizon, leaves=1)


def s_exp3_rate(*, arms: int, horizon: float, leaves: int) -> float:
    """S-EXP3's rate for N = `leaves` leaves, M = `arms` arms and T = `horizon` rounds, sqrt(2 N ln M / (M T)).

    It has a separate EXP3 on each leaf: M^N mappings of equal weight, so ln(1/beta) = N ln M.

    >>> round(s_exp3_rate(arms=3, horizon=100_000, leaves=1024), 5)
    0.0866
    """
    return mixture_rate(_uniform(arms, leaves), arms=arms, horizon=horizon)


def s_exp3_bound(*, arms: int, horizon: float, leaves: int) -> float:
    """A bound on S-EXP3's regret against the best mapping of N leaves, sqrt(2 N M T ln M). Arguments as in `s_exp3_rate`.

    >>> round(s_exp3_bound(arms=3, horizon=100_000, leaves=1024))
    25981
    """
    check_horizon(horizon)
    return math.sqrt(2.0 * _uniform(arms, leaves) * arms * horizon)


def exp4_rate(*, arms: int, horizon: float, experts: int) -> float:
    """EXP4's rate for K = `experts` experts of equal weight, M = `arms` arms and T = `horizon` rounds, sqrt(2 ln K / (M T)).

    >>> round(exp4_rate(arms=3, horizon=100_000, experts=50), 5)
    0.00511
    """
    return mixture_rate(reproducible_math.ln(whole("experts", experts, 1)), arms=arms, horizon=horizon)


def exp4_bound(*, arms: int, horizon: float, experts: int) -> float:
    """A bound on EXP4's regret against the best of K experts, sqrt(2 M T ln K); S-EXP3's if they are all M^N mappings.

    Arguments as in `exp4_rate`.

    >>> exp4_bound(arms=3, horizon=1000, experts=3**4) == s_exp3_bound(arms=3, horizon=1000, leaves=4)
    True
    """
    check_horizon(horizon)
    return math.sqrt(2.0 * reproducible_math.ln(whole("experts", experts, 1)) * whole("arms", arms, 1) * horizon)


def _uniform(arms: int, leaves: int) -> float:
    return whole("leaves", leaves, 1) * reproducible_math.ln(whole("arms", arms, 1))
