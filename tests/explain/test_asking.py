"""Asking a policy over a structure: its probabilities at many contexts, and the cells in which they are constant."""

import numpy as np
import pytest

import hsb
from hsb.explain.asking import AT_ONCE, check_rules, edges_of, explain_played, player, prior_rule
from hsb.explain.columns import columns_of


def taught(structure: hsb.Structure, arms: int = 3) -> hsb.HSB:
    policy, rng = hsb.HSB(structure, arms=arms, seed=0), np.random.default_rng(0)
    low, high = structure.space.ends()
    for x in low + rng.random((60, len(low))) * (high - low):
        policy.learn(policy.decide(x), reward=float(rng.random() < x[0]))
    return policy


def test_probabilities_are_those_of_each_context() -> None:
    policy = taught(hsb.BinaryTree(depth=3, space=hsb.Box([18, 0], [90, 5])))
    points = np.random.default_rng(1).uniform([18, 0], [90, 5], (40, 2))
    table, digest = player(policy)(points), policy.digest()
    assert np.array_equal(table, [policy.probabilities(point) for point in points])
    assert policy.digest() == digest


def test_many_contexts_are_asked_in_pieces() -> None:
    policy = taught(hsb.BinaryTree(depth=2))
    points = np.linspace(0.0, 1.0, AT_ONCE + 3)[:, None]
    table = player(policy)(points)
    assert np.array_equal(table[-3:], [policy.probabilities(point) for point in points[-3:]])
    assert np.allclose(table.sum(axis=1), 1.0)


def test_arms_that_are_not_available_have_no_probability() -> None:
    policy = taught(hsb.BinaryTree(depth=2))
    policy.remove_arm(1)
    table = player(policy)(np.array([[0.1], [0.9]]))
    assert (table[:, 1] == 0.0).all() and np.allclose(table.sum(axis=1), 1.0)


def test_edges_of_all_parts() -> None:
    both = hsb.OneOf(hsb.BinaryTree(depth=1), hsb.KaryTree(k=3, depth=1))
    edges = edges_of(both)
    assert edges is not None and np.allclose(edges[0], [0, 1 / 3, 1 / 2, 2 / 3, 1])
    edges = edges_of(hsb.BinaryTree(depth=3, space=hsb.Box([18, 0], [90, 1])), advisor=[1, 3])
    assert edges is not None
    assert np.allclose(edges[0], [18, 36, 54, 72, 90]) and np.allclose(edges[1], [0, 1 / 3, 1 / 2, 2 / 3, 1])
    assert np.allclose(edges_of(hsb.Lexicographic(leaves=4, space=hsb.Cells(4))), [[0, 1, 2, 3, 4]])  # type: ignore[arg-type]


def test_a_feature_with_too_many_cells_has_no_edges() -> None:
    assert edges_of(hsb.BinaryTree(depth=40)) is None


def test_before_the_first_update_there_is_one_rule() -> None:
    structure = hsb.BinaryTree(depth=3, space=hsb.Box([18, 0], [90, 5]))
    policy = hsb.HSB(structure, arms=["a", "b"], seed=0)
    [region] = explain_played(policy, structure, edges=edges_of(structure))
    assert (region.arm, region.probability, region.seen, region.coverage) == ("a", 0.5, False, 1.0)
    assert region.boxes == (((18.0, 90.0), (0.0, 5.0)),)
    assert prior_rule(columns_of(structure.space), ["a", "b"])[0].boxes == region.boxes


def test_the_number_of_rules_is_checked() -> None:
    check_rules(None)
    check_rules(3)
    for wrong in (0, -1, 2.5, "3"):
        with pytest.raises(hsb.InputError, match="rules"):
            check_rules(wrong)  # type: ignore[arg-type]
