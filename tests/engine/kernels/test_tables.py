"""Whole tables against single rounds: the same arms, probabilities and state, bit for bit."""

import numpy as np
import pytest

import hsb
from hsb.engine.kernels import tables
from hsb.engine.state import State

ROUNDS, ARMS = 120, 5
TREE = hsb.BinaryTree(depth=4)
RNG = np.random.default_rng(0)
KEYS = RNG.integers(16, size=(ROUNDS, 1)) << 58
LOSSES, US = RNG.random((ROUNDS, ARMS)) * (RNG.random((ROUNDS, ARMS)) < 0.7), RNG.random(ROUNDS)
POOLS = np.array([[1] * ARMS, [1, 0, 1, 1, 0], [0, 0, 1, 0, 0]], dtype=np.uint8)
POOL = RNG.integers(3, size=ROUNDS)
NO_POOL, NO_MASKS = np.zeros(0, dtype=np.int64), np.zeros((ROUNDS, 0), dtype=np.uint8)


def state_of():
    state = State(TREE.members(ARMS, None), TREE.key_words())
    state.set_pace(0.2, gamma=0.01, drift=0.02)
    return state


def out_of():
    return tables.Out(np.zeros(ROUNDS, dtype=np.int64), np.zeros(ROUNDS), np.zeros(ROUNDS))


def mask_of(t, masked):
    return POOLS[POOL[t]] if masked and not POOLS[POOL[t]].all() else None


def table_of(masked):
    return tables.Rounds(KEYS, *((POOLS, POOL) if masked else (NO_MASKS, NO_POOL)), LOSSES, US)


@pytest.mark.parametrize("masked", [False, True])
def test_a_played_table_is_its_rounds(masked):
    whole, single, out = state_of(), state_of(), out_of()
    whole.play(table_of(masked), out, slice(0, ROUNDS))
    for t in range(ROUNDS):
        arm, probability, _ = single.decide(KEYS[t], mask_of(t, masked), US[t])
        assert (arm, probability, LOSSES[t, arm]) == (out.arms[t], out.probabilities[t], out.losses[t])
        single.update(KEYS[t], mask_of(t, masked), arm, LOSSES[t, arm], probability)
    assert whole.digest() == single.digest() and whole.learned_rounds == ROUNDS
    assert whole.sums.tolist() == single.sums.tolist()


def test_a_learned_log_is_its_rounds():
    whole, single, rng = state_of(), state_of(), np.random.default_rng(1)
    arm = np.array([int(rng.choice(np.flatnonzero(POOLS[k]))) for k in POOL])
    losses, p = rng.random(ROUNDS), rng.uniform(0.1, 1.0, ROUNDS)
    whole.learn(tables.Logged(KEYS, POOLS, POOL, arm, losses, p), slice(0, ROUNDS))
    for t in range(ROUNDS):
        single.update(KEYS[t], mask_of(t, True), int(arm[t]), losses[t], p[t], plain=True)
    assert whole.digest() == single.digest() and whole.sums.tolist() == single.sums.tolist()


def test_decisions_and_distributions_of_a_table_change_nothing():
    state, p = state_of(), np.empty((ROUNDS, ARMS))
    state.play(table_of(False), out_of(), slice(0, ROUNDS))
    before = state.digest()
    chosen = tables.Chosen(np.zeros(ROUNDS, dtype=np.int64), np.zeros(ROUNDS), np.zeros(ROUNDS))
    state.choose(table_of(True), chosen)
    state.distributions(table_of(True), p)
    row = np.empty(ARMS)
    for t in range(ROUNDS):
        state.fill(KEYS[t], mask_of(t, True), row)
        assert p[t].tolist() == row.tolist()
        assert (chosen.arms[t], chosen.probabilities[t]) == state.decide(KEYS[t], mask_of(t, True), US[t])[:2]
    assert state.digest() == before and (chosen.advised == -1.0).all()  # there is no advisor


def test_with_a_floor_that_share_of_the_decisions_is_uniform():
    state, out = state_of(), out_of()
    state.set_floor(0.25)
    no_losses = table_of(True)._replace(losses=np.zeros((ROUNDS, ARMS)))
    state.play(no_losses, out, slice(0, ROUNDS))
    for t in range(ROUNDS):
        arms = np.flatnonzero(POOLS[POOL[t]])
        assert out.probabilities[t] == pytest.approx(1.0 / len(arms))  # nothing was lost: all is uniform
        share = US[t] / 0.25 if US[t] < 0.25 else (US[t] - 0.25) / 0.75
        assert out.arms[t] == arms[int(share * len(arms))]
