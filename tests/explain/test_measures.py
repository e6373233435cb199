"""What is measured of rules: shares, agreement, importance."""

import numpy as np
import pytest

import hsb


@pytest.fixture(scope="module")
def explained():
    box = hsb.Box.unit(2)
    policy = hsb.HSB(hsb.BinaryTree(depth=6, space=box), arms=["a", "b"], seed=0)
    contexts = np.random.default_rng(0).random((8000, 2))
    right = contexts[:, 0] > 0.25
    hsb.simulate(policy, contexts, np.column_stack([right, ~right]).astype(float))
    return policy, policy.explain()


def test_shares_add_up_and_are_those_of_the_world(explained):
    _, result = explained
    assert sum(region.coverage for region in result) == pytest.approx(1.0)
    assert sum(region.coverage for region in result if region.arm == "b") == pytest.approx(0.75, abs=0.05)


def test_the_feature_that_matters_is_the_important_one(explained):
    _, result = explained
    assert result.importance["x0"] > 10 * result.importance["x1"]


def test_agreement_is_how_often_the_rules_are_right(explained):
    policy, result = explained
    fresh = np.random.default_rng(5).random((2000, 2))
    played = [policy.arms[policy.probabilities(row).argmax()] for row in fresh]
    right = np.mean([arm == rule for arm, rule in zip(played, result.arms_at(fresh), strict=True)])
    assert right == pytest.approx(result.agreement, abs=0.03)
