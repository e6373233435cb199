"""All policies: HSB, the algorithms that the paper compares it with or builds on, and baselines."""

from .best_fixed import BestFixed
from .csb_ftpl import CsbFtpl
from .epoch_greedy import EpochGreedy
from .exp3 import Exp3
from .exp4 import Exp4
from .hsb import HSB
from .lin_ucb import LinUCB
from .mixture_of_mappings import MixtureOfMappings
from .s_exp3 import SExp3
from .tree_thompson import TreeThompson
from .uniform import Uniform

__all__ = [
    "HSB",
    "BestFixed",
    "CsbFtpl",
    "EpochGreedy",
    "Exp3",
    "Exp4",
    "LinUCB",
    "MixtureOfMappings",
    "SExp3",
    "TreeThompson",
    "Uniform",
]
