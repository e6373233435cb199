"""Arm blocks: sum trees against plain sums, and weights too small for a double."""

import numpy as np
import pytest
from support.kernel_cases import EVERY, INTERPRETED, block_of

from hsb.engine.kernels import arms
from hsb.engine.kernels import header as h
from hsb.engine.state import make_graph
from hsb.engine.state.member import arm_block

pytestmark = INTERPRETED
COUNTS = [1, 2, 8, 9, 64, 70, 600]


def weights_of(count):
    return np.random.default_rng(count).uniform(0.1, 2.0, size=count)


def total_of(F, I, b):
    return arms.total(F, b, I[h.TOP], I[h.TOP_SIZE])


@pytest.mark.parametrize("count", COUNTS)
def test_sums_are_those_of_the_weights(count):
    weights = weights_of(count)
    F, I, b = block_of(weights)
    assert total_of(F, I, b) == pytest.approx(weights.sum(), rel=1e-14)
    for arm in {0, count // 2, count - 1}:
        assert arms.others(F, I, b, arm) == pytest.approx(np.delete(weights, arm).sum(), rel=1e-14)


@pytest.mark.parametrize("count", COUNTS)
def test_one_smaller_weight_changes_the_sums_above_it_alone(count):
    F, I, b = block_of(weights_of(count))
    arm = 2 * count // 3
    before, total = F[b + arm], arms.shrink(F, I, b, arm, 0.7, np.exp(-0.7))
    assert F[b + arm] == before * np.exp(-0.7)
    sums = F.copy()
    arms.rebuild(F, I, b)
    assert np.array_equal(sums, F) and total == total_of(F, I, b)


@pytest.mark.parametrize("count", COUNTS)
def test_a_number_picks_the_arm_that_the_cumulative_sum_reaches(count):
    weights = weights_of(count)
    F, I, b = block_of(weights)
    shares = np.cumsum(weights) / weights.sum()
    for u in np.random.default_rng(0).random(200).tolist():
        assert arms.pick(F, I, b, u) == np.searchsorted(shares, u, side="right")
    assert arms.pick(F, I, b, np.nextafter(1.0, 0.0)) == count - 1


def test_a_weight_too_small_for_a_double_keeps_its_logarithm_and_comes_back():
    F, I, b = block_of([1.0, 1.0])
    for _ in range(4):
        arms.shrink(F, I, b, 0, 200.0, np.exp(-200.0))
    assert F[b] == 0.0 and arms.log_weight(F, I, b, 0) == pytest.approx(-800.0, rel=1e-14)
    for _ in range(4):
        now = arms.shrink(F, I, b, 1, 200.0, np.exp(-200.0))
        assert arms.keep_in_range(F, I, b, now) >= h.ARM_LOW
    assert F[b : b + 2] == pytest.approx([F[b], F[b]], rel=1e-12) and F[b] > 0.0


def test_arms_that_are_not_available_are_multiplied_by_their_own_factor():
    F, I, b = block_of([1.0, 2.0, 4.0])
    available = np.array([1, 1, 0], dtype=np.uint8)
    total = arms.update(F, I, b, 1, 0.5, np.exp(-0.5), available, 0.25)
    assert F[b : b + 3] == pytest.approx([1.0, 2.0 * np.exp(-0.5), 1.0], rel=1e-14)
    assert total == pytest.approx(2.0 + 2.0 * np.exp(-0.5), rel=1e-14)
    assert arms.is_available(available, 0) and not arms.is_available(available, 2) and arms.is_available(EVERY, 2)


@pytest.mark.parametrize("available", [EVERY, np.array([1, 1, 0] * 4, dtype=np.uint8)])
def test_the_pass_in_logarithms_is_the_plain_one(available):
    one, other = block_of(weights_of(12)), block_of(weights_of(12))
    before = total_of(*one)
    total = arms.update(*one, 4, 1.5, np.exp(-1.5), available, 0.6)
    assert arms.shrink_log(*other, 4, 1.5, available, np.log(0.6)) == pytest.approx(np.log(total / before), rel=1e-12)
    (F, _, b), (G, _, c) = one, other
    assert F[b : b + 12] / F[b] == pytest.approx(G[c : c + 12] / G[c], rel=1e-12)
    assert G[c : c + 12].max() == pytest.approx(0.5)


def test_fixed_share_moves_weights_towards_equal_ones():
    weights = weights_of(9)
    F, I, b = block_of(weights)
    arms.share(F, I, b, 0.2)
    assert F[b : b + 9] == pytest.approx(0.8 * weights + 0.2 * weights.mean(), rel=1e-14)
    assert total_of(F, I, b) == pytest.approx(weights.sum(), rel=1e-14)


def test_flattened_weights_are_powers_and_the_sum_is_that_of_shares_and_prior():
    weights = weights_of(5)
    F, I, b = block_of(weights)
    log_sum = arms.flatten(F, I, b, 0.3)
    assert F[b : b + 5] == pytest.approx(weights**0.3, rel=1e-13)
    assert log_sum == pytest.approx(np.log((0.2**0.7 * (weights / weights.sum()) ** 0.3).sum()), rel=1e-12)


def test_a_new_arm_weighs_the_mean_of_the_others():
    narrow, wide = (make_graph(1, [0], np.array([1]), 1, 0, arms_count) for arms_count in (8, 9))
    (old,), (new,) = narrow.kind.blocks(narrow), wide.kind.blocks(wide)
    narrow.F[old : old + 8] = weights = weights_of(8)
    none = np.array([-1])
    arms.widen(*narrow, *wide, np.array([old]), np.array([new]), np.array([0]), none, 0)
    assert wide.F[new : new + 8].tolist() == weights.tolist() and wide.F[new + 8] == pytest.approx(weights.mean(), rel=1e-14)
    top, size, _ = arm_block(9)
    assert wide.F[new + top : new + top + size].sum() == pytest.approx(weights.sum() * 9 / 8, rel=1e-14)
