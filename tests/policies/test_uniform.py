"""Uniform play: even, and unmoved by what it is told."""

import collections

import hsb


def test_every_available_arm_is_as_probable():
    policy = hsb.Uniform(arms=4, seed=0)
    assert policy.probabilities(None).tolist() == [0.25] * 4
    assert policy.probabilities({"x": 1}, available=[0, 2]).tolist() == [0.5, 0.0, 0.5, 0.0]
    drawn = collections.Counter(policy.decide(None).arm for _ in range(4000))
    assert all(850 < drawn[arm] < 1150 for arm in range(4))


def test_it_learns_nothing_but_counts():
    policy = hsb.Uniform(arms=2, seed=0)
    for _ in range(50):
        decision = policy.decide(None)
        policy.learn(decision, loss=float(decision.arm))
    assert policy.rounds == 50 and policy.probabilities(None).tolist() == [0.5, 0.5]
