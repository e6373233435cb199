"""Differences to a baseline."""

import numpy as np
import pytest

from hsb.evaluate.off_policy.differences import Difference, apart, best_shares


@pytest.mark.parametrize(
    ("joint", "verdict"), [((0.01, 0.05), "better"), ((-0.05, -0.01), "worse"), ((-0.01, 0.05), "undecided")]
)
def test_the_verdict_goes_by_the_corrected_interval(joint, verdict):
    assert Difference(0.02, 0.01, 0.03, "bootstrap", joint, 0.01, 5000).verdict == verdict


def test_intervals_that_do_not_meet_are_apart():
    result = apart((0.3, 0.2), ((0.25, 0.35), (0.15, 0.22)), ((0.26, 0.34), (0.1, 0.25)), 100)
    assert result.value == pytest.approx(0.1) and result.low <= 0.1 <= result.high and result.rows == 100


def test_shares_of_the_best_add_up():
    groups = np.random.default_rng(0).random((50, 6))
    shares = best_shares(groups, [True, True, True], 0)
    assert sum(shares) == pytest.approx(1.0) and all(0 <= share <= 1 for share in shares)
    assert best_shares(groups, [True, False, True], 0) == [None] * 3
