"""Which contexts of a log a policy is given."""

import numpy as np
import pytest

import hsb
from hsb.play.named import own_contexts, read_for


@pytest.fixture
def log():
    table = {"age": [31, None, 40], "shown": ["a", "b", "a"], "p": [0.5] * 3, "click": [1, 0, 1]}
    return hsb.logs.open(table, context=["age"], arm="shown", propensity="p", reward="click")


def test_by_name_rows_with_missing_values_are_there(log):
    named, numbers = hsb.HSB(arms=["a", "b"]), hsb.HSB(hsb.BinaryTree(depth=2, space=hsb.Box(0, 100)), arms=["a", "b"])
    assert [read_for(log, [policy]).count() for policy in (named, numbers)] == [3, 2]


def test_a_function_makes_contexts(log):
    policy = hsb.HSB(hsb.BinaryTree(depth=2, space=hsb.Box(0, 100)), arms=["a", "b"])
    (batch,) = read_for(log, [policy])
    result = own_contexts(policy, batch, lambda rows: rows[:, 0] / 2)
    np.testing.assert_array_equal(np.ravel(result), [15.5, 20.0])
