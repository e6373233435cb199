"""Decisions and updates by arm, and a warning, once, if the arm evidently has a say in whether or when feedback comes.

Each update of a decision made with probability p of its arm is a draw from p, if the arm has no say: the e-value of `hsb.e_values` over the
updates, in the order in which they are learned, exceeds 1,000 ever with probability 1/1,000 at most. Where the arm has a say, an arm whose
feedback is missing looks as if it lost less than it does, and no bound of this library holds.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections import Counter
from collections.abc import Hashable

import numpy as np

from ..e_values import FeedbackEvidence
from ..types import Masks
from .decision import Decision

TOGETHER = 256  # updates that are looked at together
SURE = math.log(1000.0)


class ArmFeedback:
    """How many decisions were made and how many updates of such decisions were learned, by arm, since a policy was made or loaded.

    >>> import hsb
    >>> policy = hsb.Exp3(arms=["a", "b"], seed=0)
    >>> decision = policy.decide(None)
    >>> policy.learn(decision, loss=1.0)
    >>> feedback = policy.ledger.feedback
    >>> feedback.decisions[decision.arm], feedback.updates[decision.arm]
    (1, 1)
    """

    __slots__ = ("_evidence", "_new", "decisions", "updates", "warned")

    def __init__(self) -> None:
        self.decisions: Counter[Hashable] = Counter()
        self.updates: Counter[Hashable] = Counter()
        self.warned = False
        self._evidence: FeedbackEvidence | None = None
        self._new: list[tuple[int, float, Masks | None]] = []  # arm, probability, arms available: not looked at yet

    def copy(self) -> ArmFeedback:
        """An independent one."""
        return copy.deepcopy(self)

    def learned(self, decision: Decision, mask: Masks | None, arm: int, own: bool, arms: list[Hashable]) -> None:
        """Take in an update of the policy's own decision, of an arm among those of the mask; others are left out."""
        if not own:
            return
        self.updates[arms[arm]] += 1
        self._new.append((arm, decision.propensity, mask))
        if len(self._new) >= TOGETHER:
            self._look(arms)

    def _look(self, arms: list[Hashable]) -> None:
        if self._evidence is None:
            self._evidence = FeedbackEvidence(len(arms))
        places, probabilities, masks = zip(*self._new, strict=True)
        self._new.clear()
        self._evidence.widen(len(arms))
        available = None
        if {*map(type, masks)} != {type(None)}:
            available = np.zeros((len(places), len(arms)), dtype=bool)
            for row, mask in zip(available, masks, strict=True):
                row[: len(arms) if mask is None else len(mask)] = True if mask is None else mask
        came = np.ones(len(places), dtype=bool)
        self._evidence.add(np.array(places), np.minimum(np.array(probabilities), 1.0), came, available)
        if not self.warned and self._evidence.exceeds(SURE):
            self.warned = True
            warnings.warn(self._message(arms), RuntimeWarning, stacklevel=4)

    def _message(self, arms: list[Hashable]) -> str:
        shares = [
            f"{self.updates[arm] / self.decisions[arm]:.0%} of {arm!r}"
            for arm in arms
            if 0 < self.updates[arm] <= self.decisions[arm]
        ]
        came = f" So far feedback came for {', '.join(shares[:8])}." if len(shares) > 1 else ""
        return (
            f"Feedback depends on the arm (e-value above 1,000): for some arms it comes more often, or sooner, than for others.{came} "
            "Arms whose feedback is missing seem to lose less than they do, and no bound holds. See policy.ledger.feedback and "
            "docs/recipes/late-rewards.md, 'Feedback that is missing by arm'."
        )
