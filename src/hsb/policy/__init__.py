"""The part that all policies share, whatever the algorithm: decide, learn, arms, loss ranges, the ledger, copies, the lock."""

from .certificate import Certificate
from .decision import Decision
from .decisions import Decisions
from .policy import Policy
from .slate import Slate

__all__ = ["Certificate", "Decision", "Decisions", "Policy", "Slate"]
