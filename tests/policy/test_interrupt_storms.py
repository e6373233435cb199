"""Interrupts that hit one policy again and again leave what a policy without interrupts has; `make test-attack` runs more of them."""

import os
from datetime import date
from typing import Any

import pytest
from support import interrupting
from support.attack.interrupt_storms import POLICIES, storm

import hsb

STRIDE = 1 if "HSB_ATTACK" in os.environ else 7  # steps of the interpreter
COUNT = max(2, int(os.environ.get("HSB_ATTACK", "0")) // 20)


@pytest.mark.parametrize("name", POLICIES)
def test_interrupts_of_the_policy_itself(name: str) -> None:
    results = [storm(name, seed, 60) for seed in range(COUNT)]
    interrupts, learned = sum(each.interrupts for each in results), sum(each.learned for each in results)
    assert interrupts > 20 * COUNT and 0 < learned < interrupts


@pytest.mark.parametrize(
    "context",
    [
        {"city": "new", "age": None},
        {"city": "c1", "age": 20.0, "height": 1.7},
        pytest.param({"city": "new", "age": 20.0, "shop": "a", "day": date(2026, 11, 19)}, marks=pytest.mark.long),
    ],
    ids=["category", "feature", "both"],
)
def test_interrupts_while_it_grows_leave_nothing(context: dict[str, Any]) -> None:
    """What is new is given its place in the memory that is in use: that is undone unless the round is learned, wherever it was stopped."""
    policy, twin = (hsb.HSB(arms=3, seed=0) for _ in range(2))
    for each in (policy, twin):
        for t in range(40):
            each.learn(each.decide({"city": f"c{t % 3}", "age": 20.0 + t}), loss=float(t % 2))
    decision, same = policy.decide(context, u=0.5), twin.decide(context, u=0.5)
    before, step = policy.digest(), 0
    while interrupting.interrupted(lambda: policy.learn(decision, loss=1.0), step) and policy.rounds == 40:
        assert policy.digest() == before, f"step {step}"
        step += STRIDE
    twin.learn(same, loss=1.0)
    assert step > 100 and policy.rounds == 41
    assert policy.digest() == twin.digest()
