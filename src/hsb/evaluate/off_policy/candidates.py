"""What can be judged on a log: a policy as it is, one arm always, uniform play, or a policy that learns on the way."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import is_label
from ...errors import InputError, quoted
from ...logs import Batch
from ...play.named import own_contexts
from ...policies import Uniform
from ...policy import Policy
from ...types import Flags, Floats
from .distributions import distributions

Range = tuple[float, float]
Contexts = Callable[[Floats], Any] | None


@dataclass(frozen=True)
class Learning:
    """A candidate of `hsb.evaluate.compare_off_policy` that learns as it goes: it is replayed, where others are evaluated as they are.

    A copy of `policy` is replayed (`hsb.replay`); the policy itself stays as it is.

    >>> import hsb
    >>> Learning(hsb.Exp3(arms=["a", "b"]))
    Learning(Exp3)
    """

    policy: Policy

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy):
            raise InputError(f"Learning needs a policy, e.g. Learning(hsb.HSB(arms=['a', 'b'])); given {quoted(self.policy)}.")

    def __repr__(self) -> str:
        return f"Learning({type(self.policy).__name__})"


class FixedCandidate(ABC):
    """Something fixed that plays the events of a log."""

    outside = "error"

    def __init__(self, reward_range: Range) -> None:
        self.reward_range = reward_range

    @property
    def view(self) -> Hashable:
        """Players with equal ones and the same `context` see the same of a batch; None: it looks at nothing."""
        return None

    def sees(self, batch: Batch, context: Contexts) -> Any:
        """Its contexts, one row an event."""
        return batch.contexts if context is None else context(batch.contexts)

    @abstractmethod
    def play(self, batch: Batch, contexts: Any) -> tuple[Floats, Flags]:
        """(n, arms of the batch): the probability of every arm; and which events offer any that it knows. `contexts` are its own."""


class FixedPolicy(FixedCandidate):
    """A policy, as it is."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy.reward_range)
        self.policy, self.outside = policy, policy.loss_scale.outside

    @property
    def view(self) -> Hashable:
        return "numbers" if self.policy.learner.named_columns is None else id(self.policy)

    def sees(self, batch: Batch, context: Contexts) -> Any:
        return own_contexts(self.policy, batch, context)

    def play(self, batch: Batch, contexts: Any) -> tuple[Floats, Flags]:
        return distributions(self.policy, batch, contexts)


class Always(FixedCandidate):
    """One arm, wherever it is available; events that do not offer it are left out."""

    def __init__(self, arm: Hashable, reward_range: Range) -> None:
        super().__init__(reward_range)
        self.arm = arm

    def play(self, batch: Batch, contexts: Any) -> tuple[Floats, Flags]:
        table = np.zeros((len(batch), len(batch.arms)))
        if self.arm not in batch.arms:
            return table, np.zeros(len(batch), dtype=np.bool_)
        place = batch.arms.index(self.arm)
        offers = np.array([place in batch.pools[k] for k in range(len(batch.pools.sizes))], dtype=np.bool_)[batch.pool]
        table[offers, place] = 1.0
        return table, offers


class Evenly(FixedCandidate):
    """Every arm that the event offers, with the same probability."""

    def play(self, batch: Batch, contexts: Any) -> tuple[Floats, Flags]:
        shares = batch.pools.table(len(batch.arms)) / np.maximum(batch.pools.sizes, 1)[:, None]
        return shares[batch.pool], (batch.pools.sizes > 0)[batch.pool]


def player(name: str, given: Any, reward_range: Range) -> FixedCandidate:
    """What a fixed candidate stands for; those that are no policies take the `reward_range`.

    >>> type(player("u", None, (0.0, 1.0))).__name__, type(player("b", "b", (0.0, 1.0))).__name__
    ('Evenly', 'Always')
    """
    if isinstance(given, Policy):
        return FixedPolicy(given)
    if given is None or given is Uniform:
        return Evenly(reward_range)
    if isinstance(given, type | dict | list | set) or callable(given) or not is_label(given):
        needed = "a policy, the name of an arm (always that one), None (uniform play) or Learning(policy)"
        raise InputError(f"The candidate {quoted(name)} must be {needed}; given {quoted(given)}.")
    return Always(given, reward_range)
