"""Intervals as members: their scale, limits, arms that come later, and files."""

import math

import numpy as np
import pytest

import hsb
from hsb.engine.state import State, make_intervals, member_from_arrays
from hsb.engine.state.intervals import unit_for
from hsb.engine.state.views import IntervalsView
from hsb.errors import FileError

GRAPH = hsb.Lexicographic(leaves=5)


def taught(arms=3):
    state, rng = State(GRAPH.members(arms, None), GRAPH.key_words()), np.random.default_rng(0)
    for _ in range(25):
        state.update(np.array([int(rng.integers(5))]), None, int(rng.integers(arms)), float(rng.random()), 0.4)
    return state


def p_of(state, leaf):
    p = np.empty(state.arms)
    state.fill(np.array([leaf]), None, p)
    return p


def test_too_many_leaves_for_a_double_are_refused():
    with pytest.raises(
        hsb.BudgetError, match=r"200 leaves with 50 arms: .* here it is 782. Use fewer leaves, or hsb.BinaryTree"
    ):
        make_intervals(200, 2, 50, np.ones(201))
    assert unit_for(4) == 0.5


def test_a_new_arm_gets_its_share_and_the_others_keep_their_odds():
    state = taught()
    before = [p_of(state, leaf) for leaf in range(5)]
    state.widen()
    for leaf in range(5):
        assert p_of(state, leaf) == pytest.approx([*0.75 * before[leaf], 0.25], rel=1e-11)


def test_flattening_twice_is_flattening_once_by_the_product():
    once, twice = taught(), taught()
    once.flatten(0.3)
    twice.flatten(0.6)
    twice.flatten(0.5)
    for leaf in range(5):
        assert p_of(once, leaf) == pytest.approx(p_of(twice, leaf), rel=1e-10)


def test_tables_in_a_file_must_follow_from_the_masses():
    F, I = taught().to_arrays().values()
    (fresh,) = GRAPH.members(3, None)
    view = IntervalsView(member_from_arrays(F, I, fresh))
    assert math.isfinite(view.whole) and view.unit == unit_for(3)
    for at in (view.table_at + 4, view.sigma_at + 1, view.unit_at):
        wrong = F.copy()
        wrong[at] *= 1.01
        with pytest.raises(FileError, match="no rounds lead to"):
            member_from_arrays(wrong, I, fresh)
