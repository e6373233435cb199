"""Rounds of a tree with Beta counts: evidence and probabilities of few nodes, by hand."""

import numpy as np
import pytest
from naive import bayes as naive

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels import thompson
from hsb.learners.thompson_tree import ThompsonTree, TreeModel

EVERY = np.zeros(0, dtype=np.uint8)


def learner_of(depth, forgetting=None):
    return ThompsonTree(TreeModel(hsb.BinaryTree(depth=depth), None, (1.0, 1.0), forgetting), 2)


def p_of(learner, context):
    p = np.empty(2)
    learner.fill(learner.read(context)[0], None, p)
    return p


def learn(learner, context, arm, loss):
    grown = learner.learn(learner.read(context)[0], None, arm, loss, 0.5, None)
    return learner if grown is None else grown


def test_a_fresh_tree_leaves_everything_to_the_prior():
    learner = learner_of(3)
    assert thompson.visit(*learner.tree, learner.read(0.3)[0]) == 0 and learner.tree.F[h.REST] == 1.0
    assert p_of(learner, 0.3).tolist() == [0.5, 0.5]


def test_a_single_node_plays_the_arm_with_the_least_beta_variable():
    learner = learner_of(0)
    for arm, loss in ((0, 1.0), (0, 0.0), (1, 0.0), (1, 0.0)):
        learner = learn(learner, 0.3, arm, loss)
    assert p_of(learner, 0.3) == pytest.approx(naive.exact_least([(2, 2), (3, 1)]), abs=1e-9)
    assert learner.rounds == 4


def test_a_context_elsewhere_hears_of_a_round_through_the_common_nodes():
    """Depth 1: the root stops with 1/2, and after one loss it is as likely as before, for its child saw the same."""
    learner = learn(learner_of(1), 0.1, 0, 1.0)
    once = naive.exact_least([(1, 2), (1, 1)])
    assert p_of(learner, 0.1) == pytest.approx(once, abs=1e-9)
    assert p_of(learner, 0.9) == pytest.approx(0.5 * np.array(once) + 0.25, abs=1e-9)


def test_forgetting_fades_the_counts_of_the_arm_played_ten_times_as_fast():
    learner = learner_of(0, forgetting=0.5)
    for arm in (0, 1):
        learner = learn(learner, 0.3, arm, 1.0)
    learner = learn(learner, 0.3, 0, 0.0)
    row = learner.tree.F[learner.tree.I[19] + thompson.COUNTS :][:4]
    assert row == pytest.approx([1.0, 0.95 * 0.5, 0.0, 0.95])
