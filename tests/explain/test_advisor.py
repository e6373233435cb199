"""The mapping of an advisor: from the root down, a node splits if that is more probable; each part has its best arm."""

import math

import numpy as np
import pytest

import hsb
from hsb.engine.kernels.words.advisor import BORN, CHANGED, COUNTS, GO, STOP, VISITS
from hsb.engine.state import Member, make_advisor
from hsb.engine.state.views import AdvisorView
from hsb.explain.advisor import solve

TREE = hsb.BinaryTree(depth=2)


def advisor(nodes: dict[int, tuple[float, list[float], list[float]]], depth: int = 2) -> Member:
    """Return an advisor whose nodes, in heap order, have a probability to split, and each arm's losses and gains."""
    member = make_advisor(depth, 2)
    rows = AdvisorView(member).rows
    for node, (split, losses, gains) in nodes.items():
        rows[node, [STOP, GO, VISITS]] = 1.0 - split, split, sum(losses) + sum(gains)
        rows[node, COUNTS::4], rows[node, COUNTS + 1 :: 4] = losses, gains
    return member


def parts(member: Member) -> list[tuple[tuple[float, float], int, bool]]:
    return sorted((piece.boxes[0][0], piece.arm, piece.seen) for piece in solve(TREE, member).pieces)


LEFT, RIGHT = (0.2, [5.0, 90.0], [95.0, 10.0]), (0.4, [80.0, 4.0], [20.0, 96.0])


def test_a_node_splits_if_that_is_more_probable() -> None:
    """The root does, its children do not."""
    both = {1: (0.9, [85.0, 94.0], [115.0, 106.0]), 2: LEFT, 3: RIGHT}
    assert parts(advisor(both)) == [((0.0, 0.5), 0, True), ((0.5, 1.0), 1, True)]
    assert solve(TREE, advisor(both)).value == pytest.approx(math.log(0.9 * 0.8 * 0.6))
    whole = both | {1: (0.5, [85.0, 94.0], [115.0, 106.0])}  # equals: stopping comes first
    assert parts(advisor(whole)) == [((0.0, 1.0), 0, True)]


def test_without_updates_it_names_the_first_arm() -> None:
    best = solve(TREE, make_advisor(2, 2))
    assert [(piece.arm, piece.share, piece.seen) for piece in best.pieces] == [(0, 0.5, False)] and best.value == 0.0


def test_a_part_without_updates_expects_what_its_sibling_does_not_explain() -> None:
    """The right half has no row: its arms are expected as in the root less the left half, and it is marked as not seen."""
    one = {1: (0.9, [5.0, 90.0], [95.0, 10.0]), 2: LEFT}
    assert parts(advisor(one)) == [((0.0, 0.5), 0, True), ((0.5, 1.0), 0, False)]


def test_a_change_forgets_what_is_below() -> None:
    member = advisor({1: (0.9, [85.0, 94.0], [115.0, 106.0]), 2: LEFT, 3: RIGHT})
    rows = AdvisorView(member).rows
    rows[2, [BORN, CHANGED]] = 10.0, 20.0  # the losses of node 2 are older than its change
    assert [(side, seen) for side, _, seen in parts(member)] == [((0.0, 0.5), False), ((0.5, 1.0), True)]


def test_the_probability_to_be_best_grows_with_the_evidence() -> None:
    shares = []
    for n in (1.0, 10.0, 1000.0):
        [only] = solve(TREE, advisor({1: (0.1, [0.4 * n, 0.6 * n], [0.6 * n, 0.4 * n])})).pieces
        shares.append(only.share)
        assert only.arm == 0
    assert 0.5 < shares[0] < shares[1] < shares[2] <= 1.0 and shares[2] > 0.999
    assert solve(TREE, advisor({1: (0.1, [30.0, 30.0], [30.0, 30.0])})).pieces[0].share == pytest.approx(0.5, abs=0.05)
    assert np.isfinite(shares).all()
