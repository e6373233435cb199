"""Algorithm 2, compiled, against its rounds one by one: the rows learned, their probabilities and the state, bit for bit."""

import numpy as np
import pytest
from support.kernel_cases import INTERPRETED

import hsb
from hsb.engine.kernels import replay
from hsb.policy.learner import LoggedRows

ROWS = 300


def log_of(arms, pools):
    """Return a log with few different contexts, so that probabilities are reused, and the numbers that decide."""
    rng = np.random.default_rng(arms)
    masks = (rng.random((pools, arms)) < 0.5).astype(np.uint8)
    masks[:, 0] = 1
    masks[0] = 1
    pool = rng.integers(pools, size=ROWS)
    arm = np.array([int(rng.choice(np.flatnonzero(masks[k]))) for k in pool])
    points = rng.choice([0.1, 0.3, 0.6, 0.9], size=(ROWS, 1))
    return LoggedRows(points, masks, pool, arm, rng.random(ROWS)), rng.random(ROWS)


@pytest.mark.parametrize(("arms", "pools"), [(2, 1), (4, 3), (30, 5)])
def test_it_equals_single_rounds(arms, pools):
    rows, us = log_of(arms, pools)
    fast, slow = (hsb.HSB(hsb.BinaryTree(depth=4), arms=arms, learning_rate=0.2).learner for _ in range(2))
    run = fast.begin_replay(rows, us)
    fast.replay(run)
    assert run.over
    learned = []
    for t in range(ROWS):
        key, mask = slow.keys.read(float(rows.points[t, 0]))[0], rows.mask(t)
        arm, probability, _ = slow.choose(key, mask, us[t])
        if arm == rows.arm[t]:
            learned.append((t, probability))
            slow.learn(key, mask, arm, rows.losses[t], probability, None)
    count = run.at[-1][1]
    assert list(zip(run.learned.rows[:count].tolist(), run.learned.probabilities[:count].tolist(), strict=True)) == learned
    assert 5 < count < ROWS and fast.mixture.state.digest() == slow.mixture.state.digest()


def test_it_stops_after_as_many_rows_as_asked_for_and_goes_on_from_there():
    rows, us = log_of(4, 3)
    whole, parts = (hsb.HSB(hsb.BinaryTree(depth=4), arms=4, learning_rate=0.2).learner for _ in range(2))
    run = whole.begin_replay(rows, us)
    whole.replay(run)
    other, at, state = parts.begin_replay(rows, us), (0, 0), parts.mixture.state
    for most in range(10, ROWS, 10):
        at = state.replay(other.pools, other.events, other.memory, most, other.learned, at)
        assert at[1] <= most
    assert at == run.at[-1] and state.digest() == whole.mixture.state.digest()


@INTERPRETED
def test_probabilities_are_reused_for_the_same_key_and_pool_until_something_is_learned():
    memory = replay.Memory(np.empty((4, 2)), np.empty((4, 2)), np.array([-1, 3, -1, -1]))
    keys, pool = np.array([[7], [8], [9], [7], [7], [7], [8]]), np.array([0, 0, 0, 1, 1, 0, 1])
    assert replay._is_kept(memory, 1, keys, 4, pool, 3)
    assert not replay._is_kept(memory, 1, keys, 4, pool, 4)  # learned since
    assert not replay._is_kept(memory, 1, keys, 5, pool, 3)  # another pool
    assert not replay._is_kept(memory, 1, keys, 6, pool, 3)  # another key
    assert not replay._is_kept(memory, 0, keys, 4, pool, 0)  # nothing there
