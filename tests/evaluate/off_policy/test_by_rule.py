"""What each rule earns: weighted averages by hand, and events that count for no rule."""

import math

import numpy as np
import pytest

import hsb
from hsb.evaluate.off_policy.by_rule import RuleEarnings, with_earnings

RULE = np.array([0, 0, 0, 1, -1, 0])
AVAILABLE = np.array([True, True, False, True, True, True])
PLAYED = np.array([True, False, True, True, True, True])
PROPENSITY = np.array([0.5, 0.5, 0.5, 0.25, 0.5, 0.2])
REWARD = np.array([4.0, 2.0, 0.0, 3.0, 4.0, 1.0])


def add(sums, rows=slice(None), propensity=PROPENSITY):
    sums.add(RULE[rows], AVAILABLE[rows], PLAYED[rows], propensity[rows], REWARD[rows])
    return sums


def test_a_rule_earns_the_weighted_average_of_its_events():
    one, two, none = add(RuleEarnings(["a", "b", "c"], (0.0, 4.0))).result()
    assert one.value == pytest.approx((2 * 4.0 + 5 * 1.0) / 7) and one.rows == 3  # the third event had another pool
    assert two.value == pytest.approx(3.0) and two.rows == 1
    assert none is None
    assert 0.0 <= one.low <= one.value <= one.high <= 4.0


def test_events_may_come_in_parts():
    whole, parts = add(RuleEarnings(["a", "b"], (0.0, 4.0))), RuleEarnings(["a", "b"], (0.0, 4.0))
    for rows in (slice(0, 2), slice(2, 5), slice(5, 6)):
        add(parts, rows)
    for one, two in zip(whole.result(0.8), parts.result(0.8), strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((two.value, two.low, two.high), rel=1e-12)


def test_events_without_a_propensity_count_for_no_rule():
    [one, two] = add(RuleEarnings(["a", "b"], (0.0, 4.0)), propensity=np.array([0.5, 0.5, 0.5, math.nan, 0.5, 0.0])).result()
    assert two is None and one.value == pytest.approx(4.0) and one.rows == 2


def test_more_confidence_is_a_longer_interval():
    sums = RuleEarnings(["a"], (0.0, 1.0))
    reward = np.arange(400) % 2.0
    sums.add(np.zeros(400, dtype=int), np.ones(400, dtype=bool), np.ones(400, dtype=bool), np.full(400, 1.0), reward)
    (half,), (most,) = sums.result(0.5), sums.result(0.99)
    assert most.low < half.low < half.value == 0.5 < half.high < most.high


def test_an_iterator_is_read_only_once():
    policy = hsb.HSB(hsb.BinaryTree(depth=1), arms=["a", "b"], seed=0)
    with pytest.raises(hsb.InputError, match="An iterator can be read only once"):
        with_earnings(policy.explain(), policy, iter([]))
