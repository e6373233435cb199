"""A tree that grows on the arms that are played: it stops when it is right, has enough leaves, or can cut no more."""

import numpy as np
import pytest

import hsb
from hsb.explain.columns import Part, columns_of
from hsb.explain.effort import UNITS, Effort
from hsb.explain.growing import FULL, THIN, Growing, Leaf

X, Y = columns_of(hsb.Box.unit(2))
AXES = (X, Y)


def quarters(points: np.ndarray) -> np.ndarray:
    """Return arm 2 above 0.5 in y, else arm 0 or 1 by x: three rules."""
    return np.where(points[:, 1] >= 0.5, 2, (points[:, 0] >= 0.25).astype(int))


def grow(n: int = 400, most: int = 20, error: float = 0.0, **options: object) -> tuple[Growing, np.ndarray]:
    points = np.random.default_rng(3).random((n, 2))
    tree = Growing(AXES, [None, None], points, quarters(points), np.full(n, 1.0 / n), **options)  # type: ignore[arg-type]
    tree.grow(error, most)
    return tree, points


def test_a_leaf_has_the_arm_of_the_largest_weight() -> None:
    part = (X.everything, Y.everything)
    leaf = Leaf.of(part, np.zeros((4, 2)), np.array([0, 0, 2, 2]), np.array([0.1, 0.1, 0.4, 0.2]))
    assert leaf.arm == 2 and leaf.wrong == pytest.approx(0.2)
    assert Leaf.of(part, np.zeros((2, 2)), np.array([1, 1]), np.array([0.3, 0.3])).wrong == 0.0


def test_it_finds_the_rules() -> None:
    tree, points = grow()
    assert len(tree.leaves) == 3 and tree.wrong == 0.0
    assert tree.arms(points).tolist() == quarters(points).tolist()
    sides = {arm: part for part, arm in tree.arms_of_parts()}
    assert sides[2][1][0] == pytest.approx(0.5, abs=0.01) and sides[0][0][1] == pytest.approx(0.25, abs=0.01)
    fresh = np.random.default_rng(4).random((2000, 2))
    assert np.mean(tree.arms(fresh) == quarters(fresh)) > 0.98


def test_it_stops_early_if_told_to() -> None:
    whole, _ = grow(most=1)
    assert len(whole.leaves) == 1 and whole.wrong == pytest.approx(np.mean(quarters(grow()[1]) != 2), abs=0.06)
    assert len(grow(most=2)[0].leaves) == 2
    assert len(grow(error=0.2)[0].leaves) == 2  # the largest error is cut first
    work = Effort(1.0, query_cost=1.0, columns=2)
    work.spend(UNITS)
    assert len(grow(work=work)[0].leaves) == 1


def test_equal_contexts_with_different_arms_are_no_endless_work() -> None:
    tree = Growing(AXES, [None, None], np.full((6, 2), 0.5), np.array([0, 1, 1, 1, 1, 1]), np.full(6, 1 / 6))
    tree.grow(0.0, 10)
    assert len(tree.leaves) == 1 and tree.stuck == {0} and tree.wrong == pytest.approx(1 / 6)
    tree.add(np.array([[0.1, 0.1]]), np.array([0]))
    assert not tree.stuck
    tree.grow(0.0, 10)
    assert len(tree.leaves) == 2


def test_contexts_that_are_added_weigh_as_many_as_they_are() -> None:
    tree, _ = grow(n=100)
    tree.add(np.full((300, 2), 0.9), np.zeros(300, dtype=np.int64))
    assert sum(float(leaf.w.sum()) for leaf in tree.leaves.values()) == pytest.approx(1.0)
    assert tree.wrong == pytest.approx((np.random.default_rng(3).random((100, 2))[:, 1] >= 0.5).sum() / 400)


def test_a_leaf_with_few_contexts_gets_more() -> None:
    points, asked = np.random.default_rng(5).random((THIN // 2, 2)), []

    def query(wanted: list[tuple[Part, int]]) -> list[tuple[np.ndarray, np.ndarray]]:
        asked.extend(wanted)
        drawn = [np.random.default_rng(k).uniform(*np.array(part).T, size=(n, 2)) for k, (part, n) in enumerate(wanted)]
        return [(rows, quarters(rows)) for rows in drawn]

    tree = Growing(AXES, [None, None], points, quarters(points), np.full(len(points), 1.0 / len(points)))
    tree.grow(0.0, 3, query)  # type: ignore[arg-type]
    assert asked[0] == ((X.everything, Y.everything), FULL - THIN // 2)
    assert sum(float(leaf.w.sum()) for leaf in tree.leaves.values()) == pytest.approx(1.0)


def test_a_threshold_is_the_edge_between_two_cells() -> None:
    points = np.random.default_rng(3).random((200, 1))
    (x,) = columns_of(hsb.Box.unit())
    tree = Growing([x], [np.array([0.0, 0.3, 0.6, 1.0])], points, (points[:, 0] >= 0.3).astype(int), np.full(200, 1 / 200))
    tree.grow(0.0, 8)
    assert {part for part, _ in tree.arms_of_parts()} == {((0.0, 0.3),), ((0.3, 1.0),)}
