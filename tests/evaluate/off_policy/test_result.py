"""What off-policy evaluation gives."""

import json
import math

import numpy as np
import pytest

import hsb
import hsb.logs
from hsb.evaluate.off_policy.result import Estimate


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    arm = rng.integers(2, size=2000)
    click = (rng.random(2000) < 0.2 + 0.4 * arm).astype(int)
    table = {"x": rng.random(2000), "arm": np.where(arm, "b", "a"), "p": np.full(2000, 0.5), "click": click}
    log = hsb.logs.open(table, context="x", arm="arm", propensity="p", reward="click")
    return hsb.evaluate.off_policy(hsb.Uniform(arms=["a", "b"]), log)


def test_the_best_estimator_speaks_for_all(found):
    best = found[found.best]
    assert (found.value, found.interval) == (best.value, best.interval)
    assert found.interval[0] - 0.02 < 0.4 < found.interval[1] + 0.02 and found.safe[0] <= found.interval[0]


def test_it_is_plain_data(found):
    data = json.loads(json.dumps(found.to_dict()))
    assert set(data["estimates"]) == set(found.estimates) and len(found.to_frame()) == len(found.estimates)


def test_a_number_that_is_not_finite_is_none():
    from hsb.evaluate.off_policy.comparison import number, plain, signed

    assert plain(math.nan) is None and plain(0.5) == 0.5 and signed(0.01).startswith("+") and number(math.nan)


def test_an_interval_reaches_to_another():
    one, other = Estimate(0.5, 0.4, 0.6, (0.2, 0.8)), Estimate(0.7, 0.65, 0.9, (0.5, 1.0))
    assert one.reaching(other).interval == (0.4, 0.9)
