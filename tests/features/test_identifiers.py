"""Columns that are names of single things."""

import pytest

import hsb


def log(categories):
    n = 2000
    table = {"user": [f"u{k % categories}" for k in range(n)], "shown": ["a", "b"] * (n // 2), "click": [1, 0, 0, 1] * (n // 4)}
    return hsb.logs.open(table, context=["user"], arm="shown", propensity="uniform", reward="click")


def test_a_column_with_a_name_in_each_row_is_warned_of():
    with pytest.warns(UserWarning, match="user"):
        hsb.learn_from(hsb.HSB(arms=["a", "b"], seed=0), log(2000))


def test_a_column_with_few_names_is_not(recwarn):
    hsb.learn_from(hsb.HSB(arms=["a", "b"], seed=0), log(5))
    assert not [each for each in recwarn if "user" in str(each.message)]
