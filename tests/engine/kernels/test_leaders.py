"""Rounds of policies that follow a leader, by hand and against a naive twin."""

import math

import numpy as np
import pytest
from naive import leaders as naive

from hsb.engine.kernels import leaders, oracle, splitmix
from hsb.learners.leaf_totals import LeafTotals

EVERY = np.zeros(0, dtype=np.uint8)


def workspace(leaves, arms, regions=None):
    return LeafTotals.fresh(leaves, arms, regions).workspace()


@pytest.mark.parametrize("regions", [None, 2])
def test_a_draw_is_the_best_mapping_of_perturbed_totals(regions):
    rng, leaves, arms, noise = np.random.default_rng(0), 3, 3, 0.7
    work = workspace(leaves, arms, regions)
    for u in rng.random(20).tolist():
        totals, key = rng.random((leaves, arms)), np.uint64(splitmix.seeded(u))
        for number in range(3):
            drawn = totals.copy()
            for i in range(leaves):
                for m in range(arms):  # without regions only the row of the leaf is perturbed
                    at = number * arms + m if regions is None else number * leaves * arms + i * arms + m
                    drawn[i, m] += noise * naive.laplace(u, at)
            mapping = naive.best_mapping(drawn, regions)[1]
            assert leaders.draw(totals, 1, EVERY, noise, key, number, work) == mapping[1]


def test_draws_until_the_arm_comes_again_estimate_its_probability():
    totals, work = np.array([[0.0, 0.4, 1.0]]), workspace(1, 3)
    p = np.empty(3)
    leaders.count_draws(totals, 0, EVERY, 1.0, 20_000, work, p)
    pairs = [leaders.perturbed(totals, 0, EVERY, 1.0, 1000, work, u) for u in np.random.default_rng(0).random(4000).tolist()]
    for arm in range(3):
        counts = [count for chosen, count in pairs if chosen == arm]
        assert len(counts) / 4000 == pytest.approx(p[arm], abs=4 * math.sqrt(p[arm] / 4000))
        assert np.mean(counts) == pytest.approx(1.0 / p[arm], rel=0.15)
    assert leaders.perturbed(totals, 0, EVERY, 0.0, 5, work, 0.3) == (0, 1)  # without noise the best arm comes at once
    assert max(leaders.perturbed(totals, 0, EVERY, 1.0, 3, work, u / 500)[1] for u in range(500)) == 3


def test_a_loss_is_divided_by_its_propensity_and_capped():
    totals, seen = np.zeros((2, 2)), np.zeros(1, dtype=np.int64)
    leaders.learn_perturbed(totals, 1, 0, 0.5, 0.25, seen)
    leaders.learn_perturbed(totals, 0, 1, 1.0, 1e-300, seen)
    assert totals.tolist() == [[0.0, leaders.MOST], [2.0, 0.0]] and seen[0] == 2


def test_a_mapping_plays_its_arm_or_the_best_available_one():
    mapping, totals = np.array([2, 0]), np.array([[3.0, 1.0, 0.5], [0.0, 0.0, 0.0]])
    assert leaders.play(mapping, totals, 0, EVERY) == 2
    assert leaders.play(mapping, totals, 0, np.array([1, 1, 0], dtype=np.uint8)) == 1
    played = np.zeros(3, dtype=np.int64)
    leaders.play_known(mapping, totals, np.array([[0], [1], [0]]), np.zeros((3, 0), dtype=np.uint8), played)
    assert played.tolist() == [2, 0, 2]


def test_exploring_is_uniform_and_earns_rounds_to_exploit():
    mapping, totals, counts, work = np.zeros(2, dtype=np.int64), np.zeros((2, 3)), np.zeros(3, dtype=np.int64), workspace(2, 3)
    mask = np.array([1, 0, 1], dtype=np.uint8)
    pairs = [leaders.explore_or_exploit(mapping, totals, counts, 0, mask, u) for u in (0.0, 0.49, 0.5, 1.0 - 2**-53)]
    assert pairs == [(0, 0.5), (0, 0.5), (2, 0.5), (2, 0.5)]
    for _ in range(4):  # sqrt(n / price) rounds each: 1, 1, 1, 2
        leaders.learn_epoch(mapping, totals, counts, 0, 0, 1.0, 1.0 / 3.0, 1.0, work)
    assert counts.tolist() == [4, 5, 4] and totals[0, 0] == pytest.approx(12.0) and mapping.tolist() == [1, 0]
    assert leaders.explore_or_exploit(mapping, totals, counts, 0, EVERY, 0.9) == (1, 1.0)
    leaders.learn_epoch(mapping, totals, counts, 0, 1, 1.0, 1.0, 1.0, work)  # played to exploit: nothing is learned
    assert counts.tolist() == [4, 4, 5] and totals[0, 1] == 0.0
    assert len(oracle.workspace(2, 3, 0).lows) == 0
