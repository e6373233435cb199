"""Every policy: HSB, the algorithms that the paper compares it with or builds on, and comparators that know the answer."""

from .exp3 import Exp3
from .hsb import HSB
from .s_exp3 import SExp3
from .uniform import Uniform

__all__ = ["HSB", "Exp3", "SExp3", "Uniform"]
