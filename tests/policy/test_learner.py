"""The values that policies and learners pass to each other."""

import numpy as np

import hsb
from hsb.policy.learner import NO_MEMO, Memo, Played


def test_a_decision_that_no_policy_made_has_no_memo():
    assert Memo() == NO_MEMO and NO_MEMO.rounds == -1
    policy = hsb.Exp3(arms=3, learning_rate=0.1, seed=0)
    policy.learn(policy.decide(None), loss=1.0)
    memo = policy.decide(None).memo
    assert (memo.rounds, memo.arms) == (1, 3)


def test_a_table_without_masks_offers_every_arm():
    n, masks = 2, np.array([[1, 0], [1, 1]], dtype=np.uint8)
    columns = {"points": None, "losses": np.zeros((n, 2)), "us": np.zeros(n), "arms": np.zeros(n, dtype=int)}
    free = Played(masks=None, probabilities=np.zeros(n), **columns)
    some = Played(masks=masks, probabilities=np.zeros(n), **columns)
    assert free.mask(0) is None and some.mask(0).tolist() == [1, 0]


def test_every_learner_counts_what_it_has_learned():
    for policy in (hsb.Exp3(arms=2, learning_rate=0.1), hsb.LinUCB(arms=2, features=1), hsb.HSB(arms=2)):
        for _ in range(3):
            policy.learn(policy.decide([0.5]), loss=0.5)
        assert policy.learner.rounds == policy.rounds == 3
