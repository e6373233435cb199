"""Whatever ordinary use leads to, `hsb.load` reads the file that `save` wrote, and the policy goes on bit for bit as if never saved.

A `World` is drawn from a seed: a policy with its settings, contexts, rewards, and what happens beside plain rounds. `go_through` plays it
twice, once without files and once with a policy that is replaced by its own file every few rounds.
"""

import numpy as np
import pytest
from support.own_file_cases import World, go_through
from support.structures import EXAMPLES

import hsb
from hsb.engine.state import ensemble


def test_five_categories_whose_columns_are_used_up(tmp_path):
    """256 columns are used up after 200 rounds. A new category then shares a column, perhaps of another feature."""
    rng, path = np.random.default_rng(0), tmp_path / "policy.hsb"
    policy = hsb.HSB(arms=["a", "b"], seed=0)
    for t in range(1, 401):
        context = {name: f"{name}-{rng.zipf(1.3) % 80}" for name in ("country", "city", "device", "campaign", "page")}
        policy.learn(policy.decide(context), reward=float(rng.random() < 0.3))
        if t % 50 == 0:
            policy.save(path)
            assert hsb.load(path).digest() == policy.digest()
    assert policy.learner.reader.columns == 256
    assert policy.learner.reader.crowded > 17


@pytest.mark.parametrize("seed", range(24))
def test_features(seed, tmp_path):
    go_through(World(seed), 90, 15, tmp_path)


@pytest.mark.parametrize("name", EXAMPLES)
def test_structures(name, tmp_path):
    go_through(World(len(name), EXAMPLES[name]), 60, 20, tmp_path)


def test_an_arm_that_was_never_rewarded_is(tmp_path):
    """Deep trees are so sure that `b` loses that 1 - mean is rounded to 0. Its first reward must leave numbers behind."""
    rng, policy = np.random.default_rng(0), hsb.HSB(arms=["a", "b"], seed=0)
    contexts, losses = rng.random((9000, 2)), np.ones((9000, 2))
    steps = (16 * contexts[:, 0]).astype(int) + 16 * (contexts[:, 1] < 0.5)
    losses[:, 0] = steps * 7919 % 97 % 2
    arms = rng.integers(2, size=9000)
    for t in range(9000):
        loss = 0.0 if t >= 8900 else losses[t, arms[t]]
        context = {"x": contexts[t, 0], "y": contexts[t, 1]}
        policy.learn(hsb.Decision(context=context, arm="ab"[arms[t]], propensity=0.5), loss=loss)
    policy.save(tmp_path / "policy.hsb")
    assert hsb.load(tmp_path / "policy.hsb").digest() == policy.digest()


def test_many_arms_and_numbers_that_grow(tmp_path, monkeypatch):
    """Where many arms have many columns, a change of scale moves the prior too: variances may not outgrow the arithmetic."""
    monkeypatch.setattr(ensemble, "EXACT", 0)
    rng, path, policy = np.random.default_rng(0), tmp_path / "policy.hsb", hsb.HSB(arms=3, seed=0)
    for t in range(1, 601):
        context = {f"n{k}": float(rng.normal() * (t + 1.0) ** (4 * k)) for k in range(4)} | {"c": f"v{rng.integers(9)}"}
        policy.learn(policy.decide(context), reward=float(rng.random() < 0.3))
        if t % 20 == 0:
            policy.save(path)
            assert hsb.load(path).digest() == policy.digest()
