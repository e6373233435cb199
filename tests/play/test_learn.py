"""Learning from the decisions that a log holds."""

import numpy as np
import pytest

import hsb
from hsb.logs import Batch

N = 300
RNG = np.random.default_rng(1)
XS, ARMS = RNG.random(N), RNG.integers(2, size=N)
REWARDS = ((XS > 0.5) == ARMS).astype(float)


def batch(rows=slice(None)):
    return Batch.of(
        contexts=XS[rows, None], arm=ARMS[rows], reward=REWARDS[rows], propensity=np.full(len(XS[rows]), 0.5), arms=["a", "b"]
    )


def policy():
    return hsb.HSB(hsb.BinaryTree(depth=2), arms=["a", "b"], learning_rate=0.3, seed=0)


def test_it_is_learning_the_logged_decisions_one_by_one():
    bulk, single = policy(), policy()
    assert hsb.learn_from(bulk, [batch()]) == N
    for x, arm, reward in zip(XS, ARMS, REWARDS, strict=True):
        single.learn(hsb.Decision(context=float(x), arm="ab"[arm], propensity=0.5), reward=float(reward))
    np.testing.assert_allclose(bulk.probabilities(0.3), single.probabilities(0.3), rtol=1e-9)
    assert bulk.rounds == single.rounds == N


def test_how_a_log_is_cut_does_not_matter():
    whole, parts = policy(), policy()
    hsb.learn_from(whole, [batch()])
    hsb.learn_from(parts, [batch(slice(0, 100)), batch(slice(100, None))])
    assert whole.digest() == parts.digest()


def test_contexts_may_be_made():
    turned = policy()
    hsb.learn_from(turned, [batch()], context=lambda rows: 1.0 - rows[:, 0])
    assert turned.probabilities(0.9)[0] > 0.5 > turned.probabilities(0.1)[0]


def test_an_arm_that_the_policy_does_not_know_is_no_loss_of_the_rest():
    other = hsb.Exp3(arms=["c"], learning_rate=0.1, seed=0)
    with pytest.raises(hsb.InputError):
        hsb.learn_from(other, [Batch.of(contexts=[[0.1]], arm=[5], reward=[1], propensity=[0.5], arms=["a"])])
