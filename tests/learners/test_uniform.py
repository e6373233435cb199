"""Uniform play: every available arm alike, one by one and in tables."""

import numpy as np
import pytest

from hsb.learners.uniform import UniformPlay
from hsb.policy.learner import Played


def test_a_number_picks_the_arm_of_its_part():
    learner, mask = UniformPlay(4), np.array([0, 1, 0, 1], dtype=np.uint8)
    assert [learner.choose(None, None, u)[0] for u in (0.0, 0.26, 0.51, 1.0 - 2**-53)] == [0, 1, 2, 3]
    assert [learner.choose(None, mask, u) for u in (0.49, 0.5)] == [(1, 0.5, -1.0), (3, 0.5, -1.0)]
    p = np.empty(4)
    learner.fill(None, mask, p)
    assert p.tolist() == [0.0, 0.5, 0.0, 0.5]


@pytest.mark.parametrize("masked", [False, True])
def test_a_table_is_its_rounds(masked):
    rng = np.random.default_rng(0)
    masks = (rng.random((200, 5)) < 0.5).astype(np.uint8)
    masks[:, 2] = 1
    table = Played(
        None, masks if masked else None, np.zeros((200, 5)), rng.random(200), np.empty(200, dtype=np.int64), np.empty(200)
    )
    learner = UniformPlay(5, rounds=3)
    learner.play(150, table, 50, 0.0, 0)
    rounds = [learner.choose(None, table.mask(t), table.us[t])[:2] for t in range(50, 200)]
    assert rounds == list(zip(table.arms[50:].tolist(), table.probabilities[50:].tolist(), strict=True))
    assert learner.rounds == 153


def test_a_copy_counts_alone_and_a_new_arm_keeps_the_count():
    learner = UniformPlay(2, rounds=7)
    copy, wider = learner.copy(), learner.with_arm("c")
    learner.learn(None, None, 0, 1.0, 0.5, None)
    assert (learner.rounds, copy.rounds, wider.rounds, wider.arms) == (8, 7, 7, 3)
