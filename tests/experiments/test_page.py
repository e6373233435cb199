"""Numbers for a reader of the report."""

import pytest

from hsb.experiments.base import Options
from hsb.experiments.page import number, size_note


@pytest.mark.parametrize("value", [0.123456, 2, "text", {"mean": 0.5, "low": 0.25, "high": 0.75}, {"a": 1.0}, None])
def test_every_value_can_be_shown(value):
    assert isinstance(number(value), str) and len(number(value)) < 60


def test_few_digits():
    assert number(0.123456789) == number(0.12346) or len(number(0.123456789)) <= 7


def test_a_run_of_another_size_says_so():
    assert size_note(Options()) == ("", "") and all(size_note(Options(quick=True)))
    assert "3,000" in size_note(Options(rounds=3000))[1] or "3000" in size_note(Options(rounds=3000))[1]
