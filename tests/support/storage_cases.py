"""Helpers of `tests/files/test_policy_file.py`, shared with other tests."""

from typing import Any

from hypothesis import strategies as st

import hsb
from support.policy_cases import play

TREE = hsb.BinaryTree(depth=3)


def small(**how: Any) -> hsb.HSB:
    """Return a policy with a history: rounds learned, decisions open, an arm removed."""
    policy = hsb.HSB(TREE, **({"arms": ["a", "b", "c"], "learning_rate": 0.3, "seed": 1} | how))
    play(policy, 20)
    for _ in range(5):
        policy.decide(0.7)
    policy.remove_arm(policy.arms[1])
    return policy


ARMS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda arm: st.tuples(arm) | st.tuples(arm, arm),
    max_leaves=4,
)
