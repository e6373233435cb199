"""The sums over one reading of a log: by hand on a few events, and parts added together are the whole."""

import math
from dataclasses import replace

import numpy as np
import pytest
from support.off_policy_cases import pooled

import hsb
from hsb.evaluate.off_policy.accumulators import Reading, folds
from hsb.evaluate.off_policy.candidates import Always, UniformPlay
from hsb.logs import Batch

EVENTS = Batch.of(
    contexts=np.zeros((4, 1)),
    arm=[0, 1, 0, 1],
    reward=[1.0, 0.5, 0.0, 1.0],
    propensity=[0.5, 0.25, 0.5, 0.5],
    arms=["a", "b"],
    available=[[True, True], [True, True], [True, False], [False, True]],
)


def read(candidate, *batches, clip=None):
    reading = Reading(candidate, None, clip)
    for batch in batches:
        reading.add(batch, batch.contexts)
    return reading


def test_weights_by_hand():
    reading = Reading(UniformPlay((0.0, 1.0)), None, clip=1.5)
    added = reading.add(EVENTS, EVENTS.contexts)
    assert added.w.tolist() == [1.0, 2.0, 2.0, 2.0]  # 1/2, 1/2, 1, 1 over the propensities
    assert added.columns["w r"].tolist() == [1.0, 1.0, 0.0, 2.0]
    assert added.columns["clipped"].tolist() == [1.0, 0.75, 0.0, 1.5]
    assert reading.mass.tolist() == [2.0, 2.0] and reading.counts.tolist() == [2, 2] and reading.logged == 2.5
    values = reading.result(["ips", "snips", "clipped"], seed=0).estimates
    assert [values[name].value for name in ("ips", "snips", "clipped")] == [1.0, 4.0 / 7.0, 3.25 / 4]


def test_events_that_a_candidate_cannot_play_are_left_out():
    result = read(Always("a", (0.0, 1.0)), EVENTS).result(["ips"], seed=0)
    assert result.rows == 3 and result.estimates["ips"].value == pytest.approx(2.0 / 3.0)
    assert any("In 1 of 4 events the policy knows no available arm" in warning for warning in result.warnings)
    unknown = replace(EVENTS, propensity=np.array([0.5, math.nan, 0.5, 0.5]))
    result = read(UniformPlay((0.0, 1.0)), unknown).result(["ips"], seed=0)
    assert result.rows == 3 and any("1 of 4 events have no propensity" in warning for warning in result.warnings)
    with pytest.raises(hsb.InputError, match="None of the 4 events can be used: in 4 the policy knows no available arm"):
        read(Always("c", (0.0, 1.0)), EVENTS).result(["ips"], seed=0)
    with pytest.raises(hsb.InputError, match=r"No event can be used\. No row was read"):
        read(Always("a", (0.0, 1.0))).result(["ips"], seed=0)


def test_arms_that_were_never_shown_are_named():
    one_arm = Batch.of(contexts=np.zeros((4, 1)), arm=[0] * 4, reward=[1.0] * 4, propensity=[0.5] * 4, arms=["a", "b"])
    result = read(UniformPlay((0.0, 1.0)), one_arm).result(["ips"], seed=0)
    assert any(
        "in 50% of decisions the policy plays arms that this log never shows: ['b']" in warning for warning in result.warnings
    )


def test_rewards_beyond_the_range_are_refused_or_clipped():
    narrow = Always("a", (0.25, 0.75))
    with pytest.raises(hsb.InputError, match=r"A reward is 1\.0, outside \[0\.25, 0\.75\].*reward_range=\(0, 1\)"):
        read(narrow, EVENTS)
    narrow.outside = "clip"
    reading = read(narrow, EVENTS)
    assert reading.clipped == 3 and reading.logged == 0.75 + 0.5 + 0.25 + 0.75
    for outside in ("clip", "error"):  # no range has room for it
        narrow.outside = outside
        with pytest.raises(hsb.InputError, match="A reward is nan; every event needs a number"):
            read(narrow, replace(EVENTS, reward=np.array([1.0, math.nan, 0.0, 1.0])))
    with pytest.raises(hsb.InputError, match="range of the policy's rewards is not known yet"):
        Reading(Always("a", (0.5, 0.5)), None, None)


def test_parts_added_together_are_the_whole():
    candidate, batches = UniformPlay((0.0, 1.0)), [pooled(1, 60), pooled(2, 35), pooled(3, 5)]
    whole = read(candidate, *batches, clip=3.0)
    first, later = read(candidate, batches[0], clip=3.0), read(candidate, *batches[1:], clip=3.0)
    first.merge(read(candidate, clip=3.0))  # a part without events
    first.merge(later)
    assert first.seen == whole.seen == 100 and np.allclose(first.mass, whole.mass, rtol=1e-12)
    one, two = (reading.result(["ips", "snips", "clipped"], seed=0).to_dict() for reading in (first, whole))
    for name in ("ips", "snips", "clipped"):
        assert one["estimates"][name]["value"] == pytest.approx(two["estimates"][name]["value"], rel=1e-12)
    assert first.bets.sums == pytest.approx(whole.bets.sums, rel=1e-12)


def test_folds_follow_the_number_of_the_row():
    assert folds(0, 12).tolist() == [*folds(0, 7).tolist(), *folds(7, 5).tolist()]
