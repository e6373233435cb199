"""Exponential weights over experts against the naive twin, teacher-forced, for advice of one arm and of distributions."""

import numpy as np
import pytest
from naive import experts as naive

from hsb.engine.kernels import experts

EVERY = np.zeros(0, dtype=np.uint8)
COUNT, ARMS = 6, 4


def advice_of(rng, whole):
    """Return a table of one row of advice, and the same as distributions."""
    if whole:
        arms = rng.integers(ARMS, size=(1, COUNT)).astype(np.int32)
        return arms, naive.one_hot(arms[0].tolist(), ARMS)
    shares = rng.dirichlet(np.full(ARMS, 0.4), size=(1, COUNT))
    return shares, shares[0]


def fresh(prior):
    logs, weights = np.log(prior), np.empty(len(prior))
    experts.rescale(logs, weights)
    return logs, weights, np.zeros(1, dtype=np.int64)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_it_equals_its_twin(whole, scale):
    """With large steps weights fall below what a double can hold."""
    rng, prior = np.random.default_rng(0), np.arange(1.0, COUNT + 1) / 21.0
    twin, (logs, weights, seen) = naive.Exp4(prior), fresh(prior)
    for t in range(120):
        advice, shares = advice_of(rng, whole)
        available = None if t % 3 else sorted(rng.permutation(ARMS)[:2].tolist())
        mask = EVERY if available is None else np.isin(np.arange(ARMS), available).astype(np.uint8)
        p = np.empty(ARMS)
        experts.mix(logs, weights, advice, 0, mask, p)
        expected = twin.probabilities(shares, available)
        assert p == pytest.approx(expected, rel=1e-9, abs=1e-150)
        arm, probability = experts.decide(logs, weights, advice, 0, mask, np.empty(ARMS), rng.random())
        assert probability == p[arm] > 0.0
        x = scale * float(rng.exponential())
        experts.learn(logs, weights, seen, advice, 0, mask, arm, x)
        twin.learn(shares, arm, x, available)
    assert np.exp(logs - np.logaddexp.reduce(logs)) == pytest.approx(twin.weights, rel=1e-9, abs=1e-150) and seen[0] == 120


def test_rescaled_weights_have_the_largest_at_one():
    logs, weights = np.array([-500.0, -501.0, -2000.0]), np.zeros(3)
    experts.rescale(logs, weights)
    assert logs.tolist() == [0.0, -1.0, -1500.0] and weights == pytest.approx([1.0, np.exp(-1.0), 0.0])


def test_if_all_experts_sleep_the_available_arms_are_alike_and_nothing_is_learned():
    logs, weights, seen = fresh(np.array([0.25, 0.75]))
    advice, mask, p = np.array([[0, 0]], dtype=np.int32), np.array([0, 1, 1], dtype=np.uint8), np.empty(3)
    experts.mix(logs, weights, advice, 0, mask, p)
    assert p.tolist() == [0.0, 0.5, 0.5]
    before = logs.copy()
    experts.learn(logs, weights, seen, advice, 0, mask, 1, 1.0)
    assert logs.tolist() == before.tolist() and seen[0] == 1


def test_a_played_table_is_its_rounds():
    rng, rounds = np.random.default_rng(1), 50
    advice, rows = rng.integers(ARMS, size=(3, COUNT)).astype(np.int32), rng.integers(3, size=rounds)
    table = experts.Table(advice, rows, np.zeros((rounds, 0), dtype=np.uint8), rng.random((rounds, ARMS)), rng.random(rounds))
    one, other = fresh(np.full(COUNT, 1.0 / COUNT)), fresh(np.full(COUNT, 1.0 / COUNT))
    arms, p = np.zeros(rounds, dtype=np.int64), np.zeros(rounds)
    experts.play(*one, table, 0.3, np.empty(ARMS), arms, p)
    for t in range(rounds):
        arm, probability = experts.decide(*other[:2], advice, rows[t], EVERY, np.empty(ARMS), table.us[t])
        assert (arm, probability) == (arms[t], p[t])
        experts.learn(*other, advice, rows[t], EVERY, arm, 0.3 * table.losses[t, arm] / probability)
    assert all(a.tolist() == b.tolist() for a, b in zip(one, other, strict=True))
