"""What an interrupt must not split: the one place that makes a round, or a change of several attributes, whole or undone.

A signal (Ctrl-C, a timeout) may raise between any two steps of the interpreter, but never inside a compiled call and never inside one
assignment. So a change is written down first, in `policy.pending`, and then carried out:

- `Rounds`: rounds are about to be learned. A learner learns them in one compiled call that counts them too (`learner.seen`), or returns a
  successor that replaces it by one assignment. `finish` does what follows. After an interrupt, `seen` says whether rounds were learned; if
  they were not, `Learner.undo` takes back what was made ready for them, e.g. a place for a new category.
- `Replace`: attributes are about to be replaced, e.g. the arms and the learner together.

`finish` and `redo` may be done again from their beginning: each step sets what it sets. Every public method of a policy first calls
`settle`, which finishes what an interrupt cut short.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .decision import Decision
from .loss_range import LossScale

if TYPE_CHECKING:
    from .policy import Policy


class Pending(Protocol):
    """A change that was begun."""

    def redo(self, policy: Policy) -> None:
        """Carry it out to the end, or find that it never began."""


class Rounds(NamedTuple):
    """Rounds that a learner is learning."""

    begun: int
    """Rounds learned before."""
    seen: Any
    """What the learner saw of the contexts; `Learner.settle` takes it."""
    decision: Decision | None = None
    own: bool = False
    """Did the policy make the decision itself?"""
    scale: LossScale | None = None
    """The range of losses after the round, if it changes."""

    def finish(self, policy: Policy, rounds: int) -> None:
        """Do what follows from having learned: `rounds` were learned in all."""
        _, seen, decision, own, scale = self
        successor = policy.learner.settle(seen, rounds)
        if successor is not None:
            policy.learner = successor
        if scale is not None:
            policy.loss_scale = scale
        if decision is not None:
            policy.ledger.close(decision, rounds, own=own)
        policy.rounds = rounds

    def redo(self, policy: Policy) -> None:
        """After an interrupt: finish if the rounds were learned, else undo what was begun."""
        rounds = policy.learner.seen
        if rounds == self.begun:
            policy.learner.undo(self.seen)
        else:
            decision = self.decision
            if decision is not None and policy.ledger.closed(decision, rounds):
                decision = None
            self._replace(decision=decision).finish(policy, rounds)


class Replace(NamedTuple):
    """Attributes to replace, all of them or none."""

    values: Mapping[str, Any]

    def redo(self, policy: Policy) -> None:
        """Set them."""
        for name, value in self.values.items():
            setattr(policy, name, value)


def settle(policy: Policy) -> None:
    """Finish what an interrupt cut short."""
    if policy.pending is not None:
        policy.pending.redo(policy)
        policy.pending = None


def replace(policy: Policy, **values: Any) -> None:
    """Replace attributes of a policy, all of them or none."""
    policy.pending = Replace(values)
    settle(policy)
