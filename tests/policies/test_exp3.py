"""EXP3: against its formula, whatever the context, and within its bound."""

import numpy as np
import pytest

import hsb
from hsb import theory


def test_it_is_exponential_weights_over_estimated_losses():
    policy, rate, estimates = hsb.Exp3(arms=3, learning_rate=0.2, seed=0), 0.2, np.zeros(3)
    rng = np.random.default_rng(1)
    for _ in range(200):
        weights = np.exp(-rate * (estimates - estimates.min()))
        np.testing.assert_allclose(policy.probabilities(None), weights / weights.sum(), rtol=1e-10)
        decision, loss = policy.decide(None), rng.random()
        estimates[decision.arm] += loss / decision.propensity
        policy.learn(decision, loss=loss)


def test_the_context_is_not_looked_at():
    policy = hsb.Exp3(arms=["a", "b"], learning_rate=0.5, seed=0)
    policy.learn(policy.decide({"any": "thing"}), loss=1.0)
    assert policy.probabilities(None).tolist() == policy.probabilities([1, 2, 3]).tolist()


def test_its_bound_is_the_theorys_and_holds():
    horizon, regrets = 2000, []
    bound = hsb.Exp3(arms=3, horizon=horizon).regret_bound()
    assert bound == pytest.approx(theory.exp3_bound(arms=3, horizon=horizon))
    for seed in range(10):
        losses = (np.random.default_rng(seed).random((horizon, 3)) < [0.4, 0.5, 0.6]).astype(float)
        run = hsb.simulate(hsb.Exp3(arms=3, horizon=horizon, seed=seed), np.zeros(horizon), losses)
        regrets.append(run.losses.sum() - losses.sum(axis=0).min())
    assert np.mean(regrets) < bound
