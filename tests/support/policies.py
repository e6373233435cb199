"""Helpers of `tests/policies/test_every_policy.py`, shared with other tests."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hsb

TREE = hsb.BinaryTree(depth=3)
ROUNDS = 120
RNG = np.random.default_rng(7)
CONTEXTS = RNG.random(ROUNDS)
LOSSES = (RNG.random((ROUNDS, 3)) < np.column_stack([CONTEXTS, 1 - CONTEXTS, np.full(ROUNDS, 0.4)])).astype(float)
AVAILABLE = np.column_stack([RNG.random((ROUNDS, 2)) < 0.6, np.ones(ROUNDS, dtype=bool)])


def first(context: Any) -> int:
    return 0


def halves(context: Any) -> list[float]:
    return [0.5, 0.5, 0.0] if context < 0.5 else [0.0, 0.0, 1.0]


POLICIES: dict[str, Callable[[], hsb.Policy]] = {
    "HSB": lambda: hsb.HSB(TREE, arms=3, seed=1),
    "HSB, horizon": lambda: hsb.HSB(TREE, arms=3, horizon=1000, seed=1),
    "HSB, drift": lambda: hsb.HSB(TREE, arms=3, drift=1e-3, seed=1),
    "HSB, rate and advisor": lambda: hsb.HSB(TREE, arms=3, learning_rate=0.1, drift="auto", seed=1),
    "HSB, features": lambda: hsb.HSB(arms=3, seed=1),
    "HSB, declared features": lambda: hsb.HSB(features=hsb.Features(x=hsb.Number()), arms=3, seed=1),
    "Exp3": lambda: hsb.Exp3(arms=3, horizon=1000, seed=1),
    "SExp3": lambda: hsb.SExp3(TREE, arms=3, learning_rate=0.3, seed=1),
    "SExp3, cells": lambda: hsb.SExp3(5, arms=3, seed=1),
    "Exp4": lambda: hsb.Exp4([first, halves], arms=3, horizon=1000, seed=1),
    "Exp4, mappings": lambda: hsb.Exp4(hsb.mappings(TREE, arms=3, regions=2), arms=3, horizon=1000, seed=1),
    "MixtureOfMappings": lambda: hsb.MixtureOfMappings(hsb.BinaryTree(depth=2), arms=3, learning_rate=0.1, seed=1),
    "CsbFtpl": lambda: hsb.CsbFtpl(TREE, arms=3, horizon=1000, seed=1),
    "CsbFtpl, regions": lambda: hsb.CsbFtpl(TREE, arms=3, horizon=1000, regions=2, seed=1),
    "EpochGreedy": lambda: hsb.EpochGreedy(TREE, arms=3, seed=1),
    "LinUCB": lambda: hsb.LinUCB(1, arms=3, seed=1),
    "TreeThompson": lambda: hsb.TreeThompson(TREE, arms=3, seed=1),
    "TreeThompson, forgetting": lambda: hsb.TreeThompson(TREE, arms=3, forgetting=0.99, seed=1),
    "Uniform": lambda: hsb.Uniform(arms=3, seed=1),
    "BestFixed": lambda: hsb.BestFixed(TREE, arms=3, mapping=[0, 0, 1, 1, 2, 2, 0, 1], seed=1),
}
each_policy = pytest.mark.parametrize("name", POLICIES)
CANNOT_WIDEN = {"Exp4, mappings", "MixtureOfMappings"}


def state(policy: hsb.Policy) -> dict[str, Any]:
    return {
        "arrays": {name: array.tobytes() for name, array in policy.to_arrays().items()},
        "counters": (policy.rounds, policy.clipped, policy.ledger.issued, repr(policy.arms), repr(policy.arm_set.removed)),
        "settings": repr(policy.settings()),
        "random": repr(policy.rng.bit_generator.state),
    }


def play(policy: hsb.Policy, rounds: slice = slice(None), *, masks: bool = False) -> list[tuple[Any, float]]:
    done = []
    for x, row, available in zip(CONTEXTS[rounds], LOSSES[rounds], AVAILABLE[rounds], strict=True):
        decision = policy.decide(float(x), available=np.flatnonzero(available).tolist() if masks else None)
        policy.learn(decision, loss=row[decision.arm])
        done.append((decision.arm, decision.propensity))
    return done
