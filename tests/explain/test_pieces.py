"""Parts common to all searches: weights however small, equals, and the names of regions."""

import numpy as np
import pytest
from support.explain_cases import learn

import hsb
from hsb.explain.pieces import TIE, best_arms, first_best, in_users_units, log_options, log_shares, piece, region_names

NESTED = {
    "all": {"leaves": [0, 1, 2, 3], "groups": [["low", "high"]]},
    "low": {"leaves": [0, 1], "groups": [["first", "second"]]},
    "first": {"leaves": [0]},
    "second": {"leaves": [1]},
    "high": {"leaves": [2, 3]},
}


def test_the_first_of_equals_is_best() -> None:
    assert first_best([1.0, 3.0, 3.0 * (1 + TIE / 2), 2.0]) == 1
    assert first_best([1.0, 3.0, 3.0 * (1 + 10 * TIE)]) == 2
    assert first_best([-np.inf, -5.0]) == 1


@pytest.mark.parametrize("penalty", [0.5, 700.0, 5e4])
def test_shares_are_those_of_the_penalties(penalty: float) -> None:
    """At 5e4 the weight of an arm is far below the range of a double."""
    tree = hsb.BinaryTree(depth=0)
    [member] = learn(tree, tree.members(3, None), [[0.5], [0.5]], [0, 1], [penalty, 2.0 * penalty])
    block = np.asarray(member.kind.blocks(member))[:1]
    expected = -penalty * np.array([1.0, 2.0, 0.0]) - np.log(np.exp(-penalty * np.array([1.0, 2.0, 0.0])).sum())
    assert log_shares(member, block)[0] == pytest.approx(expected, rel=1e-9)
    best = best_arms(member, block)
    assert (best.arm.tolist(), best.seen.tolist()) == ([2], [True])
    assert piece((), best, 0, 3).share == pytest.approx(np.exp(expected[2]))


def test_a_node_without_updates_names_the_first_arm() -> None:
    [member] = hsb.Lexicographic(leaves=2).members(4, None)
    best = best_arms(member, np.asarray(member.kind.blocks(member))[:1])
    assert (best.arm.tolist(), best.seen.tolist()) == ([0], [False])
    assert piece((), best, 0, 4) == ((), 0, 0.25, False)


def test_options_of_weight_0_are_never_best() -> None:
    F = np.array([9.0, 0.5, 0.0, 0.25, 0.0, 0.0, 0.0])  # a row: a word, three weights, their exponents
    logs = log_options(F, np.array([0]), 3)[0]
    assert logs[[0, 2]] == pytest.approx(np.log([0.5, 0.25])) and logs[1] == -np.inf


def test_features_that_a_structure_does_not_use_span_their_range() -> None:
    tree = hsb.BinaryTree(depth=1, features=[1], space=hsb.Box([0, 18, -1], [1, 90, 1]))
    assert in_users_units(tree, (((0.0, 0.5),),)) == (((0.0, 1.0), (18.0, 54.0), (-1.0, 1.0)),)


def test_regions_have_the_names_of_the_fewest_nodes() -> None:
    ages = hsb.Hierarchy(NESTED)
    regions = [(((0.0, 4.0),),), (((1.0, 4.0),),), (((0.0, 2.0),),), (((0.0, 1.0),), ((2.0, 4.0),)), (((3.0, 4.0),),)]
    assert region_names(ages, regions) == ["all", "second or high", "low", "first or high", None]
    assert region_names(hsb.BinaryTree(depth=1), [(((0.0, 1.0),),)]) == [None]
