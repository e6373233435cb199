"""Contexts that come as features by name, put in order."""

import pytest

import hsb
from hsb.interop.features import names, row


def test_values_in_the_order_that_was_given():
    order = names(("age", "income"))
    assert row({"income": 2.0, "age": 1.0, "more": 9.0}, order, absent=None) == [1.0, 2.0]
    assert row({"age": 3.0}, ["age"], absent=None) == 3.0


def test_what_is_absent_is_filled_or_refused():
    assert row({"age": 1.0}, ["age", "income"], absent=0.0) == [1.0, 0.0]
    with pytest.raises(hsb.InputError, match="income"):
        row({"age": 1.0}, ["age", "income"], absent=None)


def test_no_order_is_none():
    assert names(None) is None
