"""The paper's rates and bounds as functions, with its slips put right (`docs/errata.md`), and the exact prior cost of a mapping."""

from __future__ import annotations

from .anytime import anytime_bound, anytime_mixture_bound, anytime_schedule
from .baselines import exp3_bound, exp3_rate, exp4_bound, exp4_rate, s_exp3_bound, s_exp3_rate
from .bounds import (
    constant_rate,
    cuts_cost,
    hierarchy_bound,
    learning_rate,
    mixture_bound,
    mixture_rate,
    prior_bound,
    regret_bound,
    worst_cost,
)
from .cost import prior_cost, tracking_cost
from .examples import example_bound
from .leaders import csb_ftpl_anytime_bound, csb_ftpl_bound, epoch_greedy_bound, log_mappings, noise_cost
from .quantisation import policy_bound, quantisation_gap
from .ranked import ranked_bound

__all__ = ["anytime_bound", "anytime_mixture_bound", "anytime_schedule", "constant_rate", "csb_ftpl_anytime_bound"]
__all__ += ["csb_ftpl_bound", "cuts_cost", "epoch_greedy_bound", "example_bound", "exp3_bound"]
__all__ += ["exp3_rate", "exp4_bound", "exp4_rate", "hierarchy_bound", "learning_rate", "log_mappings", "mixture_bound"]
__all__ += ["mixture_rate", "noise_cost", "policy_bound", "prior_bound", "prior_cost", "quantisation_gap", "ranked_bound"]
__all__ += ["regret_bound", "s_exp3_bound", "s_exp3_rate", "tracking_cost", "worst_cost"]
