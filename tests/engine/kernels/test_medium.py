"""The fast path for five to sixteen arms: the rounds of the general kernels, bit for bit, and where it hands over to them."""

import numpy as np
import pytest
from support.kernel_cases import INTERPRETED

import hsb
from hsb.engine.kernels import medium, members, tables
from hsb.engine.kernels.words import state as words
from hsb.engine.state import State

ROUNDS = 100
TREE = hsb.BinaryTree(depth=3)
NO_POOL, NO_MASKS = np.zeros(0, dtype=np.int64), np.zeros((ROUNDS, 0), dtype=np.uint8)


def state_of(arms):
    state = State(TREE.members(arms, None), TREE.key_words())
    state.set_pace(0.3, drift=0.01)
    return state


def table_of(arms, scale=1.0):
    rng = np.random.default_rng(arms)
    keys = rng.integers(8, size=(ROUNDS, 1)) << 59
    return tables.Rounds(keys, NO_MASKS, NO_POOL, scale * rng.random((ROUNDS, arms)), rng.random(ROUNDS))


def out_of():
    return tables.Out(np.zeros(ROUNDS, dtype=np.int64), np.zeros(ROUNDS), np.zeros(ROUNDS))


@pytest.mark.parametrize("arms", [5, 6, 8, 9, 16])
def test_it_plays_the_rounds_of_the_general_kernels(arms):
    """A mask of ones makes the general kernels play."""
    fast, general, table = state_of(arms), state_of(arms), table_of(arms)
    one, other = out_of(), out_of()
    fast.play(table, one, slice(0, ROUNDS))
    general.play(table._replace(masks=np.ones((ROUNDS, arms), dtype=np.uint8)), other, slice(0, ROUNDS))
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert fast.digest() == general.digest() and fast.sums.tolist() == general.sums.tolist()


@INTERPRETED
@pytest.mark.parametrize("arms", [5, 16])
def test_it_stops_before_what_it_cannot_play(arms):
    state, table, out = state_of(arms), table_of(arms), out_of()

    def first_not_played(table):
        p = np.empty(8 if arms <= 8 else 16)
        member = members.arrays(state.F, state.I, 0)
        return medium.play(*member, state.F[: words.STATE_WORDS], table, out, p, (0, ROUNDS))

    assert first_not_played(table) == 0  # a loss in a leaf without rows
    assert first_not_played(table._replace(losses=np.zeros((ROUNDS, arms)))) == ROUNDS  # without a loss no rows are needed
    state.play(table, out, slice(0, ROUNDS))  # now every leaf has them
    losses = np.zeros((ROUNDS, arms))
    losses[7] = 1e9  # a step beyond the fast passes
    assert first_not_played(table._replace(losses=losses)) == 7
