"""A policy that is interrupted again and again, itself and not a copy of it, beside a copy that never is.

An interrupt in a round marks only the policy that it hits. A test of a copy would miss state that the copy does not take over.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import hsb
from support import interrupting

Made = tuple[Callable[..., hsb.Policy], Callable[[np.random.Generator, int], Any]]
STEPS = 3000  # more than a round has that grows


def line(rng: np.random.Generator, t: int) -> float:
    return float(rng.random())


def shop(rng: np.random.Generator, t: int) -> dict[str, Any]:
    """Return contexts with, now and then, a new category, a new feature or a missing value."""
    context: dict[str, Any] = {"age": 20.0 + float(rng.integers(40)), "city": f"c{rng.integers(2 + t // 6)}"}
    if rng.random() < 0.2:
        context["age"] = None
    if t > 15:
        context[f"more{int(rng.integers(1 + t // 30))}"] = float(rng.normal()) if rng.random() < 0.9 else None
    return context


POLICIES: dict[str, Made] = {
    "dicts": (lambda **more: hsb.HSB(arms=["a", "b", "c"], **more), shop),
    "dicts, floor": (lambda **more: hsb.HSB(arms=["a", "b", "c"], floor=0.2, **more), shop),
    "tree": (lambda **more: hsb.HSB(hsb.BinaryTree(depth=6), arms=["a", "b", "c"], **more), line),
    "tree, rate": (lambda **more: hsb.HSB(hsb.BinaryTree(depth=6), arms=["a", "b", "c"], learning_rate=0.2, **more), line),
    "Exp3": (lambda **more: hsb.Exp3(arms=["a", "b", "c"], **more), line),
}


@dataclass
class Storm:
    """The outcome of a storm."""

    policy: hsb.Policy
    twin: hsb.Policy
    interrupts: int = 0
    learned: int = 0
    """How many of the interrupted rounds had been learned."""


def storm(name: str, seed: int, rounds: int, each: float = 0.5) -> Storm:
    """Play rounds; the share `each` of calls is interrupted at a step drawn at random. What was not learned is sent again.

    Raises AssertionError if a round was counted that was not learned, or learned and not counted.
    """
    make, context_of = POLICIES[name]
    rng = np.random.default_rng(seed)
    more: dict[str, Any] = {"loss_range": "auto"} if rng.random() < 0.5 else {}
    result = Storm(make(seed=0, **more), make(seed=0, **more))
    waiting: list[tuple[hsb.Decision, hsb.Decision, float]] = []
    for t in range(rounds):
        context, u = context_of(rng, t), float(rng.random())
        if rng.random() < each / 4 and interrupting.interrupted(lambda: result.policy.decide(context, u=u), _step(rng)):  # noqa: B023
            result.interrupts += 1
        decisions = result.policy.decide(context, u=u), result.twin.decide(context, u=u)
        assert decisions[0].arm == decisions[1].arm and decisions[0].propensity == decisions[1].propensity
        waiting.append((*decisions, float(rng.random() < 0.4) * (1.0 if not more else float(1 + t))))
        while waiting and rng.random() < 0.7:
            _learn(result, *waiting.pop(int(rng.integers(len(waiting)))), rng, each)
    for last in waiting:
        _learn(result, *last, rng, each)
    assert result.policy.digest() == result.twin.digest(), f"{name}, seed {seed}: another state than without interrupts"
    return result


def _learn(
    found: Storm, decision: hsb.Decision, same: hsb.Decision, loss: float, rng: np.random.Generator, each: float
) -> None:
    """Learn a loss in both; in the policy until it counts."""
    before = found.policy.rounds
    while found.policy.rounds == before:
        if rng.random() >= each:
            found.policy.learn(decision, loss=loss)
        elif interrupting.interrupted(lambda: found.policy.learn(decision, loss=loss), _step(rng)):
            found.interrupts += 1
            found.learned += found.policy.rounds - before
            if found.policy.rounds == before:
                assert found.policy.digest() == found.twin.digest(), "a round that was not learned left something"
    with pytest.raises(hsb.InputError, match="learned already"):
        found.policy.learn(decision, loss=loss)
    found.twin.learn(same, loss=loss)
    assert found.policy.rounds == found.twin.rounds


def _step(rng: np.random.Generator) -> int:
    """Early steps as often as late ones: most calls have a few hundred."""
    return int(STEPS ** rng.random()) if rng.random() < 0.5 else int(rng.integers(900))
