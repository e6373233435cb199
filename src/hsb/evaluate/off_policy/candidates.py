"""Candidates for evaluation on a log: a fixed policy, a single arm, uniform play, or a policy that learns."""

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
    """A candidate of `hsb.evaluate.compare_off_policy` that learns during the log: it is replayed; other candidates are evaluated as they are.

    A copy of `policy` is replayed (`hsb.replay`); the policy itself does not change.

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
    """A candidate that does not learn from the log."""

    outside = "error"

    def __init__(self, reward_range: Range) -> None:
        self.reward_range = reward_range

    @property
    def view(self) -> Hashable:
        """A key: candidates with equal views and the same `context` get the same contexts. None: it uses no context."""
        return None

    def sees(self, batch: Batch, context: Contexts) -> Any:
        """Return the candidate's contexts for a batch, one row for each event."""
        return batch.contexts if context is None else context(batch.contexts)

    @abstractmethod
    def play(self, batch: Batch, contexts: Any) -> tuple[Floats, Flags]:
        """Return the probability of every arm, (n, arms of the batch), and the events with an available arm that it knows."""


class FixedPolicy(FixedCandidate):
    """A policy that does not learn from the log."""

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
    """A single arm; events in which it is not available are left out."""

    def __init__(self, arm: Hashable, reward_range: Range) -> None:
        super().__init__(reward_range)
        self.arm = arm

    def play(self, batch: Batch, contexts: Any) -> tuple[Floats, Flags]:
        table = np.zeros((len(batch), len(batch.arms)))
        if self.arm not in batch.arms:
            return table, np.zeros(len(batch), dtype=np.bool_)
        index = batch.arms.index(self.arm)
        available = np.array([index in batch.pools[k] for k in range(len(batch.pools.sizes))], dtype=np.bool_)[batch.pool]
        table[available, index] = 1.0
        return table, available


class UniformPlay(FixedCandidate):
    """Every available arm, with equal probability."""

    def play(self, batch: Batch, contexts: Any) -> tuple[Floats, Flags]:
        shares = batch.pools.table(len(batch.arms)) / np.maximum(batch.pools.sizes, 1)[:, None]
        return shares[batch.pool], (batch.pools.sizes > 0)[batch.pool]


def player(name: str, candidate: Any, reward_range: Range) -> FixedCandidate:
    """Return the fixed candidate that an argument stands for; `reward_range` is for candidates that are not policies.

    >>> type(player("u", None, (0.0, 1.0))).__name__, type(player("b", "b", (0.0, 1.0))).__name__
    ('UniformPlay', 'Always')
    """
    if isinstance(candidate, Policy):
        return FixedPolicy(candidate)
    if candidate is None or candidate is Uniform:
        return UniformPlay(reward_range)
    if isinstance(candidate, type | dict | list | set) or callable(candidate) or not is_label(candidate):
        needed = "a policy, the name of an arm (always that one), None (uniform play) or Learning(policy)"
        raise InputError(f"The candidate {quoted(name)} must be {needed}; given {quoted(candidate)}.")
    return Always(candidate, reward_range)
