"""The paper's rates and bounds as functions, with its slips put right (`docs/errata.md`), and the exact prior cost of a mapping."""

from __future__ import annotations

from .anytime import advisor_cost, anytime_bound, anytime_mixture_bound, epoch, epoch_rate, epoch_rates
from .baselines import exp3_bound, exp3_rate, exp4_bound, exp4_rate, s_exp3_bound, s_exp3_rate
from .bounds import hierarchy_bound, learning_rate, mixture_bound, mixture_rate, prior_bound, regret_bound
from .cost import prior_cost
from .examples import example_bound
from .quantisation import policy_bound, quantisation_gap
from .rate import constant_rate

__all__ = [
    "advisor_cost",
    "anytime_bound",
    "anytime_mixture_bound",
    "constant_rate",
    "epoch",
    "epoch_rate",
    "epoch_rates",
    "example_bound",
    "exp3_bound",
    "exp3_rate",
    "exp4_bound",
    "exp4_rate",
    "hierarchy_bound",
    "learning_rate",
    "mixture_bound",
    "mixture_rate",
    "policy_bound",
    "prior_bound",
    "prior_cost",
    "quantisation_gap",
    "regret_bound",
    "s_exp3_bound",
    "s_exp3_rate",
]
