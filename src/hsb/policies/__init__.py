"""Every policy: HSB, the algorithms that the paper compares it with or builds on, and comparators that know the answer."""

from __future__ import annotations

from ..policy import Policy
from .certificate import Certificate
from .exp3 import Exp3
from .hsb import HSB
from .s_exp3 import SExp3
from .uniform import Uniform

__all__ = ["HSB", "Certificate", "Exp3", "Policy", "SExp3", "Uniform"]
