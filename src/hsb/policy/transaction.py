"""Transactions: after an interrupt, a round or a change of several attributes is complete or undone.

A signal (Ctrl-C, a timeout) may raise between any two steps of the interpreter, but never inside a compiled call or an assignment. So a
change is first recorded in `policy.pending`, and then carried out:

- `Rounds`: rounds are about to be learned. The learner learns them in one compiled call, which also counts them in `learner.rounds`; or it
  returns a successor, which replaces it by one assignment. `finish` does what follows. After an interrupt, `learner.rounds` shows whether the
  rounds were learned. If not, `Learner.undo` takes back what was prepared for them, e.g. a column for a new category.
- `Replace`: attributes are about to be replaced, e.g. the arms and the learner together.

`finish` and `redo` can run again from the start with the same result. Every public method of a policy first calls `settle`, which finishes
what an interrupt cut short.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..types import Masks
from .decision import Decision
from .learner import Also
from .loss_range import LossScale

if TYPE_CHECKING:
    from .policy import Policy

_tuple = tuple.__new__  # makes a NamedTuple in half the time


class Pending(Protocol):
    """A change that has begun."""

    def redo(self, policy: Policy) -> None:
        """Complete the change, or undo it if it had no effect yet."""


class Rounds(NamedTuple):
    """Rounds that a learner is learning."""

    begun: int
    """Rounds learned before."""
    view: Any
    """The learner's view of the contexts, for `Learner.settle`."""
    decision: Decision | None = None
    own: bool = False
    """Whether the policy made the decision itself."""
    scale: LossScale | None = None
    """The range of losses after the round, if it changes."""

    def finish(self, policy: Policy, rounds: int) -> None:
        """Do what follows once the learner has learned the rounds: `rounds` is the new total."""
        _, view, decision, own, scale = self
        successor = policy.learner.settle(view, rounds)
        if successor is not None:
            policy.learner = successor
        if scale is not None:
            policy.loss_scale = scale
        if decision is not None:
            policy.ledger.close(decision, rounds, own=own)
        policy.rounds = rounds

    def redo(self, policy: Policy) -> None:
        """Finish if the rounds were learned, else undo what was prepared."""
        rounds = policy.learner.rounds
        if rounds == self.begun:
            policy.learner.undo(self.view)
        else:
            decision = self.decision
            if decision is not None and policy.ledger.has_closed(decision, rounds):
                decision = None
            self._replace(decision=decision).finish(policy, rounds)


class Replace(NamedTuple):
    """Attributes to replace, all of them or none."""

    values: Mapping[str, Any]

    def redo(self, policy: Policy) -> None:
        """Set all attributes."""
        for name, value in self.values.items():
            setattr(policy, name, value)


def settle(policy: Policy) -> None:
    """Finish or undo a change that an interrupt cut short."""
    if policy.pending is not None:
        policy.pending.redo(policy)
        policy.pending = None


def replace(policy: Policy, **values: Any) -> None:
    """Replace attributes of a policy, all or none, even if interrupted."""
    policy.pending = Replace(values)
    settle(policy)


def learn_round(
    policy: Policy,
    decision: Decision,
    mask: Masks | None,
    arm: int,
    own: bool,
    value: float,
    is_reward: bool,
    also: Also | None = None,
) -> None:
    """Learn a checked decision and its checked feedback, wholly or not at all: after an interrupt `settle` finishes or undoes it.

    `mask` has the arms that were available (None: all), `arm` is the index of the arm played. The decision's memo counts only if this
    policy made it (`own`). `value` is the loss, or with `is_reward` the reward, before scaling to [0, 1]. `also` has the losses of other arms.
    """
    learner, scale = policy.learner, policy.loss_scale
    memo = decision.memo if own else learner.logged_memo(decision.memo)
    view, clipped = learner.recall(decision.context, memo)
    if clipped and not own:
        policy.clipped += clipped
    loss, new_scale = (value, None) if scale.direct and not is_reward else scale.scale(value, is_reward)
    try:
        policy.pending = pending = _tuple(Rounds, (policy.rounds, view, decision, own, new_scale))
        learn: Any = learner.learn
        if also is not None:
            learn = partial(learn, also=also)
        successor = learn(view, mask, arm, loss, float(decision.propensity), memo)
        if successor is not None:
            policy.learner = successor
        pending.finish(policy, policy.rounds + 1)
        policy.pending = None
    except BaseException:
        settle(policy)
        raise


def learn_rounds(policy: Policy, checked: list[tuple[Any, ...]]) -> None:
    """Learn checked decisions in order, each wholly or not at all."""
    for decision, mask, arm, own, *feedback in checked:
        learn_round(policy, decision, mask, arm, own, *feedback)
        if policy.learner.counts_feedback:
            policy.ledger.feedback.add(decision, mask, arm, own, policy.arm_set.arms)
