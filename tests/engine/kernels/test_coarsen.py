"""Full trees become coarser: as the naive twin says, and the encoder with them."""

import numpy as np
import pytest
from naive.trees import coarser, rows_at
from support.kernel_cases import INTERPRETED

from hsb.engine.kernels import coarsen
from hsb.engine.kernels.inputs import BITS, COARSE, INTS
from hsb.engine.kernels.words.state import DUE
from hsb.engine.state import State, make_tree
from hsb.structures.quantise import WORD

MOST = 64  # rows


def state_of(seed, most_rows=MOST):
    """Return a state of one tree over leading bits that has just become full, or 200 rounds after that without a limit."""
    rng, state = np.random.default_rng(seed), State([make_tree(2, BITS, 3, 0.5, most_rows)], [1])
    state.set_pace(0.1)
    for _ in range(200):
        key = np.array([int(rng.integers(1 << 12)) ** 2 << (WORD - BITS)])
        arm, probability, _ = state.decide(key, None, float(rng.random()))
        state.update(key, None, arm, float(rng.random()), probability)
        if state.is_due:
            break
    return state


def assert_equal(member, expected):
    trimmed = member.kind.trimmed(member)
    assert np.array_equal(trimmed.F, expected.F) and np.array_equal(trimmed.I, expected.I)


@INTERPRETED
@pytest.mark.parametrize("levels", [0, 1, 4, 9, 24])
@pytest.mark.parametrize("seed", range(3))
def test_the_rows_that_remain_are_those_of_the_twin(seed, levels):
    state = state_of(seed, most_rows=1 << 20)
    member = state.members[0]
    expected = coarser(member, levels)
    assert coarsen.rows_at(member.I, levels) == rows_at(member, levels)
    coarsen.coarsen(*member, levels, np.empty(len(state.I), dtype=np.int64))
    assert_equal(member, expected)


@pytest.mark.parametrize("seed", range(3))
def test_a_full_tree_keeps_at_most_half_of_its_rows_and_tells_the_encoder(seed):
    state, encoder = state_of(seed), np.zeros((2, INTS), dtype=np.int64)
    member = state.members[0]
    assert state.is_due
    levels = max(bits for bits in range(BITS + 1) if rows_at(member, bits) <= MOST // 2)
    expected = coarser(member, levels)
    state.coarsen_full([1], encoder)
    assert_equal(state.members[0], expected)
    assert encoder[:, COARSE].tolist() == [0, BITS - levels]
    assert not state.is_due and state.F[DUE] == 0.0


def test_a_tree_with_room_stays():
    state, encoder = state_of(0, most_rows=1 << 20), np.zeros((1, INTS), dtype=np.int64)
    before = state.digest()
    state.coarsen_full([0], encoder)
    assert state.digest() == before and not encoder.any()
