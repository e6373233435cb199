"""Helpers of `tests/policy/test_policy.py`, shared with other tests."""

from typing import Any

import numpy as np

import hsb


def state(policy: hsb.HSB) -> dict[str, Any]:
    """Return a policy's whole state, byte for byte, without rows that are not in use."""
    return {
        "arrays": [array.tobytes() for array in policy.to_arrays().values()],
        "ledger": (policy.ledger.issued, bytes(policy.ledger.bits).rstrip(b"\0")),
        "counters": (policy.rounds, policy.clipped),
        "settings": (repr(policy.settings()), policy.learner.mixture.rates.learning_rate, policy.loss_range),
        "arms": (repr(policy.arms), {repr(arm) for arm in policy.arm_set.removed}),
        "random": repr(policy.rng.bit_generator.state),
    }


def play(policy: hsb.HSB, rounds: int, *, seed: int = 0, masks: bool = False) -> list[tuple[Any, float, int | None]]:
    """Let the policy decide and learn on random contexts and losses; return its decisions."""
    rng = np.random.default_rng(seed)
    space, active = policy.structure.space, policy.active_arms
    seen = []
    for _ in range(rounds):
        if isinstance(space, hsb.Cells):
            context = int(rng.integers(space.n))
        else:
            point = rng.uniform(space.low, space.high).tolist()
            context = point[0] if len(point) == 1 else point
        available = None
        if masks and rng.random() < 0.5:
            available = [active[i] for i in rng.permutation(len(active))[: rng.integers(1, len(active) + 1)]]
        decision = policy.decide(context, available=available)
        policy.learn(decision, loss=float(rng.uniform(*policy.loss_range)))
        seen.append((decision.arm, decision.propensity, decision.number))
    return seen
