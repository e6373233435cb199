"""Decisions that wait for their feedback, where a library hands back neither a number nor a propensity: river, OBP and MABWiser."""

from collections import Counter, OrderedDict, deque
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from ..checks import is_hashable, whole
from ..errors import InputError, quoted
from ..policy import Policy
from ..policy.decision import Decision

Key = tuple[Hashable, Hashable]  # context and arm


class Waiting:
    """The last `limit` decisions by context and arm, the oldest of equal ones first. Decisions of one call stay together.

    >>> waiting = Waiting(2)
    >>> for p in (0.5, 0.4, 0.3):
    ...     waiting.add([Decision(context=0.1, arm="a", propensity=p)])
    >>> number, decision = waiting.find([(0.1, "a")], logged="propensity=")[0]
    >>> decision.propensity
    0.4
    >>> waiting.drop([number])
    >>> len(waiting)
    1
    """

    def __init__(self, limit: int) -> None:
        self.limit = whole("waiting", limit, 1)
        self._issued = 0
        self._all: OrderedDict[int, tuple[Key, Decision]] = OrderedDict()
        self._numbers: dict[Key, deque[int]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def add(self, decisions: Sequence[Decision]) -> None:
        """Add the decisions of one call. If there are too many, forget the oldest of earlier calls."""
        for decision in decisions:
            key = key_of(decision.context, decision.arm)
            self._all[self._issued] = (key, decision)
            self._numbers.setdefault(key, deque()).append(self._issued)
            self._issued += 1
        while len(self._all) > max(self.limit, len(decisions)):
            self.drop([next(iter(self._all))])

    def learn(self, policy: Policy, context: Any, arm: Hashable, reward: Any, propensity: float | None) -> None:
        """Let the policy learn the reward of the decision that waits for it; with a propensity, of a decision from a log."""
        if propensity is not None:
            return policy.learn(Decision(context=context, arm=arm, propensity=propensity), reward=reward)
        [(number, decision)] = self.find([(context, arm)], logged="propensity=")
        policy.learn(decision, reward=reward)
        return self.drop([number])

    def find(self, rounds: Sequence[tuple[Any, Hashable]], *, logged: str) -> list[tuple[int, Decision]]:
        """Return the number (for `drop`) and decision of each context and arm, all different; InputError if no decision waits."""
        matches = []
        taken: Counter[Key] = Counter()
        for row, (context, arm) in enumerate(rounds):
            key = key_of(context, arm)
            numbers = self._numbers.get(key, ())
            if taken[key] >= len(numbers):
                which = f"Row {row}: no" if len(rounds) > 1 else "No"
                where = repr(key[0]) if len(repr(key[0])) <= 60 else repr(key[0])[:57] + "..."
                raise InputError(
                    f"{which} decision waits for feedback on arm {quoted(key[1])} at context {where}: it was not made here, was answered "
                    f"already, or is older than the last {self.limit} that are kept. For late feedback give the adapter a larger "
                    f"waiting=; for a round from a log give {logged}, the probability with which its arm was played."
                )
            number = numbers[taken[key]]
            taken[key] += 1
            matches.append((number, self._all[number][1]))
        return matches

    def drop(self, numbers: Iterable[int]) -> None:
        """Forget the decisions with these numbers: they have feedback, or are too old."""
        for number in numbers:
            key, _ = self._all.pop(number)
            self._numbers[key].remove(number)
            if not self._numbers[key]:
                del self._numbers[key]


def key_of(context: Any, arm: Hashable) -> Key:
    """Return the key by which feedback finds a decision: its context, made hashable, and its arm.

    >>> key_of([0.5, 1], "a")
    ((0.5, 1), 'a')
    """
    if isinstance(context, np.ndarray):
        context = context.tolist()
    key = (tuple(context) if isinstance(context, list) else context, arm)
    if not is_hashable(key):
        raise InputError(f"A context must be numbers or names, and an arm hashable; given {quoted(context)} and {quoted(arm)}.")
    return key
