"""The shell that every policy has, whatever its algorithm: decide, learn, arms, ranges, the ledger, copies, the lock."""

from .certificate import Certificate
from .decision import Decision
from .decisions import Decisions
from .policy import Policy

__all__ = ["Certificate", "Decision", "Decisions", "Policy"]
