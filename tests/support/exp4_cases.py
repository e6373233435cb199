"""Helpers of `tests/policies/test_exp4.py`, shared with other tests."""

from typing import Any

import numpy as np
from naive.experts import Array

import hsb
from hsb.policies.exp4 import Exp4
from hsb.structures.mappings import mappings

ARMS = ["a", "b", "c"]
TREE = hsb.BinaryTree(depth=2)


def left(x: float) -> str:
    return "a" if x < 0.5 else "c"


def soft(x: float) -> list[float]:
    return [x, 1 - x, 0.0]


FUNCTIONS = [lambda x: "a", lambda x: "b", left, soft, lambda x: np.array([0.2, 0.3, 0.5]), lambda x: (0, 0, 1)]
KINDS = ["functions that name arms", "functions", "arms", "distributions", "mappings"]


def made(kind: str, **settings: Any) -> Exp4:
    settings = {"arms": ARMS, "learning_rate": 0.4, "seed": 0} | settings
    experts: dict[str, Any] = {
        "functions that name arms": FUNCTIONS[:3],
        "functions": FUNCTIONS,
        "arms": 5,
        "distributions": 5,
        "mappings": mappings(TREE, arms=3, regions=3),
    }
    return Exp4(experts[kind], **settings)


def contexts(kind: str, rounds: int, rng: np.random.Generator) -> Any:
    if kind == "arms":
        return rng.choice(ARMS, size=(rounds, 5))
    if kind == "distributions":
        shares = rng.dirichlet([0.5, 0.5, 0.5], size=(rounds, 5)) * rng.choice([0.0, 1.0], p=[0.3, 0.7], size=(rounds, 5, 3))
        shares[shares.sum(axis=2) == 0] = [0.0, 0.0, 1.0]
        return shares / shares.sum(axis=2, keepdims=True)
    return rng.random(rounds)


def off(p: Array, q: Array) -> float:
    """Return the largest relative difference. Values below 1e-140 count as 0."""
    seen = q > 1e-140
    assert abs(p.sum() - 1) < 1e-12 and (p >= 0).all() and (p[~seen] < 1e-139).all()
    return float(np.abs(p[seen] / q[seen] - 1).max())


def some_arms(rng: np.random.Generator, arms: int, masking: float) -> list[int] | None:
    return sorted(rng.permutation(arms)[: rng.integers(1, arms + 1)].tolist()) if rng.random() < masking else None


def state(policy: Exp4) -> dict[str, Any]:
    return {
        "arrays": [array.tobytes() for array in policy.to_arrays().values()],
        "ledger": (policy.ledger.issued, bytes(policy.ledger.bits).rstrip(b"\0")),
        "counters": (policy.rounds, policy.clipped, policy.learning_rate),
        "arms": (repr(policy.arms), policy.active_arms),
        "random": repr(policy.rng.bit_generator.state),
    }
