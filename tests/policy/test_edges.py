"""What a critical reader found at the edges: each was a bug once."""

import copy
import math
import pickle

import numpy as np
import pytest
from support.structures import EXAMPLES

import hsb
from hsb.engine.state import trees


@pytest.mark.parametrize("structure", EXAMPLES.values(), ids=list(EXAMPLES))
def test_a_policy_is_loaded_after_a_round_in_logarithms(structure, tmp_path):
    policy = hsb.HSB(structure, arms=3, learning_rate=1.0, seed=0)
    context = [policy.structure.space.bounds(j, 0.0, 0.5)[0] for j in range(structure.space.features)]
    for arm in (0, 1, 0, 1):
        policy.learn(hsb.Decision(context=context, arm=arm, propensity=1e-3), loss=1.0)
    policy.decide(context, available=[0, 1])
    policy.save(tmp_path / "policy.hsb")
    loaded = hsb.load(tmp_path / "policy.hsb")
    assert np.array_equal(loaded.probabilities(context, available=[0, 1]), policy.probabilities(context, available=[0, 1]))


def test_trees_too_deep_are_refused():
    with pytest.raises(hsb.BudgetError, match="at most 4000 levels"):
        hsb.BinaryTree(depth=4108, space=hsb.Box.unit(79))
    deep = hsb.BinaryTree(depth=1092, space=hsb.Box.unit(21))
    with pytest.raises(hsb.BudgetError, match=r"depth \* ln\(1 / \(1 - stop\)\) may be 650"):
        hsb.HSB(deep, arms=2, learning_rate=1.0)
    assert hsb.HSB(deep, arms=2, learning_rate=1.0, stop=0.1).probabilities([0.5] * 21).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("depth", "features", "stop"), [(52, 1, 0.999), (104, 2, 0.99), (416, 8, 0.7), (900, 18, 0.5)])
def test_the_last_bit_is_learned_at_any_depth(depth, features, stop):
    """Two contexts that differ in the last bit of the last feature, with opposite best arms."""
    policy = hsb.HSB(hsb.BinaryTree(depth=depth, space=hsb.Box.unit(features)), arms=2, learning_rate=1.0, stop=stop, seed=0)
    here = [0.25] * features
    there = [*here[:-1], 0.25 + 2.0 ** -(depth // features)]
    for _ in range(3):
        policy.learn(hsb.Decision(context=here, arm=0, propensity=1e-3), loss=1.0)
        policy.learn(hsb.Decision(context=there, arm=1, propensity=1e-3), loss=1.0)
    assert policy.probabilities(here)[1] > 0.999
    assert policy.probabilities(there)[0] > 0.999


def test_one_arm_then_two():
    policy = hsb.HSB(hsb.BinaryTree(depth=0), arms=["a"], horizon=100, seed=0)
    policy.learn(policy.decide(0.5), loss=1.0)
    policy.add_arm("b")
    assert math.isclose(
        policy.learner.mixture.rates.learning_rate, hsb.theory.learning_rate(policy.structure, arms=2, horizon=100)
    )
    policy.learn(hsb.Decision(context=0.5, arm="a", propensity=0.5), loss=1.0)
    assert policy.probabilities(0.5)[1] > 0.5


@pytest.mark.parametrize("words", [trees.DENSE_WORDS, 0])
def test_a_policy_can_be_pickled(words, monkeypatch):
    monkeypatch.setattr(trees, "DENSE_WORDS", words)
    policy = hsb.HSB(hsb.BinaryTree(depth=6), arms=3, learning_rate=0.3, seed=0)
    for t in range(50):
        policy.learn(policy.decide(t / 50), loss=0.5)
    for twin in (pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy), policy.copy()):
        assert twin.decide(0.3).propensity == policy.copy().decide(0.3).propensity
        twin.learn(twin.decide(0.9), loss=1.0)
    assert policy.rounds == 50


def test_a_pickled_policy_remembers_what_was_learned_and_goes_its_own_way():
    policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=2, learning_rate=0.3, seed=0)
    before, pending = policy.decide(0.1), policy.decide(0.2)
    policy.learn(before, loss=1.0)
    twin = pickle.loads(pickle.dumps(policy))
    with pytest.raises(hsb.InputError, match="learned already"):
        twin.learn(before, loss=1.0)
    twin.learn(pending, loss=1.0)
    policy.learn(pending, loss=1.0)  # each of them once
    after = policy.decide(0.3)
    policy.learn(after, loss=1.0)
    twin.decide(0.4)  # has the same number as `after`, and is another decision
    twin.learn(after, loss=1.0)
    with pytest.raises(hsb.InputError, match="learned already"):
        twin.learn(after, loss=1.0)


def test_a_copy_takes_no_more_memory_than_what_was_visited():
    policy = hsb.HSB(hsb.BinaryTree(depth=16), arms=3, learning_rate=0.3, seed=0)
    policy.learn(policy.decide(0.3), loss=1.0)
    twin = policy.copy()
    assert twin.nbytes == policy.nbytes < 20_000
    assert np.array_equal(twin.probabilities(0.3), policy.probabilities(0.3))
    assert twin.learner.mixture.state.digest() == policy.learner.mixture.state.digest()


def test_budgets_count_the_arms():
    with pytest.raises(hsb.BudgetError, match=r"33\.6 GB"):
        hsb.HSB(hsb.PositionSplits(bits=[20]), arms=1000, learning_rate=1.0)


def test_labels_keep_their_type_in_a_run():
    policy = hsb.HSB(hsb.BinaryTree(depth=2), arms=[False, True], learning_rate=0.1, seed=0)
    run = hsb.simulate(policy, [0.1, 0.9], [[0.0, 1.0], [1.0, 0.0]], available=[[1, 0], [0, 1]])
    assert run.arms.tolist() == [False, True]
    assert all(type(arm) is bool for arm in run.arms)


def test_stop_reaches_the_trees_of_one_of():
    pair = hsb.OneOf(hsb.BinaryTree(depth=3), hsb.Lexicographic(leaves=8))
    assert hsb.HSB(pair, arms=2, learning_rate=1.0, stop=0.9).probabilities(0.3).sum() == pytest.approx(1.0)
    with pytest.raises(hsb.InputError, match="stop="):
        hsb.HSB(hsb.OneOf(hsb.Lexicographic(leaves=8)), arms=2, learning_rate=1.0, stop=0.9)


def test_boxes_are_compared_by_what_they_are():
    assert hsb.Box(0, 1) == hsb.Box([0.0], [1.0])
    assert len({hsb.Box(0, 1), hsb.Box(0, 1), hsb.Box(0, 2), hsb.Cells(2), hsb.Cells(2)}) == 3


def test_arms_may_be_read_only_once():
    assert hsb.HSB(hsb.BinaryTree(depth=2), arms=(name for name in "ab"), seed=0).arms == ["a", "b"]
    assert hsb.SExp3(4, arms=iter(["a", "b"]), learning_rate=0.1).arms == ["a", "b"]
