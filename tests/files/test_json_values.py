"""Arms and contexts as JSON has them, and back."""

import datetime
import json

import numpy as np
import pytest

import hsb
from hsb.files.json_values import DEEPEST, decode_arm, decode_context, encode_arm, encode_context


@pytest.mark.parametrize("arm", ["a", 3, 2.5, True, None, ("a", 1), ("a", ("b", None))])
def test_an_arm_comes_back(arm):
    back = decode_arm(json.loads(json.dumps(encode_arm(arm))))
    assert back == arm and type(back) is type(arm)


def test_an_arm_that_json_has_not_is_refused():
    with pytest.raises(hsb.InputError):
        encode_arm(object())


@pytest.mark.parametrize(
    "context",
    [
        None,
        0.5,
        [1, "a", None],
        {"age": 40, "at": (1, 2)},
        {"when": datetime.date(2026, 3, 1), "at": datetime.datetime(2026, 3, 1, 12, 30), "time": datetime.time(7, 5)},
        {"tuple": [1, 2]},
    ],
)
def test_a_context_comes_back(context):
    assert decode_context(json.loads(json.dumps(encode_context(context)))) == context


def test_arrays_come_back_as_lists():
    assert decode_context(encode_context({"x": np.array([0.5, 1.0]), "n": np.int64(3)})) == {"x": [0.5, 1.0], "n": 3}


def test_a_context_that_is_too_deep_is_refused():
    deep = []
    for _ in range(DEEPEST + 5):
        deep = [deep]
    with pytest.raises(hsb.InputError):
        encode_context(deep)
