"""Helpers of the tests of the Thompson tree."""

from typing import Any

import numpy as np

import hsb
from hsb.engine.kernels.words import tree as tree_words
from hsb.policies.tree_thompson import TreeThompson

TREE = hsb.BinaryTree(depth=3)


def state(policy: TreeThompson) -> dict[str, Any]:
    """Return a policy's whole state, byte for byte, without scratch."""
    arrays = policy.to_arrays()
    ints = arrays["ints"].copy()
    ints[tree_words.WHOLE] = 0
    ints[ints[tree_words.PATH] : ints[tree_words.LINKS]] = 0
    return {
        "floats": arrays["floats"][arrays["ints"][tree_words.GO] :].tobytes(),
        "ints": ints.tobytes(),
        "counters": (policy.rounds, policy.clipped, policy.ledger.issued, bytes(policy.ledger.bits).rstrip(b"\0")),
        "settings": (policy.settings(), policy.arms, policy.arm_set.removed, policy.loss_range),
        "random": repr(policy.rng.bit_generator.state),
    }


def trained(rounds: int = 300, **settings: Any) -> TreeThompson:
    policy = TreeThompson(**({"structure": hsb.BinaryTree(depth=6), "arms": 3, "seed": 1} | settings))
    rng = np.random.default_rng(5)
    features = policy.structure.space.features
    contexts = rng.random((rounds, features))
    losses = (rng.random((rounds, len(policy.arms))) < 0.3 + 0.4 * contexts[:, :1]).astype(float)
    hsb.simulate(policy, contexts, losses)
    return policy
