"""What a policy would do on the rows of a log."""

import numpy as np

import hsb
from hsb.evaluate.off_policy.distributions import distributions
from hsb.logs import Batch


def test_a_policy_is_asked_row_by_row_about_the_arms_that_are_available():
    policy = hsb.HSB(hsb.BinaryTree(depth=2), arms=["c", "b", "a"], learning_rate=0.4, seed=0)
    rng = np.random.default_rng(0)
    for _ in range(100):
        decision = policy.decide(rng.random())
        policy.learn(decision, loss=float(decision.arm != "b"))
    xs, available = rng.random(20), np.column_stack([np.ones(20, dtype=bool), rng.random((20, 2)) < 0.5])
    columns = {"arm": np.zeros(20, dtype=int), "reward": np.zeros(20), "propensity": np.full(20, 0.5)}
    batch = Batch.of(contexts=xs[:, None], arms=["a", "b", "c"], available=available, **columns)
    table, used = distributions(policy, batch)
    assert used.all()
    for x, row, mask in zip(xs, table, available, strict=True):
        names = [arm for arm, there in zip("abc", mask, strict=True) if there]
        by_name = dict(zip(policy.arms, policy.probabilities(float(x), available=names), strict=True))
        np.testing.assert_allclose(row, [by_name[arm] for arm in "abc"], rtol=1e-12)


def test_nothing_is_learned():
    policy = hsb.Exp3(arms=["a", "b"], learning_rate=0.1, seed=0)
    before = policy.digest()
    distributions(policy, Batch.of(contexts=[[0.1]], arm=[0], reward=[1], propensity=[0.5], arms=["a", "b"]))
    assert policy.digest() == before
