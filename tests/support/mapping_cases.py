"""Helpers of `tests/policies/test_mixture_of_mappings.py`, shared with other tests."""

from typing import Any

import numpy as np

import hsb
from support.exp4_cases import off, some_arms
from support.structure_cases import Array


def teach(
    one: hsb.Policy, other: hsb.Policy, contexts: Any, *, masking: float = 0.0, told: float = 1.0, seed: int = 0
) -> float:
    """Return the largest relative difference in p while both learn the same rounds."""
    rng = np.random.default_rng(seed)
    arms, worst = len(one.arms), 0.0
    for t, context in enumerate(contexts):
        available = some_arms(rng, arms, masking)
        p, q = (policy.probabilities(context, available=available) for policy in (one, other))
        worst = max(worst, off(p, q))
        decision = hsb.Decision(
            context=context,
            arm=int(rng.choice(range(arms) if available is None else available)),
            propensity=0.01 if t == 20 else float(rng.uniform(0.1, 1.0)),
            available=available,
        )
        loss = float(rng.choice([0.0, 1.0, rng.random()]))
        one.learn(decision, loss=loss * told)
        other.learn(decision, loss=loss)
    return worst


def anywhere(structure: hsb.Structure, rounds: int, seed: int = 1) -> Array:
    rng = np.random.default_rng(seed)
    if isinstance(structure.space, hsb.Cells):
        return rng.integers(structure.leaves, size=rounds).astype(float)
    return rng.random((rounds, structure.space.features)) if structure.space.features > 1 else rng.random(rounds)
