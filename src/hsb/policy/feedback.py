"""Counts of decisions and updates by arm, and one warning if feedback evidently depends on the arm.

If feedback does not depend on the arm, the arm of each update is a draw from the probabilities of its decision. Then the e-value of
`hsb.e_values` over the updates, in the order of learning, ever exceeds 1,000 with probability 1/1,000 at most. If feedback does depend on the
arm, an arm with missing feedback seems to lose less than it does, and no bound of this library holds.
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

BATCH = 256  # updates tested together
SURE = math.log(1000.0)


class ArmFeedback:
    """Counts by arm, since a policy was made or loaded: its own decisions, and the updates of those decisions.

    >>> import hsb
    >>> policy = hsb.Exp3(arms=["a", "b"], seed=0)
    >>> decision = policy.decide(None)
    >>> policy.learn(decision, loss=1.0)
    >>> feedback = policy.ledger.feedback
    >>> feedback.decisions[decision.arm], feedback.updates[decision.arm]
    (1, 1)
    """

    __slots__ = ("_evidence", "_new", "_updates", "decisions", "warned")

    def __init__(self) -> None:
        self.decisions: Counter[Hashable] = Counter()
        self._updates: Counter[Hashable] = Counter()  # those that were looked at
        self.warned = False
        self._evidence: FeedbackEvidence | None = None
        self._new: list[
            tuple[int, float, Masks | None, Hashable]
        ] = []  # arm, probability, mask, the arm's name: not tested yet

    @property
    def updates(self) -> Counter[Hashable]:
        """Updates by arm."""
        return self._updates + Counter(name for *_, name in self._new)

    def copy(self) -> ArmFeedback:
        """Return an independent copy. It counts the same arms, which may be objects that cannot be copied."""
        other = ArmFeedback()
        other.decisions, other._updates, other._new = self.decisions.copy(), self._updates.copy(), self._new.copy()
        other.warned, other._evidence = self.warned, copy.deepcopy(self._evidence)
        return other

    def add(self, decision: Decision, mask: Masks | None, arm: int, own: bool, arms: list[Hashable]) -> None:
        """Count an update of one of the policy's own decisions, made with the arms of `mask`; ignore other decisions."""
        if not own:
            return
        self._new.append((arm, decision.propensity, mask, arms[arm]))
        if len(self._new) >= BATCH:
            self._test(arms)

    def _test(self, arms: list[Hashable]) -> None:
        if self._evidence is None:
            self._evidence = FeedbackEvidence(len(arms))
        new, self._new = self._new, []
        indices, probabilities, masks, names = zip(*new, strict=True)
        self._updates.update(names)
        self._evidence.widen(len(arms))
        available = None
        if {*map(type, masks)} != {type(None)}:
            available = np.zeros((len(indices), len(arms)), dtype=bool)
            for row, mask in zip(available, masks, strict=True):
                row[: len(arms) if mask is None else len(mask)] = True if mask is None else mask
        came = np.ones(len(indices), dtype=bool)
        self._evidence.add(np.array(indices), np.minimum(np.array(probabilities), 1.0), came, available)
        if not self.warned and self._evidence.exceeds(SURE):
            self.warned = True
            warnings.warn(self._message(arms), RuntimeWarning, stacklevel=4)

    def _message(self, arms: list[Hashable]) -> str:
        updates = self.updates
        shares = [
            f"{updates[arm] / self.decisions[arm]:.0%} of {arm!r}" for arm in arms if 0 < updates[arm] <= self.decisions[arm]
        ]
        came = f" So far, feedback came for {', '.join(shares[:8])}." if len(shares) > 1 else ""
        return (
            f"Feedback depends on the arm (e-value above 1,000): for some arms it comes more often, or sooner, than for others.{came} "
            "Arms with missing feedback seem to lose less than they do, and no bound holds. See policy.ledger.feedback and "
            "docs/recipes/late-rewards.md, 'Feedback that is missing by arm'."
        )
