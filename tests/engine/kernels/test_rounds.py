"""Whole rounds: draws, propensities, and what is counted, due or short of room."""

import math

import numpy as np
import pytest
from support.kernel_cases import EVERY, INTERPRETED

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels import rounds
from hsb.engine.state import State

ONCE = (-1, -1.0, False, False)  # decided now, not recalled, with the baseline shift
KEY = np.array([5 << 58])


def state_of(arms, depth=4):
    tree = hsb.BinaryTree(depth=depth)
    return State(tree.members(arms, None), tree.key_words())


def taught(arms, count=30):
    state, rng = state_of(arms), np.random.default_rng(arms)
    state.set_pace(0.3)
    for _ in range(count):
        state.update(np.array([int(rng.integers(16)) << 58]), None, int(rng.integers(arms)), float(rng.random()), 0.3)
    return state


@INTERPRETED
def test_a_number_picks_from_a_distribution():
    p = np.array([0.25, 0.0, 0.5, 0.25])
    numbers = [0.0, 0.2499, 0.25, 0.7499, 0.75, 1.0 - 2**-53]
    assert [rounds.pick(p, u) for u in numbers] == [(0, 0.25), (0, 0.25), (2, 0.5), (2, 0.5), (3, 0.25), (3, 0.25)]
    assert rounds.pick(np.array([0.5, 0.5, 0.0]), 1.0) == (0, 0.5)  # beyond the last arm with any probability


@pytest.mark.parametrize("arms", [3, 20])
def test_a_decision_has_the_probability_of_its_arm(arms):
    """With more than sixteen arms a decision walks to a node first: the same distribution in another order."""
    state, p = taught(arms), np.empty(arms)
    assert rounds.fill(state.F, state.I, KEY, EVERY, p) and p.sum() == pytest.approx(1.0, rel=1e-13)
    us = (np.arange(4000) + 0.5) / 4000
    drawn = [rounds.decide(state.F, state.I, KEY, EVERY, u) for u in us.tolist()]
    shares = np.bincount([arm for arm, _ in drawn], minlength=arms) / 4000
    assert np.abs(shares - p).max() < (1 if arms == 3 else 6) / 4000  # one gap for each node and arm
    assert all(probability == pytest.approx(p[arm], rel=1e-12) for arm, probability in drawn)


def test_arms_that_are_not_available_have_no_probability():
    state, p, all_arms = taught(4), np.empty(4), np.empty(4)
    available = np.array([1, 0, 1, 0], dtype=np.uint8)
    rounds.fill(state.F, state.I, KEY, EVERY, all_arms)
    rounds.fill(state.F, state.I, KEY, available, p)
    assert p == pytest.approx(all_arms * available / (all_arms * available).sum(), rel=1e-13)


def test_a_round_is_counted_with_its_loss_and_its_excess():
    state = state_of(2)
    state.set_pace(0.5, price=0.01)
    assert rounds.update(state.F, state.I, KEY, EVERY, 0, 0.8, 0.5, False, *ONCE) == h.DONE
    z = 0.5 + 0.5 * math.exp(-0.5 * 0.8 / 0.5)
    assert state.sums == pytest.approx([0.8, 0.8 + math.log(z) / 0.5 + 0.01, 0.0], rel=1e-13)
    assert state.learned_rounds == 1 and state.shared == 0.01
    assert rounds.update(state.F, state.I, KEY, EVERY, 0, 0.0, 0.5, False, *ONCE) == h.DONE
    assert state.sums[0] == 0.8 and state.learned_rounds == 2  # no loss, nothing to weigh


def test_a_sole_arm_teaches_nothing():
    state, before = state_of(3), state_of(3)
    rounds.update(state.F, state.I, KEY, np.array([0, 1, 0], dtype=np.uint8), 1, 1.0, 1.0, False, *ONCE)
    assert state.digest() == before.digest() and state.learned_rounds == 1 and state.sums.tolist() == [1.0, 0.0, 1.0]


def test_something_is_due_after_the_rounds_of_a_phase():
    state = state_of(2)
    state.set_pace(0.1, until=2.0)
    statuses = [rounds.update(state.F, state.I, KEY, EVERY, 0, 1.0, 0.5, False, *ONCE) for _ in range(2)]
    assert statuses == [h.DONE, h.DUE] and state.is_due


def test_late_feedback_counts_as_more_rounds():
    state = state_of(2)
    for decided in (-1, -1, 0):
        rounds.update(state.F, state.I, KEY, EVERY, 0, 1.0, 0.5, False, decided, -1.0, False, False)
    assert state.learned_rounds == 3 and state.late == 2.0  # twice the two rounds learned since, over two arms


def test_a_tree_without_room_learns_nothing():
    tree = hsb.BinaryTree(depth=40)
    state = State(tree.members(2, None), tree.key_words())
    before = state.digest()
    assert rounds.update(state.F, state.I, np.array([0]), EVERY, 0, 1.0, 0.5, False, *ONCE) == h.SHORT
    assert state.digest() == before and state.learned_rounds == 0
