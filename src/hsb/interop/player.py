"""The policy that plays for an adapter: its own, and the same from the start every time."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ..checks import is_hashable
from ..errors import InputError, quoted
from ..policy import Policy
from ..policy.decision import Decision

Maker = Callable[[list[Hashable]], Policy]
Read = Callable[[Policy, Any], Any]


class Player:
    """A copy of a policy, its random numbers included; or one that a function makes when the first arms are known.

    What was given is kept unchanged in `source`.

    >>> import hsb
    >>> player = Player(lambda arms: hsb.Uniform(arms=arms, seed=0))
    >>> player.decide(None, ["a", "b"]).propensity, player.decide(None, ["b", "c"]).propensity
    (0.5, 0.5)
    >>> player.policy.arms
    ['a', 'b', 'c']
    """

    def __init__(self, policy: Policy | Maker) -> None:
        self._current: Policy | None = None
        if isinstance(policy, Policy):
            self.source: Policy | Maker = policy.copy()
            self._current = policy.copy()
        elif callable(policy):
            self.source = policy
        else:
            needed = "a policy, e.g. hsb.HSB(hsb.BinaryTree(depth=10), arms=3), or a function that makes one of the arms"
            raise InputError(f"An adapter needs {needed}; given {quoted(policy)}.")

    @property
    def policy(self) -> Policy:
        """The policy in its present state."""
        if self._current is None:
            why = "the function given makes the policy when a round first offers some"
            raise InputError(f"The arms are not known yet: {why}. Give a policy with all its arms instead.")
        return self._current

    def meet(self, arms: Sequence[Hashable], context: object, read: Read | None = None) -> Policy:
        """The policy, which knows these arms from now on. If they or the context cannot be used, nothing changes.

        `read`, a function of the policy and the context, returns what the policy takes as its context; None takes it as it is.
        """
        if strange := [arm for arm in arms if not is_hashable(arm)]:
            raise InputError(f"An arm must be hashable: a name, a number, a tuple; given {quoted(strange[0])}.")
        policy = self._current or self._make_policy(list(dict.fromkeys(arms)))
        context = context if read is None else read(policy, context)
        fixed = not policy.learner.takes_requests  # else the arms are in the context
        new = [arm for arm in dict.fromkeys(arms) if fixed and arm not in policy.arm_set.index]
        if new or self._current is None:
            trial = policy.copy()
            for arm in new:
                trial.add_arm(arm)
            trial.probabilities(context)
            for arm in new:
                policy.add_arm(arm)
            self._current = policy
        return policy

    def decide(self, context: object, arms: Sequence[Hashable], read: Read | None = None) -> Decision:
        """A decision among some arms, those not seen before added first; `read` is as in `meet`."""
        policy = self.meet(arms, context, read)
        taken = context if read is None else read(policy, context)
        return policy.decide(taken, available=None if policy.learner.takes_requests else arms)

    def _make_policy(self, arms: list[Hashable]) -> Policy:
        policy: object = self.source(arms) if callable(self.source) else self.source
        if not isinstance(policy, Policy):
            example = "lambda arms: hsb.Exp3(arms=arms)"
            raise InputError(
                f"The function given to the adapter must return a policy, e.g. {example}; it returned {quoted(policy)}."
            )
        return policy


def copied(policy: Policy, *, adapter: str) -> Policy:
    """A copy of the policy that an adapter is given.

    >>> import hsb
    >>> copied(hsb.Uniform(arms=2), adapter="This")
    Uniform(arms=[0, 1], rounds=0)
    """
    if not isinstance(policy, Policy):
        raise InputError(f"{adapter} needs a policy, e.g. hsb.HSB(hsb.BinaryTree(depth=10), arms=3); given {quoted(policy)}.")
    return policy.copy()
