"""The learner of LinUCB against ridge regression as a formula."""

import numpy as np
import pytest

import hsb
from hsb.learners.lin_ucb import Regressions
from hsb.policy.learner import Played
from hsb.structures.spaces import Box


def learner_of(arms=3, features=2, **settings):
    more = {"scaled": True, "alpha": 0.7, "ridge": 0.5, "intercept": True} | settings
    return Regressions(Box.unit(features), arms, **more)


def scores_of(rows, arms, losses, z, *, alpha=0.7, ridge=0.5, count=3):
    """Return each arm's estimate - alpha * width by the normal equations."""
    scores = []
    for m in range(count):
        Z, y = rows[arms == m], losses[arms == m]
        A = ridge * np.eye(len(z)) + Z.T @ Z
        scores.append(z @ np.linalg.solve(A, Z.T @ y) - alpha * np.sqrt(z @ np.linalg.solve(A, z)))
    return np.array(scores)


@pytest.mark.parametrize("intercept", [True, False])
def test_it_plays_the_arm_with_the_least_optimistic_loss(intercept):
    rng, learner = np.random.default_rng(0), learner_of(intercept=intercept)
    points, arms, losses = rng.random((60, 2)), rng.integers(3, size=60), rng.random(60)
    for point, arm, loss in zip(points, arms.tolist(), losses.tolist(), strict=True):
        learner.learn(learner.read(point)[0], None, arm, loss, 1.0, None)
    one = np.ones((60, 1))[:, : int(intercept)]
    for point in rng.random((30, 2)):
        scores = scores_of(np.hstack([points, one]), arms, losses, np.append(point, np.ones(int(intercept))))
        view = learner.read(point)[0]
        assert learner.choose(view, None, 0.5) == (int(scores.argmin()), 1.0, -1.0)
        without = np.ones(3, dtype=np.uint8)
        without[scores.argmin()] = 0
        assert learner.choose(view, without, 0.5)[0] == scores.argsort()[1]


def test_ties_are_broken_evenly():
    learner, p = learner_of(), np.empty(3)
    view = learner.read([0.2, 0.9])[0]
    learner.fill(view, np.array([1, 0, 1], dtype=np.uint8), p)
    assert p.tolist() == [0.5, 0.0, 0.5]
    assert [learner.choose(view, None, u)[0] for u in (0.1, 0.5, 0.9)] == [0, 1, 2]


def test_a_table_is_its_rounds():
    rng, whole, single = np.random.default_rng(1), learner_of(), learner_of()
    points, losses, us = rng.random((40, 2)), rng.random((40, 3)), rng.random(40)
    table = Played(points, None, losses, us, np.zeros(40, dtype=np.int64), np.zeros(40))
    whole.play(whole.read_rows(points, 0), table, 0, 0.0, 0)
    for t in range(40):
        view = single.read(points[t])[0]
        arm, probability, _ = single.choose(view, None, us[t])
        assert (arm, probability) == (table.arms[t], table.probabilities[t])
        single.learn(view, None, arm, losses[t, arm], probability, None)
    assert np.array_equal(whole.state, single.state) and whole.rounds == single.rounds == 40
    wider = whole.with_arm("d")
    assert np.array_equal(wider.state[:3], whole.state) and wider.updates.tolist() == [*whole.updates.tolist(), 0]


def test_what_it_refuses():
    learner = learner_of()
    with pytest.raises(hsb.InputError, match=r"rows of 2 numbers, not dicts; given a dict with \['x'\]"):
        learner.read({"x": 1.0})
    with pytest.raises(hsb.InputError, match="One context at a time here; given 2"):
        learner.read([[0.1, 0.2], [0.3, 0.4]])
    with pytest.raises(hsb.BudgetError, match=r"20000 arms with 101 coefficients need .* GB; the limit is 2 GB"):
        learner_of(arms=20_000, features=100)
    arrays = {name: array.copy() for name, array in learner.to_arrays().items()}
    arrays["state"][0, 0, 1] = 1.0
    with pytest.raises(ValueError, match="not symmetric"):
        learner.copy().from_arrays(arrays, 1)
