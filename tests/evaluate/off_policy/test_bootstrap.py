"""Which candidate is best in how many resamples: said only if all candidates can be resampled."""

import re

import numpy as np

import hsb
from hsb.evaluate import Learning, compare_off_policy


def one_arm_mostly(rows, seed, share=0.03):
    """A log that shows "b" in a share of rows; "b" earns .9, "a" .1. So "always b" cannot be bootstrapped if there are few rows."""
    rng = np.random.default_rng(seed)
    rare = rng.random(rows) < share
    reward = (rng.random(rows) < np.where(rare, 0.9, 0.1)).astype(float)
    table = {"x": rng.random(rows), "arm": np.where(rare, "b", "a"), "p": np.where(rare, share, 1.0 - share), "r": reward}
    return hsb.logs.open(table, context="x", arm="arm", propensity="p", reward="r")


def test_no_candidate_is_best_in_resamples_unless_all_are_judged():
    """The worst of two had 100 % where the other could not be bootstrapped; with a replayed candidate nobody has a share either."""
    arms = {"always a": "a", "always b": "b"}
    comparison = compare_off_policy(arms, one_arm_mostly(400, 0))
    assert comparison["always a"].kind == "bootstrap" != comparison["always b"].kind
    assert comparison["always b"].value > 0.8 > 0.2 > comparison["always a"].value
    assert [each.best for each in comparison.values()] == [None, None]
    assert "resamples" not in f"{comparison}{comparison.to_dict()['warnings']}" and not re.search(
        r"\d%</td>", comparison.html()
    )
    assert [each["best_in_resamples"] for each in comparison.to_dict()["candidates"].values()] == [None, None]
    learning = compare_off_policy(arms | {"new": Learning(hsb.Exp3(arms=["a", "b"]))}, one_arm_mostly(4000, 0, 0.5))
    assert [each.best for each in learning.values()] == [None, None, None]
    assert compare_off_policy({"always a": "a"}, one_arm_mostly(4000, 0, 0.5))["always a"].best is None


def test_the_share_of_resamples_is_given_where_all_are_judged():
    """The control: the same arms and rewards, each shown in half of the rows."""
    comparison = compare_off_policy({"always a": "a", "always b": "b"}, one_arm_mostly(400, 0, 0.5))
    assert [each.best for each in comparison.values()] == [0.0, 1.0]
    assert "best in resamples" in str(comparison) and "not the probability of being the best" in comparison.html()
    assert "100%" in str(comparison) and comparison.csv().splitlines()[0].endswith("best_in_resamples")
