"""What a value is."""

import datetime
import math

import numpy as np
import pytest

from hsb.features.values import Unfit, infer_kind, is_missing, time_text


@pytest.mark.parametrize("value", [None, math.nan, np.float64("nan"), np.datetime64("NaT")])
def test_nothing_is_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", False, 1.5, "FR", [], datetime.date(2026, 1, 1)])
def test_something_is_not(value):
    assert not is_missing(value)


@pytest.mark.parametrize(
    ("one", "other"), [(3, 3.0), (3, np.int32(3)), (True, np.bool_(True)), ("a", np.str_("a")), (["a"], ("a",))]
)
def test_alike_values_are_one(one, other):
    assert infer_kind(one) == infer_kind(other)


def test_a_flag_is_no_number_and_text_is_no_number():
    assert len({infer_kind(1)[0], infer_kind(True)[0], infer_kind("1")[0]}) == 3


@pytest.mark.parametrize("value", [object(), 1j, {"a": 1}, b"a"])
def test_what_no_feature_can_have_is_unfit(value):
    with pytest.raises(Unfit):
        infer_kind(value)


@pytest.mark.parametrize("text", ["soon", "2026-13-01", "25:00", ""])
def test_text_that_says_no_time_is_unfit(text):
    with pytest.raises(Unfit):
        time_text(text)
