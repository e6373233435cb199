"""The best mapping in hindsight: none of its class loses less, and it goes on playing it."""

from typing import Any

import numpy as np
import pytest
from naive import leaders as naive
from support.leader_cases import (
    PLANE,
    TREE,
    bad_rounds,
    bad_shapes,
    goes_on,
    pure_decisions,
    refused,
    same_one_by_one,
    state,
    table,
)

import hsb
from hsb.policies.best_fixed import BestFixed

FOUR = hsb.BinaryTree(depth=2)


def fitted(**settings: Any) -> BestFixed:
    contexts, losses, _ = table(40, 3)
    return BestFixed.of(TREE, contexts, losses, **({"arms": ["a", "b", "c"], "seed": 0} | settings))


@pytest.mark.parametrize("most", [None, 1, 2, 3, 9])
def test_no_mapping_of_its_class_loses_less(most: int | None) -> None:
    for seed in range(20):
        contexts, losses, _ = table(30, 3, seed=seed)
        losses = np.round(losses * 4) / 4  # sums are exact
        leaf = (contexts * 4).astype(int)
        best = min(losses[np.arange(30), np.array(g)[leaf]].sum() for g in naive.mappings(4, 3, most))
        policy = BestFixed.of(FOUR, contexts, losses, regions=most)
        assert policy.average_loss == best / 30
        assert policy.average_loss == losses[np.arange(30), policy.mapping[leaf]].mean()
        run = hsb.simulate(policy, contexts, losses)
        assert run.average_loss == policy.average_loss and (run.propensities == 1).all()


def test_one_arm_without_a_structure_looks_at_no_context() -> None:
    losses = [[1.0, 0.5], [0.0, 0.5], [1.0, 0.25]]
    policy = BestFixed.of(None, ["anything", None, [1, 2]], losses, arms=["x", "y"])
    assert policy.mapping.tolist() == [1] and policy.average_loss == 1.25 / 3
    assert policy.decide(object()).arm == "y"
    assert BestFixed.of(FOUR, [0.1, 0.5, 0.9], losses, regions=1).mapping.tolist() == [1] * 4
    assert (hsb.simulate(policy, ["what", "ever"], [[0, 1], [1, 0]]).losses == [1, 0]).all()


