"""Graphs as members: priors, arms that come later, and files."""

import numpy as np
import pytest

import hsb
from hsb.engine.state import State, member_from_arrays
from hsb.engine.state.views import GraphView
from hsb.errors import FileError

STRUCTURES = [hsb.PositionSplits(bits=[2, 1]), hsb.ArbitrarySplits(leaves=4)]
each_structure = pytest.mark.parametrize("structure", STRUCTURES, ids=["boxes", "subsets"])


def taught(structure, arms=3):
    state, rng = State(structure.members(arms, None), structure.key_words(), structure.walks()), np.random.default_rng(0)
    for _ in range(25):
        state.update(np.array([int(rng.integers(4))]), None, int(rng.integers(arms)), float(rng.random()), 0.4)
    return state


def p_of(state, leaf):
    p = np.empty(state.arms)
    state.fill(np.array([leaf]), None, p)
    return p


@each_structure
def test_every_option_of_a_fresh_node_has_the_same_weight(structure):
    (member,) = structure.members(3, None)
    rows = sorted({int(row) for row in GraphView(member).nodes if row < len(member.F)})  # a number without a node has no row
    ends, words = [*rows[1:], len(member.F)], member.width + member.arms
    for row, end in zip(rows, ends, strict=True):
        count = (end - row - 1 - words) // 2
        assert member.F[row + 1 : row + 1 + count] == pytest.approx(np.full(count, 1.0 / count), rel=1e-15)
        assert member.F[end - words : end - words + 3].tolist() == [1.0] * 3


@each_structure
def test_a_new_arm_gets_its_share_and_the_others_keep_their_odds(structure):
    state = taught(structure)
    before = [p_of(state, leaf) for leaf in range(4)]
    state.widen()
    for leaf in range(4):
        assert p_of(state, leaf) == pytest.approx([*0.75 * before[leaf], 0.25], rel=1e-12)


@each_structure
def test_flattening_twice_is_flattening_once_by_the_product(structure):
    once, twice = taught(structure), taught(structure)
    once.flatten(0.3)
    twice.flatten(0.6)
    twice.flatten(0.5)
    for leaf in range(4):
        assert p_of(once, leaf) == pytest.approx(p_of(twice, leaf), rel=1e-11)


@each_structure
def test_only_arrays_of_the_same_graph_are_taken(structure):
    state = taught(structure)
    F, I = state.to_arrays().values()
    (fresh,) = structure.members(3, None)
    assert np.array_equal(member_from_arrays(F, I, fresh).settled().F, F)
    wrong = I.copy()
    wrong[GraphView(fresh).nodes_at] += 8
    with pytest.raises(FileError, match="does not fit its structure"):
        member_from_arrays(F, wrong, fresh)
    negative = F.copy()
    negative[int(GraphView(fresh).nodes[-1]) + 1] = -0.5
    with pytest.raises(FileError, match="no rounds lead to"):
        member_from_arrays(negative, I, fresh)
