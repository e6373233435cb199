"""Helpers of `tests/learners/test_featured.py`, shared with other tests."""

from typing import Any

import numpy as np

ARMS = ["a", "b", "c"]


def world(rows: int, seed: int = 0, *, harsh: bool = False) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Return contexts with new categories, new keys and missing values; with `harsh`, losses near 1, so that the policy shifts its baseline."""
    rng, contexts = np.random.default_rng([seed, 77]), []
    for t in range(rows):
        result: dict[str, Any] = {"size": float(rng.lognormal()), "kind": f"k{int(rng.integers(2 + t // 60))}"}
        if t > rows // 4:
            result["member"] = bool(rng.random() < 0.3)
        if t > rows // 2:
            result["hour"] = int(rng.integers(24))
        for name in list(result)[1:]:
            if t > 20 and rng.random() < 0.05:
                result[name] = None
        if t > 40 and rng.random() < 0.05:
            del result["size"]
        contexts.append(result)
    good = np.array([(result.get("size") or 0.0) > 1.0 for result in contexts]).astype(int)
    means = np.where(np.arange(3) == good[:, None], 0.85 if harsh else 0.1, 0.98 if harsh else 0.7)
    return contexts, (rng.random((rows, 3)) < means).astype(float)


def loop(policy, contexts, losses, masks=None) -> tuple[list[Any], list[float]]:
    arms, probabilities = [], []
    for t, context in enumerate(contexts):
        available = None if masks is None else [arm for arm, on in zip(policy.arms, masks[t], strict=True) if on]
        decision = policy.decide(context, available=available)
        policy.learn(decision, loss=float(losses[t, policy.arms.index(decision.arm)]))
        arms.append(decision.arm)
        probabilities.append(decision.propensity)
    return arms, probabilities