def test_leaves_never_seen_get_the_best_arm_overall() -> None:
    policy = BestFixed.of(FOUR, [0.1, 0.3, 0.35], [[0.0, 1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    assert policy.mapping.tolist() == [0, 2, 2, 2]


def test_rewards_and_other_ranges_mirror_losses() -> None:
    contexts, losses, _ = table(40, 3, seed=4)
    plain = BestFixed.of(TREE, contexts, losses, regions=3)
    mirrored = BestFixed.of(TREE, contexts, rewards=1 - losses, regions=3)
    wide = BestFixed.of(TREE, contexts, losses * 20 - 5, regions=3, loss_range=(-5, 15))
    assert plain.mapping.tolist() == mirrored.mapping.tolist() == wide.mapping.tolist()
    assert mirrored.average_loss == pytest.approx(plain.average_loss, abs=1e-12)
    assert wide.average_loss == pytest.approx(plain.average_loss * 20 - 5, abs=1e-12)


def test_where_its_arm_is_not_available_the_leaf_decides() -> None:
    policy = BestFixed.of(FOUR, [0.1, 0.1, 0.9], [[0.0, 0.5, 0.25], [0.0, 0.5, 0.25], [0.0, 0.5, 0.75]])
    assert policy.decide(0.1, available=[1, 2]).arm == 2 and policy.decide(0.9, available=[1, 2]).arm == 1
    assert policy.probabilities(0.1, available=[1, 2]).tolist() == [0, 0, 1]
    given = BestFixed(FOUR, arms=3, mapping=[0, 1, 2, 2])
    assert given.decide(0.1, available=[1, 2]).arm == 1  # nothing is known: the first one available
    assert np.isnan(given.average_loss) and BestFixed(FOUR, arms=3, mapping=2).mapping.tolist() == [2] * 4


def test_it_learns_nothing() -> None:
    policy = fitted()
    before = state(policy)["arrays"]
    mapping = policy.mapping
    mapping[:] = 0  # a copy
    for t in range(50):
        policy.learn(policy.decide(t / 50), loss=1.0)
    assert state(policy)["arrays"] == before and policy.rounds == 50
    assert policy.regret_bound(100) == np.inf


def test_arms_that_come_and_go() -> None:
    policy = fitted()
    mapping = policy.mapping.tolist()
    policy.add_arm("d")
    policy.remove_arm("a")
    assert policy.mapping.tolist() == mapping
    for leaf, m in enumerate(mapping):
        arm = policy.decide((leaf + 0.5) / 8).arm
        assert arm == policy.arms[m] if m else arm in ("b", "c")  # the unknown one comes last
        assert policy.decide((leaf + 0.5) / 8, available=["d"]).arm == "d"
    policy.add_arm("a")
    assert [policy.decide((leaf + 0.5) / 8).arm for leaf in range(8)] == [policy.arms[m] for m in mapping]


@pytest.mark.parametrize("masked", [False, True])
def test_a_table_is_its_rounds(masked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    contexts, losses, _ = table(60, 3, features=2, seed=9)
    same_one_by_one(BestFixed.of(PLANE, contexts * [72, 1] + [18, 0], losses), masked=masked, monkeypatch=monkeypatch)


def test_decisions_are_pure_and_files_go_on(tmp_path: Any) -> None:
    pure_decisions(fitted(), 0.3)
    goes_on(fitted(), tmp_path)
    goes_on(BestFixed(hsb.Lexicographic(leaves=5), arms=2, mapping=[0, 1, 0, 1, 1]), tmp_path)
    goes_on(BestFixed.of(None, [0, 1], [[0.0, 1.0], [0.0, 0.5]]), tmp_path)
    policy = fitted()
    policy.save(tmp_path / "fitted.hsb")
    loaded = hsb.load(tmp_path / "fitted.hsb")
    assert isinstance(loaded, BestFixed) and loaded.average_loss == policy.average_loss
    assert loaded.mapping.tolist() == policy.mapping.tolist()


def test_bad_input() -> None:
    bad_rounds(fitted())
    bad_shapes(lambda structure, arms=2: BestFixed(structure, arms=arms, mapping=0))
    x = [0.1, 0.2]
    refused(lambda: BestFixed(FOUR, arms=2, mapping=[0, 1]), "for each leaf, shape (4,)", "(2,)")
    refused(lambda: BestFixed(FOUR, arms=2, mapping=[0, 1, 2, 0]), "0 .. 1", "[0, 1, 2, 0]")
    refused(lambda: BestFixed(FOUR, arms=2, mapping=[0, 1, 0.5, 0]), "0 .. 1")
    refused(lambda: BestFixed(FOUR, arms=2, mapping="ab"), "mapping must be numbers")
    refused(lambda: BestFixed.of(FOUR, x), "exactly one", "neither")
    refused(lambda: BestFixed.of(FOUR, x, [[0, 1]] * 2, rewards=[[0, 1]] * 2), "exactly one", "both")
    refused(lambda: BestFixed.of(FOUR, x, [0, 1]), "(rounds, arms)", "(2,)")
    refused(lambda: BestFixed.of(FOUR, [], np.zeros((0, 2))), "at least one", "(0, 2)")
    refused(lambda: BestFixed.of(FOUR, x, [[0, 1]]), "(2, 2)", "(1, 2)")
    refused(lambda: BestFixed.of(FOUR, x, [[0, 1]] * 2, arms=3), "(2, 3)", "(2, 2)")
    refused(lambda: BestFixed.of(FOUR, x, [[0, 1], [0, 2]]), "losses[1, 1] is 2.0", "loss_range")
    refused(lambda: BestFixed.of(FOUR, x, rewards=[[0, 1], [np.nan, 1]]), "rewards[1, 0] is nan")
    refused(lambda: BestFixed.of(FOUR, x, [[0, 1]] * 2, regions=0), "regions", "at least 1", "0")
    refused(lambda: BestFixed.of(FOUR, [0.1, 1.2], [[0, 1]] * 2), "Context 1", "1.2")
    refused(lambda: BestFixed.of(hsb.BinaryTree(depth=20), x, [[0, 1]] * 2, regions=1000), "1000 regions", "fewer regions")
