"""An inferred range of losses, and tables learned row by row: written as the docs describe them."""

from collections.abc import Iterable, Sequence
from typing import Any

import hsb


class Range:
    """The range so far, all of its changes, and every loss as it was scaled."""

    def __init__(self) -> None:
        self.ends: list[tuple[float, float]] = []
        self.scaled: list[float] = []

    def see(self, loss: float) -> float:
        if not self.ends:
            self.ends.append((loss, loss))
        low, high = self.ends[-1]
        if loss > high:
            self.ends.append((low, max(loss, low + 2 * (high - low))))
        if loss < low:
            self.ends.append((min(loss, high - 2 * (high - low)), high))
        low, high = self.ends[-1]
        self.scaled.append((loss - low) / (high - low) if high > low else 0.5)
        return self.scaled[-1]


def decide_many(
    policy: hsb.Policy, contexts: Iterable[Any], available: Sequence[Any] | None = None, u: Sequence[float] | None = None
) -> list[hsb.Decision]:
    return [
        policy.decide(x, available=None if available is None else available[t], u=None if u is None else u[t])
        for t, x in enumerate(contexts)
    ]


def learn_many(policy: hsb.Policy, decisions: Iterable[hsb.Decision], name: str, values: Iterable[Any]) -> None:
    for decision, value in zip(decisions, values, strict=True):
        if value is not None and value == value:
            policy.learn(decision, **{name: value})
