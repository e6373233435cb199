"""The parts of a state that belong to each member: views of the same memory, in their order."""

import numpy as np
from support.kernel_cases import INTERPRETED

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels import members, rounds
from hsb.engine.kernels.words import one_of as one_of_words
from hsb.engine.state import State, hang, make_advisor, make_head
from hsb.engine.state.views import OptionsView

pytestmark = INTERPRETED
TREE = hsb.BinaryTree(depth=3)
KEY = np.array([5, 5 << 59])


def state_of():
    """Return a head over a tree and an advisor of one word each."""
    advisor = hang([make_advisor(3, 2)], option=1, offset=0)
    return State([make_head([0.25, 0.75], 2), *advisor, *hang(TREE.members(2, None), option=0, offset=2)], [0, 1, 1])


def test_arrays_are_the_members_own_memory():
    state = state_of()
    for k, member in enumerate(state.members):
        F, I = members.arrays(state.F, state.I, k)
        assert np.shares_memory(F, member.F) and len(F) == len(member.F)
        assert np.shares_memory(I, member.I) and np.array_equal(I, member.I)


def test_each_member_gets_its_words_of_the_key():
    state = state_of()
    assert [members.own(state.F, state.I, k, KEY)[2].tolist() for k in range(3)] == [[], [5], [5 << 59]]


def test_members_find_their_entry_in_the_tables_of_the_parent():
    state = state_of()
    rounds.visit(state.F, state.I, KEY, np.zeros(0, dtype=np.uint8))
    head = OptionsView(state.member(0))
    for k in (1, 2):
        member = state.member(k)
        at = members.offset(state.I, member.I, one_of_words.CHILD_REACH)
        assert state.F[at] == head.weights[member.I[h.OPTION]]


def test_nodes_visited_are_counted_for_each_member():
    state = state_of()
    state.update(KEY, None, 0, 1.0, 0.5)
    rounds.visit(state.F, state.I, KEY, np.zeros(0, dtype=np.uint8))
    assert [members.count(state.I, k) for k in range(3)] == [0, 1, 4] == state.visited.tolist()
